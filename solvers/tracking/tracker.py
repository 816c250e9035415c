"""Following targets frame by frame: tasks of any kind and priority, criteria, velocities, and tasks that fade."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.configuration import check_tangent
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ..criteria import Criterion, checked_criteria
from ..descent.engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH
from ..fixed_arrays import compiled
from ..ik.fading import poses_without
from ..ik.problem import IKProblem
from ..ik.tip_ik import TipIK, is_plain, poses_of_frames
from ..kinematics.state import State
from ..limits.viability import StepLimits
from ..results import SolveResult, Status, part_names
from ..tasks import Task
from ..tasks.influence import checked_shares
from ..tasks.protocols import VelocityTask, is_counted_from_start, start_tasks
from ..velocity.task_levels import TaskLevels, checked_tasks, tolerances
from .data import LATE, TrackOutcome, sets_of
from .level_engines import LevelEngines, state_at
from .memory import MotionMemory, depends_on_frames_before
from .result import EMPTY, TrackResult, joined, judge_histories, judge_reach, short_diagnosis, stopped_by
from .support_tracking import SupportTracking

# Frames between two reports of progress: of plain tasks; and of levels, where frames of many joints take longer.
PLAIN_CHUNK, CHUNK, COORDINATES = 256, 16, 1024


class Tracker:
    """Tasks and criteria of a model, compiled once, and where the robot stands, at mid-range first: for live posing, or
    motions in pieces.

    `start` first (or `stand`), then `step` for one frame or `run` for many; run(a) then run(b) gives the bits of
    run(a + b). influence: (tasks,) at a frame, in place of the tasks' own. Not to be shared between threads. Arguments
    and errors: see `track`.

    is_plain: the tasks are whole, on one tip each and of one priority, and there are no criteria.
    problem: of the poses that the tasks ask for.
    """

    horizon = 0  # so many frames after the present one are looked at
    _known: Array | None  # the state, unless it is that of the plain engine
    _given: Array  # the one that it was given
    _before: Array  # (nq,) where the robot stood a frame earlier

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        dt: float = 1.0 / 24.0,
        backend: str = "auto",
        criteria: Sequence[Criterion] = (),
    ) -> None:
        self.model, self.dt, self.backend = model, dt, backend
        self.tasks, self.criteria = checked_tasks(tasks), [each for each in checked_criteria(criteria) if each.weight]
        compiled(self.criteria)
        self._own = np.array([task.influence for task in self.tasks])
        self._plain: SupportTracking | None = None
        self.is_plain = is_plain(self.tasks) and not self.criteria
        self._static = [i for i, task in enumerate(self.tasks) if not isinstance(task, VelocityTask)]
        if self.is_plain:
            self.problem = IKProblem(model, self.tasks, (), backend)
        else:
            self._make_levels()
        self.limits = StepLimits.of(model, dt)
        self._prepare()
        self.stand(model.limits.middle(model.neutral()))

    def _prepare(self) -> None:
        """What a refined tracker compiles of its tasks."""

    def _make_levels(self) -> None:
        self.is_plain = False
        neutral = self.levels.state(self.model.neutral(), self.levels.targets, self.dt)
        for criterion in self.criteria:
            criterion.check(neutral)
        # Where a motion starts the criteria have no say: from there on they lead to their optimum at their own pace.
        self.problem = IKProblem(self.model, [self.tasks[i] for i in self._static], (), self.backend)
        self._problems = {tuple(range(len(self._static))): self.problem}

    @cached_property
    def levels(self) -> TaskLevels:
        return TaskLevels(self.model, self.tasks, self.backend)

    def let_fade(self) -> None:
        """From now on influences may be given frame by frame: the tasks are levels, whatever they are."""
        if self.is_plain:
            self._make_levels()

    @property
    def chunk(self) -> int:
        """Frames between two reports of progress."""
        return PLAIN_CHUNK if self.is_plain else max(CHUNK, COORDINATES // max(self.model.nv, 1))

    @property
    def _state(self) -> Array:
        """The state of an engine (`reference/tracking.py`), of all degrees of freedom and all levels."""
        if self._known is None:
            assert self._plain is not None
            self._known = self._plain.state
        return self._known

    @property
    def q(self) -> Array:
        """(nq,) where the robot stands."""
        return self._state[: self.model.nq].copy()

    @property
    def v(self) -> Array:
        """(nv,) the velocity with which the last frame was reached."""
        return self._state[-2 - self.model.nv : -2] / self.dt

    @cached_property
    def tolerance(self) -> Array:
        """(tasks, 2)"""
        return tolerances(self.tasks)

    # -- targets -------------------------------------------------------------------------------------------------------

    def check_targets(self, targets: object) -> Any:
        """Targets of every frame as `run` takes them, from what `track` takes: of plain tasks (frames, tasks, 4, 4),
        else a list for each. Whether poses are rigid is found when they are used. Raises TaskError."""
        if isinstance(targets, np.ndarray) and targets.ndim == 3 and len(self.tasks) == 1:
            targets = targets[:, None]
        if self.is_plain and isinstance(targets, np.ndarray) and targets.dtype.kind in "fiu":
            if targets.ndim != 4 or targets.shape[1:] != (len(self.tasks), 4, 4):
                raise TaskError(f"targets must have shape (frames, {len(self.tasks)}, 4, 4), not {targets.shape}")
            frames: Any = np.array(targets, np.float64)  # the caller may write to their own
        else:
            frames = self._sets(targets)
        if len(frames) == 0:
            raise TaskError("there are no targets to follow")
        return frames

    def _one(self, targets: object) -> Any:
        """Checked, of one frame."""
        return self.check_targets(targets[None] if isinstance(targets, np.ndarray) else [targets])

    def _sets(self, targets: object) -> Any:
        sets, search = sets_of(targets, len(self.tasks)), self.problem.search
        if not (self.is_plain and isinstance(search, TipIK)):
            return self.levels.checked_frames(sets)
        return poses_of_frames(search.tasks, sets)

    # -- where the robot stands ----------------------------------------------------------------------------------------

    def start(
        self,
        targets: Any,
        q0: Array | None = None,
        start_velocity: object | None = None,
        seed: int = 0,
        influence: Array | None = None,
        origin: Array | None = None,
        down_to: float = math.inf,
        without: Array | None = None,
    ) -> TrackResult:
        """Solve the first frame as a pose, with restarts, and stand there. A velocity task is left out, or its
        `start_task` takes its place. targets: one set of them.   origin: (nq,) where targets that are counted from the
        start begin, q0 unless given.   down_to: see `run`.   without: see `IKProblem.solve`."""
        if influence is not None or self._is_aside(down_to).any():
            self.let_fade()
        requested, aside, shares = self._without(self._shares(influence), down_to)
        (targets,) = self._one(targets)
        if self.is_plain:
            found, wanted = self.problem.solve(targets, q0, seed, diagnose=False), targets
        else:
            memory = MotionMemory(self._started_at(targets, requested, q0, origin))
            wanted = memory.resolved(self.tasks, targets)
            own, aims = shares[self._static], [wanted[i] for i in self._static]
            found = self.problem.solve(aims, q0, seed, diagnose=False, influence=own, without=without)
            found = self._with_start_tasks(found, aims, wanted, shares, seed)
        residuals = np.zeros((1, len(self.tasks), 2))
        residuals[0, self._static] = found.residual_array[: len(self._static)]
        if aside.any():
            residuals[0, aside] = self.levels.residuals_after(found.q, found.q, wanted, self.dt, aside)
        within = not self.missed(residuals[0], requested).any()
        missed = OUT_OF_REACH if found.status is Status.OUT_OF_REACH else NOT_CONVERGED
        code = EMPTY if not requested.any() else CONVERGED if within else missed
        self._stand(found.q, start_velocity, 0 if code in (CONVERGED, EMPTY) else self._lost(residuals[0], shares))
        self._noted = wanted
        if not self.is_plain:
            known, (*step, late, _) = dict(zip(self.tasks, wanted, strict=True)), self._state[-2 - self.model.nv :]
            apart = poses_without(self.problem, aims, q0, seed, own, without).items()
            states = {i: state_at(q, self._count, np.array(step), late) for i, q in apart}
            named = {None if i is None else self.tasks[self._static[i]]: state for i, state in states.items()}
            self.memory = MotionMemory(memory.origins, named, known)
        outcome = TrackOutcome.empty(1, len(self.tasks), self.model.nq, self.model.nv)
        outcome.codes[0], outcome.q[0], outcome.iterations[0] = code, found.q, found.iterations
        aims = wanted[None] if self.is_plain else [wanted]
        return self._result(self.v, aims, outcome, residuals, [""], requested, aside)

    def stand(self, q: object, velocity: object | None = None, memory: MotionMemory | None = None) -> None:
        """Continue from a configuration (nq,), moved inside the limits, with a velocity (nv,), 0 unless given; fix
        there what is counted from the start, unless the memory of an earlier tracker of the same tasks says where."""
        self._stand(self.model.limits.clamp(self.model.check_configuration(q)), velocity, late=0)
        self.memory = memory or MotionMemory()

    def _stand(self, q: Array, velocity: object | None, late: int) -> None:
        """late: how many levels are lost, which are the last ones."""
        v = np.zeros(self.model.nv) if velocity is None else check_tangent(self.model, velocity, "start velocity")
        self._before, self._noted = q, None  # targets that it was found for
        self._known = self._given = state_at(q, self._count, self.limits.viable(q, v * self.dt), float(late))

    def mark(self) -> object:
        """Where the robot stands, for `go_back`."""
        return self._state.copy(), self._before, self._noted, self.memory

    def go_back(self, mark: Any) -> None:
        """Stand where the robot stood: the next frames are those that would have come then."""
        state, self._before, self._noted, self.memory = mark
        self._known = self._given = state

    @property
    def _count(self) -> int:
        """Number of levels."""
        return 1 if self.is_plain else len(self.levels.groups)

    def missed(self, residuals: Array, influence: Array | None = None) -> Array:
        """(..., tasks) bool, the whole tasks that are beyond their tolerances. residuals: (..., tasks, 2).   influence:
        in place of the tasks' own."""
        return (residuals > self.tolerance).any(axis=-1) & ((self._own if influence is None else influence) >= 1.0)

    def _lost(self, residuals: Array, shares: Array) -> int:
        """Levels from the first one on that has a whole task beyond its tolerance. residuals: (tasks, 2)."""
        missed = self.missed(residuals, shares)
        groups = [range(len(self.tasks))] if self.is_plain else [own for own, _ in self.levels.groups]
        return next((len(groups) - k for k, own in enumerate(groups) if missed[list(own)].any()), 0)

    def _started_at(
        self, targets: Sequence[Any], shares: Array, q0: Array | None, origin: Array | None
    ) -> dict[Task, State]:
        """Where the tasks that count begin to."""
        before = self.problem.limits.middle(self.model.neutral()) if q0 is None else q0
        before = self.model.limits.clamp(self.model.check_configuration(before if origin is None else origin))
        here = self.levels.state(before, targets, self.dt)
        counting = [task for task, share in zip(self.tasks, shares, strict=True) if share]
        return {task: here for task in counting if origin is None or is_counted_from_start(task)}

    def _with_start_tasks(
        self, found: SolveResult, aims: Sequence[Any], wanted: Sequence[Any], shares: Array, seed: int
    ) -> SolveResult:
        """The first pose, from which whole velocities can be followed at once; as it was found, where there is none."""
        pose_tasks = start_tasks(self.tasks, wanted, shares)
        if not pose_tasks or found.status not in (Status.CONVERGED, Status.EMPTY):
            return found
        problem = IKProblem(self.model, [*(self.tasks[i] for i in self._static), *pose_tasks], (), self.backend)
        own = np.concatenate((shares[self._static], np.ones(len(pose_tasks))))
        targets = [*aims, *(task.target for task in pose_tasks)]
        better = problem.solve(targets, found.q, seed, diagnose=False, influence=own)
        return better if better.converged else found

    def pose_problem(self, targets: Any, influence: Array | None = None) -> tuple[IKProblem, Any]:
        """The problem of the tasks that ask for a pose and are whole at a frame, and their targets."""
        if influence is not None:
            self.let_fade()
        if self.is_plain:
            return self.problem, targets
        shares = self._shares(influence)
        indices = tuple(i for i, own in enumerate(self._static) if shares[own] >= 1.0)
        if indices not in self._problems:
            self._problems[indices] = self.problem.some_tasks(indices)
        return self._problems[indices], [targets[self._static[i]] for i in indices]

    # -- frames --------------------------------------------------------------------------------------------------------

    def step(self, targets: object, influence: Array | None = None) -> SolveResult:
        """One frame on, towards one set of targets."""
        if influence is not None:
            self.let_fade()
        wanted = self._one(targets)
        if not self.is_plain:
            return self.run(wanted, None if influence is None else [influence]).frame(0)
        outcome = self._run_plain(wanted)
        found = short_diagnosis(self.model, int(outcome.codes[0]), outcome.behind[0])
        q, residuals, iterations = outcome.q[0], outcome.residuals[0], int(outcome.iterations[0])
        return SolveResult(found, q, residuals, iterations, 1, self.problem.limits_active)

    def run(
        self,
        targets: Any,
        influence: Sequence[Array] | Array | None = None,
        down_to: float = math.inf,
        near: Array | None = None,
        upcoming: Any = None,
    ) -> TrackResult:
        """Track as many frames as there are sets of targets, as `check_targets` gives them. influence: of each frame.
        down_to: tasks of later priorities stand aside: not followed, but report their residuals.   near: (frames, nq)
        where the robot stays in what is left free.   upcoming: targets of `horizon` frames more. Raises TaskError."""
        if influence is not None or self._is_aside(down_to).any():
            self.let_fade()
        if influence is not None and len(influence) != len(targets):
            raise TaskError(f"there are {len(targets)} frames but {len(influence)} sets of influences")
        if self.is_plain or isinstance(targets, np.ndarray):
            targets = self.check_targets(targets)
        if self.is_plain or (influence is None and not depends_on_frames_before(self.tasks, self._own)):
            return self._follow(targets, self._own, down_to, near)
        shares = [self._shares(own) for own in ([None] * len(targets) if influence is None else influence)]
        parts, first = [], 0
        while (end := first + 1) <= len(targets):
            if not depends_on_frames_before(self.tasks, shares[first]):
                while end < len(targets) and (shares[end] == shares[first]).all():
                    end += 1
            around = None if near is None else near[first:end]
            parts.append(self._follow(targets[first:end], shares[first], down_to, around))
            first = end
        return joined(parts)

    def _follow(self, targets: Any, requested: Array, down_to: float, near: Array | None) -> TrackResult:
        """Frames of the same influences; one, when it remembers those before."""
        before = self.v
        if self.is_plain:
            outcome, self._noted = self._run_plain(targets), targets[-1]
            return self._result(before, targets, outcome, outcome.residuals, [], requested)
        requested, aside, shares = self._without(requested, down_to)
        memory = self.memory.begun(self.tasks, requested, lambda: self.levels.state(self.q, targets[0], self.dt))
        wanted = memory.resolved_all(self.tasks, targets)
        noted = self._noted if self._state is self._given else None
        remaining, without, count = self._engines.remaining(wanted[0], shares, self._state, memory.without, noted)
        start, residuals = self.q, np.zeros((len(targets), len(shares), 2))
        outcome, self._known = self._engines.run(wanted, shares, remaining, self._state, noted, near)
        residuals[:, shares > 0.0] = outcome.residuals
        if aside.any():
            steps = zip([start, *outcome.q], outcome.q, wanted, strict=False)
            residuals[:, aside] = [self.levels.residuals_after(*step, self.dt, aside) for step in steps]
        outcome.iterations[0] += count
        codes, missed = outcome.codes, self.missed(residuals, requested)
        codes[~missed[:, ~aside].any(axis=1) | (codes == LATE) & ~outcome.behind.any(axis=1)] = NOT_CONVERGED
        codes[~missed.any(axis=1)] = CONVERGED if requested.any() else EMPTY
        judge_reach(
            codes, self.problem.search, [[own[i] for i in self._static] for own in wanted], missed[:, self._static]
        )
        poses = [self._before, start, *outcome.q]
        remarks = judge_histories(codes, self.levels, poses, wanted, requested >= 1.0, self.dt)
        ends = (self.levels.state(q, wanted[-1], self.dt) for q in (start, self.q))
        self.memory = memory.reached(self.tasks, wanted[-1], lambda: self.levels.moved(*ends), without)
        self._before, self._noted = start if len(targets) == 1 else outcome.q[-2], wanted[-1]
        return self._result(before, wanted, outcome, residuals, remarks, requested, aside)

    def _run_plain(self, wanted: Array) -> TrackOutcome:
        if self._plain is None:
            assert isinstance(self.problem.search, TipIK)
            self._plain = SupportTracking(self.problem.search, self.limits, self.backend)
        if self._known is self._given:
            self._plain.state = self._given
            self._plain.note(self._noted)
        outcome = self._plain.run(wanted)
        self._known = None
        if self.memory.without:  # whole tasks are with them from now on
            self.memory = replace(self.memory, without={})
        return outcome

    @cached_property
    def _engines(self) -> LevelEngines:
        return LevelEngines(self.levels, self.criteria, self.limits, self.backend)

    def _result(
        self,
        before: Array,
        wanted: Any,
        outcome: TrackOutcome,
        residuals: Array,
        remarks: Sequence[str],
        shares: Array,
        aside: Array | None = None,
    ) -> TrackResult:
        found = (outcome.codes, outcome.q, residuals, outcome.iterations, outcome.behind.astype(bool))
        if self.is_plain:
            return TrackResult(self.problem, self.dt, before, wanted, *found)
        are_all = len(self._static) == len(self.tasks)
        targets = wanted if are_all else [[own[i] for i in self._static] for own in wanted]
        said = part_names(self.tasks), remarks, self.tolerance, np.tile(shares[self._static], (len(wanted), 1))
        missed = self.missed(residuals, shares)
        missed[:, self._static] = False
        stopped = stopped_by(self.levels, outcome.q, wanted, missed.any(axis=1), shares, self.dt)
        are_aside = np.tile(np.zeros(len(shares), bool) if aside is None else aside, (len(wanted), 1))
        return TrackResult(self.problem, self.dt, before, targets, *found, *said, stopped, are_aside)

    def _is_aside(self, down_to: float) -> Array:
        """(tasks,) bool, those of later priorities."""
        return np.array([task.priority > down_to for task in self.tasks], bool)

    def _without(self, shares: Array, down_to: float) -> tuple[Array, Array, Array]:
        """(tasks,) each: shares, which of these stand aside, and the shares that are followed."""
        aside = self._is_aside(down_to) & (shares > 0.0)
        return shares, aside, np.where(aside, 0.0, shares)

    def _shares(self, influence: Array | None) -> Array:
        return self._own if influence is None else np.array(checked_shares(self.tasks, influence))
