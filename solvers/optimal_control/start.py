"""What a whole motion starts from: frames that were tracked one by one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ..criteria import Criterion
from ..descent.engine import CONVERGED
from ..progress import finish, mapped
from ..results import part_names
from ..tasks import PostureTask, Task
from ..tasks.influence import checked_shares
from ..tasks.protocols import VelocityTask
from ..tracking.avoidance.avoiding import tracker_of
from ..tracking.data import LATE
from ..tracking.precedence.best_start import follow_in_order_from_best
from ..tracking.precedence.standing_aside import follow_in_order
from ..tracking.result import EMPTY, TrackResult, joined
from ..tracking.segments import Segment
from ..tracking.track import track
from ..tracking.tracker import Tracker
from ..velocity.task_levels import tolerances


@dataclass(frozen=True, eq=False)
class TrackedFrames:
    """Frames in a row that were tracked with the same tasks. tasks: those that the result is of.   aims: per frame
    their checked targets; only those of velocities are looked at, of others the result has them.   criteria: what the
    cost "criteria" integrates.   soft: the weight of each task, 0 where it is hard; empty: all are hard."""

    tasks: Sequence[Task]
    result: TrackResult
    influence: Array
    aims: Sequence[Sequence[Any]] = ()
    criteria: Sequence[Criterion] = ()
    soft: Sequence[float] = ()

    @property
    def is_hard(self) -> Array:
        """(tasks,) bool"""
        return np.equal(self.soft, 0.0) if len(self.soft) else np.ones(len(self.tasks), bool)

    @property
    def is_late(self) -> Array:
        """(frames,) bool: limits on speeds hold back a hard task."""
        over = (self.result.residuals > tolerances(self.tasks)).any(axis=2) & (self.influence >= 1.0)
        return (self.result.codes == LATE) & over[:, self.is_hard].any(axis=1)

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


def start_near(
    model: RobotModel,
    tasks: Sequence[Task],
    aims: Sequence[Sequence[Any]],
    q0: Array | None,
    dt: float,
    start_velocity: object | None,
    seed: int,
    backend: str,
    near: Array | None,
    influence: Array | None = None,
) -> TrackResult:
    """The frames one by one; near an animation where the tasks leave it free. influence: (frames, tasks) in place of
    the tasks' own."""
    if near is None:
        return _tracked(model, tasks, aims, q0, dt, start_velocity, seed, backend, influence)
    last = max((task.priority for task in tasks), default=0) + 1
    posture = PostureTask(near[0], priority=last)
    both = [[*aim, q] for aim, q in zip(aims, near, strict=True)]
    shares = None if influence is None else np.hstack((influence, np.ones((len(both), 1))))
    q = near[0] if q0 is None else q0
    found = _tracked(model, [*tasks, posture], both, q, dt, start_velocity, seed, backend, shares)
    return _without_last(model, tasks, found, dt, backend, influence)


def checked_influence(tasks: Sequence[Task], influence: object, frames: int) -> Array | None:
    """(frames, tasks), None where it is the tasks' own. Raises TaskError."""
    if influence is None:
        return None
    try:
        rows = list(influence)  # type: ignore[call-overload]
    except TypeError:
        raise TaskError("influence must be one number per task for each frame, (frames, tasks)") from None
    if len(rows) != frames:
        raise TaskError(f"there are {frames} frames but influences of {len(rows)}")
    return np.array([checked_shares(tasks, row) for row in rows]).reshape(frames, len(tasks))


def _tracked(
    model: RobotModel,
    tasks: Sequence[Task],
    aims: Sequence[Sequence[Any]],
    q0: Array | None,
    dt: float,
    start_velocity: object | None,
    seed: int,
    backend: str,
    influence: Array | None,
) -> TrackResult:
    """`track`, with an influence at each frame."""
    if influence is None:
        return track(model, tasks, aims, q0, dt, start_velocity, seed, backend)
    tracker = tracker_of(model, tasks, dt, backend)
    tracker.let_fade()
    segments = [Segment(tracker, tracker.check_targets(aims), influence)]
    if q0 is None:
        middle = model.limits.middle(model.neutral())
        return joined(finish(follow_in_order_from_best(segments, middle, "mid-range", start_velocity, seed)).results)
    return joined(finish(follow_in_order(segments, q0, start_velocity, seed)))


def near_animation(model: RobotModel, q: Array, dt: float) -> Generator[float, None, TrackResult]:
    """Yield the share of the frames done; return frames that follow an animation q (F, nq) inside the limits, from
    rest, without any other task."""
    tracker = tracker_of(model, [PostureTask(q[0])], dt)
    segment = Segment(tracker, tracker.check_targets([[each] for each in q]))
    steps = follow_in_order([segment], q[0])
    results = yield from mapped(steps, lambda done: sum(map(len, done)) / len(q))
    return _without_last(model, (), joined(results), dt, "auto")


def _without_last(
    model: RobotModel,
    tasks: Sequence[Task],
    found: TrackResult,
    dt: float,
    backend: str,
    influence: Array | None = None,
) -> TrackResult:
    """The result as one of all tasks but the last."""
    residuals = found.residuals[:, :-1]
    is_within = (residuals <= tolerances(tasks)).all(axis=2)
    met = (is_within if influence is None else is_within | (influence < 1.0)).all(axis=1)
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
