"""Following targets of tasks of any kind, with strict priorities and criteria, frame by frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..robokin.backend import get_backend
from ..robokin.configuration import check_tangent
from ..robokin.errors import TaskError
from ..robokin.model import RobotModel
from .criteria import Criterion, checked_criteria
from .fixed_arrays import compiled
from .ik import IKProblem, part_names
from .ik_engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH
from .influence import Left, checked_shares, is_partial, left_in
from .level_tracking import LevelTracking
from .results import SolveResult, Status
from .state import State
from .task_levels import TaskLevels, tolerances
from .tasks import Task
from .track_result import EMPTY, TrackResult
from .tracking_reference import TrackOutcome
from .viability import StepLimits

Array = np.ndarray

CHUNK = 16  # frames between two reports of progress


@dataclass(frozen=True, eq=False)
class Memory:
    """What a motion remembers of its tasks from frame to frame. origins: where they began to count.
    without: the states of the motions without them, of those that are neither whole nor out.
    targets: of the frame before."""

    origins: Mapping[Task, State] = field(default_factory=dict)
    without: Mapping[Task, Array] = field(default_factory=dict)
    targets: Mapping[Task, Any] = field(default_factory=dict)


class _Done(NamedTuple):
    code: int
    q: Array
    residuals: Array
    iterations: int
    behind: Array
    remark: str
    influence: Array
    targets: Sequence[Any]  # fixed where they are counted from a start


class HierarchicalTracker:
    """Tasks and criteria of a model, and where the robot stands, at mid-range first: `start` (or `stand`), then `step`
    for every frame, or `run` for many. Arguments and errors: see `track`.

    The first frame is solved as a pose, tasks that ask for a velocity left out, or what they ask of a start in their
    place (`Task.start_task`). influence: (tasks,) at a frame, in
    place of the tasks' own.
    """

    chunk = CHUNK

    _before: Array  # (nq,) where the robot stood a frame earlier
    _state: Array  # as of an engine (`level_tracking.py`)
    _stood: Array  # the one that it was told

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        criteria: Sequence[Criterion] = (),
        dt: float = 1.0 / 24.0,
        backend: str = "auto",
    ) -> None:
        self.model, self.dt, self.backend = model, dt, backend
        self.levels = TaskLevels(model, tasks, backend)
        self.tasks = self.levels.tasks
        self.criteria = checked_criteria(criteria)
        compiled(self.criteria)
        self.limits = StepLimits.of(model, dt)
        self._static = [i for i, task in enumerate(self.tasks) if not task.is_velocity]
        # Where a motion starts the criteria have no say: from there on they lead to their optimum at their own pace.
        self.problem = IKProblem(model, [self.tasks[i] for i in self._static], (), backend)
        self.tolerance = tolerances(self.tasks)
        self._own = np.array([task.influence for task in self.tasks])
        self._problems: dict[tuple[int, ...], IKProblem] = {tuple(range(len(self._static))): self.problem}
        self.memory = Memory()
        self.frames: list[_Done] = []
        neutral = self.levels.state(model.neutral(), self.levels.targets, dt)
        for criterion in self.criteria:
            criterion.check(neutral)
        # Of the tasks that count, and those of them that fade.
        self._engines: dict[tuple[tuple[int, ...], tuple[int, ...]], Any] = {}
        self._ended: dict[tuple[tuple[int, ...], tuple[int, ...]], Array] = {}  # the states that they led to last
        self._kind = _engine_type(backend)
        self.stand(model.limits.middle(model.neutral()))

    def check_targets(self, targets: object) -> list[list[Any]]:
        """Per frame, the checked targets. Raises TaskError."""
        if isinstance(targets, np.ndarray) and targets.ndim == 3 and len(self.tasks) == 1:
            targets = targets[:, None]
        try:
            frames = list(targets)  # type: ignore[call-overload]
        except TypeError:
            raise TaskError("targets must be one set of targets per frame") from None
        if not frames:
            raise TaskError("there are no targets to follow")
        return [self.levels.checked_targets(frame) for frame in frames]

    @property
    def v(self) -> Array:
        """(nv,) the velocity with which the last frame was reached."""
        return self._state[2 * self.model.nq : -1] / self.dt

    @property
    def q(self) -> Array:
        """(nq,) where the robot stands."""
        return self._state[: self.model.nq].copy()

    def stand(self, q: object, velocity: object | None = None, memory: Memory | None = None) -> None:
        """Continue from a configuration (nq,), moved inside the limits, with a velocity (nv,), 0 unless given; fix
        there what is counted from the start, unless the memory of an earlier tracker of the same tasks says where."""
        self._stand(self.model.limits.clamp(self.model.check_configuration(q)), velocity, late=False)
        self.memory = memory or Memory()

    def _stand(self, q: Array, velocity: object | None, late: bool) -> None:
        step = self.limits.viable(q, self._velocity(velocity) * self.dt)
        self._before = q
        self._state = self._stood = np.concatenate((q, q, step, [float(late)]))

    def run(self, targets: Sequence[Sequence[Any]], influence: Sequence[Array] | None = None) -> TrackResult:
        """As many frames on as there are sets of checked targets."""
        self.start_velocity, self.frames = self.v, []
        shares = [self._shares(None if influence is None else influence[frame]) for frame in range(len(targets))]
        first = 0
        while first < len(targets):
            end = first + 1
            if not self._remembers(shares[first]):
                while end < len(targets) and (shares[end] == shares[first]).all():
                    end += 1
            self._follow(targets[first:end], shares[first])
            first = end
        return self.result()

    def _remembers(self, shares: Array) -> bool:
        """Whether what frames ask for depends on where the frames before them led."""
        asked = zip(self.tasks, shares.tolist(), strict=True)
        return any(is_partial(share) or (share and task.remembers) for task, share in asked)

    def _follow(self, targets: Sequence[Sequence[Any]], shares: Array) -> None:
        """Frames of the same influences; one, when it remembers those before."""
        origins = self._origins(targets[0], shares)
        wanted = [self._followed(self._started(each, origins)) for each in targets]
        left, without, count = self._left(wanted[0], shares)
        before, state = self.q, self._state
        outcome, self._state = self._run(wanted, shares, left, state)
        whole, counting = shares >= 1.0, shares > 0.0
        residuals = np.zeros((len(targets), len(shares), 2))
        residuals[:, counting] = outcome.residuals
        missed = (residuals > self.tolerance).any(axis=2) & whole
        for frame, (q, own) in enumerate(zip(outcome.q, wanted, strict=True)):
            code = int(outcome.codes[frame]) if counting.any() else EMPTY
            if counting.any() and not missed[frame].any():
                code = CONVERGED
            aims, lacking = [own[i] for i in self._static], missed[frame, self._static]
            if code == NOT_CONVERGED and self.problem.search.excess(aims, lacking).any():
                code = OUT_OF_REACH
            if code == CONVERGED and self._is_left(before, q, own, whole):
                code = NOT_CONVERGED
            remark = self._remark((self._before, before), own) if code == NOT_CONVERGED else ""
            behind, count = outcome.behind[frame].astype(bool), count + int(outcome.iterations[frame])
            self.frames.append(_Done(code, q, residuals[frame], count, behind, remark, shares, own))
            self._before, before, count = before, q, 0
        self.memory = Memory(origins, without, dict(zip(self.tasks, self._reached(wanted[-1]), strict=True)))

    def _run(
        self, wanted: Sequence[Sequence[Any]], shares: Array, left: Mapping[int, Left], state: Array
    ) -> tuple[TrackOutcome, Array]:
        """Frames from a state on, and the state that they lead to."""
        asked = shares.tolist()
        counting = [i for i, share in enumerate(asked) if share]
        fading = tuple(counting.index(i) for i in counting if is_partial(asked[i]))
        key = tuple(counting), fading
        engine = self._engines.get(key)
        if engine is None:
            whole = len(counting) == len(self.tasks)
            levels = self.levels if whole else TaskLevels(self.model, [self.tasks[i] for i in counting], self.backend)
            engine = self._engines[key] = self._kind(levels, self.criteria, self.limits, fading)
        if self._ended.get(key) is not state:
            engine.state = state
            known = state is self._stood and all(task in self.memory.targets for task in self.tasks)
            engine.note([self.memory.targets[task] for task in engine.levels.tasks] if known else None)
        numbers = {i: k for k, i in enumerate(counting)}
        outcome = engine.run(
            [[own[i] for i in counting] for own in wanted],
            [asked[i] for i in counting],
            {numbers[i]: own for i, own in left.items()},
        )
        self._ended[key] = engine.state.copy()
        return outcome, self._ended[key]

    def start(
        self,
        targets: Sequence[Any],
        q0: Array | None = None,
        start_velocity: object | None = None,
        seed: int = 0,
        influence: Array | None = None,
        origin: Array | None = None,
    ) -> TrackResult:
        """Solve the first frame as a pose, towards checked targets; what is counted from the start starts at `origin`
        (nq,), q0 unless given."""
        shares = self._shares(influence)
        before = self.problem.limits.middle(self.model.neutral()) if q0 is None else q0
        before = self.model.limits.clamp(self.model.check_configuration(before if origin is None else origin))
        counting = [task for task, share in zip(self.tasks, shares, strict=True) if share]
        here = self.levels.state(before, targets, self.dt)
        origins = {task: here for task in counting if origin is None or task.is_counted_from_start}
        wanted = self._started(targets, origins)
        own, aims = shares[self._static], [wanted[i] for i in self._static]
        found = self.problem.solve(aims, q0, seed, diagnose=False, influence=own)
        found = self._on_ways(found, aims, wanted, shares, seed)
        residuals = np.zeros((len(self.tasks), 2))
        residuals[self._static] = found.residual_array[: len(self._static)]
        within = (residuals <= self.tolerance).all(axis=1)[shares >= 1.0].all()
        missed = OUT_OF_REACH if found.status is Status.OUT_OF_REACH else NOT_CONVERGED
        code = EMPTY if not shares.any() else CONVERGED if within else missed
        self._stand(found.q, start_velocity, late=code not in (CONVERGED, EMPTY))
        self.start_velocity = self.v
        fading = [task for task, share in zip(self.tasks, shares, strict=True) if is_partial(share)]
        state = self._state
        if fading:
            whole = np.where(own < 1.0, 0.0, own)
            q = self.problem.solve(aims, q0, seed, diagnose=False, influence=whole).q
            state = np.concatenate((q, q, state[2 * self.model.nq :]))
        self.memory = Memory(origins, dict.fromkeys(fading, state), dict(zip(self.tasks, wanted, strict=True)))
        still = np.zeros(self.model.nv, bool)
        self.frames = [_Done(code, found.q, residuals, found.iterations, still, "", shares, wanted)]
        return self.result()

    def _on_ways(
        self, found: SolveResult, aims: Sequence[Any], wanted: Sequence[Any], shares: Array, seed: int
    ) -> SolveResult:
        """The first pose, from which whole velocities can be followed at once; as it was found, where there is none."""
        asking = zip(self.tasks, wanted, shares, strict=True)
        ways = [way for task, target, share in asking if share >= 1.0 and (way := task.start_task(target)) is not None]
        if not ways or found.status not in (Status.CONVERGED, Status.EMPTY):
            return found
        problem = IKProblem(self.model, [*(self.tasks[i] for i in self._static), *ways], (), self.backend)
        own = np.concatenate((shares[self._static], np.ones(len(ways))))
        targets = [*aims, *(way.target for way in ways)]
        better = problem.solve(targets, found.q, seed, diagnose=False, influence=own)
        return better if better.converged else found

    def posed(self, targets: Sequence[Any], influence: Array | None = None) -> tuple[IKProblem, list[Any]]:
        """The problem of the tasks that ask for a pose and are whole at a frame, and their targets."""
        shares = self._shares(influence)
        indices = tuple(i for i, own in enumerate(self._static) if shares[own] >= 1.0)
        if indices not in self._problems:
            self._problems[indices] = self.problem.some_tasks(indices)
        return self._problems[indices], [targets[self._static[i]] for i in indices]

    def _left(self, wanted: Sequence[Any], shares: Array) -> tuple[dict[int, Left], dict[Task, Array], int]:
        """What tasks of partial influence leave lacking in a frame, the states of the motions without each, and the
        steps that it took to tell."""
        fading = [i for i, share in enumerate(shares.tolist()) if is_partial(share)]
        before = {i: self.memory.without.get(self.tasks[i], self._state) for i in fading}
        # What the others leave is taken from where they were: they are told from one another.
        others = {i: self._left_by(i, before[i], wanted, shares) for i in fading} if len(fading) > 1 else {}
        left, states, count = {}, {}, 0
        for i in fading:
            without = np.where(np.arange(len(shares)) == i, 0.0, shares)
            around = {k: own for k, own in others.items() if k != i}
            outcome, state = self._run([wanted], without, around, before[i])
            left[i] = self._left_by(i, state, wanted, shares, before[i])
            states[self.tasks[i]] = state
            count += int(outcome.iterations[0])
        return left, states, count

    def _left_by(self, i: int, state: Array, wanted: Sequence[Any], shares: Array, before: Array | None = None) -> Left:
        """By a task, of what it would lack in a state. before: the one of the frame before, unless that is it."""
        nq = self.model.nq
        at = self.levels.state(state[:nq], wanted, self.dt)
        if before is not None and self.tasks[i].is_velocity:
            at = self.levels.moved(self.levels.state(before[:nq], wanted, self.dt), at)
        return left_in(shares[i], self.levels.rows_of(i, at, wanted[i], shares[i]))

    def _shares(self, influence: Array | None) -> Array:
        return self._own if influence is None else np.array(checked_shares(self.tasks, influence))

    def _origins(self, targets: Sequence[Any], shares: Array) -> dict[Task, State]:
        """Where each task that counts began to."""
        here = self.levels.state(self.q, targets, self.dt)
        known = self.memory.origins
        return {task: known.get(task, here) for task, share in zip(self.tasks, shares, strict=True) if share}

    def _started(self, targets: Sequence[Any], origins: Mapping[Task, State]) -> list[Any]:
        return [
            task.started(origins[task], target) if task in origins else target
            for task, target in zip(self.tasks, targets, strict=True)
        ]

    def _followed(self, targets: Sequence[Any]) -> list[Any]:
        last = self.memory.targets
        return [
            task.followed(target, last[task]) if task in last else target
            for task, target in zip(self.tasks, targets, strict=True)
        ]

    def _reached(self, targets: Sequence[Any]) -> list[Any]:
        """The targets of the last frame as the next one takes them."""
        if not any(task.is_velocity and task.remembers for task in self.tasks):
            return list(targets)
        ends = [self.levels.state(q, targets, self.dt) for q in (self._before, self.q)]
        moved = self.levels.moved(*ends)
        return [
            task.reached(moved, target) if task.is_velocity else target
            for task, target in zip(self.tasks, targets, strict=True)
        ]

    def _is_left(self, before: Array, q: Array, wanted: Sequence[Any], whole: Array) -> bool:
        """Whether a frame that is met has left the motion that one of its tasks asks for."""
        start, end = (self.levels.state(pose, wanted, self.dt) for pose in (before, q))
        asking = zip(self.tasks, wanted, whole, strict=True)
        return any(task.is_left(start, end, own) for task, own, is_whole in asking if is_whole)

    def _remark(self, poses: Sequence[Array], wanted: Sequence[Any]) -> str:
        """What tasks say about where a frame that is not met began, the last of these poses."""
        states = [self.levels.state(pose, wanted, self.dt) for pose in poses]
        remarks = [task.remark(states, own) for task, own in zip(self.tasks, wanted, strict=True)]
        return "; ".join(filter(None, remarks))

    def result(self) -> TrackResult:
        codes, q, residuals, iterations, behind, remarks, shares, targets = zip(*self.frames, strict=True)
        return TrackResult(
            self.problem,
            self.dt,
            self.start_velocity,
            [[each[i] for i in self._static] for each in targets],
            np.array(codes, np.int32),
            np.array(q),
            np.array(residuals),
            np.array(iterations, np.int32),
            np.array(behind),
            part_names(self.tasks),
            remarks,
            self.tolerance,
            np.array(shares)[:, self._static],
        )

    def _velocity(self, velocity: object | None) -> Array:
        return np.zeros(self.model.nv) if velocity is None else check_tangent(self.model, velocity, "start velocity")


def _engine_type(backend: str) -> Any:
    if get_backend(backend).name == "numpy":
        return LevelTracking
    from .native_stack import NativeLevelTracking

    return NativeLevelTracking
