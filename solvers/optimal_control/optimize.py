"""The optimum of a whole motion: all its frames at once, from the frames that tracking found one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel, checked_model
from ..descent.engine import CONVERGED
from ..ik.problem import part_names
from ..motion.motion import Motion
from ..tasks import PostureTask, Task
from ..tasks.protocols import VelocityTask
from ..tracking.result import EMPTY, TrackResult
from ..tracking.track import track
from ..velocity.task_levels import TaskLevels, checked_tasks, tolerances
from .cost_words import motion_cost
from .discretization import DiscreteMotion, Discretization
from .result import OptimizedMotion
from .sqp import ITERATIONS, MotionOptimum, optimise
from .task_rows import TaskRows, TaskSegment

GAIN = 1e-12  # relative: a cost that is less by no more than this is the same


@dataclass(frozen=True, eq=False)
class TrackedFrames:
    """Frames in a row that were tracked with the same tasks. tasks: those that the result is of."""

    tasks: Sequence[Task]
    result: TrackResult
    influence: Array


def optimize_motion(
    model: RobotModel,
    tasks: Sequence[Task],
    targets: object | None = None,
    q0: Array | None = None,
    dt: float = 1.0 / 24.0,
    cost: object = "acceleration",
    start_velocity: object | None = None,
    animation: object | None = None,
    seed: int = 0,
    backend: str = "auto",
    progress: Callable[[int, int], object] | None = None,
    keep_best: bool = True,
) -> OptimizedMotion:
    """The motion that meets the tasks at every frame with the least cost over all frames.

    It starts from `track` with the same arguments, and holds what that meets: tasks that are met stay met, frames that
    lack something lack no more, the limits on position, velocity and acceleration hold at every frame, and so at half
    frames. With q0 frame 0 stays where `track` has it; without, it is free. Local: another start may lead elsewhere.

    cost: "acceleration", "jerk", "kinetic_energy", "torque", "animation", {word: weight}, or a `MotionCost`.
    animation: (frames, nq) a motion to start from and, for the cost "animation", to stay near; inside the limits or
    not. targets: as of `track`; None with an animation: each task's own.
    progress(done, most) is called after each step; when it returns False, the best so far is returned, or with
    keep_best=False the start. The result is the start where nothing better is found; its `note` says so.
    Raises TaskError, ConfigurationError, UnknownNameError, ModelError, BackendError.
    """
    given = checked_tasks(tasks)
    counting = [bool(task.influence) for task in given]
    kept = [task for task, counts in zip(given, counting, strict=True) if counts]
    checked_model(model)
    near = None if animation is None else Motion.of(model, dt * np.arange(len(_frames(animation))), animation).q
    aims = _targets(given, targets, near)
    own = [list(itertools.compress(frame, counting)) for frame in aims] if not all(counting) else aims
    start = _start(model, kept, own, q0, dt, start_velocity, seed, backend, near)
    frames = TrackedFrames(kept, start, np.tile([task.influence for task in kept], (len(start), 1)))
    steps = optimize_steps(model, [frames], cost, near, q0 is not None or near is not None, backend, keep_best)
    while True:
        try:
            done = next(steps)
        except StopIteration as ended:
            (result,) = ended.value
            break
        if progress is not None and progress(done, ITERATIONS) is False:
            try:
                steps.throw(Stop)
            except StopIteration as ended:
                (result,) = ended.value
            break
    if progress is not None:
        progress(ITERATIONS, ITERATIONS)
    return result if all(counting) else result.among(counting, part_names(given), tolerances(given))


class Stop(Exception):
    """Thrown into the steps of an optimisation that is to end with what it has."""


def optimize_steps(
    model: RobotModel,
    parts: Sequence[TrackedFrames],
    cost: object,
    animation: Array | None,
    is_start_fixed: bool,
    backend: str = "auto",
    keep_best: bool = True,
) -> Generator[int, None, list[OptimizedMotion]]:
    """Yield the number of steps done; return the optimum of tracked frames that follow one another, part by part.

    `Stop`, thrown into it, ends it with the best so far.
    """
    _check(model, parts)
    first, dt = parts[0].result, parts[0].result.dt
    levels = [TaskLevels(model, part.tasks, backend) for part in parts]
    length = max([level.length for level in levels])
    grid = Discretization(model, dt, first.start_velocity, length, is_start_fixed, backend)
    start = DiscreteMotion(grid, np.concatenate([part.result.q for part in parts]))
    wanted = motion_cost(cost, animation, start.q)
    wanted.check(grid)
    ends = np.cumsum([0, *(len(part.result) for part in parts)])
    segments = [
        TaskSegment(int(end), level, part.result.targets, part.influence)
        for end, level, part in zip(ends, levels, parts, strict=False)
    ]
    tasks = TaskRows(grid, segments)
    at_start = tasks.at(start)
    tasks.hold(at_start)
    best = MotionOptimum(start, wanted.value(start), np.inf, at_start, 0)
    before = best
    search = optimise(start, tasks, wanted)
    stopped = False
    while True:
        try:
            now = next(search)
            best = _better(best, now, before)
            yield now.iterations
        except StopIteration as ended:
            best = _better(best, ended.value, before)
            break
        except Stop:
            stopped = True
            best = best if keep_best else before
            break
    note = _note(best, before, stopped)
    return [
        _result(part, best, before, number, slice(int(i), int(j)), note)
        for number, (part, i, j) in enumerate(zip(parts, ends[:-1], ends[1:], strict=True))
    ]


def _better(best: MotionOptimum, now: MotionOptimum, before: MotionOptimum) -> MotionOptimum:
    """`now` when it costs less, keeps the limits, and misses nothing that was met."""
    if abs(now.tasks.residual()).max(initial=0.0) > HELD or now.cost > best.cost * (1.0 + GAIN):
        return best
    # Limits are never broken, nor more than in a start that breaks them.
    if now.trajectory.excess() > before.trajectory.excess():
        return best
    return now


HELD = 1e-8  # [rad, L] by which what is held may be off


def _note(best: MotionOptimum, before: MotionOptimum, stopped: bool) -> str:
    if stopped:
        return "stopped: the best motion so far" if best is not before else "stopped: the motion is as tracked"
    if best.is_optimal:
        return "optimal: no motion nearby has less cost"
    if best.cost >= before.cost * (1.0 - GAIN):
        return "nothing better was found: the motion is as tracked"
    return f"better than tracked, but not shown to be optimal (KKT residual {best.kkt:.1g})"


def _result(
    part: TrackedFrames, best: MotionOptimum, before: MotionOptimum, number: int, own: slice, note: str
) -> OptimizedMotion:
    """The result of part `number`, whose frames are `own`."""
    start = part.result
    codes, residuals = start.codes.copy(), start.residuals.copy()
    if best is not before:
        residuals[...] = best.tasks.residuals[number]
    limit = tolerances(part.tasks)
    whole = part.influence >= 1.0
    met = (((residuals <= limit).all(axis=2)) | ~whole).all(axis=1) & (codes != EMPTY)
    codes[met] = CONVERGED
    fields = {name: getattr(start, name) for name in TrackResult.__dataclass_fields__}
    fields |= {"codes": codes, "residuals": residuals, "q": best.trajectory.q[own]}
    fields["behind"] = np.where(met[:, None], False, start.behind)
    costs = before.cost, best.cost
    return OptimizedMotion(
        **fields,
        cost_before=costs[0],
        cost_after=costs[1],
        kkt=best.kkt,
        is_optimal=best.is_optimal,
        note=note,
        steps=best.iterations,
    )


def _check(model: RobotModel, parts: Sequence[TrackedFrames]) -> None:
    if model.rolling_bases:
        raise TaskError("the optimum of a whole motion is not for robots on wheels: bake them frame by frame")
    for part in parts:
        for task in part.tasks:
            if isinstance(task, VelocityTask):
                raise TaskError(f"{task.name}: a whole motion takes tasks on poses, not on velocities")


def _start(
    model: RobotModel,
    tasks: Sequence[Task],
    aims: Sequence[Sequence[Any]],
    q0: Array | None,
    dt: float,
    start_velocity: object | None,
    seed: int,
    backend: str,
    near: Array | None,
) -> TrackResult:
    """The frames one by one; near an animation where the tasks leave it free."""
    if near is None:
        return track(model, tasks, aims, q0, dt, start_velocity, seed, backend)
    last = max((task.priority for task in tasks), default=0) + 1
    posture = PostureTask(near[0], priority=last)
    both = [[*aim, q] for aim, q in zip(aims, near, strict=True)]
    found = track(model, [*tasks, posture], both, near[0] if q0 is None else q0, dt, start_velocity, seed, backend)
    return _without_last(model, tasks, found, dt, backend)


def near_animation(model: RobotModel, q: Array, dt: float) -> TrackResult:
    """Frames that follow an animation q (F, nq) inside the limits, from rest, without any other task."""
    return _start(model, (), [[]] * len(q), None, dt, None, 0, "auto", q)


def _without_last(model: RobotModel, tasks: Sequence[Task], found: TrackResult, dt: float, backend: str) -> TrackResult:
    """The result as one of all tasks but the last."""
    from ..tracking.tracker import Tracker

    residuals = found.residuals[:, :-1]
    met = (residuals <= tolerances(tasks)).all(axis=(1, 2))
    codes = np.where(met, CONVERGED if tasks else EMPTY, found.codes)
    targets = [list(frame[:-1]) for frame in found.targets]
    return TrackResult(
        Tracker(model, tasks, dt, backend).problem,
        dt,
        found.start_velocity,
        targets,
        codes,
        found.q,
        residuals,
        found.iterations,
        np.where(met[:, None], False, found.behind),
        part_names(tasks),
        tolerances=tolerances(tasks),
    )


def _frames(animation: object) -> Sequence[object]:
    try:
        return list(animation)  # type: ignore[call-overload]
    except TypeError:
        raise TaskError("an animation must be one configuration per frame, (frames, nq)") from None


def _targets(tasks: Sequence[Task], targets: object | None, near: Array | None) -> list[list[Any]]:
    """Targets of all tasks, frame by frame."""
    if targets is None:
        if near is None:
            raise TaskError("targets are needed: one set of targets per frame, or an animation")
        return [[task.target for task in tasks] for _ in near]
    if isinstance(targets, np.ndarray) and targets.ndim == 3 and len(tasks) == 1:
        targets = targets[:, None]
    try:
        frames = [list(frame) for frame in targets]  # type: ignore[attr-defined]
    except TypeError:
        raise TaskError("targets must be one set of targets per frame") from None
    for number, frame in enumerate(frames):
        if len(frame) != len(tasks):
            raise TaskError(f"there are {len(tasks)} tasks but {len(frame)} targets in frame {number}")
    if near is not None and len(near) != len(frames):
        raise TaskError(f"the animation has {len(near)} frames, but there are targets of {len(frames)}")
    return frames
