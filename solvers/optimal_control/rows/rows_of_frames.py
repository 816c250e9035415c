"""Rows of one task at many frames: of tips and postures all at once, of other tasks frame by frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import Reference
from ....robokin.spatial import so3
from ...tasks import FrameTask, PoseTask, PostureTask, Rows, Task
from ...tasks.tips.frame import PART
from ...tasks.whole_robot.posture import difference_rows
from ..discretization import DiscreteMotion, Discretization
from .segments import TaskSegment


@dataclass(frozen=True, eq=False)
class FrameRows:
    """Rows of all frames, one after the other; `frame` (m,): the index of each one's, ascending.
    bending: of multipliers (m,) the derivative (frames, n, n) of J'z along y; None where it is not known.
    before: of velocities, (m, nv) along the frame before."""

    rows: Rows
    frame: Array
    bending: Callable[[Array], Array] | None = None
    before: tuple[Array, ...] = ()

    @classmethod
    def of_each(cls, found: Sequence[Rows], before: tuple[Array, ...] = ()) -> FrameRows:
        """Rows of each frame in turn."""
        names = ("J", "lower", "upper", "weight", "part")
        joined = {name: np.concatenate([getattr(rows, name) for rows in found]) for name in names}
        return cls(Rows(**joined), np.repeat(np.arange(len(found)), [len(rows.J) for rows in found]), before=before)

    @classmethod
    def wanted(cls, J: Array, e: Array, weight: Array, part: Array, band: Array) -> FrameRows:
        """What `Rows.wanted` gives at each frame: J (frames, m, nv), e and weight (frames, m), part and band (m,)."""
        frame = np.broadcast_to(np.arange(len(e))[:, None], e.shape)
        part, band = np.broadcast_to(part, e.shape), np.broadcast_to(band, e.shape)
        flat = (each.reshape(-1) for each in (e, weight, part, band))
        return cls(Rows.wanted(J.reshape(e.size, J.shape[2]), *flat), frame[weight > 0.0])


class TaskFrames(ABC):
    """One task at the frames of a segment. targets: per frame, checked and resolved.
    shares: (frames,) its influence at each, over that which it was made with.   reach: how many frames before its own
    its rows reach to."""

    reach: ClassVar[int] = 0

    def __init__(self, grid: Discretization, task: Task, targets: Sequence[Any], shares: Array) -> None:
        self.grid, self.task, self.targets, self.shares = grid, task, targets, shares

    @abstractmethod
    def rows(self, here: DiscreteMotion, segment: TaskSegment) -> FrameRows:
        """At the segment's frames of a trajectory."""


class SingleFrames(TaskFrames):
    """A task that states its rows at one state."""

    def rows(self, here: DiscreteMotion, segment: TaskSegment) -> FrameRows:
        nv, state = self.grid.model.nv, segment.states(here)
        return FrameRows.of_each(
            [
                self.task.rows(state(k), target).weighted(share) if share else Rows.none(nv)
                for k, (target, share) in enumerate(zip(self.targets, self.shares.tolist(), strict=True))
            ]
        )


class PostureFrames(TaskFrames):
    """Values of joints. Only the turns of balls bend, which is not known."""

    task: PostureTask

    def __init__(self, grid: Discretization, task: PostureTask, targets: Sequence[Any], shares: Array) -> None:
        super().__init__(grid, task, targets, shares)
        wanted = [task.wanted(grid.model, target) for target in targets]
        self.wanted = np.array([q for q, _ in wanted])
        self.weight = np.array([weight for _, weight in wanted]) * shares[:, None]

    def rows(self, here: DiscreteMotion, segment: TaskSegment) -> FrameRows:
        e, J = difference_rows(self.grid.model, here.q[segment.frames], self.wanted)
        part = self.grid.model.is_length.astype(int)
        found = FrameRows.wanted(J, e, self.weight, part, self.task.band[part])
        return found if self.grid.joined else replace(found, bending=lambda _: np.zeros(1))


