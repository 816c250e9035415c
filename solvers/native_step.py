"""The differential step of the C kernel through ctypes (kernel/include/robokin_step.h)."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..robokin.backend.library import ModelStruct
from ..robokin.errors import TaskError
from ..robokin.model import RobotModel
from .criteria.base import Criterion, CriterionRecord
from .ik_data import TASK_RECORD
from .level import Level
from .native_tasks import RobotTask, is_on_robot, on_tip
from .step_structs import (
    CriterionStruct,
    DataStruct,
    StepStruct,
    fill_criterion,
    step_library,
    task_record,
    tree_of_tips,
)
from .task_levels import TaskLevels
from .tasks import Task
from .tasks.robot_rows import ROBOT_ROW
from .tasks.tip import AT_LINK
from .viability import StepLimits

Array = np.ndarray

BAD_START, NOT_CONVEX = 1, 2
ROWS_ONLY = -1  # in place of the number of levels


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

    tasks, criteria: all; `native_tasks` and `native_criteria` say which
    of them the kernel computes, those on tips first; `order` puts these in the order of the tasks. Rows and matrices of
    the `other_...` are given at each step.
    """

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        levels: TaskLevels,
        criteria: Sequence[tuple[Criterion, CriterionRecord | None]],
        limits: StepLimits,
        scale: Array,
        damping: float,
    ) -> None:
        library, length = step_library(), levels.length
        self._run, self._workspace = library.rk_step_run, library.rk_step_workspace
        self.model, self.levels, self.damping = model, levels, damping
        tips = {i: tip for i, task in enumerate(tasks) if (tip := on_tip(task))}
        self._tip_tasks, frames = list(tips), list(tips.values())
        self._may_stay = any(tip is not tasks[i] for i, tip in tips.items())
        self._robot_tasks = [i for i, task in enumerate(tasks) if is_on_robot(task)]
        self._on_robot = [RobotTask(model, tasks[i], k, length) for k, i in enumerate(self._robot_tasks)]
        self.native_tasks = self._tip_tasks + self._robot_tasks
        is_in_order = self.native_tasks == sorted(self.native_tasks)
        self.order: slice | Array = slice(None) if is_in_order else np.argsort(self.native_tasks)
        self.other_tasks = [i for i in range(len(tasks)) if i not in self.native_tasks]
        self.native_criteria = [i for i, (_, record) in enumerate(criteria) if record is not None]
        self.other_criteria = [i for i, (_, record) in enumerate(criteria) if record is None]
        self.is_alone = not self.other_tasks and not self.other_criteria
        records = np.array([task_record(task, length) for task in frames], TASK_RECORD)
        self._counts = {i: int(record["used"].sum()) for i, record in zip(self._tip_tasks, records, strict=True)}
        self._counts |= dict.fromkeys(self._robot_tasks, 0)  # until they are aimed
        counts = {"n_criteria": len(self.native_criteria), "n_robot_tasks": len(self._robot_tasks)}
        self._struct = StepStruct(dt=limits.dt, length=length, **counts)
        struct = ModelStruct(tree_of_tips(model, frames))
        packed = (CriterionStruct * len(self.native_criteria))()
        own = [(criterion, record) for criterion, record in criteria if record is not None]
        self._kept: list[object] = [struct, packed]
        self._kept += [fill_criterion(each, *pair) for each, pair in zip(packed, own, strict=True)]
        self._struct.model, self._struct.criteria = ctypes.addressof(struct), ctypes.addressof(packed)
        bands = np.array([task.band for task in frames]).reshape(-1, 6)
        top = levels.indices[0] if levels.indices else []
        first = np.array([i in top and bool(tasks[i].influence) for i in self._tip_tasks], np.int32)
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
        self._first_row, self._stays = np.zeros(frames, np.int32), np.zeros(frames, np.int32)
        self._robot_rows, self._robot_at = np.zeros(0, ROBOT_ROW), np.zeros(0, np.int32)
        self._v, self._costs, self._active = np.empty(nv), np.empty(criteria), np.empty(nv, np.int32)
        self._errors = np.empty((2, len(self.native_tasks), 2))  # before and after
        self._H, self._g = np.empty((nv, nv)), np.empty(nv)
        self._point("q", self.q)
        self._point("previous", self.previous)
        self._point("targets", self.targets)
        self._point("first_row", self._first_row)
        self._point("stays", self._stays)
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
        self, hard: Sequence[Level], others: Mapping[int, Sequence[Level]], objective: tuple[Array, Array] | None
    ) -> Found | None:
        """One step from what is in `q`, `previous`, `targets`; None when they are no start (see the kernel's header).

        hard: levels before those of the tasks.   others: rows of the tasks that are not native, of one
        level or two (`TaskLevels.parts_of`).   objective: H and g
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

    def rows(self, others: Mapping[int, Sequence[Level]]) -> tuple[list[Level], Array] | None:
        """At what is in `q` and `targets`: the levels of tasks, dimensionless and weighted, and what the parts of the
        native tasks lack (k, 2); None when it is no start. others: as in `run`."""
        if not self._plain or others:
            self._lay_out([], others)
        levels, self._data.levels = self._data.levels, ROWS_ONLY
        code = self._run(self._step_address, self._data_address, self._work_address)
        self._data.levels = levels
        if code == BAD_START:
            return None
        J, low, high = self._J, self._low, self._high
        own = [Level(J[a:b].copy(), low[a:b].copy(), high[a:b].copy()) for a, b in self._spans]
        return own, self._errors[0].copy()

    def laid_out(self) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
        """Addresses of `rk_step` and `rk_step_data`, whose targets and rows are those that it was aimed at last."""
        if not self._plain:
            self._lay_out([], {})
        return self._step_address, self._data_address

    def _lay_out(self, hard: Sequence[Level], others: Mapping[int, Sequence[Level]]) -> None:
        """Where each level's and each task's rows lie; those that are given are filled in."""
        given: list[tuple[int, Level]] = []
        ends = [0]
        row = 0
        for level in hard:
            given.append((row, level))
            row += len(level.J)
            ends.append(row)
        first_rows = {}
        for indices, count in zip(self.levels.indices, self.levels.counts, strict=True):
            for part in range(count):
                for i in indices:
                    if i in self._counts and part == 0:
                        first_rows[i] = row
                        row += self._counts[i]
                    elif i in others and part < len(others[i]):
                        given.append((row, others[i][part]))
                        row += len(others[i][part].J)
                ends.append(row)
        self._reserve(row, len(ends) - 1)
        self._start[...] = ends
        self._spans = list(itertools.pairwise(ends))
        self._damping[: len(hard)], self._damping[len(hard) :] = 0.0, self.damping
        self._first_row[...] = [first_rows[i] for i in self._tip_tasks]
        spans = [range(first_rows[i], first_rows[i] + self._counts[i]) for i in self._robot_tasks]
        self._robot_at = np.fromiter(itertools.chain(*spans), np.int32)
        self._point("robot_at", self._robot_at)
        for first, level in given:
            last = first + len(level.J)
            self._J[first:last], self._low[first:last], self._high[first:last] = level.J, level.lower, level.upper
        self._plain = not hard and not others

    def aim(self, targets: Sequence[Any]) -> None:
        """targets: checked, of all tasks."""
        if self._tip_tasks:
            poses = [targets[i] for i in self._tip_tasks]
            if self._may_stay:
                self._stays[...] = [pose is None for pose in poses]
                poses = [AT_LINK if pose is None else pose for pose in poses]
            np.concatenate(poses, out=self.targets.reshape(-1, 4))
        if self._robot_tasks:
            self._aim_robot([targets[i] for i in self._robot_tasks])

    def _aim_robot(self, targets: Sequence[Any]) -> None:
        for i, task, target in zip(self._robot_tasks, self._on_robot, targets, strict=True):
            task.aim(target)
            if self._counts[i] != len(task.rows):
                self._counts[i], self._plain = len(task.rows), False
        count = sum(len(task.rows) for task in self._on_robot)
        if count != len(self._robot_rows):
            self._robot_rows = np.empty(count, ROBOT_ROW)
            self._data.n_robot_rows = count
            self._point("robot_rows", self._robot_rows)
        row = 0
        for task in self._on_robot:  # faster than to concatenate records
            self._robot_rows[row : row + len(task.rows)] = task.rows
            row += len(task.rows)

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
