"""What a whole motion starts from: frames that were tracked one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from ..descent.engine import CONVERGED
from ..ik.problem import part_names
from ..tasks import PostureTask, Task
from ..tracking.result import EMPTY, TrackResult
from ..tracking.track import track
from ..tracking.tracker import Tracker
from ..velocity.task_levels import tolerances


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
    return start_near(model, (), [[]] * len(q), None, dt, None, 0, "auto", q)


def _without_last(model: RobotModel, tasks: Sequence[Task], found: TrackResult, dt: float, backend: str) -> TrackResult:
    """The result as one of all tasks but the last."""
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
