"""The list of tasks and the active one."""

from __future__ import annotations

import bpy

from ..properties.active_robot import active_robot
from ..properties.tasks import KINDS
from .prepared import RobotPanel, draw_text, residual_text

_KIND_ICONS = {identifier: icon for identifier, _, _, icon, _ in KINDS}


class ROBOKIN_UL_tasks(bpy.types.UIList):
    bl_idname = "ROBOKIN_UL_tasks"

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row(align=True)
        row.active = item.enabled
        row.prop(item, "name", text="", emboss=False, icon=_KIND_ICONS[item.kind])
        if any(task.priority != item.priority for task in data.tasks):
            level = row.row()
            level.alignment = "RIGHT"
            level.label(text=f"Level {item.priority}")
        if item.solved:
            row.label(text="", icon="CHECKMARK" if item.reached else "ERROR")
        row.prop(item, "enabled", text="")


class ROBOKIN_PT_tasks(RobotPanel, bpy.types.Panel):
    bl_label = "Tasks"
    bl_idname = "ROBOKIN_PT_tasks"
    bl_order = 2

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        robot = obj.robokin
        layout.operator("robokin.target_add", icon="EMPTY_ARROWS")
        row = layout.row()
        row.template_list("ROBOKIN_UL_tasks", "", robot, "tasks", robot, "active_task", rows=3)
        buttons = row.column(align=True)
        buttons.operator("robokin.task_add", text="", icon="ADD")
        buttons.operator("robokin.task_remove", text="", icon="REMOVE")
        if len(robot.tasks) > 1:
            buttons.separator()
            buttons.operator("robokin.task_move", text="", icon="TRIA_UP").direction = "UP"
            buttons.operator("robokin.task_move", text="", icon="TRIA_DOWN").direction = "DOWN"
        if not robot.tasks:
            draw_text(context, layout, "A task holds a tip of the robot at a target", "INFO")
        elif 0 <= robot.active_task < len(robot.tasks):
            _draw_task(context, layout, obj, robot.tasks[robot.active_task])


def _draw_task(
    context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object, task: bpy.types.PropertyGroup
) -> None:
    column = layout.column()
    column.prop(task, "kind")
    _wide(column, "Tip").prop_search(task, "tip", obj.data, "bones", text="", icon="BONE_DATA")
    column.prop(task, "use_target")
    if task.use_target:
        _wide(column, "Target").prop(task, "target", text="")
    else:
        pose = column.column()
        pose.use_property_decorate = True
        if task.kind in ("POSE", "POSITION"):
            pose.prop(task, "location")
        if task.kind != "POSITION":
            pose.prop(task, "rotation")
    row = column.row()
    row.use_property_decorate = True
    row.prop(task, "influence", slider=True)
    column.prop(task, "priority")
    if task.solved:
        row = layout.row()
        row.alert = not task.reached
        row.label(text=residual_text(context.scene, task), icon="CHECKMARK" if task.reached else "ERROR")


def _wide(layout: bpy.types.UILayout, label: str) -> bpy.types.UILayout:
    """A row with a short label, so that long names can be read."""
    row = layout.split(factor=0.2)
    row.label(text=label)
    return row


class ROBOKIN_PT_task_axes(RobotPanel, bpy.types.Panel):
    bl_label = "Axes and Weights"
    bl_idname = "ROBOKIN_PT_task_axes"
    bl_parent_id = "ROBOKIN_PT_tasks"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and _active_task(context) is not None

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        task = _active_task(context)
        if task.kind in ("POSE", "POSITION"):
            column = layout.column()
            _draw_axes(column, task, "use_location", "Position")
            column.prop(task, "position_weight", text="Weight")
            column.prop(task, "position_tolerance", text="Tolerance")
        if task.kind in ("POSE", "ORIENTATION"):
            column = layout.column()
            _draw_axes(column, task, "use_rotation", "Rotation")
        if task.kind == "AXIS":
            column = layout.column()
            column.prop(task, "axis")
        if task.kind != "POSITION":
            column.prop(task, "orientation_weight", text="Weight")
            column.prop(task, "orientation_tolerance", text="Tolerance")
        if task.kind != "AXIS":
            layout.row().prop(task, "frame", expand=True)


def _draw_axes(layout: bpy.types.UILayout, task: bpy.types.PropertyGroup, name: str, text: str) -> None:
    row = layout.row(align=True, heading=text)
    for index, axis in enumerate("XYZ"):
        row.prop(task, name, index=index, text=axis, toggle=True)


def _active_task(context: bpy.types.Context) -> bpy.types.PropertyGroup | None:
    robot = active_robot(context).robokin
    return robot.tasks[robot.active_task] if 0 <= robot.active_task < len(robot.tasks) else None


CLASSES = (ROBOKIN_UL_tasks, ROBOKIN_PT_tasks, ROBOKIN_PT_task_axes)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
