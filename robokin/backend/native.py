"""The native backend: the C kernel through ctypes. Functions as in `Backend`; any number of leading batch axes.

A call on one configuration copies it into a buffer whose address ctypes already knows, because making a pointer of a
NumPy array takes longer than most of these functions. Batches are passed in place and spread over threads.
"""

from __future__ import annotations

import ctypes
import math
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..errors import ConfigurationError
from ..model.tree import Tree
from . import STANDARD_GRAVITY
from .library import load_library, model_struct, pointer, workspace
from .parallel import run_chunks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CHUNK = 1024  # configurations per call of a batch: a thread costs what placing 500 of a Panda does


@dataclass(frozen=True)
class Routine:
    """A function rk_`name`(model, count, inputs ..., constants ..., [work,] out).

    inputs: "nq" or "nv", the length of each input per configuration. constants: ctypes types of what is the same for
    all configurations. shape(tree): of one result.
    """

    name: str
    inputs: tuple[str, ...]
    shape: Callable[[Tree], tuple[int, ...]]
    constants: tuple[type, ...] = ()
    needs_workspace: bool = True


_Vector3 = ctypes.c_double * 3

NODE_PLACEMENTS = Routine("node_placements", ("nq",), lambda t: (t.n_nodes, 12), needs_workspace=False)
FRAME_PLACEMENTS = Routine("frame_placements", ("nq",), lambda t: (t.n_frames, 4, 4))
FRAME_JACOBIAN = Routine("frame_jacobian", ("nq",), lambda t: (6, t.nv), (ctypes.c_int32, ctypes.c_int32))
CENTER_OF_MASS = Routine("center_of_mass", ("nq",), lambda t: (3,))
CENTER_OF_MASS_JACOBIAN = Routine("center_of_mass_jacobian", ("nq",), lambda t: (3, t.nv))
MASS_MATRIX = Routine("mass_matrix", ("nq",), lambda t: (t.nv, t.nv))
INVERSE_DYNAMICS = Routine("inverse_dynamics", ("nq", "nv", "nv"), lambda t: (t.nv,), (_Vector3,))
EFFORT_DERIVATIVES = Routine("effort_derivatives", ("nq", "nv", "nv", "nv"), lambda t: (6, t.nv, t.nv), (_Vector3,))
INTEGRATE = Routine("integrate", ("nq", "nv"), lambda t: (t.nq,), needs_workspace=False)
DIFFERENCE = Routine("difference", ("nq", "nq"), lambda t: (t.nv,), needs_workspace=False)


class _Call:
    """A routine bound to a tree, with buffers for one configuration. For one thread at a time."""

    def __init__(self, routine: Routine, tree: Tree) -> None:
        self.name = routine.name
        self.function = getattr(load_library(), f"rk_{routine.name}")
        self.function.restype = None
        self.model = ctypes.byref(model_struct(tree))
        self.work = [workspace(tree)] if routine.needs_workspace else []
        self.inputs = [np.empty(getattr(tree, size)) for size in routine.inputs]
        self.constants = [kind() for kind in routine.constants]
        self.output = np.empty(routine.shape(tree))
        self.arguments = (
            self.model,
            ctypes.c_int64(1),
            *(pointer(array) for array in self.inputs),
            *self.constants,
            *(pointer(array) for array in (*self.work, self.output)),
        )

    def __call__(self, tree: Tree, *values: Array) -> Array:
        for buffer, value in zip(self.inputs, values, strict=True):
            if value.shape != buffer.shape:
                return self._batch(tree, values)
            buffer[:] = value
        self.function(*self.arguments)
        return self.output.copy()

    def _batch(self, tree: Tree, values: tuple[Array, ...]) -> Array:
        if all(value.shape == (1, *buffer.shape) for buffer, value in zip(self.inputs, values, strict=True)):
            return self(tree, *(value[0] for value in values))[None]
        for buffer, value in zip(self.inputs, values, strict=True):
            if value.shape[-1:] != buffer.shape:
                raise ConfigurationError(
                    f"{self.name}: the last axis of a configuration or velocity of shape {value.shape} "
                    f"must be {buffer.size}"
                )
        lead = np.broadcast_shapes(*(value.shape[:-1] for value in values))
        values = tuple(
            np.ascontiguousarray(np.broadcast_to(value, (*lead, value.shape[-1])), np.float64) for value in values
        )
        results = np.empty((*lead, *self.output.shape))
        sources = [(value.ctypes.data, 8 * value.shape[-1]) for value in values]
        target, stride = results.ctypes.data, 8 * self.output.size

        def part(start: int, stop: int) -> None:
            work = workspace(tree) if self.work else None
            self.function(
                self.model,
                ctypes.c_int64(stop - start),
                *(ctypes.c_void_p(address + start * step) for address, step in sources),
                *self.constants,
                *([pointer(work)] if work is not None else []),
                ctypes.c_void_p(target + start * stride),
            )

        run_chunks(part, math.prod(lead), CHUNK)
        return results


