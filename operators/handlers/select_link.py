"""A click on the body of a robot selects the joint that moves it; in Object Mode the robot."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d, region_2d_to_origin_3d, region_2d_to_vector_3d
from mathutils import Vector

from ...properties.bridge import binding, is_robot
from ...properties.bridge.record.stored import ROBOT_KEY
from ...properties.bridge.visuals.skins import bone_under_skin
from ...properties.selected.selection import is_selected, select, selected_bones
from ...robokin import RobokinError

_SURFACES = ("MESH", "CURVE", "SURFACE", "FONT", "META")
_NEAR = 60.0  # pixels: what is no farther from a click with Shift was clicked
TWEAK = "builtin.select"


def link_under(context: bpy.types.Context, place: tuple[int, int]) -> tuple[bpy.types.Object, str] | None:
    """(robot, bone) of the body that is seen at a place of the region, in pixels; None for anything else. In Pose Mode
    a mesh that the armature deforms is the body of the bones that move it."""
    found = body_under(context, place)
    return None if found is None else found[:2]


def body_under(context: bpy.types.Context, place: Sequence[float]) -> tuple[bpy.types.Object, str, Vector] | None:
    """`link_under`, with the point of the body in the world."""
    region, view = context.region, context.region_data
    start = region_2d_to_origin_3d(region, view, place)
    along: Vector = region_2d_to_vector_3d(region, view, place)
    depsgraph = context.evaluated_depsgraph_get()
    hit, point, _, face, found, _ = context.scene.ray_cast(depsgraph, start, along)
    if hit and context.mode == "POSE" and (skin := bone_under_skin(found.evaluated_get(depsgraph), face)) is not None:
        return *skin, point
    found = found.original if hit else None
    while found is not None and found.parent is not None:
        if is_robot(found.parent) and found.parent_type == "BONE":
            return found.parent, found.parent_bone, point
        found = found.parent
    return None


def _clicks_at_press(context: bpy.types.Context) -> bool:
    """Whether Blender's own click has come before this one: with other tools than Tweak it would come after."""
    tool = context.workspace.tools.from_space_view3d_mode(context.mode)
    return tool is not None and tool.idname == TWEAK


def _is_hit(context: bpy.types.Context, robot: bpy.types.Object, place: tuple[int, int], extend: bool) -> bool:
    """Whether Blender's own click, which deselects everything where it finds nothing, has found something before the
    body: a bone, or what has no surface, as an empty."""
    if context.mode == "OBJECT":
        selected = [obj for obj in context.view_layer.objects.selected if obj.type not in _SURFACES]
        active = context.view_layer.objects.active
        return (
            active in selected and _is_near(context, active.matrix_world.translation, place)
            if extend
            else bool(selected)
        )
    active = robot.data.bones.active
    chosen = active is not None and is_selected(robot.pose.bones[active.name])
    if not chosen or not extend:
        return chosen
    return _is_near(context, robot.matrix_world @ robot.pose.bones[active.name].head, place)


def _is_near(context: bpy.types.Context, point: Vector, place: tuple[int, int]) -> bool:
    pixel = location_3d_to_region_2d(context.region, context.region_data, point)
    return pixel is not None and (pixel - Vector(place)).length < _NEAR * context.preferences.system.ui_scale


def joint_bone(robot: bpy.types.Object, bone: str) -> str:
    """The bone of the nearest joint above a link that moves it, or its own. Raises RobokinError."""
    moved_by = binding(robot).joint_of_bone
    each = robot.data.bones[bone]
    while each.parent is not None and each.name in moved_by and not moved_by[each.name].nv:
        each = each.parent
    return binding(robot).own_bone(each.name)


class ROBOKIN_OT_select_link(bpy.types.Operator):
    """Select the joint that moves the body under the mouse"""

    bl_idname = "robokin.select_link"
    bl_label = "Select Link"
    bl_options = {"REGISTER", "UNDO"}

    extend: bpy.props.BoolProperty(name="Extend", description="Keep what is selected", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode not in ("OBJECT", "POSE") or context.region_data is None:
            return False
        in_object_mode = context.mode == "OBJECT"
        return any(ROBOT_KEY in each for each in bpy.data.armatures) if in_object_mode else is_robot(context.object)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        place = event.mouse_region_x, event.mouse_region_y
        found = link_under(context, place)
        if found is None or (context.mode == "POSE" and found[0].mode != "POSE"):
            return {"PASS_THROUGH"}
        robot, bone = found
        if not _clicks_at_press(context):
            bpy.ops.view3d.select(location=place, extend=self.extend, deselect_all=not self.extend)
        if _is_hit(context, robot, place, self.extend):
            return {"FINISHED"}
        try:
            joint = joint_bone(robot, bone)
        except RobokinError:
            joint = bone
        if context.mode == "POSE":
            _select_bone(robot, joint, self.extend)
        else:
            _select_robot(context, robot, joint, self.extend)
        return {"FINISHED"}


def _select_bone(robot: bpy.types.Object, bone: str, extend: bool) -> None:
    for other in () if extend else selected_bones(robot):
        select(robot.pose.bones[other], False)
    select(robot.pose.bones[bone], True)
    robot.data.bones.active = robot.data.bones[bone]


def _select_robot(context: bpy.types.Context, robot: bpy.types.Object, bone: str, extend: bool) -> None:
    for other in () if extend else context.view_layer.objects.selected:
        other.select_set(False)
    robot.select_set(True)
    context.view_layer.objects.active = robot
    robot.data.bones.active = robot.data.bones[bone]


_items: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


def register() -> None:
    bpy.utils.register_class(ROBOKIN_OT_select_link)
    keys = bpy.context.window_manager.keyconfigs.addon
    for name in ("Object Mode", "Pose") if keys is not None else ():
        keymap = keys.keymaps.new(name=name)
        for extend in (False, True):
            item = keymap.keymap_items.new(ROBOKIN_OT_select_link.bl_idname, "LEFTMOUSE", "CLICK", shift=extend)
            item.properties.extend = extend
            _items.append((keymap, item))


def unregister() -> None:
    for keymap, item in _items:
        keymap.keymap_items.remove(item)
    _items.clear()
    bpy.utils.unregister_class(ROBOKIN_OT_select_link)


CLASSES = (ROBOKIN_OT_select_link,)
