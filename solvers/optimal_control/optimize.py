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
from ..criteria import Criterion, checked_criteria
from ..descent.engine import CONVERGED, NOT_CONVERGED
from ..ik.problem import part_names
from ..motion.motion import Motion
from ..results import Diagnosis, Status
from ..tasks import Task
from ..tasks.protocols import VelocityTask
from ..tracking.data import COLLIDED, LATE
from ..tracking.result import EMPTY, TrackResult
from ..velocity.task_levels import TaskLevels, checked_tasks, tolerances
from .cost_words import motion_cost
from .discretization import DiscreteMotion, Discretization
from .free_time import SLOWER, SLOWER_STARTS, slow_enough
from .levels import better, by_levels, with_last
from .result import OptimizedMotion
from .rows.clearance_rows import ClearanceRows
from .rows.limit_sources import MotionBounds, limit_sources, rolled
from .rows.motion_rows import MotionRows
from .rows.segments import TaskSegment
from .rows.task_sources import TaskSource, task_sources
from .sqp import ITERATIONS, MotionOptimum, optimise
from .start import start_near


@dataclass(frozen=True, eq=False)
class TrackedFrames:
    """Frames in a row that were tracked with the same tasks. tasks: those that the result is of.   aims: per frame
    their checked targets; only those of velocities are looked at, of others the result has them.   criteria: what the
    cost "criteria" integrates."""

    tasks: Sequence[Task]
    result: TrackResult
    influence: Array
    aims: Sequence[Sequence[Any]] = ()
    criteria: Sequence[Criterion] = ()

    @property
    def targets(self) -> Sequence[Sequence[Any]]:
        """Per frame, checked and resolved."""
        are_velocities = [isinstance(task, VelocityTask) for task in self.tasks]
        if not any(are_velocities):
            return self.result.targets
        found = []
        for aims, poses in zip(self.aims, self.result.targets, strict=True):
            own = iter(poses)
            found.append(
                [aim if is_velocity else next(own) for aim, is_velocity in zip(aims, are_velocities, strict=True)]
            )
        return found


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
    limits: object = None,
    gravity: object = None,
    criteria: Sequence[Criterion] = (),
) -> OptimizedMotion:
    """The motion that meets the tasks at every frame with the least cost over all frames.

    It starts from `track` with the same arguments, and holds what that meets: tasks that are met stay met, frames that
    lack something lack no more, the limits on position, velocity and acceleration hold at every frame, and so at half
    frames. Wheels roll, and a `ClearanceTask` holds at frames and half frames. With q0 frame 0 stays where `track` has
    it; without, it is free. Local: another start may lead elsewhere.

    cost: "acceleration", "jerk", "kinetic_energy", "torque", "animation", "path_length" (of the tool), "criteria" (the
    integral of those given: potentials, and costs of velocities), "duration", {word: weight}, or a `MotionCost`. With
    "duration" the time is free: it starts at `dt`; the result's own `dt` is the best, the same between all frames.
    animation: (frames, nq) a motion to start from and, for the cost "animation", to stay near; inside the limits or
    not. targets: as of `track`; None with an animation: each task's own.
    limits: {"jerk", "power"}, each one number or (nv,).   gravity: (3,) [m/s^2] in the root frame: efforts keep their
    limits, at frames and half frames. They come before the tasks, which give way where both cannot hold. The cost
    "torque" has this gravity too, and without it the Earth's along -z.
    progress(done, most) is called after each step and while one is sought, anew for each level that the start misses;
    when it returns False, the best so far is returned, or with keep_best=False the start. The result is the start where
    nothing better is found; its `note` says so.
    Raises TaskError, ConfigurationError, UnknownNameError, ModelError, BackendError.
    """
    given = checked_tasks(tasks)
    counting = [bool(task.influence) for task in given]
    kept = [task for task, counts in zip(given, counting, strict=True) if counts]
    own_criteria = checked_criteria(criteria)
    bounds = MotionBounds.of(checked_model(model), limits, gravity)
    near = None if animation is None else Motion.of(model, dt * np.arange(len(_frames(animation))), animation).q
    aims = _targets(given, targets, near)
    own = [list(itertools.compress(frame, counting)) for frame in aims] if not all(counting) else aims
    start = start_near(model, kept, own, q0, dt, start_velocity, seed, backend, near)
    if motion_cost(cost, near, start.q).frees_time:
        for _ in range(SLOWER_STARTS):
            if not (start.codes == LATE).any():
                break
            dt *= SLOWER
            start = start_near(model, kept, own, q0, dt, start_velocity, seed, backend, near)
    checked = [[task.checked_target(aim) for task, aim in zip(kept, frame, strict=True)] for frame in own]
    frames = TrackedFrames(
        kept, start, np.tile([task.influence for task in kept], (len(start), 1)), checked, own_criteria
    )
    is_fixed = q0 is not None or near is not None
    steps = optimize_steps(model, [frames], cost, near, is_fixed, backend, keep_best, bounds, bounds.gravity)
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
    bounds: MotionBounds | None = None,
    gravity: Array | None = None,
) -> Generator[int, None, list[OptimizedMotion]]:
    """Yield the number of steps done; return the optimum of tracked frames that follow one another, part by part.

    gravity: (3,) [m/s^2] in the root frame, of the cost "torque"; the Earth's along -z unless given.
    `Stop`, thrown into it, ends it with the best so far.
    """
    first, dt = parts[0].result, parts[0].result.dt
    levels = [TaskLevels(model, part.tasks, backend) for part in parts]
    length = max([level.length for level in levels])
    grid = Discretization(model, dt, first.start_velocity, length, is_start_fixed, backend)
    start = DiscreteMotion(grid, np.concatenate([part.result.q for part in parts]))
    ends = np.cumsum([0, *(len(part.result) for part in parts)])
    segments = [
        TaskSegment(int(end), level, part.targets, part.influence)
        for end, level, part in zip(ends, levels, parts, strict=False)
    ]
    criteria = [(segment, part.criteria) for segment, part in zip(segments, parts, strict=True)]
    wanted = motion_cost(cost, animation, start.q, criteria, gravity)
    wanted.check(grid)
    own = [task_sources(grid, *pair) for pair in zip(segments, [None, *segments], strict=False)]
    limits = limit_sources(grid, bounds or MotionBounds())
    asked = MotionRows([*limits, *(source for sources in own for source in sources)])
    start = slow_enough(start, asked) if wanted.frees_time else start
    before = best = MotionOptimum(start, wanted.value(start), np.inf, asked.at(start), 0)
    there, reached, stopped = start, before, False
    try:
        for count, there in by_levels(asked, start):  # noqa: B007 - the last one counts
            yield count
        asked.hold(there)
        if there is not start:
            best = reached = MotionOptimum(there, wanted.value(there), np.inf, asked.at(there), 0)
        for now in with_last(optimise(there, asked, wanted)):
            best = better(best, now, reached)
            yield now.iterations
    except Stop:
        stopped = True
        if best is before and there is not start:
            best = MotionOptimum(there, wanted.value(there), np.inf, asked.at(there), 0)
        best = best if keep_best else before
    note = _note(best, reached, before, stopped)
    broken = [source.name for source in limits if source.name and source.is_lacking(best.trajectory)]
    if broken:
        note += f"; not kept everywhere: limits on {' and '.join(broken)}"
    names = [source.name for source in limits if source.name]
    return [
        _result(part, sources, best, before, slice(int(i), int(j)), note, names)
        for part, sources, i, j in zip(parts, own, ends[:-1], ends[1:], strict=True)
    ]


