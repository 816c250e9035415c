"""Rows of a task on velocities: each reaches over a frame and the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ...alike import is_own
from ...kinematics.state import State
from ...tasks import JointVelocityTask
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
        self.are_opposite = isinstance(task, JointVelocityTask) and is_own(type(task))

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
                begin = segment.levels.state(here.q[frame - 1], segment.targets[k], self.grid.dt)
                rows = self._after(begin, state(k), target)
                J = -rows.J if self.are_opposite else self._along_start(begin, state(k), target, rows)
            found.append(rows.weighted(share) if share else rows)
            before.append(J)
        J, lower, upper, weight, part = (
            np.concatenate([getattr(rows, name) for rows in found])
            for name in ("J", "lower", "upper", "weight", "part")
        )
        frames = np.repeat(np.arange(len(found)), [len(rows.J) for rows in found])
        return FrameRows(Rows(J, lower, upper, weight, part), frames, before=(np.concatenate(before),))

    def _after(self, begin: State, end: State, target: Any) -> Rows:
        grid = self.grid
        by = grid.backend.difference(grid.model.tree, begin.q, end.q)
        return self.task.rows_after(Displacement(begin, end, by), target)

    def _along_start(self, begin: State, end: State, target: Any, rows: Rows) -> Array:
        """(m, nv) J of the rows along the displacement of where the frame begins."""
        J = np.zeros(rows.J.shape)
        for j, size in enumerate(self.grid.scale):
            along = np.zeros(len(self.grid.scale))
            along[j] = STEP * size
            up, down = (self._after(begin.moved(sign * along), end, target).lower for sign in (1.0, -1.0))
            if len(up) == len(down) == len(J):
                J[:, j] = (down - up) / (2.0 * STEP * size)
        return J
