"""Tasks in levels as the C kernel's search and tracker take them, through ctypes (kernel/include/robokin_stack.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ..criteria import Criterion, combine
from ..criteria.base import CriterionKind, CriterionRecord
from ..criteria.kinds import KINDS
from ..kinematics.state import State
from ..limits.viability import StepLimits
from ..qp.level import Level
from ..tasks import Rows
from ..tasks.influence import Remaining, blended
from ..tasks.native import whole_only
from ..tasks.protocols import Displacement, HistoryTask, VelocityTask, has_path
from ..tasks.robot_rows import ROBOT_ROW
from ..velocity.native import NativeStep
from ..velocity.native_layout import ExtraLevels
from ..velocity.task_levels import TaskLevels, tolerances

MOST_ROWS = 6  # of a task that the kernel does not know, unless it has more where the problem is made

_ROWS = ctypes.CFUNCTYPE(None, ctypes.c_int32)


class StackStruct(ctypes.Structure):
    """`rk_stack` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("step", "data", "q", "previous", "from", "kind", "level", "path_level")),
        *((name, ctypes.c_void_p) for name in ("tolerance", "residuals", "across", "used_from", "costs")),
        *((name, ctypes.c_void_p) for name in ("steps", "postures")),
        ("rows", _ROWS),
        ("criteria", _ROWS),
        *((name, ctypes.c_int32) for name in ("n_tasks", "n_criteria", "reachable", "posture_from")),
        *((name, ctypes.c_int32) for name in ("adds_up", "changes")),
    )


