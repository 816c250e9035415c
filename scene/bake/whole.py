"""A bake of a whole motion: all frames at once, from what was followed frame by frame."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...properties.task_kinds import KINDS
from ...robokin import RobotModel, TaskError, UnknownNameError, difference
from ...robokin.arrays import Array
from ...solvers import ClearanceTask, OptimizedMotion, PostureTask, Task
from ...solvers.optimal_control.optimize import optimize_steps, until
from ...solvers.optimal_control.soft_tasks import SoftTask
from ...solvers.optimal_control.sqp import ITERATIONS
from ...solvers.optimal_control.start import TrackedFrames
from ...solvers.progress import mapped
from ...solvers.tracking.avoidance.avoiding import tracker_of
from ...solvers.tracking.segments import Segment
from ..collisions import obstacle_placements
from ..tasks.ad_hoc import AdHocTask
from .choices import BakeChoices, WholeMotion
from .plans import BakedSegment

MOST = 10.0  # times as long as the scene has it is looked for a start that is in time
SLOWER = 1.5
MOST_SPARE = 128  # frames more at once for a motion that is in time, but not at whole frames
_SAME_FRAME = 1e-6  # frames
_CHUNK = 50  # frames that are followed between two looks at the keyboard


def whole_motion(
    model: RobotModel,
    parts: Sequence[BakedSegment],
    whole: WholeMotion,
    animation: Array | None,
    is_start_fixed: bool,
    gravity: Array | None = None,
) -> Generator[float, None, list[BakedSegment]]:
    """Yield the share of the steps done; return the parts with the frames of the optimum. animation: (n, nq) of the
    cost "animation".   gravity: (3,) in the root frame, of the cost "torque". Raises RobokinError."""
    tracked = [tracked_frames(part) for part in parts]
    cost, bounds = whole.cost, whole.bounds
    steps = optimize_steps(model, tracked, cost, animation, is_start_fixed, bounds=bounds, gravity=gravity)
    steps = until(steps, lambda _: whole.is_enough())
    results = yield from mapped(steps, lambda done: done / ITERATIONS)  # begins anew with each level that is missed
    return [replace(part, result=result) for part, result in zip(parts, results, strict=True)]


def tracked_frames(part: BakedSegment) -> TrackedFrames:
    """What the optimum of a whole motion starts from."""
    plan, segment = part.plan, part.plan.segment
    shares = np.ones((len(part.result), len(segment.tracker.tasks)))  # what links keep away from has no other
    shares[:, : part.influence.shape[1]] = part.influence
    return TrackedFrames(segment.tracker.tasks, part.result, shares, segment.targets, plan.criteria, plan.soft)


def soft_weights(
    tasks: Sequence[bpy.types.PropertyGroup], ad_hoc: Sequence[AdHocTask], given: Mapping[str, float]
) -> list[float]:
    """The weight of each task in a whole motion, then of each ad-hoc one, 0 where it is hard: the tasks' own, or by
    their names what is given. Raises UnknownNameError, TaskError."""
    names = [*(task.name for task in tasks), *(each.task.name for each in ad_hoc)]
    for name in given:
        if name not in names:
            raise UnknownNameError("task", name, names)
    hard = [KINDS[task.kind].is_hard for task in tasks] + [not each.task.priority for each in ad_hoc]
    own = [*(0.0 if KINDS[task.kind].is_hard else task.soft_weight for task in tasks), *(0.0 for _ in ad_hoc)]
    for name, is_hard in zip(names, hard, strict=True):
        if is_hard and given.get(name):
            raise TaskError(f"{name} comes before all tasks: it cannot be soft")
    return [given.get(name, weight) for name, weight in zip(names, own, strict=True)]


def soft_tasks(parts: Sequence[BakedSegment], names: Sequence[str], weights: Sequence[float]) -> list[SoftTask]:
    """Residuals of the soft tasks over all frames."""
    residuals = np.concatenate([part.residuals(len(names)) for part in parts])
    found = []
    for i in np.flatnonzero(weights).tolist():
        plans = [part.plan for part in parts if i in part.plan.counting]
        own = [plan.segment.tracker.tasks[plan.counting.index(i)] for plan in plans]
        if own:
            found.append(SoftTask.of(names[i], weights[i], own[0].parts, residuals[:, i]))
    return found


def whole_note(parts: Sequence[BakedSegment], settled: object | None = None) -> str:
    """One line on what the cost came to. settled: the cost in the time that was found, where that was free."""
    found = parts[0].result
    assert isinstance(found, OptimizedMotion)
    words = ", ".join(settled if isinstance(settled, Mapping) else [str(settled)]).replace("_", " ")
    what = "cost" if settled is None else f"in that time cost of {words}"
    return f"{what} {found.cost_before:.4g} to {found.cost_after:.4g}; {found.note}"


def time_note(choices: BakeChoices, dt: float) -> str:
    """How long a motion takes [s] whose time was free, and what the range gave; "" where it is that. dt: [s] from a
    frame of the scene to the next."""
    taken, given = (dt * (each[-1] - each[0]) for each in (choices.frames, choices.read_at))
    return "" if choices.stretch == 1.0 else f"it takes {taken:.3g} s in place of {given:.3g} s"


def longer(choices: BakeChoices) -> BakeChoices:
    """What to look at next where the time is free and what is followed is late."""
    frames, moments = frames_in_time(choices.frames, choices.read_at, SLOWER)
    return replace(choices, frames=frames, moments=moments)


def in_time(choices: BakeChoices, whole: WholeMotion, stretch: float, spare: int) -> BakeChoices:
    """What to bake next where the time was free: a motion that takes `stretch` times as long and keeps that time, or as
    many frames more as `spare` says. Its targets are those of now, evenly spread."""
    frames, moments = frames_in_time(choices.frames, choices.read_at, stretch)
    whole = replace(whole, cost=whole.timed_cost)
    return replace(choices, frames=frames, moments=moments, whole=whole, spare=spare)


def with_spare_frames(choices: BakeChoices) -> BakeChoices:
    """What to bake next where a motion is late in whole frames, at which its targets turn more sharply than the frames
    before had it."""
    steps = len(choices.frames) - 1
    frames, moments = frames_in_time(choices.frames, choices.read_at, (steps + choices.spare) / steps)
    spare = 2 * choices.spare if choices.spare < MOST_SPARE else 0
    return replace(choices, frames=frames, moments=moments, spare=spare)


def frames_in_time(frames: Sequence[int], moments: Sequence[float], stretch: float) -> tuple[range, list[float]]:
    """The frames of a motion that takes `stretch` times as long, rounded up to whole steps, and at which moments of the
    scene, evenly spread over those of now, their targets are."""
    step = int(frames[1] - frames[0]) if len(frames) > 1 else 1
    count = max(int(np.ceil((len(frames) - 1) * stretch - _SAME_FRAME)), min(len(frames) - 1, 1)) + 1
    own = range(frames[0], frames[0] + count * step, step)
    return own, np.linspace(moments[0], moments[-1], count).tolist()


def is_too_fast(tracked: Iterable[TrackedFrames], choices: BakeChoices) -> bool:
    """Whether frames are late that more time may help."""
    frames, span = choices.frames, choices.read_at[-1] - choices.read_at[0]
    return any(each.is_late.any() for each in tracked) and frames[-1] - frames[0] < MOST * span


def rest_segment(
    model: RobotModel, q: Array, count: int, dt: float, clearance: ClearanceTask | None, seen: int
) -> Segment:
    """`count` frames at which a robot is to stand at q (nq,), and to keep away from obstacles where they are at the
    last frame of those seen; dt [s] between two."""
    apart: Sequence[Task] = () if clearance is None else (clearance,)
    tracker = tracker_of(model, [*apart, PostureTask(q, priority=len(apart) + 1)], dt)
    placed = [] if clearance is None else [obstacle_placements(clearance.collisions, seen)[-1]]
    return Segment(tracker, tracker.check_targets([[*placed, q]] * count))


def come_to_rest(segment: Segment, Q: Array, dt: float) -> Generator[float, None, Array]:
    """Yield the share done (0..1) now and then; return (n, nq) the frames of a `rest_segment` after Q (frames, nq):
    the robot brakes inside its limits on positions, velocities and accelerations, comes back to the last frame, and
    stands there."""
    v = difference(segment.tracker.model, Q[-2], Q[-1]) / dt if len(Q) > 1 else None
    segment.stand(Q[-1], v)
    rows = [np.empty((0, Q.shape[1]))]
    for first in range(0, len(segment), _CHUNK):
        yield first / len(segment)
        rows.append(segment.run(first, min(first + _CHUNK, len(segment))).q)
    return np.concatenate(rows)
