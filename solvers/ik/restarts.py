"""Random poses of a robot inside its limits, how many and which, and tasks as the single-level solver knows them."""

from __future__ import annotations

import operator
from copy import copy

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.errors import TaskError
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel
from ..descent.data import compile_whole
from ..random_numbers import SplitMix64
from ..tasks import FrameTask, PinTask, Task
from ..tasks.tips.frame import is_plain_task
from .reference import restart


def known_task(task: Task) -> FrameTask | None:
    """The task as the kernel's solver knows it, when it does."""
    same = task.pose_task() if isinstance(task, PinTask) else task
    return same if same is not None and is_plain_task(same) and same.influence == 1.0 else None


def of_first_level(task: FrameTask) -> FrameTask:
    same = copy(task)
    same.priority = 1
    return same


class Restarts:
    """Random poses of a model inside limits. used: (nq,) bool, the coordinates that are drawn."""

    def __init__(self, model: RobotModel, limits: PositionLimits, used: Array) -> None:
        self._data = compile_whole(model, limits, used, 1.0)

    def drawn(self, start: Array, q: Array, generator: SplitMix64, partial: bool) -> Array:
        """(nq,) a restart; a partial one leaves some of q, where the last attempt ended, as it is."""
        return restart(self._data, start, q, generator, partial)


def checked_count(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value < 2**31:
        raise TaskError(f"{what} must be a whole number of at least 1, below 2^31, not {shown(value)}")
    return int(value)


def checked_seed(value: int) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TaskError(f"seed must be a whole number, not {shown(value)}") from None
