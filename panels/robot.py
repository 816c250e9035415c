"""The sidebar's Robot panel: which robot, or how to get one."""

from __future__ import annotations

import bpy

from ..properties.overrides import takes_changes
from ..properties.pages import PAGE, shown_page
from ..properties.selected.active_robot import active_robot, why_no_robot
from ..robokin.backend import why_no_kernel
from ..robokin.units import counted
from .collisions import draw_obstacle
from .prepared.redraw_cache import redraw_cache
from .prepared.robot_panel import CATEGORY, RobotSummary, draw_text, robot_summary

_SHOWN = 4  # damaged records that the panel names


class ROBOKIN_PT_robot(bpy.types.Panel):
    bl_label = "Robot"
    bl_idname = "ROBOKIN_PT_robot"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY
    bl_order = 0

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        obj = active_robot(context)
        draw_obstacle(layout, context.object)
        if obj is None:
            draw_text(context, layout, why_no_robot(context), "INFO")
            column = layout.column(align=True)
            column.operator("robokin.import_urdf", icon="IMPORT")
            column.menu("ROBOKIN_MT_add_robot", text="Add Robot", icon="OUTLINER_OB_ARMATURE")
            if context.object is None or context.object.type != "ARMATURE":  # which has its own panel
                column.operator("robokin.make_robot", icon="ARMATURE_DATA")
            return
        if obj.data.is_editmode:
            draw_text(context, layout, "Leave Edit Mode to see the robot", "INFO")
            return
        with redraw_cache(obj):
            summary = robot_summary(obj)
        row = layout.row(align=True)
        row.label(text=obj.name, icon="OUTLINER_OB_ARMATURE")
        pages = row.row(align=True)
        pages.scale_x = 1.25
        pages.prop(context.window_manager, PAGE, expand=True, icon_only=True)
        if not takes_changes(obj):
            draw_text(context, layout, "Linked from another file: make a library override to pose it", "LINKED")
        if why_no_kernel():
            draw_text(context, layout, f"Slow: {why_no_kernel()}", "ERROR")
        if summary.problem:
            _draw_problem(context, layout, summary)
            return
        if summary.unfound:
            draw_text(
                context, layout, counted(summary.unfound, "mesh file was", "mesh files were") + " not found", "ERROR"
            )
            layout.operator("robokin.find_meshes", icon="FILE_FOLDER")
        page = shown_page(context)
        if page == "ANIMATE":
            _draw_range(layout, obj.robokin.solver)
            return
        if page == "ROBOT":
            _draw_summary(layout, summary)
        row = layout.row(align=True)
        row.operator("robokin.home", icon="HOME")
        row.operator("robokin.reset_pose", text="To Rest", icon="LOOP_BACK").start = "REST"


def _draw_summary(layout: bpy.types.UILayout, summary: RobotSummary) -> None:
    column = layout.column(align=True)
    column.label(text=summary.freedom, icon="ORIENTATION_GIMBAL")
    column.label(text=summary.joints, icon="BONE_DATA")
    column.label(text=summary.mass, icon="PHYSICS")
    column = layout.column(align=True)
    if summary.massless:
        column.operator("robokin.inertia_from_mesh", icon="MESH_DATA").which = "ALL"
    column.operator("robokin.duplicate_move", icon="DUPLICATE")
    column.operator("robokin.export_urdf", text="Export Robot as URDF", icon="EXPORT")


def _draw_range(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup) -> None:
    """The frames of all that the page offers."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    layout.row().prop(settings, "range", expand=True)
    if settings.range == "CUSTOM":
        column = layout.column(align=True)
        column.prop(settings, "frame_start")
        column.prop(settings, "frame_end")


def _draw_problem(context: bpy.types.Context, layout: bpy.types.UILayout, summary: RobotSummary) -> None:
    box = layout.box()
    box.alert = True
    draw_text(context, box, summary.problem, "ERROR")
    for i, (bone, problem) in enumerate(summary.damaged.items()):
        if i == _SHOWN:
            draw_text(context, box, f"and {counted(len(summary.damaged) - _SHOWN, 'more damaged record')}")
            break
        if problem != summary.problem:
            draw_text(context, box, problem, "ERROR")
        box.operator("robokin.reset_record", text=f"Reset {bone or 'Robot'}", icon="FILE_REFRESH").bone = bone
    if summary.constrained:
        box.operator("robokin.convert_rig", icon="CON_KINEMATIC")


CLASSES = (ROBOKIN_PT_robot,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
