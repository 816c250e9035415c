"""Which bone a new task is about."""

from __future__ import annotations

import bpy

from ...robokin.structure.tool_links import tool_links
from ..bridge import binding
from .selection import is_selected


def possible_tips(obj: bpy.types.Object) -> tuple[str, ...]:
    """Bones: the active one alone where it is selected in Pose Mode and is the robot's; else those of the tools. Never
    empty.

    In Object Mode nobody sees which bones are selected. Raises RobokinError.
    """
    robot = binding(obj)
    bone = obj.data.bones.active
    if obj.mode == "POSE" and bone is not None and is_selected(obj.pose.bones[bone.name]):
        own = robot.own_bone(bone.name)
        if own in robot.link_of_bone:
            return (own,)
    return tuple(robot.bone_of_link[link] for link in tool_links(robot.model)) or robot.bones[-1:]
