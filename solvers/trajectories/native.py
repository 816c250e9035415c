"""Axes from state to state by the C kernel through ctypes (kernel/include/robokin_trajectories.h)."""

from __future__ import annotations

import ctypes

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import load_library, pointer
from .reference import KNOTS, Planned


def point_to_point(
    order: int, start: Array, end: Array, limits: Array, bounds: Array, least: float
) -> tuple[Planned, int, float, Array]:
    """Twin of the function of this name in `reference`, for float64 arrays."""
    library = load_library()
    n = len(start)
    inputs = [np.ascontiguousarray(array) for array in (start, end, limits, bounds)]
    knots, work = np.empty((n, KNOTS, 5)), np.empty(library.rk_point_to_point_workspace(n))
    duration, axis = ctypes.c_double(), ctypes.c_int32()
    status = library.rk_point_to_point(
        n,
        order,
        *map(pointer, inputs),
        ctypes.c_double(least),
        pointer(work),
        ctypes.byref(duration),
        pointer(knots),
        ctypes.byref(axis),
    )
    return Planned(status), axis.value, duration.value, knots
