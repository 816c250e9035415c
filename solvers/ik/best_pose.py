"""The best pose for tasks in levels, and what criteria prefer there; what a solve says of it comes after."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...robokin.arrays import Array
from ..criteria import Criterion, Manipulability, Potential, SmallestSingularValue
from ..descent.work import Work
from ..families.closed_form import ClosedForm
from ..optimum.native import optimum_of
from ..optimum.pose_look import Optimum
from ..optimum.pose_point import PosePoint
from ..progress import scaled
from ..tasks import Task
from ..tasks.influence import Remaining
from .free_pose import FreePose
from .level_ik import LevelIK

OF_ROWS = Manipulability, SmallestSingularValue  # of the first level


class LevelProblem(Protocol):
    """What is asked of an `IKProblem`."""

    tasks: tuple[Task, ...]
    criteria: tuple[Criterion, ...]

    def inside(self, q0: object) -> Array: ...

    @property
    def level_search(self) -> LevelIK: ...

    @property
    def free(self) -> FreePose: ...

    @property
    def closed_form(self) -> ClosedForm | None: ...


@dataclass(frozen=True, eq=False)
class BestPose:
    """targets: resolved.   gaps: (tasks,) [m] by which they are out of reach.   optimum: of the criteria; None where
    they have no say."""

    point: PosePoint
    targets: Sequence[Any]
    gaps: Array
    iterations: int
    attempts: int
    optimum: Optimum | None


def potentials_of(problem: LevelProblem) -> list[Criterion]:
    """Criteria of a problem that have an optimum among poses."""
    return [each for each in problem.criteria if each.weight and isinstance(each, Potential)]


def best_pose(
    problem: LevelProblem,
    targets: object,
    origin: Array,
    start: Array,
    seed: int,
    shares: Sequence[float],
    remaining: Mapping[int, Remaining],
    work: Work,
) -> Generator[float, None, BestPose]:
    """From `start` (nq,) on, towards targets that are counted from `origin` (nq,). remaining: see `LevelIK.poses`.
    work: of the solve that this search is of."""
    search = problem.level_search
    poses = search.poses(search.levels.checked_targets(targets), origin, shares, remaining)
    gaps = search.excess(poses.targets, np.array(shares) >= 1.0)
    is_whole = set(shares) == {1.0} and not gaps.any()
    start, before = problem.free.start(poses.targets, start, seed) if is_whole else (start, 0)
    work.begin()
    begin = start if is_whole else origin
    best, iterations, attempts = search.find(poses, start, begin, seed, search.attempts, gaps, work)
    yield 0.5
    if not best.is_met and is_whole and len(shares) == 1 and problem.closed_form:
        posture = problem.closed_form.nearest(poses.targets[0], start)
        if posture is not None:
            best, more, _ = search.find(poses, posture, posture, seed, 1, gaps, work)
            iterations, attempts = iterations + more, attempts + 1
    iterations += before
    # Short of the first level, the pose is as good as its tasks can tell.
    if not potentials_of(problem) or not best.met[:1].all():
        return BestPose(best, poses.targets, gaps, iterations, attempts, None)
    preferred = [each for each in problem.criteria if each.weight]
    rows = [len(level.J) for level in best.levels]
    looked = sum(rows[:1]) if any(isinstance(each, OF_ROWS) for each in preferred) else 0
    optimum = yield from scaled(optimum_of(poses, preferred).find(best, work.poses(sum(rows), looked)), 0.5, 0.9)
    work.take_poses(optimum.poses, sum(rows), looked)
    return BestPose(optimum.point, poses.targets, gaps, iterations + optimum.iterations, attempts, optimum)
