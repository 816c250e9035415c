"""Which robot the user means, seen from what is selected."""

from __future__ import annotations

import bpy

from ..bridge import is_robot
from ..bridge.belonging import has_object
from ..bridge.parents import with_parents
from ..bridge.record.stored import ROBOT_KEY


def active_robot(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object if it is a robot; else the robot it is a part of, or whose task it is the target of."""
    obj = context.object
    if is_robot(obj):  # which is asked at every redraw, by all panels and operators
        return obj
    found = next(filter(is_robot, with_parents(obj)), None)
    return _robot_following(obj, context.scene) if found is None and obj is not None else found


def _robot_following(target: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Object | None:
    for armature in bpy.data.armatures:
        for obj in objects_showing(armature) if ROBOT_KEY in armature else ():
            if any(task.target == target for task in obj.robokin.tasks) and has_object(scene, obj):
                return obj
    return None


# Names and libraries of the objects that show an armature: all panels and operators ask at every redraw, and looking at
# all objects of a large file takes milliseconds.
_objects: dict[str, list[tuple[str, str | None]]] = {}


def objects_showing(armature: bpy.types.Armature) -> list[bpy.types.Object]:
    """The objects whose data the armature is."""
    found = [bpy.data.objects.get(name) for name in _objects.get(armature.name_full, ())]
    if len(found) != armature.users - armature.use_fake_user or any(o is None or o.data != armature for o in found):
        found = [obj for obj in bpy.data.objects if obj.data == armature]
        _objects[armature.name_full] = [(o.name, o.library.filepath if o.library else None) for o in found]
    return found


def why_no_robot(context: bpy.types.Context) -> str:
    """One line for the user when `active_robot` finds none."""
    if context.object is None:
        return "Select a robot, or import one from a URDF file"
    if context.object.type == "ARMATURE":
        return f"{context.object.name!r} is not a robot yet: make it one, or import one from a URDF file"
    return f"{context.object.name!r} is not a robot: select one, or import one from a URDF file"
