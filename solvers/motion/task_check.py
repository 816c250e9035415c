"""What tasks of any kind are left with in a motion."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.configuration import difference
from ...robokin.errors import TaskError
from ..tasks import Task
from ..tasks.protocols import Displacement, VelocityTask, advance_target, resolve_target
from ..velocity.task_levels import TaskLevels
from .motion import Motion

_CHUNK = 16  # frames between two reports of progress


def motion_targets(levels: TaskLevels, targets: object | None, motion: Motion) -> list[list[Any]]:
    """Per frame, the checked targets; each task's own for None. What is counted from the start starts at frame 0.

    Raises TaskError.
    """
    try:
        frames = [None] * len(motion) if targets is None else list(targets)  # type: ignore[call-overload]
    except TypeError:
        raise TaskError(f"targets must be a list for each frame, not {shown(targets)}") from None
    if len(frames) != len(motion):
        raise TaskError(f"there are {len(motion)} frames but targets of {len(frames)}")
    checked = [levels.checked_targets(each) for each in frames]
    if not checked:
        return []
    start = levels.state(motion.q[0], checked[0], 1.0)
    started = [
        [resolve_target(task, start, own) for task, own in zip(levels.tasks, each, strict=True)] for each in checked
    ]
    followed = [
        [advance_target(task, own, last) for task, own, last in zip(levels.tasks, each, before, strict=True)]
        for before, each in pairwise(started)
    ]
    return [started[0], *followed]


def motion_residuals(
    levels: TaskLevels, targets: Sequence[Sequence[Any]], motion: Motion
) -> Generator[float, None, Array]:
    """Yield the share of the frames done now and then; return (F, tasks, 2) residuals of the parts of each task; of a
    velocity, since the frame before (0 at the first) as in tracking."""
    found = np.zeros((len(motion), len(levels.tasks), 2))
    still = np.zeros(motion.model.nv)
    for frame, wanted in enumerate(targets):
        here = levels.state(motion.q[frame], wanted, 1.0)
        for i, task in enumerate(levels.tasks):
            if not isinstance(task, VelocityTask):
                found[frame, i] = levels.residuals_of(i, levels.rows_of(i, here, wanted[i]), still, 1.0)
            elif frame:
                dt = float(motion.times[frame] - motion.times[frame - 1])
                before = levels.state(motion.q[frame - 1], wanted, dt)
                displacement = difference(motion.model, motion.q[frame - 1], motion.q[frame])
                moved = Displacement(before, before.at(motion.q[frame]), displacement)
                found[frame, i] = levels.residuals_of(i, levels.rows_of(i, moved, wanted[i]), still, dt)
        if frame % _CHUNK == 0:
            yield frame / len(motion)
    return found


def poses_of(tasks: Sequence[Task]) -> list[int]:
    """Indices of the tasks that ask for a pose."""
    return [i for i, task in enumerate(tasks) if not isinstance(task, VelocityTask)]
