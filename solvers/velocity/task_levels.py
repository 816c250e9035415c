"""Tasks of a robot as levels of rows of one size: what every solver with priorities minimises.

Rows of lengths are divided by L, the length of the robot that the first level needs, so that a level's rows do not
change with those below it; columns are displacements with lengths over L too: dimensionless.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...robokin.arrays import Array, list_of
from ...robokin.backend import get_backend
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel, solvable_model
from ..fixed_arrays import compiled
from ..kinematics.state import State
from ..qp.level import Level
from ..tasks import LoopClosureTask, Rows, Task
from ..tasks.base import checked_targets, residuals
from ..tasks.checks import rigid_each
from ..tasks.influence import closing_share
from ..tasks.protocols import Displacement, VelocityTask, has_path
from ..tasks.tips.frame import FrameTask
from .chain_length import chain_length

ROUNDING = 1e-14  # of dimensionless rows: smaller columns are 0
# Motions of a loop slower than this, relative to its fastest one, are the rounding of its axes (a planar loop has
# none across its plane): taken for motions, they would lock it.
IDLE = 1e-5


class TaskLevels:
    """Tasks of a model, checked once. length: L [m].   priorities: ascending, without the level 0 of loop closures.
    first: the tasks of the first level.

    Raises TaskError, UnknownNameError, ModelError.
    """

    def __init__(self, model: RobotModel, tasks: Sequence[Task], backend: str = "auto") -> None:
        self.model, self.tasks, self.backend = solvable_model(model), checked_tasks(tasks), backend
        compiled(self.tasks)
        for task in self.tasks:
            task.check(model)
        self.loops = [(i, task) for i, task in enumerate(self.tasks) if isinstance(task, LoopClosureTask)]
        others = [i for i, task in enumerate(self.tasks) if not isinstance(task, LoopClosureTask)]
        self.priorities = sorted({self.tasks[i].priority for i in others})
        self.indices = [[i for i in others if self.tasks[i].priority == own] for own in self.priorities]
        # Of each priority: its tasks, and after them the paths of its velocities.
        self.counts = [1 + any(has_path(self.tasks[i]) for i in indices) for indices in self.indices]
        # Of each level, loop closures first, its tasks; and whether it is their paths.
        self.groups = [([i], False) for i, _ in self.loops]
        for indices, count in zip(self.indices, self.counts, strict=True):
            with_path = [i for i in indices if has_path(self.tasks[i])]
            self.groups += [(indices, False), (with_path, True)][:count]
        # (levels,) bool, those that ask for nothing but velocities, and those that are paths
        self.are_velocities = np.array(
            [all(isinstance(self.tasks[i], VelocityTask) for i in own) for own, _ in self.groups], bool
        )
        self.are_paths = np.array([is_path for _, is_path in self.groups], bool)
        # What links keep away from is before the first level, and no such.
        self.first = next((own for own in self.indices if self.tasks[own[0]].priority), [])
        points = [point for i in self.first for point in self.tasks[i].points(model)]
        self.length = chain_length(model, points or [(link, np.zeros(3)) for link in model.link_names])
        self.scale = np.where(model.is_length, self.length, 1.0)  # (nv,) of displacements, as `State.scale`
        self._targets: list[Any] = []
        self.kept: dict[Any, Any] = {}  # what others compiled of these levels, for the next call

    @property
    def targets(self) -> list[Any]:
        """The targets that the tasks have now: one list while they do not change."""
        now = [task.target for task in self.tasks]
        if len(now) != len(self._targets) or any(map(operator.is_not, now, self._targets)):
            self._targets = now
        return self._targets

    @cached_property
    def tolerance(self) -> Array:
        """(tasks, 2)"""
        return tolerances(self.tasks)

    def checked_targets(self, targets: object) -> list[Any]:
        """One per task, each in its task's own terms; the tasks' own for None. Raises TaskError."""
        return self.targets if targets is None else checked_targets(self.tasks, targets)

    def checked_frames(self, frames: Sequence[Sequence[object]]) -> list[list[Any]]:
        """Checked targets of each frame; one object for what was one object in the frame before. Raises TaskError."""
        found: list[list[Any]] = []
        poses = self._poses(frames)
        for number, frame in enumerate(frames):
            before, known = (frames[number - 1], found[-1]) if number else ((), ())
            if len(before) == len(frame):
                own = zip(self.tasks, frame, before, known, poses, strict=True)
                found.append(
                    [
                        old if one is last else task.checked_target(one) if of_task is None else of_task[number]
                        for task, one, last, old, of_task in own
                    ]
                )
            else:
                found.append(self.checked_targets(frame))
        return found

    def _poses(self, frames: Sequence[Sequence[object]]) -> list[Array | None]:
        """(frames, 4, 4) of each task whose targets are poses: looked at together they take a tenth of the time."""
        none: list[Array | None] = [None] * len(self.tasks)
        if len(frames) < 2 or any(len(frame) != len(self.tasks) for frame in frames):
            return none
        return [
            rigid_each([frame[i] for frame in frames])
            if type(task).checked_target is FrameTask.checked_target
            else None
            for i, task in enumerate(self.tasks)
        ]

    def state(
        self,
        q: Array,
        targets: Sequence[Any],
        dt: float,
        previous: Array | None = None,
        influence: Sequence[float] | Array | None = None,
    ) -> State:
        """The state that tasks are asked at. influence: in place of the tasks' own."""
        counting = [i for i in self.first if influence is None or influence[i]]
        first = [self.tasks[i] for i in counting]
        aims = [targets[i] for i in counting]
        return State(self.model, q, first, self.length, self.backend, previous, dt, aims, self.kept)

    def rows(
        self,
        state: State,
        targets: Sequence[Any],
        influence: Sequence[float] | Array | None = None,
        start: State | None = None,
    ) -> list[Rows]:
        """Rows of each task; none of those without influence. influence: in place of the tasks' own.   start: where a
        frame began that velocities are counted from."""
        shares = [task.influence for task in self.tasks] if influence is None else influence
        moved = None if start is None else self.moved(start, state)
        return [
            self.rows_of(i, moved if moved and isinstance(self.tasks[i], VelocityTask) else state, target, shares[i])
            for i, target in enumerate(targets)
        ]

    def moved(self, start: State, end: State) -> Displacement:
        return Displacement(start, end, get_backend(self.backend).difference(self.model.tree, start.q, end.q))

    def rows_of(self, i: int, at: State | Displacement, target: Any, influence: float | None = None) -> Rows:
        """Rows of one task, weighted by its influence; they ask for the whole residual, unless it has no influence."""
        task = self.tasks[i]
        share = task.influence if influence is None else influence
        if not (share and task.influence):
            return Rows.none(self.model.nv)
        if isinstance(at, Displacement):
            assert isinstance(task, VelocityTask)
            rows = task.rows_after(at, target)
        else:
            rows = task.rows(at, target)
        return rows if share == task.influence else rows.weighted(share / task.influence)

    def step_rows(self, state: State, targets: Sequence[Any]) -> list[Rows]:
        """Rows of one step: tasks of partial influence ask for that share of their residual."""
        return [self.step_rows_of(i, state, target) for i, target in enumerate(targets)]

    def step_rows_of(self, i: int, state: State, target: Any) -> Rows:
        return closing_share(self.rows_of(i, state, target), self.tasks[i].influence)

    def levels(self, state: State, rows: Sequence[Rows], damping: float) -> list[Level]:
        """The levels by priority, dimensionless and weighted; of each as many as `counts` says."""
        found = []
        for indices, count in zip(self.indices, self.counts, strict=True):
            own = [self.parts_of(i, state, rows[i], damping) for i in indices]
            found += [stacked([parts[k] for parts in own if k < len(parts)], self.model.nv) for k in range(count)]
        return found

    def closures(self, state: State, rows: Sequence[Rows] | Mapping[int, Rows]) -> list[tuple[str, Level]]:
        """The hard level of each loop closure, and its name. What no motion closes keeps its gap, in a row of zeros."""
        found = []
        for i, loop in self.loops:
            level = self.level_of(i, state, rows[i])
            squares, U = np.linalg.eigh(level.J @ level.J.T)
            J, gap = U.T @ level.J, loop.correction * (U.T @ level.lower)
            J[squares <= IDLE**2 * squares.max(initial=0.0)] = 0.0
            found.append((loop.name, Level(J, gap, gap)))
        return found

    def residuals(self, rows: Sequence[Rows], moved: Array, dt: float) -> Array:
        """(tasks, 2) residuals of the parts of each task after a motion by `moved` (nv,), as predicted by the rows."""
        return np.array([self.residuals_of(i, own, moved, dt) for i, own in enumerate(rows)]).reshape(-1, 2)

    def residuals_of(self, i: int, rows: Rows, moved: Array, dt: float) -> Array:
        """(2,) of one task."""
        return residuals(self.tasks[i], rows, rows.residual(rows.J @ moved), dt)

    def residuals_after(self, before: Array, q: Array, targets: Sequence[Any], dt: float, which: Array) -> Array:
        """(those asked, 2) residuals of tasks after a frame from `before` (nq,) to q (nq,). targets: resolved, of all
        tasks.   which: (tasks,) bool, those asked."""
        here = self.state(q, targets, dt)
        moved, still = self.moved(self.state(before, targets, dt), here), np.zeros(self.model.nv)
        found = np.zeros((len(self.tasks), 2))
        for i in np.flatnonzero(which).tolist():
            rows = self.rows_of(i, moved if isinstance(self.tasks[i], VelocityTask) else here, targets[i])
            found[i] = self.residuals_of(i, rows, still, dt)
        return found[which]

    def residuals_across(self, i: int, rows: Rows, dt: float) -> Array:
        """(2,) of one task, without its residual along its path."""
        e, path_direction = rows.e, rows.path_direction
        if path_direction is not None:
            factor = self._factors(i, rows)
            weighted_path = factor * path_direction
            square = float(weighted_path @ weighted_path)
            e = e - weighted_path @ (factor * e) / square * path_direction if square else e
        return residuals(self.tasks[i], rows, e, dt)

    def names(self, priority: int) -> tuple[str, ...]:
        return tuple(task.name for task in self.tasks if task.priority == priority)

    def level_of(self, i: int, state: State, rows: Rows, damping: float = 0.0) -> Level:
        """The rows of one task, dimensionless and weighted."""
        factor = self._factors(i, rows)
        J = factor[:, None] * rows.J * state.scale
        # Rows of rounding only, as of an axis that turns about itself, would hold a motion.
        J[abs(J) < ROUNDING * rows.weight[:, None]] = 0.0
        return Level(J, factor * rows.lower, factor * rows.upper, damping)

    def parts_of(self, i: int, state: State, rows: Rows, damping: float = 0.0) -> list[Level]:
        """The levels of one task: of rows with a path direction two, first what is across the path. Where that has no
        direction, the first row is along it."""
        level, path_direction = self.level_of(i, state, rows, damping), rows.path_direction
        if path_direction is None:
            return [level]
        u = self._factors(i, rows) * path_direction
        length = float(np.linalg.norm(u))  # 0 also of numbers so small that their squares vanish
        w = u / length if length else np.eye(1, len(path_direction))[0]
        w[0] += -1.0 if w[0] < 0.0 else 1.0
        turned = np.eye(len(w)) - np.outer(w, w) / abs(w[0])  # a reflection: its first row is along u
        return [Level(own @ level.J, own @ level.lower, own @ level.upper, damping) for own in (turned[1:], turned[:1])]

    def _factors(self, i: int, rows: Rows) -> Array:
        """(m,) that make rows dimensionless and weighted."""
        size = np.array([1.0 / self.length if part.is_length else 1.0 for part in self.tasks[i].parts])
        return rows.weight * size[rows.part]


def tolerances(tasks: Sequence[Task]) -> Array:
    """(tasks, 2) of their parts; infinite for a second part that a task has not."""
    found = np.full((len(tasks), 2), np.inf)
    for own, task in zip(found, tasks, strict=True):
        own[: len(task.parts)] = [part.tolerance for part in task.parts]
    return found


def stacked(levels: Sequence[Level], nv: int) -> Level:
    """All as one; damped as the first."""
    if len(levels) == 1:
        return levels[0]
    if not levels:
        return Level(np.zeros((0, nv)), np.zeros(0), np.zeros(0))
    return Level(
        np.vstack([level.J for level in levels]),
        np.concatenate([level.lower for level in levels]),
        np.concatenate([level.upper for level in levels]),
        levels[0].damping,
    )


def checked_tasks(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Raises TaskError for what is not a list of tasks."""
    return list_of(tasks, Task, "task", "tasks", TaskError)  # type: ignore[type-abstract]
