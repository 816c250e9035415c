"""Tracking in the C kernel through ctypes (kernel/include/robokin_track.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ..robokin.backend.library import load_library
from ..robokin.errors import BackendError
from .ik_data import IKData
from .native import ProblemStruct
from .tasks import Task
from .tracking_reference import TrackLimits, TrackOutcome, TrackState

Array = np.ndarray

_ARRAYS = (
    ("largest", np.float64),
    ("change", np.float64),
    ("coordinate", np.int32),
    ("lower", np.float64),
    ("upper", np.float64),
)


class _Track(ctypes.Structure):
    """`rk_track` of the kernel. Keeps the arrays alive that it points to."""

    _fields_ = (
        ("ik", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name, _ in _ARRAYS),
        ("braked", ctypes.c_int32),
        ("curved", ctypes.c_int32),
    )

    def __init__(self, problem: ProblemStruct, limits: TrackLimits) -> None:
        super().__init__(ik=ctypes.addressof(problem), braked=limits.braked, curved=limits.curved)
        self.kept: list[object] = [problem]
        for name, dtype in _ARRAYS:
            array = np.ascontiguousarray(getattr(limits, name), dtype)
            self.kept.append(array)
            setattr(self, name, array.ctypes.data)


class NativeTracking:
    """See `tracking_reference.ReferenceTracking`. Owns its buffers, so it is for one thread at a time."""

    name = "native"

    def __init__(self, data: IKData, tasks: Sequence[Task], limits: TrackLimits) -> None:
        """Raises BackendError when the kernel is of another version."""
        library = load_library()
        if library.rk_sizeof_track() != ctypes.sizeof(_Track):
            raise BackendError(
                f"the kernel's rk_track has {library.rk_sizeof_track()} bytes, not {ctypes.sizeof(_Track)}"
            )
        library.rk_track_workspace.restype = ctypes.c_int64
        library.rk_track_run.restype = None
        self.data = data
        self._run = library.rk_track_run
        self._track = _Track(ProblemStruct(data, 1, 1), limits)
        self._reference = ctypes.byref(self._track)
        self._work = np.empty(library.rk_track_workspace(self._reference))
        nq, nv = data.tree.nq, data.tree.nv
        self._state = np.zeros(2 * nq + nv + 1)
        self._parts = self._state[:nq], self._state[nq : 2 * nq], self._state[2 * nq : -1]

    def run(self, state: TrackState, targets: Array) -> TrackOutcome:
        """targets: (n, tasks, 4, 4), rigid and contiguous; `state` is updated."""
        outcome = TrackOutcome.empty(len(targets), self.data)
        for part, value in zip(self._parts, (state.q, state.goal, state.step), strict=True):
            part[:] = value
        self._state[-1] = state.late
        arrays = (outcome.q, outcome.residuals, outcome.codes, outcome.iterations, outcome.behind)
        self._run(
            self._reference,
            ctypes.c_int64(len(targets)),
            *(ctypes.c_void_p(array.ctypes.data) for array in (targets, self._state, self._work, *arrays)),
        )
        state.q, state.goal, state.step = (part.copy() for part in self._parts)
        state.late = bool(self._state[-1])
        return outcome
