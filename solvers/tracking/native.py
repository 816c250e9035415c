"""Tracking in the C kernel through ctypes (kernel/include/robokin_track.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import library_with, pointer
from ...robokin.errors import TaskError
from ..descent.data import IKData
from ..descent.native_problem import ProblemStruct
from ..descent.native_stack import StackStruct
from ..limits.viability import StepLimits
from ..tasks import FrameTask
from .data import TrackOutcome, refuse_targets

_ARRAYS = (
    ("max_step", np.float64),
    ("max_step_change", np.float64),
    ("coordinate", np.int32),
    ("lower", np.float64),
    ("upper", np.float64),
)


class TrackStruct(ctypes.Structure):
    """`rk_track` of the kernel. Keeps the arrays alive that it points to."""

    _fields_ = (
        ("ik", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name, _ in _ARRAYS),
        ("braked", ctypes.c_int32),
        ("curved", ctypes.c_int32),
        ("lasting", ctypes.c_double),
    )

    def __init__(self, problem: ProblemStruct, limits: StepLimits, lasting: float = 0.0) -> None:
        super().__init__(ik=ctypes.addressof(problem), braked=limits.braked, curved=limits.curved, lasting=lasting)
        self.problem = problem
        self.kept: list[object] = []
        for name, dtype in _ARRAYS:
            array = np.ascontiguousarray(getattr(limits, name), dtype)
            self.kept.append(array)
            setattr(self, name, array.ctypes.data)


class _TrackCall:
    """Room for a number of frames, with its addresses: finding them takes longer than tracking a frame."""

    def __init__(self, frames: int, tasks: int, data: IKData) -> None:
        self.targets, self.still = np.empty((frames, tasks, 4, 4)), np.zeros(frames, np.int8)
        self.outcome = found = TrackOutcome.empty(frames, tasks, data.tree.nq, data.tree.nv)
        arrays = self.targets, self.still, found.q, found.residuals, found.codes, found.iterations, found.behind
        targets, still, *self.results = (pointer(array) for array in arrays)
        self.sources = ctypes.c_int64(frames), targets, None, still


class NativeTracking:
    """See `reference.ReferenceTracking`. Owns its buffers, so it is for one thread at a time."""

    name = "native"

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], limits: StepLimits) -> None:
        """Raises BackendError when the kernel is of another version."""
        library = tracking_library()
        self.data, self.tasks = data, tasks
        self._run = library.rk_track_run
        self._track = TrackStruct(ProblemStruct(data, 1, 1), limits)
        nq, nv = data.tree.nq, data.tree.nv
        self._reference = ctypes.byref(self._track)
        self._work = np.empty(library.rk_track_workspace(self._reference))
        self._state = np.zeros(2 * nq + nv + 5)
        self._room = tuple(pointer(array) for array in (self._state, self._work))
        self._single = _TrackCall(1, len(tasks), data)
        self._last: bytes | None = None  # the last targets

    @property
    def state(self) -> Array:
        return self._state

    @state.setter
    def state(self, state: Array) -> None:
        self._state[:] = state

    def note(self, targets: Array | None) -> None:
        self._last = None if targets is None else np.asarray(targets, np.float64).tobytes()

    def run(self, targets: Array) -> TrackOutcome:
        """The outcome's arrays are valid until the next call."""
        count = len(targets)
        call = self._single if count == 1 else _TrackCall(count, len(self.tasks), self.data)
        call.targets[:] = targets
        if count > 1:
            call.still[1:] = (targets[1:] == targets[:-1]).all(axis=(1, 2, 3))
        call.still[0] = call.targets[0].tobytes() == self._last
        before = self._state.copy()
        done = self._run(self._reference, *call.sources, *self._room, *call.results)
        if done != count:
            self._state[:] = before
            refuse_targets(self.tasks, call.targets[done], done)
            raise TaskError(f"a target of frame {done} is not a rigid pose")
        self._last = call.targets[-1].tobytes()
        return call.outcome


def tracking_library() -> ctypes.CDLL:
    """The kernel, checked to have the structs of tracking. Raises BackendError."""
    library = library_with(track=TrackStruct, stack=StackStruct)
    library.rk_track_run.restype = ctypes.c_int64
    return library
