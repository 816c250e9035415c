"""The banded quadratic program of the C kernel through ctypes (kernel/include/robokin_banded_qp.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Generator

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import load_library, pointer
from .banded_qp import BandedQP

RUNNING = 4  # RK_QP_RUNNING


class _BandedProgram(ctypes.Structure):
    _fields_ = (
        [(name, ctypes.c_int32) for name in ("frames", "n", "width", "rows")]
        + [
            (name, ctypes.c_void_p)
            for name in ("H", "g", "start", "column", "value", "low", "high", "border", "across")
        ]
        + [("corner", ctypes.c_double)]
    )


def solve(given: BandedQP, iterations: int, guess: Array) -> Generator[None, None, tuple[int, Array, Array, int]]:
    """Twin of `banded_reference.solve`."""
    library, rows, last = load_library(), given.rows, given.last
    arrays = [
        np.ascontiguousarray(array, np.float64) for array in (given.H, given.g, rows.value, given.lower, given.upper)
    ]
    start, column = (np.ascontiguousarray(array, np.int32) for array in (rows.start, rows.column))
    H, g, value, low, high = arrays
    pointers = [pointer(array) for array in (H, g, start, column, value, low, high)]
    shape, size = g.shape, g.size
    border = across = None
    if last is not None:
        g = np.append(g, last.slope)
        border, across = (np.ascontiguousarray(array, np.float64) for array in (last.border, last.across))
        pointers[1] = pointer(g)
        pointers += [pointer(array) for array in (border, across)]
    program = _BandedProgram(*shape, H.shape[1], len(rows), *pointers)
    program.corner = 0.0 if last is None else last.corner
    x, multipliers, steps = np.empty(size + (last is not None)), np.array(guess, np.float64), ctypes.c_int32()
    work = np.empty(library.rk_banded_qp_workspace(ctypes.byref(program)))
    library.rk_banded_qp_begin(ctypes.byref(program), pointer(multipliers), pointer(work))
    arguments = (
        ctypes.byref(program),
        ctypes.c_int32(iterations),
        *(pointer(array) for array in (work, x, multipliers)),
        ctypes.byref(steps),
    )
    while (status := library.rk_banded_qp(*arguments)) == RUNNING:
        yield
    return status, x, multipliers, steps.value
