"""The search for poses of tasks in levels in the C kernel through ctypes (kernel/include/robokin_ik.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import library_with, pointer
from ..tasks.influence import Remaining
from ..velocity.task_levels import TaskLevels
from .data import IKData
from .engine import Outcome
from .native_problem import ProblemStruct
from .native_stack import NativeStack, StackStruct


class NativeLevelSearch:
    """The kernel's search for poses of tasks in levels; `ik.reference.LevelSearch` is its twin.

    used_from: (nq,) how many levels count at least when restarts draw a coordinate.
    """

    name = "native"

    def __init__(
        self,
        levels: TaskLevels,
        data: IKData,
        used_from: Array,
        attempts: int,
        iterations: int,
    ) -> None:
        library = library_with(stack=StackStruct)
        self._solve, self._workspace = library.rk_ik_solve, library.rk_ik_workspace
        self._stack = NativeStack(levels)
        self._used_from = used_from.astype(np.int32)
        self._problem = ProblemStruct(data, attempts, iterations)
        self._reference = ctypes.byref(self._problem)
        self._struct: StackStruct | None = None

    def solve(
        self,
        targets: Sequence[Any],
        q0: Array,
        seed: int,
        reachable: int,
        postures: tuple[int, Array] | None,
        attempts: int,
        influence: Sequence[float] | None,
        remaining: Mapping[int, Remaining],
        costs: Array,
        steps: Array,
        is_trial: bool = False,
    ) -> Outcome:
        """targets: checked.   q0: (nq,) inside the limits.   reachable: levels, loop closures first, before the first
        one out of reach.   postures: see `PoseProblem.postures`.   influence, remaining: see `NativeStack.aim`.
        costs: (levels,) of a step when so many levels count.   steps: (1,) what they may cost, of which it takes what
        they do; when it is spent, no further attempt begins.   is_trial: see `descent.engine.Engine`."""
        stack, problem = self._stack, self._problem
        q, outcome, before = np.array(q0), np.zeros(3, np.int32), steps.copy()
        while True:
            stack.aim([targets], remaining, influence)
            if stack.struct is not self._struct:
                self._struct = stack.struct
                problem.stack = ctypes.addressof(stack.struct)
                self._work = np.zeros(self._workspace(self._reference))
                self._residuals = np.zeros_like(stack.residuals)
            stack.struct.reachable = reachable
            stack.struct.costs, stack.struct.steps = costs.ctypes.data, steps.ctypes.data
            problem.attempts, problem.is_trial = attempts, is_trial
            stack.struct.used_from = self._used_from.ctypes.data
            first, values = (0, None) if postures is None else postures
            stack.struct.postures, stack.struct.posture_from = None if values is None else values.ctypes.data, first
            arrays = (np.ascontiguousarray(q0), self._work, q, self._residuals, outcome)
            start, work, *results = (pointer(array) for array in arrays)
            self._solve(self._reference, ctypes.c_int64(1), None, start, ctypes.c_uint64(seed), work, *results)
            if stack.is_done():
                break
            steps[:] = before
        code, iterations, tried = outcome.tolist()
        return code, q, self._residuals[stack.order], iterations, tried
