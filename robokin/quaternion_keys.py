"""Quaternions as keys of an animation: single precision, interpolated entry by entry and normalised (nlerp)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from . import quaternion, swing_twist
from .swing_twist import Cone

Array = np.ndarray

# A quaternion rounded to single precision turns by less than this [rad], twists by less than this over the cosine of
# half its swing.
ROUNDED = 2.5e-7
FARTHEST = 0.05  # [rad] that a key is moved inside at most
NARROW = 1e-6  # [rad] ranges that single precision cannot keep
ALIKE = 1e-12  # 1 - the dot product of keys between which nothing bends
UNSEEN = 1.0 / 64.0  # share of a bulge between two of these places
BETWEEN = np.arange(1, 16)[:, None, None] / 16.0  # of an interval, where the interpolation is looked at


def sign_continuous(q: Array) -> Array:
    """(n, 4) the same rotations, consecutive quaternions (n, 4) on the same side: their dot products are >= 0."""
    q = np.array(q, float)
    turned = np.einsum("ij,ij->i", q[1:], q[:-1]) < 0.0
    q[1:][np.cumsum(turned) % 2 == 1] *= -1.0
    return q


def rotation_keys(q: Array, cone: Cone | None = None) -> Array:
    """(n, 4) float32 keys of consecutive unit quaternions (n, 4), sign-continuous.

    The rotations that they say, and those of the linear interpolation between neighbours, are inside the limits
    `cone`: where rounding or interpolation would leave them, keys are moved inside, as far as needed up to a factor of
    two. What cannot be: a locked axis or twist is so only within single precision, and at keys; and between keys that
    are far apart at the limit of a wide cone the interpolation may leave it. Keys of a ball with limited twist have
    w >= 0, so that the twist does not go round the other way.
    """
    q = quaternion.normalize(np.array(q, float).reshape(-1, 4))
    if cone is None or cone.is_free:
        return sign_continuous(q).astype(np.float32)
    h = np.maximum(np.cos(0.5 * np.linalg.norm(swing_twist.swing_and_twist(q, cone.basis)[0], axis=1)), 1e-3)
    margin = ROUNDED / h
    keys = _on_one_side(q, cone)
    again = _outside(keys, cone, margin)
    while again.any():
        for i in np.flatnonzero(again):
            keys[i] = swing_twist.project(cone.shrunk(margin[i]), q[i])
        keys = _on_one_side(keys, cone)
        margin[again] *= 2.0
        again = _outside(keys, cone, margin) & (margin <= FARTHEST)
    return keys


def _on_one_side(q: Array, cone: Cone) -> Array:
    """(n, 4) float32"""
    return (np.where(q[:, :1] < 0.0, -q, q) if cone.has_twist else sign_continuous(q)).astype(np.float32)


def _outside(keys: Array, cone: Cone, margin: Array) -> Array:
    """(n,) keys that are outside, or beside an interval in which the interpolation is; locked axes do not count.

    margin: (n,) by which they were moved inside.
    """
    open_ends = {name: math.inf for name in ("a", "b") if getattr(cone, name) <= NARROW}
    if cone.upper - cone.lower <= NARROW:
        open_ends |= {"lower": -math.pi, "upper": math.pi}
    limits = replace(cone, **open_ends)
    exact = keys.astype(float)
    between = (1.0 - BETWEEN) * exact[:-1] + BETWEEN * exact[1:]
    inside = swing_twist.contains(limits, quaternion.normalize(exact))
    # What the interpolation does between two of the places looked at.
    missed = np.maximum(ROUNDED, UNSEEN * np.maximum(margin[:-1], margin[1:]))
    stays = swing_twist.contains(limits, quaternion.normalize(between), -missed).all(axis=0)
    stays |= inside[:-1] & inside[1:] & (abs(np.einsum("ij,ij->i", exact[:-1], exact[1:])) > 1.0 - ALIKE)
    outside = ~inside
    outside[:-1] |= ~stays
    outside[1:] |= ~stays
    return outside
