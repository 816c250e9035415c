"""Which bone a new task is about."""

from __future__ import annotations

import bpy

from ...robokin.structure.tool_links import tool_links
from ..bridge import Binding
from .selection import is_selected


def possible_tips(obj: bpy.types.Object, robot: Binding) -> tuple[str, ...]:
    """Bones: the active one alone where it is selected in Pose Mode and is the robot's; else those of the tools. Never
    empty.

    In Object Mode nobody sees which bones are selected.
    """
    bone = obj.data.bones.active
    if obj.mode == "POSE" and bone is not None and is_selected(obj.pose.bones[bone.name]):
        own = robot.own_bone(bone.name)
        if own in robot.link_of_bone:
            return (own,)
    return tuple(robot.bone_of_link[link] for link in tool_links(robot.model)) or robot.bones[-1:]


def moved_tool(obj: bpy.types.Object, robot: Binding) -> str:
    """The bone of the tool that is led along axes or to an end: the first that hangs on the selected bone, which is one
    of the arm that is meant; the bone itself where none does."""
    bone = possible_tips(obj, robot)[0]
    tools = [robot.bone_of_link[link] for link in tool_links(robot.model)]
    beyond = {each.name for each in obj.data.bones[bone].children_recursive}
    return bone if bone in tools else next((tool for tool in tools if tool in beyond), bone)
