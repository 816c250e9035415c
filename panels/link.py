"""The link of the active bone, its mass and inertia, and those of the whole robot."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ..properties.bridge import binding, read_configuration, robot_model, to_blender
from ..properties.results.result_text import quantity_text, unitless
from ..properties.selected.active_robot import active_robot
from ..robokin import RobokinError, center_of_mass
from ..robokin.inertia import implausible_inertia, principal_moments
from ..robokin.spatial.se3 import placement
from .prepared.redraw_cache import redraw_cache
from .prepared.robot_panel import RobotPanel, active_bone, draw_text, joint_settings, joint_summary

_ENTRIES = ("xx", "xy", "xz", "yy", "yz", "zz")


@dataclass(frozen=True)
class LinkSummary:
    """moments: text of the principal moments.   doubts: why no body can be so."""

    moments: str
    doubts: tuple[str, ...]


def link_summary(obj: bpy.types.Object, bone: str) -> LinkSummary:
    """Raises RobokinError."""
    robot = binding(obj)
    link = robot.model.links[robot.bones.index(bone)]
    moments = ", ".join(f"{moment:.4g}" for moment in principal_moments(link.inertia) + 0.0)
    return LinkSummary(f"Principal {moments} kg m\u00b2", tuple(implausible_inertia(link.mass, link.inertia)))


def whole_summary(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[str]:
    """Mass of the robot, and where its center of mass is in the world as it is posed now. Raises RobokinError."""
    model = robot_model(obj)
    if not model.total_mass:
        return ["The robot has no mass"]
    mass = quantity_text(scene, "MASS", model.total_mass)
    T = to_blender(obj, placement(np.eye(3), center_of_mass(model, read_configuration(obj))))
    center = (quantity_text(scene, "LENGTH", x * scene.unit_settings.scale_length) for x in T.translation)
    return [f"Robot {mass}", f"Center {', '.join(center)}"]


def draw_link(context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    settings = joint_settings(context, obj)
    try:
        bone = joint_summary(obj, active_bone(context, obj)).bone
        summary, whole = link_summary(obj, bone), whole_summary(context.scene, obj)
    except RobokinError:
        return  # the Robot panel says why
    layout.prop(settings, "link")
    if unitless(context.scene):
        layout.prop(settings, "mass", text="Mass kg")
        layout.prop(settings, "com", text="Center m")
    else:
        layout.prop(settings, "mass_shown")
        layout.prop(settings, "com_length", text="Center")
    column = layout.column(align=True)
    column.label(text="Inertia kg m\u00b2")
    for index, entry in enumerate(_ENTRIES):
        column.prop(settings, "inertia", index=index, text=entry)
    draw_text(context, layout, summary.moments)
    for doubt in summary.doubts:
        box = layout.box()
        box.alert = True
        draw_text(context, box, f"No body can be so: {doubt}", "ERROR")
    layout.operator("robokin.inertia_from_mesh", icon="MESH_DATA")
    for text in whole:
        draw_text(context, layout, text)


def _has_link(context: bpy.types.Context) -> bool:
    obj = active_robot(context)
    with redraw_cache(obj):
        if obj is None or obj.data.is_editmode:
            return False
        return joint_summary(obj, active_bone(context, obj)) is not None


class ROBOKIN_PT_link(RobotPanel, bpy.types.Panel):
    bl_label = "Link"
    bl_idname = "ROBOKIN_PT_link"
    bl_parent_id = "ROBOKIN_PT_joint"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _has_link(context)

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        draw_link(context, layout, obj)


class ROBOKIN_PT_bone_link(bpy.types.Panel):
    bl_label = "Link"
    bl_idname = "ROBOKIN_PT_bone_link"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _has_link(context)

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        obj = active_robot(context)
        with redraw_cache(obj):
            draw_link(context, self.layout, obj)


CLASSES = (ROBOKIN_PT_link, ROBOKIN_PT_bone_link)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
