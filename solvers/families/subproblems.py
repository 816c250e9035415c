"""The canonical subproblems of inverse kinematics: A. J. Elias and J. T. Wen, "IK-Geo: unified robot inverse kinematics
using subproblem decomposition", Mechanism and Machine Theory 209, 2025 (arXiv 2211.05737).

Angles in radians; axes k, vectors x, v (3,). None: any angle will do. kernel/src/families does the same.
"""

from __future__ import annotations

import math

import numpy as np

from ...robokin.arrays import Array
from ...robokin.spatial import so3

NOTHING = 1e-12  # smaller parts of 1, or of the robot's size, are 0: of a direction so short nothing is known
BEYOND = 1e-3  # relative: an equation with a larger residual has no solution; with a smaller one it may have
TANGENT = 1e-14  # two solutions nearer to each other than the root of this are one: rounding alone may part them
NEAR_CIRCLE = 0.1  # of a pair of roots that is all but real


def turned(k: Array, angle: float, x: Array) -> Array:
    """R(k, angle) x."""
    return so3.exp(angle * k) @ x


def across(k: Array, x: Array) -> Array:
    """The part of x at right angles to k."""
    return x - (k @ x) * k


def subproblem1(k: Array, x: Array, v: Array, nothing: float) -> float | None:
    """The angle with R(k, angle) x = v. nothing: of lengths across k."""
    a, b = across(k, x), across(k, v)
    if min(np.linalg.norm(a), np.linalg.norm(b)) <= nothing:
        return None
    return math.atan2(k @ np.cross(a, b), a @ b)


def linear(a: float, b: float, d: float, nothing: float) -> list[float] | None:
    """The angles with a cos + b sin = d: first that where the left side grows; one where they are the same, or where
    the equation is only nearly met."""
    r = math.hypot(a, b)
    if r <= nothing:
        return None
    middle = math.atan2(b, a)
    if (r - d) * (r + d) <= TANGENT * r * r:
        return [middle if d > 0.0 else middle + math.pi] if abs(d) <= (1.0 + BEYOND) * r else []
    half = math.atan2(math.sqrt((r - d) * (r + d)), d)
    return [middle - half, middle + half]


def form(y: Array, k: Array, x: Array) -> Array:
    """(3,) coefficients of y'R(k, angle) x: of the cosine, of the sine, constant."""
    constant = (k @ y) * (k @ x)
    return np.array([y @ x - constant, y @ np.cross(k, x), constant])


def subproblem3(k: Array, fixed: Array, x: Array, v: Array, nothing: float) -> list[float] | None:
    """The angles with |fixed + R(k, angle) x| = |v|, all without their parts along k."""
    p, a, b = across(k, fixed), across(k, x), across(k, v)
    d = 0.5 * (b @ b - p @ p - a @ a)
    return linear(float(p @ a), float(p @ np.cross(k, a)), d, nothing * float(np.linalg.norm(p) + np.linalg.norm(a)))


def subproblem2(k0: Array, k1: Array, x: Array, v: Array, nothing: float) -> list[tuple[float | None, float]] | None:
    """The pairs of angles with R(k0, a0) R(k1, a1) x = v for |x| = |v|; of the first det(k0, k1, R(k1, a1) x) is
    positive. With a0 None there is one pair: v lies on k0. None: x lies on k1, so that any a1 will do."""
    nx, nv = np.linalg.norm(x), np.linalg.norm(v)
    unit, goal = (x / nx if nx > nothing else 0.0 * x), (v / nv if nv > nothing else 0.0 * v)
    f = form(k0, k1, unit)
    if f[0] ** 2 + f[1] ** 2 <= NOTHING**2:
        return None
    # w^2 = r^2 - (d - C)^2 without cancelling where v comes near k0
    a, b, d = k0 @ k1, k1 @ unit, k0 @ goal
    m = float(np.sum(np.cross(k0, goal) ** 2))
    w2 = m - (a + b) ** 2 + 2.0 * a * b * m / (1.0 - d) if d < 0.0 else m - (a - b) ** 2 - 2.0 * a * b * m / (1.0 + d)
    middle, rest = math.atan2(f[1], f[0]), d - f[2]
    if w2 <= NOTHING**2:
        angles = [middle if rest > 0.0 else middle + math.pi]
    else:
        half = math.atan2(math.sqrt(w2), rest)
        angles = [middle - half, middle + half]
    found: list[tuple[float | None, float]] = []
    for a1 in angles:
        a0 = subproblem1(k0, turned(k1, a1, unit), goal, NOTHING)
        if a0 is None:
            return [(None, a1)]
        found.append((a0, a1))
    return found


def angle_of(k: Array, side: Array, R: Array) -> float:
    """The angle of a rotation R (3, 3) about k; side: (3,) unit, at right angles to k."""
    there = R @ side
    return math.atan2(np.cross(k, side) @ there, side @ there)


def circle_roots(f: Array) -> list[float]:
    """The angles in (-pi, pi], ascending, with f[0] + f[1] cos + f[2] sin + f[3] cos 2a + f[4] sin 2a = 0: roots on the
    unit circle of a quartic in exp(i a)."""
    largest, leading = float(abs(f).max()), math.hypot(f[3], f[4])
    if leading <= 1e-14 * largest:
        return [_wrapped(a) for a in linear(f[1], f[2], -f[0], 1e-14 * largest) or []]
    A, B = f[3] - 1j * f[4], f[1] - 1j * f[2]
    roots = np.roots([A, B, 2.0 * f[0], B.conjugate(), A.conjugate()])
    return sorted(_refined(f, float(np.angle(z))) for z in roots if abs(abs(z) - 1.0) < NEAR_CIRCLE)


def _refined(f: Array, angle: float) -> float:
    """Newton's steps on the circle, short ones."""
    for _ in range(3):
        c, s, c2, s2 = math.cos(angle), math.sin(angle), math.cos(2.0 * angle), math.sin(2.0 * angle)
        value = float(f @ (1.0, c, s, c2, s2))
        slope = float(f @ (0.0, -s, c, -2.0 * s2, 2.0 * c2))
        if not abs(value) < NEAR_CIRCLE * abs(slope):
            break
        angle -= value / slope
    return _wrapped(angle)


def _wrapped(angle: float) -> float:
    return math.atan2(math.sin(angle), math.cos(angle))
