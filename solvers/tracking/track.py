"""Tracking: following moving targets frame by frame, continuously and inside all limits at every frame."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.model.robot import RobotModel
from ..criteria import Criterion, checked_criteria
from ..results import part_names
from ..tasks import Task
from ..velocity.recent_problems import RecentProblems
from ..velocity.task_levels import checked_tasks, tolerances
from .avoidance.avoiding import tracker_of
from .data import sets_of
from .precedence.best_start import follow_in_order_from_best
from .precedence.standing_aside import follow_in_order
from .result import TrackResult, joined
from .starts import Segment
from .tracker import Tracker


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

    A target is what its task takes; of a task on a tip also (4, 4).

    The first frame is solved from `q0` (nq,) and from restarts drawn from `seed`; every other frame follows from the
    one before, without restarts. Without q0 a start is chosen from which every frame can be met, or else the most
    (`starts.follow_from_best`, mid-range first). At every frame position, velocity and acceleration limits
    hold, with v_k = (q_k - q_{k-1}) / dt on the manifold, a_k = (v_k - v_{k-1}) / dt and v_0 = `start_velocity` (nv,),
    0 unless given; what of it cannot be braked in time is taken off. Targets too fast for that are followed as nearly
    as the limits allow, and caught up with. Coordinates that no task depends on keep their start value.
    progress(done, frames) is called now and then, anew for every start tried; when it returns False the result ends
    there. Time is linear in the frames. What was compiled for the last calls of a thread is kept, with their models.
    Raises TaskError, ConfigurationError, UnknownNameError, BackendError.
    """
    given = checked_tasks(tasks)
    counting = [bool(task.influence) for task in given]
    if any(counting) and not all(counting):
        kept = [task for task in given if task.influence]
        own_aims = [list(itertools.compress(frame, counting)) for frame in sets_of(targets, len(given))]
        found = track(model, kept, own_aims, q0, dt, start_velocity, seed, backend, progress, criteria)
        return found.among(counting, part_names(given), tolerances(given))

    others = get_backend(backend).name, dt, [task.target for task in given]
    recent = _recent.take(model, given, checked_criteria(criteria), *others)
    tracker = recent.problem
    segments = [Segment(tracker, tracker.check_targets(targets))]
    frames = len(segments[0])
    steps: Generator[list[TrackResult], None, Any]
    if q0 is None:
        middle = model.limits.middle(model.neutral())
        steps = follow_in_order_from_best(segments, middle, "mid-range", start_velocity, seed)
    else:
        steps = follow_in_order(segments, q0, start_velocity, seed)
    while True:
        try:
            parts = next(steps)
        except StopIteration as ended:
            parts = ended.value.results if q0 is None else ended.value
            break
        if progress is not None and progress(sum(map(len, parts)), frames) is False:
            return joined(parts)
    _recent.give_back(recent)
    if progress is not None:
        progress(frames, frames)
    return joined(parts)


_recent: RecentProblems[Tracker] = RecentProblems(
    lambda model, tasks, criteria, backend, dt, _: tracker_of(model, tasks, dt, backend, criteria)
)
