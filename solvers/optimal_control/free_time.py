"""The time between frames as one more unknown of a program over all frames.

The unknown is s, the logarithm of what the time between frames is multiplied by. It is the last unknown of the banded
program, which meets all frames. A limit on an acceleration is in frames a side that grows with exp(2 s): its tangent
lies inside, so steps keep it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...robokin.arrays import Array
from ..qp.sparse_rows import SparseRows
from .costs import MotionCost
from .discretization import DiscreteMotion
from .rows.motion_rows import MotionRows
from .rows.row_blocks import FIRST

STEP = 1e-4  # of s, of central differences
LONGEST = 0.3  # of s in one step
SLOWER, SLOWER_STARTS = 1.5, 8  # times as long a start takes that breaks limits or is late; how often
Sides = tuple[SparseRows, Array, Array, Array]  # rows, lower and upper sides, and what s moves of them


@dataclass(frozen=True, eq=False)
class TimeColumn:
    """How a program changes with s. slope, bend: first and second derivative of the cost.   gradients: of the cost, at
    s = STEP and -STEP.   sides: at s = 0, STEP and -STEP the lower and upper sides.   rows: at the latter two.
    size: what a slope is relative to."""

    slope: float
    bend: float
    gradients: tuple[Array, Array]
    sides: tuple[tuple[Array, Array], ...]
    rows: tuple[SparseRows, SparseRows]
    size: float

    @staticmethod
    def neighbours(at: DiscreteMotion) -> Iterator[DiscreteMotion]:
        for s in (STEP, -STEP):
            yield at.known.setdefault(("stretched", s), at.stretched(s))

    @classmethod
    def of(
        cls,
        at: DiscreteMotion,
        cost: MotionCost,
        value: float,
        sides: tuple[Array, Array],
        others: list[tuple[SparseRows, Array, Array]],
    ) -> TimeColumn:
        """others: rows and sides of the neighbours."""
        (up, down), values, gradients = others, [], []
        for there in cls.neighbours(at):
            values.append(cost.value(there))
            gradients.append(cost.quadratic(there)[0])
        slope = (values[0] - values[1]) / (2.0 * STEP)
        bend = (values[0] - 2.0 * value + values[1]) / STEP**2
        return cls(
            slope,
            bend,
            (gradients[0], gradients[1]),
            (sides, (up[1], up[2]), (down[1], down[2])),
            (up[0], down[0]),
            max(abs(value), abs(slope)),
        )

    @cached_property
    def changes(self) -> tuple[Array, Array]:
        """(m,) (m,) derivatives of the lower and upper sides."""
        _, (low, high), (low_down, high_down) = self.sides
        return _difference(low, low_down) / (2.0 * STEP), _difference(high, high_down) / (2.0 * STEP)

    def taken(self, z: Array) -> float:
        """The slope that multipliers z (m,) take away."""
        lower, upper = self.changes
        return float(z @ np.where(z > 0.0, upper, lower))

    def residual(self, z: Array) -> float:
        """What of the slope multipliers do not take away, relative."""
        return abs(self.slope - self.taken(z)) / max(self.size, abs(self.taken(z)), 1e-300)

    def coupling(self, z: Array) -> tuple[Array, float]:
        """(F, n) how the gradient of the Lagrangian changes with s, and the second derivative by s, with multipliers
        z (m,)."""
        (up, down), shape = self.gradients, self.gradients[0].shape
        turned = [rows.transposed(z, up.size).reshape(shape) for rows in self.rows]
        mixed = (up - down + turned[0] - turned[1]) / (2.0 * STEP)
        of_sides = [
            (_difference(up, here) - _difference(here, down)) / STEP**2
            for here, up, down in zip(*self.sides, strict=True)
        ]
        return mixed, self.bend - float(z @ np.where(z > 0.0, of_sides[1], of_sides[0]))


def _difference(one: Array, other: Array) -> Array:
    """one - other, 0 where there is no side."""
    return np.subtract(one, other, out=np.zeros(len(one)), where=np.isfinite(one) & np.isfinite(other))


def slow_enough(start: DiscreteMotion, constraints: MotionRows) -> DiscreteMotion:
    """The start, slower where it breaks limits, if that helps and costs no task."""

    def unmet(at: DiscreteMotion) -> set[int]:
        return {level for level in constraints.levels if constraints.is_missed(at, level)}

    before, here = unmet(start), start
    for _ in range(SLOWER_STARTS):
        if FIRST not in before:
            return start
        here = here.stretched(np.log(SLOWER))
        now = unmet(here)
        if FIRST not in now and now <= before and here.excess <= start.excess:
            return here
    return start


def both_sides(rows: SparseRows, lower: Array, upper: Array, time: TimeColumn) -> Sides:
    """Each row twice, its lower and its upper side: they change differently with s."""
    none, is_equation = np.full(len(lower), np.inf), lower == upper
    low, high = time.changes
    above = np.where(is_equation, np.inf, upper)
    joined = SparseRows.joined([rows, rows])
    across = -np.concatenate((low, np.where(is_equation, 0.0, high)))
    return joined, np.concatenate((lower, -none)), np.concatenate((np.where(is_equation, upper, none), above)), across


def parted(z: Array, lower: Array, upper: Array) -> Array:
    """(2 m,) multipliers of `both_sides` from those of the rows."""
    is_low = (z < 0.0) | (lower == upper)
    return np.concatenate((np.where(is_low, z, 0.0), np.where(is_low, 0.0, z)))
