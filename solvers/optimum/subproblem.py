"""The motions that tasks and limits allow at a pose, to first order, and the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ..criteria.largest_eigenvalue import LargestEigenvalue
from ..criteria.objective import Gradients
from ..qp.dense import QPStatus, solve_qp
from ..qp.level import Level
from .pose_point import PosePoint
from .pose_problem import PoseProblem, residual

SMALL = 1e-9  # singular values of what is held, relative to the largest: below, a row follows from the others
VIOLATED = 1e-9  # an inequality with a larger residual is held as it is
CUTS, CUT = 30, 1e-9  # of one program; a cut is missing when an edge is passed by more than this, relative to the step
HOLDS = 1e-6  # eigenvalues of W larger than this
EDGE = 1e-4  # curvature that keeps the program of an edge strictly convex, relative to that of the rest
EPS = 1e-14  # relative: to which eigenvalues are known
ROUNDING = (1e-13, 1e-10)  # to which the sides of a program are known


@dataclass(frozen=True, eq=False)
class Multipliers:
    """What holds a pose: of the equalities, of the inequalities (positive at the upper side), and of each edge
    the gradient that is chosen (`Gradients`).   is_known: a program found them."""

    equalities: Array
    inequalities: Array
    chosen: Sequence[Array]
    is_known: bool = True


def rows_at(poses: PoseProblem, point: PosePoint) -> Array:
    """(k, nv) of single coordinates, of pieces of curves, of what the limits bound otherwise, and of the levels."""
    levels = [*poses.pieces.levels(point), *poses.bounds(point.q)[2], *point.levels]
    return np.vstack([np.eye(poses.model.nv), *[level.J for level in levels]])


class Subproblem:
    """The QP subproblem at an iterate: equalities (m, nv) do not change, lower <= inequalities x <= upper (k, nv).
    pieces: which of the inequalities keep to straight pieces of curves.
    Z: (nv, f) basis of the null space of the equalities, and of levels that are not met (`unmet_levels.py`)."""

    def __init__(self, poses: PoseProblem, point: PosePoint) -> None:
        nv = poses.model.nv
        self.backend = poses.levels.backend
        lo, hi, bounds = poses.bounds(point.q)
        pieces = poses.pieces.levels(point)
        levels = [*pieces, *bounds, *point.levels]
        self.rows = rows_at(poses, point)
        lower = np.concatenate([lo, *[level.lower for level in levels]])
        upper = np.concatenate([hi, *[level.upper for level in levels]])
        violation = np.concatenate([np.zeros(nv), *[abs(residual(level)) for level in levels]])
        self.is_equality = (lower == upper) | (violation > VIOLATED)
        self.equalities, self.inequalities = self.rows[self.is_equality], self.rows[~self.is_equality]
        self.lower, self.upper = np.minimum(lower, 0.0)[~self.is_equality], np.maximum(upper, 0.0)[~self.is_equality]
        at = nv - int(self.is_equality[:nv].sum())
        self.pieces = slice(at, at + len(pieces))
        _, s, Vt = np.linalg.svd(self.equalities)
        self.Z = Vt[int((s > SMALL * s.max(initial=0.0)).sum()) :].T

    def best(self, gradients: Gradients, B: Array) -> tuple[Array, float, Multipliers]:
        """x (nv,) that minimises 1/2 x'Bx + the objective to first order, its change by x, and what holds x; 0 when no
        program finds it.

        B: (nv, nv) positive definite on Z. The edges are met by cuts that are added until none is passed (Kelley).
        """
        Z, f, sharp = self.Z, self.Z.shape[1], gradients.sharp
        edges = [gradients.edges[i] for i in sharp]
        smooth = gradients.smooth + sum(edge.derivative[0, 0] for edge in gradients.edges if len(edge.A) == 1)
        size = float(np.trace(Z.T @ B @ Z)) / max(f, 1) or 1.0
        H = np.eye(f + len(edges)) * EDGE
        H[:f, :f] = Z.T @ B @ Z / size
        g = np.concatenate((Z.T @ smooth / size, np.ones(len(edges))))
        tops = [float(np.linalg.eigvalsh(edge.A)[-1]) for edge in edges]
        cuts = [
            (i, w / np.linalg.norm(w))
            for i, edge in enumerate(edges)
            for w in np.hstack((np.linalg.eigh(edge.A)[1], gradients.chosen[sharp[i]])).T
        ]
        x, t, inequality, cut = (
            np.zeros(len(Z)),
            np.zeros(len(edges)),
            np.zeros(len(self.inequalities)),
            np.zeros(len(cuts)),
        )
        is_known = f == 0
        for _ in range(CUTS if f else 0):
            C = np.zeros((len(self.inequalities) + len(cuts), f + len(edges)))
            C[: len(self.inequalities), :f] = self.inequalities @ Z
            upper = np.concatenate((self.upper, np.zeros(len(cuts))))
            for row, (i, w) in enumerate(cuts, len(self.inequalities)):
                C[row, :f] = edges[i].gradient(np.outer(w, w)) @ Z / size
                C[row, f + i] = -1.0
                upper[row] = (tops[i] - w @ edges[i].A @ w) / size
            lower = np.concatenate((self.lower, np.full(len(cuts), -np.inf)))
            found = self._program(H, g, C, lower, upper)
            if found is None:
                break
            is_known, (z, multipliers) = True, found
            x, t = Z @ z[:f], z[f:]
            inequality, cut = size * multipliers[: len(self.inequalities)], multipliers[len(self.inequalities) :]
            missing = []
            for i, edge in enumerate(edges):
                value, w = edge.moved(x)
                least = size * CUT * float(np.linalg.norm(x)) + EPS * float(abs(edge.A).max())
                if value - tops[i] > size * t[i] + least:
                    missing.append((i, w))
            if not missing:
                break
            cuts += missing
        chosen = list(gradients.chosen)
        for k, i in enumerate(sharp):
            chosen[i] = _chosen(k, cuts, cut, chosen[i])
        gradient_left = Gradients(gradients.smooth, gradients.edges, chosen).gradient + self.inequalities.T @ inequality
        equalities = (
            -np.linalg.lstsq(self.equalities.T, gradient_left, rcond=SMALL)[0] if len(self.equalities) else np.zeros(0)
        )
        return x, float(smooth @ x + size * t.sum()), Multipliers(equalities, inequality, chosen, is_known)

    def beyond_pieces(self) -> Subproblem:
        """This problem, but that straight pieces of curves may be left."""
        there = copy(self)
        there.lower, there.upper = self.lower.copy(), self.upper.copy()
        there.lower[self.pieces], there.upper[self.pieces] = -np.inf, np.inf
        return there

    def leaves_pieces(self, x: Array) -> bool:
        """Whether x (nv,) does."""
        along = self.inequalities[self.pieces] @ x
        return bool((along < self.lower[self.pieces]).any() or (along > self.upper[self.pieces]).any())

    def past_pieces(self, touched: float) -> list[Array]:
        """(nv,) each, on from where a curve has a corner or an end, nearer than `touched`."""
        rows, lower, upper = (each[self.pieces] for each in (self.inequalities, self.lower, self.upper))
        sides = (upper < touched) * 1.0 - (lower > -touched)
        return [side * self.Z @ (self.Z.T @ row) for side, row in zip(sides, rows, strict=True) if side]

    def weighted(self, multipliers: Multipliers, rows: Array) -> Array:
        """(nv,) the rows of a point nearby, times what they hold here; 0 when there are others."""
        if rows.shape != self.rows.shape:
            return np.zeros(rows.shape[1])
        return multipliers.equalities @ rows[self.is_equality] + multipliers.inequalities @ rows[~self.is_equality]

    def multipliers_of_levels(self, multipliers: Multipliers, levels: Sequence[Level]) -> list[Array]:
        """Multipliers of each level of tasks."""
        of_rows = np.zeros(len(self.rows))
        of_rows[self.is_equality], of_rows[~self.is_equality] = multipliers.equalities, multipliers.inequalities
        ends = np.cumsum([len(level.J) for level in levels[::-1]])[::-1]
        return [of_rows[len(of_rows) - end :][: len(level.J)] for end, level in zip(ends, levels, strict=True)]

    def pressed(self, gradients: Gradients, multipliers: Multipliers, least: float = 0.0) -> Array:
        """(nv, d) orthonormal directions, of those left free, across the edges that hold and the inequalities that do,
        with multipliers larger than `least`."""
        rows = [
            self.inequalities[abs(multipliers.inequalities) > least],
            *map(_across, gradients.edges, multipliers.chosen),
        ]
        _, s, Vt = np.linalg.svd(np.vstack(rows) @ self.Z, full_matrices=False)
        return self.Z @ Vt[: int((s > SMALL * s.max(initial=0.0)).sum())].T

    def _program(self, H: Array, g: Array, C: Array, lower: Array, upper: Array) -> tuple[Array, Array] | None:
        for rounding in ROUNDING:
            found = solve_qp(H, g, C=C, lower=lower, upper=upper, tolerance=rounding, backend=self.backend)
            if found.status is QPStatus.OPTIMAL:
                return found.x, found.row_multipliers
        return None


def _chosen(i: int, cuts: Sequence[tuple[int, Array]], weights: Array, otherwise: Array) -> Array:
    """(r, k) of an edge: its cuts by how much they hold."""
    own = [np.sqrt(weight) * w for (edge, w), weight in zip(cuts, weights, strict=False) if edge == i and weight > 0.0]
    return np.column_stack(own) / np.linalg.norm(own) if own else otherwise


def _across(edge: LargestEigenvalue, chosen: Array) -> Array:
    """(k, nv) gradients of what is 0 as long as the eigenvalues that hold the pose are equal."""
    values, vectors = np.linalg.eigh(chosen @ chosen.T)
    P = vectors[:, values > HOLDS]
    if P.shape[1] < 2:
        return np.zeros((0, edge.derivative.shape[-1]))
    derivative = np.einsum("ai,abk,bj->ijk", P, edge.derivative, P)
    i, j = np.triu_indices(P.shape[1], 1)
    equal = np.diagonal(derivative).T
    return np.vstack((derivative[i, j], equal[1:] - equal[0]))