def _note(best: MotionOptimum, reached: MotionOptimum, before: MotionOptimum, stopped: bool) -> str:
    """reached: what the levels came to, from which the cost was made less."""
    nearer = "nearer to tasks and limits than tracked; " if reached is not before else ""
    if stopped:
        return "stopped: the best motion so far" if best is not before else "stopped: the motion is as tracked"
    if best.is_optimal:
        return f"{nearer}optimal: no motion nearby has less cost"
    if best is reached:
        return f"{nearer}no less cost was found" if nearer else "nothing better was found: the motion is as tracked"
    than = "better than tracked, but " if best.cost < before.cost else ""
    return f"{nearer}{than}not shown to be optimal (KKT residual {best.kkt:.1g})"


def _result(
    part: TrackedFrames,
    sources: Sequence[TaskSource | ClearanceRows],
    best: MotionOptimum,
    before: MotionOptimum,
    own: slice,
    note: str,
    limits: Sequence[str],
) -> OptimizedMotion:
    """The result of a part, whose frames are `own`. limits: those that come before tasks."""
    start = part.result
    codes, residuals, q = start.codes.copy(), start.residuals.copy(), start.q
    remarks = list(start.remarks) if start.remarks else [""] * len(codes)
    if best is not before:
        there = rolled(best.trajectory)
        residuals[...] = np.stack([source.residuals(there) for source in sources], axis=1) if sources else 0.0
        q = there.q[own]
    limit = tolerances(part.tasks)
    whole = part.influence >= 1.0
    met = (((residuals <= limit).all(axis=2)) | ~whole).all(axis=1) & (codes != EMPTY)
    codes[met] = CONVERGED
    gave_way = ~met & (codes == CONVERGED)
    codes[gave_way] = NOT_CONVERGED  # a limit or an obstacle came before it
    stopped: list[Callable[[], Diagnosis | None] | None] = list(start.stopped or [None] * len(codes))
    if limits:
        why = Diagnosis(Status.LIMIT, f"limits on {' and '.join(limits)} over the whole motion come before it")
        for frame in np.flatnonzero(gave_way).tolist():
            stopped[frame] = lambda: why
    for source in sources:
        if isinstance(source, ClearanceRows) and best is not before:
            for frame, near in source.nearest(best.trajectory).items():
                codes[frame], remarks[frame] = COLLIDED, near.sentence()
    fields = {name: getattr(start, name) for name in TrackResult.__dataclass_fields__}
    fields |= {
        "dt": best.trajectory.grid.dt,
        "codes": codes,
        "residuals": residuals,
        "q": q,
        "remarks": remarks,
        "stopped": stopped,
    }
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
