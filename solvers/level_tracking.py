"""Following tasks in levels frame by frame, in NumPy. Twin of `native_stack.NativeLevelTracking`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .criteria import Criterion, combine
from .descent import LevelRows
from .ik_data import IKData, compile_whole
from .level_rows import Preference, StackRows
from .task_levels import TaskLevels
from .tracking_reference import ReferenceTracking, TrackLimits, TrackOutcome
from .viability import StepLimits

Array = np.ndarray


class LevelTracking(ReferenceTracking):
    """Frames from where the last one ended. influence: (tasks,), all of them 1."""

    def __init__(
        self, levels: TaskLevels, criteria: Sequence[Criterion], influence: Sequence[float], limits: StepLimits
    ) -> None:
        model = levels.model
        self.levels, self.criteria, self.influence, self.dt = levels, tuple(criteria), influence, limits.dt
        data = compile_whole(model, model.limits, np.zeros(model.nq, bool), levels.length)
        self._scale = levels.state(model.neutral(), levels.targets, limits.dt).scale
        super().__init__(data, (), TrackLimits.of_all(limits))

    @property
    def q(self) -> Array:
        return self._q

    def stand(self, q: Array, step: Array, late: int = 0) -> None:
        """Continue from q (nq,), inside the limits, reached by `step` (nv,)."""
        super().stand(q, step, late)

    def run(self, frames: Sequence[Sequence[Any]]) -> TrackOutcome:
        """frames: checked targets of each. residuals: of all tasks, in their order."""
        model, count = self.levels.model, len(frames)
        outcome = TrackOutcome(
            np.zeros(count, np.int32),
            np.zeros((count, model.nq)),
            np.zeros((count, len(self.levels.tasks), 2)),
            np.zeros(count, np.int32),
            np.zeros((count, model.nv), np.int8),
        )
        return self._run(frames, outcome)

    def _rows(self, targets: Any, data: IKData) -> LevelRows:
        return StackRows(self.levels, data, targets, self.influence, dt=self.dt)

    def _reachable(self, targets: Any) -> bool:
        return True  # what follows asks the tasks

    def _preference(self, targets: Any) -> Preference | None:
        if not self.criteria:
            return None
        state = self.levels.state(self._q, targets, self.dt, self.step / self.dt, self.influence)
        H, g = combine(self.criteria, state)
        return Preference(self._scale[:, None] * H * self._scale, self._scale * g * self.dt, self._q)
