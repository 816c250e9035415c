"""The joint of the active bone: its value and limits. In the sidebar and under Properties > Bone."""

from __future__ import annotations

import bpy

from ..properties.bridge.model.channels import OWN
from ..properties.bridge.record.fields import bound_field
from ..properties.bridge.record.stored import KEY
from ..properties.joint_values.joint_range import RANGE
from ..properties.results.result_text import unitless
from ..properties.selected.active_robot import active_robot
from .prepared.redraw_cache import redraw_cache
from .prepared.robot_panel import (
    JointSummary,
    RobotPanel,
    active_bone,
    draw_text,
    joint_problem,
    joint_summary,
    options,
    type_fields,
)

# Bounds with their labels: the view of what turns, and of what slides, which Blender shows with its unit; and the field
# itself in a scene without units.
_LIMITS = (
    ("lower", ("_angle", "Lower Limit"), ("_length", "Lower Limit"), "Lower Limit m"),
    ("upper", ("_angle", "Upper Limit"), ("_length", "Upper Limit"), "Upper Limit m"),
)
_RATES = (
    ("velocity", ("_angle", "Velocity /s"), ("_length", "Velocity"), "Velocity m/s"),
    ("acceleration", ("_angle", "Acceleration /s²"), ("_length", "Acceleration"), "Acceleration m/s²"),
    ("effort", ("", "Effort N m"), ("", "Effort N"), "Effort N"),
)


def draw_joint(context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    if obj.data.is_editmode:
        # The bones are as they were before, and Edit Mode ends with its own in their place.
        draw_text(context, layout, "Leave Edit Mode to edit joints", "INFO")
        return
    bone = active_bone(context, obj)
    summary = joint_summary(obj, bone)
    if summary is None:
        _draw_unreadable(context, layout, obj, bone)
        return
    settings = obj.data.bones[summary.bone].robokin
    layout.label(text=summary.bone, icon="BONE_DATA")
    layout.prop(settings, "joint_type")
    if not summary.moving:
        return
    _draw_value(layout, obj, summary)
    if summary.follows:
        column = layout.column(align=True)
        column.label(text=f"Follows {summary.follows}", icon="LINKED")
        column.prop(settings, "mimic_multiplier")
        column.prop(settings, "mimic_offset_length" if summary.freedoms[0][1] else "mimic_offset_angle")
    if summary.unheld:
        draw_text(context, layout, summary.unheld, "ERROR")
    for field, text in summary.extra:
        layout.prop(settings, field, text=text)
    if summary.wheels:
        _draw_wheels(layout, settings, obj)
    if summary.cone:
        _draw_cone(layout, settings, summary.cone)
    for freedom, (name, is_length) in enumerate(summary.freedoms):
        body = options(layout, f"robokin_freedom_{freedom + 1}", f"Limits of {name}") if name else layout
        if body is None:
            continue
        _draw_bounds(body.column(align=True), settings, freedom, is_length, _LIMITS)
        if not is_length:
            operator = body.operator("robokin.limits_from_arc", text="Limits from Two Angles", icon="CON_ROTLIMIT")
            operator.bone, operator.freedom = summary.bone, freedom + 1
        rates = body if name else options(body, "robokin_joint_rates", "Rates and Effort")
        if rates is not None:
            _draw_bounds(rates.column(align=True), settings, freedom, is_length, _RATES)


def _draw_unreadable(
    context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object, bone: bpy.types.Bone | None
) -> None:
    """What a person needs to put a joint right that the robot cannot be read with."""
    problem = joint_problem(obj, bone)
    if not problem or bone is None:
        draw_text(context, layout, "Select a bone of the robot in Pose Mode", "INFO")
        return
    box = layout.box()
    box.alert = True
    draw_text(context, box, problem, "ERROR")
    layout.operator("robokin.helper_bones", icon="BONE_DATA")
    layout.label(text=bone.name, icon="BONE_DATA")
    settings = bone.robokin
    layout.prop(settings, "joint_type")
    for field, text in type_fields(settings):
        layout.prop(settings, field, text=text)
    if settings.joint_type == "wheeled":
        _draw_wheels(layout, settings, obj)


def _draw_wheels(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, obj: bpy.types.Object) -> None:
    column = layout.column(align=True)
    column.prop_search(settings, "wheel_left", obj.data, "bones", text="Left Wheel", icon="BONE_DATA")
    column.prop_search(settings, "wheel_right", obj.data, "bones", text="Right Wheel", icon="BONE_DATA")
    column = layout.column(align=True)
    column.prop(settings, "wheel_radius_length", text="Wheel Radius")
    column.prop(settings, "wheel_separation_length", text="Track Width")


def _draw_cone(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup, swings: tuple[str, ...]) -> None:
    """A ball's limits: the half-angles of its cone, the range of its twist; and its rates about the link's axes."""
    column = layout.column(align=True)
    for freedom, text in enumerate(swings):
        field = bound_field("upper", freedom)
        _draw_optional(column, settings, f"use_{field}", f"{field}_angle", text)
    column = layout.column(align=True)
    for name, text in (("lower", "Twist Min"), ("upper", "Twist Max")):
        field = bound_field(name, 2)
        _draw_optional(column, settings, f"use_{field}", f"{field}_angle", text)
    for freedom, axis in enumerate("XYZ"):
        column = layout.column(align=True)
        column.label(text=f"About {axis} of the Link")
        _draw_bounds(column, settings, freedom, False, _RATES)


def _draw_bounds(
    column: bpy.types.UILayout, settings: bpy.types.PropertyGroup, freedom: int, is_length: bool, bounds: tuple
) -> None:
    for name, angular, linear, bare in bounds:
        field = bound_field(name, freedom)
        ending, text = angular if not is_length else ("", bare) if unitless(bpy.context.scene) else linear
        if ending == "_angle" and bpy.context.scene.unit_settings.system_rotation == "RADIANS":
            text = text.replace(" /", " rad/") if "/" in text else f"{text} rad"  # Blender shows them without unit
        _draw_optional(column, settings, f"use_{field}", field + ending, text)


def _draw_value(layout: bpy.types.UILayout, obj: bpy.types.Object, summary: JointSummary) -> None:
    """The channels themselves: they can be typed, dragged and keyed like any other."""
    column = layout.column(align=True)
    column.use_property_decorate = True
    for label, channel in summary.channels:
        row = column.row(align=True)
        row.enabled = channel.role == OWN
        row.prop(obj.pose.bones[channel.bone], channel.path, index=channel.index, text=label)
    if summary.ranged:
        column = layout.column()
        column.prop(obj.pose.bones[summary.bone], RANGE, text="In Range", slider=True)


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
    page = "ROBOT"
    bl_order = 1

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        draw_joint(context, layout, obj)


class ROBOKIN_PT_bone_joint(bpy.types.Panel):
    bl_label = "Joint"
    bl_idname = "ROBOKIN_PT_bone_joint"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = active_robot(context)
        if obj is None:
            return False
        bone = active_bone(context, obj)
        if obj.data.is_editmode:
            return bone is not None and KEY in bone
        with redraw_cache(obj):
            return joint_summary(obj, bone) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        obj = active_robot(context)
        with redraw_cache(obj):
            draw_joint(context, layout, obj)


CLASSES = (ROBOKIN_PT_joint, ROBOKIN_PT_bone_joint)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
