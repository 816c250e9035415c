"""From a pose to the next one that meets the tasks, by the way that leads there: no jump to another posture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.spatial import se3
from ...solvers import IKProblem, PoseTask, SolveResult
from ...solvers.ik.tip_ik import TipIK

ATTEMPTS, ITERATIONS = 1, 10  # one descent from where the robot stands
LEAP = 0.5  # [rad, m] a coordinate that moves farther in one solve may have come to another posture
PIECES = 16  # that the way of targets is then cut into
AWAY = 0.3  # [m, rad] targets that go farther at once are set anew, not dragged: any posture that meets them will do


class Descent:
    """A problem, and the targets for which it was solved last."""

    def __init__(self, problem: IKProblem) -> None:
        self.problem = problem
        self._last: list[Any] | None = None
        self._are_poses = isinstance(problem.search, TipIK) and all(type(t) is PoseTask for t in problem.tasks)

    def solve(
        self, targets: list[Any], q: Array, shares: Sequence[float] | None = None, without: Array | None = None
    ) -> SolveResult:
        """The pose for the targets that is near q (nq,); as near as can be, where they cannot be met.
        shares: influences, where not all are 1.   without: see `IKProblem.solve`. Raises TaskError."""
        last, self._last = self._last, targets
        asked = np.array(targets) if self._are_poses else targets
        direct = self.problem.solve(asked, q, 0, False, shares, without)
        if last is None or abs(direct.q - q).max(initial=0.0) <= LEAP:
            return direct
        found, way = None, q
        for piece in range(1, PIECES + 1):
            between = [_between(a, b, piece / PIECES) for a, b in zip(last, targets, strict=True)]
            found = self.problem.solve(between, way, 0, False, shares, without)
            way = found.q
        assert found is not None
        if found.converged or not direct.converged:
            return found
        return direct if max(map(_apart, last, targets), default=0.0) > AWAY else found


def _between(a: Any, b: Any, share: float) -> Any:
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


def _apart(a: Any, b: Any) -> float:
    """[m, rad] how far a target went."""
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape == b.shape):
        return 0.0
    if b.shape == (4, 4):
        return max(float(np.linalg.norm(b[:3, 3] - a[:3, 3])), float(np.linalg.norm(se3.log(_turn(a, b))[3:])))
    return float(np.linalg.norm(b - a)) if b.shape == (3,) else 0.0
