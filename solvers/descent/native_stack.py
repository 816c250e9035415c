"""Tasks in levels as the C kernel's search and tracker take them, through ctypes (kernel/include/robokin_stack.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend.library import library_with, pointer
from ...robokin.model.limits import PositionLimits
from ..criteria import Criterion, combine
from ..criteria.base import CriterionKind, CriterionRecord
from ..criteria.kinds import KINDS
from ..kinematics.state import State
from ..limits.viability import StepLimits
from ..qp.level import Level
from ..tasks import Rows
from ..tasks.influence import Remaining, blended, is_partial
from ..tasks.native import is_kernel_clearance
from ..tasks.protocols import Displacement, HistoryTask, VelocityTask, has_path
from ..tasks.robot_rows import ROBOT_ROW
from ..velocity.native import NativeStep
from ..velocity.native_layout import ExtraLevels
from ..velocity.task_levels import TaskLevels, tolerances
from .data import compile_whole
from .engine import Outcome
from .native_problem import ProblemStruct

MOST_ROWS = 6  # of a task that the kernel does not know, unless it has more where the problem is made

_ROWS = ctypes.CFUNCTYPE(None, ctypes.c_int32)


class StackStruct(ctypes.Structure):
    """`rk_stack` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("step", "data", "q", "previous", "from", "kind", "level", "path_level")),
        *((name, ctypes.c_void_p) for name in ("tolerance", "residuals", "across", "used_from", "postures")),
        ("rows", _ROWS),
        ("criteria", _ROWS),
        *((name, ctypes.c_int32) for name in ("n_tasks", "n_criteria", "reachable", "posture_from")),
        *((name, ctypes.c_int32) for name in ("adds_up", "changes")),
    )


