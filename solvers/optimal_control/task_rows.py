"""Tasks at every frame as rows of one program over all frames, and how they bend.

What the start lacks of a task is held: a row asks that it stays so. So tasks that are met stay met, those that cannot
be met lack no more than they did, and a level below never costs one above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import Reference
from ..qp.sparse_rows import SparseRows
from ..tasks import FrameTask, Rows
from ..tasks.tips.frame import PART, to_tip_axes
from ..velocity.task_levels import TaskLevels
from .discretization import DiscreteMotion, Discretization


@dataclass(frozen=True, eq=False)
class FrameRows:
    """Rows of all tasks at one frame, dimensionless. J: (m, n) along y of the frame.   lower, upper: (m,)."""

    J: Array
    lower: Array
    upper: Array
    lacking: Array
    tips: Sequence[tuple[_TipFrames, int, Array, Array, slice]]

    def bending(self, z: Array) -> Array:
        """(n, n) derivative of J'z along y, of tasks on tips: of others it is not known."""
        found = np.zeros((self.J.shape[1],) * 2)
        for tip, k, A, factor, own in self.tips:
            found += tip.bending(k, A, factor * z[own])
        return found


@dataclass(frozen=True, eq=False)
class TaskSegment:
    """Frames first .. first + len(targets) with the same tasks. targets: per frame, checked and resolved.
    influence: (frames, tasks)."""

    first: int
    levels: TaskLevels
    targets: Sequence[Sequence[Any]]
    influence: Array


class TaskRows:
    """Tasks over the frames of a discretization."""

    def __init__(self, grid: Discretization, segments: Sequence[TaskSegment]) -> None:
        self.grid, self.segments = grid, segments
        self.held: list[Array] | None = None

    def at(self, here: DiscreteMotion) -> LinearisedTasks:
        found: list[FrameRows] = []
        residuals: list[Array] = []
        for segment in self.segments:
            self._segment(segment, here, found, residuals)
        return LinearisedTasks(self, found, residuals)

    def hold(self, here: LinearisedTasks) -> None:
        """Ask from now on that the tasks lack what they lack here."""
        self.held = [rows.lacking for rows in here.frames]

    def _segment(
        self, segment: TaskSegment, here: DiscreteMotion, found: list[FrameRows], residuals: list[Array]
    ) -> None:
        levels, frames = segment.levels, range(segment.first, segment.first + len(segment.targets))
        tips = {
            i: _TipFrames(self.grid, task, here.q[frames.start : frames.stop])
            for i, task in enumerate(levels.tasks)
            if isinstance(task, FrameTask) and type(task).rows is FrameTask.rows
        }
        still = np.zeros(self.grid.model.nv)
        for k, (frame, targets) in enumerate(zip(frames, segment.targets, strict=True)):
            shares = segment.influence[k]
            state = levels.state(here.q[frame], targets, self.grid.dt, influence=shares)
            J, lower, upper, bent, row = [], [], [], [], 0
            own = np.zeros((len(levels.tasks), 2))
            for i, task in enumerate(levels.tasks):
                if not shares[i]:
                    continue
                if i in tips:
                    rows, A = tips[i].rows(k, targets[i])
                    rows = rows.weighted(shares[i] / task.influence)
                else:
                    rows = levels.rows_of(i, state, targets[i], shares[i])
                level = levels.level_of(i, state, rows)
                if i in tips:
                    size = np.where(PART == 0, 1.0 / levels.length, 1.0)[tips[i].task.weights > 0.0]
                    bent.append((tips[i], k, A, size * rows.weight, slice(row, row + len(level.J))))
                row += len(level.J)
                own[i] = levels.residuals_of(i, rows, still, self.grid.dt)
                J.append(level.J)
                lower.append(level.lower)
                upper.append(level.upper)
            low, high = (np.concatenate([np.zeros(0), *each]) for each in (lower, upper))
            lacking = np.clip(0.0, low, high)
            found.append(FrameRows(np.vstack([np.zeros((0, len(still))), *J]), low, high, lacking, bent))
            residuals.append(own)


