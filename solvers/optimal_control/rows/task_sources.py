"""What each task asks of the frames of a motion, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ...alike import is_own
from ...tasks import FrameTask, PinTask, PostureTask, Task
from ...tasks.clearance import ClearanceTask
from ...tasks.protocols import VelocityTask
from ...velocity.task_levels import TaskLevels
from ..discretization import DiscreteMotion, Discretization
from .clearance_rows import ClearanceRows
from .row_blocks import RowBlock, RowSource
from .rows_of_frames import FrameRows, PostureFrames, SingleFrames, TaskFrames, TipFrames
from .segments import TaskSegment
from .velocity_frames import VelocityFrames

MOST_ROWS = 1 << 10  # of one task at one frame


def task_sources(
    grid: Discretization, segment: TaskSegment, before: TaskSegment | None = None
) -> list[TaskSource | ClearanceRows]:
    """What each task of a segment asks for. before: the segment that ends where it begins."""
    found: list[TaskSource | ClearanceRows] = []
    for i, task in enumerate(segment.levels.tasks):
        if isinstance(task, ClearanceTask):
            placed = [frame[i] for frame in segment.targets]
            last = [] if before is None else [_last_placed(before, task, placed[0])]
            found.append(ClearanceRows(grid, segment.first, task, placed, segment.levels.length, last))
        else:
            found.append(TaskSource(grid, segment, i))
    return found


def _last_placed(before: TaskSegment, clearance: ClearanceTask, otherwise: Array | None) -> Array | None:
    """Where obstacles are at the last frame of a segment, `otherwise` when it does not know."""
    for task, placed in zip(before.levels.tasks, before.targets[-1], strict=True):
        if isinstance(task, ClearanceTask) and task.collisions is clearance.collisions and placed is not None:
            return placed
    return otherwise


def task_frames(
    grid: Discretization, levels: TaskLevels, i: int, targets: Sequence[Any], influence: Array
) -> TaskFrames:
    """The i-th task at frames with such an influence (frames,)."""
    task: Task | None = levels.tasks[i]
    assert task is not None
    shares = influence / task.influence if task.influence else np.zeros(len(targets))
    if isinstance(task, VelocityTask):
        return VelocityFrames(grid, task, targets, shares)
    if isinstance(task, PinTask) and is_own(type(task)):
        task = task.pose_task() or task
    if isinstance(task, FrameTask) and type(task).rows is FrameTask.rows:
        return TipFrames(grid, task, targets, shares)
    if isinstance(task, PostureTask) and is_own(type(task)):
        return PostureFrames(grid, task, targets, shares)
    return SingleFrames(grid, task, targets, shares)


class TaskSource(RowSource):
    """The i-th task of a segment."""

    def __init__(self, grid: Discretization, segment: TaskSegment, i: int) -> None:
        task = segment.levels.tasks[i]
        self.grid, self.segment, self.i, self.level = grid, segment, i, task.priority
        self.parts = task.parts
        self.whole = segment.influence[:, i] >= 1.0
        targets = [frame[i] for frame in segment.targets]
        self.frames = task_frames(grid, segment.levels, i, targets, segment.influence[:, i])
        self.reach = self.frames.reach

    def part(self, begin: int, end: int) -> TaskSource | None:
        own = self.segment.part(begin, end)
        return TaskSource(self.grid, own, self.i) if len(own.targets) else None

    def _rows(self, here: DiscreteMotion) -> FrameRows:
        if self not in here.known:
            here.known[self] = self.frames.rows(here, self.segment)
        return here.known[self]

    def block(self, here: DiscreteMotion) -> RowBlock:
        segment, grid = self.segment, self.grid
        found = self._rows(here)
        rows = found.rows
        size = np.array([1.0 / segment.levels.length if part.is_length else 1.0 for part in self.parts])
        factor = rows.weight * size[rows.part]
        J = [factor[:, None] * own * grid.scale for own in (rows.J, *found.before)]
        counts = np.bincount(found.frame, minlength=len(segment.targets))
        order = np.arange(len(found.frame)) - np.concatenate(([0], np.cumsum(counts)))[found.frame]
        frame = segment.first + found.frame
        bending = found.bending

        def bend(H: Array, z: Array) -> None:
            assert bending is not None
            H[segment.frames, 0] += bending(factor * z)

        return RowBlock(
            np.stack(J, axis=1),
            frame,
            factor * rows.lower,
            factor * rows.upper,
            (frame * MOST_ROWS + counts[found.frame]) * MOST_ROWS + order,
            self.whole[found.frame],
            None if bending is None else bend,
            rows.part,
            size * [part.tolerance * (grid.dt if part.is_rate else 1.0) for part in self.parts],
            rows.weight,
        )

    def residuals(self, here: DiscreteMotion) -> Array:
        """(frames, 2) the norm of the residual of each part, in its unit."""
        found = self._rows(here)
        squares, frames = found.rows.e**2, len(self.segment.targets)
        norms = np.zeros((frames, 2))
        for number, part in enumerate(self.parts):
            own = np.where(found.rows.part == number, squares, 0.0)
            norms[:, number] = np.sqrt(np.bincount(found.frame, own, frames)) / (here.grid.dt if part.is_rate else 1.0)
        return norms

    def is_missed(self, here: DiscreteMotion) -> bool:
        return bool(self.missed(here).any())

    def missed(self, here: DiscreteMotion) -> Array:
        found = np.zeros(len(here), bool)
        is_more = self.residuals(here)[:, : len(self.parts)] > [part.tolerance for part in self.parts]
        found[self.segment.frames] = self.whole & is_more.any(axis=1)
        return found
