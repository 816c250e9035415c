"""Inverse kinematics of any tree: poses for tasks of any kind and strict priorities, and what criteria prefer of those.

The kernel searches (kernel/src/ik/ik.c), or its twin (`reference.py`); tasks on tips, all of one priority, are its
fast case. A whole pose that the search misses is looked up in the arm's closed form, where it has one (`families/`).
Where the tasks are met the criteria are brought to their optimum (`optimum/sqp.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.backend import get_backend
from ...robokin.errors import TaskError
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel, solvable_model
from .. import results
from ..criteria import Criterion, checked_criteria
from ..criteria.base import costs
from ..descent.engine import CODES, CONVERGED, NOT_CONVERGED, Outcome
from ..descent.work import Work
from ..families.closed_form import ClosedForm, closed_form
from ..fixed_arrays import compiled
from ..progress import finish
from ..results import BatchResult, Diagnosis, SolveResult, Status, part_names
from ..tasks import Task
from ..tasks.influence import Remaining, checked_shares
from ..tasks.protocols import VelocityTask, resolve_target
from ..velocity.task_levels import checked_tasks, tolerances
from .best_pose import best_pose
from .counting import counting_steps, what_counts
from .diagnosis import describe, explain
from .fading import what_remains, without_steps, work_of
from .free_pose import FreePose
from .level_ik import LevelIK
from .restarts import checked_count, checked_seed
from .tip_ik import TipIK, is_plain, starts_of

KEPT = 8  # problems of some of the tasks: of those with an influence


class IKProblem:
    """Tasks and criteria of a model, compiled once, solved for many targets. Threads take turns, but in `solve_steps`.

    criteria: what to prefer among the poses that meet the tasks; of several, the weighted sum is at its minimum.
    backend: "auto", "native" or "numpy".   attempts: starts to try, the given one included; None: 50 for tasks on tips
    of one priority, and up to 400 where screws of several turns have a minimum at each of them, else 30, and then the
    postures of the closed form where there is one.
    iterations: of one attempt, at most.   limits: in place of the model's on positions.
    A problem is of its tasks as they were when it was made, and of the targets that they have now (`fixed_arrays.py`).
    Raises TaskError (also for velocities asked for with an influence), UnknownNameError, ModelError, BackendError.
    """

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        criteria: Sequence[Criterion] = (),
        backend: str = "auto",
        attempts: int | None = None,
        iterations: int | None = None,
        limits: PositionLimits | None = None,
    ) -> None:
        self.model, self.tasks, self.criteria = solvable_model(model), checked_tasks(tasks), checked_criteria(criteria)
        for task in self.tasks:
            if isinstance(task, VelocityTask) and task.influence:
                raise TaskError(f"{task.name} asks for a velocity: it can be stepped or tracked, not solved for a pose")
        compiled(self.tasks)
        compiled(self.criteria)
        self.limits = model.limits if limits is None else limits
        self.middle = self.limits.middle(model.neutral())
        self.backend, self.turn = get_backend(backend).name, threading.RLock()
        self._most = (
            None if attempts is None else checked_count(attempts, "attempts"),
            None if iterations is None else checked_count(iterations, "iterations"),
        )
        if self.criteria:
            neutral = self.level_search.levels.state(model.neutral(), self.level_search.levels.targets, 1.0)
            self.criteria = tuple(criterion for criterion in self.criteria if criterion.fits(neutral))
        self._own = [bool(task.influence) for task in self.tasks]  # which of them have one
        self._problems: dict[tuple[bool, ...], IKProblem | None] = {}
        self.search: TipIK | LevelIK = self._tips() if is_plain(self.tasks) and not self.criteria else self.level_search

    def solve(
        self,
        targets: object = None,
        q0: object | None = None,
        seed: int = 0,
        diagnose: bool = True,
        influence: Sequence[float] | Array | None = None,
        without: Array | None = None,
    ) -> SolveResult:
        """Solve from `q0` (mid-range when None; moved inside the limits when outside), then from restarts.

        targets: one per task, each in its task's own terms or, of a task on a tip, (4, 4); the tasks' own when None.
        seed: of the restarts; the same seed gives the same bits on the same backend.
        diagnose: after a failure, find LIMIT, TASK_CONFLICT and SINGULAR in MAX_ITERATIONS, by some more solves;
        without it `result.diagnose()` does so when it is asked. Of a lower level that higher ones make impossible,
        TASK_CONFLICT names the tasks.
        influence: in place of the tasks'; residuals are those of what a task's influence asks for
        (`influence.py`).   without: (nq,) where the robot is without tasks of partial influence, else found from q0.
        CONVERGED with criteria: the pose is stationary too, and nothing better was found around it.
        Coordinates that no task depends on keep their start value; angles without bounds end within half a turn of
        theirs. Raises TaskError, ConfigurationError.
        """
        with self.turn:
            if influence is None and isinstance(self.search, TipIK) and self._counting is None:
                return self._solve_tips(self.search, targets, q0, seed, diagnose)
            return finish(self.solve_steps(targets, q0, seed, diagnose, influence, without))

    def solve_steps(
        self,
        targets: object = None,
        q0: object | None = None,
        seed: int = 0,
        diagnose: bool = True,
        influence: Sequence[float] | Array | None = None,
        without: Array | None = None,
    ) -> Generator[float, None, SolveResult]:
        """`solve` that yields the share of the work done (0..1) now and then, where it takes long. While it does, the
        problem is asked for nothing else."""
        shares = checked_shares(self.tasks, influence)
        counts = [own and bool(share) for own, share in zip(self._own, shares, strict=True)]
        if counting := self._problem_of(counts):
            own = targets, q0, seed, diagnose, influence, without
            return (yield from counting_steps(self, self.level_search.levels, counting, counts, *own))
        if isinstance(self.search, TipIK) and shares == [task.influence for task in self.tasks]:
            return self._solve_tips(self.search, targets, q0, seed, diagnose)
        start = self.inside(q0)
        work = work_of(self, shares, without)
        apart = yield from without_steps(self, targets, start, checked_seed(seed), shares, without, work)
        remaining = what_remains(self, targets, start, shares, apart)
        return (yield from self.solve_levels(targets, start, start, seed, diagnose, shares, remaining, work))

    def solve_levels(
        self,
        targets: object,
        origin: Array,
        start: Array,
        seed: int,
        diagnose: bool,
        shares: Sequence[float],
        remaining: Mapping[int, Remaining],
        work: Work,
    ) -> Generator[float, None, SolveResult]:
        """From `start` on, towards targets that are counted from `origin`. remaining: see `LevelIK.poses`.   work: what
        is left of it."""
        own_seed, reason = checked_seed(seed), ""
        best = yield from best_pose(self, targets, origin, start, own_seed, shares, remaining, work)
        point, optimum, attempts = best.point, best.optimum, best.attempts
        if optimum and point.is_met and not optimum.is_optimal:
            reason = f"the criteria are not at their optimum (KKT residual {optimum.stationary:.2g})"
            reason += f": {why}" if (why := optimum.why()) else ""
        found, look = results.CONVERGED, None
        if not any(shares):
            found = results.EMPTY
        elif not point.is_met:
            status = Status.OUT_OF_REACH if best.gaps.any() else Status.MAX_ITERATIONS
            problem, aims, residuals = self._missed(best.targets, point.residuals, shares)
            found = describe(problem, status, aims, residuals, attempts)
            look = partial(explain, problem, status, aims, point.q, residuals, own_seed, attempts)
        elif reason:
            found = Diagnosis(Status.MAX_ITERATIONS, reason)
        result = SolveResult(
            diagnosis=found,
            q=point.q,
            residual_array=point.residuals,
            iterations=best.iterations,
            attempts=attempts,
            active=self.limits_active,
            parts=part_names(self.tasks),
            costs=costs(self.criteria, point.state, np.zeros(self.model.nv)),
            kkt_residual=None if optimum is None else optimum.stationary,
            is_optimal=None if optimum is None else optimum.is_optimal,
            explain=look,
        )
        if diagnose:
            result.diagnose()
        return result

    def residuals(self, targets: object, q: Array, influence: Sequence[float] | None, without: Array | None) -> Array:
        """(tasks, 2) at q (nq,); the rest as in `solve`. Raises TaskError."""
        with self.turn:
            shares = checked_shares(self.tasks, influence)
            apart = finish(without_steps(self, targets, q, 0, shares, without, work_of(self, shares, without)))
            remaining, search = what_remains(self, targets, q, shares, apart), self.level_search
            return search.poses(search.levels.checked_targets(targets), q, shares, remaining).point(q).residuals

    def solve_batch(
        self, targets: object, q0: object | None = None, seed: int = 0, threads: int | None = None
    ) -> BatchResult:
        """Solve b sets of targets; item i is bit-equal to `solve(targets[i], q0[i], seed)` up to the status.

        targets: (b, tasks, 4, 4), or a list of b sets as `solve` takes.   q0: None, (nq,) or (b, nq).
        threads: at most so many, for tasks on tips of one priority; None: one per processor. Raises TaskError,
        ConfigurationError.
        """
        most, search = None if threads is None else checked_count(threads, "threads"), self.search
        try:
            goals: Any = search.goals(targets) if isinstance(search, TipIK) else list(targets)  # type: ignore[call-overload]
        except TypeError:
            raise TaskError(f"targets must be a list of sets of targets, not {shown(targets)}") from None
        starts = starts_of(search, self.middle if q0 is None else q0, len(goals))
        if isinstance(search, TipIK) and not self._counting and any(self._own):
            with self.turn:
                codes, *arrays = search.solve_batch(goals, starts, checked_seed(seed), most)
                for i in np.flatnonzero(codes == NOT_CONVERGED):
                    missed = (codes[i], *(array[i] for array in arrays))
                    codes[i], *others = self._else_in_closed_form(search, goals[i], starts[i], missed)
                    for array, other in zip(arrays, others, strict=True):
                        array[i] = other
            return BatchResult([CODES[code] for code in codes.tolist()], *arrays)
        found = [self.solve(goal, start, seed, diagnose=False) for goal, start in zip(goals, starts, strict=True)]
        return BatchResult.of(found, self.model.nq, len(self.tasks))

    def resolve_target(self, i: int, target: object, q: Array) -> Any:
        """The target of a task, fixed where it begins at q (nq,), where it is counted from there. Raises TaskError."""
        levels, task = self.level_search.levels, self.tasks[i]
        return resolve_target(task, levels.state(q, levels.targets, 1.0), task.checked_target(target))

    def inside(self, q0: object) -> Array:
        """(nq,) inside the limits, mid-range where q0 is None. Raises ConfigurationError."""
        return self.level_search.start(self.middle if q0 is None else q0)

    def limits_active(self, q: Array) -> tuple[str, ...]:
        """Names of the joints of which a coordinate is at a bound."""
        at, model = self.limits.at_limit(q), self.model
        return tuple(joint.name for joint in model.moving_joints if at[model.slot(joint.name).q].any())

    @cached_property
    def tolerance(self) -> Array:
        """(tasks, 2)"""
        return tolerances(self.tasks)

    def without_limits(self, coordinates: Sequence[int]) -> IKProblem:
        """This problem with some coordinates of q unbounded."""
        other = copy(self)
        other.limits = self.limits.without(coordinates)
        other.middle = other.limits.middle(self.model.neutral())
        other._problems = {}
        for name in ("_counting", "closed_form", "free", "level_search"):
            vars(other).pop(name, None)
        if isinstance(self.search, TipIK):
            other.search = other._tips()
        else:
            other.search = other.level_search = self.search.within(other.limits)
        return other

    def some_tasks(self, indices: Sequence[int]) -> IKProblem:
        """The problem of these tasks alone, without criteria."""
        other = self.of([self.tasks[i] for i in indices])
        if isinstance(self.search, LevelIK) and isinstance(other.search, LevelIK):
            other.search.know_of(self.search, indices)
        return other

    def of(self, tasks: Sequence[Task]) -> IKProblem:
        """The problem of other tasks, without criteria."""
        return IKProblem(self.model, tasks, (), self.backend, *self._most, limits=self.limits)

    def another(self) -> IKProblem:
        """The problem of the same tasks, without criteria, with buffers of its own: for another thread or time."""
        return self.of(self.tasks)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _tips(self) -> TipIK:
        return TipIK(self.model, self.tasks, self.limits, self.backend, *self._most)

    @cached_property
    def level_search(self) -> LevelIK:
        return LevelIK(self.model, self.tasks, self.limits, self.backend, *self._most)

    @cached_property
    def free(self) -> FreePose:
        return FreePose(self.tasks, self.some_tasks)

    @cached_property
    def _counting(self) -> IKProblem | None:
        """The problem of what changes anything; None: it is this one."""
        return self._problem_of(self._own)

    def _problem_of(self, counts: Sequence[bool]) -> IKProblem | None:
        """The problem of what changes anything where these tasks have influence, (tasks,) flags; None: this one."""
        key = tuple(counts)
        if key not in self._problems:
            own = what_counts(self.tasks, self.criteria, counts)
            problem = own and IKProblem(self.model, *own, self.backend, *self._most, limits=self.limits)
            self._problems = dict([*self._problems.items()][1 - KEPT :]) | {key: problem}
        return self._problems[key]

    def _solve_tips(self, search: TipIK, targets: object, q0: object | None, seed: int, diagnose: bool) -> SolveResult:
        goal = search.goal(targets)
        start = self.middle if q0 is None else search.start(q0)
        if not any(self._own):
            start = self.limits.clamp(self.model.check_configuration(start))
            return SolveResult(results.EMPTY, start, np.zeros((len(self.tasks), 2)), 0, 0, self.limits_active)
        outcome = search.solve(goal, start, checked_seed(seed))
        if outcome[0] == NOT_CONVERGED:
            outcome = self._else_in_closed_form(search, goal, start, outcome)
        code, q, residuals, iterations, attempts = outcome
        if code == CONVERGED:
            return SolveResult(results.CONVERGED, q, residuals, iterations, attempts, self.limits_active)
        lost, found = (self, CODES[code], goal.copy()), (q, residuals, iterations, attempts, self.limits_active)
        result = SolveResult(
            describe(*lost, residuals, attempts),
            *found,
            explain=lambda: explain(*lost, q, residuals, seed, attempts),
        )
        if diagnose:
            result.diagnose()
        return result

    def _else_in_closed_form(self, search: TipIK, goal: Array, start: Array, missed: Outcome) -> Outcome:
        """The outcome of a search that missed, or that from the nearest posture of the closed form."""
        form = self.closed_form
        posture = None if form is None else form.nearest(goal[0], self.limits.clamp(start))
        if posture is None:
            return missed
        code, q, residuals, iterations, _ = search.solve(goal, posture, 0)
        return code, q, residuals, missed[3] + iterations, missed[4] + 1

    @cached_property
    def closed_form(self) -> ClosedForm | None:
        """None also where the number of attempts is given: then they are all."""
        return None if self._most[0] else closed_form(self.model, self.tasks, self.limits, self.backend)

    def _missed(
        self, targets: Sequence[Any], residuals: Array, shares: Sequence[float]
    ) -> tuple[IKProblem, Sequence[Any], Array]:
        """What is to be diagnosed, its targets and residuals: the whole tasks alone, when they are not all met."""
        whole = [i for i, share in enumerate(shares) if share >= 1.0]
        if len(whole) == len(shares) or (residuals <= self.tolerance)[whole].all():
            return self, targets, residuals
        return self.some_tasks(whole), [targets[i] for i in whole], residuals[whole]
