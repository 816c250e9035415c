"""The differential step of the C kernel through ctypes (kernel/include/robokin_step.h)."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import ModelStruct, pointer
from ...robokin.collision.clearance_struct import ClearanceStruct
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ..criteria.base import Criterion, CriterionRecord
from ..limits.viability import StepLimits
from ..qp.level import Level
from ..tasks import Task
from ..tasks.clearance import ROWS, ClearanceTask
from ..tasks.influence import Remaining
from ..tasks.native import RobotTasks, TipTasks, is_kernel_clearance, is_on_robot, tip_form_of
from ..tasks.protocols import KernelTipTask
from ..tasks.robot_rows import ROBOT_ROW
from .native_layout import NO_LEVELS, Block, ExtraLevels, Layout
from .native_result import NativeResult
from .structs import CriterionStruct, DataStruct, StepStruct, fill_criterion, step_library
from .task_levels import TaskLevels

BAD_START, NOT_CONVEX = 1, 2
ROWS_ONLY = -1  # in place of the number of levels
_NEVER = object()  # no target


class NativeStep:
    """A velocity problem bound to the kernel, with buffers for one step: for one thread at a time.

    tasks, criteria: all; `native_tasks` and `native_criteria` say which of them the kernel computes, those on tips
    first; `order` puts these in the order of the tasks. Rows and matrices of the `other_...` come at each step.
    Loop closures are native all or none (`closes_loops`).
    is_step: tasks of partial influence ask for that share of the residual; else for all.
    others: tasks whose rows are handed over though the kernel knows them.
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
        is_step: bool = True,
        others: Collection[int] = (),
    ) -> None:
        library, length = step_library(), levels.length
        self._run, self._workspace = library.rk_step_run, library.rk_step_workspace
        self.model, self.levels, self.damping = model, levels, damping
        forms = {i: form for i, task in enumerate(tasks) if i not in others and (form := tip_form_of(task))}
        loops = [i for i, _ in levels.loops]
        self.closes_loops = all(i in forms for i in loops)
        if not self.closes_loops:
            forms = {i: form for i, form in forms.items() if i not in loops}
        self._loops = loops if self.closes_loops else []
        self._tip_numbers = {i: k for k, i in enumerate(forms)}
        first = {i for i in levels.first if tasks[i].influence}
        on_tips = cast("list[KernelTipTask]", [tasks[i] for i in forms])
        self._tips = TipTasks(model, on_tips, list(forms.values()), [i in first for i in forms], length)
        on_robot = {i: task for i, task in enumerate(tasks) if i not in others and is_on_robot(task, model)}
        self._robot_numbers = {i: k for k, i in enumerate(on_robot)}
        self._robots = RobotTasks(model, list(on_robot.values()), [i in first for i in on_robot], length)
        apart = [i for i, task in enumerate(tasks) if i not in others and is_kernel_clearance(task)][:1]
        self.native_tasks = [*forms, *on_robot, *apart]
        is_in_order = self.native_tasks == sorted(self.native_tasks)
        self.order: slice | Array = slice(None) if is_in_order else np.argsort(self.native_tasks)
        self.other_tasks = [i for i in range(len(tasks)) if i not in self.native_tasks]
        self.native_criteria = [i for i, (_, record) in enumerate(criteria) if record is not None]
        self.other_criteria = [i for i, (_, record) in enumerate(criteria) if record is None]
        self.is_alone = not self.other_tasks and not self.other_criteria
        counts = {"n_criteria": len(self.native_criteria), "n_robot_tasks": len(on_robot)}
        counts["most_first"] = self._robots.most_first
        self._struct = StepStruct(dt=limits.dt, length=length, n_tips=len(forms), **counts)
        struct = ModelStruct(self._tips.tree)
        packed = (CriterionStruct * len(self.native_criteria))()
        own = [(criterion, record) for criterion, record in criteria if record is not None]
        self._kept: list[object] = [struct, packed]
        self._kept += [fill_criterion(each, *pair) for each, pair in zip(packed, own, strict=True)]
        self._struct.model, self._struct.criteria = ctypes.addressof(struct), ctypes.addressof(packed)
        self._clearance = apart[0] if apart else None
        self._apart: ClearanceStruct | None = None
        for task in (tasks[i] for i in apart):
            assert isinstance(task, ClearanceTask)
            self._apart = ClearanceStruct(task.collisions, task.wanted, task.within(length), ROWS, task.spare)
            self._struct.clearance = ctypes.addressof(self._apart)
        arrays = {"tips": self._tips.records, "scale": scale, "coordinate": limits.coordinate.astype(np.int32)}
        for name in ("max_step", "max_step_change", "lower", "upper"):
            arrays[name] = np.ascontiguousarray(getattr(limits, name), np.float64)
        for name, array in arrays.items():
            self._kept.append(array)
            setattr(self._struct, name, array.ctypes.data)
        self._step_address = ctypes.c_void_p(ctypes.addressof(self._struct))
        self._shares = np.array([tasks[i].influence if is_step else 1.0 for i in self.native_tasks], np.float64)
        self._make_buffers(len(self.native_criteria))

    def _make_buffers(self, criteria: int) -> None:
        nq, nv, tips = self.model.nq, self.model.nv, self._tips
        self._data = DataStruct()
        self.q, self.previous = np.empty(nq), np.zeros(nv)
        self._first_row = np.zeros(len(tips.forms), np.int32)
        self._made_row = np.full((len(tips.forms), 2), -1, np.int32)
        self._robot_at = np.zeros(0, np.int32)
        self._robot_rows = self._robots.rows
        self._v, self._costs, self._active = np.empty(nv), np.empty(criteria), np.empty(nv, np.int32)
        self._errors = np.empty((2, len(self.native_tasks), 2))  # before and after
        self._H, self._g = np.empty((nv, nv)), np.empty(nv)
        self._point("q", self.q)
        self._point("previous", self.previous)
        self._point("targets", tips.targets)
        self._point("stays", tips.stays)
        self._point("rates", self._robots.rates)
        for name in ("first_row", "made_row", "shares", "v", "costs", "active", "errors"):
            self._point(name, getattr(self, f"_{name}"))
        if self.other_criteria:
            self._point("H", self._H)
            self._point("g", self._g)
        self._data.residuals = self._errors.ctypes.data + self._errors[0].nbytes
        self.address, self.data_address = ctypes.addressof(self._struct), ctypes.addressof(self._data)
        self._data_address = ctypes.c_void_p(self.data_address)
        self._capacity, self._obstacles_of = -1, _NEVER
        self._plain = False  # whether the rows lie as without extra levels
        self.lay_out(NO_LEVELS)

    def _point(self, name: str, array: Array) -> None:
        setattr(self._data, name, array.ctypes.data)

    def run(self, extra: ExtraLevels, objective: tuple[Array, Array] | None) -> NativeResult | None:
        """One step from what is in `q`, `previous`, towards what was aimed at; None when they are no start (see the
        kernel's header).

        objective: H and g of the criteria that are not native. Raises TaskError when that H is not positive
        semidefinite.
        """
        if not self._plain or extra is not NO_LEVELS:
            self.lay_out(extra)
        if objective is not None:
            self._H[...], self._g[...] = objective
        code = self._run(self._step_address, self._data_address, self._work_address)
        if code == BAD_START:
            return None
        if code == NOT_CONVEX:
            raise TaskError("the criteria's matrix H is not positive semidefinite")
        self.check_distances()
        level_residuals = self._level_residuals.copy()
        errors = self._errors.copy()
        return NativeResult(
            self._v.copy(),
            [level_residuals[first:last] for first, last in self._spans],
            self._freedom.tolist(),
            errors[0],
            errors[1],
            self._costs.tolist(),
            self._active.nonzero()[0].tolist() if self._data.n_active else [],
            self._points.copy(),
        )

    def rows(self, extra: ExtraLevels) -> tuple[list[Level], Array] | None:
        """The levels at `q` towards the targets, dimensionless and weighted, and the residuals of the parts of
        the native tasks (k, 2); None when it is no start."""
        if not self._plain or extra is not NO_LEVELS:
            self.lay_out(extra)
        levels, self._data.levels = self._data.levels, ROWS_ONLY
        code = self._run(self._step_address, self._data_address, self._work_address)
        self._data.levels = levels
        self.check_distances()
        return None if code == BAD_START else (self._levels(0, len(self._spans)), self._errors[0].copy())

    def check_distances(self) -> None:
        """Raises ModelError where a distance was not found since the last call: it is not taken as free."""
        failed, self._data.failed = self._data.failed, 0
        if failed and self._apart is not None:
            raise self._apart.collisions.not_found(failed - 1)

    def closures(self, first: int) -> list[Level]:
        """Loop closures of the last call, of which the first one is level number `first`."""
        return self._levels(first, first + len(self._loops))

    def _levels(self, first: int, last: int) -> list[Level]:
        J, low, high = self._J, self._low, self._high
        return [Level(J[a:b].copy(), low[a:b].copy(), high[a:b].copy()) for a, b in self._spans[first:last]]

    def lay_out(self, extra: ExtraLevels) -> list[Block]:
        """Where the rows of all tasks lie; extra ones are filled in. Returns their blocks, in order."""
        levels, numbers = self.levels, (self._tip_numbers, self._robot_numbers)
        layout = Layout(
            levels.indices,
            levels.counts,
            self._loops,
            *numbers,
            self._tips,
            self._robots.counts,
            self._clearance,
            extra,
        )
        self._reserve(layout.rows, layout.ends)
        self._data.clearance_row = layout.clearance_row
        self._damping[: layout.hard], self._damping[layout.hard :] = 0.0, self.damping
        self._first_row[...], self._made_row[...], self._robot_at = layout.first_row, layout.made_row, layout.robot_at
        self._point("robot_at", self._robot_at)
        for block in layout.to_fill:
            own, level = slice(block.at, block.at + block.rows), block.level
            assert level is not None
            self._J[own], self._low[own], self._high[own] = level.J, level.lower, level.upper
        self._plain, self.is_laid_out = extra is NO_LEVELS, True
        return layout.to_fill

    def fill(self, block: Block, level: Level) -> None:
        """Rows of a task that is not native; of a block those that it has not now are 0."""
        used, last = block.at + len(level.J), block.at + block.rows
        self._J[block.at : used], self._low[block.at : used] = level.J, level.lower
        self._high[block.at : used] = level.upper
        self._J[used:last], self._low[used:last], self._high[used:last] = 0.0, 0.0, 0.0

    def begin_frames(self) -> None:
        """Velocities are counted from `start` from now on."""
        self.start = np.zeros(self.model.nq)
        self._before, self._path_directions = (
            np.zeros((len(self._tips.forms), 12)),
            np.zeros((len(self._tips.forms), 6)),
        )
        self._point("from", self.start)
        self._point("before", self._before)
        self._point("path_directions", self._path_directions)

    def fade(self, influence: Sequence[float], remaining: Mapping[int, Remaining]) -> None:
        """Weight the rows that the kernel makes by these influences (tasks,), in place of the tasks' own, leave out
        those without, and do not ask for `remaining` of them; after `aim`."""
        tasks = self.levels.tasks
        own = [(share / (tasks[i].influence or 1.0), remaining.get(i)) for i, share in enumerate(influence)]
        self._take(self._tips.fade([own[i] for i in self._tip_numbers]))
        self._point("remaining", self._tips.remaining)
        if self._robots.each:
            self._take(self._robots.fade([own[i] for i in self._robot_numbers], self._struct.dt))

    def weigh(self, H: Array, g: Array) -> None:
        """H and g of the criteria that are not native."""
        self._H[...], self._g[...] = H, g

    def write_errors_to(self, errors: Array) -> None:
        """errors: (tasks, 2) or more, of the native tasks first."""
        self._point("errors", errors)

    @property
    def aimed(self) -> tuple[Array, Array]:
        """What the kernel takes for targets: (tips, 16), and ROBOT_ROW of tasks on the whole robot."""
        return self._tips.targets, self._robots.rows

    def unknown(self, targets: Sequence[Any]) -> list[int]:
        """The native tasks whose checked targets, of all tasks, the kernel does not know."""
        return [i for i, k in self._tip_numbers.items() if not self._tips.knows(k, targets[i])]

    def aim(self, targets: Sequence[Any]) -> bool:
        """targets: checked, of all tasks. Returns False for targets that the kernel does not know: then `run` and
        `rows` may not be called."""
        shape = self._tips.shape
        if not self._tips.aim([targets[i] for i in self._tip_numbers]):
            return False
        if shape != self._tips.shape:
            self._plain = self.is_laid_out = False
        if self._robots.each:
            self._take(self._robots.aim([targets[i] for i in self._robot_numbers]))
        if self._apart is not None:
            self.aim_obstacles([targets])
        return True

    def aim_obstacles(self, frames: Sequence[Sequence[Any]]) -> None:
        """Where the obstacles of the clearance are in each of these frames."""
        if self._apart is None or self._clearance is None:
            return
        aims = [targets[self._clearance] for targets in frames]
        self._data.obstacles_move = any(each is not aims[0] for each in aims)
        if not self._data.obstacles_move and self._obstacles_of is not _NEVER and aims[0] is self._obstacles_of:
            return
        self._obstacles_of = _NEVER if self._data.obstacles_move else aims[0]
        used = aims if self._data.obstacles_move else aims[:1]
        self._obstacles = np.array([self._apart.packed_obstacles(each) for each in used])
        self._point("obstacles", self._obstacles)

    def compared(self, targets: Array) -> tuple[Array, list[int]]:
        """The numbers of targets (frames, tips, 16) that say whether two are equal, and the tasks of which they do not
        say all."""
        numbers, found = self._tips.without_addresses(targets)
        tasks = [*self._tip_numbers]
        apart = [] if self._clearance is None else [self._clearance]
        return numbers, [*self.other_tasks, *apart, *(tasks[k] for k in found)]

    def aim_together(self, frames: Sequence[Sequence[Any]]) -> tuple[Array, Array] | None:
        """`aimed` of each of these frames, of which the first is aimed at: poses of tips, while the tasks on the whole
        robot stay as they are. None for others."""
        first = frames[0]
        if any(each[i] is not first[i] for i in self._robot_numbers for each in frames):
            return None
        poses = self._tips.poses([each[i] for each in frames for i in self._tip_numbers])
        if poses is None:
            return None
        rows = np.empty((len(frames), len(self._robots.rows)), ROBOT_ROW)
        rows[:] = self._robots.rows
        return poses.reshape(len(frames), *self._tips.targets.shape), rows

    def _take(self, is_alike: bool) -> None:
        """The rows as they are now; is_alike: each task has as many as before."""
        self._plain &= is_alike
        self.is_laid_out &= is_alike
        if self._robot_rows is not self._robots.rows:
            self._robot_rows, self._data.n_robot_rows = self._robots.rows, len(self._robots.rows)
            self._point("robot_rows", self._robot_rows)

    def _reserve(self, rows: int, ends: Sequence[int]) -> None:
        """Buffers of so many rows, in levels that end there."""
        levels = len(ends) - 1
        self._start, self._damping = np.array(ends, np.int32), np.empty(levels)
        self._spans = list(itertools.pairwise(ends))
        self._freedom, self._level_residuals = np.empty(levels + 1, np.int32), np.empty(ends[-1])
        self._points = np.empty((levels + 1, self.model.nv))
        for name in ("start", "damping", "freedom", "level_residuals", "points"):
            self._point(name, getattr(self, f"_{name}"))
        self._data.levels = levels
        if rows <= self._capacity:
            return
        self._capacity = rows
        self._J, self._low, self._high = np.empty((rows, self.model.nv)), np.empty(rows), np.empty(rows)
        for name in ("J", "low", "high"):
            self._point(name, getattr(self, f"_{name}"))
        self._work = np.zeros(self._workspace(self._step_address, rows))  # a step knows what was far apart
        self._work_address = pointer(self._work)
