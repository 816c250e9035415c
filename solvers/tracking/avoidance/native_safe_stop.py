"""Whether a robot that goes a step can still stop, in the C kernel (rk_look_ahead of
kernel/include/robokin_clearance.h)."""

from __future__ import annotations

import ctypes

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import get_backend
from ....robokin.backend.library import load_library, pointer
from ....robokin.collision.clearance_struct import ClearanceStruct
from ....robokin.model.robot import RobotModel
from ...descent.data import compile_whole
from ...descent.native_problem import ProblemStruct
from ...limits.viability import StepLimits
from ...tasks.clearance import ClearanceTask
from ..native import TrackStruct
from .safe_stop import LONGEST, Look, SafeStop

_BLOCKED, _FAILED = 1, 2


class NativeSafeStop(SafeStop):
    """`SafeStop` whose looks are the kernel's. Owns its buffers, so it is for one thread at a time."""

    def __init__(self, model: RobotModel, task: ClearanceTask, limits: StepLimits, backend: str, reach: float) -> None:
        super().__init__(model, task, limits, backend, reach)
        library = load_library()
        data = compile_whole(model, model.limits, np.zeros(model.nq, bool), 1.0)
        self._track = TrackStruct(ProblemStruct(data, 1, 1), limits)
        self._clearance = ClearanceStruct(task.collisions, task.margin, reach)
        self._of: Array | None = None  # where the obstacles are
        self._obstacles = self._clearance.packed_obstacles(task.target)
        structs = ctypes.byref(self._track), ctypes.byref(self._clearance)
        self._look = library.rk_look_ahead
        pairs = len(task.collisions.pairs)
        self._q, self._step, self._needed = np.zeros(model.nq), np.zeros(model.nv), np.zeros(pairs)
        self._end, self._kept = np.zeros(model.nq), np.zeros(pairs)
        self._work = np.empty(library.rk_look_workspace(*structs))
        self._pair, self._distance = ctypes.c_int32(), ctypes.c_double()
        arrays = self._q, self._step, self._needed
        results = self._work, self._end, self._kept
        self._before = structs
        self._after = (
            *(pointer(array) for array in arrays),
            ctypes.c_int32(LONGEST),
            *(pointer(array) for array in results),
            *(ctypes.byref(self._pair), ctypes.byref(self._distance)),
        )

    def look(self, q: Array, step: Array, before: Array, obstacles: Array | None) -> Look:
        if obstacles is not self._of:
            self._of, self._obstacles = obstacles, self._clearance.packed_obstacles(obstacles)
        self._q[:], self._step[:], self._needed[:] = q, step, self.needed(before)
        code = self._look(*self._before, pointer(self._obstacles), *self._after)
        if code == _FAILED:
            raise self.task.collisions.not_found(self._pair.value)
        end = self._end.copy()
        if code != _BLOCKED:
            kept = self._kept.copy()
            return Look(end, lambda: kept, None, None)
        pair = self._pair.value  # how deep others are takes long to find, and seldom counts
        near = self.task.collisions.near(pair, self._distance.value)
        return Look(end, lambda: self.kept(end[None], obstacles)[0], near, pair)


def safe_stop(model: RobotModel, task: ClearanceTask, limits: StepLimits, backend: str, reach: float) -> SafeStop:
    kind = NativeSafeStop if get_backend(backend).name == "native" else SafeStop
    return kind(model, task, limits, backend, reach)
