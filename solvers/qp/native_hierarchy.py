"""The hierarchy of the C kernel through ctypes (kernel/include/robokin_hierarchy.h)."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import load_library, pointer
from ...robokin.errors import TaskError

if TYPE_CHECKING:
    from .level import Level


class LevelsStruct(ctypes.Structure):
    """`rk_levels` of the kernel. Does not keep alive what it points to."""

    _fields_ = (
        ("count", ctypes.c_int32),
        *((name, ctypes.c_void_p) for name in ("start", "J", "lower", "upper", "damping")),
    )


def solve(
    lo: Array, hi: Array, levels: Sequence[Level], H: Array | None, g: Array | None, begin: Array
) -> tuple[Array, list[Array], list[int], Array]:
    """The fields of a HierarchyResult. Raises TaskError when H is not positive semidefinite."""
    library = load_library()
    n = len(lo)
    ends = [0, *itertools.accumulate(len(level.J) for level in levels)]
    rows = ends[-1]
    J = np.concatenate([np.zeros((0, n)), *(level.J for level in levels)])
    lower = np.concatenate([np.zeros(0), *(level.lower for level in levels)])
    upper = np.concatenate([np.zeros(0), *(level.upper for level in levels)])
    damping = np.array([level.damping for level in levels], np.float64)
    start = np.array(ends, np.int32)
    struct = LevelsStruct(len(levels), *(array.ctypes.data for array in (start, J, lower, upper, damping)))
    given = [None if array is None else np.ascontiguousarray(array, np.float64) for array in (lo, hi, H, g)]
    work = np.empty(library.rk_hierarchy_workspace(n, rows))
    x, points = np.array(begin, np.float64), np.empty((len(levels) + 1, n))
    residuals, freedom = np.empty(rows), np.empty(len(levels) + 1, np.int32)
    arrays = (*given, work, x, points, residuals, freedom)
    pointers = [None if a is None else pointer(a) for a in arrays]
    if not library.rk_hierarchy(n, *pointers[:2], ctypes.byref(struct), *pointers[2:]):
        raise TaskError("the matrix H of a hierarchy is not positive semidefinite")
    of_levels = [residuals[first:last] for first, last in itertools.pairwise(ends)]
    return x, of_levels, freedom.tolist(), points
