"""What a mouse means for a motion about or along the Z axis of a frame: the view's ray under it against the frame."""

from __future__ import annotations

import math

import numpy as np

from ...robokin.arrays import Array

EDGE_ON = 0.2  # cosine between the view and an axis, below which its plane is seen too much from the side


def angle_under(origin: Array, direction: Array, T: Array) -> float | None:
    """[rad] about Z, from X, of the point of the frame's plane that a ray (3,), (3,) meets; None where the plane is
    seen from the side, or the point is the origin."""
    start, along = _in_frame(origin, direction, T)
    if abs(along[2]) < EDGE_ON * np.linalg.norm(along):
        return None
    x, y, _ = start - along * (start[2] / along[2])
    return None if math.hypot(x, y) < 1e-9 else math.atan2(y, x)


def length_under(origin: Array, direction: Array, T: Array) -> float | None:
    """Along Z, in the frame's own unit, of the point of the axis that is nearest to a ray; None where they are
    parallel."""
    start, along = _in_frame(origin, direction, T)
    along = along / np.linalg.norm(along)
    across = 1.0 - along[2] ** 2
    if across < 1e-4:
        return None
    return float((start[2] - along[2] * (start @ along)) / across)


def tangent_frame(T: Array, angle: float, radius: float) -> Array:
    """(4, 4) whose Z leads on along the circle of a radius, from the point at an angle."""
    cosine, sine = math.cos(angle), math.sin(angle)
    local = np.eye(4)
    local[:3, :3] = np.array([[0.0, cosine, -sine], [0.0, sine, cosine], [1.0, 0.0, 0.0]])
    local[:3, 3] = radius * cosine, radius * sine, 0.0
    return T @ local


def _in_frame(origin: Array, direction: Array, T: Array) -> tuple[Array, Array]:
    inverse = np.linalg.inv(T[:3, :3])
    return inverse @ (origin - T[:3, 3]), inverse @ direction


class Turning:
    """How far the mouse has turned a frame, over any number of turns. radius: at which it is taken, in the frame's own
    unit, where the frame is seen from the side."""

    def __init__(self, T: Array, origin: Array, direction: Array, radius: float) -> None:
        self.turned = 0.0
        self._T, self._radius = T, radius
        self._last = angle_under(origin, direction, T)
        self._tangent = None
        if self._last is None:
            self._tangent = tangent_frame(T, self._facing(origin, direction), radius)
            self._start = length_under(origin, direction, self._tangent) or 0.0

    def _facing(self, origin: Array, direction: Array) -> float:
        """The angle of the side that faces the view."""
        _, along = _in_frame(origin, direction, self._T)
        return math.atan2(-along[1], -along[0])

    def moved(self, origin: Array, direction: Array) -> float:
        """[rad] since the start, the mouse being there now."""
        if self._tangent is not None:
            length = length_under(origin, direction, self._tangent)
            self.turned = self.turned if length is None else (length - self._start) / self._radius
            return self.turned
        angle = angle_under(origin, direction, self._T)
        if angle is not None and self._last is not None:
            self.turned += math.remainder(angle - self._last, 2.0 * math.pi)
            self._last = angle
        return self.turned


class Sliding:
    """How far the mouse has moved along the axis of a frame, in the frame's own unit."""

    def __init__(self, T: Array, origin: Array, direction: Array) -> None:
        self._T, self._start = T, length_under(origin, direction, T)
        self.slid = 0.0

    def moved(self, origin: Array, direction: Array) -> float:
        length = length_under(origin, direction, self._T)
        if length is not None and self._start is not None:
            self.slid = length - self._start
        return self.slid


def snapped(value: float, step: float) -> float:
    return round(value / step) * step
