"""Following targets of tasks of any kind, with strict priorities and criteria, frame by frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..robokin.backend import get_backend
from ..robokin.configuration import check_tangent
from ..robokin.errors import TaskError
from ..robokin.model import RobotModel
from .criteria import Criterion, checked_criteria
from .fixed_arrays import compiled
from .hierarchical_frame import Asked, Found, Frame, Place
from .ik import IKProblem, part_names
from .ik_engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH
from .influence import Left, checked_shares, is_partial, left_in
from .level_tracking import LevelTracking
from .results import SolveResult, Status
from .state import State
from .task_levels import TaskLevels, tolerances
from .tasks import Task
from .track_result import EMPTY, TrackResult
from .tracking_reference import LATE
from .viability import StepLimits
from .way_keeping import solve_on_the_way

if TYPE_CHECKING:
    from .native_stack import NativeLevelTracking

Array = np.ndarray

BITS = 8  # of a frame with a velocity that leads far
CHUNK = 16  # frames of poses between two reports of progress
LINEARISATIONS, UNHURRIED = 10, 20  # of a frame, and of one that is looked at without limits on speed


@dataclass(frozen=True, eq=False)
class Memory:
    """What a motion remembers of its tasks from frame to frame. origins: where they began to count.
    without: where the robot would be without them, of those that are neither whole nor out.
    targets: of the frame before."""

    origins: Mapping[Task, State] = field(default_factory=dict)
    without: Mapping[Task, Place] = field(default_factory=dict)
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

    chunk: int  # frames between two reports of progress

    _before: Array  # (nq,) where the robot stood a frame earlier
    _moved_alone: bool  # the engine has not been told yet where the robot stands,
    _is_late: bool  # and that it is not where its targets are

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
        self._scale = neutral.scale
        for criterion in self.criteria:
            criterion.check(neutral)
        # What asks for velocities, or fades in and out, is followed frame by frame below.
        poses = not any(task.is_velocity or type(task).is_left is not Task.is_left for task in self.tasks)
        self._engine = self._engine_of_poses() if poses and self.tasks else None
        self.chunk = CHUNK if self._engine is not None else 1
        self.stand(model.limits.middle(model.neutral()))

    def _engine_of_poses(self) -> LevelTracking | NativeLevelTracking:
        kind: Any = LevelTracking
        if get_backend(self.backend).name == "native":
            from .native_stack import NativeLevelTracking

            kind = NativeLevelTracking
        return kind(self.levels, self.criteria, np.ones(len(self.tasks)).tolist(), self.limits)

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
        return self.last / self.dt

    def stand(self, q: object, velocity: object | None = None, memory: Memory | None = None) -> None:
        """Continue from a configuration (nq,), moved inside the limits, with a velocity (nv,), 0 unless given; fix
        there what is counted from the start, unless the memory of an earlier tracker of the same tasks says where."""
        self.q = self._before = self.model.limits.clamp(self.model.check_configuration(q))
        self.last = self.limits.viable(self.q, self._velocity(velocity) * self.dt)
        self.memory, self._moved_alone, self._is_late = memory or Memory(), True, False

    def run(self, targets: Sequence[Sequence[Any]], influence: Sequence[Array] | None = None) -> TrackResult:
        """As many frames on as there are sets of checked targets."""
        self.start_velocity, self.frames = self.v, []
        done = 0
        while done < len(targets):
            whole = done
            while whole < len(targets) and self._is_whole(None if influence is None else influence[whole]):
                whole += 1
            if whole > done:
                self._follow_poses(targets[done:whole])
            else:
                self.step(targets[done], None if influence is None else influence[done])
            done = max(whole, done + 1)
        return self.result()

    def _is_whole(self, influence: Array | None) -> bool:
        """Whether a frame asks for nothing but poses, of tasks that count wholly."""
        return self._engine is not None and bool((self._shares(influence) == 1.0).all())

    def _follow_poses(self, targets: Sequence[Sequence[Any]]) -> None:
        engine = self._engine
        assert engine is not None
        if self._moved_alone:
            engine.stand(self.q, self.last, self._is_late)
            if self.memory.targets:
                engine.note([self.memory.targets.get(task, task.target) for task in self.tasks])
            self._moved_alone = False
        shares, origins = np.ones(len(self.tasks)), self._origins(targets[0], np.ones(len(self.tasks)))
        wanted = [self._started(each, origins) for each in targets]
        outcome = engine.run(wanted)
        if len(outcome.q) > 1:
            self._before = outcome.q[-2]
        else:
            self._before = self.q
        self.q, self.last = outcome.q[-1].copy(), engine.step.copy()
        self.memory = Memory(origins, {}, dict(zip(self.tasks, wanted[-1], strict=True)))
        for frame, code in enumerate(outcome.codes.tolist()):
            own = wanted[frame]
            missed = (outcome.residuals[frame] > self.tolerance).any(axis=1)
            if code == NOT_CONVERGED and self.problem.search.excess([own[i] for i in self._static], missed).any():
                code = OUT_OF_REACH
            behind = outcome.behind[frame].astype(bool)
            count, residuals = int(outcome.iterations[frame]), outcome.residuals[frame]
            self.frames.append(_Done(code, outcome.q[frame], residuals, count, behind, "", shares, own))

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
        state = self.levels.state(before, targets, self.dt)
        origins = {task: state for task in counting if origin is None or task.is_counted_from_start}
        wanted = self._started(targets, origins)
        own, aims = shares[self._static], [wanted[i] for i in self._static]
        found = self.problem.solve(aims, q0, seed, diagnose=False, influence=own)
        found = self._on_ways(found, aims, wanted, shares, seed)
        self.q = self._before = found.q
        self.last = self.limits.viable(found.q, self._velocity(start_velocity) * self.dt)
        fading = [task for task, share in zip(self.tasks, shares, strict=True) if is_partial(share)]
        place = Place(self.q, self.last)
        if fading:
            whole = np.where(own < 1.0, 0.0, own)
            place = place._replace(q=self.problem.solve(aims, q0, seed, diagnose=False, influence=whole).q)
        self.memory = Memory(origins, dict.fromkeys(fading, place), dict(zip(self.tasks, wanted, strict=True)))
        self.start_velocity, self._moved_alone = self.last / self.dt, True
        residuals = np.zeros((len(self.tasks), 2))
        residuals[self._static] = found.residual_array[: len(self._static)]
        within = (residuals <= self.tolerance).all(axis=1)[shares >= 1.0].all()
        missed = OUT_OF_REACH if found.status is Status.OUT_OF_REACH else NOT_CONVERGED
        code = EMPTY if not shares.any() else CONVERGED if within else missed
        self._is_late = code not in (CONVERGED, EMPTY)
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

    def step(self, targets: Sequence[Any], influence: Array | None = None) -> None:
        """One frame on, towards checked targets."""
        shares = self._shares(influence)
        origins = self._origins(targets, shares)
        wanted = self._followed(self._started(targets, origins))
        left, without, count = self._left(wanted, shares)
        frame, whole = self._frame(Place(self.q, self.last), Asked(wanted, shares, left)), shares >= 1.0
        found = solve_on_the_way(frame, self.limits, LINEARISATIONS)
        count += found.steps
        code, behind = CONVERGED if shares.any() else EMPTY, np.zeros(self.model.nv, bool)
        if (found.residuals > self.tolerance)[whole].any():
            code = NOT_CONVERGED
            if found.held.any():
                lost = next(count for count in range(len(shares) + 1) if not self._is_met(found, shares, count))
                is_met, steps = self._would_be_met(Asked(wanted, shares, left), lost)
                count += steps
                if is_met:
                    code, behind = LATE, found.held
            far = self.problem.search.excess([wanted[i] for i in self._static])[whole[self._static]]
            if code != LATE and far.any():
                code = OUT_OF_REACH
        if code == CONVERGED and self._is_left(found.q, wanted, whole):
            code = NOT_CONVERGED
        remark = self._remark(wanted) if code == NOT_CONVERGED else ""
        reached = frame.reached(found)
        self._moved_alone, self._is_late = True, code not in (CONVERGED, EMPTY)
        self._before, self.last, self.q = self.q, found.moved, found.q
        self.memory = Memory(origins, without, dict(zip(self.tasks, reached, strict=True)))
        self.frames.append(_Done(code, found.q, found.residuals, count, behind, remark, shares, wanted))

    def _is_met(self, found: Found, shares: Array, levels: int) -> bool:
        """Whether loops and the first `levels` are, as far as their tasks are whole."""
        loops = [i for i, _ in self.levels.loops]
        own = loops + [i for each in self.levels.indices[:levels] for i in each]
        return bool((found.residuals <= self.tolerance).all(axis=1)[own][shares[own] >= 1.0].all())

    def _would_be_met(self, asked: Asked, levels: int) -> tuple[bool, int]:
        """Whether the first `levels` of the frame are met without limits on speed, at once or on the ways of velocities
        bit by bit; and the linearisations that it took to tell."""
        unlimited = np.full(self.model.nv, np.inf)
        unhurried = replace(self.limits, largest=unlimited, change=unlimited)
        count = 0
        for parts in (1, BITS) if any(task.has_way for task in self.tasks) else (1,):
            place, targets = (
                Place(self.q, self.last),
                [task.slowed(target, 1.0 / parts) for task, target in zip(self.tasks, asked.targets, strict=True)],
            )
            for _ in range(parts):
                frame = self._frame(place, replace(asked, targets=targets))
                found = frame.solve(unhurried, UNHURRIED)
                count += found.steps
                if not self._is_met(found, asked.influence, levels):
                    break
                place, targets = Place(found.q, found.moved), frame.reached(found)
            else:
                return True, count
        return False, count

    def posed(self, targets: Sequence[Any], influence: Array | None = None) -> tuple[IKProblem, list[Any]]:
        """The problem of the tasks that ask for a pose and are whole at a frame, and their targets."""
        shares = self._shares(influence)
        indices = tuple(i for i, own in enumerate(self._static) if shares[own] >= 1.0)
        if indices not in self._problems:
            self._problems[indices] = self.problem.some_tasks(indices)
        return self._problems[indices], [targets[self._static[i]] for i in indices]

    def _left(self, wanted: Sequence[Any], shares: Array) -> tuple[dict[int, Left], dict[Task, Place], int]:
        """What tasks of partial influence leave lacking in a frame, where the robot would be without each, and the
        linearisations that it took to tell."""
        fading = [i for i, share in enumerate(shares) if is_partial(share)]
        here = Place(self.q, self.last)
        before = {i: self.memory.without.get(self.tasks[i], here) for i in fading}
        # What the others leave is taken from where they were: they are told from one another.
        others = {}
        for i in fading if len(fading) > 1 else []:
            rows = self.levels.rows_of(i, self.levels.state(before[i].q, wanted, self.dt), wanted[i], shares[i])
            others[i] = left_in(shares[i], rows)
        left, places, count = {}, {}, 0
        for i in fading:
            asked = Asked(wanted, np.where(np.arange(len(shares)) == i, 0.0, shares), others)
            found = self._frame(before[i], asked).solve(self.limits, LINEARISATIONS)
            left[i] = left_in(shares[i], self._frame(before[i], Asked(wanted, shares, {})).rows_at(found)[i])
            places[self.tasks[i]] = Place(found.q, found.moved)
            count += found.steps
        return left, places, count

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

    def _is_left(self, q: Array, wanted: Sequence[Any], whole: Array) -> bool:
        """Whether a frame that is met has left the motion that one of its tasks asks for."""
        before, after = (self.levels.state(pose, wanted, self.dt) for pose in (self.q, q))
        asking = zip(self.tasks, wanted, whole, strict=True)
        return any(task.is_left(before, after, own) for task, own, is_whole in asking if is_whole)

    def _remark(self, wanted: Sequence[Any]) -> str:
        """What tasks say about where a frame that is not met began."""
        states = [self.levels.state(q, wanted, self.dt) for q in (self._before, self.q)]
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

    def _frame(self, here: Place, asked: Asked) -> Frame:
        return Frame(self.levels, self.criteria, self._scale, self.dt, here, asked)

    def _velocity(self, velocity: object | None) -> Array:
        return np.zeros(self.model.nv) if velocity is None else check_tangent(self.model, velocity, "start velocity")
