"""Following tasks in levels frame by frame, in NumPy. Twin of `native_stack.NativeLevelTracking`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .criteria import Criterion, combine
from .descent import LevelRows
from .ik_data import IKData, compile_whole
from .influence import Left
from .level_rows import Preference, StackRows
from .task_levels import TaskLevels
from .tracking_reference import ReferenceTracking, TrackLimits, TrackOutcome
from .viability import StepLimits

Array = np.ndarray


class LevelTracking(ReferenceTracking):
    """Frames from where the last one ended.

    fading: tasks of partial influence, of which a call says how much.
    state: (2 nq + nv + 1,) q, the goal, the step that led to q, and whether it is late (0 or 1).
    """

    def __init__(
        self, levels: TaskLevels, criteria: Sequence[Criterion], limits: StepLimits, fading: Sequence[int] = ()
    ) -> None:
        model = levels.model
        self.levels, self.criteria, self.dt = levels, tuple(criteria), limits.dt
        self._influence: Sequence[float] = np.ones(len(levels.tasks)).tolist()
        self._left: Mapping[int, Left] = {}
        data = compile_whole(model, model.limits, np.zeros(model.nq, bool), levels.length)
        self._scale = levels.state(model.neutral(), levels.targets, limits.dt).scale
        super().__init__(data, (), TrackLimits.of_all(limits))

    @property
    def state(self) -> Array:
        return np.concatenate((self._q, self._goal, self.step, [float(self._late)]))

    @state.setter
    def state(self, state: Array) -> None:
        nq = self.levels.model.nq
        self._q, self._goal, self.step = state[:nq].copy(), state[nq : 2 * nq].copy(), state[2 * nq : -1].copy()
        self._late = bool(state[-1])

    def run(
        self,
        frames: Sequence[Sequence[Any]],
        influence: Sequence[float] | None = None,
        left: Mapping[int, Left] | None = None,
    ) -> TrackOutcome:
        """frames: checked targets of each. residuals: of all tasks, in their order.   influence: (tasks,) in place of
        1, left: what is not asked for of their rows, in these frames."""
        model, count = self.levels.model, len(frames)
        self._influence, self._left = influence or np.ones(len(self.levels.tasks)).tolist(), left or {}
        outcome = TrackOutcome(
            np.zeros(count, np.int32),
            np.zeros((count, model.nq)),
            np.zeros((count, len(self.levels.tasks), 2)),
            np.zeros(count, np.int32),
            np.zeros((count, model.nv), np.int8),
        )
        return self._run(frames, outcome)

    def _rows(self, targets: Any, data: IKData) -> LevelRows:
        return StackRows(self.levels, data, targets, self._influence, self._left, self.dt, self._q)

    def _reachable(self, targets: Any) -> bool:
        return True  # what follows asks the tasks

    def _preference(self, targets: Any) -> Preference | None:
        if not self.criteria:
            return None
        state = self.levels.state(self._q, targets, self.dt, self.step / self.dt, self._influence)
        H, g = combine(self.criteria, state)
        return Preference(self._scale[:, None] * H * self._scale, self._scale * g * self.dt, self._q)
