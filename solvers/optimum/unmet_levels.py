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
TOUCHED = 1e-9  # inequalities nearer than this may hold a level back
BENDS = 3e-5  # of |e|, or of the largest second derivative: as an error is known to 1e-9 (WORSE), they are to its root


def hold_unmet(poses: PoseProblem, point: PosePoint, subproblem: Subproblem) -> None:
    """Uses up the directions along which levels that are not met would be met less."""
    first = len(subproblem.rows) - sum(len(level.J) for level in point.levels)
    for level, met, error in zip(point.levels, point.met, point.errors, strict=True):
        own, first = first, first + len(level.J)
        Z = subproblem.Z
        if met or not error > 0.0 or not Z.shape[1]:
            continue
        multipliers = _multipliers(subproblem, own, residual(level))

        sides = [[poses.integrated(point.q, side * STEP * z) for side in (1.0, -1.0)] for z in Z.T]
        gradients = [[_gradient(poses, subproblem, q, multipliers) @ Z for q in ends] for ends in sides]
        H = np.array([forward - backward for forward, backward in gradients]) / (2.0 * STEP)
        values, E = np.linalg.eigh(0.5 * (H + H.T))
        least = BENDS * max(np.sqrt(2.0 * error), abs(values).max())
        subproblem.Z = Z @ E[:, values <= least]


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
