"""The time between frames as one more unknown of a program over all frames.

The unknown is s, the logarithm of what the time between frames is multiplied by. It meets all frames, so it would not
leave Newton's matrix banded. The program is therefore solved at given s, where it is banded. Its minimum is a function
of s, whose derivative the multipliers tell (the envelope theorem), and a root of that is sought on a line. A limit on
an acceleration is in frames a side that grows with exp(2 s): its tangent lies inside, so steps keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...robokin.arrays import Array
from ..qp.banded import BandedQPResult
from ..qp.dense import QPStatus
from ..qp.sparse_rows import SparseRows
from .costs import MotionCost
from .discretization import DiscreteMotion

STEP = 1e-4  # of s, of central differences
LONGEST = 0.3  # of s in one step
EXACT = 1e-10  # relative: a derivative by s that counts as none
SOLVES = 16  # of programs in one step
LEAST_STEP = 1e-12  # of s

Solve = Callable[[Array, Array, Array, bool], BandedQPResult | None]


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

    def held(self, z: Array) -> float:
        """The slope that multipliers z (m,) take away."""
        lower, upper = self.changes
        return float(z @ np.where(z > 0.0, upper, lower))

    def residual(self, z: Array) -> float:
        """What of the slope multipliers do not take away, relative."""
        return abs(self.slope - self.held(z)) / max(self.size, abs(self.held(z)), 1e-300)

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


@dataclass(frozen=True, eq=False)
class TimedStep:
    """x: (F, n), s: of the step; multipliers (m,) after it."""

    x: Array
    multipliers: Array
    s: float = 0.0


def solve_with_time(
    solve: Solve, g: Array, sides: tuple[Array, Array], time: TimeColumn, mixed: Array, bend: float
) -> Generator[None, None, TimedStep | None]:
    """Yield after each program; return the step in frames and time, None where a program has no minimum.

    solve(g, lower, upper, as_asked): the minimum at given s; `as_asked`, none where rows contradict one another.   mixed, bend: second derivatives, by frames and s and by s.
    """
    lower, upper = time.changes

    def at(s: float) -> tuple[BandedQPResult | None, float]:
        found = solve(g + s * mixed, sides[0] + s * lower, sides[1] + s * upper, s != 0.0)
        if found is None or (s and found.status is not QPStatus.OPTIMAL):
            return None, np.nan
        return found, time.slope + bend * s + float((mixed * found.x).sum()) - time.held(found.multipliers)

    best, slope = at(0.0)
    yield
    if best is None:
        return None
    least, s = abs(slope), 0.0
    enough, down = EXACT * max(time.size, least), -float(np.sign(slope))
    # The slope changes its sign between `near` and `far`, or ends there, as nothing keeps all rows beyond.
    near, far = (0.0, slope), (np.inf, np.nan)
    trial = min(LONGEST, least / max(bend, least / LONGEST, 1e-300))
    for _ in range(SOLVES):
        if least <= enough or abs(trial - near[0]) <= LEAST_STEP:
            break
        found, slope = at(down * trial)
        yield
        if found is not None and abs(slope) < least:
            best, least, s = found, abs(slope), down * trial
        if found is None or slope * down > 0.0:
            far, near = (trial, slope), (near[0], 0.5 * near[1] if np.isfinite(far[1]) else near[1])
        else:
            near, far = (trial, slope), (far[0], 0.5 * far[1])
        if near[0] >= LONGEST:
            break
        share = near[1] / (near[1] - far[1]) if np.isfinite(far[1]) else 0.5
        trial = min(4.0 * trial, LONGEST) if np.isinf(far[0]) else near[0] + share * (far[0] - near[0])
    return TimedStep(best.x, best.multipliers, s)
