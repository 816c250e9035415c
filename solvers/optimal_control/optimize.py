"""The optimum of a whole motion: all its frames at once, from the frames that tracking found one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel, checked_model
from ..criteria import Criterion, checked_criteria
from ..motion.motion import Motion
from ..progress import finish
from ..results import part_names
from ..tasks import Task
from ..velocity.task_levels import TaskLevels, checked_tasks, tolerances
from .cost_words import motion_cost
from .costs import Acceleration, MotionCost, Weighted
from .discretization import DiscreteMotion, Discretization
from .free_time import SLOWER, SLOWER_STARTS, slow_enough
from .levels import better, by_levels, with_last
from .program import LocalProgram
from .result import OptimizedMotion, note_on, result_of
from .rows.limit_sources import MotionBounds, limit_sources
from .rows.motion_rows import MotionRows
from .rows.segments import TaskSegment
from .rows.task_sources import task_sources
from .soft_tasks import checked_soft, parted_sources
from .sqp import ITERATIONS, LARGEST_RESIDUAL, MotionOptimum, optimise
from .start import TrackedFrames, checked_influence, start_near

# What accelerations, or changes of them, cost, relative to all else, while a motion is hastened.
HASTE = 1e-2, 3e-3, *(10.0**-k for k in range(3, 11))
STILL = "the robot stands still, which may take any time: that stays as it is, and nothing is optimised"
MET = 1e-6  # [rad, L] what moves less stands
NEAR = 1e-3  # [rad, L] how large the residual of all frames may become where steps came to no end


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
    soft: object = None,
    influence: object = None,
) -> OptimizedMotion:
    """The motion that meets the tasks at every frame with the least cost over all frames.

    It starts from `track` with the same arguments, and holds what that meets: tasks that are met stay met, the norm of
    the residual of a missed frame grows by about a tenth of what counts as met (1e-6 rad, L) at most, but where others
    come to be met for it, the limits on position, velocity and acceleration hold at every frame, and so at half frames.
    Wheels roll, and a `ClearanceTask` holds at frames and half frames. With q0 frame 0 stays where `track` has it;
    without, it is free. Local: another start may lead elsewhere.

    cost: "acceleration", "jerk", "kinetic_energy", "torque", "animation", "path_length" (of the tool), "criteria" (the
    integral of those given: potentials, and costs of velocities), "duration", {word: weight}, or a `MotionCost`. With
    "duration" the time is free: it starts at `dt`; the result's own `dt` is the best, the same between all frames.
    soft: one weight per task. A task with a weight is soft: weight / 2 times the integral of its squared residual,
    in radians and lengths over L, is part of the cost, and it holds nothing. 0: it is hard.
    influence: (frames, tasks) in place of the tasks' own: at which frames, or over which stretches, each counts.
    animation: (frames, nq) a motion to start from and, for the cost "animation", to stay near; inside the limits or
    not. targets: as of `track`; None with an animation: each task's own.
    limits: {"jerk", "power"}, each one number or (nv,).   gravity: (3,) [m/s^2] in the root frame: efforts keep their
    limits, at frames and half frames. They come before the tasks, which give way where both cannot hold. The cost
    "torque" has this gravity too, and without it the Earth's along -z.
    progress(done, most) is called after each step and while one is sought, anew for each level that the start misses
    and where a search begins again; when it returns False, the best so far is returned, or with keep_best=False the
    start. The result is the start where nothing better is found; its `note` says so.
    Raises TaskError, ConfigurationError, UnknownNameError, ModelError, BackendError.
    """
    given = checked_tasks(tasks)
    weights = checked_soft(given, soft)
    counting = [bool(task.influence) for task in given]
    kept = [task for task, counts in zip(given, counting, strict=True) if counts]
    own_criteria = checked_criteria(criteria)
    bounds = MotionBounds.of(checked_model(model), limits, gravity)
    near = None if animation is None else Motion.of(model, dt * np.arange(len(_frames(animation))), animation).q
    aims = _targets(given, targets, near)
    own = [list(itertools.compress(frame, counting)) for frame in aims] if not all(counting) else aims
    shares = checked_influence(given, influence, len(aims))
    shares = None if shares is None else shares[:, counting]
    checked = [[task.checked_target(aim) for task, aim in zip(kept, frame, strict=True)] for frame in own]

    def tracked(dt: float) -> TrackedFrames:
        start = start_near(model, kept, own, q0, dt, start_velocity, seed, backend, near, shares)
        known = np.tile([task.influence for task in kept], (len(start), 1)) if shares is None else shares
        return TrackedFrames(kept, start, known, checked, own_criteria, list(itertools.compress(weights, counting)))

    frames = tracked(dt)
    if motion_cost(cost, near, frames.result.q).frees_time:
        for _ in range(SLOWER_STARTS):
            if not frames.is_late.any():
                break
            dt *= SLOWER
            frames = tracked(dt)
    is_fixed = q0 is not None or near is not None
    steps = optimize_steps(model, [frames], cost, near, is_fixed, backend, keep_best, bounds, bounds.gravity)
    result: Any
    (result,) = finish(until(steps, lambda done: progress is not None and progress(done, ITERATIONS) is False))
    if progress is not None:
        progress(ITERATIONS, ITERATIONS)
    return result if all(counting) else result.among(counting, part_names(given), tolerances(given))


class Stop(Exception):
    """Thrown into the steps of an optimisation that is to end with what it has."""


def until(
    steps: Generator[int, None, list[OptimizedMotion]], is_enough: Callable[[int], bool]
) -> Generator[int, None, list[OptimizedMotion]]:
    """The steps of an optimisation, which ends with what it has when that is enough after some of them."""
    try:
        count = next(steps)
        while True:
            yield count
            count = steps.throw(Stop) if is_enough(count) else next(steps)
    except StopIteration as ended:
        return ended.value


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
    hard, soft = parted_sources(own, parts)
    constraints = MotionRows([*limits, *hard])
    wanted = Weighted([(1.0, wanted), (1.0, soft)]) if soft.weights else wanted
    start = slow_enough(start, constraints) if wanted.frees_time else start
    before = best = MotionOptimum(start, wanted.value(start), np.inf, constraints.at(start), 0)
    there, reached, stopped, is_still = start, before, False, False
    try:
        for count, there in by_levels(constraints, start):  # noqa: B007 - the last one counts
            yield count
        is_met = not any(constraints.is_missed(there, level) for level in constraints.levels)
        constraints.hold(there)
        if there is not start:
            best = reached = MotionOptimum(there, wanted.value(there), np.inf, constraints.at(there), 0)
        is_still = wanted.frees_time and float(np.ptp(there.q, axis=0).max(initial=0.0)) <= MET
        if wanted.frees_time and not (is_still or soft.weights) and _may_stand(there, constraints):
            raise TaskError("duration: nothing bounds it: the robot can stand still and meet its tasks")
        # Where all is met each step is taken back to it: that is cheap, and needs fewer steps. Elsewhere it needs more,
        # and leads on where other steps come to no end, all the more when none goes far from what is held.
        has_run_out, before_it = False, 0
        for is_held, largest in [(True, LARGEST_RESIDUAL)] if is_met else [(False, LARGEST_RESIDUAL), (True, NEAR)]:
            if best.is_optimal or has_run_out or is_still:
                break
            search = _hastened if wanted.frees_time and not wanted.order else optimise
            for now in with_last(search(best.trajectory, constraints, wanted, is_held=is_held, largest=largest)):
                best = better(best, replace(now, iterations=before_it + now.iterations), reached)
                yield now.iterations
            has_run_out, before_it = now.iterations == ITERATIONS - 1, now.iterations
    except Stop:
        stopped = True
        if best is before and there is not start:
            best = MotionOptimum(there, wanted.value(there), np.inf, constraints.at(there), 0)
        best = best if keep_best else before
    note = STILL if is_still else note_on(best, reached, before, stopped)
    broken = [source.name for source in limits if source.name and source.is_missed(best.trajectory)]
    if broken:
        note += f"; not kept everywhere: limits on {' and '.join(broken)}"
    names = [source.name for source in limits if source.name]
    return [
        result_of(part, sources, best, before, slice(int(i), int(j)), note, names)
        for part, sources, i, j in zip(parts, own, ends[:-1], ends[1:], strict=True)
    ]


def _may_stand(here: DiscreteMotion, constraints: MotionRows) -> bool:
    """Whether the robot meets all that is asked for where it begins: the less time that takes, the less it costs."""
    still = DiscreteMotion(here.grid, np.repeat(here.q[:1], len(here.q), axis=0))
    return not any(source.is_missed(still) for source in constraints.sources)


def _hastened(
    start: DiscreteMotion, constraints: MotionRows, cost: MotionCost, **options: Any
) -> Generator[MotionOptimum, None, MotionOptimum]:
    """`optimise` a cost of a free time that hardly tells one motion from another that takes as long.

    Accelerations cost something too at first. Then what costs is how far they are from those of the motion before, and
    less and less: where nothing changes any more, that pulls at nothing, and the multipliers show the optimum of the
    cost alone (the proximal point method: Rockafellar, SIAM J. Control Optim. 14(5), 1976)."""
    here, guess, done = start, None, 0
    near: Array | float = 0.0
    for share in HASTE:
        gentle = Acceleration().value(here)
        if not gentle > 0.0:
            break
        both = Weighted([(1.0, cost), (share * cost.value(here) / gentle, Acceleration(near))])
        for now in with_last(optimise(here, constraints, both, ITERATIONS - done, guess=guess, **options)):
            yield replace(now, cost=cost.value(now.trajectory), kkt=np.inf, iterations=done + now.iterations)
        done += now.iterations
        if not now.is_optimal:
            break
        assert now.multipliers is not None  # a search ends with some
        here, guess, near = now.trajectory, now.multipliers, now.trajectory.changes
        kkt = LocalProgram.of(here, now.linearised, cost).kkt(now.multipliers)
        now = replace(now, cost=cost.value(here), kkt=kkt, iterations=done)
        if now.is_optimal:
            return now
        yield now
    for now in with_last(optimise(here, constraints, cost, max(ITERATIONS - done, 1), guess=guess, **options)):
        yield replace(now, iterations=done + now.iterations)
    return replace(now, iterations=done + now.iterations)


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
