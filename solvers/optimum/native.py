"""The criteria's optimum of the C kernel through ctypes (kernel/include/robokin_optimum.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.backend.library import library_with, pointer
from ...robokin.model.limits import PositionLimits
from ..criteria import Criterion, Potential
from ..criteria.kinds import KINDS
from ..criteria.objective import Objective
from ..descent.data import cone_records
from ..descent.native_stack import NativeStack, StackStruct
from ..tasks.influence import Remaining
from ..velocity.task_levels import TaskLevels
from .constraint_manifold import ConstraintManifold
from .pose_look import Optimum
from .pose_point import PosePoint
from .pose_problem import PoseProblem
from .sqp import PATIENCE, ROUNDS, StaticOptimum
from .unbounded import unbounded

_POTENTIALS = ctypes.CFUNCTYPE(None, ctypes.c_int32)


class OptimumStruct(ctypes.Structure):
    """`rk_optimum` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("stack", "lower", "upper", "cones", "metric", "other")),
        ("potentials", _POTENTIALS),
        *((name, ctypes.c_int32) for name in ("n_cones", "poses")),
    )


class OutcomeStruct(ctypes.Structure):
    """`rk_optimum_outcome` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_double) for name in ("cost", "stationary", "change")),
        *((name, ctypes.c_int32) for name in ("code", "iterations", "poses", "reserved")),
    )


class KernelOptimum(NativeStack):
    """Tasks and potentials bound to the kernel, which asks for those that it does not know.

    Not to be shared between threads. Raises BackendError.
    """

    def __init__(self, levels: TaskLevels, potentials: Sequence[Potential]) -> None:
        super().__init__(levels, potentials)
        self._library, nv = library_with(stack=StackStruct, optimum=OptimumStruct), levels.model.nv
        self._potentials = potentials
        self._metric, self._other = np.zeros(nv), np.zeros(2 + nv)
        self._sum_others = _POTENTIALS(self._guarded(self._sum))

    @classmethod
    def kept(cls, levels: TaskLevels, potentials: Sequence[Potential]) -> KernelOptimum | None:
        """The problem as `of` makes it, once for as long as the potentials are equal."""
        key = cls, tuple(potentials)
        if key not in levels.kept:
            levels.kept[key] = cls.of(levels, potentials)
        return levels.kept[key]

    @classmethod
    def of(cls, levels: TaskLevels, potentials: Sequence[Potential]) -> KernelOptimum | None:
        """None when the kernel has not all that have edges."""
        neutral = levels.state(levels.model.neutral(), levels.targets, 1.0)
        for each in potentials:
            is_known = type(each) in KINDS.values() and each.record(neutral) is not None
            if not is_known and type(each).largest_eigenvalue is not Potential.largest_eigenvalue:
                return None
        return cls(levels, potentials)

    def find(
        self,
        targets: Sequence[Any],
        limits: PositionLimits,
        influence: Sequence[float] | None,
        remaining: Mapping[int, Remaining],
        q: Array,
        most: int,
    ) -> tuple[Array, OutcomeStruct]:
        """(nq,) the optimum, from q (nq,), and what the kernel says of it. influence, remaining: see
        `NativeStack.aim`.   most: poses that it may look at."""
        optimum, outcome, cones = OptimumStruct(), OutcomeStruct(), cone_records(limits.cones)
        optimum.lower, optimum.upper = limits.lower.ctypes.data, limits.upper.ctypes.data
        optimum.cones, optimum.n_cones = cones.ctypes.data, len(cones)
        optimum.other, optimum.poses = self._other.ctypes.data, most
        while True:
            self.aim([targets], remaining, influence)
            if others := self._other_potentials:
                state = self.levels.state(q, targets, 1.0, None, self.influence)
                self._metric[...] = sum(each.weight * each.gain * each.metric(state) for each in others)
                optimum.metric, optimum.potentials = self._metric.ctypes.data, self._sum_others
            optimum.stack = ctypes.addressof(self.struct)
            found = q.copy()
            work = np.zeros(self._library.rk_optimum_workspace(ctypes.byref(optimum)))
            pointers = (pointer(array) for array in (found, work))
            self._library.rk_optimum_find(ctypes.byref(optimum), *pointers, ctypes.byref(outcome))
            if self.is_done():
                return found, outcome

    @property
    def _other_potentials(self) -> list[Potential]:
        return [self._potentials[i] for i in self.step.other_criteria]

    def _sum(self, with_slope: int) -> None:
        """The potentials that the kernel does not know, at what is in `step.q`."""
        state = self._state(0)
        values = [each.weight * each.gain * each.potential(state) for each in self._other_potentials]
        self._other[:2] = sum(values), sum(map(abs, values))
        if with_slope:
            self._other[2:] = sum(each.weight * each.gain * each.gradient(state) for each in self._other_potentials)


class NativeOptimum:
    """`StaticOptimum` in the kernel."""

    def __init__(self, poses: PoseProblem, potentials: Sequence[Potential], kernel: KernelOptimum) -> None:
        self.poses, self._potentials, self._kernel = poses, potentials, kernel

    def find(self, start: PosePoint, most: int) -> Generator[float, None, Optimum]:
        """Find the optimum like `StaticOptimum.find`, yielding nothing."""
        poses = self.poses
        counted = poses.influence, poses.remaining
        q, found = self._kernel.find(poses.targets, poses.limits, *counted, start.q, most)
        point, is_optimal = poses.point(q), found.code == 0
        why = str if is_optimal else partial(self._reason, start, point, found)
        return Optimum(point, found.stationary, is_optimal, found.iterations, found.poses, why)
        yield

    def _reason(self, start: PosePoint, point: PosePoint, found: OutcomeStruct) -> str:
        surface, objective = ConstraintManifold(self.poses, start), Objective(self._potentials, self.poses.scale)
        return (
            unbounded(self.poses, objective, surface.start, point, surface.nearest)
            or (
                "",
                f"after {found.iterations} steps the cost still falls",
                f"{PATIENCE} steps lowered the cost by {found.change:.1g} only",
                "no step found lowers the cost",
                f"there was something better around each of {ROUNDS} poses",
            )[found.code]
        )


def optimum_of(poses: PoseProblem, criteria: Sequence[Criterion]) -> StaticOptimum | NativeOptimum:
    """What finds the optimum of some criteria: the kernel, when that is the backend and can minimise them."""
    if get_backend(poses.levels.backend).name == "native":
        potentials = [each for each in criteria if isinstance(each, Potential)]
        kernel = KernelOptimum.kept(poses.levels, potentials)
        if kernel is not None and not kernel.step.unknown(poses.targets):
            return NativeOptimum(poses, potentials, kernel)
    return StaticOptimum(poses, criteria)