class TipFrames(TaskFrames):
    """A task on the pose of a tip."""

    task: FrameTask

    def __init__(self, grid: Discretization, task: FrameTask, targets: Sequence[Any], shares: Array) -> None:
        super().__init__(grid, task, targets, shares)
        self.index = grid.model.link_index(task.link)
        self.wanted = np.array(targets, float).reshape(-1, 4, 4)
        self.weight = shares[:, None] * task.weights

    def rows(self, here: DiscreteMotion, segment: TaskSegment) -> FrameRows:
        T, tip = self._tip(here.q[segment.frames])
        if type(self.task).tip_rows is PoseTask.tip_rows:
            e, A = self.task.own_rows(T, self.wanted)
        else:  # of other makers, who wrote it for one pose
            single = [self.task.own_rows(*pair) for pair in zip(T, self.wanted, strict=True)]
            e, A = (np.array(each) for each in zip(*single, strict=True))
        found = FrameRows.wanted(A @ tip, e, self.weight, PART, self.task.band)
        used = self.weight > 0.0

        def bending(z: Array) -> Array:
            pushing = np.zeros(used.shape)
            pushing[used] = z
            return self._bending(tip, (pushing[:, None] @ A)[:, 0])

        return FrameRows(found.rows, found.frame, bending)

    def _tip(self, q: Array) -> tuple[Array, Array]:
        """T (frames, 4, 4), and the velocity (frames, 6, nv) of the tip in root axes."""
        grid = self.grid
        links = grid.backend.frame_placements(grid.model.tree, q)[:, self.index]
        T = links @ self.task.offset
        J = grid.backend.frame_jacobian(grid.model.tree, q, self.index, Reference.LOCAL_WORLD_ALIGNED)
        if self.task.offset[:3, 3].any():
            J[:, :3] -= so3.hat(T[:, :3, 3] - links[:, :3, 3]) @ J[:, 3:]
        return T, J

    def _bending(self, tip: Array, wrench: Array) -> Array:
        """(frames, n, n) derivative of tip' wrench near the target, wrench (frames, 6)."""
        found = tip_bending(self.grid, tip, wrench)
        if self.task.frame == "tip":  # the axes turn too
            found -= 2.0 * turning(self.grid, tip, wrench)
        return found


def tip_bending(grid: Discretization, tip: Array, wrench: Array) -> Array:
    """(frames, n, n) derivative along y of tip' wrench, tip (frames, 6, nv) of a point in root axes, wrench (frames,
    6) that stays: joints nearer to the root turn the columns of those after them. Exact for joints with one axis; a
    guess where one mimics another."""
    linear, angular = np.swapaxes(tip[:, :3], 1, 2), np.swapaxes(tip[:, 3:], 1, 2)
    force, moment = so3.hat(wrench[:, :3]), so3.hat(wrench[:, 3:])
    turned = linear @ force @ np.swapaxes(angular, 1, 2)  # [i, j]: force . (angular_j x linear_i)
    mean = 0.5 * (turned + np.swapaxes(turned, 1, 2))
    found = np.tril(turned) + np.swapaxes(np.tril(turned, -1), 1, 2)
    for first, count in grid.joined:
        own = slice(first, first + count)
        found[:, own, own] = mean[:, own, own]
    spun = 0.5 * np.tril(angular @ moment @ np.swapaxes(angular, 1, 2), -1)
    found += spun + np.swapaxes(spun, 1, 2)
    return grid.scale[:, None] * found * grid.scale


def turning(grid: Discretization, tip: Array, wrench: Array) -> Array:
    """(frames, n, n) what of that is the turn of the tip."""
    linear, angular = np.swapaxes(tip[:, :3], 1, 2), np.swapaxes(tip[:, 3:], 1, 2)
    turned = linear @ so3.hat(wrench[:, :3]) @ np.swapaxes(angular, 1, 2)
    return grid.scale[:, None] * (0.5 * (turned + np.swapaxes(turned, 1, 2))) * grid.scale
