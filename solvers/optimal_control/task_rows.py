"""Tasks at every frame as rows of one program over all frames, and how they bend.

What the start lacks of a task is held: a row asks that it stays so. So tasks that are met stay met, those that cannot
be met lack no more than they did, and a level below never costs one above.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ..kinematics.state import State
from ..qp.sparse_rows import SparseRows
from ..tasks import Task
from ..velocity.task_levels import TaskLevels
from .discretization import DiscreteMotion, Discretization
from .rows_of_frames import FrameRows, task_frames


@dataclass(frozen=True, eq=False)
class TaskSegment:
    """Frames first .. first + len(targets) with the same tasks. targets: per frame, checked and resolved.
    influence: (frames, tasks)."""

    first: int
    levels: TaskLevels
    targets: Sequence[Sequence[Any]]
    influence: Array

    @property
    def frames(self) -> slice:
        return slice(self.first, self.first + len(self.targets))

    def state(self, q: Array, k: int, dt: float) -> State:
        """The robot at q (nq,), the configuration of its k-th frame."""
        return self.levels.state(q, self.targets[k], dt, influence=self.influence[k])


class TaskRows:
    """Tasks over the frames of a discretization."""

    def __init__(self, grid: Discretization, segments: Sequence[TaskSegment]) -> None:
        self.grid, self.segments = grid, segments
        self.tasks = [
            [
                task_frames(grid, own.levels, i, [frame[i] for frame in own.targets], own.influence[:, i])
                for i in range(len(own.levels.tasks))
            ]
            for own in segments
        ]
        self.before: LinearisedTasks | None = None

    def at(self, here: DiscreteMotion) -> LinearisedTasks:
        blocks: list[TaskBlock] = []
        residuals: list[Array] = []
        for segment, tasks in zip(self.segments, self.tasks, strict=True):
            q, levels = here.q[segment.frames], segment.levels

            @functools.cache
            def state(k: int, segment: TaskSegment = segment, q: Array = q) -> State:
                return segment.state(q[k], k, self.grid.dt)

            own = [task.rows(q, state) for task in tasks]
            given = zip(levels.tasks, own, strict=True)
            blocks += [TaskBlock.of(self.grid, segment.first, levels.length, task, rows) for task, rows in given]
            residual = [_residuals(len(q), rows) for rows in own]
            residuals.append(np.array(residual).reshape(-1, len(q), 2).swapaxes(0, 1))
        return LinearisedTasks(self, blocks, residuals)

    def hold(self, here: LinearisedTasks) -> None:
        """Ask from now on that the tasks lack what they lack here."""
        self.before = here


@dataclass(frozen=True, eq=False)
class TaskBlock:
    """Rows of one task, dimensionless and weighted. J: (m, n) along y of the frames frame (m,).   lower, upper: (m,).
    factor: (m,) that made them so."""

    task: FrameRows
    first: int
    frame: Array
    J: Array
    lower: Array
    upper: Array
    factor: Array

    @classmethod
    def of(cls, grid: Discretization, first: int, length: float, task: Task, found: FrameRows) -> TaskBlock:
        size = np.array([1.0 / length if part.is_length else 1.0 for part in task.parts])
        rows = found.rows
        factor = rows.weight * size[rows.part]
        J = factor[:, None] * rows.J * grid.scale
        return cls(found, first, first + found.frame, J, factor * rows.lower, factor * rows.upper, factor)

    @property
    def residual(self) -> Array:
        return np.clip(0.0, self.lower, self.upper)

    def kept(self, before: TaskBlock, frames: int) -> Array:
        """(m,) what rows lacked when they were held; 0 at frames that had not as many."""
        same = np.bincount(self.frame, minlength=frames) == np.bincount(before.frame, minlength=frames)
        found = np.zeros(len(self.lower))
        found[same[self.frame]] = before.residual[same[before.frame]]
        return found


class LinearisedTasks:
    """The rows of all frames at a trajectory, task by task. residuals: per segment (frames, tasks, 2)."""

    def __init__(self, tasks: TaskRows, blocks: list[TaskBlock], residuals: list[Array]) -> None:
        self.tasks, self.blocks, self.residuals = tasks, blocks, residuals
        self.frames = sum(len(segment.targets) for segment in tasks.segments)
        kept: list[Array] = [np.zeros(len(block.lower)) for block in blocks]
        if tasks.before is not None:
            own = zip(blocks, tasks.before.blocks, strict=True)
            kept = [block.kept(before, self.frames) for block, before in own]
        none = np.zeros(0)
        self.lower = np.concatenate([none, *(b.lower - k for b, k in zip(blocks, kept, strict=True))])
        self.upper = np.concatenate([none, *(b.upper - k for b, k in zip(blocks, kept, strict=True))])

    def rows(self) -> SparseRows:
        """(m, F n)"""
        n = len(self.tasks.grid.scale)
        J = np.concatenate([np.zeros((0, n)), *(block.J for block in self.blocks)])
        frame = np.concatenate([np.zeros(0, int), *(block.frame for block in self.blocks)])
        return SparseRows.of(J, frame * n, self.frames * n)

    def bending(self, z: Array) -> Array:
        """(F, n, n) derivative of J'z, z (m,) of all rows: of tasks of which it is known."""
        n, end = len(self.tasks.grid.scale), 0
        found = np.zeros((self.frames, n, n))
        for block in self.blocks:
            begin, end = end, end + len(block.lower)
            if block.task.bending is not None:
                own = block.task.bending(block.factor * z[begin:end])
                found[block.first : block.first + len(own)] += own
        return found

    def residual(self) -> Array:
        """(m,) of all frames, beyond what is held."""
        return np.clip(0.0, self.lower, self.upper)


def _residuals(frames: int, found: FrameRows) -> Array:
    """(frames, 2) the norm of what each part of a task lacks, in its unit."""
    squares = found.rows.e**2
    parts = [np.where(found.rows.part == part, squares, 0.0) for part in range(2)]
    return np.sqrt([np.bincount(found.frame, part, frames) for part in parts]).T
