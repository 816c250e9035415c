"""Swing and twist of a rotation, and the limits of a ball joint in these terms: an elliptic cone and a range of twist.

A unit quaternion q is swing * twist: the twist turns about a given axis, the swing about an axis across it. In a basis
(u, w, axis) the swing is the rotation vector (rx, ry, 0) of at most pi, and the twist an angle in (-pi, pi].
With q = (qw, x, y, z) in that basis: twist = 2 atan2(z, qw), and the swing turns by 2 atan2(|(x, y)|, h),
h = |(qw, z)|, about (x + iy)(qw + iz). At a swing of pi (h = 0) the twist is not determined; 0 is taken.
Source: Dobrowolski, "Swing-twist decomposition in Clifford algebra", arXiv 1506.05481, 2015.
The scalar functions have their twins in kernel/src/limits/cone.c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Array
from . import quaternion

# Rounding of a quaternion changes swing and twist by less than this [rad], divided by h. What is moved to a limit is
# moved so far inside it.
MARGIN = 1e-14
LOCKED = 4.0 * MARGIN  # ranges narrower than this are one value as far as quaternions can say
_WELL, _FAR_TURNED = 1e-9, 3.0  # [rad] inside by this much, at swings up to that, rounding has no say
_LEAST_H = 1e-8  # below, derivatives are those at this h
_STEPS = 100  # of Newton's method, which needs 5 to 10 of them but for extreme ellipses


@dataclass(frozen=True, eq=False)
class Cone:
    """Limits of one ball: (rx / a)^2 + (ry / b)^2 <= 1 of its swing, lower <= twist <= upper.

    joint: its name.   q, v: where its quaternion and its angular velocity start.   basis: (3, 3) columns u, w, axis in
    the joint frame.   a, b: >= 0, may be infinite; 0 locks.   lower, upper: within [-pi, pi]; the whole of it is no
    limit.
    """

    joint: str
    q: int
    v: int
    basis: Array
    a: float
    b: float
    lower: float
    upper: float

    @property
    def has_twist(self) -> bool:
        """The twist is limited."""
        return self.upper - self.lower < 2.0 * math.pi

    @cached_property
    def axes(self) -> list[list[float]]:
        """The columns of the basis."""
        return self.basis.T.tolist()

    @property
    def is_free(self) -> bool:
        """Nothing is limited."""
        return self.a == self.b == math.inf and not self.has_twist

    def shrunk(self, margin: float) -> Cone:
        """The limits moved inside by `margin` [rad], as far as they go."""
        lower, upper = self.lower, self.upper
        if self.has_twist:
            middle = 0.5 * (lower + upper)
            lower, upper = min(lower + margin, middle), max(upper - margin, middle)
        return replace(self, a=max(self.a - margin, 0.0), b=max(self.b - margin, 0.0), lower=lower, upper=upper)


def swing_and_twist(q: Array, basis: Array) -> tuple[Array, Array]:
    """Swing rotation vectors (..., 2) along u and w, and twists (...) in (-pi, pi], of unit quaternions (..., 4)."""
    q = np.asarray(q, float)
    w, (x, y, z) = q[..., 0], np.moveaxis(q[..., 1:] @ basis, -1, 0)
    flip = np.where((w < 0.0) | ((w == 0.0) & (z < 0.0)), -1.0, 1.0)
    w, x, y, z = flip * w, flip * x, flip * y, flip * z
    h, rho = np.hypot(w, z), np.hypot(x, y)
    cosine, sine = (np.divide(part, h, out=np.full_like(h, rest), where=h > 0.0) for part, rest in ((w, 1.0), (z, 0.0)))
    factor = np.divide(2.0 * np.arctan2(rho, h), rho, out=np.full_like(h, 2.0), where=rho > 0.0)
    swing = factor[..., None] * np.stack((x * cosine - y * sine, x * sine + y * cosine), axis=-1)
    return swing, np.where(h > 0.0, 2.0 * np.arctan2(z, w), 0.0)


def from_swing_and_twist(swing: Array, twist: Array, basis: Array) -> Array:
    """(..., 4) the unit quaternion of a swing (..., 2) and a twist (...)."""
    swing, half = np.asarray(swing, float), 0.5 * np.asarray(twist, float)
    size = np.hypot(swing[..., 0], swing[..., 1])
    factor = np.divide(np.sin(0.5 * size), size, out=np.full_like(size, 0.5), where=size > 0.0)
    sx, sy = factor * swing[..., 0], factor * swing[..., 1]
    cosine, sine = np.cos(half), np.sin(half)
    along = np.stack(
        (sx * cosine + sy * sine, sy * cosine - sx * sine, np.cos(0.5 * size) * sine),
        axis=-1,
    )
    return np.concatenate(((np.cos(0.5 * size) * cosine)[..., None], along @ basis.T), axis=-1)


def contains(cone: Cone, q: Array, tolerance: float | Array = 0.0, locked: float = LOCKED) -> Array:
    """(...) bool of unit quaternions (..., 4): inside the limits, give or take `tolerance` [rad]; ranges narrower than
    `locked` are so wide."""
    swing, twist = swing_and_twist(q, cone.basis)
    least = locked / np.maximum(np.cos(0.5 * np.hypot(swing[..., 0], swing[..., 1])), _LEAST_H)
    inside = _measure(swing, cone, tolerance, least) <= 1.0
    if cone.has_twist:
        wider = tolerance + np.where(cone.upper - cone.lower < locked, least, 0.0)
        turned = twist[..., None] + np.array([-2.0 * math.pi, 0.0, 2.0 * math.pi])
        within = (turned >= (cone.lower - wider)[..., None]) & (turned <= (cone.upper + wider)[..., None])
        inside &= within.any(axis=-1)
    return inside


def measures(cone: Cone, q: Array) -> tuple[Array, Array]:
    """What limits are on: (...) sqrt((rx / a)^2 + (ry / b)^2), at most 1 inside, and the twist (...) of (..., 4)."""
    swing, twist = swing_and_twist(q, cone.basis)
    return _measure(swing, cone, 0.0, np.array(LOCKED)), twist


def _measure(swing: Array, cone: Cone, tolerance: float | Array, least: Array) -> Array:
    """A semi-axis below `least` makes the ellipse a line segment of that width."""
    x, y = (swing[..., k] / np.maximum(axis + tolerance, least) for k, axis in enumerate((cone.a, cone.b)))
    return np.where(min(cone.a, cone.b) <= least, np.maximum(abs(x), abs(y)), np.hypot(x, y))


def project(cone: Cone, q: Array) -> Array:
    """(4,) the quaternion itself when it is inside the limits by more than rounding, else one that is: nearest in swing
    vector and twist."""
    if _is_well_inside(cone, q):
        return q
    swing, angle = swing_and_twist(q, cone.basis)
    rx, ry, twist = float(swing[0]), float(swing[1]), float(angle)
    margin = MARGIN / max(math.cos(0.5 * min(math.hypot(rx, ry), math.pi)), _LEAST_H)
    if contains(cone.shrunk(0.25 * margin), q, locked=0.5 * LOCKED):
        return q
    aim = cone.shrunk(margin)
    rx, ry = nearest_in_ellipse(rx, ry, aim.a, aim.b)
    if cone.has_twist:
        twist = _nearest_twist(aim, twist)
    return quaternion.normalize(from_swing_and_twist(np.array([rx, ry]), np.array(twist), cone.basis))


def _is_well_inside(cone: Cone, q: Array) -> bool:
    """Whether a quaternion (4,) is inside the limits by more than any rounding: the formulas of `swing_and_twist` with
    plain numbers, which is fast."""
    w, vx, vy, vz = q.tolist()
    x, y, z = (ux * vx + uy * vy + uz * vz for ux, uy, uz in cone.axes)
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    h, rho = math.hypot(w, z), math.hypot(x, y)
    size, twist = 2.0 * math.atan2(rho, h), 2.0 * math.atan2(z, w)
    if size > _FAR_TURNED or (cone.has_twist and not cone.lower + _WELL < twist < cone.upper - _WELL):
        return False
    if cone.a == cone.b == math.inf or size == 0.0:
        return True
    factor, (a, b) = size / (rho * h), (cone.a - _WELL, cone.b - _WELL)
    rx, ry = factor * (x * w - y * z), factor * (x * z + y * w)
    return a > 0.0 and b > 0.0 and math.hypot(rx / a, ry / b) < 1.0


def _nearest_twist(cone: Cone, twist: float) -> float:
    """The twist of the range that is the least turn away."""
    if cone.lower <= twist <= cone.upper:
        return twist
    below, above = cone.lower - twist, twist - cone.upper  # one of them the short way, the other round by pi
    below += 2.0 * math.pi if below < 0.0 else 0.0
    above += 2.0 * math.pi if above < 0.0 else 0.0
    return cone.lower if below <= above else cone.upper


def nearest_in_ellipse(x: float, y: float, a: float, b: float) -> tuple[float, float]:
    """The point of the ellipse with semi-axes a, b (0 and infinity allowed) that is nearest to (x, y).

    Newton's method on the convex, falling function of Eberly, "Distance from a point to an ellipse", 2013, from its
    left, where it cannot overshoot.
    """
    if a == 0.0 or b == 0.0 or a == math.inf or b == math.inf:
        return min(max(x, -a), a), min(max(y, -b), b)
    if math.hypot(x / a, y / b) <= 1.0:
        return x, y
    aa, bb, ax, by = a * a, b * b, a * abs(x), b * abs(y)
    t = max(0.0, ax - aa, by - bb)
    for _ in range(_STEPS):
        p, s = ax / (t + aa), by / (t + bb)
        value = p * p + s * s - 1.0
        slope = -2.0 * (p * p / (t + aa) + s * s / (t + bb))
        after = t - value / slope
        if not after > t:
            break
        t = after
    return aa * x / (t + aa), bb * y / (t + bb)


def local_coordinates(cone: Cone, q: Array) -> tuple[Array, Array, Array]:
    """(B, lo, hi): angular velocities B c (child frame) with lo <= c <= hi, (3, 3) and (3,), keep a step of unit time
    from q (4,), inside the limits, inside them to first order.

    c[0] points out of the cone (across and along the axis of a locked swing), c[1] along it, c[2] is the rate of the
    twist, so that the limits are bounds of single coordinates. B is the dual basis, of determinant 1.
    """
    swing, angle = swing_and_twist(q, cone.basis)
    rx, ry, twist = float(swing[0]), float(swing[1]), float(angle)
    size = math.hypot(rx, ry)
    e = (rx / size, ry / size) if size > 0.0 else (1.0, 0.0)
    cosine, sine = math.cos(twist), math.sin(twist)
    # The swing's direction and the one across it, in child axes.
    along = (e[0] * cosine + e[1] * sine, e[1] * cosine - e[0] * sine)
    across = (-along[1], along[0])
    h = max(math.cos(0.5 * min(size, math.pi)), _LEAST_H)
    rho = math.sin(0.5 * min(size, math.pi))
    stretch = 0.5 * size / (rho * h) if rho > 0.0 else 1.0  # size / sin(size)

    def pulled(gx: float, gy: float) -> tuple[float, float]:
        """The gradient over angular velocities of a function of the swing vector."""
        radial, round_ = gx * e[0] + gy * e[1], stretch * (gy * e[0] - gx * e[1])
        return radial * along[0] + round_ * across[0], radial * along[1] + round_ * across[1]

    lo, hi = [-math.inf] * 3, [math.inf] * 3
    first = (1.0, 0.0)
    if cone.a <= LOCKED or cone.b <= LOCKED:
        first = pulled(1.0, 0.0)
        (lo[0], hi[0]), (lo[1], hi[1]) = _room(rx, cone.a), _room(ry, cone.b)
    elif cone.a < math.inf or cone.b < math.inf:
        measure = math.hypot(rx / cone.a, ry / cone.b)
        if measure > LOCKED:
            first = pulled(rx / (cone.a * cone.a * measure), ry / (cone.b * cone.b * measure))
            steep = math.hypot(*first)
            lo[0], hi[0] = -(1.0 + measure) / steep, max(0.0, (1.0 - measure) / steep)
        else:
            first = pulled(1.0, 0.0)
            (lo[0], hi[0]), (lo[1], hi[1]) = (-cone.a, cone.a), (-cone.b, cone.b)
    length = math.hypot(*first)
    c, s = first[0] / length, first[1] / length
    B = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    if cone.has_twist:
        B[2, :2] = -rho / h * (np.array(across) @ B[:2, :2])
        lo[2], hi[2] = min(0.0, cone.lower - twist), max(0.0, cone.upper - twist)
    return cone.basis @ B, np.array(lo), np.array(hi)


def _room(value: float, bound: float) -> tuple[float, float]:
    return (0.0, 0.0) if bound <= LOCKED else (min(0.0, -bound - value), max(0.0, bound - value))


def drawn(cone: Cone, first: float, second: float, third: float) -> Array:
    """(4,) what three numbers in [0, 1) stand for: uniform in swing vector and twist, inside the limits."""
    a, b = (max(min(axis, math.pi) - MARGIN, 0.0) for axis in (cone.a, cone.b))
    angle, size = 2.0 * math.pi * second, math.sqrt(first)
    twist = cone.lower + third * (cone.upper - cone.lower)
    swing = np.array([a * size * math.cos(angle), b * size * math.sin(angle)])
    return project(cone, from_swing_and_twist(swing, np.array(twist), cone.basis))


def middle(cone: Cone) -> Array:
    """(4,) no swing, and the middle of the twist's range."""
    return from_swing_and_twist(np.zeros(2), np.array(0.5 * (cone.lower + cone.upper)), cone.basis)
