"""A tool whose motion is looked at: a tip, and which of its six velocities count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import Reference, get_backend
from ...robokin.configuration import random_configuration
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ...robokin.spatial.so3 import hat
from ..tasks import FrameTask, PoseTask, Task
from ..tasks.tips.frame import FrameKind, is_plain_task
from ..velocity.chain_length import chain_length

STRUCTURAL = 1e-6  # of the largest: singular values that are smaller at every pose belong to what no pose can do
SAMPLES = 5  # poses that show the rank


@dataclass(frozen=True, eq=False)
class Tool:
    """A tip of a robot. link, offset: (4, 4) T_link_tip.   counting: (6,) bool, of its velocity, linear first.   frame:
    the axes of that, "world" (root axes) or "tip".   length: L [m], in which lengths count.   rank: how many of these
    velocities the joints can choose at most poses.   name: of its task."""

    model: RobotModel
    link: str
    offset: Array
    counting: Array
    frame: str
    length: float
    rank: int
    name: str

    @classmethod
    def of(cls, model: RobotModel, task: FrameTask) -> Tool:
        """What a task asks of its tip. Raises UnknownNameError."""
        length = chain_length(model, [(task.link, task.offset[:3, 3])])
        found = cls(model, task.link, task.offset, task.weights != 0.0, task.frame, length, 0, task.name)
        return replace(found, rank=_rank(found._sampled()))

    def _sampled(self) -> Array:
        """(SAMPLES, m, nv) `jacobian` at poses that show its rank."""
        rng = np.random.default_rng(0)
        return self.jacobian(np.array([random_configuration(self.model, rng) for _ in range(SAMPLES)]))

    def jacobian(self, q: Array) -> Array:
        """(F, m, nv) of the velocities that count, for q (F, nq): angles in radians, lengths in L. Wheeled bases move
        as their wheels roll them."""
        model, backend = self.model, get_backend()
        index = model.link_index(self.link)
        J = backend.frame_jacobian(model.tree, q, index, Reference.LOCAL_WORLD_ALIGNED)
        R = backend.frame_placements(model.tree, q)[:, index, :3, :3]
        J[:, :3] -= hat(R @ self.offset[:3, 3]) @ J[:, 3:]
        if self.frame == "tip":
            back = np.swapaxes(R @ self.offset[:3, :3], -1, -2)
            J = np.concatenate((back @ J[:, :3], back @ J[:, 3:]), axis=1)
        for base in model.rolling_bases:
            own, wheels = slice(base.v, base.v + 3), list(base.wheel_v)
            for row, each in enumerate(q):
                J[row][:, wheels] += J[row][:, own] @ base.rolled_jacobian(each[base.q : base.q + 3], np.zeros(2))
            J[:, :, own] = 0.0
        J[:, :3] /= self.length
        J *= np.where(model.is_length, self.length, 1.0)
        return J[:, self.counting]


def _rank(J: Array) -> int:
    """The largest rank of matrices (k, m, n)."""
    s = np.linalg.svd(J, compute_uv=False)
    return int((s > STRUCTURAL * s.max(initial=1e-300)).sum(axis=1).max(initial=0))


def moves_without_turning(model: RobotModel, link: str) -> bool:
    """Whether a link can keep its rotation wherever its origin can go, near most poses: where the ranks of its linear
    and angular velocity add up to that of both. An arm of five joints cannot. Raises UnknownNameError."""
    tool = Tool.of(model, PoseTask(link, np.eye(4)))
    J = tool._sampled()
    return tool.rank == _rank(J[:, :3]) + _rank(J[:, 3:])


def tools_of(model: RobotModel, tasks: Sequence[Task]) -> list[Tool]:
    """One for each tip with a task on its pose, position or orientation. Raises UnknownNameError."""
    found = []
    for task in tasks:
        if is_plain_task(task) and task.record_kind is FrameKind.POSE and task.influence:
            found.append(Tool.of(model, task))
    return found


def tool_at(model: RobotModel, link: str) -> Tool:
    """The pose of a link. Raises UnknownNameError, and TaskError where no joint moves it."""
    found = Tool.of(model, PoseTask(link, np.eye(4), name=link))
    if not found.rank:
        raise TaskError(f"no joint moves link {link!r}")
    return found
