"""Curves through points, of one line or several: nearest place, place and direction at a length along a line."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from ....robokin.arrays import Array
from ....robokin.errors import TaskError
from ...fixed_arrays import fixed_new
from ..checks import numbers


class Curve:
    """The polyline through points (n, 3) [m], in their order, of arc length `length`. Splines are given as samples.

    closed: the last point is joined to the first.   Raises TaskError.
    """

    def __init__(self, points: object, closed: bool = False, what: str = "curve") -> None:
        array = numbers(points, f"{what}: points")
        if array.ndim != 2 or array.shape[1] != 3 or len(array) < 2:
            raise TaskError(f"{what} must be at least 2 points of 3 numbers each, not of shape {array.shape}")
        if closed:
            array = np.vstack((array, array[:1]))
        steps = np.diff(array, axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        kept = lengths > 0.0
        if not kept.any():
            raise TaskError(f"{what} has no length: all its points are {array[0].tolist()}")
        self.closed = bool(closed)
        self.origin, self.segment = array[:-1][kept], lengths[kept]
        self.along = steps[kept] / self.segment[:, None]
        self.start = np.concatenate(([0.0], np.cumsum(self.segment)))
        self.length = float(self.start[-1])
        fixed_new((self.origin, self.segment, self.along, self.start))

    @property
    def lines(self) -> tuple[Curve, ...]:
        """The one line: itself."""
        return (self,)

    def closest(self, p: Array) -> tuple[int, float]:
        """See `Curves.closest`."""
        return 0, self.nearest(p)

    def moved(self, T: Array) -> Curve:
        """The curve moved rigidly by T (4, 4)."""
        curve = copy(self)
        curve.origin = self.origin @ T[:3, :3].T + T[:3, 3]
        curve.along = self.along @ T[:3, :3].T
        return curve

    def nearest(self, p: Array, around: float = 0.0, away: float = np.inf) -> float:
        """Arc length of the point of the curve nearest to p (3,), the first one of several; of those no farther `away`
        along the curve than that from the arc length `around`."""
        first, last = np.zeros(len(self.segment)), self.segment
        if 2.0 * away < self.length:
            start = self.start[:-1] - around
            if self.closed:
                start = (start + 0.5 * self.length) % self.length - 0.5 * self.length
            first, last = np.clip(-away - start, first, last), np.clip(away - start, first, last)
        at = np.clip(((p - self.origin) * self.along).sum(axis=1), first, last)
        gap = ((self.origin + at[:, None] * self.along - p) ** 2).sum(axis=1)
        if 2.0 * away < self.length:
            gap = np.where((start <= away) & (start + self.segment >= -away), gap, np.inf)
        i = int(np.argmin(gap))
        return float(self.start[i] + at[i])

    def length_to(self, s: float, start: float, goal: float) -> float:
        """Arc length that is left from s, between `start` and `goal`."""
        if not self.closed:
            return min(max(goal, 0.0), self.length) - s
        half = 0.5 * (goal - start)
        return (goal - s - half + 0.5 * self.length) % self.length - 0.5 * self.length + half

    def at(self, s: float, backwards: bool = False) -> tuple[Array, Array]:
        """Point and direction (3,) at an arc length; beyond the ends, the end (or round again when closed). The
        direction at a corner is that of the line after it, or `backwards` of the one before."""
        s = s % self.length if self.closed else min(max(s, 0.0), self.length)
        if backwards and s == 0.0 and self.closed:
            s = self.length
        i = int(np.searchsorted(self.start, s, side="left" if backwards else "right")) - 1
        i = min(max(i, 0), len(self.segment) - 1)
        return self.origin[i] + (s - self.start[i]) * self.along[i], self.along[i]


class Curves:
    """Several lines, open or closed, as one curve: any of them will do.   Raises TaskError."""

    def __init__(self, lines: Sequence[Curve], what: str = "curve") -> None:
        if not lines or not all(isinstance(line, Curve) for line in lines):
            raise TaskError(f"{what} must be made of at least one Curve, not of {lines!r}")
        self.lines = tuple(lines)

    def moved(self, T: Array) -> Curves:
        """The lines moved rigidly by T (4, 4)."""
        return Curves([line.moved(T) for line in self.lines])

    def closest(self, p: Array) -> tuple[int, float]:
        """(index of the line nearest to p (3,), the first one of several; arc length of its nearest point)."""
        places = [line.nearest(p) for line in self.lines]
        gaps = [np.linalg.norm(line.at(s)[0] - p) for line, s in zip(self.lines, places, strict=True)]
        i = int(np.argmin(gaps))
        return i, places[i]


def as_curve(value: object, closed: bool, what: str) -> Curve | Curves:
    """The curve through points, the one that `value` is already, or several of a list. Raises TaskError for one that is
    open, when `closed`."""
    if isinstance(value, list | tuple) and value and all(isinstance(line, Curve) for line in value):
        value = Curves(value, what)
    if not isinstance(value, Curve | Curves):
        return Curve(value, closed, what)
    if closed and not all(line.closed for line in value.lines):
        raise TaskError(f"{what} is an open curve: make it by Curve(points, closed=True), or leave closed out")
    return value
