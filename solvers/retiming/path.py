"""A path of configurations: a curve through samples, smooth but for its corners.

Lengths and angles go along cubic splines (twice continuously differentiable, the ends "not-a-knot"), quaternions along
the directions of such splines. Where a spline would pass a position limit between samples, that coordinate is monotone
there instead (Fritsch and Carlson 1980): it stays between its samples. Elsewhere it keeps the spline's slopes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import ConfigurationError
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.robot import RobotModel
from ...robokin.spatial import quaternion, so3, swing_twist
from ..limits.viability import dof_coordinates

LOOKS = 9  # places of an interval where balls are compared with their cones
OUTSIDE = 1e-9  # [rad]
SHARP = np.radians(20.0)  # a turn between two samples that is a corner ...
JUMP = 1e-6  # relative: of a second derivative, what is more than rounding
SMOOTH = 0.25  # ... where the turns beside it are no corners, and less than this share of it


@dataclass(frozen=True, eq=False)
class Path:
    """knots: (k + 1,) of the parameter.   coefficients: (k, 4, nq) of powers of the parameter since the knot before.
    corners: (k + 1,) bool, where the direction jumps."""

    model: RobotModel
    knots: Array
    coefficients: Array
    corners: Array

    @property
    def bends(self) -> Array:
        """(k + 1,) bool: knots at which accelerations jump, of a motion that does not rest there."""
        c, h = self.coefficients, np.diff(self.knots)[:, None]
        second = 2.0 * c[:, 2] + 6.0 * h * c[:, 3], 2.0 * c[:, 2]  # at the end and the start of each interval
        jump = abs(second[0][:-1] - second[1][1:])
        size = abs(c[:, 1]).max() / (self.knots[-1] - self.knots[0])  # of a path that turns once
        ends = np.zeros(1, bool)
        return np.concatenate((ends, (jump > JUMP * size).any(axis=1), ends))

    @classmethod
    def through(cls, model: RobotModel, q: Array, knots: Array) -> Path:
        """q: (k + 1, nq), quaternions of continuous sign, at the knots. Raises ConfigurationError where the path
        between two of them leaves the cone of a ball."""
        corners = _corners(q)
        ends = [0, *np.flatnonzero(corners).tolist(), len(q) - 1]
        slopes = np.zeros((2, len(q) - 1, model.nq))  # at the start and the end of each interval
        for first, last in pairwise(ends):
            own = spline_slopes(q[first : last + 1], knots[first : last + 1])
            slopes[0, first:last], slopes[1, first:last] = own[:-1], own[1:]
        c = cubics(q, knots, slopes)
        monotone = np.zeros((len(q), model.nq), bool)  # at which knots a coordinate has other slopes
        for cone in model.limits.cones if any(_left_cones(model, c, knots)) else ():
            monotone[:, cone.q : cone.q + 4] = True
        outside = _leaves(model, c, knots)
        if monotone.any() or outside.any():
            others = np.zeros_like(slopes)
            for first, last in pairwise(ends):
                own = _monotone(q[first : last + 1], knots[first : last + 1])
                others[0, first:last], others[1, first:last] = own[:-1], own[1:]
            while True:  # a knot that changes may make the interval beside it leave: each turn adds knots
                monotone[:-1] |= outside
                monotone[1:] |= outside
                c = cubics(q, knots, np.where([monotone[:-1], monotone[1:]], others, slopes))
                outside = _leaves(model, c, knots) & ~(monotone[:-1] & monotone[1:])
                if not outside.any():
                    break
        for joint, interval in _left_cones(model, c, knots):
            raise ConfigurationError(
                f"between samples {interval} and {interval + 1} of the path, where repeats do not count, "
                f"joint {joint!r} leaves its cone: give more"
            )
        return cls(model, knots, c, corners)

    def along(self, interval: Array, s: Array, s1: Array, s2: Array, s3: Array) -> tuple[Array, Array, Array, Array]:
        """q (..., nq), v, a and jerks (..., nv) of a motion that is at s in an interval, (...), with such rates."""
        q, first, second, third = self.at(interval, s)
        s1, s2, s3 = s1[..., None], s2[..., None], s3[..., None]
        return q, first * s1, first * s2 + second * s1**2, first * s3 + 3.0 * second * s1 * s2 + third * s1**3

    def at(self, interval: Array, u: Array) -> tuple[Array, Array, Array, Array]:
        """q (..., nq), the velocity per unit of the parameter, and the first two rates of that (..., nv), at parameters
        in those intervals of knots: a motion has v = first ds/dt and a = first d²s/dt² + second (ds/dt)²."""
        model, c = self.model, self.coefficients[interval]
        t = (u - self.knots[interval])[..., None]
        q = c[..., 0, :] + t * (c[..., 1, :] + t * (c[..., 2, :] + t * c[..., 3, :]))
        q1 = c[..., 1, :] + t * (2.0 * c[..., 2, :] + t * 3.0 * c[..., 3, :])
        q2 = 2.0 * c[..., 2, :] + 6.0 * t * c[..., 3, :]
        q3 = 6.0 * c[..., 3, :]
        first, second, third = (np.zeros((*u.shape, model.nv)) for _ in range(3))
        own = dof_coordinates(model)
        plain = own >= 0
        for rate, of_q in ((first, q1), (second, q2), (third, q3)):
            rate[..., plain] = of_q[..., own[plain]]
        tree = model.tree
        for node in np.flatnonzero((tree.motion == MotionPrimitive.BALL) | (tree.motion == MotionPrimitive.FREE)):
            iq, iv = int(tree.iq[node]), int(tree.iv[node])
            is_free = tree.motion[node] == MotionPrimitive.FREE
            at = slice(iq + 3 * is_free, iq + 3 * is_free + 4)
            p, p1, p2, p3 = q[..., at], q1[..., at], q2[..., at], q3[..., at]
            length = np.linalg.norm(p, axis=-1, keepdims=True)
            n = p / length
            growth = (n * p1).sum(axis=-1, keepdims=True)
            n1 = (p1 - growth * n) / length
            growth1 = ((n1 * p1) + (n * p2)).sum(axis=-1, keepdims=True)
            n1_rate = (p2 - growth1 * n - 2.0 * growth * n1) / length
            growth2 = (n1_rate * p1 + 2.0 * n1 * p2 + n * p3).sum(axis=-1, keepdims=True)
            n1_rate2 = (p3 - growth2 * n - 3.0 * growth1 * n1 - 3.0 * growth * n1_rate) / length
            back = quaternion.conjugate(n)
            q[..., at] = n
            turn, turn1, turn2 = (2.0 * quaternion.multiply(back, rate)[..., 1:] for rate in (n1, n1_rate, n1_rate2))
            turn2 += 2.0 * quaternion.multiply(quaternion.conjugate(n1), n1_rate)[..., 1:]
            if is_free:
                R = np.swapaxes(quaternion.to_matrix(n), -1, -2)
                x1, x2, x3 = (np.einsum("...ij,...j->...i", R, rate[..., iq : iq + 3]) for rate in (q1, q2, q3))
                bent = x2 - so3.cross(turn, x1)
                first[..., iv : iv + 3], second[..., iv : iv + 3] = x1, bent
                third[..., iv : iv + 3] = x3 - so3.cross(turn, x2 + bent) - so3.cross(turn1, x1)
                iv += 3
            for rate, of_turn in ((first, turn), (second, turn1), (third, turn2)):
                rate[..., iv : iv + 3] = of_turn
        lower, upper = model.lower, model.upper
        return np.clip(q, lower, upper), first, second, third


def _corners(q: Array) -> Array:
    found = np.zeros(len(q), bool)
    if len(q) < 5:
        return found
    steps = np.diff(q, axis=0)
    size = np.linalg.norm(steps, axis=1)
    cosine = (steps[1:] * steps[:-1]).sum(axis=1) / np.maximum(size[1:] * size[:-1], 1e-300)
    turn = np.concatenate(([0.0], np.arccos(np.clip(cosine, -1.0, 1.0)), [0.0]))
    beside = np.maximum(turn[:-2], turn[2:])
    found[1:-1] = (turn[1:-1] > SHARP) & (beside < np.minimum(SMOOTH * turn[1:-1], SHARP))
    return found


def spline_slopes(q: Array, knots: Array) -> Array:
    """(k + 1, nq) of the cubic spline, not-a-knot (de Boor 1978), by elimination along the tridiagonal system."""
    h = np.diff(knots)[:, None]
    d = np.diff(q, axis=0) / h
    n = len(q)
    if n == 2:
        return np.repeat(d, 2, axis=0)
    if n == 3:  # the parabola through them
        bend = (d[1] - d[0]) / (h[0] + h[1])
        return np.stack((d[0] - h[0] * bend, d[0] + h[0] * bend, d[1] + h[1] * bend))
    lower, diagonal, upper = np.zeros(n), np.zeros(n), np.zeros(n)
    right = np.zeros_like(q)
    w = h[:, 0]
    lower[1:-1], diagonal[1:-1], upper[1:-1] = w[1:], 2.0 * (w[:-1] + w[1:]), w[:-1]
    right[1:-1] = 3.0 * (h[1:] * d[:-1] + h[:-1] * d[1:])
    for end, (i, j), (a, b) in ((0, (0, 1), (w[0], w[1])), (n - 1, (-1, -2), (w[-1], w[-2]))):
        diagonal[end] = b
        (upper if end == 0 else lower)[end] = a + b
        right[end] = ((a + 2.0 * (a + b)) * b * d[i] + a * a * d[j]) / (a + b)
    return solve_tridiagonal(lower, diagonal, upper, right)


def solve_tridiagonal(lower: Array, diagonal: Array, upper: Array, right: Array) -> Array:
    """(n, m) x: lower[i] x[i - 1] + diagonal[i] x[i] + upper[i] x[i + 1] = right[i] (n, m). Works in `diagonal` and
    `right`, without pivoting."""
    for i in range(1, len(right)):
        share = lower[i] / diagonal[i - 1]
        diagonal[i] -= share * upper[i - 1]
        right[i] -= share * right[i - 1]
    right[-1] /= diagonal[-1]
    for i in reversed(range(len(right) - 1)):
        right[i] = (right[i] - upper[i] * right[i + 1]) / diagonal[i]
    return right


def _monotone(q: Array, knots: Array) -> Array:
    """(k + 1, nq) slopes: harmonic means, 0 where the samples turn."""
    h = np.diff(knots)[:, None]
    d = np.diff(q, axis=0) / h
    slopes = np.zeros_like(q)
    a, b = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    same = d[1:] * d[:-1] > 0.0
    safe = np.where(same, d[:-1], 1.0), np.where(same, d[1:], 1.0)
    slopes[1:-1] = np.where(same, (a + b) / (a / safe[0] + b / safe[1]), 0.0)
    return slopes


def cubics(q: Array, knots: Array, slopes: Array) -> Array:
    h = np.diff(knots)[:, None]
    d = np.diff(q, axis=0) / h
    bend = (slopes[0] + slopes[1] - 2.0 * d) / h
    return np.stack((q[:-1], slopes[0], (d - slopes[0]) / h - bend, bend / h), axis=1)


def _leaves(model: RobotModel, c: Array, knots: Array) -> Array:
    """(k, nq) bool: somewhere in the interval a limit is passed. Extremes of cubics are where a parabola is 0."""
    h = np.diff(knots)[:, None]
    a, b, e = 3.0 * c[:, 3], 2.0 * c[:, 2], c[:, 1]
    far = -0.5 * (b + np.copysign(np.sqrt(np.maximum(b * b - 4.0 * a * e, 0.0)), b))
    outside = np.zeros(c[:, 0].shape, bool)
    for top, bottom in ((far, a), (e, far)):
        t = np.clip(np.divide(top, bottom, out=np.zeros_like(top), where=bottom != 0.0), 0.0, h)
        q = c[:, 0] + t * (c[:, 1] + t * (c[:, 2] + t * c[:, 3]))
        outside |= (q < model.lower - 1e-12) | (q > model.upper + 1e-12)
    return outside


def _left_cones(model: RobotModel, c: Array, knots: Array) -> Iterator[tuple[str, int]]:
    """The joints that leave their cones between knots, and the first interval in which they do."""
    t = np.diff(knots)[:, None, None] * np.linspace(0.0, 1.0, LOOKS)[:, None]
    for cone in model.limits.cones:
        own = slice(cone.q, cone.q + 4)
        a, b, d, e = (c[:, None, power, own] for power in range(4))
        turned = a + t * (b + t * (d + t * e))
        turned /= np.linalg.norm(turned, axis=-1, keepdims=True)
        outside = ~swing_twist.contains(cone, turned, OUTSIDE).all(axis=1)
        if outside.any():
            yield cone.joint, int(np.argmax(outside))
