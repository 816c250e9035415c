"""Which robot the user means, seen from what is selected."""

from __future__ import annotations

import bpy

from .bridge import is_robot


def active_robot(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object if it is a robot; else the robot it is a part of, or whose task it is the target of."""
    obj = context.object
    found = obj
    while found is not None:
        if is_robot(found):
            return found
        found = found.parent
    return None if obj is None else _robot_following(obj, context.scene)


def _robot_following(target: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Object | None:
    for obj in scene.objects:
        if is_robot(obj) and any(task.target == target for task in obj.robokin.tasks):
            return obj
    return None


def why_no_robot(context: bpy.types.Context) -> str:
    """One line for the user when `active_robot` finds none."""
    if context.object is None:
        return "Select a robot, or import one from a URDF file"
    if context.object.type == "ARMATURE":
        return f"{context.object.name!r} is not a robot yet: make it one, or import one from a URDF file"
    return f"{context.object.name!r} is not a robot: select one, or import one from a URDF file"
