"""The quadratic program around a trajectory: cost, gradient, Hessian, and the rows of all that is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ..qp.sparse_rows import SparseRows
from .costs import MotionCost
from .discretization import DiscreteMotion
from .free_time import TimeColumn
from .rows.motion_rows import LinearisedRows

FLAT = 1e-6  # [rad, L] a gradient counts as at least that of such a displacement


@dataclass(frozen=True, eq=False)
class LocalProgram:
    """The program around a trajectory. count: rows that are asked for, which come first; limits follow.
    time: how all of it changes with the time between frames, where that is free."""

    at: DiscreteMotion
    linearised: LinearisedRows
    cost: MotionCost
    value: float
    gradient: Array
    H: Array
    rows: SparseRows
    lower: Array
    upper: Array
    count: int
    time: TimeColumn | None

    @classmethod
    def of(cls, at: DiscreteMotion, linearised: LinearisedRows, cost: MotionCost) -> LocalProgram:
        gradient, H = cost.quadratic(at)
        rows, lower, upper, count = all_rows(at, linearised, cost.frees_time)
        still = linearised.constraints.still
        gradient = gradient if still is None else np.where(still, 0.0, gradient)
        width = max(H.shape[1], 3, linearised.constraints.reach + 1)  # limits on accelerations reach over three frames
        wide = np.zeros((len(H), width, *H.shape[2:]))
        wide[:, : H.shape[1]] = H
        value = cost.value(at)
        time = None
        if cost.frees_time:
            own = linearised.constraints
            sides = [all_rows(there, own.at(there), True)[:3] for there in TimeColumn.neighbours(at)]
            time = TimeColumn.of(at, cost, value, (lower, upper), sides)
        return cls(
            at=at,
            linearised=linearised,
            cost=cost,
            value=value,
            gradient=gradient,
            H=wide,
            rows=rows,
            lower=lower,
            upper=upper,
            count=count,
            time=time,
        )

    @property
    def residual(self) -> float:
        """The residual, summed over all rows."""
        return total_residual(self.at, self.linearised)

    @property
    def largest_residual(self) -> float:
        return float(abs(self.linearised.residual()).max(initial=0.0))

    def begun(self) -> Array:
        """(m,) multipliers of how rows bend, to begin with."""
        return np.concatenate((self.linearised.begun(self.gradient), np.zeros(len(self.rows) - self.count)))

    def kkt(self, z: Array) -> float:
        """The KKT residual with multipliers z (m,), relative to the largest force: the gradient, what holds it, or what
        a displacement by FLAT would make of it, where a motion with nothing in its way has no gradient left; in free
        time the largest multiplier, as rows push against one another there."""
        force = self.rows.transposed(z, self.gradient.size)
        g = self.gradient.ravel()
        stiffest = float(abs(self.H[:, 0]).max(initial=0.0))
        size = max(float(abs(g).max(initial=0.0)), float(abs(force).max(initial=0.0)), FLAT * stiffest, 1e-300)
        if self.time is not None:
            size = max(size, float(abs(z).max(initial=0.0)))
        room = np.where(z > 0.0, self.upper, np.where(z < 0.0, -self.lower, 0.0))
        with np.errstate(invalid="ignore"):
            apart = np.nan_to_num(np.minimum(abs(room), abs(z) / size), posinf=np.inf)
        stationary = abs(g + force).max(initial=0.0) / size
        residual = abs(np.clip(0.0, self.lower, self.upper)).max(initial=0.0)
        in_time = 0.0 if self.time is None else self.time.residual(z)
        return float(max(stationary, residual, apart.max(initial=0.0), in_time))


def total_residual(at: DiscreteMotion, linearised: LinearisedRows) -> float:
    """Summed over all rows; limits have a residual only where what turns, or a free time, makes them curved."""
    return float(abs(linearised.residual()).sum()) + (at.too_fast() if at.grid.joined else 0.0)


def all_rows(
    at: DiscreteMotion, linearised: LinearisedRows, is_time_free: bool = False
) -> tuple[SparseRows, Array, Array, int]:
    """Rows and sides of what is asked for, then of the limits; how many the first are. Of what stays as it is rows ask
    nothing, but that a free time leaves them inside."""
    limits, low, high = at.limit_rows()
    rows = SparseRows.joined([linearised.rows(), limits])
    lower, upper = np.concatenate((linearised.lower, low)), np.concatenate((linearised.upper, high))
    still = linearised.constraints.still
    if still is not None and still.any():
        rows = SparseRows(rows.start, rows.column, np.where(still.ravel()[rows.column], 0.0, rows.value))
        if not is_time_free:
            is_empty = np.bincount(rows.row, rows.value != 0.0, len(rows)) == 0
            lower, upper = np.where(is_empty, -np.inf, lower), np.where(is_empty, np.inf, upper)
    return rows, lower, upper, len(linearised.lower)


def without_still(H: Array, still: Array | None) -> Array:
    """H (F, p + 1, n, n) of a program in which coordinates (F, n) stay as they are."""
    if still is None or not still.any():
        return H
    H, size, moves = H.copy(), float(abs(H).max(initial=0.0)), ~still
    for s in range(min(H.shape[:2])):
        H[s:, s] *= moves[s:, :, None] * moves[: len(H) - s, None, :]
    k, j = np.nonzero(still)
    H[k, 0, j, j] = size
    return H
