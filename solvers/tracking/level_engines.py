"""The trackers of tasks in levels: one for each set of them that counts, since tasks fade and tasks end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ..criteria import Criterion
from ..limits.viability import StepLimits
from ..tasks import PostureTask, Task
from ..tasks.influence import Remaining, is_partial, remaining_of
from ..tasks.protocols import VelocityTask
from ..velocity.task_levels import TaskLevels
from .data import TrackOutcome
from .level_tracking import LevelTracking
from .native_level_tracking import NativeLevelTracking

Key = tuple[tuple[int, ...], tuple[int, ...]]
"""The tasks that count, and those of them that fade, by their number among them."""


class LevelEngines:
    """A state is as of an engine (`reference/tracking.py`), of all degrees of freedom and all levels."""

    def __init__(self, levels: TaskLevels, criteria: Sequence[Criterion], limits: StepLimits, backend: str) -> None:
        self.levels, self._criteria, self._limits, self._backend = levels, criteria, limits, backend
        self._count, self._nq, self._nv = len(levels.groups), levels.model.nq, levels.model.nv
        self._engines: dict[Key, tuple[Any, list[int]]] = {}  # with the levels that theirs are of all
        self._ended: dict[Key, Array] = {}  # the states that they led to last

    def run(
        self,
        wanted: Sequence[Sequence[Any]],
        shares: Array,
        remaining: Mapping[int, Remaining],
        state: Array,
        noted: Sequence[Any] | None,
        near: Array | None = None,
    ) -> tuple[TrackOutcome, Array]:
        """Frames from a state on, and the state that they lead to. wanted: checked targets of all tasks, per frame.
        shares: (tasks,) influences.   remaining: what is not asked for, of tasks that fade.
        noted: the targets that the state was found for, where that is known.   near: (frames, nq) what the robot stays
        near to in what all tasks leave free."""
        if near is not None:
            return self._run_near(wanted, shares, remaining, state, near)
        values = shares.tolist()
        counting = [i for i, share in enumerate(values) if share]
        key = tuple(counting), tuple(k for k, i in enumerate(counting) if is_partial(values[i]))
        if key not in self._engines:
            engine = self._made(counting)
            self._engines[key] = engine, self._numbers_of(engine.levels, counting)
        engine, own_levels = self._engines[key]
        if self._ended.get(key) is not state:
            engine.state = self._part(state, own_levels)
            engine.note(None if noted is None else [noted[i] for i in counting])
        numbers = {i: k for k, i in enumerate(counting)}
        aims = wanted if len(counting) == len(values) else [[own[i] for i in counting] for own in wanted]
        outcome = engine.run(aims, [values[i] for i in counting], {numbers[i]: own for i, own in remaining.items()})
        self._ended[key] = self._whole(engine.state, own_levels)
        return outcome, self._ended[key]

    def _run_near(
        self,
        wanted: Sequence[Sequence[Any]],
        shares: Array,
        remaining: Mapping[int, Remaining],
        state: Array,
        near: Array,
    ) -> tuple[TrackOutcome, Array]:
        """With a posture as the last level, whose goal the state has not."""
        nv, nq = self._nv, self._nq
        state = np.concatenate((state[: -2 - nv], state[:nq], [np.inf, np.inf, 0.0], state[-2 - nv :]))
        state[-2] += state[-2] > 0.0
        aims = [[*own, q] for own, q in zip(wanted, near, strict=True)]
        outcome, end = self._with_posture.run(aims, np.append(shares, 1.0), remaining, state, None)
        end = np.concatenate((end[: -5 - nv - nq], end[-2 - nv :]))
        end[-2] = max(end[-2] - 1.0, 0.0)
        return replace(outcome, residuals=outcome.residuals[:, :-1]), end

    @cached_property
    def _with_posture(self) -> LevelEngines:
        tasks = self.levels.tasks
        last = PostureTask(self.levels.model.neutral(), priority=1 + max(task.priority for task in tasks))
        levels = TaskLevels(self.levels.model, [*tasks, last], self._backend)
        return LevelEngines(levels, self._criteria, self._limits, self._backend)

    def remaining(
        self,
        wanted: Sequence[Any],
        shares: Array,
        state: Array,
        without: Mapping[Task | None, Array],
        noted: Sequence[Any] | None,
    ) -> tuple[dict[int, Remaining], dict[Task | None, Array], int]:
        """Residuals that tasks of partial influence keep in a frame, the states of the motions without each, of several
        without all (None) too, and the steps that it took to tell. without: these states of the frame before, `state`
        where there is none."""
        fading = [i for i, share in enumerate(shares.tolist()) if is_partial(share)]
        before = {i: without.get(self.levels.tasks[i], state) for i in fading}
        remaining: dict[int, Remaining] = {}
        others: dict[int, Remaining] = {}
        states: dict[Task | None, Array] = {}
        count = 0
        if len(fading) > 1:  # each is judged beside the others, which are so far on their way from without all of them
            known = [before[i] for i in fading if self.levels.tasks[i] in without]
            base = without.get(None, known[0] if known else state)
            whole = np.where(shares < 1.0, 0.0, shares)
            outcome, states[None] = self.run([wanted], whole, {}, base, noted if base is state else None)
            others = {i: self.remaining_of(i, states[None], wanted, shares, base) for i in fading}
            count += int(outcome.iterations[0])
        for i in fading:
            fewer = np.where(np.arange(len(shares)) == i, 0.0, shares)
            around = {k: own for k, own in others.items() if k != i}
            outcome, end = self.run([wanted], fewer, around, before[i], noted if before[i] is state else None)
            remaining[i] = self.remaining_of(i, end, wanted, shares, before[i])
            states[self.levels.tasks[i]] = end
            count += int(outcome.iterations[0])
        return remaining, states, count

    def remaining_of(
        self, i: int, state: Array, wanted: Sequence[Any], shares: Array, before: Array | None = None
    ) -> Remaining:
        """The residuals of a task in a state. before: the one of the frame before, unless that is it."""
        levels, nq, dt = self.levels, self._nq, self._limits.dt
        at: Any = levels.state(state[:nq], wanted, dt)
        if before is not None and isinstance(levels.tasks[i], VelocityTask):
            at = levels.moved(levels.state(before[:nq], wanted, dt), at)
        return remaining_of(shares[i], levels.rows_of(i, at, wanted[i], shares[i]))

    def _made(self, counting: Sequence[int]) -> Any:
        kind: Any = NativeLevelTracking if get_backend(self._backend).name == "native" else LevelTracking
        levels = self.levels
        if len(counting) < len(levels.tasks):
            levels = TaskLevels(levels.model, [levels.tasks[i] for i in counting], self._backend)
        return kind(levels, self._criteria, self._limits)

    def _numbers_of(self, levels: TaskLevels, counting: Sequence[int]) -> list[int]:
        """Which of all levels those of some tasks are."""
        numbers = {(i, is_path): k for k, (own, is_path) in enumerate(self.levels.groups) for i in own}
        return [numbers[counting[own[0]], is_path] for own, is_path in levels.groups]

    def _part(self, state: Array, own_levels: Sequence[int]) -> Array:
        """The state of those levels alone."""
        if len(own_levels) == self._count:
            return state
        kept, first = state[self._nq : -2 - self._nv].reshape(self._count, self._nq + 3), self._count - state[-2]
        part = np.concatenate((state[: self._nq], kept[own_levels].ravel(), state[-2 - self._nv :]))
        part[-2] = sum(level >= first for level in own_levels)
        return part

    def _whole(self, state: Array, own_levels: Sequence[int]) -> Array:
        """The state of all levels; those that do not count have their goal where the robot stands."""
        if len(own_levels) == self._count:
            return state
        nq, step, late = self._nq, state[-2 - self._nv : -2], int(state[-2])
        lost = float(self._count - own_levels[-late]) if late else 0.0
        whole = state_at(state[:nq], self._count, step, lost, state[-1])
        kept = state[nq : -2 - self._nv].reshape(len(own_levels), nq + 3)
        whole[nq : -2 - self._nv].reshape(self._count, nq + 3)[own_levels] = kept
        return whole


def state_at(q: Array, levels: int, step: Array, late: float, patience: float = np.inf) -> Array:
    """The state at q (nq,), reached by step (nv,), where so many levels have their goal; late: how many of them are
    lost.   patience: see `ReferenceTracking`."""
    goal = np.concatenate((q, [np.inf, np.inf, 0.0]))
    return np.concatenate((q, *[goal] * levels, step, [late, patience]))
