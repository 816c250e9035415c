"""What a level that cannot be met leaves free.

Its error E = |e|^2 / 2 is at its least, so no motion lessens it, and motions that leave its rows alone raise it only by
how it bends: along them the second derivatives of E, with what the limits and the levels above hold, are not negative.
The poses that meet the level as well lie where they vanish.
"""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from .pose_point import PosePoint
from .pose_problem import PoseProblem, residual
from .subproblem import SMALL, Subproblem, rows_at

STEP = 1e-4  # radians or L, of central differences
FIXED, BEYOND = 4, 10.0  # times that coordinates are held whose bounds are so many times nearer than they would go
TOUCHED = 1e-9  # inequalities nearer than this may hold a level back
BENDS = 3e-5  # of |e|, or of the largest second derivative: as an error is known to 1e-9 (WORSE), they are to its root

CERTAIN = 1e-6  # of the same: curvature that differences show for certain


def hold_unmet(poses: PoseProblem, point: PosePoint, subproblem: Subproblem) -> None:
    """Uses up the directions along which levels that are not met would be met less."""
    first = len(subproblem.rows) - sum(len(level.J) for level in point.levels)
    for level, met, error in zip(point.levels, point.met, point.errors, strict=True):
        own, first = first, first + len(level.J)
        Z = subproblem.Z
        if met or not error > 0.0 or not Z.shape[1]:
            continue
        multipliers = _multipliers(subproblem, own, residual(level))
        values, E = np.linalg.eigh(_bending(poses, subproblem, point, multipliers, Z))
        subproblem.Z = Z @ E[:, values <= BENDS * _scale(error, values)]


def least_error_step(poses: PoseProblem, point: PosePoint) -> tuple[Array, float]:
    """x (nv,), Newton's towards the least error of the first level that is not met; and by how much of its error it has
    less there, to second order.

    A Gauss-Newton step leads away from there where the error bends more by its residual than by the rows."""
    subproblem, unmet = Subproblem(poses, point), int(np.argmin(point.met))
    level, error, rows = point.levels[unmet], point.errors[unmet], subproblem.rows
    first = len(rows) - sum(len(own.J) for own in point.levels[unmet:])
    e, is_equality = residual(level), subproblem.is_equality[:first]
    if not error > 0.0:
        return np.zeros(poses.model.nv), 0.0
    multipliers = _multipliers(subproblem, first, e)
    presses = subproblem.presses(multipliers[:first], TOUCHED)
    multipliers[:first][~is_equality & ~presses] = 0.0
    holding, x, less = is_equality | presses, np.zeros(poses.model.nv), 0.0
    lo, hi, _ = poses.bounds(point.q)
    for _ in range(FIXED):
        _, s, Vt = np.linalg.svd(rows[:first][holding])
        Z = Vt[int((s > SMALL * np.linalg.norm(rows[:first][holding])).sum()) :].T
        J = level.J[e != 0.0] @ Z
        values, E = np.linalg.eigh(J.T @ J + _bending(poses, subproblem, point, multipliers, Z))
        bent = abs(values) > CERTAIN * _scale(error, values)
        E, sizes = Z @ E[:, bent], abs(values[bent])
        along = E.T @ (e @ level.J)
        x, less = E @ (along / sizes), 0.5 * float((along**2 / sizes).sum()) / error
        leaves = (abs(x) > TOUCHED) & (abs(x) > BEYOND * abs(np.where(x < 0.0, lo, hi)))
        if not leaves.any():
            break
        holding[: len(x)] |= leaves
    return x, less


def _scale(error: float, values: Array) -> float:
    return max(np.sqrt(2.0 * error), float(abs(values).max(initial=0.0)))


def _bending(poses: PoseProblem, subproblem: Subproblem, point: PosePoint, multipliers: Array, Z: Array) -> Array:
    """(f, f) how the first rows, times multipliers, change along the columns of Z (nv, f)."""
    sides = [[poses.integrated(point.q, side * STEP * z) for side in (1.0, -1.0)] for z in Z.T]
    gradients = [[_gradient(poses, subproblem, q, multipliers) @ Z for q in ends] for ends in sides]
    H = np.array([forward - backward for forward, backward in gradients]) / (2.0 * STEP)
    return 0.5 * (H + H.T)


def _gradient(poses: PoseProblem, subproblem: Subproblem, q: Array, multipliers: Array) -> Array:
    """(nv,) the first rows at q, times multipliers; 0 when there are others than at the subproblem's point."""
    rows = rows_at(poses, poses.point(q))
    return multipliers @ rows[: len(multipliers)] if rows.shape == subproblem.rows.shape else np.zeros(rows.shape[1])


def _multipliers(subproblem: Subproblem, first: int, e: Array) -> Array:
    """Multipliers of the rows up to those of the level, which begin at `first`: of its own their residuals, with the
    other sign, and of those above it what holds it."""
    rows, touched = subproblem.rows, subproblem.is_equality.copy()
    touched[~subproblem.is_equality] = np.minimum(-subproblem.lower, subproblem.upper) <= TOUCHED
    above = np.flatnonzero(touched[:first])
    found = np.zeros(first + len(e))
    found[first:] = -e
    if len(above):
        found[above] = -np.linalg.lstsq(rows[above].T, found[first:] @ rows[first : first + len(e)], rcond=SMALL)[0]
    return found
