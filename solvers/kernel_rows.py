"""Rows of tasks at a pose from the kernel: what `TaskLevels` states of those that it knows, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .level import Level
from .native_step import NativeStep
from .state import State
from .task_levels import TaskLevels
from .tasks import Rows
from .viability import StepLimits

Array = np.ndarray


class KernelRows:
    """Not to be shared between threads."""

    def __init__(self, levels: TaskLevels) -> None:
        limits = StepLimits.of(levels.model, 1.0)
        scale = levels.state(levels.model.neutral(), levels.targets, 1.0).scale
        self.levels = levels
        self._step = NativeStep(levels.model, levels.tasks, levels, [], limits, scale, 0.0)
        self._aims: Sequence[Any] | None = None
        self._still = np.zeros(levels.model.nv)

    def at(self, state: State, targets: Sequence[Any]) -> tuple[list[Level], Array, dict[int, Rows]] | None:
        """The levels of tasks, residuals (tasks, 2), and the rows of the tasks that the kernel does not know; None when
        it does not take the configuration."""
        levels, step = self.levels, self._step
        if targets is not self._aims:
            step.aim(targets)
            self._aims = targets
        step.q[...], step.previous[...] = state.q, 0.0
        rows = {i: levels.rows_of(i, state, targets[i]) for i in step.other_tasks}
        found = step.rows({i: [levels.level_of(i, state, own)] for i, own in rows.items()})
        if found is None:
            return None
        residuals = np.zeros((len(levels.tasks), 2))
        residuals[step.native_tasks] = found[1]
        for i, own in rows.items():
            residuals[i] = levels.residuals_of(i, own, self._still, 1.0)
        return found[0], residuals, rows
