"""Poses for tasks of any kind and strict priorities, with criteria for the freedom that is left.

The kernel searches (kernel/src/ik.c), or its twin (`ik_reference.py`). Where the tasks are met the criteria are
brought to their optimum (`static_optimum.py`).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robokin.backend import get_backend
from ..robokin.errors import TaskError
from ..robokin.generalized_inverses import null_space
from ..robokin.limits import PositionLimits
from ..robokin.model import RobotModel
from .criteria import Criterion, Potential, checked_criteria
from .criteria.base import costs
from .diagnosis import around, describe, explain, rank
from .fixed_arrays import compiled
from .hierarchy import USELESS
from .ik import IKProblem, checked_count, checked_seed, joints_at_limits
from .ik_data import IKData, compile_ik
from .ik_reference import LevelSearch
from .ik_steps import DAMPING_FLOOR, out_of_reach
from .influence import Left, checked_shares, is_partial, left_in
from .level import Level
from .posing import Point, Posing, lacking
from .progress import finish, scaled
from .random_numbers import SplitMix64
from .restarts import Restarts, known_task
from .results import CONVERGED, EMPTY, Diagnosis, SolveResult, Status
from .static_optimum import optimum_of
from .task_levels import TaskLevels, tolerances
from .tasks import PositionTask, Task
from .tasks.base import states_rows_of
from .tasks.tip import TipTask

if TYPE_CHECKING:
    from .native_stack import NativeLevelSearch

Array = np.ndarray

ATTEMPTS = 30
ITERATIONS = 40
TRIALS = 4  # attempts to tell whether something can be met at all
CLOSING = 5  # steps that close loops
SAMPLES = 3  # random poses at which it is looked which coordinates the tasks depend on


class HierarchicalIK:
    """Tasks and criteria of a model, solved for as many targets as wanted; `IKProblem` for tasks of every kind.

    criteria: what to prefer among the poses that meet the tasks; of several, the weighted sum is at its minimum.
    attempts: starts to try.   iterations: of one attempt, at most.   limits: in place of the model's on positions.
    Raises TaskError (also for tasks that ask for a velocity), UnknownNameError, ModelError, BackendError.
    """

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        criteria: Sequence[Criterion] = (),
        backend: str = "auto",
        attempts: int | None = None,
        iterations: int = ITERATIONS,
        limits: PositionLimits | None = None,
    ) -> None:
        self.model, self.backend = model, backend
        self.levels = TaskLevels(model, tasks, backend)
        self.tasks = self.levels.tasks
        for task in self.tasks:
            if task.is_velocity:
                raise TaskError(f"{task.name} asks for a velocity: it can be stepped or tracked, not solved for a pose")
        self.criteria = checked_criteria(criteria)
        compiled(self.criteria)
        neutral = self.levels.state(model.neutral(), self.levels.targets, 1.0)
        for criterion in self.criteria:
            criterion.check(neutral)
        self.attempts = ATTEMPTS if attempts is None else checked_count(attempts, "attempts")
        self.iterations = checked_count(iterations, "iterations")
        self.limits = model.limits if limits is None else limits
        self._searches: dict[tuple[float, ...], Any] = {}

    def solve(
        self,
        targets: object = None,
        q0: object | None = None,
        seed: int = 0,
        diagnose: bool = True,
        influence: Sequence[float] | Array | None = None,
    ) -> SolveResult:
        """As `IKProblem.solve`. Of a lower level that higher ones make impossible, TASK_CONFLICT names the tasks.

        targets: one per task, each in its task's own terms; the tasks' own when None.   influence: in place of theirs;
        residuals are what is lacking of what a task's influence asks for (`influence.py`).
        CONVERGED with criteria: the pose is stationary too, and nothing better was found around it.
        """
        return finish(self.solve_steps(targets, q0, seed, diagnose, influence))

    def solve_steps(
        self,
        targets: object = None,
        q0: object | None = None,
        seed: int = 0,
        diagnose: bool = True,
        influence: Sequence[float] | Array | None = None,
    ) -> Generator[float, None, SolveResult]:
        """`solve` that yields the share of the work done (0..1) now and then."""
        start = self.limits.middle(self.model.neutral()) if q0 is None else self.model.check_configuration(q0)
        start = self.limits.clamp(start)
        shares = checked_shares(self.tasks, influence)
        posing = self._posing(self.levels.checked_targets(targets), start, shares)
        left_over: Mapping[int, Left] = {}
        if any(map(is_partial, shares)):
            without = [0.0 if is_partial(share) else share for share in shares]
            ground = (yield from self.solve_steps(targets, q0, seed, False, without)).q
            rows = self.levels.rows(posing.point(ground).state, posing.targets, shares)
            left = {i: left_in(share, rows[i]) for i, share in enumerate(shares) if is_partial(share)}
            posing = Posing(self.levels, posing.targets, self.limits, shares, left)
            left_over = left
        gaps = np.where(np.array(shares) < 1.0, 0.0, self.excess(posing.targets))
        best, iterations, attempts = self._found(
            posing, start, checked_seed(seed), self.attempts, gaps, shares, left_over
        )
        yield 0.5
        reason, kkt_residual, is_optimal = "", None, None
        # Short of the first level, the pose is as good as its tasks can tell.
        preferred = [each for each in self.criteria if each.weight]
        if any(isinstance(each, Potential) for each in preferred) and best.met[:1].all():
            optimum = yield from scaled(optimum_of(posing, preferred).find(best), 0.5, 0.9)
            kkt_residual, is_optimal = optimum.stationary, optimum.is_optimal
            best, iterations = optimum.point, iterations + optimum.iterations
            if not optimum.is_optimal:
                reason = f"the criteria are not at their optimum (KKT residual {optimum.stationary:.2g})"
                reason += f": {optimum.reason}" if optimum.reason else ""
        look = None
        if not any(shares):
            found = EMPTY
        elif best.is_met:
            found = Diagnosis(Status.MAX_ITERATIONS, reason) if reason else CONVERGED
        else:
            status = Status.OUT_OF_REACH if gaps.any() else Status.MAX_ITERATIONS
            problem, aims, lacking = self._missed(posing.targets, best.residuals, shares)
            found = describe(problem, status, aims, lacking, attempts)

            def look() -> Diagnosis:
                return explain(problem, status, aims, best.q, lacking, checked_seed(seed), attempts)

        parts = part_names(self.tasks)
        result = SolveResult(
            found,
            best.q,
            best.residuals,
            iterations,
            attempts,
            self.limits_active,
            parts,
            costs(self.criteria, best.state, np.zeros(self.model.nv)),
            kkt_residual,
            is_optimal,
            look,
        )
        if diagnose:
            result.diagnose()
        return result

    def limits_active(self, q: Array) -> tuple[str, ...]:
        """Names of the joints of which a coordinate is at a bound."""
        return joints_at_limits(self.model, self.limits, q)

    # -- what `diagnose` asks ------------------------------------------------------------------------------------------

    @property
    def tolerance(self) -> Array:
        """(tasks, 2)"""
        return tolerances(self.tasks)

    def excess(self, targets: Sequence[Any]) -> Array:
        """(tasks,) metres by which a started target is farther than the links are long, as far as that can be told."""
        found = np.zeros(len(self.tasks))
        for i in self._reaches:
            found[i] = self._excess_of(i, targets[i])
        return np.maximum(found, 0.0)

    def is_out_of_reach(self, targets: Sequence[Any], missed: Array) -> bool:
        """Whether some of the tasks that are missed (tasks,) bool are farther than the links are long."""
        return any(missed[i] and self._excess_of(i, targets[i]) > 0.0 for i in self._reaches)

    def _excess_of(self, i: int, target: Any) -> float:
        task, reach = self.tasks[i], self._reaches[i]
        record = reach.records[0]
        slack = task.parts[0].tolerance + 1e-9 * self.levels.length
        found = task.missed_by(target, record["reach_centre"], record["reach"]) - slack
        if known_task(task) is not None:  # which the wrist tells more of
            found = max(found, out_of_reach(reach, target[None])[0])
        return float(found)

    def depends(self) -> Array:
        """(nq,) bool: the coordinates that the tasks depend on."""
        return self._used_from() <= self._levels

    def _used_from(self) -> Array:
        """(nq,) how many levels there are at least, loop closures first, when tasks depend on a coordinate."""
        used_from = np.full(self.model.nq, self._levels + 1)
        for joint in self.model.moving_joints:
            slot = self.model.slot(joint.name)
            used_from[slot.q] = self._needed_from[slot.v].min()
        return used_from

    def reached(self, targets: Sequence[Any], q: Array, seed: int) -> Array | None:
        """(nq,) a pose that meets all tasks, found from q (nq,) in a few attempts; None when none was."""
        start = self.limits.clamp(q)
        gaps = self.excess(targets)
        if gaps.any():
            return None
        best, _, _ = self._found(self._posing(targets, start), start, seed, min(self.attempts, TRIALS), gaps)
        return best.q if best.is_met else None

    def drawn(self, q: Array, generator: SplitMix64) -> Array:
        """(nq,) random in what the tasks depend on, as q in the rest."""
        return self._restarts.drawn(q, q, generator, partial=False)

    def without_limits(self, coordinates: Sequence[int]) -> HierarchicalIK:
        other = copy(self)
        other.limits = self.limits.without(coordinates)
        other._searches = {}
        for name in ("_reaches", "_restarts"):
            vars(other).pop(name, None)
        return other

    def some_tasks(self, indices: Sequence[int]) -> HierarchicalIK | IKProblem:
        tasks = [self.tasks[index] for index in indices]
        known = [task for task in map(known_task, tasks) if task is not None]
        if len(known) == len(tasks) and len({task.priority for task in tasks}) == 1:
            attempts = min(self.attempts, ATTEMPTS)
            return IKProblem(self.model, known, self.backend, attempts, limits=self.limits)
        other = HierarchicalIK(self.model, tasks, (), self.backend, self.attempts, self.iterations, self.limits)
        # More than it needs, which need not be found.
        other._needed_from, other._restarts = np.where(self._columns, 1, other._levels + 1), self._restarts
        return other

    def linearised(self, targets: Sequence[Any], q: Array) -> tuple[Array, Array, list[Array]]:
        """Of the first level that is not met: e (m,) and J (m, f), dimensionless and weighted, of its rows that lack
        something or are equations, for the f motions that leave the equations of the levels above as they are; and J
        around, where the level has as many rows."""
        posing = self._posing(targets, q)
        here = posing.point(q)
        unmet = int(np.argmin(here.met))
        level, e = here.levels[unmet], lacking(here.levels[unmet])
        # Rows that are met and that no motion changes, as of a beam turned at its spot, say nothing of the pose.
        active = ((level.lower == level.upper) & level.J.any(axis=1)) | (e != 0.0)

        def left(levels: Sequence[Level]) -> Array:
            above = [level.J[level.lower == level.upper][:, self._columns] for level in levels[:unmet]]
            seen = [J / (np.linalg.norm(J) or 1.0) for J in above]
            Z = null_space(np.concatenate([np.empty((0, int(self._columns.sum()))), *seen]), USELESS)
            return levels[unmet].J[active][:, self._columns] @ Z

        moves = around(self.model.nv)
        others = [posing.point(posing.integrated(q, x)).levels for x in moves]
        others = [levels for levels in others if len(levels[unmet].J) == len(level.J)]
        freely = [left(levels) for levels in others]
        if any(map(rank, freely)):
            return e[active], left(here.levels), freely
        # Where nothing is ever left for the level, the pose is not to blame.
        return e[active], level.J[active], [levels[unmet].J[active] for levels in others]

    # -- inside --------------------------------------------------------------------------------------------------------

    def _missed(
        self, targets: Sequence[Any], residuals: Array, shares: Sequence[float]
    ) -> tuple[HierarchicalIK | IKProblem, Any, Array]:
        """What is to be diagnosed, its targets and residuals: the whole tasks alone, when they are not all met."""
        whole = [i for i, share in enumerate(shares) if share >= 1.0]
        if len(whole) == len(shares) or (residuals <= self.tolerance)[whole].all():
            return self, targets, residuals
        problem, aims = self.some_tasks(whole), [targets[i] for i in whole]
        return problem, np.array(aims) if isinstance(problem, IKProblem) else aims, residuals[whole]

    def _found(
        self,
        posing: Posing,
        start: Array,
        seed: int,
        attempts: int,
        gaps: Array,
        shares: Sequence[float] | None = None,
        left: Mapping[int, Left] | None = None,
    ) -> tuple[Point, int, int]:
        """The best pose, and the iterations and attempts that it took. gaps: (tasks,) [m] by which they are out of
        reach."""
        shares = [task.influence for task in self.tasks] if shares is None else list(shares)
        reachable = posing.levels_without(np.flatnonzero(gaps))
        posture = posing.posture(start)
        search = self._search_of(shares)
        _, q, _, iterations, tried = search.solve(posing.targets, start, seed, reachable, posture, attempts, left or {})
        best = posing.point(self.limits.clamp(q))
        return self._closed(posing, best), iterations, tried

    def _closed(self, posing: Posing, best: Point) -> Point:
        """With loops brought together as nearly as rounding allows, whatever their tolerance: they are joints."""
        loops, whole = len(self.levels.loops), best.is_met
        for _ in range(CLOSING if loops else 0):
            x, _ = posing.step(best, DAMPING_FLOOR, None if whole else loops)
            point = posing.point(posing.moved(best.q, x))
            nearer = point.errors[:loops].sum() < best.errors[:loops].sum()
            if not nearer or (best.met & ~point.met).any():
                break
            best = point
        return best

    def _search_of(self, shares: Sequence[float]) -> NativeLevelSearch | LevelSearch:
        """For tasks of these influences; made once."""
        key = tuple(shares)
        if key not in self._searches:
            kind: Any = LevelSearch
            if get_backend(self.backend).name == "native":
                from .native_stack import NativeLevelSearch

                kind = NativeLevelSearch
            self._searches[key] = kind(
                self.levels, self.limits, self._used_from(), shares, self.attempts, self.iterations
            )
        return self._searches[key]

    @cached_property
    def _reaches(self) -> dict[int, IKData]:
        """Of tasks on one tip, how far it can come."""
        found = {}
        for i, task in enumerate(self.tasks):
            if (
                isinstance(task, TipTask)
                and states_rows_of(type(task), "missed_by")
                and task.influence
                and task.parts[0].is_length
            ):
                tip = known_task(task) or PositionTask(task.link, (0, 0, 0), offset=task.offset)
                found[i] = compile_ik(self.model, [tip], self.limits)
        return found

    @cached_property
    def _restarts(self) -> Restarts:
        return Restarts(self.model, self.limits, self.depends())

    @property
    def _levels(self) -> int:
        return len(self.levels.loops) + len(self.levels.indices)

    @property
    def _columns(self) -> Array:
        """(nv,) bool: the degrees of freedom that the tasks depend on."""
        return self._needed_from <= self._levels

    @cached_property
    def _needed_from(self) -> Array:
        """(nv,) how many levels there are at least, loop closures first, when tasks depend on a degree of freedom."""
        start = self.limits.middle(self.model.neutral())
        posing, needed_from = self._posing(self.levels.targets, start), np.full(self.model.nv, self._levels + 1)
        everything = Restarts(self.model, self.limits, np.ones(self.model.nq, bool))
        generator = SplitMix64(0)
        for _ in range(SAMPLES):
            q = everything.drawn(start, start, generator, partial=False)
            for number, level in enumerate(posing.point(q).levels, 1):
                needed_from = np.where(level.J.any(axis=0), np.minimum(needed_from, number), needed_from)
        return needed_from

    def _posing(self, targets: Sequence[Any], start: Array, shares: Sequence[float] | None = None) -> Posing:
        """shares: influences, the tasks' own unless given."""
        state = self.levels.state(start, targets, 1.0)
        fixed = [task.started(state, target) for task, target in zip(self.tasks, targets, strict=True)]
        return Posing(self.levels, fixed, self.limits, shares)


def part_names(tasks: Sequence[Task]) -> list[tuple[str, ...]]:
    return [tuple(part.name for part in task.parts) for task in tasks]
