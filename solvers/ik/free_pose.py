"""Poses among obstacles that are in no way are those without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...robokin.arrays import Array
from ..tasks import Task
from ..tasks.clearance import ClearanceTask
from .tip_ik import TipIK


class FreePose:
    """The pose without clearances, where the other tasks are on tips. some_tasks: the problem of tasks by numbers."""

    def __init__(self, tasks: Sequence[Task], some_tasks: Callable[[Sequence[int]], Any]) -> None:
        self._clearances = [(i, task) for i, task in enumerate(tasks) if isinstance(task, ClearanceTask)]
        self._beside = [i for i, task in enumerate(tasks) if not isinstance(task, ClearanceTask)]
        other = some_tasks(self._beside) if self._clearances and self._beside else None
        self._problem = other if other and isinstance(other.search, TipIK) else None

    def start(self, targets: Sequence[Any], start: Array, seed: int) -> tuple[Array, int]:
        """Where a search from `start` (nq,) begins, the pose without clearances where that is free; the iterations
        that it took."""
        if self._problem is None:
            return start, 0
        free = self._problem.solve([targets[i] for i in self._beside], start, seed, diagnose=False)
        is_free = free.converged and all(task.nearest(free.q, targets[i]) is None for i, task in self._clearances)
        return free.q if is_free else start, free.iterations
