"""The families' solvers of the C kernel through ctypes (kernel/include/robokin_families.h)."""

from __future__ import annotations

import ctypes

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import library_with, pointer
from ...robokin.backend.parallel import run_chunks
from .family import FAMILY_RECORD, POSTURES, Family

CHUNK = 1024  # poses per call of a batch at most: hides the cost of a change of threads


class NativePostures:
    """A family member, for targets whose rotation counts (`oriented`) or not, met within tolerance [m], [rad]."""

    def __init__(self, family: Family, oriented: bool, tolerance: tuple[float, float]) -> None:
        """Raises BackendError when the kernel is of another version."""
        self._solve = library_with(family=FAMILY_RECORD).rk_postures
        self._record = family.record(oriented, tolerance)
        self._family = pointer(self._record)

    def postures(self, targets: Array, q0: Array, threads: int | None = None) -> tuple[Array, Array, Array]:
        """All postures of b targets (b, 4, 4) and q0 (b, n): q (b, POSTURES, n), NaN behind the last one, branch (b,
        POSTURES), and found (b, 2): how many, and bits of `SearchFlag`."""
        count, n = q0.shape
        q = np.full((count, POSTURES, n), np.nan)
        branch, found = np.zeros((count, POSTURES), np.int32), np.zeros((count, 2), np.int32)
        goals, starts = np.ascontiguousarray(targets, np.float64), np.ascontiguousarray(q0, np.float64)
        arrays = [(array.ctypes.data, array.strides[0]) for array in (goals, starts, q, branch, found)]

        def part(start: int, stop: int) -> None:
            own = [ctypes.c_void_p(address + start * stride) for address, stride in arrays]
            self._solve(self._family, ctypes.c_int64(stop - start), *own)

        run_chunks(part, count, CHUNK, threads)
        return q, branch, found
