"""The differential step of the C kernel through ctypes (kernel/include/robokin_step.h)."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ..robokin.backend.library import ModelStruct, load_library
from ..robokin.errors import BackendError, TaskError
from ..robokin.model import RobotModel
from ..robokin.tree import Tree, pack_placement, unpack_placement
from .criteria.base import Criterion, CriterionRecord
from .hierarchy import Level
from .ik_data import TASK_RECORD
from .influence import is_partial
from .tasks import FrameTask, Task
from .viability import StepLimits

Array = np.ndarray

BAD_START, NOT_CONVEX = 1, 2


class CriterionStruct(ctypes.Structure):
    """`rk_criterion` of the kernel."""

    _fields_ = (
        ("kind", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("weight", ctypes.c_double),
        ("gain", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("metric", "stiffness", "rest", "gravity")),
    )


class StepStruct(ctypes.Structure):
    """`rk_step` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("model", "tasks", "bands", "first", "criteria", "scale")),
        *((name, ctypes.c_void_p) for name in ("largest", "change", "lower", "upper", "coordinate")),
        ("dt", ctypes.c_double),
        ("length", ctypes.c_double),
        ("n_criteria", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    )


class DataStruct(ctypes.Structure):
    """`rk_step_data` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("q", "previous", "targets", "first_row")),
        ("levels", ctypes.c_int32),
        ("n_active", ctypes.c_int32),
        *((name, ctypes.c_void_p) for name in ("start", "J", "low", "high", "damping", "H", "g")),
        *((name, ctypes.c_void_p) for name in ("v", "lacking", "points", "errors", "residuals", "costs")),
        *((name, ctypes.c_void_p) for name in ("freedom", "active")),
    )


_STRUCTS = (("step", StepStruct), ("step_data", DataStruct), ("criterion", CriterionStruct))


def _library() -> ctypes.CDLL:
    """The kernel, checked to have the structs that this file describes. Raises BackendError."""
    library = load_library()
    for name, struct in _STRUCTS:
        found = getattr(library, f"rk_sizeof_{name}")()
        if found != ctypes.sizeof(struct):
            raise BackendError(f"the kernel's rk_{name} has {found} bytes, not {ctypes.sizeof(struct)}")
    library.rk_step_workspace.restype = ctypes.c_int64
    return library


def is_native(task: Task) -> TypeGuard[FrameTask]:
    return isinstance(task, FrameTask) and task.is_in_kernel and not is_partial(task.influence)


class Found(NamedTuple):
    """v: (nv,).   lacking: per level.   freedom: per level, what it leaves.   errors, residuals: of the native tasks
    (k, 2) before and after the step.   costs: of the native criteria.   active: indices of v at a limit.
    points: (levels + 1, nv) as in a HierarchyResult."""

    v: Array
    lacking: list[Array]
    freedom: list[int]
    errors: Array
    residuals: Array
    costs: list[float]
    active: list[int]
    points: Array


class NativeStep:
    """A velocity problem bound to the kernel, with buffers for one step: for one thread at a time.

    levels: indices of the tasks, per priority.   tasks, criteria: all; `native_tasks` and `native_criteria` say which
    of them the kernel computes, rows and matrices of the `other_...` are given at each step.   length: L [m].
    """

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        levels: Sequence[Sequence[int]],
        criteria: Sequence[tuple[Criterion, CriterionRecord | None]],
        limits: StepLimits,
        scale: Array,
        length: float,
        damping: float,
    ) -> None:
        library = _library()
        self._run, self._workspace = library.rk_step_run, library.rk_step_workspace
        self.model, self.levels, self.damping = model, levels, damping
        self.native_tasks = [i for i, task in enumerate(tasks) if is_native(task)]
        self.other_tasks = [i for i, task in enumerate(tasks) if not is_native(task)]
        self.native_criteria = [i for i, (_, record) in enumerate(criteria) if record is not None]
        self.other_criteria = [i for i, (_, record) in enumerate(criteria) if record is None]
        self.is_alone = not self.other_tasks and not self.other_criteria
        frames = [task for task in tasks if is_native(task)]
        records = np.array([_task_record(task, length) for task in frames], TASK_RECORD)
        self._counts = {i: int(record["used"].sum()) for i, record in zip(self.native_tasks, records, strict=True)}
        self._struct = StepStruct(dt=limits.dt, length=length, n_criteria=len(self.native_criteria))
        struct = ModelStruct(_tree_of_tips(model, frames))
        packed = (CriterionStruct * len(self.native_criteria))()
        own = [(criterion, record) for criterion, record in criteria if record is not None]
        self._kept: list[object] = [struct, packed]
        self._kept += [_fill(each, *pair) for each, pair in zip(packed, own, strict=True)]
        self._struct.model, self._struct.criteria = ctypes.addressof(struct), ctypes.addressof(packed)
        bands = np.array([task.band for task in frames]).reshape(-1, 6)
        top = levels[0] if levels else []
        first = np.array([i in top and bool(tasks[i].influence) for i in self.native_tasks], np.int32)
        arrays = {
            "tasks": records,
            "bands": bands,
            "first": first,
            "scale": scale,
            "coordinate": limits.coordinate.astype(np.int32),
        }
        for name in ("largest", "change", "lower", "upper"):
            arrays[name] = np.ascontiguousarray(getattr(limits, name), np.float64)
        for name, array in arrays.items():
            self._kept.append(array)
            setattr(self._struct, name, array.ctypes.data)
        self._step_address = ctypes.c_void_p(ctypes.addressof(self._struct))
        self._make_buffers(len(frames), len(self.native_criteria))

    def _make_buffers(self, frames: int, criteria: int) -> None:
        nq, nv = self.model.nq, self.model.nv
        self._data = DataStruct()
        self.q, self.previous, self.targets = np.empty(nq), np.zeros(nv), np.empty((frames, 4, 4))
        self._first_row = np.zeros(frames, np.int32)
        self._v, self._costs, self._active = np.empty(nv), np.empty(criteria), np.empty(nv, np.int32)
        self._errors = np.empty((2, frames, 2))  # before and after
        self._H, self._g = np.empty((nv, nv)), np.empty(nv)
        self._point("q", self.q)
        self._point("previous", self.previous)
        self._point("targets", self.targets)
        self._point("first_row", self._first_row)
        self._point("v", self._v)
        self._point("costs", self._costs)
        self._point("active", self._active)
        self._point("errors", self._errors)
        if self.other_criteria:
            self._point("H", self._H)
            self._point("g", self._g)
        self._data.residuals = self._errors.ctypes.data + self._errors[0].nbytes
        self._data_address = ctypes.c_void_p(ctypes.addressof(self._data))
        self._capacity = -1
        self._plain = False  # whether the rows lie as without hard levels and other tasks
        self._lay_out([], {})

    def _point(self, name: str, array: Array) -> None:
        setattr(self._data, name, array.ctypes.data)

    def run(
        self, hard: Sequence[Level], others: Mapping[int, Level], objective: tuple[Array, Array] | None
    ) -> Found | None:
        """One step from what is in `q`, `previous`, `targets`; None when they are no start (see the kernel's header).

        hard: levels before those of the tasks.   others: rows of the tasks that are not native.   objective: H and g
        of the criteria that are not. Raises TaskError when that H is not positive semidefinite.
        """
        if not self._plain or hard or others:
            self._lay_out(hard, others)
        if objective is not None:
            self._H[...], self._g[...] = objective
        code = self._run(self._step_address, self._data_address, self._work_address)
        if code == BAD_START:
            return None
        if code == NOT_CONVEX:
            raise TaskError("the criteria's matrix H is not positive semidefinite")
        lacking = self._lacking.copy()
        errors = self._errors.copy()
        return Found(
            self._v.copy(),
            [lacking[first:last] for first, last in self._spans],
            self._freedom.tolist(),
            errors[0],
            errors[1],
            self._costs.tolist(),
            self._active.nonzero()[0].tolist() if self._data.n_active else [],
            self._points.copy(),
        )

    def rows(self, others: Mapping[int, Level]) -> tuple[list[Level], Array] | None:
        """At what is in `q` and `targets`: the levels of tasks, dimensionless and weighted, and what the parts of the
        native tasks lack (k, 2); None when it is no start. others: as in `run`."""
        if not self._plain or others:
            self._lay_out([], others)
        levels, self._data.levels = self._data.levels, 0  # no step is asked for
        code = self._run(self._step_address, self._data_address, self._work_address)
        self._data.levels = levels
        if code == BAD_START:
            return None
        J, low, high = self._J, self._low, self._high
        own = [Level(J[a:b].copy(), low[a:b].copy(), high[a:b].copy()) for a, b in self._spans]
        return own, self._errors[0].copy()

    def _lay_out(self, hard: Sequence[Level], others: Mapping[int, Level]) -> None:
        """Where each level's and each task's rows lie; those that are given are filled in."""
        given: list[tuple[int, Level]] = []
        ends = [0]
        row = 0
        for level in hard:
            given.append((row, level))
            row += len(level.J)
            ends.append(row)
        first_rows = {}
        for indices in self.levels:
            for i in indices:
                if i in self._counts:
                    first_rows[i] = row
                    row += self._counts[i]
                elif i in others:
                    given.append((row, others[i]))
                    row += len(others[i].J)
            ends.append(row)
        self._reserve(row, len(ends) - 1)
        self._start[...] = ends
        self._spans = list(itertools.pairwise(ends))
        self._damping[: len(hard)], self._damping[len(hard) :] = 0.0, self.damping
        self._first_row[...] = [first_rows[i] for i in self.native_tasks]
        for first, level in given:
            last = first + len(level.J)
            self._J[first:last], self._low[first:last], self._high[first:last] = level.J, level.lower, level.upper
        self._plain = not hard and not others

    def aim(self, targets: Sequence[Any]) -> None:
        """targets: checked, of all tasks."""
        if self.native_tasks:
            np.concatenate([targets[i] for i in self.native_tasks], out=self.targets.reshape(-1, 4))

    def _reserve(self, rows: int, levels: int) -> None:
        """Buffers of `rows` rows in so many levels."""
        self._start, self._damping = np.empty(levels + 1, np.int32), np.empty(levels)
        self._freedom, self._lacking = np.empty(levels + 1, np.int32), np.empty(rows)
        self._points = np.empty((levels + 1, self.model.nv))
        for name in ("start", "damping", "freedom", "lacking", "points"):
            self._point(name, getattr(self, f"_{name}"))
        self._data.levels = levels
        if rows <= self._capacity:
            return
        self._capacity = rows
        self._J, self._low, self._high = np.empty((rows, self.model.nv)), np.empty(rows), np.empty(rows)
        for name in ("J", "low", "high"):
            self._point(name, getattr(self, f"_{name}"))
        self._work = np.empty(self._workspace(self._step_address, rows))
        self._work_address = ctypes.c_void_p(self._work.ctypes.data)


def _task_record(task: FrameTask, length: float) -> np.void:
    record = np.zeros((), TASK_RECORD)
    record["kind"], record["tip_axes"] = task.record_kind, task.frame == "tip"
    for bit, weights in enumerate((task.position_weights, task.orientation_weights)):
        record["parts"] |= int(weights.any()) << bit
    record["exact"] = record["parts"]
    record["weights"] = task.weights / np.repeat((length, 1.0), 3)
    record["used"] = task.weights != 0.0
    record["axis"] = task.axis
    return record[()]  # type: ignore[return-value]


def _tree_of_tips(model: RobotModel, tasks: Sequence[FrameTask]) -> Tree:
    """The model's tree with the tasks' tips for frames."""
    tree = model.tree
    links = [model.link_index(task.link) for task in tasks]
    placements = [unpack_placement(tree.frame_placement[link]) for link in links]
    tips = [pack_placement(T @ task.offset) for T, task in zip(placements, tasks, strict=True)]
    return replace(
        tree,
        frame_node=np.ascontiguousarray(tree.frame_node[links], np.int32),
        frame_placement=np.array(tips).reshape(-1, 12),
    )


def _fill(struct: CriterionStruct, criterion: Criterion, record: CriterionRecord) -> list[Array]:
    """Fills a struct in; the arrays that it points to."""
    struct.kind, struct.weight, struct.gain = record.kind, criterion.weight, record.gain
    kept = []
    for name in ("metric", "stiffness", "rest", "gravity"):
        if getattr(record, name) is not None:
            kept.append(np.ascontiguousarray(getattr(record, name), np.float64))
            setattr(struct, name, kept[-1].ctypes.data)
    return kept
