"""The list of tasks and the active one."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..properties.results.readouts import TaskReadout
from ..properties.results.same_tip import tasks_on_same_tip
from ..properties.selected.active_robot import active_robot
from ..properties.task_kinds import KINDS
from .live import draw_live
from .prepared.robot_panel import RobotPanel, draw_checkbox, draw_entries, draw_text, row_letters
from .prepared.task_rows import add_target_text, has_loose_feet, residual_text, task_labels, task_readouts, weights_of


class ROBOKIN_UL_tasks(bpy.types.UIList):
    bl_idname = "ROBOKIN_UL_tasks"
    shown: Sequence[TaskReadout | None] = ()  # of the robot whose panel is being drawn
    levelled = False  # some of its tasks come before others: else the names have the room

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0, flt_flag=0) -> None:
        row = layout.row(align=True)
        row.active = item.enabled
        row.prop(item, "name", text="", emboss=False, icon=KINDS[item.kind].icon)
        if ROBOKIN_UL_tasks.levelled and not KINDS[item.kind].is_hard:
            level = row.row()
            level.ui_units_x = 1.5  # less shows no number
            level.prop(item, "priority", text="", emboss=False)
        readout = ROBOKIN_UL_tasks.shown[index] if index < len(ROBOKIN_UL_tasks.shown) else None
        if readout is not None:
            row.label(text="", icon="CHECKMARK" if readout.reached else "ERROR")
        draw_checkbox(row, item, "enabled")


class ROBOKIN_PT_tasks(RobotPanel, bpy.types.Panel):
    bl_label = "Tasks"
    bl_idname = "ROBOKIN_PT_tasks"
    page = "TASKS"
    bl_order = 2

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        robot = obj.robokin
        ROBOKIN_UL_tasks.shown = task_readouts(obj)
        ROBOKIN_UL_tasks.levelled = len({task.priority for task in robot.tasks}) > 1
        layout.operator("robokin.target_add", text=add_target_text(obj), icon="EMPTY_ARROWS")
        draw_live(context, layout, obj)
        draw_entries(layout, robot, "tasks", "task")
        if has_loose_feet(obj):
            draw_text(context, layout, "Nothing holds the feet: the whole robot comes along", "INFO")
            layout.operator("robokin.pin_feet", icon="PINNED")
        if not robot.tasks:
            draw_text(context, layout, "Nothing to follow yet: add a target, or with + another task", "INFO")
        elif 0 <= robot.active_task < len(robot.tasks):
            _draw_task(context, layout, obj, robot.tasks[robot.active_task])


def _draw_task(
    context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object, task: bpy.types.PropertyGroup
) -> None:
    kind = KINDS[task.kind]
    column = layout.column()
    if len(task.name) > row_letters(context, _LISTED) - _LEVEL * ROBOKIN_UL_tasks.levelled:
        draw_text(context, column, task.name)
    column.prop(task, "kind")
    if kind.tip:
        _wide(context, column, kind.tip, task.tip).prop_search(
            task, "tip", obj.data, "bones", text="", icon="BONE_DATA"
        )
    if kind.other:
        _wide(context, column, kind.other, task.other).prop_search(
            task, "other", obj.data, "bones", text="", icon="BONE_DATA"
        )
    if not (task.kind == "DISTANCE" and task.other):
        _draw_target(context, column, task)
    _draw_fields(context, column, obj, task)
    others = tasks_on_same_tip(obj, task)
    if others:
        holds, all_of = ("holds", "both") if len(others) == 1 else ("hold", "all")
        said = f"{', '.join(others)} {holds} the same tip: {all_of} are met only where their targets agree"
        draw_text(context, layout, said, "ERROR")
    if not kind.is_hard:
        row = column.row()
        row.use_property_decorate = True
        row.prop(task, "influence", slider=True)
        column.prop(task, "priority")
        if obj.robokin.solver.bake_mode == "WHOLE":
            column.prop(task, "soft_weight")
    readout = ROBOKIN_UL_tasks.shown[obj.robokin.active_task]
    if readout is not None:
        row = layout.row()
        row.alert = not readout.reached
        text = readout.problem or residual_text(context.scene, task.kind, readout)
        draw_text(context, row, text, "CHECKMARK" if readout.reached else "ERROR")
        if readout.singularity:
            text = f"Near a singularity ({readout.singular_value:.3f}): {readout.singularity}"
            draw_text(context, layout, text, "ERROR")
        elif readout.singular_value is not None:
            layout.label(text=f"Smallest singular value {readout.singular_value:.3f}")
    elif kind.is_velocity:
        draw_text(context, layout, "Only a bake can meet a velocity", "INFO")


def _draw_target(context: bpy.types.Context, column: bpy.types.UILayout, task: bpy.types.PropertyGroup) -> None:
    kind = KINDS[task.kind]
    if kind.target == "POSE":
        column.prop(task, "use_target")
    if kind.target in ("CURVE", "MESH") or (kind.target and task.use_target):
        _wide(context, column, "Target", _name(task.target)).prop(task, "target", text="")
        if kind.target == "POSE" and task.target is not None and task.target.type == "ARMATURE":
            bone = _wide(context, column, "Bone", task.subtarget)
            bone.prop_search(task, "subtarget", task.target.data, "bones", text="", icon="BONE_DATA")
    elif kind.target:
        fixed = column.column()
        fixed.use_property_decorate = True
        for name in kind.pose:
            fixed.prop(task, name)


def _draw_fields(
    context: bpy.types.Context, column: bpy.types.UILayout, obj: bpy.types.Object, task: bpy.types.PropertyGroup
) -> None:
    """What only this kind has."""
    kind = KINDS[task.kind]
    labels = task_labels(obj, task)
    for name in kind.fields:
        if kind.has_spot and name == "axis" and not task.use_spot:
            continue
        own = column.column()
        own.use_property_decorate = name in kind.animated
        if name == "posture":
            own.prop_search(task, name, obj.robokin, "postures", icon="POSE_HLT")
        elif name == "surface":
            _wide(context, own, "Surface", _name(task.surface)).prop(task, name, text="")
        elif name == "coefficients":
            _wide(context, own, "Factors", task.coefficients).prop(task, name, text="")
        elif labels is None:
            own.prop(task, name)
        else:
            for index, text in enumerate(labels.get(name, ())):
                own.prop(task, name, index=index, text=text)
    is_fixed_pose = not (kind.target and task.use_target) or task.kind == "DISTANCE"
    if kind.tip and kind.pose and is_fixed_pose:
        column.operator("robokin.task_from_pose", icon="EYEDROPPER")


def _wide(context: bpy.types.Context, layout: bpy.types.UILayout, label: str, name: str) -> bpy.types.UILayout:
    """A row with a short label, so that long names can be read; one that is too long even so stands above it."""
    if len(name) > row_letters(context, 1.0 - NARROW) - _ICONS:
        column = layout.column(align=True)
        draw_text(context, column, label if len(name) <= row_letters(context, 1.0) - _ICONS else f"{label} {name}")
        return column
    row = layout.split(factor=NARROW)
    row.label(text=label)
    return row


def _name(thing: bpy.types.ID | None) -> str:
    return "" if thing is None else thing.name


NARROW, _ICONS = 0.25, 6  # share of a row that is its label; letters that the icons of a field take
_LISTED, _LEVEL = 0.6, 5  # share of a row that a name has in the list; letters that a priority takes of it
_OFFSETS = {"offset_location": "Tip Offset", "offset_rotation": "Tip Rotation"}


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
        kind = KINDS[task.kind]
        weights = weights_of(task)
        for name, label, axes, has_part in (
            ("position", "Position", "use_location", kind.has_length),
            ("orientation", "Rotation", "use_rotation", kind.has_angle),
        ):
            if not has_part:
                continue
            column = layout.column()
            has_axes, weighted = axes in kind.axes, name in weights
            if has_axes:
                _draw_axes(column, task, axes, label)
            if has_axes and weighted:
                _draw_axes(column, task, axes.replace("use_", "") + "_weights", "Axis Weights")
            rate = " /s" if kind.is_velocity and kind.banded else ""
            if weighted:
                column.prop(task, f"{name}_weight", text="Weight" if has_axes else f"{label} Weight")
            column.prop(task, f"{name}_tolerance", text=f"Tolerance{rate}")
            if kind.banded:
                column.prop(task, f"{name}_band", text=f"Band{rate}")
        if kind.has_frame and not (task.kind == "TWIST" and task.use_target):
            layout.row().prop(task, "frame", expand=True)
        for name in kind.offset[: 1 if kind.has_spot and not task.use_spot else None]:
            layout.column().prop(task, name, text=_OFFSETS[name])


def _draw_axes(layout: bpy.types.UILayout, task: bpy.types.PropertyGroup, name: str, text: str) -> None:
    row = layout.row(align=True, heading=text)
    for index, axis in enumerate("XYZ"):
        toggle = name.startswith("use_")
        row.prop(task, name, index=index, text=axis if toggle else "", toggle=toggle)


def _active_task(context: bpy.types.Context) -> bpy.types.PropertyGroup | None:
    robot = active_robot(context).robokin
    return robot.tasks[robot.active_task] if 0 <= robot.active_task < len(robot.tasks) else None


CLASSES = (ROBOKIN_UL_tasks, ROBOKIN_PT_tasks, ROBOKIN_PT_task_axes)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
