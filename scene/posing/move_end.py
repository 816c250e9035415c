"""Where a move of the list ends, as a pose: a list of targets is gone through one by one."""

from __future__ import annotations

import bpy
import numpy as np

from ...properties.bridge import binding, read_configuration
from ...properties.postures import find_posture, posture_configuration
from ...robokin import RobokinError, forward_kinematics
from ...robokin.arrays import Array
from ...robokin.spatial import quaternion, se3
from ...solvers.posing.reach import reach
from ..animation.curves import refuse_driven
from ..bake.moves import solver_move


def pose_at_end(obj: bpy.types.Object, item: bpy.types.PropertyGroup) -> tuple[Array, float, float]:
    """(nq,) from the present pose on; how far the tip then is from the move's end [m], and by how much it is turned
    away [rad], where that is not reached: the place comes first. Raises RobokinError, which names the move."""
    robot = binding(obj)
    refuse_driven(obj, robot)
    move, q = solver_move(obj, robot, item), read_configuration(obj, robot)
    if move.joints is not None:
        return posture_configuration(robot.model, find_posture(obj, item.posture), q), 0.0, 0.0
    model = robot.model_at(q)
    if move.quaternion is None:  # along a curve, which leaves the tip turned as it is
        turned = forward_kinematics(model, q)[move.tip][:3, :3]
    else:
        turned = quaternion.to_matrix(np.array(move.quaternion))
    T = se3.placement(turned, move.position)
    try:
        result = reach(model, move.tip, T, q, obj.robokin.solver.seed)
    except RobokinError as problem:
        raise RobokinError(f"move {item.name!r}: {problem}") from None
    if result.converged:
        return result.q, 0.0, 0.0
    tip = forward_kinematics(model, result.q)[move.tip]
    twist, away = se3.log(se3.inverse(tip) @ T), tip[:3, 3] - T[:3, 3]
    return result.q, float(np.linalg.norm(away)), float(np.linalg.norm(twist[3:]))