class NativeStack:
    """Tasks in levels bound to the kernel, with the buffers of their rows: for one thread at a time.

    Tasks and criteria that the kernel does not know are asked for their rows, H and g whenever it looks at a
    configuration; what they raise is raised when the kernel has returned (`is_done`).
    influence: (tasks,), in place of the tasks' own.   dt: [s] of a frame, for criteria.   fading: tasks of which a call
    says how much they count, besides those of partial influence.
    """

    def __init__(
        self,
        levels: TaskLevels,
        criteria: Sequence[Criterion] = (),
        influence: Sequence[float] | None = None,
        dt: float = 1.0,
        fading: Sequence[int] = (),
    ) -> None:
        model = levels.model
        self.levels, self.criteria, self.dt = levels, tuple(criteria), dt
        self.influence = [task.influence for task in levels.tasks] if influence is None else list(influence)
        self._moves = any(isinstance(task, VelocityTask) for task in levels.tasks)
        self._fading = {*fading, *(i for i, share in enumerate(self.influence) if is_partial(share))}
        neutral = levels.state(model.neutral(), levels.targets, dt, None, self.influence)
        self.scale = neutral.scale
        self._neutral, self._limits = neutral, StepLimits.of(model, dt)
        self._remaining: Mapping[int, Remaining] = {}
        self._frames: Sequence[Sequence[Any]] = [levels.targets]
        self._raised: BaseException | None = None
        self._start: State | None = None  # where the frame that is asked about began
        self._is_short = False  # of room for the rows of a task that the kernel does not know
        self._most: dict[int, int] = {}
        # The kernel's clearance is whole, and its other tasks have influence.
        apart = {i for i in self._fading if is_kernel_clearance(levels.tasks[i])}
        self._make(apart | {i for i, share in enumerate(self.influence) if not share})

    def _make(self, others: set[int]) -> None:
        """others: tasks whose rows are to be made here, though the kernel may know them."""
        levels = self.levels
        self._handed_over = others
        # Criteria on the rows of the first level need to have them all from the kernel.
        of_rows = {CriterionKind.MANIPULABILITY, CriterionKind.SMALLEST_SINGULAR_VALUE}
        has_first = not any(levels.tasks[i] in self._neutral.tasks for i in others)
        records: list[tuple[Criterion, CriterionRecord | None]] = []
        for each in self.criteria:
            record = each.record(self._neutral) if type(each) in KINDS.values() else None
            records.append((each, record if record is None or has_first or record.kind not in of_rows else None))
        self.step = NativeStep(
            *(levels.model, levels.tasks, levels, records, self._limits, self.scale, 0.0),
            is_step=False,
            others=others,
        )
        loops = [i for i, _ in levels.loops]
        if self._fading:
            self.step.begin_fading()
        self._loops = [] if self.step.closes_loops else loops
        self._others = [i for i in self.step.other_tasks if i not in loops]
        self.tasks = [*self.step.native_tasks, *self.step.other_tasks]
        self.order = np.argsort(self.tasks)
        if self._moves:
            self.step.begin_frames()
        self._lay_out()

    def _lay_out(self) -> None:
        levels, step, nv = self.levels, self.step, self.levels.model.nv
        for i in step.other_tasks:
            self._most.setdefault(i, MOST_ROWS if self.influence[i] else 0)

        def blank(rows: int) -> Level:
            return Level(np.zeros((rows, nv)), np.zeros(rows), np.zeros(rows))

        # Of a velocity that has a path a second level, of one row.
        parts = {i: [blank(self._most[i]), blank(1)][: 1 + has_path(levels.tasks[i])] for i in step.other_tasks}
        blocks = step.lay_out(ExtraLevels([parts[i][0] for i in self._loops], (), {i: parts[i] for i in self._others}))
        of_level = {id(block.level): block for block in blocks}
        self._blocks = {i: [of_level[id(part)] for part in own if id(part) in of_level] for i, own in parts.items()}
        level, path_level = dict.fromkeys(self.tasks, -1), dict.fromkeys(self.tasks, -1)
        for number, (group, is_path) in enumerate(levels.groups):
            (path_level if is_path else level).update(dict.fromkeys(group, number))
        self._level, self._path_level = (
            np.array([each[i] for i in self.tasks], np.int32) for each in (level, path_level)
        )
        self._level_kinds = (levels.are_velocities + 1 * levels.are_paths).astype(np.int32)
        self._tolerance = np.ascontiguousarray(tolerances([levels.tasks[i] for i in self.tasks]))
        self.residuals, self._across = np.zeros((2, len(self.tasks), 2))
        step.write_errors_to(self.residuals)
        self.struct = StackStruct(
            step=step.address,
            data=step.data_address,
            q=step.q.ctypes.data,
            previous=step.previous.ctypes.data,
            kind=self._level_kinds.ctypes.data,
            level=self._level.ctypes.data,
            path_level=self._path_level.ctypes.data,
            tolerance=self._tolerance.ctypes.data,
            residuals=self.residuals.ctypes.data,
            across=self._across.ctypes.data,
            n_tasks=len(self.tasks),
            n_criteria=len(self.criteria),
            reachable=len(self.levels.groups),
            adds_up=self._moves or bool(self._fading) or any(isinstance(task, HistoryTask) for task in levels.tasks),
            changes=self._moves or bool(self._fading),
        )
        if self._moves:
            setattr(self.struct, "from", step.start.ctypes.data)
        if any(self.influence[i] for i in step.other_tasks):
            self.struct.rows = _ROWS(self._guarded(self._fill))
        if self.step.other_criteria:
            self.struct.criteria = _ROWS(self._guarded(self._weigh))

    def aim(
        self, frames: Sequence[Sequence[Any]], remaining: Mapping[int, Remaining] | None = None
    ) -> tuple[Array, Array]:
        """Checked targets of each frame of the next call; (frames, tips, 16) and (frames, rows) ROBOT_ROW as the kernel
        takes them: of fewer frames, where the next one has rows that lie otherwise.
        remaining: what is not asked for of some tasks' rows."""
        self._frames, self._remaining = frames, remaining or {}
        self._aim_one(frames[0])
        for i, own in self._remaining.items():
            self.step.fade(i, self.influence[i] / self.levels.tasks[i].influence, own)
        if not self.step.is_laid_out:
            self._lay_out()
        tips, rows = self.step.aimed
        if len(frames) == 1:
            return tips[None], rows[None]
        together = self.step.aim_together(frames)
        if together is not None:
            self.step.aim_obstacles(frames)
            return together
        targets, of_robot = np.empty((len(frames), *tips.shape)), np.empty((len(frames), len(rows)), ROBOT_ROW)
        struct = self.struct
        for frame, each in enumerate(frames):
            self._aim_one(each)
            if self.struct is not struct:
                return self.aim(frames, remaining)
            if not self.step.is_laid_out:
                self._aim_one(frames[0])
                self.step.aim_obstacles(frames[:frame])
                return targets[:frame], of_robot[:frame]
            targets[frame], of_robot[frame] = self.step.aimed
        self.step.aim_obstacles(frames)
        return targets, of_robot

    def _aim_one(self, targets: Sequence[Any]) -> None:
        if not self.step.aim(targets):
            self._make(self._handed_over | set(self.step.unknown(targets)))
            self.step.aim(targets)

    def is_done(self) -> bool:
        """After a call; False when it is to be made again, since a task had more rows than there was room for. Raises
        what a task or criterion raised while the kernel asked it."""
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        self.step.check_distances()
        if self._is_short:
            self._is_short = False
            self._lay_out()
            return False
        return True

    def _guarded(self, fill: Callable[[int], None]) -> Callable[[int], None]:
        def guarded(frame: int) -> None:
            if self._raised is None:
                try:
                    fill(frame)
                except BaseException as raised:  # nothing may leave a call from C: raised again in `is_done`
                    self._raised = raised

        return guarded

    def _state(self, frame: int) -> State:
        step = self.step
        return self.levels.state(step.q.copy(), self._frames[frame], self.dt, step.previous.copy(), self.influence)

    def _fill(self, frame: int) -> None:
        """Rows and residuals of the tasks that the kernel does not know, at what is in `step.q`."""
        if self._is_short:  # it begins anew, and where it is led until then may be anywhere
            return
        levels, state, still = self.levels, self._state(frame), np.zeros(self.levels.model.nv)
        moved = self._moved(frame, state) if self._moves else None
        rows: dict[int, Rows] = {}
        nothing = Level(np.zeros((0, len(still))), np.zeros(0), np.zeros(0))
        for number, i in enumerate(self.step.other_tasks, len(self.step.native_tasks)):
            at = moved if moved is not None and isinstance(levels.tasks[i], VelocityTask) else state
            own = levels.rows_of(i, at, self._frames[frame][i], self.influence[i])
            rows[i] = blended(levels.tasks[i], own, self._remaining[i]) if i in self._remaining else own
            self.residuals[number] = levels.residuals_of(i, rows[i], still, self.dt)
            is_path = rows[i].path_direction is not None
            self._across[number] = levels.residuals_across(i, rows[i], self.dt) if is_path else self.residuals[number]
        extra = {i: levels.parts_of(i, state, rows[i]) for i in self._others}
        if self._loops:
            extra |= {i: [level] for i, (_, level) in zip(self._loops, levels.closures(state, rows), strict=True)}
        for i, parts in extra.items():
            for k, block in enumerate(self._blocks[i]):
                level = parts[k] if k < len(parts) else nothing
                if len(level.J) > block.rows:
                    self._most[i], self._is_short = max(len(level.J), self._most[i]), True
                else:
                    self.step.fill(block, level)

    def _moved(self, frame: int, end: State) -> Displacement:
        """The frame so far."""
        targets, start = self._frames[frame], self.step.start
        if self._start is None or (self._start.q != start).any():
            self._start = self.levels.state(start.copy(), targets, self.dt, None, self.influence)
        return self.levels.moved(self._start, end)

    def _weigh(self, frame: int) -> None:
        others = [self.criteria[i] for i in self.step.other_criteria]
        self.step.weigh(*combine(others, self._state(frame)))


