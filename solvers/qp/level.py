"""A level of a hierarchy: rows of one priority, and their residual at a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array

FEASIBILITY_TOLERANCE = 1e-9  # bands farther out than this, relative to x and the longest of a level, are violated


@dataclass(frozen=True, eq=False)
class Level:
    """Rows of one priority. J: (m, n).   lower, upper: (m,) of J x; equal: that value is wanted (least squares);
    different, or infinite on one side: J x is wanted between them.

    damping: how much x'x counts beside the squared residuals. 0 meets the rows exactly where they can be.
    """

    J: Array
    lower: Array
    upper: Array
    damping: float = 0.0

    @property
    def holding(self) -> Array:
        """(m,) bool, bands in which J x is at x = 0."""
        return (self.lower < self.upper) & (self.lower <= 0.0) & (self.upper >= 0.0)


def kept_level(level: Level, x: Array) -> Level:
    """The level as those below find it once x (n,) is what it got: what is met may move inside its band, what is
    violated stays as it is."""
    values = level.J @ x
    fixed = is_violated(level, x) | (level.lower == level.upper)
    lower = np.where(fixed, values, np.minimum(level.lower, values))
    return Level(level.J, lower, np.where(fixed, values, np.maximum(level.upper, values)))


def residual(level: Level, x: Array) -> Array:
    values = level.J @ x
    return np.clip(values, level.lower, level.upper) - values


def is_violated(level: Level, x: Array) -> Array:
    """(m,) bool. What regularization leaves of the residual of a short row is little against the longest band."""
    longest = row_lengths(level.J[level.lower != level.upper]).max(initial=0.0)
    return abs(residual(level, x)) > FEASIBILITY_TOLERANCE * longest * max(1.0, float(np.sqrt(x @ x)))


def size_of(band: Level, x: Array) -> Array:
    """(m,) what differences of a row's value are small against."""
    return row_lengths(band.J) * max(1.0, float(np.sqrt(x @ x)))


def row_lengths(rows: Array) -> Array:
    return np.sqrt((rows * rows).sum(axis=1))
