"""Delete Robot: what is selected, and of robots all that belongs to them. X and Delete alone would leave meshes that no
click selects, and markers of a check."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ...properties.bridge import is_robot
from ...properties.bridge.files.importing import MADE as COLLECTION
from ...properties.bridge.visuals.link_visuals import SHOWS
from ...robokin.units import counted
from ...scene.check.markers import clear_markers
from ...scene.tasks.new_targets import MADE, is_unused
from ..tools.blender_keys import has_key


def delete_robot(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Its meshes, the targets made for it that nothing else needs, and the markers of its check go with it; collections
    that were made for it go when they are empty. A robot that other scenes have too goes from this one alone, as by
    Blender's Delete, with the meshes that no other scene has. What was done, in a line."""
    name, meshes = obj.name, list(_meshes(obj))
    holders = {holder for each in (obj, *meshes) for holder in each.users_collection if COLLECTION in holder}
    if any(other != scene for other in obj.users_scene):
        own = {scene.collection, *scene.collection.children_recursive}
        for each in (obj, *meshes):
            for holder in own.intersection(each.users_collection):
                holder.objects.unlink(each)
        staying = [other.name for other in obj.users_scene]
        if staying:
            bpy.data.batch_remove([mesh for mesh in meshes if not mesh.users_scene])
            _remove_empty(holders)
            return f"{name!r} is gone from this scene, and stays in {', '.join(staying)}"
    clear_markers(obj)
    followed = [each for task in obj.robokin.tasks for each in (task.target, task.surface)]
    followed += [each for move in obj.robokin.moves for each in (move.target, move.via)]
    targets = {each for each in followed if each is not None and MADE in each}
    bpy.data.batch_remove([obj, *meshes])
    spare = [target for target in targets if is_unused(target)]
    bpy.data.batch_remove(spare)
    _remove_empty(holders)
    return f"deleted {name!r} with {counted(len(meshes), 'mesh', 'meshes')} and {counted(len(spare), 'target')}"


def _remove_empty(holders: set[bpy.types.Collection]) -> None:
    while empty := [each for each in holders if not (each.objects or each.children)]:
        holders.difference_update(empty)
        bpy.data.batch_remove(empty)


def _meshes(parent: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """The objects that show its links; those of robots that hang on it are theirs."""
    for child in parent.children:
        if not is_robot(child):
            if SHOWS in child:
                yield child
            yield from _meshes(child)


class ROBOKIN_OT_delete_robot(bpy.types.Operator):
    """Delete what is selected; robots with their meshes, the targets made for them, and the markers of their checks"""

    bl_idname = "robokin.delete_robot"
    bl_label = "Delete Robot"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        robots = list(filter(is_robot, context.selected_objects)) if context.mode == "OBJECT" else []
        linked = [robot for robot in robots if robot.library or robot.override_library]
        if robots and not linked:
            return True
        cls.poll_message_set(
            f"{linked[0].name!r} is linked from another file" if linked else "Select a robot in Object Mode"
        )
        return False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type in ("X", "DEL") and not has_key(context, "Object Mode", event, "object.delete"):
            return {"PASS_THROUGH"}
        if event.type == "X":
            return context.window_manager.invoke_confirm(
                self, event, title="Delete selected objects?", confirm_text="Delete"
            )
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        for robot in list(filter(is_robot, context.selected_objects)):
            self.report({"INFO"}, delete_robot(robot, context.scene))
        if context.selected_objects:
            bpy.ops.object.delete()
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_delete_robot,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