class NativeLevelSearch:
    """The kernel's search for poses of tasks in levels; `ik.reference.LevelSearch` is its twin.

    used_from: (nq,) how many levels count at least when restarts draw a coordinate.   influence: (tasks,), all of them
    positive.
    """

    name = "native"

    def __init__(
        self,
        levels: TaskLevels,
        limits: PositionLimits,
        used_from: Array,
        influence: Sequence[float],
        attempts: int,
        iterations: int,
    ) -> None:
        library = library_with(stack=StackStruct)
        self._solve, self._workspace = library.rk_ik_solve, library.rk_ik_workspace
        self._stack = NativeStack(levels, (), influence)
        self._used_from = used_from.astype(np.int32)
        data = compile_whole(levels.model, limits, np.ones(levels.model.nq, bool), levels.length)
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
        remaining: Mapping[int, Remaining],
        is_trial: bool = False,
    ) -> Outcome:
        """targets: checked.   q0: (nq,) inside the limits.   reachable: levels, loop closures first, before the first
        one out of reach.   postures: see `PoseProblem.postures`.   remaining: see `NativeStack.aim`.   is_trial: see
        `descent.engine.Engine`."""
        stack, problem = self._stack, self._problem
        q, outcome = np.array(q0), np.zeros(3, np.int32)
        while True:
            stack.aim([targets], remaining)
            if stack.struct is not self._struct:
                self._struct = stack.struct
                problem.stack = ctypes.addressof(stack.struct)
                self._work = np.zeros(self._workspace(self._reference))
                self._residuals = np.zeros_like(stack.residuals)
            stack.struct.reachable, problem.attempts, problem.is_trial = reachable, attempts, is_trial
            stack.struct.used_from = self._used_from.ctypes.data
            first, values = (0, None) if postures is None else postures
            stack.struct.postures, stack.struct.posture_from = None if values is None else values.ctypes.data, first
            arrays = (np.ascontiguousarray(q0), self._work, q, self._residuals, outcome)
            start, work, *results = (pointer(array) for array in arrays)
            self._solve(self._reference, ctypes.c_int64(1), None, start, ctypes.c_uint64(seed), work, *results)
            if stack.is_done():
                break
        code, iterations, tried = outcome.tolist()
        return code, q, self._residuals[stack.order], iterations, tried
