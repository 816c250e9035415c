"""The joint of the active bone: its value, limits and link. In the sidebar and under Properties > Bone."""

from __future__ import annotations

import bpy

from ..properties.active_robot import active_robot
from .prepared import JointSummary, RobotPanel, active_bone, draw_text, joint_summary

# field, label, unit of an angular joint, unit of a linear one
_RATES = (
    ("velocity", "Velocity", "rad/s", "m/s"),
    ("acceleration", "Accel.", "rad/s²", "m/s²"),
    ("effort", "Effort", "N m", "N"),
)
_COORDINATES = {"location": ("X", "Y", "Z"), "rotation_quaternion": ("W", "X", "Y", "Z")}


def draw_joint(context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    bone = active_bone(context, obj)
    summary = joint_summary(obj, bone)
    if summary is None:
        draw_text(context, layout, "Select a bone of the robot in Pose Mode", "INFO")
        return
    settings = bone.robokin
    layout.label(text=summary.bone, icon="BONE_DATA")
    layout.prop(settings, "joint_type")
    if not summary.moving:
        return
    _draw_value(layout, obj, summary)
    if summary.follows:
        column = layout.column(align=True)
        column.label(text=f"Follows {summary.follows}", icon="LINKED")
        column.prop(settings, "mimic_multiplier")
        column.prop(settings, "mimic_offset")
    suffix = "length" if summary.linear else "angle"
    column = layout.column(align=True)
    _draw_optional(column, settings, "use_lower", f"lower_{suffix}", "Lower Limit")
    _draw_optional(column, settings, "use_upper", f"upper_{suffix}", "Upper Limit")
    column = layout.column(align=True)
    for name, label, angular, linear in _RATES:
        _draw_optional(column, settings, f"use_{name}", name, f"{label} {linear if summary.linear else angular}")


def draw_link(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup) -> None:
    layout.prop(settings, "link")
    layout.prop(settings, "mass", text="Mass kg")
    layout.prop(settings, "com", text="Centre m")


def _draw_value(layout: bpy.types.UILayout, obj: bpy.types.Object, summary: JointSummary) -> None:
    """The channels themselves: they can be typed, dragged and keyed like any other."""
    column = layout.column(align=True)
    column.enabled = not summary.follows
    column.use_property_decorate = True
    pose_bone = obj.pose.bones[summary.bone]
    for channel in summary.channels:
        if len(summary.channels) == 1:
            text = "Position" if channel.path == "location" else "Angle"
        else:
            text = _COORDINATES.get(channel.path, ("Angle",) * 3)[channel.index]
        column.prop(pose_bone, channel.path, index=channel.index, text=text)


def _draw_optional(
    layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, switch: str, field: str, text: str
) -> None:
    row = layout.row(align=True, heading=text)
    row.prop(settings, switch, text="")
    value = row.row(align=True)
    value.active = getattr(settings, switch)
    value.prop(settings, field, text="")


class ROBOKIN_PT_joint(RobotPanel, bpy.types.Panel):
    bl_label = "Joint"
    bl_idname = "ROBOKIN_PT_joint"
    bl_order = 1

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        draw_joint(context, layout, obj)


class ROBOKIN_PT_link(RobotPanel, bpy.types.Panel):
    bl_label = "Link"
    bl_idname = "ROBOKIN_PT_link"
    bl_parent_id = "ROBOKIN_PT_joint"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = active_robot(context)
        return obj is not None and joint_summary(obj, active_bone(context, obj)) is not None

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        draw_link(layout, active_bone(context, obj).robokin)


class ROBOKIN_PT_bone_joint(bpy.types.Panel):
    bl_label = "Joint"
    bl_idname = "ROBOKIN_PT_bone_joint"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = active_robot(context)
        return obj is not None and joint_summary(obj, active_bone(context, obj)) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        obj = active_robot(context)
        draw_joint(context, layout, obj)
        draw_link(layout, active_bone(context, obj).robokin)


CLASSES = (ROBOKIN_PT_joint, ROBOKIN_PT_link, ROBOKIN_PT_bone_joint)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
