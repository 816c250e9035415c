"""Drags seen on a screen: which value of a joint, and which place on a line, is under the mouse.

A view is a matrix (4, 4) that takes world coordinates to those of the clip cube, with a size (2,) in pixels; a ray is
(origin (3,), direction (3,)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array

STEP = 1e-4  # of a value [rad or m] for slopes
SWEEPS = 12  # of Newton's method
LEAP = 0.3  # [rad or m] of one of them at most
LEAST = 15.0  # [pixels per rad or m] a point that moves less on the screen says nothing of the mouse
EVEN = 150.0  # [pixels per rad or m] then the way of the mouse to the right counts


@dataclass(frozen=True, eq=False)
class View:
    """matrix: (4, 4) world to clip.   size: (2,) pixels."""

    matrix: Array
    size: Array

    def seen(self, point: Array) -> Array:
        """(2,) [pixels] where a point (3,) of the world is seen."""
        x, y, _, w = self.matrix @ np.append(point, 1.0)
        return 0.5 * self.size * (1.0 + np.array((x, y)) / max(abs(w), 1e-9))


class ValueDrag:
    """One coordinate of a joint, dragged by a point that it moves: the point stays under the mouse as well as its own
    arc, or rail, allows.

    point_at: (3,) in the world at a value.   mouse: (2,) where the drag begins.   lower, upper: limits of the value.
    """

    def __init__(
        self,
        view: View,
        point_at: Callable[[float], Array],
        value: float,
        mouse: Array,
        lower: float = -np.inf,
        upper: float = np.inf,
    ) -> None:
        self.value, self._start, self._mouse = value, value, mouse
        self._view, self._point_at, self._limits = view, point_at, (lower, upper)
        self._off = mouse - view.seen(point_at(value))  # the mouse was not exactly there
        self._is_seen = float(np.linalg.norm(self._slope(value))) > LEAST

    def to(self, mouse: Array) -> float:
        """The value for the mouse at (2,); a joint without limits goes on over a turn."""
        if not self._is_seen:
            self.value = float(np.clip(self._start + (mouse - self._mouse)[0] / EVEN, *self._limits))
            return self.value
        value = self.value
        for _ in range(SWEEPS):
            slope, bend = self._slope(value), self._bend(value)
            missing = mouse - self._off - self._view.seen(self._point_at(value))
            steep = float(slope @ slope)
            step = float(slope @ missing) / max(steep - float(missing @ bend), steep, LEAST**2)
            new = float(np.clip(value + np.clip(step, -LEAP, LEAP), *self._limits))
            if abs(new - value) < 1e-6:
                break
            value = new
        self.value = value
        return value

    def _slope(self, value: float) -> Array:
        """(2,) pixels per unit of the value."""
        forward, backward = (self._view.seen(self._point_at(value + by)) for by in (STEP, -STEP))
        return (forward - backward) / (2.0 * STEP)

    def _bend(self, value: float) -> Array:
        """(2,) change of the slope per unit of the value."""
        forward, here, backward = (self._view.seen(self._point_at(value + by)) for by in (STEP, 0.0, -STEP))
        return (forward - 2.0 * here + backward) / STEP**2


def along_line(point: Array, axis: Array, origin: Array, direction: Array) -> float:
    """How far along a line, through `point` (3,) with unit `axis` (3,), it is nearest to a ray; 0 where both are nearly
    parallel."""
    direction = direction / np.linalg.norm(direction)
    between, cosine = origin - point, float(axis @ direction)
    sine2 = 1.0 - cosine**2
    if sine2 < 1e-4:
        return 0.0
    return float((axis - cosine * direction) @ between) / sine2


def turned_since(center: Array, before: Array, now: Array) -> float:
    """[rad] in (-pi, pi] by which the mouse (2,) has gone round a centre (2,) on the screen, to the left positive."""
    a, b = before - center, now - center
    return float(np.arctan2(a[0] * b[1] - a[1] * b[0], a @ b))
