"""Tracking: following moving targets frame by frame, continuously and inside all limits at every frame."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from ..robokin.backend import reference
from ..robokin.configuration import check_tangent
from ..robokin.errors import TaskError
from ..robokin.model import RobotModel
from .criteria import Criterion, checked_criteria
from .hierarchical_tracking import HierarchicalTracker
from .ik import IKProblem, part_names
from .ik_data import IKData, robot_columns
from .ik_steps import roll
from .recent_problems import own_copies
from .results import SolveResult
from .starts import Leg, follow, follow_from_best
from .task_levels import checked_tasks, tolerances
from .tasks import Task
from .tasks.checks import numbers
from .tip_ik import TipIK, is_plain
from .track_result import EMPTY, STATUS, TrackResult, joined, short_diagnosis
from .tracking_reference import ReferenceTracking, TrackLimits
from .viability import StepLimits

Array = np.ndarray


def track(
    model: RobotModel,
    tasks: Sequence[Task],
    targets: object,
    q0: Array | None = None,
    dt: float = 1.0 / 24.0,
    start_velocity: object | None = None,
    seed: int = 0,
    backend: str = "auto",
    progress: Callable[[int, int], object] | None = None,
    criteria: Sequence[Criterion] = (),
) -> TrackResult:
    """Follow targets: (frames, tasks, 4, 4), or one set of targets per frame as `IKProblem.solve` takes.

    Tasks of other kinds, of several priorities or of partial influence, and criteria, are followed by the hierarchy:
    there a target is what its task takes.

    The first frame is solved from `q0` (nq,) and from restarts drawn from `seed`; every other frame follows from the
    one before, without restarts. Without q0 a start is chosen from which every frame can be met, or else the most
    (`starts.follow_from_best`, mid-range first). At every frame position, velocity and acceleration limits
    hold, with v_k = (q_k - q_{k-1}) / dt on the manifold, a_k = (v_k - v_{k-1}) / dt and v_0 = `start_velocity` (nv,),
    0 unless given; what of it cannot be braked in time is taken off. Targets too fast for that are followed as nearly
    as the limits allow, and caught up with. Coordinates that no task depends on keep their start value.
    progress(done, frames) is called now and then, anew for every start tried; when it returns False the result ends
    there. Time is linear in the frames. Raises TaskError, ConfigurationError, UnknownNameError, BackendError.
    """
    tracker: Tracker | HierarchicalTracker
    given = checked_tasks(tasks)
    counting = [bool(task.influence) for task in given]
    if any(counting) and not all(counting):
        kept = [task for task in given if task.influence]
        own_aims = [list(itertools.compress(frame, counting)) for frame in _of_each(targets, len(given))]
        found = track(model, kept, own_aims, q0, dt, start_velocity, seed, backend, progress, criteria)
        return found.among(counting, part_names(given), tolerances(given))
    own = own_copies(given)
    weighted = [criterion for criterion in checked_criteria(criteria) if criterion.weight]
    if weighted or not is_plain(own):
        tracker = HierarchicalTracker(model, own, own_copies(weighted), dt, backend)
    else:
        tracker = Tracker(model, own, dt, backend)
    legs = [Leg(tracker, tracker.check_targets(targets))]
    frames = len(legs[0])
    steps: Generator[list[TrackResult], None, Any]
    if q0 is None:
        middle = model.limits.middle(model.neutral())
        steps = follow_from_best(legs, middle, "mid-range", start_velocity, seed)
    else:
        steps = follow(legs, q0, start_velocity, seed)
    while True:
        try:
            parts = next(steps)
        except StopIteration as ended:
            parts = ended.value.results if q0 is None else ended.value
            break
        if progress is not None and progress(sum(map(len, parts)), frames) is False:
            return joined(parts)
    if progress is not None:
        progress(frames, frames)
    return joined(parts)


def _of_each(targets: object, tasks: int) -> list[list[Any]]:
    """Of each frame, the targets of so many tasks. Raises TaskError."""
    try:
        frames = [list(frame) for frame in targets]  # type: ignore[attr-defined]
    except TypeError:
        raise TaskError("targets must be one set of targets per frame") from None
    for number, frame in enumerate(frames):
        if len(frame) != tasks:
            raise TaskError(f"there are {tasks} tasks but {len(frame)} targets in frame {number}")
    return frames


class Tracker:
    """Tasks of a model, compiled once, and where the robot stands: for live posing, or motions in pieces.

    `start` first (or `stand`), then `step` for one frame or `run` for many; run(a) then run(b) gives the bits of
    run(a + b). Not to be shared between threads. Arguments and errors: see `track`.
    """

    chunk = 256  # frames between two reports of progress
    memory = None  # its tasks are not counted from where a motion starts

    _q: Array  # (nq,) where the robot stands
    _coasting: Array  # (nv,) the last step of the degrees of freedom that no task depends on, still being braked

    def __init__(self, model: RobotModel, tasks: Sequence[Task], dt: float = 1.0 / 24.0, backend: str = "auto") -> None:
        self.problem = IKProblem(model, tasks, (), backend)
        search = self.problem.search
        if not isinstance(search, TipIK):
            raise TaskError("Tracker is for whole tasks on tips, of one priority: take track or HierarchicalTracker")
        self._search = search
        self.model, self.tasks, self.dt, self.backend = model, search.tasks, dt, backend
        self.limits = StepLimits.of(model, dt)
        data = self._search.data
        self._columns = robot_columns(model, data)
        self._free = np.setdiff1d(np.arange(model.nv), self._columns)
        limits = _support_limits(self.limits, data, self._columns)
        self._engine = _engine_type(self.problem.backend)(data, self.tasks, limits)
        self._is_empty = not any(task.influence for task in self.tasks)
        self._stand(self.problem.middle.copy(), np.zeros(model.nv), late=False)

    @property
    def q(self) -> Array:
        """(nq,) where the robot stands."""
        return self._q.copy()

    @property
    def tolerance(self) -> Array:
        """(tasks, 2)"""
        return self.problem.tolerance

    @property
    def v(self) -> Array:
        """(nv,) the velocity with which the last frame was reached."""
        step = self._coasting.copy()
        step[self._columns] = self._engine.step
        return step / self.dt

    def start(
        self, targets: object, q0: object | None = None, start_velocity: object | None = None, seed: int = 0
    ) -> TrackResult:
        """Solve the first frame, with restarts, and stand there. targets: one set of them."""
        wanted = self._one_set(targets)
        velocity = self._velocity(start_velocity)
        found = self.problem.solve(wanted[0], q0, seed, diagnose=False)
        self._stand(found.q, self.limits.viable(found.q, velocity * self.dt), late=not found.converged)
        self._engine.note(wanted[0])
        code = next(code for code, status in STATUS.items() if status is found.status)
        return TrackResult(
            self.problem,
            self.dt,
            self.v,
            wanted,
            np.array([code], np.int32),
            found.q[None],
            found.residual_array[None],
            np.array([found.iterations], np.int32),
            np.zeros((1, self.model.nv), bool),
        )

    def stand(self, q: object, velocity: object | None = None) -> None:
        """Continue from a configuration (nq,), moved inside the limits, with a velocity (nv,), 0 unless given."""
        moved = self.model.check_configuration(q)
        moved = self.problem.limits.clamp(moved)
        self._stand(moved, self.limits.viable(moved, self._velocity(velocity) * self.dt), late=False)

    def step(self, targets: object) -> SolveResult:
        """One frame on, towards one set of targets."""
        exact = isinstance(targets, np.ndarray) and targets.shape == self._search.shape
        wanted = targets if exact else self._one_set(targets)[0]
        if self._is_empty or self._coasting.any():
            return self.run(wanted[None]).frame(0)  # type: ignore[index]
        outcome = self._engine.run_one(wanted)
        self._q[self._search.data.q_index] = outcome.q[0]
        behind = np.zeros(self.model.nv, bool)
        behind[self._columns] = outcome.behind[0]
        found = short_diagnosis(self.model, int(outcome.codes[0]), behind)
        iterations, residuals = int(outcome.iterations[0]), outcome.residuals[0].copy()
        return SolveResult(found, self._q.copy(), residuals, iterations, 1, self.problem.limits_active)

    def run(self, targets: object) -> TrackResult:
        """As many frames on as there are sets of targets."""
        wanted = self.check_targets(targets)
        frames, data, before = len(wanted), self._search.data, self.v
        q = np.repeat(self._q[None], frames, axis=0)
        behind = np.zeros((frames, self.model.nv), bool)
        if not self._is_empty:
            outcome = self._engine.run(wanted)
            q[:, data.q_index] = outcome.q
            behind[:, self._columns] = outcome.behind
            codes, residuals, iterations = outcome.codes, outcome.residuals, outcome.iterations
        else:
            codes, iterations = np.full(frames, EMPTY, np.int32), np.zeros(frames, np.int32)
            residuals = np.zeros((frames, len(self.tasks), 2))
        if self._coasting.any():
            self._coast(q)
        self._q = q[-1].copy()
        return TrackResult(self.problem, self.dt, before, wanted, codes, q, residuals, iterations, behind)

    def check_targets(self, targets: object) -> Array:
        """(frames, tasks, 4, 4) of what `track` takes; whether they are rigid is found when they are used.
        Raises TaskError."""
        shape = self._search.shape
        if isinstance(targets, np.ndarray) and targets.dtype.kind in "fiu":
            array = targets[:, None] if targets.ndim == 3 and shape[0] == 1 else targets
            if array.ndim != 4 or array.shape[1:] != shape:
                raise TaskError(f"targets must have shape (frames, {shape[0]}, 4, 4), not {targets.shape}")
            wanted = np.ascontiguousarray(array, np.float64)
        else:
            wanted = self._from_sets(targets)
        if len(wanted) == 0:
            raise TaskError("there are no targets to follow")
        return wanted

    def _one_set(self, targets: object) -> Array:
        return self.check_targets(targets[None] if isinstance(targets, np.ndarray) else [targets])

    def _from_sets(self, targets: object) -> Array:
        try:
            sets = [list(each) for each in targets]  # type: ignore[attr-defined]
        except TypeError:
            raise TaskError("targets must be one set of targets per frame") from None
        wanted = np.empty((len(sets), *self._search.shape))
        for frame, each in enumerate(sets):
            if len(each) != len(self.tasks):
                raise TaskError(f"there are {len(self.tasks)} tasks but {len(each)} targets in frame {frame}")
            for i, (task, target) in enumerate(zip(self.tasks, each, strict=True)):
                wanted[frame, i] = (
                    numbers(target, task.name) if np.shape(target) == (4, 4) else task.target_matrix(target)
                )
        return wanted

    def _velocity(self, velocity: object | None) -> Array:
        return np.zeros(self.model.nv) if velocity is None else check_tangent(self.model, velocity, "velocity")

    def _stand(self, q: Array, step: Array, late: bool) -> None:
        """The state after a frame that led to q (nq,) by `step` (nv,)."""
        self._q = q.copy()
        self._engine.stand(q[self._search.data.q_index], step[self._columns], late)
        self._coasting = np.zeros(self.model.nv)
        self._coasting[self._free] = step[self._free]

    def _coast(self, q: Array) -> None:
        """Brake what no task moves, in q (frames, nq): only a start velocity can have set it in motion."""
        idle = np.setdiff1d(np.arange(self.model.nq), self._search.data.q_index)
        free = np.isin(np.arange(self.model.nv), self._free)
        here = self._q
        for row in q:
            self._coasting = np.where(free, self.limits.coasting(here, self._coasting), 0.0)
            moved = self.model.limits.clamp(reference.integrate(self.model.tree, here, self._coasting))
            roll(self.model.rolling_bases, here, moved)
            row[idle] = moved[idle]
            here = row


def _support_limits(limits: StepLimits, data: IKData, columns: Array) -> TrackLimits:
    where = {int(q): i for i, q in enumerate(data.q_index)}
    coordinate = np.array([where.get(int(i), -1) for i in limits.coordinate[columns]], np.int32)
    return TrackLimits(
        np.ascontiguousarray(limits.largest[columns]),
        np.ascontiguousarray(limits.change[columns]),
        coordinate,
        np.ascontiguousarray(limits.lower[columns]),
        np.ascontiguousarray(limits.upper[columns]),
    )


def _engine_type(backend: str) -> type:
    if backend == "numpy":
        return ReferenceTracking
    from .native_tracking import NativeTracking

    return NativeTracking
