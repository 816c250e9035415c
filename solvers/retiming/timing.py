"""Time along a path: when it passes where, and how fast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from ..motion.motion import Motion
from ..motion.rolled import rolled
from ..trajectories.motion_limits import MotionLimits
from ..trajectories.sampled import RATE, Sampled
from .path import Path
from .warp import Warp

SMALL = 0.5  # of c t²: series below, closed forms above
TERMS = 9
CORRECTIONS = 5  # of Newton's method, for when a cell ends


@dataclass(frozen=True)
class ActiveLimit:
    """From `start` to `end` [s] this limit is what keeps the path from being faster. joint: its name, "joint/x" of
    several degrees of freedom, or the link of a tool; kind: velocity, acceleration, jerk, effort, power, tool speed,
    tool acceleration, or animation or duration (the one that was given), which have no joint."""

    start: float
    end: float
    joint: str
    kind: str


@dataclass(frozen=True, eq=False)
class Timing:
    """grid: (n + 1,) of the warped parameter r, with n cells.   squares: (n, 3) powers of r since the cell's start, of
    which (dr/dt)² is the sum, and never 0 inside.   times: (n + 1,) at which the grid is passed."""

    grid: Array
    squares: Array
    times: Array

    @classmethod
    def of(cls, grid: Array, squares: Array) -> Timing:
        h = np.diff(grid)
        y0, b, c = squares.T
        start, end = (np.sqrt(np.maximum(y, 0.0)) for y in (y0, y0 + h * (b + h * c)))
        t = 2.0 * h / (start + end)
        bent = np.flatnonzero(c)
        for _ in range(CORRECTIONS):
            distance, speed = _moved(squares[bent], t[bent])[:2]
            t[bent] -= (distance - h[bent]) / speed
        return cls(grid, squares, np.append(0.0, np.cumsum(t)))

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    def stretched(self, times_as_long: float) -> Timing:
        """A timing that is evenly slower."""
        return Timing(self.grid, self.squares / times_as_long**2, self.times * times_as_long)

    def at(self, t: Array) -> tuple[Array, Array, Array, Array, Array]:
        """The cell (...), r, and its first three derivatives at times (...)."""
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        distance, speed, rate, rate2 = _moved(self.squares[k], t - self.times[k])
        return k, np.minimum(self.grid[k] + distance, self.grid[k + 1]), speed, rate, rate2


def _moved(squares: Array, t: Array) -> tuple[Array, Array, Array, Array]:
    """r since the start of cells, and its three derivatives, after times t: r'' = b/2 + c r."""
    y0, b, c = np.moveaxis(squares, -1, 0)
    speed, w = np.sqrt(np.maximum(y0, 0.0)), c * t * t
    small = abs(w) < SMALL
    near, root = np.where(small, w, 0.0), np.sqrt(np.where(small, 1.0, abs(w)))
    sine, cosine = np.zeros_like(w), np.zeros_like(w)  # sinh x / x and (cosh x - 1) / x² of x² = w
    for k in range(TERMS, -1, -1):
        sine = 1.0 + near / ((2 * k + 2) * (2 * k + 3)) * sine
        cosine = 1.0 + near / ((2 * k + 3) * (2 * k + 4)) * cosine
    far = np.minimum(root, 700.0)
    sine = np.where(small, sine, np.where(w > 0.0, np.sinh(far), np.sin(root)) / root)
    turned = np.where(w > 0.0, np.cosh(far) - 1.0, 1.0 - np.cos(root)) / root**2
    cosine = np.where(small, 0.5 * cosine, turned)
    distance = t * (speed * sine + 0.5 * b * t * cosine)
    now = speed * (1.0 + w * cosine) + 0.5 * b * t * sine
    return distance, now, 0.5 * b + c * distance, c * now


@dataclass(frozen=True, eq=False)
class Retimed(Sampled):
    """A path with its timing. duration [s].   limits: those on joints.   intervals: (n,) of the path's knots, in which
    the cells of the timing are.   warp: from the timing's parameter to the path's.   bindings: which limit binds where.
    rolls: (wheeled bases,) bool, those that roll along the path."""

    model: RobotModel
    duration: float
    limits: MotionLimits
    path: Path
    warp: Warp
    intervals: Array
    timing: Timing
    bindings: tuple[ActiveLimit, ...]
    rolls: Array

    @property
    def times(self) -> Array:
        """(n + 1,) [s] at which the grid is passed."""
        return self.timing.times

    def binding_at(self, t: object) -> list[ActiveLimit | None]:
        """The limit that binds at each of the times (S,) [s]; None where nothing moves. Raises ConfigurationError."""
        times = np.atleast_1d(self.checked(t))
        starts = np.array([binding.start for binding in self.bindings])
        found = np.searchsorted(starts, times, side="right") - 1
        return [self.bindings[i] if i >= 0 else None for i in found]

    def time_at(self, s: Array) -> Array:
        """(...) [s] at which the path's parameter is about s (...)."""
        return np.interp(self.warp.inverse(s), self.timing.grid, self.timing.times)

    def motion(self, rate: float = RATE) -> Motion:
        """Samples as of any motion; wheeled bases are where their wheels roll them from sample to sample."""
        return rolled(super().motion(rate), self.rolls)

    def places(self, t: Array) -> Array:
        """(...) the path's parameter at times (...) within 0 .. duration."""
        return self.warp.at(self.timing.at(t)[1])[0]

    def states(self, t: Array) -> tuple[Array, Array, Array]:
        return self._rates(t)[:3]

    def jerk(self, t: object) -> Array:
        """(nv,), or (S, nv) at times (S,); where it jumps, what it is after. Raises ConfigurationError."""
        return self._rates(self.checked(t))[3]

    def _rates(self, t: Array) -> tuple[Array, Array, Array, Array]:
        cell, r, r1, r2, r3 = self.timing.at(t)
        s, d1, d2, d3 = self.warp.at(r)
        rates = d1 * r1, d1 * r2 + d2 * r1**2, d1 * r3 + 3.0 * d2 * r1 * r2 + d3 * r1**3
        return self.path.along(self.intervals[cell], s, *rates)


def active_limits(times: Array, rows: Array, labels: list[tuple[str, str]]) -> tuple[ActiveLimit, ...]:
    """rows: (n,) which label (joint, kind) binds in each cell."""
    starts = np.append(0, np.flatnonzero(np.diff(rows)) + 1)
    found: list[ActiveLimit] = []
    for first, last in zip(starts, np.append(starts[1:], len(rows)), strict=True):
        start, end, label = float(times[first]), float(times[last]), labels[rows[first]]
        if found and (found[-1].joint, found[-1].kind) == label:
            start = found.pop().start
        found.append(ActiveLimit(start, end, *label))
    return tuple(found)
