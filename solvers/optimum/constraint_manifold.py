"""The poses that meet tasks as well as a first one does, along which a cost may be made small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import Array
from ..qp.hierarchy import RANK_TOLERANCE
from ..velocity.task_levels import stacked
from .pose_point import PosePoint
from .pose_problem import PoseProblem, residual

CORRECTIONS = 8  # steps back to the tasks: Newton's, which need two or three
FEW = 3  # where a level is not met: steps towards it converge slowly or not at all, and a shorter way costs less
FIXED = 4  # times that coordinates of one step may stop at their bounds
FARTHEST = 0.5  # radians or L, of a Newton step
MET = 1e-20  # error of a level that is as good as 0: 1e-10 L
WORSE, ROUNDING = 1e-9, 1e-14  # relative: the error of a level that cannot be met may grow by that in all; is known to
ROOM = 0.5  # of that growth: from there the level is brought back


class ConstraintManifold:
    """start: the first pose, with its levels met as exactly as they can be."""

    def __init__(self, poses: PoseProblem, start: PosePoint) -> None:
        self.poses = poses
        self.start = self._met_exactly(start)
        errors = self.start.errors
        self._allowed = np.where(self.start.met, np.maximum(errors, MET), errors * (1.0 + WORSE))

    def slack(self, multipliers: Sequence[Array]) -> float:
        """What a pose may cost less only because tolerances leave it off its tasks. multipliers: of the
        rows of each level."""
        off = np.sqrt(2.0 * self._allowed * np.where(self.start.met, 1.0, WORSE))
        return 2.0 * float(sum(away * np.linalg.norm(own) for away, own in zip(off, multipliers, strict=True)))

    def excess_cost(self, multipliers: Sequence[Array], met: Array, point: PosePoint) -> float:
        """What the cost of a point would be less if it met the levels that can be met exactly, to first order.
        multipliers: as above, of a point nearby.   met: which levels can be."""
        residuals = [residual(level) for level in point.levels]
        pairs = [(own, e) for own, e, can_be in zip(multipliers, residuals, met, strict=True) if can_be]
        return sum(float(own @ e) for own, e in pairs if own.shape == e.shape)

    def nearest(self, q: Array, before: PosePoint) -> PosePoint | None:
        """q (nq,) brought back to the tasks, as well met as they were at `before`; None when that fails.

        By how much a level may be met worse is for rounding: steps that use it up leave no room for others."""
        point = self.poses.point(q)
        for _ in range(CORRECTIONS if before.is_met else FEW):
            if self._is_as_good(point, before):
                break
            after = self._nearer(point, before.met)
            if not (after.errors < point.errors).any():
                return None
            point = after
        if not self._is_as_good(point, before):
            return None
        uses_room = (point.errors > self._allowed * (1.0 - ROOM * WORSE))[~before.met].any()
        return self._met_exactly(point) if uses_room else point

    def _met_exactly(self, start: PosePoint) -> PosePoint:
        """None worse than at the start, and where a level cannot be met, as near as it can be: what is off its minimum
        bends where the minimum would not."""
        best = point = start
        for _ in range(CORRECTIONS):
            if start.is_met and _is_met_exactly(best, start.met):
                break
            point = self._nearer(point, start.met)
            if (point.met >= start.met).all() and _is_lower(point.errors, best.errors):
                best = point
        return best

    def _nearer(self, point: PosePoint, met: Array) -> PosePoint:
        """A step towards the tasks: Newton's, where that brings levels that can be met nearer."""
        x = None if _is_met_exactly(point, met) else self._newton(point, met)
        if x is not None:
            after = self.poses.point(self.poses.moved(point.q, x))
            if (after.errors < point.errors)[met].any():
                return after
        return self.poses.point(self.poses.moved(point.q, self.poses.step(point)))

    def _newton(self, point: PosePoint, met: Array) -> Array | None:
        """x (nv,) of least length that meets the equations and the bands, to first order, of the
        levels that can be met.

        Coordinates whose bounds it meets stay there. None when there is none near."""
        lo, hi, _ = self.poses.bounds(point.q)
        whole = stacked([level for level, can_be in zip(point.levels, met, strict=True) if can_be], len(lo))
        e = residual(whole)
        used = (whole.lower == whole.upper) | (e != 0.0)
        J, e = whole.J[used], e[used]
        fixed, x = np.zeros(len(lo), bool), np.zeros(len(lo))
        for _ in range(FIXED):
            free = np.linalg.lstsq(J[:, ~fixed], e - J[:, fixed] @ x[fixed], rcond=RANK_TOLERANCE)[0]
            if not np.linalg.norm(free) <= FARTHEST:
                return None
            x[~fixed] = free
            outside = (x < lo) | (x > hi)
            if not outside.any():
                return x
            x, fixed = np.clip(x, lo, hi), fixed | outside
        return None

    def _is_as_good(self, point: PosePoint, before: PosePoint) -> bool:
        return bool((point.met >= before.met).all() and (point.errors <= self._allowed).all())


def _is_met_exactly(point: PosePoint, met: Array) -> bool:
    """The levels that can be met."""
    return bool((point.errors[met] <= MET).all())


def _is_lower(errors: Array, others: Array) -> bool:
    """The first level that differs decides."""
    errors, others = np.maximum(errors, MET), np.maximum(others, MET)
    differ = np.flatnonzero(abs(errors - others) > ROUNDING * others)
    return bool(len(differ) and errors[differ[0]] < others[differ[0]])
