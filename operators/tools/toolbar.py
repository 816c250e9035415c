"""The tools in the toolbar of Pose Mode, with their keys: entries of keymaps that a person can change."""

from __future__ import annotations

import bpy

from ...properties.selected.active_robot import active_robot
from ..posture.next_target import ROBOKIN_OT_next_target
from .grab_link import ROBOKIN_OT_grab_link, ROBOKIN_OT_self_motion
from .jog import ROBOKIN_OT_choose_joint, ROBOKIN_OT_jog
from .jog_3d_mouse import ROBOKIN_OT_jog_3d_mouse
from .turn_joint import ROBOKIN_OT_turn_joint, joint_and_limits


def _drag(idname: str) -> tuple:
    """Entries for a drag, with Ctrl held as it begins too, which snaps."""
    what = {"properties": [("release_confirm", True)]}
    return tuple((idname, {"type": "LEFTMOUSE", "value": "CLICK_DRAG", "ctrl": ctrl}, what) for ctrl in (False, True))


class _Tool(bpy.types.WorkSpaceTool):
    bl_space_type = "VIEW_3D"
    bl_context_mode = "POSE"
    bl_options = {"KEYMAP_FALLBACK"}
    bl_widget = None
    bl_cursor = "SCROLL_XY"


class GrabLinkTool(_Tool):
    bl_idname = "robokin.grab_link"
    bl_label = "Grab Link"
    bl_description = "Drag a link of the robot; the other joints follow\nWhile dragging: R turns, X Y Z choose an axis"
    bl_icon = "ops.pose.push"
    bl_keymap = _drag(ROBOKIN_OT_grab_link.bl_idname)

    @staticmethod
    def draw_settings(context: bpy.types.Context, layout: bpy.types.UILayout, tool: bpy.types.WorkSpaceTool) -> None:
        settings = tool.operator_properties(ROBOKIN_OT_grab_link.bl_idname)
        layout.prop(settings, "makes_task")
        layout.prop(settings, "pins_selected")


class TurnJointTool(_Tool):
    bl_idname = "robokin.turn_joint"
    bl_label = "Turn Joint"
    bl_description = "Drag a link along the arc or the rail of its own joint"
    bl_icon = "ops.mesh.spin"
    bl_keymap = _drag(ROBOKIN_OT_turn_joint.bl_idname)


class SelfMotionTool(_Tool):
    bl_idname = "robokin.self_motion"
    bl_label = "Self-Motion"
    bl_description = "Drag a link while the tool stays where it is"
    bl_icon = "ops.armature.bone.roll"
    bl_keymap = _drag(ROBOKIN_OT_self_motion.bl_idname)


def _jog_keys() -> tuple:
    keys = (("J", "L"), ("U", "O"), ("M", "PERIOD"))
    numbers = ("ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "ZERO")
    found: list[tuple] = []
    for axis, pair in zip("123", keys, strict=True):
        for key, direction in zip(pair, ("BACK", "FORWARD"), strict=True):
            for fine in (False, True):
                what: list[tuple] = [("axis", axis), ("direction", direction), ("fine", fine)]
                event = {"type": key, "value": "PRESS", "shift": fine, "repeat": True}
                found.append((ROBOKIN_OT_jog.bl_idname, event, {"properties": what}))
    for number, key in enumerate(numbers, 1):
        pressed = {"type": key, "value": "PRESS"}
        found.append((ROBOKIN_OT_choose_joint.bl_idname, pressed, {"properties": [("number", number)]}))
    for direction, shift in (("NEXT", False), ("PREVIOUS", True)):
        event = {"type": "R", "value": "PRESS", "shift": shift}
        found.append((ROBOKIN_OT_next_target.bl_idname, event, {"properties": [("direction", direction)]}))
    found.append((ROBOKIN_OT_jog_3d_mouse.bl_idname, {"type": "NDOF_MOTION", "value": "ANY", "any": True}, None))
    return tuple(found)


class JogTool(_Tool):
    bl_idname = "robokin.jog"
    bl_label = "Jog"
    bl_description = (
        "Move a joint, or the tool, by keys\n1-9, 0: choose the joint   J L, U O, M .: its axes   R: next target"
    )
    bl_icon = "ops.transform.edge_slide"
    bl_keymap = (*_jog_keys(), *_drag(ROBOKIN_OT_turn_joint.bl_idname))

    @staticmethod
    def draw_settings(context: bpy.types.Context, layout: bpy.types.UILayout, tool: bpy.types.WorkSpaceTool) -> None:
        settings = tool.operator_properties(ROBOKIN_OT_jog.bl_idname)
        layout.prop(settings, "frame", expand=True)
        if settings.frame != "JOINT":
            layout.prop(settings, "turn")
        layout.prop(settings, "angle")
        layout.prop(settings, "length")
        robot = active_robot(context)
        if robot is not None and (bone := robot.data.bones.active) is not None:
            layout.label(text=joint_and_limits(context.scene, robot, bone.name), translate=False)


CLASSES = ()
_TOOLS = (GrabLinkTool, TurnJointTool, SelfMotionTool, JogTool)


def register() -> None:
    for before, tool in zip((None, *_TOOLS), _TOOLS, strict=False):
        after = {"builtin.transform"} if before is None else {before.bl_idname}
        bpy.utils.register_tool(tool, after=after, separator=before is None)


def unregister() -> None:
    for tool in reversed(_TOOLS):
        bpy.utils.unregister_tool(tool)
