"""The criteria's optimum of the C kernel through ctypes (kernel/include/robokin_optimum.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Sequence

import numpy as np

from ..robokin.backend.library import load_library
from ..robokin.errors import BackendError
from ..robokin.limits import PositionLimits
from .criteria import Criterion, Potential
from .criteria.base import CriterionRecord
from .criteria.kinds import KINDS
from .endless import endless
from .ik_data import cone_records
from .native_step import NativeStep
from .objective import Objective
from .posing import Point, Posing
from .static_optimum import ITERATIONS, PATIENCE, ROUNDS, Optimum
from .task_levels import TaskLevels, tolerances
from .task_surface import TaskSurface
from .viability import StepLimits

Array = np.ndarray


class OptimumStruct(ctypes.Structure):
    """`rk_optimum` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("step", "lower", "upper", "cones", "tolerance", "level")),
        *((name, ctypes.c_int32) for name in ("n_cones", "reserved")),
    )


class OutcomeStruct(ctypes.Structure):
    """`rk_optimum_outcome` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_double) for name in ("cost", "stationary", "change")),
        *((name, ctypes.c_int32) for name in ("code", "iterations")),
    )


def _library() -> ctypes.CDLL:
    """The kernel, checked to have the struct that this file describes. Raises BackendError."""
    library = load_library()
    found = library.rk_sizeof_optimum()
    if found != ctypes.sizeof(OptimumStruct):
        raise BackendError(f"the kernel's rk_optimum has {found} bytes, not {ctypes.sizeof(OptimumStruct)}")
    library.rk_optimum_workspace.restype = ctypes.c_int64
    library.rk_optimum_find.restype = None
    return library


class KernelOptimum:
    """Tasks and potentials bound to the kernel. Not to be shared between threads."""

    def __init__(self, levels: TaskLevels, records: Sequence[tuple[Criterion, CriterionRecord | None]]) -> None:
        self._library = _library()
        model = levels.model
        scale = levels.state(model.neutral(), levels.targets, 1.0).scale
        self._step = NativeStep(model, levels.tasks, levels, records, StepLimits.of(model, 1.0), scale, 0.0)
        order = self._step.native_tasks
        levels_of = {i: k for k, indices in enumerate(levels.indices) for i in indices}
        self._tolerance = np.ascontiguousarray(tolerances([levels.tasks[i] for i in order]))
        self._level = np.array([levels_of[i] for i in order], np.int32)
        self._struct = OptimumStruct(tolerance=self._tolerance.ctypes.data, level=self._level.ctypes.data)
        self._outcome = OutcomeStruct()
        self._q = np.empty(model.nq)

    @classmethod
    def of(cls, levels: TaskLevels, criteria: Sequence[Criterion]) -> KernelOptimum | None:
        """None when the kernel does not know all tasks and potentials."""
        neutral = levels.state(levels.model.neutral(), levels.targets, 1.0)
        potentials = [each for each in criteria if isinstance(each, Potential)]
        if levels.loops or not all(type(each) in KINDS.values() for each in potentials):
            return None
        records = [(each, each.record(neutral)) for each in potentials]
        if any(record is None for _, record in records):
            return None
        found = cls(levels, records)
        return None if found._step.other_tasks else found

    def find(self, targets: Sequence[object], limits: PositionLimits, q: Array) -> tuple[Array, OutcomeStruct]:
        """(nq,) the optimum, from q (nq,), and what the kernel says of it."""
        self._step.aim(targets)
        step, data = self._step.laid_out()
        struct, cones = self._struct, cone_records(limits.cones)
        struct.step, struct.lower, struct.upper = step, limits.lower.ctypes.data, limits.upper.ctypes.data
        struct.cones, struct.n_cones = cones.ctypes.data, len(cones)
        self._q[...] = q
        work = np.empty(self._library.rk_optimum_workspace(ctypes.byref(struct), data))
        self._library.rk_optimum_find(
            ctypes.byref(struct),
            data,
            ctypes.c_void_p(self._q.ctypes.data),
            ctypes.c_void_p(work.ctypes.data),
            ctypes.byref(self._outcome),
        )
        return self._q.copy(), self._outcome


class NativeOptimum:
    """`StaticOptimum` in the kernel."""

    def __init__(self, posing: Posing, criteria: Sequence[Criterion], kernel: KernelOptimum) -> None:
        self.posing, self._criteria, self._kernel = posing, criteria, kernel

    def find(self, start: Point) -> Generator[float, None, Optimum]:
        """As `StaticOptimum.find`; it yields nothing."""
        q, found = self._kernel.find(self.posing.targets, self.posing.limits, start.q)
        point, is_optimal = self.posing.point(q), found.code == 0
        reason = "" if is_optimal else self._reason(start, point, found)
        return Optimum(point, found.stationary, is_optimal, found.iterations, reason)
        yield

    def _reason(self, start: Point, point: Point, found: OutcomeStruct) -> str:
        surface, objective = TaskSurface(self.posing, start), Objective(self._criteria, self.posing.scale)
        return (
            endless(self.posing, objective, surface.start, point, surface.nearest)
            or (
                "",
                f"after {ITERATIONS} steps the cost still falls",
                f"the cost is nearly flat: {PATIENCE} steps lowered it by {found.change:.1g}",
                "no step found lowers the cost",
                f"there was something better around each of {ROUNDS} poses",
            )[found.code]
        )
