"""Which tasks the kernel's step makes the rows of, and how it is given those on the whole robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..robokin.model import RobotModel
from .influence import is_partial
from .tasks import FrameTask, Task
from .tasks.base import states_rows_of
from .tasks.robot_rows import ROBOT_ROW


def on_tip(task: Task) -> FrameTask | None:
    """The task on the pose of one tip whose rows the kernel makes for this one; None when there is none."""
    if is_partial(task.influence):
        return None
    same = task if isinstance(task, FrameTask) or not states_rows_of(type(task), "on_tip") else task.on_tip()
    return same if isinstance(same, FrameTask) and same.is_in_kernel else None


def is_on_robot(task: Task) -> bool:
    """Whether the kernel makes the rows of a task on the whole robot."""
    kind = type(task)
    is_known = kind.robot_rows is not Task.robot_rows and states_rows_of(kind, "robot_rows")
    return is_known and not is_partial(task.influence)


class RobotTask:
    """The rows of a task on the whole robot, the `number`-th of these, as the kernel takes them."""

    def __init__(self, model: RobotModel, task: Task, number: int, length: float) -> None:
        self._model, self._task, self._number = model, task, number
        self._size = np.array([1.0 / length if part.is_length else 1.0 for part in task.parts])
        self._target: Any = None
        self.rows = np.zeros(0, ROBOT_ROW)

    def aim(self, target: Any) -> None:
        if not self._task.influence or _same(target, self._target):
            return
        rows = self._task.robot_rows(self._model, target)
        assert rows is not None
        rows["weight"] *= self._size[rows["residual"]]
        rows["residual"] += 2 * self._number
        self._target, self.rows = target, rows


def _same(one: Any, other: Any) -> bool:
    """Whether checked targets, arrays or what holds arrays by name, say the same."""
    if one is other or type(one) is not type(other):
        return one is other
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and one.tobytes() == other.tobytes()
    own, others = (each if isinstance(each, Mapping) else vars(each) for each in (one, other))
    return list(own) == list(others) and all(_same(own[name], others[name]) for name in own)
