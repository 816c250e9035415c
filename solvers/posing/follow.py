"""From a pose to the next one that meets the tasks, by the way that leads there: no jump to another posture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...robokin.arrays import Array, farthest
from ...robokin.spatial import se3
from ..ik.problem import IKProblem
from ..ik.tip_ik import TipIK
from ..results import SolveResult, Status
from ..tasks import PoseTask
from ..tasks.influence import is_partial
from .blocking import Blocking

ATTEMPTS, ITERATIONS = 1, 10  # one descent from where the robot stands
LEAP = 0.5  # [rad, m] a coordinate that moves farther in one solve may have come to another posture
PIECES = 16  # that the way of the targets is then cut into; the nearer pose of the two counts


class TargetFollower:
    """A problem, and the targets for which it was solved last."""

    def __init__(self, problem: IKProblem) -> None:
        self.problem = problem
        self._last: list[Any] | None = None
        self._shares: Sequence[float] | None = None
        self._without: Array | None = None
        self._was_met = False
        self._are_poses = isinstance(problem.search, TipIK) and all(type(t) is PoseTask for t in problem.tasks)

    def solve(
        self, targets: list[Any], q: Array, shares: Sequence[float] | None = None, without: Array | None = None
    ) -> SolveResult:
        """The pose for the targets that is near q (nq,); as near as can be, where they cannot be met.
        shares: influences, where not all are 1.   without: see `IKProblem.solve`. Raises TaskError."""
        last, self._last, self._shares, self._without = self._last, targets, shares, without
        was_met, self._was_met = self._was_met, False
        wanted = np.array(targets) if self._are_poses else targets
        best = self.problem.solve(wanted, q, 0, False, shares, without)
        moved = farthest(best.q, q)
        is_lost = was_met and best.status is Status.MAX_ITERATIONS
        if last is not None and (is_lost or moved > LEAP):
            found = self._in_pieces(last, targets, q, shares, without)
            if found is not None and (not best.converged or farthest(found.q, q) < moved):
                best = found
        self._was_met = best.converged
        return best

    def without(self, targets: list[Any], q: Array, shares: Sequence[float]) -> Array:
        """(nq,) where the robot would be without the tasks of partial influence, solved from q (nq,)."""
        return self._solved(targets, q, [0.0 if is_partial(share) else share for share in shares], None).q

    def _solved(
        self, targets: Sequence[Any], q: Array, shares: Sequence[float] | None, without: Array | None
    ) -> SolveResult:
        return self.problem.solve(targets, q, 0, False, shares, without)

    @cached_property
    def _blocking(self) -> Blocking:
        return Blocking(self.problem)

    def blocking(self, q: Array) -> tuple[str, ...]:
        """Names of the joints whose limits hold the robot up at q (nq,), short of the targets of the last solve."""
        return () if self._last is None else self._blocking.joints(self._last, q, self._shares)

    def residuals(self, q: Array) -> Array:
        """(tasks, 2) of what the last solve was for, at q (nq,)."""
        return self.problem.residuals(self._last, q, self._shares, self._without)

    def _in_pieces(
        self,
        last: Sequence[Any],
        targets: Sequence[Any],
        q: Array,
        shares: Sequence[float] | None,
        without: Array | None,
    ) -> SolveResult | None:
        """Along the straight way of the targets from the last ones; None where they are not met all along."""
        for piece in range(1, PIECES + 1):
            aims = [between(a, b, piece / PIECES) for a, b in zip(last, targets, strict=True)]
            found = self.problem.solve(aims, q, 0, False, shares, without)
            if not found.converged:
                return None
            q = found.q
        return found


def between(a: Any, b: Any, share: float) -> Any:
    """A target on the way; what is no pose and no point is the second at once."""
    if share >= 1.0 or not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape):
        return b
    if b.shape == (4, 4):
        T = a.copy()
        turn = se3.exp(share * se3.log(_turn(a, b)))
        T[:3, :3] = a[:3, :3] @ turn[:3, :3]
        T[:3, 3] = (1.0 - share) * a[:3, 3] + share * b[:3, 3]
        return T
    return (1.0 - share) * a + share * b if b.shape == (3,) else b


def _turn(a: Array, b: Array) -> Array:
    T = np.eye(4)
    T[:3, :3] = a[:3, :3].T @ b[:3, :3]
    return T
