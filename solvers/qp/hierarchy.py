"""Lexicographic least squares inside hard bounds: strict priorities without compromise.

Level by level, the rows J x = b are met as nearly as the bounds and the levels above allow, and J x then stays as it
is: what follows moves x in the null space Z only. So what a level gets does not depend on the levels below, whether
bounds are active or not, and with damping. (Escande, Mansard, Wieber, "Hierarchical quadratic programming", IJRR 33,
2014.)

What a level gets is kept to rounding, relative to the norm of its rows (1e-9 and better): weights of axes that are far
apart make a level of rows of very different lengths, and the shortest of them, below 1e-9 of that norm, have no part
in it (`ROW_TOLERANCE`); directions that hardly move the rows, with singular values below 1e-6 of that norm, are held
still (`RANK_TOLERANCE`).

The rows of a level are reduced by reflections, the longest first, which says how many directions they use; the
singular values of what is left (small and triangular) make its problem diagonal. When that minimum is inside the
bounds it is the answer; otherwise a small strictly convex quadratic program finds it. Bounds that it presses on are
held from then on: by complementarity all that is as good for the level is at them too, so the levels below have so many
unknowns less. Twin of kernel/src/qp/hierarchy.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.errors import TaskError
from . import native_hierarchy
from .dense import QPResult, QPStatus, solve_qp
from .householder import reduced
from .level import Level, is_violated, residual, row_lengths, size_of

# Of rows in what the levels above leave, relative to the norm of the rows.
ROW_TOLERANCE = 1e-9  # no longer than that: rounding decides their direction, and they are left to the levels below
NORMAL_TOLERANCE = 1e-12  # the same of the normals of bounds, which bounds keep anyway
RANK_TOLERANCE = 1e-6  # singular values below: too little of the rows' motion to be worth the speed; held still

REGULARIZATION = 1e-8  # weight of motions that a level does not see, relative to those that it sees
PASSES = 2  # of the program of a level
ROUNDING = (1e-14, 1e-11)  # to which the bounds of a program are known: tight first, since x is moved into them
BOUND_TOLERANCE = 1e-12  # x that far out, relative to its size, is at the bounds
PIVOT_TOLERANCE = 1e-12  # pivots of H in what is left, relative to its largest entry: below, H hardly sees the motion
DIAGONAL_SHIFT = 1e-8  # what is then added to H, relative to its trace: with less, rounding moves what it does not see
MULTIPLIER_TOLERANCE = 1e-6  # multipliers of bounds above, relative to the largest weight of the level: it needs them
PUSH_TOLERANCE = 1e-12  # of the strongest push on x: multipliers that push less are rounding
PIVOT_NOISE = 1e-13  # the same relative to the trace of all of H: below, it is the rounding of what H sees elsewhere


@dataclass(frozen=True, eq=False)
class HierarchyResult:
    """x: (n,) inside the bounds.   residuals: per level (m,), of J x: positive where it should be larger, 0
    inside a band. What the levels below move lets a residual inside its band only, so they are those of the level.
    freedom: (levels + 1,) directions of motion that are left before each level and at the end; lo = hi is none, nor is
    what would leave a bound that a level above needs.
    points: (levels + 1, n) x after each level, and at the end."""

    x: Array
    residuals: list[Array]
    freedom: list[int]
    points: Array


def solve_hierarchy(
    lo: Array,
    hi: Array,
    levels: Sequence[Level],
    H: Array | None,
    g: Array | None,
    backend: str = "auto",
    start: Array | None = None,
) -> HierarchyResult:
    """x (n,) with lo <= x <= hi that meets the levels in their order; what freedom they leave minimises
    1/2 x'Hx + g'x.

    lo <= hi: (n,), may be infinite.   H: (n, n) symmetric positive semidefinite; what it does not see is held near 0;
    None: what is left stays.   g: (n,), in the range of H.
    start: (n,), 0 unless given: where x is, moved inside the bounds, before the first level moves it; so that without
    rows, H or g nothing moves.
    Raises TaskError when H is not positive semidefinite; BackendError.
    """
    start = np.zeros(len(lo)) if start is None else start
    if get_backend(backend).name == "native":
        return HierarchyResult(*native_hierarchy.solve(lo, hi, levels, H, g, start))
    descent = _Descent(lo, hi, start)
    freedom, points = [descent.Z.shape[1]], []
    for level in levels:
        descent.meet(level)
        freedom.append(descent.Z.shape[1])
        points.append(descent.x)
    if H is not None and g is not None:
        descent.minimise(H, g)
    x = descent.x
    return HierarchyResult(x, [residual(level, x) for level in levels], freedom, np.array([*points, x]))


class _Descent:
    """x and the basis Z (n, f), orthonormal, of the motions that change nothing above; `rows`, `lower`, `upper`:
    inequality rows above that are met and stay so; `movable`: (n,) coordinates that are not held at a bound."""

    def __init__(self, lo: Array, hi: Array, start: Array) -> None:
        n = len(lo)
        self.lo, self.hi = lo, hi
        self.x = np.clip(start, lo, hi)
        self.movable = lo < hi
        self.Z = np.eye(n)[:, self.movable]
        self.rows, self.lower, self.upper = np.zeros((0, n)), np.zeros(0), np.zeros(0)

    def meet(self, level: Level) -> None:
        if not self.Z.shape[1] or not len(level.J):
            return
        equal = level.lower == level.upper
        J = level.J[equal]
        band = Level(level.J[~equal], level.lower[~equal], level.upper[~equal])
        target, weight, basis, used = self._least_squares(J, level.lower[equal] - J @ self.x, level.damping)
        x = self.x + basis @ target
        pressed = np.zeros(0)
        if not (self._is_inside(x) and _is_met(band, x)):
            point, pressed = self._bounded(target, weight, basis, band, used if level.damping == 0.0 else len(target))
            x = self.x + basis @ point
        self._accept(x)
        self.Z = basis[:, used:]
        if level.damping == 0.0:  # else what is as good may be longer
            self._hold(pressed)
        self._keep(band)

    def minimise(self, H: Array, g: Array) -> None:
        """The minimum of 1/2 x'Hx + g'x in what freedom is left."""
        Z = self.Z
        if not Z.shape[1]:
            return
        Hz, gz = Z.T @ H @ Z, Z.T @ (g + H @ self.x)
        rounding = PIVOT_NOISE * float(np.trace(H))
        if not _is_definite(Hz, rounding):  # what H does not see is held near 0
            raised = DIAGONAL_SHIFT * max(np.trace(Hz), 0.0) + rounding or 1.0
            Hz, gz = Hz + raised * np.eye(len(Hz)), gz + raised * (Z.T @ self.x)
        try:
            L = np.linalg.cholesky(Hz)
        except np.linalg.LinAlgError:
            raise TaskError("the matrix H of a hierarchy is not positive semidefinite") from None
        x = self.x - Z @ np.linalg.solve(L.T, np.linalg.solve(L, gz))
        if not self._is_inside(x):
            found = self._program(Hz, gz, self._bound_rows(Z), *self._sides())
            x = self.x if found is None else self.x + Z @ found.x  # staying keeps all that is above
        self._accept(x)

    def _accept(self, x: Array) -> None:
        self.x = np.where(self.movable, np.clip(x, self.lo, self.hi), self.x)

    def _least_squares(self, J: Array, b: Array, damping: float) -> tuple[Array, Array, Array, int]:
        """Target (f,) and weight (f,) in an orthonormal basis (n, f) of Z, of which the first `used` move the rows."""
        size = float(np.linalg.norm(J))
        own, Q, used = reduced(J @ self.Z, ROW_TOLERANCE * size)
        U, s, Vt = np.linalg.svd(own, full_matrices=False)
        basis = self.Z @ Q
        basis[:, :used] = basis[:, :used] @ Vt.T
        squared, wanted = np.zeros(len(Q)), -damping * (basis.T @ self.x)
        squared[:used] = s**2
        wanted[:used] += np.where(s > RANK_TOLERANCE * size, s * (U.T @ b), 0.0)
        weight = squared + damping
        return np.divide(wanted, weight, out=np.zeros_like(weight), where=weight > 0.0), weight, basis, used

    def _bounded(self, target: Array, weight: Array, basis: Array, band: Level, used: int) -> tuple[Array, Array]:
        """The minimum (f,) of the weighted distance to the target and of the violation of the band, inside the bounds;
        of each bound whether it is needed there: -1 at its lower side, 1 at its upper one, else 0. What comes after the
        first `used` does not matter to the level, and moves as little as it can."""
        f, slacks = len(target), len(band.J)
        bounds = self._bound_rows(basis)
        C = np.zeros((len(bounds) + slacks, f + slacks))
        C[: len(bounds), :f] = bounds
        C[len(bounds) :, :f] = _in_basis(band.J, basis)
        C[len(bounds) :, f:] = -np.eye(slacks)
        values = band.J @ self.x
        lower, upper = map(np.concatenate, zip(self._sides(), (band.lower - values, band.upper - values), strict=True))
        largest = max(weight.max(), 1.0 if slacks else 0.0)
        ease = np.concatenate((np.maximum(REGULARIZATION * (largest or 1.0) - weight, 0.0), np.zeros(slacks)))
        weight = np.concatenate((weight, np.ones(slacks)))
        point, pressed = np.zeros(f + slacks), np.zeros(len(bounds))
        for _ in range(PASSES if ease.any() else 1):  # `ease` holds it near the last point: in the end it costs nothing
            slope = -(weight * np.concatenate((target, np.zeros(slacks))) + ease * point)
            found = self._program(np.diag(weight + ease), slope, C, lower, upper)
            if found is None:
                return point[:f], np.zeros(len(bounds))
            point, multipliers = found.x, found.row_multipliers
            push = abs(multipliers) * row_lengths(C / np.sqrt(weight + ease))
            pushes = push > PUSH_TOLERANCE * push.max(initial=0.0)
            needed = pushes & (abs(multipliers) > MULTIPLIER_TOLERANCE * largest)
            pressed = np.where(needed, np.sign(multipliers), 0.0)[: len(bounds)]
        if used < f:  # `ease` leaves that to rounding
            eased = point[used:f].copy()
            point[used:f] = 0.0
            there = C @ point
            found = self._program(np.eye(f - used), np.zeros(f - used), C[:, used:f], lower - there, upper - there)
            point[used:f] = eased if found is None else found.x
        return point[:f], pressed

    def _program(self, H: Array, g: Array, C: Array, lower: Array, upper: Array) -> QPResult | None:
        """None when rounding makes the sides seem contradictory."""
        for rounding in ROUNDING:
            tolerance = rounding * max(1.0, float(abs(self.x).max(initial=0.0)))
            found = solve_qp(H, g, C=C, lower=lower, upper=upper, tolerance=tolerance, backend="numpy")
            if found.status is QPStatus.OPTIMAL:
                return found
        return None

    def _hold(self, pressed: Array) -> None:
        """From now on: bounds that are needed, -1 at their lower and 1 at their upper sides, are where they are; but
        for bounds that rounding leaves x away from."""
        if not pressed.any():
            return
        coordinates = np.flatnonzero(self.movable)
        at, rows = pressed[: len(coordinates)], pressed[len(coordinates) :] != 0.0
        sides = np.where(at < 0.0, self.lo[coordinates], self.hi[coordinates])
        near = abs(self.x[coordinates] - sides) <= ROUNDING[-1] * max(1.0, float(abs(self.x).max()))
        is_fixed = (at != 0.0) & near
        fixed = coordinates[is_fixed]
        self.x[fixed] = sides[is_fixed]
        self.movable[fixed] = False
        normals = np.vstack((np.eye(len(self.x))[fixed], self.rows[rows]))
        _, Q, used = reduced(normals @ self.Z, NORMAL_TOLERANCE)
        self.Z = self.Z @ Q[:, used:]
        self.rows, self.lower, self.upper = self.rows[~rows], self.lower[~rows], self.upper[~rows]

    def _keep(self, band: Level) -> None:
        """From now on: rows that are met stay inside, rows that are violated stay as they are. Kept with length 1, as
        bounds are: the tolerance of programs is that of x."""
        if not len(band.J):
            return
        values = band.J @ self.x
        violated = is_violated(band, self.x)
        J = band.J[violated]
        _, Q, used = reduced(J @ self.Z, ROW_TOLERANCE * float(np.linalg.norm(J)))
        self.Z = self.Z @ Q[:, used:]
        size = row_lengths(band.J)
        kept = ~violated & (size > 0.0)
        size = size[kept]
        self.rows = np.vstack((self.rows, band.J[kept] / size[:, None]))
        self.lower = np.concatenate((self.lower, np.minimum(band.lower, values)[kept] / size))
        self.upper = np.concatenate((self.upper, np.maximum(band.upper, values)[kept] / size))

    def _is_inside(self, x: Array) -> bool:
        slop = BOUND_TOLERANCE * max(1.0, float(abs(x).max(initial=0.0)))
        return bool(
            (x >= self.lo - slop).all()
            and (x <= self.hi + slop).all()
            and _is_met(Level(self.rows, self.lower, self.upper), x)
        )

    def _bound_rows(self, basis: Array) -> Array:
        """Bounds and kept rows in coordinates of a basis."""
        return np.vstack((_in_basis(np.eye(len(basis))[self.movable], basis), _in_basis(self.rows, basis)))

    def _sides(self) -> tuple[Array, Array]:
        """What is left of them from x on."""
        values = self.rows @ self.x
        lower = np.concatenate(((self.lo - self.x)[self.movable], self.lower - values))
        return lower, np.concatenate(((self.hi - self.x)[self.movable], self.upper - values))


def _in_basis(rows: Array, basis: Array) -> Array:
    """Rows (m, n) in coordinates of a basis (n, f), 0 where what is left of a row is rounding: as the normal of a bound
    it would forbid what the bound does not, and push where `ease` hardly holds x."""
    own = rows @ basis
    return np.where(abs(own) > NORMAL_TOLERANCE * row_lengths(rows)[:, None], own, 0.0)


def _is_definite(H: Array, rounding: float) -> bool:
    try:
        pivots = np.diag(np.linalg.cholesky(H)) ** 2
    except np.linalg.LinAlgError:
        return False
    return bool(pivots.min() >= max(PIVOT_TOLERANCE * np.diag(H).max(), rounding))


def _is_met(band: Level, x: Array) -> bool:
    return bool((abs(residual(band, x)) <= BOUND_TOLERANCE * size_of(band, x)).all())
