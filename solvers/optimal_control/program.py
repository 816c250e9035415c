"""The quadratic program around a trajectory: cost, gradient, Hessian, and the rows of all that is asked for."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ...robokin.arrays import Array
from ..qp.banded import BandedQPResult, solve_banded_qp
from ..qp.banded_qp import LastUnknown
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
        width = max(H.shape[1], at.grid.reach + 1, linearised.constraints.reach + 1)
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
        return float(abs(self.linearised.residual).max(initial=0.0))

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
    return float(abs(linearised.residual).sum()) + (at.too_fast() if at.grid.joined else 0.0)


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
        rows = rows.without(still.ravel())
        if not is_time_free:
            is_empty = np.diff(rows.start) == 0
            lower, upper = np.where(is_empty, -np.inf, lower), np.where(is_empty, np.inf, upper)
    return rows, lower, upper, len(linearised.lower)


def solve_moving(
    H: Array,
    g: Array,
    rows: SparseRows,
    lower: Array,
    upper: Array,
    backend: str,
    guess: Array,
    still: Array | None,
    last: LastUnknown | None = None,
) -> Generator[None, None, BandedQPResult | None]:
    """`solve_banded_qp` where coordinates (F, n) bool stay as they are, of which rows ask nothing. Coordinates that
    nothing moves in any frame are no part of the program, nor are frames of which all others stay, nor rows without
    sides: it takes the less time."""
    still = np.zeros(g.shape, bool) if still is None else still
    (frames, n), bounded = still.shape, ~(np.isneginf(lower) & np.isposinf(upper))
    sided = rows.among(bounded)
    pulled = _pulled(H, g, sided, lower[bounded], upper[bounded]) if last is None else np.ones(n, bool)
    if not pulled.all():
        is_pulled = np.ones(len(sided), bool)
        is_pulled[sided.row] = pulled[sided.column % n]
        sided, bounded[bounded] = sided.among(is_pulled), is_pulled
    own = np.flatnonzero(pulled)
    moves = ~still[:, own].all(axis=1)
    moving = np.flatnonzero(moves)
    last = last and replace(last, border=last.border[moving], across=last.across[bounded])
    place = (np.cumsum(moves)[:, None] - 1) * len(own) + np.cumsum(pulled) - 1  # of those that move and are pulled
    part = SparseRows(sided.start, place.ravel()[sided.column].astype(np.int32), sided.value)
    cells = np.ix_(moving, own)
    search = solve_banded_qp(
        _of_moving(H.take(own, 2).take(own, 3), still[:, own]),
        g[cells],
        part,
        lower[bounded],
        upper[bounded],
        backend,
        guess[bounded],
        last,
    )
    found = yield from search
    if found is None:
        return None
    x, multipliers = np.zeros((frames, n)), np.zeros(len(rows))
    x[cells], multipliers[bounded] = found.x, found.multipliers
    x[still] = 0.0
    return replace(found, x=x, multipliers=multipliers)


def _pulled(H: Array, g: Array, rows: SparseRows, lower: Array, upper: Array) -> Array:
    """(n,) bool, coordinates that something moves in a frame: a gradient, a row that asks for it, or another one."""
    n = g.shape[1]
    pulled, coupled = g.any(axis=0), H.any(axis=(0, 1))
    coordinate, counts = rows.column % n, np.diff(rows.start)
    first = np.repeat(coordinate[rows.start[:-1][counts > 0]], counts[counts > 0])
    coupled |= np.bincount(first * n + coordinate, minlength=n * n).reshape(n, n) > 0
    np.fill_diagonal(coupled, False)
    is_asked = np.repeat((lower > 0.0) | (upper < 0.0), counts)
    pulled |= np.bincount(coordinate[is_asked], minlength=n) > 0
    return pulled | coupled.any(axis=0) | coupled.any(axis=1)


def _of_moving(H: Array, still: Array) -> Array:
    """H (F, p + 1, n, n) of the frames of which some coordinates move, the others of these held by the diagonal."""
    moving, width = np.flatnonzero(~still.all(axis=1)), H.shape[1]
    if len(moving) and not still.any():
        return H
    found, size, moves = np.zeros((len(moving), *H.shape[1:])), float(abs(H).max(initial=0.0)), ~still[moving]
    for s in range(min(width, len(moving))):
        apart = moving[s:] - moving[: len(moving) - s]
        near = np.flatnonzero(apart < width)
        both = moves[near + s, :, None] * moves[near, None, :]
        found[near + s, s] = H[moving[near + s], apart[near]] * both
    k, j = np.nonzero(~moves)
    found[k, 0, j, j] = size
    return found
