"""Poses for tasks of any kind in levels: what the search needs beside the kernel (kernel/src/ik/ik.c) or its twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.generalized_inverses import null_space
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel
from ..descent.data import IKData, compile_ik, compile_whole
from ..descent.engine import CONVERGED
from ..descent.native_level_search import NativeLevelSearch
from ..descent.steps import DAMPING_FLOOR, out_of_reach
from ..descent.work import Work, step_costs
from ..optimum.pose_point import PosePoint
from ..optimum.pose_problem import PoseProblem, residual
from ..optimum.sqp import most_poses
from ..qp.hierarchy import RANK_TOLERANCE
from ..qp.level import Level
from ..random_numbers import SplitMix64
from ..tasks import PositionTask, PostureTask, Task
from ..tasks.base import states_rows_of
from ..tasks.influence import Remaining, is_partial, remaining_of
from ..tasks.protocols import DistanceBoundTask, resolve_target
from ..tasks.tip import TipTask
from ..velocity.task_levels import TaskLevels
from .diagnosis import around, rank
from .reference import LevelSearch
from .restarts import Restarts, known_task
from .tip_ik import TipIK, is_plain

ATTEMPTS = 30
ITERATIONS = 40
TRIALS = 4  # attempts to find out whether something can be met at all
CLOSING = 5  # steps that close loops
SAMPLES = 3  # random poses at which it is looked which coordinates the tasks depend on


class LevelIK:
    """The search for poses of tasks in levels; targets are lists, of checked ones."""

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        limits: PositionLimits,
        backend: str,
        attempts: int | None,
        iterations: int | None,
    ) -> None:
        self.model, self.limits = model, limits
        self.levels = TaskLevels(model, tasks, backend)
        self.tasks = self.levels.tasks
        self._most = attempts, iterations
        self._reaches: dict[int, IKData | None] = {}
        self.attempts, self._iterations = attempts or ATTEMPTS, iterations or ITERATIONS

    def poses(
        self,
        targets: Sequence[Any],
        start: Array,
        shares: Sequence[float] | None = None,
        remaining: Mapping[int, Remaining] = MappingProxyType({}),
    ) -> PoseProblem:
        """start: (nq,) where targets are counted from.   shares: influences, the tasks' own unless given.
        remaining: what is not asked for of tasks of partial influence."""
        return PoseProblem(self.levels, self._resolved(targets, start), self.limits, shares, remaining)

    def remaining(
        self, targets: Sequence[Any], start: Array, shares: Sequence[float], without: Mapping[int | None, Array]
    ) -> dict[int, Remaining]:
        """without: (nq,) where the robot is without each task of partial influence, by its index: it asks for a part of
        the way from there. The rest as in `poses`."""
        fixed = self._resolved(targets, start)
        states = {id(q): self.levels.state(q, fixed, 1.0) for q in without.values()}
        at = {i: states[id(without[i])] for i, share in enumerate(shares) if is_partial(share)}
        return {i: remaining_of(shares[i], self.levels.rows_of(i, own, fixed[i], shares[i])) for i, own in at.items()}

    def work(self, searches: int = 1, has_optimum: bool = False) -> Work:
        """What so many searches of one solve may do. has_optimum: they look for one of criteria too."""
        more = max(self.attempts / ATTEMPTS, 1.0) * max(self._iterations / ITERATIONS, 1.0)
        return Work(searches, most_poses(self.model.nv) if has_optimum else 0, self.model.nv, more)

    def find(
        self, poses: PoseProblem, start: Array, begin: Array, seed: int, attempts: int, gaps: Array, work: Work
    ) -> tuple[PosePoint, int, int]:
        """The best pose, and the iterations and attempts that it took. gaps: (tasks,) [m] by which they are out of
        reach.   work: what this search may do. Where the first level is one for `TipIK`, and not met, it gets what that
        finds from `begin` (nq,): as it would alone, and in all searches that begin there."""
        alone = self._first_level(poses.influence)
        key = None if alone is None else (*alone[1], begin.tobytes())
        iterations = tried = 0
        if key not in work.alone:
            best, iterations, tried = self._search_from(poses, start, seed, attempts, gaps, work)
            if alone is None or best.met[:1].all():
                return self._closed(poses, best), iterations, tried
            search, indices = alone
            code, q, _, more, number = search.solve(np.array([poses.targets[i] for i in indices]), begin, seed)
            work.alone[key] = code == CONVERGED, self.limits.clamp(q)
            iterations, tried = iterations + more, tried + number
        is_met, q = work.alone[key]
        again = (attempts, gaps, work) if is_met else (1, np.ones(len(gaps)), work)
        best, further, others = self._search_from(poses, q, seed, *again)
        return best, iterations + further, tried + others

    def _search_from(
        self,
        poses: PoseProblem,
        start: Array,
        seed: int,
        attempts: int,
        gaps: Array,
        work: Work,
        is_trial: bool = False,
    ) -> tuple[PosePoint, int, int]:
        here = poses.point(start)
        if here.is_met:
            return here, 0, 1
        reachable = poses.levels_without(np.flatnonzero(gaps))
        postures = poses.postures(start)
        counted = poses.influence, poses.remaining, step_costs(here.levels, self.model.nv), work.steps
        _, q, _, iterations, tried = self._search.solve(
            poses.targets, start, seed, reachable, postures, attempts, *counted, is_trial
        )
        return poses.point(self.limits.clamp(q)), iterations, tried

    def start(self, q0: object) -> Array:
        """(nq,) inside the limits. Raises ConfigurationError."""
        return self.limits.clamp(self.model.check_configuration(q0))

    def excess(self, targets: Sequence[Any], counted: Array | None = None) -> Array:
        """(tasks,) metres lower bound of how much farther a resolved target is than the links are long.
        counted: (tasks,) bool, of which tasks; None: of all."""
        found = np.zeros(len(self.tasks))
        for i, task in enumerate(self.tasks):
            reach = self._reach_of(i) if counted is None or counted[i] else None
            if reach is not None:
                assert isinstance(task, DistanceBoundTask)
                found[i] = max(self._excess_of(task, reach, targets[i]), 0.0)
        return found

    @cached_property
    def bounded(self) -> Array:
        """(tasks,) bool: for which tasks `excess` knows something."""
        return np.array([self._reach_of(i) is not None for i in range(len(self.tasks))], bool)

    def depends(self) -> Array:
        """(nq,) bool: the coordinates that the tasks depend on."""
        return self._used_from <= self.count

    @cached_property
    def _used_from(self) -> Array:
        """(nq,) how many levels there are at least, loop closures first, when tasks depend on a coordinate."""
        used_from = np.full(self.model.nq, self.count + 1)
        for joint in self.model.moving_joints:
            slot = self.model.slot(joint.name)
            used_from[slot.q] = self.needed_from[slot.v].min()
        return used_from

    def reached(self, targets: Sequence[Any], q: Array, seed: int) -> Array | None:
        """(nq,) a pose that meets all tasks, found from q (nq,) in a few attempts, in one where no more than one pose
        can; None when none was."""
        only = self.only_pose(targets, q)
        start = self.limits.clamp(q if only is None else only)
        gaps = self.excess(targets)
        if gaps.any():
            return None
        most = min(self.attempts, TRIALS) if only is None else 1
        work = self.work()
        work.begin()
        best, _, _ = self._search_from(self.poses(targets, start), start, seed, most, gaps, work, is_trial=True)
        return best.q if best.is_met else None

    def met(self, targets: Sequence[Any], q: Array) -> Array:
        return (self.poses(targets, q).point(q).residuals <= self.levels.tolerance).all(axis=1)

    def only_pose(self, targets: Sequence[Any], q: Array) -> Array | None:
        there, is_free = q, self.columns
        for task, target in zip(self.tasks, targets, strict=True):
            if isinstance(task, PostureTask) and task.influence >= 1.0 and task.is_narrow:
                there = task.prescribed(self.model, there, target)
                is_free = is_free & (task.wanted(self.model, target)[1] == 0.0)
        return None if is_free.any() else there

    def drawn(self, q: Array, generator: SplitMix64) -> Array:
        """(nq,) random in what the tasks depend on, as q in the rest."""
        return self._restarts.drawn(q, q, generator, partial=False)

    def linearised(self, targets: Sequence[Any], q: Array) -> tuple[Array, Array, list[Array]]:
        """The first level that is not met: e (m,) and J (m, f), dimensionless and weighted, of its rows with a
        residual or that are equations, for the f motions that leave the equations of the levels above as they are; and
        J around, where the level has as many rows."""
        poses = self.poses(targets, q)
        here = poses.point(q)
        unmet = int(np.argmin(here.met))
        level, e = here.levels[unmet], residual(here.levels[unmet])
        # Rows that are met and that no motion changes, as of a beam turned at its spot, say nothing of the pose.
        active = ((level.lower == level.upper) & level.J.any(axis=1)) | (e != 0.0)

        def in_null_space(levels: Sequence[Level]) -> Array:
            above = [level.J[level.lower == level.upper][:, self.columns] for level in levels[:unmet]]
            directions = [J / (np.linalg.norm(J) or 1.0) for J in above]
            Z = null_space(np.concatenate([np.empty((0, int(self.columns.sum()))), *directions]), RANK_TOLERANCE)
            return levels[unmet].J[active][:, self.columns] @ Z

        moves = around(self.model.nv)
        others = [poses.point(poses.integrated(q, x)).levels for x in moves]
        others = [levels for levels in others if len(levels[unmet].J) == len(level.J)]
        freely = [in_null_space(levels) for levels in others]
        if any(map(rank, freely)):
            return e[active], in_null_space(here.levels), freely
        # Where nothing is ever left for the level, the pose is not to blame.
        return e[active], level.J[active], [levels[unmet].J[active] for levels in others]

    def within(self, limits: PositionLimits) -> LevelIK:
        """This problem inside other limits."""
        other = copy(self)
        other.limits, other._reaches = limits, {}
        for name in ("bounded", "_restarts", "_first", "_search", "_data"):
            vars(other).pop(name, None)
        return other

    def know_of(self, other: LevelIK, tasks: Sequence[int]) -> None:
        """Take from the search for more tasks what is known of those that are here."""
        self.needed_from = np.where(other.columns, 1, self.count + 1)  # more than it needs, which need not be found
        self._reaches = {i: other._reaches[task] for i, task in enumerate(tasks) if task in other._reaches}

    @property
    def count(self) -> int:
        """Number of levels, loop closures first."""
        return len(self.levels.groups)

    @property
    def columns(self) -> Array:
        """(nv,) bool: the degrees of freedom that the tasks depend on."""
        return self.needed_from <= self.count

    @cached_property
    def needed_from(self) -> Array:
        """(nv,) how many levels there are at least, when tasks depend on a degree of freedom; a caller may
        take some more."""
        start = self.limits.middle(self.model.neutral())
        poses, needed_from = self.poses(self.levels.targets, start), np.full(self.model.nv, self.count + 1)
        everything = Restarts(self.model, self.limits, np.ones(self.model.nq, bool))
        generator = SplitMix64(0)
        for _ in range(SAMPLES):
            q = everything.drawn(start, start, generator, partial=False)
            for number, level in enumerate(poses.point(q).levels, 1):
                needed_from = np.where(level.J.any(axis=0), np.minimum(needed_from, number), needed_from)
        return needed_from

    # -- inside --------------------------------------------------------------------------------------------------------

    def _resolved(self, targets: Sequence[Any], start: Array) -> list[Any]:
        state = self.levels.state(start, targets, 1.0)
        return [resolve_target(task, state, target) for task, target in zip(self.tasks, targets, strict=True)]

    def _first_level(self, shares: Sequence[float] | None) -> tuple[TipIK, list[int]] | None:
        """The search for the tasks of the first level alone, and which they are; None where they are none for it."""
        if self.levels.loops or not self.levels.indices:
            return None
        own = [i for i in self.levels.indices[0] if (self.tasks[i].influence if shares is None else shares[i])]
        if not is_plain([self.tasks[i] for i in own]) or (shares is not None and any(shares[i] < 1.0 for i in own)):
            return None
        key = tuple(own)
        if key not in self._first:
            tasks = [self.tasks[i] for i in own]
            self._first[key] = TipIK(self.model, tasks, self.limits, self.levels.backend, *self._most)
        return self._first[key], own

    @cached_property
    def _first(self) -> dict[tuple[int, ...], TipIK]:
        return {}

    def _excess_of(self, task: DistanceBoundTask, reach: IKData, target: Any) -> float:
        record = reach.records[0]
        slack = task.parts[0].tolerance + 1e-9 * self.levels.length
        found = task.distance_bound(target, record["reach_centre"], record["reach"]) - slack
        if known_task(task) is not None:  # which the wrist tells more of
            found = max(found, out_of_reach(reach, target[None])[0])
        return float(found)

    def _closed(self, poses: PoseProblem, best: PosePoint) -> PosePoint:
        """With loops brought together as nearly as rounding allows, whatever their tolerance: they are joints."""
        loops, whole = len(self.levels.loops), best.is_met
        for _ in range(CLOSING if loops else 0):
            x = poses.step(best, DAMPING_FLOOR, None if whole else loops)
            point = poses.point(poses.moved(best.q, x))
            nearer = point.errors[:loops].sum() < best.errors[:loops].sum()
            if not nearer or (best.met & ~point.met).any():
                break
            best = point
        return best

    @cached_property
    def _search(self) -> NativeLevelSearch | LevelSearch:
        """For tasks of any influences."""
        kind: Any = NativeLevelSearch if get_backend(self.levels.backend).name == "native" else LevelSearch
        return kind(self.levels, self._data, self._used_from, self.attempts, self._iterations)

    @cached_property
    def _data(self) -> IKData:
        """What a search knows of the whole robot."""
        return compile_whole(self.model, self.limits, np.ones(self.model.nq, bool), self.levels.length)

    def _reach_of(self, i: int) -> IKData | None:
        """How far the tip of a task on one tip can come, where that has an end."""
        if i not in self._reaches:
            task, found = self.tasks[i], None
            if (
                isinstance(task, TipTask)
                and isinstance(task, DistanceBoundTask)
                and states_rows_of(type(task), "distance_bound")
                and task.influence
                and task.parts[0].is_length
            ):
                tip = known_task(task) or PositionTask(task.link, (0, 0, 0), offset=task.offset)
                found = compile_ik(self.model, [tip], self.limits)
                if min(found.records[0]["reach"], found.records[0]["wrist_reach"]) == np.inf:
                    found = None
            self._reaches[i] = found
        return self._reaches[i]

    @cached_property
    def _restarts(self) -> Restarts:
        return Restarts(self.model, self.limits, self.depends())
