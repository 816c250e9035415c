"""Curves through points, of one line or several: nearest place, place and direction at a length along a line."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from ....robokin.arrays import Array
from ....robokin.errors import TaskError
from ...fixed_arrays import fixed_new
from ..checks import numbers

# A straight piece of a curve, field by field `struct rk_segment`.
SEGMENT = np.dtype(
    [
        ("origin", np.float64, 3),
        ("along", np.float64, 3),  # unit direction
        ("start", np.float64),  # arc length of its line where it begins
        ("size", np.float64),  # its own length
        ("whole", np.float64),  # the length of its line
        ("following", np.int32),  # the segment where it ends; itself at an open end
        ("reserved", np.int32),
    ],
    align=True,
)


class Curve:
    """The polyline through points (n, 3) [m], in their order, of arc length `length`. Splines are given as samples.

    closed: the last point is joined to the first.   segments: (m,) SEGMENT.   Raises TaskError.
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
        self.segments = made = np.zeros(int(kept.sum()), SEGMENT)
        made["origin"], made["size"] = array[:-1][kept], lengths[kept]
        made["along"] = steps[kept] / lengths[kept][:, None]
        ends = np.cumsum(lengths[kept])
        self.length = float(ends[-1])
        made["start"][1:], made["whole"] = ends[:-1], self.length
        made["following"] = np.arange(1, len(made) + 1)
        made["following"][-1] = 0 if closed else len(made) - 1
        fixed_new((made,))

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
        curve.segments = self.segments.copy()
        curve.segments["origin"] = self.segments["origin"] @ T[:3, :3].T + T[:3, 3]
        curve.segments["along"] = self.segments["along"] @ T[:3, :3].T
        fixed_new((curve.segments,))
        return curve

    def nearest(self, p: Array, around: float = 0.0, away: float = np.inf) -> float:
        """Arc length of the point of the curve nearest to p (3,), the first one of several; of those no farther `away`
        along the curve than that from the arc length `around`."""
        own = self.segments
        first, last = np.zeros(len(own)), own["size"]
        if 2.0 * away < self.length:
            start = own["start"] - around
            if self.closed:
                start = (start + 0.5 * self.length) % self.length - 0.5 * self.length
            first, last = np.clip(-away - start, first, last), np.clip(away - start, first, last)
        at, gap = nearest_places(own, p, first, last)
        if 2.0 * away < self.length:
            gap = np.where((start <= away) & (start + own["size"] >= -away), gap, np.inf)
        i = int(np.argmin(gap))
        return float(own["start"][i] + at[i])

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
        own = self.segments
        i = max(int(np.searchsorted(own["start"], s, side="left" if backwards else "right")) - 1, 0)
        return own["origin"][i] + (s - own["start"][i]) * own["along"][i], own["along"][i]

    def piece(self, s: float) -> tuple[np.void, float, float]:
        """The segment at an arc length, at a corner the one after it, and how far it goes on before and after that."""
        s = s % self.length if self.closed else min(max(s, 0.0), self.length)
        own = self.segments[max(int(np.searchsorted(self.segments["start"], s, side="right")) - 1, 0)]
        return own, s - float(own["start"]), float(own["start"] + own["size"]) - s


class Curves:
    """Several lines, open or closed, as one curve: any of them will do.   Raises TaskError."""

    def __init__(self, lines: Sequence[Curve], what: str = "curve") -> None:
        if not lines or not all(isinstance(line, Curve) for line in lines):
            raise TaskError(f"{what} must be made of at least one Curve, not of {lines!r}")
        self.lines = tuple(lines)
        self.segments = np.concatenate([line.segments for line in lines])
        first = np.cumsum([0, *(len(line.segments) for line in lines[:-1])])
        self.segments["following"] += np.repeat(first, [len(line.segments) for line in lines]).astype(np.int32)
        fixed_new((self.segments,))

    def moved(self, T: Array) -> Curves:
        """The lines moved rigidly by T (4, 4)."""
        return Curves([line.moved(T) for line in self.lines])

    def closest(self, p: Array) -> tuple[int, float]:
        """(index of the line nearest to p (3,), the first one of several; arc length of its nearest point)."""
        at, gap = nearest_places(self.segments, p, np.zeros(len(self.segments)), self.segments["size"])
        i = int(np.argmin(gap))
        ends = np.cumsum([len(line.segments) for line in self.lines])
        return int(np.searchsorted(ends, i, side="right")), float(self.segments["start"][i] + at[i])


def nearest_places(segments: Array, p: Array, first: Array, last: Array) -> tuple[Array, Array]:
    """The point of each of the segments (m,) that is nearest to p (3,).

    Between its lengths `first` and `last` (m,): at which length (m,), and the square of its distance (m,).
    """
    origin, along = segments["origin"], segments["along"]
    at = np.clip(((p - origin) * along).sum(axis=1), first, last)
    return at, ((origin + at[:, None] * along - p) ** 2).sum(axis=1)


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