class LinearisedTasks:
    """The rows of all frames at a trajectory. residuals: per frame (tasks, 2)."""

    def __init__(self, tasks: TaskRows, frames: list[FrameRows], residuals: list[Array]) -> None:
        self.tasks, self.frames, self.residuals = tasks, frames, residuals

    def rows(self) -> tuple[SparseRows, Array, Array]:
        n, size = len(self.tasks.grid.scale), len(self.frames) * len(self.tasks.grid.scale)
        blocks = np.vstack([rows.J for rows in self.frames]) if self.frames else np.zeros((0, n))
        first = np.repeat(np.arange(len(self.frames)) * n, [len(rows.J) for rows in self.frames])
        lower, upper = self._sides()
        return SparseRows.of(blocks, first, size), lower, upper

    def bending(self, z: Array) -> Array:
        """(F, n, n) derivative of J'z, z (m,) of all rows."""
        ends = np.cumsum([0, *(len(rows.J) for rows in self.frames)])
        own = [rows.bending(z[ends[k] : ends[k + 1]]) for k, rows in enumerate(self.frames)]
        return np.array(own)

    def _sides(self) -> tuple[Array, Array]:
        held = self.tasks.held
        lower = [np.zeros(0)]
        upper = [np.zeros(0)]
        for k, rows in enumerate(self.frames):
            kept = held[k] if held is not None and len(held[k]) == len(rows.lower) else 0.0
            lower.append(rows.lower - kept)
            upper.append(rows.upper - kept)
        return np.concatenate(lower), np.concatenate(upper)

    def lacking(self) -> Array:
        """(m,) of all frames, beyond what is held."""
        lower, upper = self._sides()
        return np.clip(0.0, lower, upper)


class _TipFrames:
    """One task on a tip, at many frames. J: (frames, 6, nv) of the tip in root axes."""

    def __init__(self, grid: Discretization, task: FrameTask, q: Array) -> None:
        self.task, self.grid, index = task, grid, grid.model.link_index(task.link)
        links = grid.backend.frame_placements(grid.model.tree, q)[:, index]
        self.T = links @ task.offset
        self.J = grid.backend.frame_jacobian(grid.model.tree, q, index, Reference.LOCAL_WORLD_ALIGNED)
        arm = self.T[:, :3, 3] - links[:, :3, 3]
        self.J[:, :3] += np.cross(self.J[:, 3:], arm[:, :, None], axis=1)

    def rows(self, k: int, target: Array) -> tuple[Rows, Array]:
        """The task's rows at a frame, and A (m, 6) of those that it has: J = A (twist of the tip)."""
        e, A = self.task.tip_rows(self.T[k], target)
        if self.task.frame == "tip":
            for part in (slice(0, 3), slice(3, 6)):
                e[part], A[part] = to_tip_axes(e[part], A[part], self.T[k][:3, :3])
        weights = self.task.weights
        return Rows.wanted(A @ self.J[k], e, weights, PART, self.task.band), A[weights > 0.0]

    def bending(self, k: int, A: Array, z: Array) -> Array:
        """(n, n) derivative of J'A'z near the target, with the wrench A'z on the tip: joints nearer to the root turn
        the columns of those after them. Exact for joints with one axis; a guess where one mimics another."""
        force, moment = np.split(A.T @ z, 2)
        linear, angular = self.J[k, :3].T, self.J[k, 3:].T
        turned = linear @ np.cross(force, angular).T  # [i, j]: force . (angular_j x linear_i)
        mean = 0.5 * (turned + turned.T)
        found = np.tril(turned) + np.tril(turned, -1).T
        for first, count in self.grid.joined:
            own = slice(first, first + count)
            found[own, own] = mean[own, own]
        if self.task.frame == "tip":
            found -= mean
        spun = 0.5 * np.tril(angular @ np.cross(moment, angular).T, -1)
        found += spun + spun.T
        return self.grid.scale[:, None] * found * self.grid.scale
