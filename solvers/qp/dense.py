"""Dense, strictly convex quadratic programs.

The dual active-set method of Goldfarb and Idnani ("A numerically stable dual method for solving strictly convex
quadratic programs", Mathematical Programming 27, 1983), in the coordinates y = L'x of H = LL'. There a QP is the
projection of y0 = -L^-1 g onto a polyhedron: start at y0 and add the constraint that is farthest away, dropping those
whose multiplier would change sign. The point is recomputed from the set of active constraints whenever one is added,
so that rounding errors do not pile up. Twin of kernel/src/qp/qp.c.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.errors import TaskError
from .native_dense import project

VIOLATED = 1e-12  # relative to the size of what is compared: farther out than this is outside
DEPENDENT = 1e-12  # share of a normal left over by the active ones below which it depends on them
REDUNDANT = 1e3  # times that, for constraints that depend on active ones: a copy of them up to rounding

_NOT_CONVEX = "the matrix H of a quadratic program is not positive definite"


class QPStatus(enum.StrEnum):
    """The order is that of `enum rk_qp_status` in the kernel."""

    OPTIMAL = "OPTIMAL"  # feasible and the minimum
    INFEASIBLE = "INFEASIBLE"  # no point satisfies all constraints
    MAX_ITERATIONS = "MAX_ITERATIONS"  # neither was shown


@dataclass(frozen=True, eq=False)
class QPResult:
    """x: (n,); the minimum when OPTIMAL, else the last point, finite but of no meaning.

    bound_multipliers: (n,) of lo <= x <= hi; row_multipliers: (m,) of the rows; both positive where the upper side
    holds x back, negative where the lower one does: H x + g + bound_multipliers + C' row_multipliers = 0.
    iterations: constraints added or dropped.
    """

    status: QPStatus
    x: Array
    bound_multipliers: Array
    row_multipliers: Array
    iterations: int


def solve_qp(
    H: Array,
    g: Array,
    lo: Array | None = None,
    hi: Array | None = None,
    C: Array | None = None,
    lower: Array | None = None,
    upper: Array | None = None,
    tolerance: float = 0.0,
    backend: str = "auto",
) -> QPResult:
    """x (n,) that minimises 1/2 x'Hx + g'x with lo <= x <= hi and lower <= C x <= upper.

    H: (n, n) symmetric positive definite.   g, lo, hi: (n,).   C: (m, n).   lower, upper: (m,). Sides may be infinite
    or absent; a row with lower = upper is an equality. Rows may be redundant or zero.
    tolerance: by how much a side may be passed besides rounding, for sides that are themselves known only so well.
    Raises TaskError when H is not positive definite or an entry is not a number; BackendError.
    """
    n = len(g)
    rows = np.zeros((0, n)) if C is None else C
    low = np.concatenate((_side(lo, n, -np.inf), _side(lower, len(rows), -np.inf)))
    high = np.concatenate((_side(hi, n, np.inf), _side(upper, len(rows), np.inf)))
    if not (np.isfinite(H).all() and np.isfinite(g).all() and np.isfinite(rows).all()):
        raise TaskError("a quadratic program has entries that are not finite")
    if np.isnan(low).any() or np.isnan(high).any():
        raise TaskError("a quadratic program has bounds that are not numbers")
    solve = _native if get_backend(backend).name == "native" else _reference
    status, x, multipliers, iterations = solve(H, g, rows, low, high, tolerance)
    return QPResult(status, x, multipliers[:n], multipliers[n:], iterations)


def _native(
    H: Array, g: Array, C: Array, low: Array, high: Array, tolerance: float
) -> tuple[QPStatus, Array, Array, int]:
    code, x, multipliers, iterations = project(H, g, C, low, high, tolerance)
    if code == len(QPStatus):
        raise TaskError(_NOT_CONVEX)
    return tuple(QPStatus)[code], x, multipliers, iterations


def _reference(
    H: Array, g: Array, C: Array, low: Array, high: Array, tolerance: float
) -> tuple[QPStatus, Array, Array, int]:
    n = len(g)
    try:
        L = np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        raise TaskError(_NOT_CONVEX) from None
    both = np.linalg.solve(L, np.column_stack((np.eye(n), C.T, -g)))
    projection = _Projection(both[:, :-1], low, high, both[:, -1], tolerance)
    status = projection.run()
    x = np.linalg.solve(L.T, projection.y)
    if status is QPStatus.OPTIMAL:
        x = np.clip(x, low[:n], high[:n])
    return status, x, projection.multipliers(), projection.iterations


def _side(value: Array | None, size: int, absent: float) -> Array:
    return np.full(size, absent) if value is None else np.asarray(value, float)


class _Projection:
    """The point nearest to y0 with low <= N'y <= high. N: (n, p) one normal per column."""

    def __init__(self, N: Array, low: Array, high: Array, y0: Array, tolerance: float) -> None:
        self.N, self.low, self.high, self.y0, self.tolerance = N, low, high, y0, tolerance
        self.magnitudes = abs(N)
        self.lengths = np.sqrt((N * N).sum(axis=0))
        self.y = y0.copy()
        self.active: list[int] = []
        self.signs: list[float] = []  # 1: at the low side, -1: at the high side
        self.u = np.zeros(0)  # multipliers of the active constraints, >= 0 but for equalities
        self.iterations = 0
        self.redundant = np.zeros(len(low), bool)
        self._factor()

    def run(self) -> QPStatus:
        if (self.low > self.high).any():
            return QPStatus.INFEASIBLE
        empty = self.lengths == 0.0
        noise = REDUNDANT * self.tolerance
        if ((self.low > noise) & empty).any() or ((self.high < -noise) & empty).any():
            return QPStatus.INFEASIBLE
        self.redundant |= empty
        equal = self.low == self.high
        limit = 50 + 10 * len(self.low)
        while True:
            candidate = self._farthest(equal)
            if candidate is None:
                return QPStatus.OPTIMAL
            if not self._add(*candidate, equal, limit):
                return QPStatus.MAX_ITERATIONS if self.iterations >= limit else QPStatus.INFEASIBLE

    def multipliers(self) -> Array:
        """(p,) positive at the high side."""
        result = np.zeros(len(self.low))
        result[self.active] = -np.array(self.signs) * self.u
        return result

    def _farthest(self, equal: Array) -> tuple[int, float] | None:
        """The violated constraint that is farthest away, equalities first, and its sign."""
        values = self.y @ self.N
        below, above = self.low - values, values - self.high
        slack = np.maximum(below, above)
        bound = np.where(below > above, self.low, self.high)
        outside = slack > self._noise(self.magnitudes, bound)
        outside &= ~self.redundant
        outside[self.active] = False
        waiting = equal & ~self.redundant
        waiting[self.active] = False
        chosen = np.flatnonzero(waiting if waiting.any() else outside)
        if not len(chosen):
            return None
        p = int(chosen[np.argmax(slack[chosen] / self.lengths[chosen])])
        return p, 1.0 if below[p] >= above[p] else -1.0

    def _noise(self, magnitudes: Array, bound: Array) -> Array:
        return VIOLATED * np.maximum(abs(self.y) @ magnitudes, abs(bound)) + self.tolerance

    def _add(self, p: int, sign: float, equal: Array, limit: int) -> bool:
        """Make constraint p active; False when that cannot be done."""
        normal = sign * self.N[:, p]
        bound = self.low[p] if sign > 0.0 else -self.high[p]
        own = 0.0
        while self.iterations < limit:
            self.iterations += 1
            count = len(self.active)
            d = self.Q.T @ normal
            rest = d[count:]
            r = np.linalg.solve(self.R, d[:count])
            squared = rest @ rest
            gap = bound - normal @ self.y
            independent = squared > (DEPENDENT * self.lengths[p]) ** 2
            if not independent and gap <= REDUNDANT * self._noise(self.magnitudes[:, p], bound):
                self.redundant[p] = True
                return True
            droppable = (r > DEPENDENT * abs(r).max(initial=0.0)) & ~equal[self.active]
            ratios = np.where(droppable, self.u / np.where(droppable, r, 1.0), np.inf)
            dual = ratios.min(initial=np.inf)
            primal = gap / squared if independent else np.inf
            step = min(dual, primal)
            if step == np.inf:
                return False
            self.u = self.u - step * r
            own += step
            if independent:
                self.y = self.y + step * (self.Q[:, count:] @ rest)
            if primal <= dual:
                self.active.append(p)
                self.signs.append(sign)
                self._factor()
                self._settle()
                return True
            leaving = int(np.argmin(ratios))
            del self.active[leaving], self.signs[leaving]
            self.u = np.delete(self.u, leaving)
            self._factor()
        return False

    def _factor(self) -> None:
        """Q (n, n), R (k, k) of the active normals."""
        normals = self.N[:, self.active] * np.array(self.signs)
        self.Q, R = np.linalg.qr(normals, mode="complete")
        self.R = R[: len(self.active)]

    def _settle(self) -> None:
        """y and u of the active set, from y0; y is corrected once, because y0 may be far larger than y."""
        normals = self.N[:, self.active] * np.array(self.signs)
        bounds = np.array(
            [self.low[p] if s > 0.0 else -self.high[p] for p, s in zip(self.active, self.signs, strict=True)]
        )
        Q = self.Q[:, : len(bounds)]
        missing = np.linalg.solve(self.R.T, bounds) - Q.T @ self.y0
        self.y = self.y0 + Q @ missing
        self.y = self.y + Q @ np.linalg.solve(self.R.T, bounds - self.y @ normals)
        self.u = np.linalg.solve(self.R, missing)
