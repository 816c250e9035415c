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
        rows, lower, upper, count = all_rows(at, linearised)
        width = max(H.shape[1], 3, linearised.constraints.reach + 1)  # limits on accelerations reach over three frames
        wide = np.zeros((len(H), width, *H.shape[2:]))
        wide[:, : H.shape[1]] = H
        value = cost.value(at)
        time = None
        if cost.frees_time:
            sides = [all_rows(there, linearised.constraints.at(there))[:3] for there in TimeColumn.neighbours(at)]
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

    def kkt(self, z: Array) -> float:
        """The KKT residual with multipliers z (m,), relative to the largest force: the gradient, what holds it, or what
        a displacement by FLAT would make of it, where a motion with nothing in its way has no gradient left."""
        force = self.rows.transposed(z, self.gradient.size)
        g = self.gradient.ravel()
        stiffest = float(abs(self.H[:, 0]).max(initial=0.0))
        size = max(float(abs(g).max(initial=0.0)), float(abs(force).max(initial=0.0)), FLAT * stiffest, 1e-300)
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


def all_rows(at: DiscreteMotion, linearised: LinearisedRows) -> tuple[SparseRows, Array, Array, int]:
    """Rows and sides of what is asked for, then of the limits; how many the first are."""
    limits, lower, upper = at.limit_rows()
    rows = SparseRows.joined([linearised.rows(), limits])
    return (
        rows,
        np.concatenate((linearised.lower, lower)),
        np.concatenate((linearised.upper, upper)),
        len(linearised.lower),
    )
