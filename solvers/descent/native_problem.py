"""The inverse kinematics of the C kernel through ctypes (kernel/include/robokin_ik.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import MOST, Array
from ...robokin.backend.library import library_with, model_struct, pointer
from ...robokin.backend.parallel import run_chunks
from ...robokin.errors import ConfigurationError, TaskError
from ..tasks import FrameTask
from ..tasks.checks import rigid
from .data import BASE_RECORD, CONE_RECORD, TASK_RECORD, IKData
from .engine import BAD_START, BAD_TARGET, BatchOutcome, Outcome

CHUNK = 256  # solves per call of a batch at most: hides the cost of a call and of a change of threads
PIECES = 16  # calls that a batch is cut into at least, so that hard targets are shared out evenly

_ARRAYS = (
    ("task_start", np.int32),
    ("task_columns", np.int32),
    ("fill_start", np.int32),
    ("fill", np.int32),
    ("coordinate", np.int32),
    ("q_index", np.int32),
    ("robot_lower", np.float64),
    ("robot_upper", np.float64),
    ("middle", np.float64),
    ("half_range", np.float64),
    ("about_middle", np.int32),
    ("periodic", np.int32),
    ("damping", np.float64),
)


class ProblemStruct(ctypes.Structure):
    """`rk_ik` of the kernel. Keeps the arrays alive that it points to."""

    _fields_ = (
        ("model", ctypes.c_void_p),
        ("tasks", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name, _ in _ARRAYS),
        ("cones", ctypes.c_void_p),
        ("bases", ctypes.c_void_p),
        ("length", ctypes.c_double),
        ("stack", ctypes.c_void_p),
        *((name, ctypes.c_int32) for name in ("robot_nq", "attempts", "iterations", "n_cones", "n_bases", "is_trial")),
    )

    def __init__(self, data: IKData, attempts: int, iterations: int) -> None:
        super().__init__(length=data.length, robot_nq=len(data.robot_lower), attempts=attempts, iterations=iterations)
        struct = model_struct(data.tree)
        records, cones, bases = np.ascontiguousarray(data.records), data.cone_records, data.base_records
        self.kept = [data.tree, struct, records, cones, bases]
        self.model, self.tasks = ctypes.addressof(struct), records.ctypes.data
        self.cones, self.bases = cones.ctypes.data, bases.ctypes.data
        self.n_cones, self.n_bases = len(cones), len(bases)
        for name, dtype in _ARRAYS:
            array = np.ascontiguousarray(getattr(data, name), dtype)
            self.kept.append(array)
            setattr(self, name, array.ctypes.data)


class NativeEngine:
    """See `engine.Engine`. Owns the buffers of single solves, so it is for one thread at a time."""

    name = "native"

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], attempts: int, iterations: int) -> None:
        library = library_with(ik=ProblemStruct, task=TASK_RECORD, cone=CONE_RECORD, base=BASE_RECORD)
        self.tasks = tasks
        self._solve = library.rk_ik_solve
        self._problem = ProblemStruct(data, attempts, iterations)
        self._reference = ctypes.byref(self._problem)
        self._work_size = library.rk_ik_workspace(self._reference)
        self._targets = np.empty((len(tasks), 4, 4))
        self._q0, self._q = np.empty(len(data.robot_lower)), np.empty(len(data.robot_lower))
        self._residuals = np.empty((len(tasks), 2))
        outcome = np.zeros(3, np.int32)
        self._outcome = memoryview(outcome)  # ten times faster to read than a ctypes array
        self._work = np.empty(self._work_size)
        self._seed = ctypes.c_uint64()
        self._arguments = (
            self._reference,
            ctypes.c_int64(1),
            pointer(self._targets),
            pointer(self._q0),
            self._seed,
            pointer(self._work),
            pointer(self._q),
            pointer(self._residuals),
            pointer(outcome),
        )

    def solve(self, targets: Array, q0: Array, seed: int, is_trial: bool = False) -> Outcome:
        self._targets[...] = targets
        self._q0[...] = q0
        self._seed.value, self._problem.is_trial = seed, is_trial
        self._solve(*self._arguments)
        code, iterations, attempts = self._outcome
        if code >= BAD_TARGET:
            self._complain(code, targets)
        return code, self._q.copy(), self._residuals.copy(), iterations, attempts

    def solve_batch(self, targets: Array, q0: Array, seed: int, threads: int | None) -> BatchOutcome:
        count, nq = q0.shape
        q = np.empty((count, nq))
        residuals = np.empty((count, len(self.tasks), 2))
        outcomes = np.empty((count, 3), np.int32)
        sources, starts = np.ascontiguousarray(targets, np.float64), np.ascontiguousarray(q0, np.float64)
        strides = [(array.ctypes.data, array[:1].nbytes) for array in (sources, starts, q, residuals, outcomes)]

        def part(start: int, stop: int) -> None:
            work = np.empty(self._work_size)
            goal, begin, *results = (ctypes.c_void_p(address + start * stride) for address, stride in strides)
            self._solve(
                self._reference,
                ctypes.c_int64(stop - start),
                goal,
                begin,
                ctypes.c_uint64(seed),
                pointer(work),
                *results,
            )

        self._problem.is_trial = False
        run_chunks(part, count, min(CHUNK, max(1, count // PIECES)), threads)
        codes, iterations, attempts = outcomes.T
        for bad in np.flatnonzero(codes >= BAD_TARGET):
            self._complain(codes[bad], targets[bad])
        return codes, q, residuals, iterations, attempts

    def _complain(self, code: int, targets: Array) -> None:
        """Raise the error for what the kernel refused."""
        if code == BAD_START:
            raise ConfigurationError(f"q0 has entries that are not finite, or larger than {MOST:g}")
        for task, target in zip(self.tasks, targets, strict=True):
            rigid(target, f"{task.name}: target")
        raise TaskError("a target is not a rigid pose")  # by a rounding error less than `rigid` allows
