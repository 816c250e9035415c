"""Rows of tasks at a pose from the kernel: what `TaskLevels` states of those that it knows, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ..kinematics.state import State
from ..limits.viability import StepLimits
from ..qp.level import Level
from ..tasks import Rows
from ..tasks.influence import Remaining, blended
from ..tasks.native import whole_only
from .native import NativeStep
from .native_layout import NO_LEVELS, ExtraLevels
from .task_levels import TaskLevels

NOTHING: Mapping[int, Remaining] = MappingProxyType({})


class KernelLevels(NamedTuple):
    """closures, levels: of the loop closures and the tasks.   residuals: (tasks, 2).   rows: of the tasks that the
    kernel does not know."""

    closures: list[Level]
    levels: list[Level]
    residuals: Array
    rows: dict[int, Rows]


class KernelRows:
    """Not to be shared between threads."""

    def __init__(self, levels: TaskLevels) -> None:
        self.levels, self._still = levels, np.zeros(levels.model.nv)
        self._own = [task.influence for task in levels.tasks]
        self._make(set())

    def _make(self, others: set[int]) -> None:
        """others: tasks whose rows are to be made here, though the kernel knows them."""
        self._handed_over = others
        levels, limits = self.levels, StepLimits.of(self.levels.model, 1.0)
        self._step = NativeStep(
            levels.model, levels.tasks, levels, [], limits, levels.scale, 0.0, is_step=False, others=others
        )
        self._is_aimed, self._is_faded = False, False
        self._aims: tuple[object, ...] = (None, None, None)

    @classmethod
    def kept(cls, levels: TaskLevels) -> KernelRows:
        """The kernel's rows of these levels, made once. Raises BackendError without a kernel."""
        if cls not in levels.kept:
            levels.kept[cls] = cls(levels)
        return levels.kept[cls]

    def at(
        self,
        state: State,
        targets: Sequence[Any],
        remaining: Mapping[int, Remaining] = NOTHING,
        influence: Sequence[float] | None = None,
    ) -> KernelLevels | None:
        """influence: (tasks,), in place of the tasks' own.   remaining: what is not asked for, of each task of partial
        influence. None when the kernel does not take the configuration or the targets."""
        aims, shares = (targets, remaining, influence), self._own if influence is None else influence
        if any(one is not other for one, other in zip(aims, self._aims, strict=True)):
            self._aim(targets, remaining, shares)
            self._aims = aims
        if not self._is_aimed:
            return None
        levels, step = self.levels, self._step
        step.q[...], step.previous[...] = state.q, 0.0
        rows = {i: levels.rows_of(i, state, targets[i], shares[i]) for i in step.other_tasks}
        for i in rows.keys() & remaining.keys():
            rows[i] = blended(levels.tasks[i], rows[i], remaining[i])
        others = {i: [levels.level_of(i, state, own)] for i, own in rows.items()}
        found = step.rows(ExtraLevels(others=others) if others else NO_LEVELS)
        if found is None:
            return None
        closures = len(found[0]) - sum(levels.counts)
        residuals = np.zeros((len(levels.tasks), 2))
        residuals[step.native_tasks] = found[1]
        for i, own in rows.items():
            residuals[i] = levels.residuals_of(i, own, self._still, 1.0)
        known = found[0][:closures] if closures else [level for _, level in levels.closures(state, rows)]
        return KernelLevels(known, found[0][closures:], residuals, rows)

    def _aim(self, targets: Sequence[Any], remaining: Mapping[int, Remaining], influence: Sequence[float]) -> None:
        others = whole_only(self.levels.tasks, influence)
        if others != self._handed_over:
            self._make(others)
        self._is_aimed = self._step.aim(targets)
        fades = bool(remaining) or list(influence) != self._own
        if fades or self._is_faded:
            self._step.fade(influence, remaining)
        self._is_faded = fades


def task_equations(state: State) -> Array:
    """(m, nv) `State.task_rows`, but for their lengths: from the kernel, where that has as many, which is ten times as
    fast."""
    if get_backend(state.backend).name != "native":
        return state.task_rows
    if state.tasks not in state.kept:
        rows = KernelRows(TaskLevels(state.model, state.tasks, state.backend))
        state.kept[state.tasks] = rows, len(state.task_rows)
    rows, count = state.kept[state.tasks]
    known = rows.at(state, state.targets)
    if known is None or len(known.levels) != 1:
        return state.task_rows
    level = known.levels[0]
    found = level.J[level.lower == level.upper]
    return found if len(found) == count else state.task_rows
