"""Duplicate Robot: the armature with all it wears, and the targets that were made for its tasks; Shift D moves the
copy in the same step."""

from __future__ import annotations

import bpy

from ...properties.bridge.visuals.new_data import all_or_nothing, collections_for
from ...scene.tasks.new_targets import MADE
from ..common import RobotOperator


def duplicate_robot(context: bpy.types.Context, obj: bpy.types.Object) -> bpy.types.Object:
    """A second robot in the same place, with joints, pose and animation of its own. Other targets are shared."""
    own = {task.target for task in obj.robokin.tasks if task.target is not None and MADE in task.target}
    sources = [obj, *obj.children_recursive, *(target for target in own if target not in obj.children_recursive)]
    copies = {source: source.copy() for source in sources}
    for source, copy in copies.items():
        if source.parent in copies:
            inverse = source.matrix_parent_inverse.copy()
            copy.parent, copy.matrix_parent_inverse = copies[source.parent], inverse
        if copy.animation_data is not None and copy.animation_data.action is not None:
            slot = copy.animation_data.action_slot
            copy.animation_data.action = copy.animation_data.action.copy()
            if slot is not None:
                copy.animation_data.action_slot = copy.animation_data.action.slots[slot.identifier]
        for collection in source.users_collection or collections_for(obj):
            collection.objects.link(copy)
    made = copies[obj]
    made.data = obj.data.copy()
    for task in made.robokin.tasks:
        task.target = copies.get(task.target, task.target)
    _relink_drivers(made, obj)
    context.view_layer.update()
    return made


def _relink_drivers(made: bpy.types.Object, before: bpy.types.Object) -> None:
    """Followers follow the joints of their own robot."""
    for owner, source in ((made, before), (made.data, before.data)):
        for curve in owner.animation_data.drivers if owner.animation_data is not None else ():
            for variable in curve.driver.variables:
                for target in variable.targets:
                    if target.id == source:
                        target.id = owner
                    elif target.id == before:
                        target.id = made


class ROBOKIN_OT_duplicate_robot(RobotOperator, bpy.types.Operator):
    """Duplicate the robot with its meshes and the targets made for it"""

    bl_idname = "robokin.duplicate_robot"
    bl_label = "Duplicate Robot"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        view_layer = context.view_layer
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        with all_or_nothing():
            made = duplicate_robot(context, obj)
        for other in view_layer.objects.selected:
            other.select_set(False)
        for new in (made, *(task.target for task in made.robokin.tasks if task.target and MADE in task.target)):
            if new.name in view_layer.objects:
                new.select_set(True)
        view_layer.objects.active = made
        self.report({"INFO"}, f"robot {made.name!r}, a copy of {obj.name!r}")
        return {"FINISHED"}


class ROBOKIN_OT_duplicate_move(bpy.types.Macro):
    """Duplicate the robot with its meshes and the targets made for it, and move the copy"""

    bl_idname = "robokin.duplicate_move"
    bl_label = "Duplicate Robot"
    bl_options = {"REGISTER", "UNDO"}  # one step, as of Blender's own Duplicate Objects


CLASSES = (ROBOKIN_OT_duplicate_robot, ROBOKIN_OT_duplicate_move)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    ROBOKIN_OT_duplicate_move.define("ROBOKIN_OT_duplicate_robot")
    ROBOKIN_OT_duplicate_move.define("TRANSFORM_OT_translate")


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
