"""Steps of a joint, or of the tool along axes, as by the keys of a teach pendant."""

from __future__ import annotations

import bpy

from ...properties.bridge import Binding, binding, read_configuration
from ...properties.selected.tips import moved_tool
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...robokin.units import counted
from ...solvers.posing.pull import Pull, hold
from ...solvers.posing.steps import stepped_frame
from ..animation.curves import refuse_driven
from .joint_turn import JointTurn
from .link_pull import base_hold


def joint_of_number(obj: bpy.types.Object, number: int) -> str:
    """The bone of the joint 1, 2 ... in the robot's order. Raises RobokinError with how many there are."""
    robot = binding(obj)
    joints = robot.model.moving_joints
    if not 1 <= number <= len(joints):
        raise RobokinError(
            f"{obj.name!r} has {counted(len(joints), 'joint that moves', 'joints that move')}, no number {number}"
        )
    return robot.bone_of_link[joints[number - 1].child]


def jogged_joint(turn: JointTurn, axis: int, by: float) -> Array:
    """(nq,) after a step [rad or m] of an axis (0, 1, 2) of a joint. Raises RobokinError where it has no
    such axis."""
    if axis >= turn.axes:
        axes = "axis" if turn.axes == 1 else "axes"
        raise RobokinError(f"joint {turn.joint.name!r} has {turn.axes} {axes}, no number {axis + 1}")
    turn.refuse_locked()
    return turn.to(turn.value + by)


def jogged_tool(
    obj: bpy.types.Object, robot: Binding, axis: int, by: float, turn: bool, own_axes: bool
) -> tuple[Array, str]:
    """(nq,) after a step [m or rad] of the tool along or about an axis (0, 1, 2) of the robot's root or its own, and
    the tool's bone. Raises RobokinError where it cannot go there."""
    refuse_driven(obj, robot)
    tip = moved_tool(obj, robot)
    q = read_configuration(obj, robot)
    model, link = robot.model_at(q), robot.link_of_bone[tip]
    anchors = [hold(model, q, name) for name in base_hold(model, link)]
    pull = Pull(model, q, link, None, anchors)
    found = pull.to(stepped_frame(pull.grip, axis, by, turn, own_axes))
    if not pull.is_met:
        raise RobokinError(f"{tip!r} cannot go on that way: its joints are at their limits, or it is stretched out")
    return found, tip
