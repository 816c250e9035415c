"""The list of criteria with their live costs, and the active one."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..properties.criteria import KINDS, POTENTIALS
from ..properties.results import readouts
from .prepared.robot_panel import RobotPanel, draw_checkbox, draw_entries, draw_text

_KIND_ICONS = {identifier: icon for identifier, _, _, icon, _ in KINDS}


class ROBOKIN_UL_criteria(bpy.types.UIList):
    bl_idname = "ROBOKIN_UL_criteria"
    shown: Sequence[readouts.CriterionReadout] = ()  # of the robot whose panel is being drawn

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row(align=True)
        row.active = item.enabled
        row.prop(item, "name", text="", emboss=False, icon=_KIND_ICONS[item.kind])
        if index < len(ROBOKIN_UL_criteria.shown):
            cost = row.row()
            cost.alignment = "RIGHT"
            cost.ui_units_x = 2.4  # the rest is the name's
            readout = ROBOKIN_UL_criteria.shown[index]
            cost.active = readout.is_present
            text = "" if readout.cost is None else f"{readout.cost + 0.0:.3g}"  # no -0
            cost.label(text=text, icon="ERROR" if readout.problem else "NONE")
        draw_checkbox(row, item, "enabled")


class ROBOKIN_PT_criteria(RobotPanel, bpy.types.Panel):
    bl_label = "Criteria"
    bl_idname = "ROBOKIN_PT_criteria"
    page = "TASKS"
    bl_order = 2
    bl_options = {"DEFAULT_CLOSED"}

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        robot = obj.robokin
        ROBOKIN_UL_criteria.shown = readouts.criteria(obj)
        layout.prop(robot.solver, "mode")
        draw_entries(layout, robot, "criteria", "criterion")
        if not robot.criteria:
            draw_text(context, layout, "With + say what to prefer where the tasks leave the robot free", "INFO")
        elif 0 <= robot.active_criterion < len(robot.criteria):
            _draw_criterion(context, layout, obj, robot.active_criterion)


def _draw_criterion(context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object, index: int) -> None:
    item = obj.robokin.criteria[index]
    column = layout.column()
    column.prop(item, "kind")
    column.prop(item, "weight")
    if item.kind in POTENTIALS:
        column.prop(item, "gain")
    if item.kind == "SMOOTH":
        column.prop(item, "time")
    if item.kind == "DYNAMIC_TORQUE":
        column.prop(item, "damping")
    if item.kind == "FAR_FROM_OBSTACLES":
        column.prop(item, "distance")
    if item.kind == "REST_POSTURE":
        column.prop_search(item, "posture", obj.robokin, "postures", icon="ARMATURE_DATA")
    shown = ROBOKIN_UL_criteria.shown
    if index >= len(shown):
        return
    if shown[index].problem:
        draw_text(context, layout, shown[index].problem, "ERROR")
    if shown[index].cost is not None:
        column = layout.column(align=True)
        column.scale_y = 0.8
        column.active = shown[index].is_present
        unit = "radian or robot size" if item.kind in POTENTIALS else "radian/s"
        column.label(text=f"Slope {shown[index].slope:.4g} per {unit}")
        for joint, slope in shown[index].pulls:
            row = column.row()
            row.label(text=joint)
            right = row.row()
            right.alignment = "RIGHT"
            right.label(text=f"{slope:+.3g}")


CLASSES = (ROBOKIN_UL_criteria, ROBOKIN_PT_criteria)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
