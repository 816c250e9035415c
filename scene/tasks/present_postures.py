"""All postures that meet the robot's tasks where its targets stand now."""

from __future__ import annotations

from collections.abc import Generator

import bpy
import numpy as np

from ...properties.bridge import binding, read_configuration
from ...robokin import RobokinError, RobotModel, UnknownNameError, difference
from ...robokin.arrays import Array
from ...solvers import PostureProblem, Postures
from .solver_tasks import pose_tasks


def present_postures(
    context: bpy.types.Context, obj: bpy.types.Object, seed: int = 0
) -> Generator[float, None, Postures]:
    """Yield the share of the work done (0..1) now and then; return the postures, that nearest to the present pose
    first. Nothing is written. Raises RobokinError."""
    robot = binding(obj)
    _, wanted = pose_tasks(context, obj, robot)
    if not wanted:
        raise RobokinError("there is no task to meet: add a target, or enable a task")
    q = read_configuration(obj, robot)
    return (yield from PostureProblem(robot.model_at(q), wanted).solve_steps(None, q, seed))


def largest_turn(model: RobotModel, q: Array, Q: Array) -> Array:
    """(n,) [rad] by how much the angle that turns farthest differs between q (nq,) and each of Q (n, nq)."""
    away = np.array([difference(model, q, each) for each in Q]).reshape(len(Q), model.nv)
    return np.where(model.is_length, 0.0, abs(away)).max(axis=1, initial=0.0)


def named_posture(found: Postures, branch: str) -> int:
    """The first posture whose name has these words, as "elbow up"; the first of all for "". Raises RobokinError when
    there is none."""
    if not len(found):
        raise RobokinError("no posture meets the tasks: Solve Pose says why")
    for i, name in enumerate(found.names):
        if all(words.strip().lower() in name.lower() for words in branch.split(",")):
            return i
    raise UnknownNameError("posture", branch, found.names)
