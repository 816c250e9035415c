"""Tasks in levels as the C kernel's search and tracker take them, through ctypes (kernel/include/robokin_stack.h)."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..robokin.backend.library import load_library
from ..robokin.errors import BackendError
from ..robokin.limits import PositionLimits
from .criteria import Criterion, combine
from .criteria.kinds import KINDS
from .ik_data import compile_whole
from .ik_engine import Outcome
from .influence import Left, leaving
from .level import Level
from .native import ProblemStruct
from .native_layout import Given
from .native_step import NativeStep
from .native_tasks import same_target
from .native_tracking import TrackStruct, tracking_library
from .state import State
from .task_levels import TaskLevels, tolerances
from .tasks import Rows
from .tasks.robot_rows import ROBOT_ROW
from .tracking_reference import TrackLimits, TrackOutcome
from .viability import StepLimits

Array = np.ndarray

MOST_ROWS = 6  # of a task that the kernel does not know, unless it has more where the problem is made

_ROWS = ctypes.CFUNCTYPE(None, ctypes.c_int32)


class StackStruct(ctypes.Structure):
    """`rk_stack` of the kernel."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("step", "data", "q", "previous", "level", "tolerance", "residuals")),
        ("used_from", ctypes.c_void_p),
        ("posture", ctypes.c_void_p),
        ("rows", _ROWS),
        ("criteria", _ROWS),
        *((name, ctypes.c_int32) for name in ("n_tasks", "n_criteria", "reachable", "posture_from")),
    )


