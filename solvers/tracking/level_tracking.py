"""Following tasks in levels frame by frame, in NumPy. Twin of `native_level_tracking.NativeLevelTracking`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ..criteria import Criterion, combine
from ..criteria.base import time_to_optimum
from ..descent.data import IKData, compile_whole
from ..descent.descent import LevelRows
from ..descent.level_rows import Preference, StackRows
from ..limits.viability import StepLimits
from ..tasks.clearance import clearances_of
from ..tasks.influence import Remaining
from ..tasks.native import same_target
from ..velocity.task_levels import TaskLevels
from .data import TrackOutcome
from .reference.tracking import ReferenceTracking


class LevelTracking(ReferenceTracking):
    """Frames from where the last one ended."""

    def __init__(self, levels: TaskLevels, criteria: Sequence[Criterion], limits: StepLimits) -> None:
        model = levels.model
        self.levels, self.criteria, self.dt = levels, tuple(criteria), limits.dt
        self.lasting = time_to_optimum(criteria) / limits.dt
        self._influence: Sequence[float] = np.ones(len(levels.tasks)).tolist()
        self._remaining: Mapping[int, Remaining] = {}
        data = compile_whole(model, model.limits, np.zeros(model.nq, bool), levels.length)
        self._clearances = clearances_of(levels.tasks)
        self.keeps_clear = bool(self._clearances)
        self._scale = levels.scale
        super().__init__(data, (), limits, len(levels.groups))

    def run(
        self,
        frames: Sequence[Sequence[Any]],
        influence: Sequence[float] | None = None,
        remaining: Mapping[int, Remaining] | None = None,
    ) -> TrackOutcome:
        """frames: checked targets of each. residuals: of all tasks, in their order.   influence: (tasks,) in place of
        1, left: what is not asked for of their rows, in these frames."""
        model, count = self.levels.model, len(self.levels.tasks)
        self._influence, self._remaining = influence or np.ones(count).tolist(), remaining or {}
        return self._run(frames, TrackOutcome.empty(len(frames), count, model.nq, model.nv))

    def rows(self, targets: Any, data: IKData) -> LevelRows:
        return StackRows(self.levels, data, targets, self._influence, self._remaining, self.dt, self.q)

    def _obstacles_stay(self, before: Any, targets: Any) -> bool:
        return all(same_target(before[i], targets[i]) for i in self._clearances)

    def _reachable(self, targets: Any) -> bool:
        return True  # what follows asks the tasks

    def preference(self, targets: Any, q: Array) -> Preference | None:
        if not self.criteria:
            return None
        state = self.levels.state(q, targets, self.dt, self.step / self.dt, self._influence)
        H, g = combine(self.criteria, state)
        return Preference(self._scale[:, None] * H * self._scale, self._scale * g * self.dt, self.q)
