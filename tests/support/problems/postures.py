"""Poses that a robot reaches, and what holds of all its postures at each."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import RobotModel, forward_kinematics

from support.problems.family_robots import (
    wrapped,
)


def tip_of(model: RobotModel) -> str:
    return model.link_names[-1]


def reachable(model: RobotModel, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(count, nq) random inside the limits, and (count, 4, 4) where the tip is."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(np.maximum(model.lower, -4.0), np.minimum(model.upper, 4.0), (count, model.nq))
    return q, np.array([forward_kinematics(model, each)[tip_of(model)] for each in q])


def apart(model: RobotModel, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(...) the largest difference, whole turns of angles aside."""
    difference = one - other
    return abs(np.where(model.is_length, difference, wrapped(difference))).max(axis=-1)


def check(model: RobotModel, target: np.ndarray, q: np.ndarray, q0: np.ndarray) -> None:
    """Postures meet the pose to 1e-12, are inside the limits, distinct, and in the order of their distance."""
    for own in q:
        off = forward_kinematics(model, own)[tip_of(model)] - target
        assert abs(off).max() < 1e-12
    assert ((q >= model.lower) & (q <= model.upper)).all()
    distance = np.linalg.norm(np.where(model.is_length, 0.0, q - q0), axis=1)
    if not model.is_length.any():
        assert (np.diff(distance) >= -1e-12).all()
    for i, own in enumerate(q):
        assert (apart(model, own, q[:i]) > 1e-7).all()