class NativeStack:
    """Tasks in levels bound to the kernel, with the buffers of their rows: for one thread at a time.

    Tasks and criteria that the kernel does not know are asked for their rows, H and g whenever it looks at a
    configuration; what they raise is raised when the kernel has returned (`is_done`).
    influence: (tasks,), in place of the tasks' own.   dt: [s] of a frame, for criteria.
    """

    def __init__(
        self,
        levels: TaskLevels,
        criteria: Sequence[Criterion] = (),
        influence: Sequence[float] | None = None,
        dt: float = 1.0,
    ) -> None:
        model = levels.model
        self.levels, self.criteria, self.dt = levels, tuple(criteria), dt
        self.influence = [task.influence for task in levels.tasks] if influence is None else list(influence)
        neutral = levels.state(model.neutral(), levels.targets, dt)
        self.scale = neutral.scale
        records = [(each, each.record(neutral) if type(each) in KINDS.values() else None) for each in self.criteria]
        self._records, self._limits = records, StepLimits.of(model, dt)
        self._left: Mapping[int, Left] = {}
        self._frames: Sequence[Sequence[Any]] = [levels.targets]
        self._raised: BaseException | None = None
        self._is_short = False  # of room for the rows of a task that the kernel does not know
        self._most: dict[int, int] = {}
        self._make({i for i, share in enumerate(self.influence) if share != 1.0})

    def _make(self, others: set[int]) -> None:
        """others: tasks whose rows are to be made here, though the kernel may know them."""
        levels = self.levels
        self._given = others
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
        self._lay_out()

    def _lay_out(self) -> None:
        levels, step, nv = self.levels, self.step, self.levels.model.nv
        for i in step.other_tasks:
            self._most.setdefault(i, MOST_ROWS)
        blank = {i: Level(np.zeros((n, nv)), np.zeros(n), np.zeros(n)) for i, n in self._most.items()}
        blocks = step.lay_out(Given([blank[i] for i in self._loops], (), {i: [blank[i]] for i in self._others}))
        in_order = [*self._loops, *(i for own in levels.indices for i in own if i in self._others)]
        self._blocks = dict(zip(in_order, blocks, strict=True))
        level = {i: number for number, (i, _) in enumerate(levels.loops)}
        level |= {i: len(levels.loops) + k for k, own in enumerate(levels.indices) for i in own}
        self._level = np.array([level[i] for i in self.tasks], np.int32)
        self._tolerance = np.ascontiguousarray(tolerances([levels.tasks[i] for i in self.tasks]))
        self.residuals = np.zeros((len(self.tasks), 2))
        step.write_errors_to(self.residuals)
        self.struct = StackStruct(
            step=step.address,
            data=step.data_address,
            q=step.q.ctypes.data,
            previous=step.previous.ctypes.data,
            level=self._level.ctypes.data,
            tolerance=self._tolerance.ctypes.data,
            residuals=self.residuals.ctypes.data,
            n_tasks=len(self.tasks),
            n_criteria=len(self.criteria),
            reachable=len(self.levels.loops) + len(self.levels.indices),
        )
        if self.step.other_tasks:
            self.struct.rows = _ROWS(self._guarded(self._fill))
        if self.step.other_criteria:
            self.struct.criteria = _ROWS(self._guarded(self._weigh))

    def aim(self, frames: Sequence[Sequence[Any]], left: Mapping[int, Left] | None = None) -> tuple[Array, Array]:
        """Checked targets of each frame of the next call, which all have as many rows; (frames, tips, 16) and (frames,
        rows) ROBOT_ROW as the kernel takes them.   left: what is not asked for of some tasks' rows."""
        self._frames, self._left = frames, left or {}
        self._aim_one(frames[0])
        if not self.step.is_laid_out:
            self._lay_out()
        tips, rows = self.step.aimed
        if len(frames) == 1:
            return tips[None], rows[None]
        targets, of_robot = np.empty((len(frames), *tips.shape)), np.empty((len(frames), len(rows)), ROBOT_ROW)
        for frame, each in enumerate(frames):
            self._aim_one(each)
            targets[frame], of_robot[frame] = self.step.aimed
        return targets, of_robot

    def _aim_one(self, targets: Sequence[Any]) -> None:
        if not self.step.aim(targets):
            self._make(self._given | set(self.step.unknown(targets)))
            self.step.aim(targets)

    def is_done(self) -> bool:
        """After a call; False when it is to be made again, since a task had more rows than there was room for. Raises
        what a task or criterion raised while the kernel asked it."""
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
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
        levels, state, still = self.levels, self._state(frame), np.zeros(self.levels.model.nv)
        rows: dict[int, Rows] = {}
        for number, i in enumerate(self.step.other_tasks, len(self.step.native_tasks)):
            own = levels.rows_of(i, state, self._frames[frame][i], self.influence[i])
            rows[i] = leaving(levels.tasks[i], own, self._left[i]) if i in self._left else own
            self.residuals[number] = levels.residuals_of(i, rows[i], still, self.dt)
        given = {i: levels.level_of(i, state, rows[i]) for i in self._others}
        if self._loops:
            given |= {i: level for i, (_, level) in zip(self._loops, levels.closures(state, rows), strict=True)}
        for i, level in given.items():
            if len(level.J) > self._blocks[i].rows:
                self._most[i], self._is_short = max(len(level.J), self._most[i]), True
            else:
                self.step.fill(self._blocks[i], level)

    def _weigh(self, frame: int) -> None:
        others = [self.criteria[i] for i in self.step.other_criteria]
        self.step.weigh(*combine(others, self._state(frame)))


