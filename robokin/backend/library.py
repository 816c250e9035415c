"""The kernel's shared library: found in the wheel `robokin_kernel`, checked, and given trees as C structs."""

from __future__ import annotations

import ctypes
import hashlib
import os
import stat
import weakref
from functools import lru_cache

import numpy as np

from ..arrays import Array
from ..errors import BackendError
from ..model.tree import Tree

ABI = 33  # RK_ABI of kernel/include/robokin_kernel.h
MAX_BYTES = 64 << 20  # a hundred times the library

# All that the kernel's headers declare: one that lacks any of it is of another version and is not used in part.
FUNCTIONS = (
    *("rk_abi", "rk_sizeof_model", "rk_sizeof_ik", "rk_sizeof_task", "rk_sizeof_track"),
    *("rk_sizeof_cone", "rk_sizeof_base"),
    *("rk_workspace", "rk_ik_workspace", "rk_track_workspace", "rk_bounded_step_workspace"),
    *("rk_node_placements", "rk_frame_placements", "rk_frame_jacobian", "rk_integrate", "rk_difference"),
    *("rk_center_of_mass", "rk_center_of_mass_jacobian", "rk_mass_matrix", "rk_inverse_dynamics"),
    "rk_effort_derivatives",
    *("rk_ik_solve", "rk_track_run", "rk_bounded_step", "rk_qp", "rk_qp_workspace"),
    *("rk_sizeof_banded_program", "rk_banded_qp", "rk_banded_qp_begin", "rk_banded_qp_workspace"),
    *("rk_hierarchy", "rk_hierarchy_workspace", "rk_step_run", "rk_step_workspace"),
    *("rk_sizeof_step", "rk_sizeof_step_data", "rk_sizeof_criterion", "rk_sizeof_robot_row", "rk_sizeof_tip_rows"),
    *("rk_sizeof_segment", "rk_sizeof_triangle"),
    "rk_sizeof_stack",
    *("rk_sizeof_optimum", "rk_optimum_workspace", "rk_optimum_find"),
    *("rk_sizeof_family", "rk_postures"),
    *("rk_point_to_point", "rk_point_to_point_workspace", "rk_path_speed"),
    *("rk_sizeof_shape", "rk_distances", "rk_hull", "rk_hull_workspace"),
    *("rk_sizeof_clearance", "rk_look_workspace", "rk_look_ahead"),
)

_INTS = ("parent", "motion", "iq", "iv", "frame_node")


class ModelStruct(ctypes.Structure):
    """`rk_model` of the kernel. Keeps the arrays alive that it points to."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("n_nodes", "n_frames", "nq", "nv")),
        *((name, ctypes.c_void_p) for name in ("parent", "motion", "iq", "iv")),
        *((name, ctypes.c_void_p) for name in ("placement", "pitch", "scale", "offset", "inertia")),
        *((name, ctypes.c_void_p) for name in ("frame_node", "frame_placement", "root_inertia", "lower", "upper")),
    )

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree.n_nodes, tree.n_frames, tree.nq, tree.nv)
        self.arrays = []
        for name, kind in self._fields_:  # type: ignore[misc]  # none of ours is a bit field
            if kind is ctypes.c_void_p:
                array = np.ascontiguousarray(getattr(tree, name), np.int32 if name in _INTS else np.float64)
                self.arrays.append(array)
                setattr(self, name, array.ctypes.data)


_structs: weakref.WeakKeyDictionary[Tree, ModelStruct] = weakref.WeakKeyDictionary()


def model_struct(tree: Tree) -> ModelStruct:
    """The kernel's view of a tree; built once, lives as long as the tree."""
    struct = _structs.get(tree)
    if struct is None:
        struct = _structs[tree] = ModelStruct(tree)
    return struct


@lru_cache(maxsize=1)
def load_library() -> ctypes.CDLL:
    """The loaded library. Raises BackendError when it is absent, damaged, of another version, or cannot be loaded."""
    path = _checked_path()
    try:
        library = ctypes.CDLL(path)
        abi, size = library.rk_abi(), library.rk_sizeof_model()
    except (OSError, AttributeError) as error:
        raise BackendError(f"the kernel's library cannot be loaded: {error}") from None
    if abi != ABI:
        raise BackendError(
            f"{path} has ABI {abi}, this version of Robokin needs {ABI}: start Blender again, or install Robokin again"
        )
    if size != ctypes.sizeof(ModelStruct):
        raise BackendError(f"{path}: its model struct has {size} bytes, not {ctypes.sizeof(ModelStruct)}")
    missing = [name for name in FUNCTIONS if not hasattr(library, name)]
    if missing:
        raise BackendError(f"{path} lacks {', '.join(missing)}: it is of another version")
    for name in FUNCTIONS:
        if name.endswith("workspace"):
            getattr(library, name).restype = ctypes.c_int64
    return library


def library_with(**structs: type[ctypes.Structure] | np.dtype) -> ctypes.CDLL:
    """The library, checked to have these structs as they are described here. Raises BackendError."""
    library = load_library()
    for name, own in structs.items():
        size = own.itemsize if isinstance(own, np.dtype) else ctypes.sizeof(own)
        found = getattr(library, f"rk_sizeof_{name}")()
        if found != size:
            raise BackendError(f"the kernel's rk_{name} has {found} bytes, not {size}")
    return library


def _checked_path() -> str:
    """Path of the library, when it is what the package `robokin_kernel` was built with. Raises BackendError."""
    try:
        import robokin_kernel

        path, size, digest = str(robokin_kernel.library_path()), robokin_kernel.SIZE, robokin_kernel.SHA256
    except AttributeError as error:
        raise BackendError(f"the package robokin_kernel is of another version: {error}") from None
    except Exception as error:  # a file like others, which may be damaged in any way
        raise BackendError(f"the package robokin_kernel cannot be imported: {_one_line(error)}") from None
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would be waited for
            raise OSError(f"{path} is no file")
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES)
    except (OSError, ValueError) as error:
        raise BackendError(f"the kernel's library cannot be read: {_one_line(error)}") from None
    # A program that maps a library that was cut off ends without a word where it reads beyond.
    if len(content) != size:
        raise BackendError(f"{path} has {len(content)} bytes, not {size}: install the kernel again")
    if hashlib.sha256(content).hexdigest() != digest:
        raise BackendError(f"{path} is not as it was built: install the kernel again")
    return path


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def pointer(array: Array) -> ctypes.c_void_p:
    """Where its numbers lie, for the kernel; only while the array lives."""
    return ctypes.c_void_p(array.ctypes.data)


def workspace(tree: Tree) -> Array:
    """Scratch memory for any function of robokin_kernel.h; one per thread."""
    return np.empty(load_library().rk_workspace(ctypes.byref(model_struct(tree))))
