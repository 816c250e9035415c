"""The sidebar's Dynamics panel: what the motion takes at the present frame, and the button that makes curves of it."""

from __future__ import annotations

import math
from collections.abc import Collection

import bpy

from ...properties.bridge import binding
from ...properties.results import readouts
from ...properties.results.readouts import DynamicsReadout, Quantity
from ...robokin import RobokinError
from ..prepared.robot_panel import RobotPanel, active_bone, options

WIDE = 18  # letters of a name or a value that has a line of its own


class ROBOKIN_PT_dynamics(RobotPanel, bpy.types.Panel):
    bl_label = "Dynamics"
    bl_idname = "ROBOKIN_PT_dynamics"
    page = "ANIMATE"
    bl_order = 7
    bl_options = {"DEFAULT_CLOSED"}

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        row = layout.row(align=True)
        row.scale_y = 1.3
        row.operator("robokin.key_dynamics", icon="FCURVE")
        row.operator("robokin.clear_dynamics", text="", icon="X")
        body = options(layout, "robokin_dynamics_curves", "Quantities")
        if body is not None:
            column = body.column(align=True)
            column.use_property_split = False
            column.prop(obj.robokin.solver, "dynamics_curves")
        found = readouts.dynamics(obj)
        if found is None:
            return
        column = layout.box().column(align=True)
        column.label(text=f"Frame {context.scene.frame_current}", icon="TIME")
        for name, value in rows(found, _active_joint(context, obj), obj.robokin.solver.dynamics_curves):
            line = column if max(len(name), len(value)) > WIDE else column.split(factor=0.5)
            line.label(text=name)
            line.label(text=value)


def rows(found: DynamicsReadout, joint: str, groups: Collection[str]) -> list[tuple[str, str]]:
    """(name, value with its unit) of a joint, then of the robot, in the groups that are chosen."""
    own = found.joints.get(joint, ())
    lines = [("Joint", joint)] if own else []
    return lines + [(each.name, _text(each)) for each in (*own, *found.robot) if each.group in groups]


def _text(quantity: Quantity) -> str:
    if not all(map(math.isfinite, quantity.values)):
        return "none: it is in the air"
    share = f" ({abs(quantity.values[0]) / quantity.limit:.0%})" if math.isfinite(quantity.limit) else ""
    return f"{'  '.join(map(_number, quantity.values))} {quantity.unit}{share}"


def _number(value: float) -> str:
    return f"{value + 0.0:.4g}" if abs(value) >= 5e-4 else "0"


def _active_joint(context: bpy.types.Context, obj: bpy.types.Object) -> str:
    bone = active_bone(context, obj)
    try:
        joint = None if bone is None else binding(obj).joint_of_bone.get(bone.name)
    except RobokinError:
        return ""
    return "" if joint is None else joint.name


CLASSES = (ROBOKIN_PT_dynamics,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