class NativeLevelSearch:
    """The kernel's search for poses of tasks in levels; `level_search.LevelSearch` is its twin.

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
        library = stack_library()
        library.rk_ik_workspace.restype = ctypes.c_int64
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
        posture: tuple[int, Array] | None,
        attempts: int,
        left: Mapping[int, Left],
    ) -> Outcome:
        """targets: checked.   q0: (nq,) inside the limits.   reachable: levels, loop closures first, before the first
        one out of reach.   posture: (nq,) that tasks of the first levels, so many, prescribe.   left: see
        `NativeStack.aim`."""
        stack, problem = self._stack, self._problem
        q, outcome = np.array(q0), np.zeros(3, np.int32)
        while True:
            stack.aim([targets], left)
            if stack.struct is not self._struct:
                self._struct = stack.struct
                problem.stack = ctypes.addressof(stack.struct)
                self._work = np.empty(self._workspace(self._reference))
                self._residuals = np.zeros_like(stack.residuals)
            stack.struct.reachable, problem.attempts = reachable, attempts
            stack.struct.used_from = self._used_from.ctypes.data
            count, given = (0, None) if posture is None else posture
            stack.struct.posture, stack.struct.posture_from = None if given is None else given.ctypes.data, count
            arrays = (np.ascontiguousarray(q0), self._work, q, self._residuals, outcome)
            start, work, *results = (ctypes.c_void_p(array.ctypes.data) for array in arrays)
            self._solve(self._reference, ctypes.c_int64(1), None, start, ctypes.c_uint64(seed), work, *results)
            if stack.is_done():
                break
        code, iterations, tried = outcome.tolist()
        return code, q, self._residuals[stack.order], iterations, tried


class NativeLevelTracking:
    """The kernel's tracker of tasks in levels; `level_tracking.LevelTracking` is its twin, which says what its methods
    do."""

    name = "native"

    def __init__(
        self, levels: TaskLevels, criteria: Sequence[Criterion], influence: Sequence[float], limits: StepLimits
    ) -> None:
        library, model = tracking_library(), levels.model
        stack_library()
        self.levels, self._run, self._workspace = levels, library.rk_track_run, library.rk_track_workspace
        self._stack = NativeStack(levels, criteria, influence, limits.dt)
        data = compile_whole(model, model.limits, np.zeros(model.nq, bool), levels.length)
        self._track = TrackStruct(ProblemStruct(data, 1, 1), TrackLimits.of_all(limits))
        self._reference = ctypes.byref(self._track)
        self._struct: StackStruct | None = None
        self._last: tuple[Sequence[Any], Array, Array] | None = None
        nq, nv = model.nq, model.nv
        count = len(levels.loops) + len(levels.indices)
        self._state = np.zeros((1 + count) * nq + nv + 1)
        self.q, self.step = self._state[:nq], self._state[-1 - nv : -1]
        self._goals = self._state[nq : -1 - nv].reshape(count, nq)

    def stand(self, q: Array, step: Array, late: int = 0) -> None:
        self.q[:] = self._goals[:] = q
        self.step[:] = step
        self._state[-1] = late

    def run(self, frames: Sequence[Sequence[Any]]) -> TrackOutcome:
        stack, nq, nv = self._stack, self.levels.model.nq, self.levels.model.nv
        before, count = self._state.copy(), len(frames)
        outcome = TrackOutcome(
            np.zeros(count, np.int32),
            np.zeros((count, nq)),
            np.zeros((count, len(stack.tasks), 2)),
            np.zeros(count, np.int32),
            np.zeros((count, nv), np.int8),
        )
        while True:
            targets, rows = stack.aim(frames)
            if stack.struct is not self._struct:
                self._struct = stack.struct
                self._track.problem.stack = ctypes.addressof(stack.struct)
                self._work = np.empty(self._workspace(self._reference))
            results = (outcome.q, outcome.residuals, outcome.codes, outcome.iterations, outcome.behind)
            arrays = (targets, rows, self._still(frames, targets, rows), self._state, self._work, *results)
            pointers = (ctypes.c_void_p(array.ctypes.data) for array in arrays)
            self._run(self._reference, ctypes.c_int64(count), *pointers)
            if stack.is_done():
                break
            self._state[:] = before
        outcome.residuals[:] = outcome.residuals[:, stack.order]
        self._last = frames[-1], targets[-1].copy(), rows[-1].copy()
        return outcome

    def note(self, targets: Sequence[Any]) -> None:
        tips, rows = self._stack.aim([targets])
        self._last = targets, tips[0].copy(), rows[0].copy()

    def _still(self, frames: Sequence[Sequence[Any]], targets: Array, rows: Array) -> Array:
        """(frames,) int8, 1 where the targets are those of the frame before."""
        same = np.zeros(len(frames), np.int8)
        if self._last is not None and self._last[1].shape == targets[0].shape and len(self._last[2]) == len(rows[0]):
            before, tips, of_robot = self._last
            tips, of_robot = np.concatenate((tips[None], targets)), np.concatenate((of_robot[None], rows))
            same[:] = (tips[1:] == tips[:-1]).all(axis=(1, 2)) & (of_robot[1:] == of_robot[:-1]).all(axis=1)
            for i in self._stack.step.other_tasks:
                same &= [same_target(a[i], b[i]) for a, b in itertools.pairwise([before, *frames])]
        return same


def stack_library() -> ctypes.CDLL:
    """The kernel, checked to have the struct that this file describes. Raises BackendError."""
    library = load_library()
    if library.rk_sizeof_stack() != ctypes.sizeof(StackStruct):
        raise BackendError(
            f"the kernel's rk_stack has {library.rk_sizeof_stack()} bytes, not {ctypes.sizeof(StackStruct)}"
        )
    return library
