"""Swing and twist by Pinocchio's rotations: the swing takes the axis to where the rotation takes it the short way."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robokin_addon.robokin import Joint
from robokin_addon.robokin.model.joint_types import plane_basis


def swing_and_twist(axis: np.ndarray, q: np.ndarray) -> tuple[float, float, float]:
    """(swing about u, swing about w, twist) of q = (w, x, y, z)."""
    R = pin.Quaternion(q[0], q[1], q[2], q[3]).matrix()
    moved = R @ axis
    across = np.cross(axis, moved)
    sine = np.linalg.norm(across)
    swing = np.arctan2(sine, axis @ moved) * across / sine if sine > 0.0 else np.zeros(3)
    u, w = plane_basis(axis)
    turned = pin.exp3(swing).T @ R @ u
    return float(swing @ u), float(swing @ w), float(np.arctan2(w @ turned, u @ turned))


def excess(joint: Joint, q: np.ndarray) -> float:
    """By how much [rad, and in shares of the cone] a spherical joint is outside its limits; at most 0 inside."""
    rx, ry, twist = swing_and_twist(joint.axis, q)
    a, b = joint.upper[:2]
    outside = [twist - joint.upper[2], joint.lower[2] - twist]
    if min(a, b) == 0.0:
        outside += [abs(rx) - a, abs(ry) - b]
    else:
        outside += [np.hypot(rx / a, ry / b) - 1.0]
    return max(outside)
