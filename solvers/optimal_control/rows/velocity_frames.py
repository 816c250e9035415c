"""Rows of a task on velocities: each reaches over a frame and the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ...kinematics.state import State
from ...tasks.base import Rows
from ...tasks.protocols import Displacement, HistoryTask, VelocityTask, advance_target
from ..discretization import DiscreteMotion, Discretization
from .rows_of_frames import FrameRows, TaskFrames
from .segments import TaskSegment

STEP = 1e-6  # [rad, L] of central differences where a frame begins


class VelocityFrames(TaskFrames):
    """A velocity asks where a frame ends, counted from where it began. At the first frame of all it may ask for a
    pose to start from."""

    task: VelocityTask
    reach = 1

    def __init__(self, grid: Discretization, task: VelocityTask, targets: Sequence[Any], shares: Array) -> None:
        if isinstance(task, HistoryTask):  # each frame counts from where it begins, wherever that comes to be
            before = [targets[0], *targets[:-1]]
            targets = [task.anew(advance_target(task, *pair)) for pair in zip(targets, before, strict=True)]
        super().__init__(grid, task, targets, shares)

    def rows(self, here: DiscreteMotion, segment: TaskSegment) -> FrameRows:
        state, nv = segment.states(here), self.grid.model.nv
        found, before = [], []
        for k, (target, share) in enumerate(zip(self.targets, self.shares.tolist(), strict=True)):
            frame = segment.first + k
            if not share:
                rows, J = Rows.none(nv), np.zeros((0, nv))
            elif not frame:
                start = self.task.start_task(target)
                rows = Rows.none(nv) if start is None else start.rows(state(k), start.target)
                J = np.zeros(rows.J.shape)
            else:
                begin = segment.levels.state(here.q[frame - 1], segment.targets[k], here.grid.dt)
                moved = self._moved(begin, state(k))
                rows, known = self.task.rows_after(moved, target), self.task.start_jacobian(moved, target)
                J = self._along_start(moved, target, rows) if known is None else known
            found.append(rows.weighted(share) if share else rows)
            before.append(J)
        return FrameRows.of_each(found, (np.concatenate(before),))

    def _moved(self, begin: State, end: State) -> Displacement:
        grid = self.grid
        return Displacement(begin, end, grid.backend.difference(grid.model.tree, begin.q, end.q))

    def _along_start(self, moved: Displacement, target: Any, rows: Rows) -> Array:
        """(m, nv) J of the rows along the displacement of where the frame begins."""
        J = np.zeros(rows.J.shape)
        for j, size in enumerate(self.grid.scale):
            along = np.zeros(len(self.grid.scale))
            along[j] = STEP * size
            starts = [self._moved(moved.start.moved(sign * along), moved.end) for sign in (1.0, -1.0)]
            up, down = (self.task.rows_after(start, target).lower for start in starts)
            if len(up) == len(down) == len(J):
                J[:, j] = (down - up) / (2.0 * STEP * size)
        return J
