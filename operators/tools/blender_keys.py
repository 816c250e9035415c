"""Blender's own keys, where they would do to a robot what nobody wants: R and G turn and slide a joint along its own
axis, as far as the mouse goes; Shift D, X and Delete take the meshes along. Everywhere else, and in a keymap that has
them for another thing, the keys are Blender's."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding, is_robot
from ...properties.bridge.model.channels import DRIVEN, EULER, LOCATION
from ...properties.selected.selection import selected_bones
from ...robokin import RobokinError

_AXES = {"R": EULER, "G": LOCATION}
_TRANSFORMS = {"R": "transform.rotate", "G": "transform.translate"}


def has_key(context: bpy.types.Context, keymap: str, event: bpy.types.Event, operator: str) -> bool:
    """Whether the key that was pressed is that of an operator in the user's keymap, who may have another one."""
    found = context.window_manager.keyconfigs.user.keymaps.get(keymap)
    return found is not None and any(
        item.idname == operator and item.type == event.type and item.shift == event.shift and item.active
        for item in found.keymap_items
    )


def common_axis(obj: bpy.types.Object, path: str) -> int | None:
    """The axis (0, 1, 2) of their own about which, or along which (path "location"), all selected bones move; None
    where one of them has several or another one, or none has any."""
    try:
        robot = binding(obj)
    except RobokinError:
        return None
    chosen = set(selected_bones(obj))
    found: set[int] = set()
    for channel in robot.channels:
        if channel.bone in chosen and channel.role != DRIVEN:
            if channel.path not in (EULER, LOCATION):
                return None
            if channel.path == path:
                found.add(channel.index)
    return found.pop() if len(found) == 1 else None


def own_transform(obj: bpy.types.Object, key: str) -> tuple[str, int] | None:
    """What R or G does to the selected joints ("R" turns, "G" slides), and about or along which axis of their own. G
    turns what cannot slide, as Blender's does, which would turn it about the axis of the view."""
    for kind in ("G", "R") if key == "G" else ("R",):
        axis = common_axis(obj, _AXES[kind])
        if axis is not None:
            return kind, axis
    return None


class ROBOKIN_OT_transform_joint(bpy.types.Operator):
    """Turn or slide the joints of the selected bones by Blender's own tool, about or along their own axis"""

    bl_idname = "robokin.transform_joint"
    bl_label = "Turn or Slide Joint"
    bl_options = {"INTERNAL"}

    kind: bpy.props.EnumProperty(
        name="Kind",
        description="What the joints do",
        items=(("R", "Turn", "About their axis"), ("G", "Slide", "Along their axis")),
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode == "POSE" and is_robot(context.object) and len(context.objects_in_mode) == 1

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        found = own_transform(context.object, self.kind)
        if found is None or not has_key(context, "Pose", event, _TRANSFORMS[self.kind]):
            return {"PASS_THROUGH"}
        transform = bpy.ops.transform.rotate if found[0] == "R" else bpy.ops.transform.translate
        along = tuple(index == found[1] for index in range(3))
        transform("INVOKE_DEFAULT", True, orient_type="LOCAL", constraint_axis=along)
        return {"FINISHED"}


class ROBOKIN_OT_duplicate_whole(bpy.types.Operator):
    """Duplicate the robot with its meshes, where nothing else is selected but what is its own"""

    bl_idname = "robokin.duplicate_whole"
    bl_label = "Duplicate with Meshes"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode == "OBJECT" and any(map(is_robot, context.selected_objects))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not has_key(context, "Object Mode", event, "object.duplicate_move"):
            return {"PASS_THROUGH"}
        selected = set(context.selected_objects)
        robot, *others = filter(is_robot, context.selected_objects)
        own = {robot, *robot.children_recursive, *(task.target for task in robot.robokin.tasks)}
        if selected - own:
            if not any(set(one.children_recursive) - selected for one in (robot, *others)):
                return {"PASS_THROUGH"}
            bpy.ops.object.duplicate_move("INVOKE_DEFAULT", True)
            self.report({"WARNING"}, "Meshes stay behind: select one robot alone to duplicate it with them")
            return {"FINISHED"}  # else the report is not shown
        context.view_layer.objects.active = robot
        bpy.ops.robokin.duplicate_move("INVOKE_DEFAULT", True)
        return {"FINISHED"}


_KEYS: tuple[tuple[str, str, dict, dict], ...] = (
    ("Pose", "robokin.transform_joint", {"type": "R"}, {"kind": "R"}),
    ("Pose", "robokin.transform_joint", {"type": "G"}, {"kind": "G"}),
    ("Object Mode", "robokin.duplicate_whole", {"type": "D", "shift": True}, {}),
    ("Object Mode", "robokin.delete_robot", {"type": "X"}, {}),
    ("Object Mode", "robokin.delete_robot", {"type": "DEL"}, {}),
)
_items: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    keys = bpy.context.window_manager.keyconfigs.addon
    for name, operator, event, settings in _KEYS if keys is not None else ():
        keymap = keys.keymaps.new(name=name)
        item = keymap.keymap_items.new(operator, value="PRESS", **event)
        for key, value in settings.items():
            setattr(item.properties, key, value)
        _items.append((keymap, item))


def unregister() -> None:
    for keymap, item in _items:
        keymap.keymap_items.remove(item)
    _items.clear()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)


CLASSES = (ROBOKIN_OT_transform_joint, ROBOKIN_OT_duplicate_whole)
