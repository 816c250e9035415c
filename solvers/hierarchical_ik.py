"""Poses for tasks of any kind and strict priorities, with criteria for the freedom that is left.

Attempts from the start given and from restarts descend as the kernel's do (`ik_reference.py`), each step being one of
the hierarchy (`posing.py`); what is best by the first level, then the second, and so on, is kept and settled. Where
the tasks are met the criteria are brought to their optimum (`static_optimum.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..robokin.errors import TaskError
from ..robokin.limits import PositionLimits
from ..robokin.model import RobotModel
from .criteria import Criterion, checked_criteria
from .diagnosis import diagnose
from .ik import IKProblem, checked_count, checked_seed, joints_at_limits
from .ik_data import compile_ik
from .ik_reference import DAMPING_LESS, DAMPING_MORE, DAMPING_MOST, PATIENCE, PROGRESS, SETTLE, out_of_reach, restart
from .posing import DAMPING_FLOOR, Point, Posing, lacking
from .random_numbers import SplitMix64
from .results import Diagnosis, SolveResult, Status
from .static_optimum import StaticOptimum
from .task_levels import TaskLevels, tolerances
from .tasks import FrameTask, PositionTask, Task

Array = np.ndarray

ATTEMPTS = 20
ITERATIONS = 40
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
        neutral = self.levels.state(model.neutral(), self.levels.targets, 1.0)
        for criterion in self.criteria:
            criterion.check(neutral)
        self.attempts = ATTEMPTS if attempts is None else checked_count(attempts, "attempts")
        self.iterations = checked_count(iterations, "iterations")
        self.limits = model.limits if limits is None else limits
        self._whole = compile_ik(model, [PositionTask(link, (0, 0, 0)) for link in model.link_names], self.limits)
        self._quick = self._kernel_problem()

    def solve(
        self, targets: object = None, q0: object | None = None, seed: int = 0, find_reason: bool = True
    ) -> SolveResult:
        """As `IKProblem.solve`. Of a lower level that higher ones make impossible, TASK_CONFLICT names the tasks.

        targets: one per task, each in its task's own terms; the tasks' own when None.
        CONVERGED with criteria: the pose is stationary too, and nothing better was found around it.
        """
        start = self.limits.middle(self.model.neutral()) if q0 is None else self.model.check_configuration(q0)
        start = self.limits.clamp(start)
        posing = self._posing(self.levels.checked_targets(targets), start)
        search = _Search(self, posing, start, checked_seed(seed))
        attempts = search.run() if self.tasks else 0
        best = search.best
        reason = ""
        if self.criteria:
            optimum = StaticOptimum(posing, self.criteria).find(best)
            best, search.iterations = optimum.point, search.iterations + optimum.iterations
            if not optimum.is_optimal:
                reason = f"the criteria are not at their optimum (KKT residual {optimum.stationary:.2g})"
        if not self.tasks:
            found = Diagnosis(Status.EMPTY, "there is no task")
        elif best.is_met:
            found = Diagnosis(Status.MAX_ITERATIONS, reason) if reason else _CONVERGED
        else:
            status = Status.OUT_OF_REACH if self.excess(posing.targets).any() else Status.MAX_ITERATIONS
            found = diagnose(self, status, posing.targets, best.q, best.residuals, checked_seed(seed), find_reason)
        costs = {each.name: float(each.value(best.state, np.zeros(self.model.nv))) for each in self.criteria}
        parts = part_names(self.tasks)
        return SolveResult(found, best.q, best.residuals, search.iterations, attempts, self.limits_active, parts, costs)

    def limits_active(self, q: Array) -> tuple[str, ...]:
        """Names of the joints of which a coordinate is at a bound."""
        return joints_at_limits(self.model, self.limits, q)

    # -- what `diagnose` asks ------------------------------------------------------------------------------------------

    @property
    def tolerance(self) -> Array:
        """(tasks, 2)"""
        return tolerances(self.tasks)

    def excess(self, targets: Sequence[Any]) -> Array:
        """(tasks,) metres by which a target is farther than the links are long, as far as that can be told."""
        found = np.zeros(len(self.tasks))
        for i, (task, target) in enumerate(zip(self.tasks, targets, strict=True)):
            if isinstance(task, FrameTask) and not task.band.any():
                found[i] = max(0.0, out_of_reach(compile_ik(self.model, [task], self.limits), target[None])[0])
        return found

    def depends(self) -> Array:
        """(nq,) bool: the coordinates that the tasks depend on."""
        posing = self._posing(self.levels.targets, self.limits.middle(self.model.neutral()))
        generator, start = SplitMix64(0), self.limits.middle(self.model.neutral())
        used = np.zeros(self.model.nv, bool)
        for _ in range(SAMPLES):
            q = self.drawn(start, start, generator, partial=False)
            for level in posing.point(q).levels:
                used |= level.J.any(axis=0)
        return np.isin(np.arange(self.model.nq), self._coordinates(used))

    def without_limits(self, coordinates: Sequence[int]) -> HierarchicalIK:
        return self._like(self.tasks, self.limits.without(coordinates))

    def some_tasks(self, indices: Sequence[int]) -> HierarchicalIK:
        return self._like([self.tasks[index] for index in indices], self.limits)

    def linearised(self, targets: Sequence[Any], q: Array) -> tuple[Array, Array]:
        """e (m,) and J (m, nv), dimensionless and weighted, of the rows that lack something or are equations."""
        levels = self._posing(targets, q).point(q).levels
        e = np.concatenate([lacking(level) for level in levels])
        active = (e != 0.0) | np.concatenate([level.lower == level.upper for level in levels])
        return e[active], np.vstack([level.J for level in levels])[active]

    # -- inside --------------------------------------------------------------------------------------------------------

    def drawn(self, start: Array, q: Array, generator: SplitMix64, partial: bool) -> Array:
        """(nq,) a restart."""
        whole = self._whole
        there = start.copy()
        there[whole.q_index] = restart(whole, start[whole.q_index], q[whole.q_index], generator, partial)
        return there

    def quick(self, targets: Sequence[Any], q: Array) -> Array:
        """(nq,) q moved by the kernel to the tasks of the first level that it knows."""
        if self._quick is None:
            return q
        indices, problem = self._quick
        return problem.solve(np.array([targets[i] for i in indices]), q, find_reason=False).q

    def _kernel_problem(self) -> tuple[list[int], IKProblem] | None:
        first = [] if self.levels.loops or not self.levels.indices else self.levels.indices[0]
        known = [(i, self.tasks[i]) for i in first]
        plain = [(i, task) for i, task in known if isinstance(task, FrameTask) and not task.band.any()]
        if not plain:
            return None
        problem = IKProblem(self.model, [task for _, task in plain], self.backend, 1, limits=self.limits)
        return [i for i, _ in plain], problem

    def _posing(self, targets: Sequence[Any], start: Array) -> Posing:
        state = self.levels.state(start, targets, 1.0)
        fixed = [task.started(state, target) for task, target in zip(self.tasks, targets, strict=True)]
        return Posing(self.levels, fixed, self.limits)

    def _like(self, tasks: Sequence[Task], limits: PositionLimits) -> HierarchicalIK:
        return HierarchicalIK(self.model, tasks, (), self.backend, self.attempts, self.iterations, limits)

    def _coordinates(self, used: Array) -> list[int]:
        slots = [self.model.slot(joint.name) for joint in self.model.moving_joints]
        return [i for slot in slots if used[slot.v].any() for i in range(slot.q.start, slot.q.stop)]


_CONVERGED = Diagnosis(Status.CONVERGED, "every task is met")


def part_names(tasks: Sequence[Task]) -> list[tuple[str, ...]]:
    return [tuple(part.name for part in task.parts) for task in tasks]


class _Search:
    """The attempts of one solve: counts iterations and keeps the best point."""

    def __init__(self, problem: HierarchicalIK, posing: Posing, start: Array, seed: int) -> None:
        self.problem, self.posing, self.start = problem, posing, start
        self.generator = SplitMix64(seed)
        self.iterations = 0
        self.best = posing.point(start)

    def run(self) -> int:
        """The attempts made until the tasks are met; the best point is settled when they are not."""
        point = self._attempt(self.best)
        depends = None
        for number in range(1, self.problem.attempts):
            if self.best.is_met:
                return number
            depends = self.problem.depends() if depends is None else depends
            drawn = self.problem.drawn(self.start, point.q, self.generator, partial=number % 2 == 0)
            q = self.problem.quick(self.posing.targets, np.where(depends, drawn, self.start))
            point = self._attempt(self.posing.point(q))
        if not self.best.is_met:
            self._settle()
        return self.problem.attempts

    def _attempt(self, point: Point) -> Point:
        """Descend, fast and not always downwards."""
        history: list[float] = []
        for step in range(self.problem.iterations + 1):
            self._keep(point)
            error = float(point.errors.sum())
            stuck = step >= PATIENCE and error > PROGRESS * history[step - PATIENCE]
            if point.is_met or step == self.problem.iterations or stuck:
                break
            history.append(error)
            x, _ = self.posing.step(point)
            point = self.posing.point(self.posing.moved(point.q, x))
            self.iterations += 1
        return point

    def _settle(self) -> None:
        """Descend from the best point to its minimum, level by level, only downwards."""
        damping = DAMPING_FLOOR
        for _ in range(SETTLE * self.problem.iterations):
            if self.best.is_met or damping >= DAMPING_MOST:
                break
            x, _ = self.posing.step(self.best, damping)
            point = self.posing.point(self.posing.moved(self.best.q, x))
            self.iterations += 1
            if point.is_better_than(self.best):
                self.best = point
                damping = max(DAMPING_LESS * damping, DAMPING_FLOOR)
            else:
                damping *= DAMPING_MORE

    def _keep(self, point: Point) -> None:
        if point.is_better_than(self.best):
            self.best = point
