"""Why?: what holds the robot up, and what can be done about it, as a popover beside a failure."""

from __future__ import annotations

import bpy

from ..properties.bridge import binding
from ..properties.results.result_text import in_scene_units, status_words
from ..properties.results.why import HOWS, held_joints, is_missed, remedies, why
from ..properties.selected.active_robot import active_robot
from .prepared.robot_panel import draw_text
from .prepared.task_rows import residual_text, task_readouts

_ICONS = {"ROTATION": "ORIENTATION_GIMBAL", "AXIS": "DRIVER_ROTATIONAL_DIFFERENCE", "PRIORITY": "SORT_DESC"}
WIDTH = 16  # [units of the interface]


class ROBOKIN_PT_why(bpy.types.Panel):
    """What holds the robot up, and what can be done about it"""

    bl_label = "Why?"
    bl_idname = "ROBOKIN_PT_why"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_options = {"INSTANCED"}
    bl_ui_units_x = WIDTH

    def draw(self, context: bpy.types.Context) -> None:
        obj = active_robot(context)
        if obj is None:
            return
        layout, blamed = self.layout, why(obj)
        _draw_status(context, layout, obj)
        at_limits, locked = held_joints(obj)
        if at_limits:
            draw_text(context, layout, f"At their limits: {', '.join(at_limits)}", "LOCKED", WIDTH)
        if blamed.tasks:
            draw_text(context, layout, f"Tasks: {', '.join(blamed.tasks)}", "CONSTRAINT_BONE", WIDTH)
        layout.separator(type="LINE")
        column = layout.column(align=True)
        robot = binding(obj)
        for name in locked:
            bone = obj.data.bones[robot.bone_of_link[robot.model.joint(name).child]]
            column.prop(bone.robokin, "locked", text=f"Unlock {name}", icon="UNLOCKED", invert_checkbox=True)
        for remedy in remedies(obj):
            if remedy.how == "PATH":
                draw_path_remedy(column)
                continue
            if remedy.how == "POSTURES":
                column.operator("robokin.postures", text="Try Other Postures", icon="POSE_HLT")
                continue
            if remedy.how == "BASE":
                button = column.operator("robokin.base_nearer", icon="OBJECT_ORIGIN")
            else:
                text = next(label for how, label, _ in HOWS if how == remedy.how)
                icon = _ICONS.get(remedy.how, "CHECKMARK")
                button = column.operator("robokin.task_relax", text=f"{text}: {remedy.task}", icon=icon)
                button.how = remedy.how
            button.task = remedy.task


def draw_path_remedy(layout: bpy.types.UILayout) -> None:
    """The button that plans a path, where avoidance is stuck."""
    button = layout.operator("robokin.plan_path", text="Plan Path to the Targets", icon="CURVE_PATH")
    button.to_targets = True


def _draw_status(context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """Status of the last solve; where nothing more could be shown, the residual of each task."""
    settings = obj.robokin.solver
    if settings.status != "MAX_ITERATIONS":
        draw_text(
            context,
            layout,
            f"{status_words(settings.status, settings.reason)}: {in_scene_units(context.scene, settings.reason)}",
            "INFO",
            WIDTH,
        )
        return
    layout.label(text=status_words(settings.status), icon="INFO")
    for task, readout in zip(obj.robokin.tasks, task_readouts(obj), strict=False):
        if readout is not None and not readout.reached and not readout.problem:
            off = residual_text(context.scene, task.kind, readout)
            draw_text(context, layout, f"{task.name}: {off[:1].lower()}{off[1:]}", "BLANK1", WIDTH)


def draw_why(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """The button of the popover, where the last solve missed something."""
    if is_missed(obj):
        layout.popover(ROBOKIN_PT_why.bl_idname, text="Why?", icon="QUESTION")


CLASSES = (ROBOKIN_PT_why,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
