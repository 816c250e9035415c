"""Lexicographic least squares inside hard bounds: strict priorities without compromise.

Level by level, the rows J x = b are met as nearly as the bounds and the levels above allow, and J x then stays as it
is: what follows moves x in the null space Z only. So what a level gets does not depend on the levels below, whether
bounds are active or not, and with damping. (Escande, Mansard, Wieber, "Hierarchical quadratic programming", IJRR 33,
2014; the null-space basis by singular values instead of their complete orthogonal decomposition.)

In the basis of a level's singular vectors its problem is diagonal. When that minimum is inside the bounds it is the
answer; otherwise a small strictly convex quadratic program finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .qp import QPStatus, solve_qp

Array = np.ndarray

# Singular values of rows in what the levels above leave, relative to the norm of the rows.
NONE = 1e-12  # below: the direction has no part in the rows, and is left to the levels below
USELESS = 1e-6  # below: too little of the rows' motion to be worth the speed; the direction is held still

EASE = 1e-8  # weight of motions that a level does not see, relative to those that it sees
PASSES = 2  # of the program of a level
ROUNDING = (1e-14, 1e-11)  # to which the bounds of a program are known: tight first, since x is moved into them
INSIDE = 1e-9  # inequality rows farther out than this, relative to their norm and x, are violated


@dataclass(frozen=True, eq=False)
class Level:
    """Rows of one priority. J: (m, n).   lower, upper: (m,) of J x; equal: that value is wanted (least squares);
    different, or infinite on one side: J x is wanted between them.

    damping: added to the squares of the rows' singular values. 0 meets the rows exactly where they can be met.
    """

    J: Array
    lower: Array
    upper: Array
    damping: float = 0.0


@dataclass(frozen=True, eq=False)
class HierarchyResult:
    """x: (n,) inside the bounds.   residuals: per level (m,), what J x lacks: positive where it should be larger, 0
    inside a band. What the levels below move lets a residual inside its band only, so they are those of the level.
    freedom: (levels + 1,) directions of motion that are left before each level and at the end."""

    x: Array
    residuals: list[Array]
    freedom: list[int]


def solve_hierarchy(
    lo: Array, hi: Array, levels: Sequence[Level], H: Array, g: Array, backend: str = "auto"
) -> HierarchyResult:
    """x (n,) with lo <= x <= hi that meets the levels in their order; what freedom they leave minimises
    1/2 x'Hx + g'x.

    lo <= hi: (n,), may be infinite.   H: (n, n) symmetric positive definite.   g: (n,).
    x = 0 moved inside the bounds is the start, so that without rows, H or g nothing moves.
    """
    descent = _Descent(lo, hi, backend)
    freedom = [len(lo)]
    for level in levels:
        descent.meet(level)
        freedom.append(descent.Z.shape[1])
    descent.minimise(H, g)
    x = descent.x
    return HierarchyResult(x, [_lacking(level, x) for level in levels], freedom)


def _lacking(level: Level, x: Array) -> Array:
    values = level.J @ x
    return np.clip(values, level.lower, level.upper) - values


class _Descent:
    """x and the basis Z (n, f), orthonormal, of the motions that change nothing above; `rows`, `lower`, `upper`:
    inequality rows above that are met and stay so."""

    def __init__(self, lo: Array, hi: Array, backend: str) -> None:
        n = len(lo)
        self.lo, self.hi, self.backend = lo, hi, backend
        self.x = np.clip(np.zeros(n), lo, hi)
        self.Z = np.eye(n)
        self.rows, self.lower, self.upper = np.zeros((0, n)), np.zeros(0), np.zeros(0)

    def meet(self, level: Level) -> None:
        if not self.Z.shape[1] or not len(level.J):
            self._keep(level)
            return
        equal = level.lower == level.upper
        J = level.J[equal]
        band = Level(level.J[~equal], level.lower[~equal], level.upper[~equal])
        target, weight, basis, used = self._least_squares(J, level.lower[equal] - J @ self.x, level.damping)
        x = self.x + basis @ target
        if not (self._is_inside(x) and _is_met(band, x)):
            x = self.x + basis @ self._bounded(target, weight, basis, band)
        self.x = np.clip(x, self.lo, self.hi)
        self.Z = basis[:, used:]
        self._keep(band)

    def minimise(self, H: Array, g: Array) -> None:
        """The minimum of 1/2 x'Hx + g'x in what freedom is left."""
        Z = self.Z
        if not Z.shape[1]:
            return
        Hz, gz = Z.T @ H @ Z, Z.T @ (g + H @ self.x)
        x = self.x - Z @ np.linalg.solve(Hz, gz)
        if not self._is_inside(x):
            x = self.x + Z @ self._program(Hz, gz, self._walls(Z), *self._sides())
        self.x = np.clip(x, self.lo, self.hi)

    def _least_squares(self, J: Array, b: Array, damping: float) -> tuple[Array, Array, Array, int]:
        """Target (f,) and weight (f,) in an orthonormal basis (n, f) of Z, of which the first `used` move the rows."""
        size = float(np.linalg.norm(J))
        U, s, Vt = np.linalg.svd(J @ self.Z)
        used = int((s > NONE * size).sum())
        solved = int((s > USELESS * size).sum())
        target, weight = np.zeros(len(Vt)), np.zeros(len(Vt))
        weight[:used] = s[:used] ** 2 + damping
        target[:solved] = s[:solved] * (U.T @ b)[:solved] / weight[:solved]
        weight[used:] = damping
        return target, weight, self.Z @ Vt.T, used

    def _bounded(self, target: Array, weight: Array, basis: Array, band: Level) -> Array:
        """The minimum of the weighted distance to the target and of the violation of the band, inside the bounds."""
        f, slacks = len(target), len(band.J)
        walls = self._walls(basis)
        C = np.zeros((len(walls) + slacks, f + slacks))
        C[: len(walls), :f] = walls
        C[len(walls) :, :f] = band.J @ basis
        C[len(walls) :, f:] = -np.eye(slacks)
        lower, upper = self._sides()
        values = band.J @ self.x
        largest = max(weight.max(), 1.0 if slacks else 0.0)
        ease = np.concatenate((np.maximum(EASE * (largest or 1.0) - weight, 0.0), np.zeros(slacks)))
        weight = np.concatenate((weight, np.ones(slacks)))
        point = np.zeros(f + slacks)
        for _ in range(PASSES if ease.any() else 1):  # `ease` holds it near the last point: in the end it costs nothing
            point = self._program(
                np.diag(weight + ease),
                -(weight * np.concatenate((target, np.zeros(slacks))) + ease * point),
                C,
                np.concatenate((lower, band.lower - values)),
                np.concatenate((upper, band.upper - values)),
            )
        return point[:f]

    def _program(self, H: Array, g: Array, C: Array, lower: Array, upper: Array) -> Array:
        """The minimum, or 0 when rounding makes the sides seem contradictory: staying keeps all that is above."""
        for rounding in ROUNDING:
            tolerance = rounding * max(1.0, float(abs(self.x).max(initial=0.0)))
            found = solve_qp(H, g, C=C, lower=lower, upper=upper, tolerance=tolerance, backend=self.backend)
            if found.status is QPStatus.OPTIMAL:
                return found.x
        return np.zeros(len(g))

    def _keep(self, band: Level) -> None:
        """From now on: rows that are met stay inside, rows that are violated stay as they are."""
        if not len(band.J):
            return
        values = band.J @ self.x
        violated = abs(_lacking(band, self.x)) > INSIDE * _size(band, self.x)
        if violated.any() and self.Z.shape[1]:
            J = band.J[violated]
            _, s, Vt = np.linalg.svd(J @ self.Z)
            self.Z = self.Z @ Vt[int((s > NONE * np.linalg.norm(J)).sum()) :].T
        kept = ~violated
        self.rows = np.vstack((self.rows, band.J[kept]))
        self.lower = np.concatenate((self.lower, np.minimum(band.lower, values)[kept]))
        self.upper = np.concatenate((self.upper, np.maximum(band.upper, values)[kept]))

    def _is_inside(self, x: Array) -> bool:
        return bool(
            (x >= self.lo).all() and (x <= self.hi).all() and _is_met(Level(self.rows, self.lower, self.upper), x)
        )

    def _walls(self, basis: Array) -> Array:
        """Bounds and kept rows in coordinates of a basis."""
        return np.vstack((basis, self.rows @ basis))

    def _sides(self) -> tuple[Array, Array]:
        """What is left of them from x on."""
        values = self.rows @ self.x
        lower = np.concatenate((self.lo - self.x, self.lower - values))
        return lower, np.concatenate((self.hi - self.x, self.upper - values))


def _is_met(band: Level, x: Array) -> bool:
    return bool((abs(_lacking(band, x)) <= INSIDE * 1e-3 * _size(band, x)).all())


def _size(band: Level, x: Array) -> Array:
    """(m,) what differences of a row's value are small against."""
    return np.sqrt((band.J * band.J).sum(axis=1)) * max(1.0, float(np.sqrt(x @ x)))
