"""Following tasks in levels in the C kernel through ctypes (kernel/include/robokin_track.h)."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import pointer
from ..criteria import Criterion
from ..criteria.base import time_to_optimum
from ..descent.data import compile_whole
from ..descent.native_problem import ProblemStruct
from ..descent.native_stack import NativeStack, StackStruct
from ..limits.viability import StepLimits
from ..tasks.clearance import clearances_of
from ..tasks.influence import Remaining
from ..tasks.native import same_target
from ..velocity.task_levels import TaskLevels
from .data import TrackOutcome
from .native import TrackStruct, tracking_library


class NativeLevelTracking:
    """The kernel's tracker of tasks in levels; `level_tracking.LevelTracking` is its twin, which says what its methods
    do."""

    name = "native"

    def __init__(self, levels: TaskLevels, criteria: Sequence[Criterion], limits: StepLimits) -> None:
        library, model = tracking_library(), levels.model
        self.levels, self._run, self._workspace = levels, library.rk_track_run, library.rk_track_workspace
        self._whole = np.ones(len(levels.tasks)).tolist()
        self._clearances = clearances_of(levels.tasks)
        self._stack = NativeStack(levels, criteria, limits.dt)
        data = compile_whole(model, model.limits, np.zeros(model.nq, bool), levels.length)
        lasting = time_to_optimum(criteria) / limits.dt
        self._track = TrackStruct(ProblemStruct(data, 1, 1), limits, lasting)
        self._reference = ctypes.byref(self._track)
        self._struct: StackStruct | None = None
        self._last: tuple[Sequence[Any], Array, Array] | None = None
        self._state = np.zeros(model.nq + len(levels.groups) * (model.nq + 3) + model.nv + 2)

    @property
    def state(self) -> Array:
        return self._state.copy()

    @state.setter
    def state(self, state: Array) -> None:
        self._state[:] = state

    def run(
        self,
        frames: Sequence[Sequence[Any]],
        influence: Sequence[float] | None = None,
        remaining: Mapping[int, Remaining] | None = None,
    ) -> TrackOutcome:
        shares = self._whole if influence is None else influence
        done = [self._run_alike(frames, shares, remaining)]
        while (count := sum(len(each.codes) for each in done)) < len(frames):
            done.append(self._run_alike(frames[count:], shares, remaining))
        return done[0] if len(done) == 1 else TrackOutcome.joined(done)

    def _run_alike(
        self,
        frames: Sequence[Sequence[Any]],
        influence: Sequence[float],
        remaining: Mapping[int, Remaining] | None,
    ) -> TrackOutcome:
        """Track the first of these frames that have equally many rows."""
        stack, nq, nv = self._stack, self.levels.model.nq, self.levels.model.nv
        before, count = self._state.copy(), len(frames)
        outcome = TrackOutcome.empty(count, len(stack.tasks), nq, nv)
        while True:
            targets, rows = stack.aim(frames, remaining, influence)
            count = len(targets)
            if stack.struct is not self._struct:
                self._struct = stack.struct
                self._track.problem.stack = ctypes.addressof(stack.struct)
                self._work = np.zeros(self._workspace(self._reference))
                self._room = pointer(self._state), pointer(self._work)
            results = (outcome.q, outcome.residuals, outcome.codes, outcome.iterations, outcome.behind)
            still = self._still(frames[:count], targets, rows)
            aims = (pointer(array) for array in (targets, rows, still))
            self._run(self._reference, ctypes.c_int64(count), *aims, *self._room, *map(pointer, results))
            if stack.is_done():
                break
            self._state[:] = before
        outcome.residuals[:] = outcome.residuals[:, stack.order]
        self._keep(frames[count - 1], targets[-1:], rows[-1])
        return outcome.first(count) if count < len(frames) else outcome

    def note(self, targets: Sequence[Any] | None) -> None:
        if targets is None:
            self._last = None
            return
        tips, rows = self._stack.aim([targets], self._stack.remaining, self._stack.influence)
        self._keep(targets, tips, rows[0])

    def _keep(self, frame: Sequence[Any], tips: Array, rows: Array) -> None:
        self._last = frame, self._stack.step.compared(tips)[0][0].copy(), rows.copy()

    def _still(self, frames: Sequence[Sequence[Any]], targets: Array, rows: Array) -> Array:
        """(frames,) int8, 1 where the targets are those of the frame before, plus 2 where obstacles are."""
        if self._last is None and len(frames) == 1:
            return np.zeros(1, np.int8)
        targets, by_content = self._stack.step.compared(targets)
        last, here = self._last, (frames[0], targets[0], rows[0])
        is_known = last is not None and last[1].shape == here[1].shape and len(last[2]) == len(here[2])
        before, tips, of_robot = last if last is not None and is_known else here
        same = (_are_same(tips, targets) & _are_same(of_robot, rows)).astype(np.int8)
        obstacles = np.full_like(same, 2 * bool(self._clearances))
        for i in by_content:
            alike = np.array([same_target(a[i], b[i]) for a, b in itertools.pairwise([before, *frames])])
            same &= alike
            if i in self._clearances:
                obstacles *= alike
        still = same + obstacles
        still[0] *= is_known
        return still


def _are_same(before: Array, frames: Array) -> Array:
    """(n,) whether each of `frames` (n, ...) is that before it, the first as `before` (...): bytes, since records take
    long to compare."""
    own = frames.view(np.uint8).reshape(len(frames), -1)
    same = np.empty(len(frames), bool)
    same[0] = before.tobytes() == own[0].tobytes()
    same[1:] = (own[1:] == own[:-1]).all(axis=1)
    return same
