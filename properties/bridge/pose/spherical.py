"""Ball joints in single precision: quaternions that stay inside their cones, as keys and between keys."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ....robokin.arrays import Array
from ....robokin.spatial.swing_twist import Cone, contains, project, swing_and_twist

# Rounding a unit quaternion to single precision changes swing and twist by less [rad], away from a swing of pi.
_SINGLE = 3e-7
_BETWEEN = np.arange(1, 8) / 8.0  # where between two keys it is looked
_SLACK = 1e-6  # [rad] what is less than this beyond a limit between two keys is rounding of what Blender evaluates
_ROUNDS = 12


def unit(Q: Array) -> Array:
    """(..., 4) quaternions of length 1 in double precision; none that has no length, which Blender shows as no
    rotation."""
    Q = np.asarray(Q, float)
    length = np.linalg.norm(Q, axis=-1, keepdims=True)
    return np.where(length > 1e-9, Q / np.maximum(length, 1e-9), (1.0, 0.0, 0.0, 0.0))


def surely_inside(cone: Cone, w: float, x: float, y: float, z: float) -> bool:
    """Whether a quaternion of any length is inside the cone, not at its border; a twentieth of the time of `contains`,
    for the check of every edit."""
    (xu, xw, xa), (yu, yw, ya), (zu, zw, za) = cone.basis.tolist()
    u, v, t = xu * x + yu * y + zu * z, xw * x + yw * y + zw * z, xa * x + ya * y + za * z
    if w < 0.0:
        w, u, v, t = -w, -u, -v, -t
    h, rho = math.hypot(w, t), math.hypot(u, v)
    if not 1e-3 * rho < h < math.inf or min(cone.a, cone.b) <= _SLACK:
        return False
    twist = 2.0 * math.atan2(t, w)
    if cone.has_twist and not cone.lower + _SINGLE < twist < cone.upper - _SINGLE:
        return False
    swing = 2.0 * math.atan2(rho, h) / (rho * h) if rho > 0.0 else 0.0
    return math.hypot(swing * (u * w - v * t) / cone.a, swing * (u * t + v * w) / cone.b) < 1.0 - _SINGLE


def round_into_cone(cone: Cone, q: Array) -> Array:
    """(4,) float32, of the same sign as q (4,): inside the cone when normalised in double precision, and near it.

    A swing that is locked, or one twist alone, counts as kept within 1e-6 rad: single precision can be no nearer.
    """
    nearest = None
    kept = replace(cone, a=max(cone.a, _SLACK), b=max(cone.b, _SLACK))
    if cone.upper - cone.lower < 2.0 * _SLACK:
        kept = replace(kept, lower=cone.lower - _SLACK, upper=cone.upper + _SLACK)
    for step in range(_ROUNDS):
        margin = 0.0 if step == 0 else _SINGLE * 2.0 ** (step - 1)
        inside = project(cone.shrunk(margin), unit(q))
        single = (inside if inside @ q >= 0.0 else -inside).astype(np.float32)
        if contains(kept, unit(single)):
            return single
        nearest = single if nearest is None else nearest
    return nearest


def keys_in_cone(cone: Cone, Q: Array) -> Array:
    """(n, 4) float32 keys for the quaternions (n, 4), neighbours of which have no opposite signs: inside the cone, and
    linear between two keys too. The set of a cone and a range of twist is not convex, so that keys at its border
    which are far apart move a little further inside."""
    rounded = Q.astype(np.float32)
    margins = np.zeros(len(Q))
    outside = ~contains(cone, unit(rounded))
    for _ in range(_ROUNDS):
        for i in np.flatnonzero(outside):
            rounded[i] = round_into_cone(cone.shrunk(margins[i]), Q[i])
        over = _beyond_between(cone, rounded.astype(float))
        far = over > _SLACK
        if not far.any():
            break
        outside = np.zeros(len(Q), bool)
        for at in (slice(None, -1), slice(1, None)):
            margins[at] += np.where(far, 1.1 * over, 0.0)
            outside[at] |= far
    return rounded


def _beyond_between(cone: Cone, keys: Array) -> Array:
    """(n - 1,) [rad] how far the limits are exceeded between each key and the next. A swing that is locked is not
    looked at: nothing could be moved further inside."""
    first, second = keys[:-1, None], keys[1:, None]
    share = _BETWEEN[:, None]
    swing, twist = swing_and_twist(unit(first + share * (second - first)), cone.basis)
    a, b = (axis if axis > _SLACK else np.inf for axis in (cone.a, cone.b))
    measure = np.hypot(swing[..., 0] / a, swing[..., 1] / b)
    size = np.hypot(swing[..., 0], swing[..., 1])
    over = size * (1.0 - 1.0 / np.maximum(measure, 1.0))
    if cone.has_twist:
        turned = twist[..., None] + np.array([-2.0 * np.pi, 0.0, 2.0 * np.pi])
        over = np.maximum(over, np.maximum(cone.lower - turned, turned - cone.upper).min(axis=-1))
    return over.max(axis=1, initial=0.0)
