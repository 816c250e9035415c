"""The quadratic program of the C kernel through ctypes (kernel/include/robokin_qp.h)."""

from __future__ import annotations

import ctypes

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import load_library, pointer


def project(H: Array, g: Array, C: Array, low: Array, high: Array, tolerance: float) -> tuple[int, Array, Array, int]:
    """Status (the position in QPStatus, one more when H is not positive definite), x, multipliers and iterations of
    checked arguments: low, high: (n + m,) of x and then of C x."""
    library = load_library()
    n, m = len(g), len(C)
    x, multipliers, iterations = np.empty(n), np.empty(n + m), ctypes.c_int32()
    work = np.empty(library.rk_qp_workspace(n, m))
    inputs = [np.ascontiguousarray(array, np.float64) for array in (H, g, C, low, high)]
    status = library.rk_qp(
        n,
        m,
        *map(pointer, inputs),
        ctypes.c_double(tolerance),
        *map(pointer, (work, x, multipliers)),
        ctypes.byref(iterations),
    )
    return status, x, multipliers, iterations.value
