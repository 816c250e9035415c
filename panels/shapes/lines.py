"""Shapes made of line segments: (n, 2, 3), the two ends of each."""

from __future__ import annotations

import math

import numpy as np

from ...robokin.arrays import Array

ROUND = 48  # segments of a full turn: at 150 pixels a third of a pixel beside the circle


def polyline(points: Array) -> Array:
    """The segments between points (n, 3) in a row."""
    return np.stack((points[:-1], points[1:]), axis=1)


def joined(*shapes: Array) -> Array:
    return np.concatenate(shapes) if shapes else np.zeros((0, 2, 3))


def moved(T: Array, shape: Array) -> Array:
    """The segments in the frame T (4, 4)."""
    return shape @ T[:3, :3].T + T[:3, 3]


def on_circle(angles: Array, radius: Array | float) -> Array:
    """(n, 3) points about Z at angles [rad] from X."""
    return np.stack((radius * np.cos(angles), radius * np.sin(angles), np.zeros_like(angles)), axis=-1)


def arc(lower: float, upper: float, radius: float = 1.0, pitch: float = 0.0) -> Array:
    """About Z from one angle [rad] to another, counted from X. pitch: by how much the radius grows in a turn, so that a
    range of more than a turn is a spiral."""
    count = max(int(np.ceil(abs(upper - lower) / (2.0 * np.pi) * ROUND)), 2)
    angles = np.linspace(lower, upper, count + 1)
    return polyline(on_circle(angles, radius + pitch * angles / (2.0 * np.pi)))


def circle(radius: float = 1.0) -> Array:
    return arc(-np.pi, np.pi, radius)


def arrow(start: Array, end: Array, head: float = 0.2, longest: float = np.inf) -> Array:
    """From start (3,) to end (3,), with a head of four lines that is this share of its length, at most `longest`."""
    along = end - start
    length = math.sqrt(along @ along)
    if length < 1e-12:
        return np.zeros((0, 2, 3))
    x, y, z = forward = (along / length).tolist()  # one by one: for one arrow arrays take ten times as long
    least = min(range(3), key=lambda i: abs(forward[i]))
    a, b, c = ((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0))[least]
    size, wide = min(head * length, longest), math.sqrt(a * a + b * b + c * c)
    a, b, c = a / wide, b / wide, c / wide
    over = y * c - z * b, z * a - x * c, x * b - y * a
    sides = np.array(((a, b, c), (-a, -b, -c), over, (-over[0], -over[1], -over[2])))
    found = np.empty((5, 2, 3))
    found[:, 0], found[0, 0], found[0, 1] = end, start, end
    found[1:, 1] = end - size * np.array(forward) + 0.35 * size * sides
    return found


def dashes(start: Array, end: Array, count: int = 12) -> Array:
    """A dashed line."""
    shares = np.arange(2 * count)[:, None] / (2 * count - 1)
    return (start + shares * (end - start)).reshape(count, 2, 3)


def cross(size: float = 1.0) -> Array:
    """In the plane of X and Y."""
    return size * np.array([[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]])


SPHERE = joined(*(circle()[..., [i, (i + 1) % 3, (i + 2) % 3]] for i in range(3)))  # three circles
SPHERE.flags.writeable = False


def rings(axes: Array) -> Array:
    """(..., n, 2, 3) outlines of ellipsoids with semi-axes (..., 3, 3), one in each column: three ellipses each."""
    return SPHERE @ axes.swapaxes(-1, -2)[..., None, :, :]