class _Calls(threading.local):
    """The bound routines of this thread."""

    def __init__(self) -> None:
        self.of_tree: weakref.WeakKeyDictionary[Tree, dict[str, _Call]] = weakref.WeakKeyDictionary()

    def get(self, routine: Routine, tree: Tree) -> _Call:
        try:
            return self.of_tree[tree][routine.name]
        except KeyError:
            call = _Call(routine, tree)
            self.of_tree.setdefault(tree, {})[routine.name] = call
            return call


class NativeBackend:
    """See `Backend`."""

    name = "native"

    def __init__(self) -> None:
        """Raises BackendError when the library cannot be used."""
        load_library()
        self._calls = _Calls()

    def node_placements(self, tree: Tree, q: Array) -> Array:
        return self._calls.get(NODE_PLACEMENTS, tree)(tree, q)

    def frame_placements(self, tree: Tree, q: Array) -> Array:
        return self._calls.get(FRAME_PLACEMENTS, tree)(tree, q)

    def frame_jacobian(self, tree: Tree, q: Array, frame: int, reference: int) -> Array:
        if not 0 <= frame < tree.n_frames:
            raise IndexError(f"frame {frame} of a tree of {tree.n_frames}")
        call = self._calls.get(FRAME_JACOBIAN, tree)
        call.constants[0].value, call.constants[1].value = frame, reference
        return call(tree, q)

    def center_of_mass(self, tree: Tree, q: Array) -> Array:
        return self._calls.get(CENTER_OF_MASS, tree)(tree, q)

    def center_of_mass_jacobian(self, tree: Tree, q: Array) -> Array:
        return self._calls.get(CENTER_OF_MASS_JACOBIAN, tree)(tree, q)

    def mass_matrix(self, tree: Tree, q: Array) -> Array:
        return self._calls.get(MASS_MATRIX, tree)(tree, q)

    def inverse_dynamics(
        self, tree: Tree, q: Array, v: Array, a: Array, gravity: ArrayLike = STANDARD_GRAVITY
    ) -> Array:
        call = self._calls.get(INVERSE_DYNAMICS, tree)
        call.constants[0][:] = gravity
        return call(tree, q, v, a)

    def effort_derivatives(self, tree: Tree, q: Array, v: Array, a: Array, z: Array, gravity: ArrayLike) -> Array:
        call = self._calls.get(EFFORT_DERIVATIVES, tree)
        call.constants[0][:] = gravity
        return call(tree, q, v, a, z)

    def integrate(self, tree: Tree, q: Array, v: Array) -> Array:
        return self._calls.get(INTEGRATE, tree)(tree, q, v)

    def difference(self, tree: Tree, q0: Array, q1: Array) -> Array:
        return self._calls.get(DIFFERENCE, tree)(tree, q0, q1)


@lru_cache(maxsize=1)
def load() -> NativeBackend:
    """The native backend. Raises BackendError when it cannot be used on this machine."""
    return NativeBackend()