class NativeStack:
    """Tasks in levels bound to the kernel, with the buffers of their rows: for one thread at a time.

    Tasks and criteria that the kernel does not know are asked for their rows, H and g whenever it looks at a
    configuration; what they raise is raised when the kernel has returned (`is_done`). A call says how much each task
    counts: searches of several influences share what is made here.
    dt: [s] of a frame, for criteria.
    """

    def __init__(
        self,
        levels: TaskLevels,
        criteria: Sequence[Criterion] = (),
        dt: float = 1.0,
    ) -> None:
        self.levels, self.criteria, self.dt = levels, tuple(criteria), dt
        self._own = [task.influence for task in levels.tasks]
        self.influence: Sequence[float] = self._own
        self._fades = False  # the rows are others than the tasks' own
        self._moves = any(isinstance(task, VelocityTask) for task in levels.tasks)
        self._has_history = self._moves or any(isinstance(task, HistoryTask) for task in levels.tasks)
        self.scale, self._limits = levels.scale, StepLimits.of(levels.model, dt)
        self.remaining: Mapping[int, Remaining] = {}
        self._frames: Sequence[Sequence[Any]] = [levels.targets]
        self._raised: BaseException | None = None
        self._start: State | None = None  # where the frame that is asked about began
        self._is_short = False  # of room for the rows of a task that the kernel does not know
        self._most: dict[int, int] = {}
        self._unknown: set[int] = set()  # tasks that had a target which the kernel does not know
        self._make(set())

    def _make(self, others: set[int]) -> None:
        """others: tasks whose rows are to be made here, though the kernel may know them."""
        levels = self.levels
        self._handed_over, self._records = others, self._records_of(others)
        self.step = NativeStep(
            *(levels.model, levels.tasks, levels, self._records, self._limits, self.scale, 0.0),
            is_step=False,
            others=others,
        )
        loops = [i for i, _ in levels.loops]
        self._loops = [] if self.step.closes_loops else loops
        self._others = [i for i in self.step.other_tasks if i not in loops]
        self.tasks = [*self.step.native_tasks, *self.step.other_tasks]
        self.order = np.argsort(self.tasks)
        if self._moves:
            self.step.begin_frames()
        self._lay_out()

    def _records_of(self, others: set[int]) -> list[tuple[Criterion, CriterionRecord | None]]:
        """The criteria as the kernel takes them, None where it does not, for the influences that tasks have now. Those
        on the rows of the first level need to have these all from the kernel."""
        levels = self.levels
        neutral = levels.state(levels.model.neutral(), levels.targets, self.dt, None, self.influence)
        of_rows = {CriterionKind.MANIPULABILITY, CriterionKind.SMALLEST_SINGULAR_VALUE}
        has_first = not any(levels.tasks[i] in neutral.tasks for i in others)
        records: list[tuple[Criterion, CriterionRecord | None]] = []
        for each in self.criteria:
            record = each.record(neutral) if type(each) in KINDS.values() else None
            records.append((each, record if record is None or has_first or record.kind not in of_rows else None))
        return records

    def _lay_out(self) -> None:
        levels, step, nv = self.levels, self.step, self.levels.model.nv
        self._laid_out_for = self._counting
        self._most = {i: self._most.get(i, MOST_ROWS) for i in step.other_tasks}
        room = {i: most if self.influence[i] else 0 for i, most in self._most.items()}

        def blank(rows: int) -> Level:
            return Level(np.zeros((rows, nv)), np.zeros(rows), np.zeros(rows))

        # Of a velocity that has a path a second level, of one row.
        parts = {i: [blank(room[i]), blank(1)][: 1 + has_path(levels.tasks[i])] for i in step.other_tasks}
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
        )
        if self._moves:
            setattr(self.struct, "from", step.start.ctypes.data)
        if any(self.influence[i] for i in step.other_tasks):
            self.struct.rows = _ROWS(self._guarded(self._fill))
        if self.step.other_criteria:
            self.struct.criteria = _ROWS(self._guarded(self._weigh))

    def aim(
        self,
        frames: Sequence[Sequence[Any]],
        remaining: Mapping[int, Remaining] | None = None,
        influence: Sequence[float] | None = None,
    ) -> tuple[Array, Array]:
        """Checked targets of each frame of the next call; (frames, tips, 16) and (frames, rows) ROBOT_ROW as the kernel
        takes them: of fewer frames, where the next one has rows that lie otherwise.
        remaining: what is not asked for of some tasks' rows.   influence: (tasks,), in place of the tasks' own."""
        self._frames, self.remaining = frames, remaining or {}
        self._count(self._own if influence is None else influence)
        faded, self._fades = self._fades, bool(self.remaining) or list(self.influence) != self._own
        self._aim_one(frames[0])
        if faded and not self._fades:
            self.step.fade(self.influence, self.remaining)
        if not self.step.is_laid_out or self._laid_out_for != self._counting:
            self._lay_out()
        self.struct.adds_up = self._has_history or bool(self.remaining)
        self.struct.changes = self._moves or bool(self.remaining)
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
                return self.aim(frames, remaining, influence)
            if not self.step.is_laid_out:
                self._aim_one(frames[0])
                self.step.aim_obstacles(frames[:frame])
                return targets[:frame], of_robot[:frame]
            targets[frame], of_robot[frame] = self.step.aimed
        self.step.aim_obstacles(frames)
        return targets, of_robot

    @property
    def _counting(self) -> list[bool]:
        return [self.influence[i] > 0.0 for i in self.step.other_tasks]

    def _count(self, influence: Sequence[float]) -> None:
        """Have the tasks count so much. What is made anew is what the kernel cannot weigh, and criteria of which it
        knows something that was of other rows of the first level."""
        before, self.influence = self.influence, influence
        others = self._unknown | whole_only(self.levels.tasks, influence)
        if others != self._handed_over:
            self._make(others)
        elif self.criteria and [bool(own) for own in before] != [bool(own) for own in influence]:
            both = self._records, self._records_of(self._handed_over)
            ranks = [[record and record.rank for _, record in each] for each in both]
            if ranks[0] != ranks[1]:
                self._make(self._handed_over)

    def _aim_one(self, targets: Sequence[Any]) -> None:
        if not self.step.aim(targets):
            self._unknown |= set(self.step.unknown(targets))
            self._make(self._handed_over | self._unknown)
            self.step.aim(targets)
        if self._fades:
            self.step.fade(self.influence, self.remaining)

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
            rows[i] = blended(levels.tasks[i], own, self.remaining[i]) if i in self.remaining else own
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
