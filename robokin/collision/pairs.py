"""Distances of many pairs of shapes at many placements, on either backend."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..backend import get_backend
from ..backend.library import library_with, pointer
from ..backend.parallel import run_chunks
from ..spatial.se3 import pack
from .core import Core
from .reference.distances import distances as numpy_distances

CHUNK = 64


class ShapeStruct(ctypes.Structure):
    """`rk_shape` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("n_points", "n_normals", "n_edges", "is_block")),
        *((name, ctypes.c_void_p) for name in ("points", "normals", "edges")),
        *((name, ctypes.c_double) for name in ("disc", "radius")),
        ("centre", ctypes.c_double * 3),
        ("bound", ctypes.c_double),
    )


def distances(
    cores: Sequence[Core], placements: Array, pairs: Array, within: float, backend: str = "auto"
) -> tuple[Array, Array]:
    """Distances of pairs (p, 2) of shapes at placements (count, shapes, 4, 4).

    Returns (count, p, 10): value, point on the first, point on the second, normal, as in `Distance`; and (count, p):
    FOUND, FAR or FAILED of `reference`; FAR: the two are farther apart than `within`, and the value is a lower bound.
    """
    packed = np.ascontiguousarray(pack(placements))
    pairs = np.ascontiguousarray(pairs, np.int32)
    if get_backend(backend).name == "numpy":
        return numpy_distances(cores, packed, pairs, within)
    function, shapes = library_with(shape=ShapeStruct).rk_distances, shape_structs(tuple(cores))
    out, status = np.empty((len(packed), len(pairs), 10)), np.empty((len(packed), len(pairs)), np.int32)

    def part(start: int, stop: int) -> None:
        function(
            *(ctypes.c_int64(stop - start), ctypes.c_int32(len(cores)), shapes, pointer(packed[start:])),
            *(ctypes.c_int32(len(pairs)), pointer(pairs), ctypes.c_double(within)),
            *(pointer(out[start:]), pointer(status[start:])),
        )

    if len(pairs):
        run_chunks(part, len(packed), CHUNK)
    return out, status


_made: weakref.WeakKeyDictionary[Core, ShapeStruct] = weakref.WeakKeyDictionary()


def shape_structs(cores: Sequence[Core]) -> Any:
    """An array of rk_shape; the cores keep alive what it points to."""
    made = (ShapeStruct * len(cores))()
    for i, core in enumerate(cores):
        if core not in _made:
            _made[core] = ShapeStruct(
                *(len(core.points), len(core.normals), len(core.edges), core.is_block),
                *(array.ctypes.data for array in (core.points, core.normals, core.edges)),
                *(core.disc, core.radius, (ctypes.c_double * 3)(*core.centre), core.bound),
            )
        made[i] = _made[core]
    return made
