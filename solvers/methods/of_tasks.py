"""Pose and Position tasks as targets of the methods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robokin import RobotModel, TaskError, clamp, forward_kinematics
from ...robokin.arrays import Array
from ..tasks.base import Task
from ..tasks.tips.pose import PoseTask, PositionTask
from .result import MethodResult
from .solve_by import solve_by

# Where the rotation is free: settings that leave it out. The other methods keep that of the start.
PLACE_ONLY: dict[str, dict[str, object]] = {
    "levenberg_marquardt": {"weights": (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)},
    "roll_pitch_yaw": {"rows": ("x", "y", "z")},
}


def is_target(task: Task) -> bool:
    """Whether the methods can go for what a task asks."""
    return type(task) in (PoseTask, PositionTask)


def solve_tasks_by(
    method: str, model: RobotModel, tasks: Sequence[Task], q0: Array | None = None, **settings: object
) -> MethodResult:
    """`solve_by` for Pose and Position tasks of one tip, in turn; their weights, bands and levels do not count.

    A Position task leaves the rotation free where the method can ("levenberg_marquardt", "roll_pitch_yaw",
    "goal_oriented"); "newton_raphson" keeps the tip's rotation as far as the place allows. Raises TaskError for other
    tasks, for several tips, and where some tasks ask for a rotation and some do not; else as `solve_by`.
    """
    wanted = [task for task in tasks if isinstance(task, PoseTask) and is_target(task)]
    if not tasks or len(wanted) < len(tasks):
        other = next((task.name for task in tasks if not is_target(task)), "none is there")
        raise TaskError(f"{method} goes for Pose and Position tasks only: {other}")
    first = wanted[0]
    for task in wanted[1:]:
        if task.link != first.link or not np.array_equal(task.offset, first.offset):
            raise TaskError(f"{method} moves one tip: {task.name} is not on the tip of {first.name}")
        if type(task) is not type(first):
            raise TaskError(f"{method}: {first.name} and {task.name} are not of one kind")
    q = clamp(model, model.limits.middle(model.neutral()) if q0 is None else q0)
    targets = np.array([task.target for task in wanted])
    if isinstance(first, PositionTask):
        targets[:, :3, :3] = (forward_kinematics(model, q)[first.link] @ first.offset)[:3, :3]
        settings = PLACE_ONLY.get(method, {}) | settings
    return solve_by(method, model, first.link, targets, q, offset=first.offset, **settings)
