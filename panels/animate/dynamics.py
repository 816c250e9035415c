"""The sidebar's Dynamics panel: what the motion takes at the present frame, and the button that makes curves of it."""

from __future__ import annotations

import math

import bpy

from ...properties.bridge import binding
from ...properties.results import readouts
from ...properties.results.readouts import DynamicsReadout
from ...robokin import Joint, RobokinError
from ...robokin.units import FORCES, freedom_units
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
        body = options(layout, "robokin_dynamics_curves", "Curves")
        if body is not None:
            column = body.column(align=True)
            column.use_property_split = False
            column.prop(obj.robokin.solver, "dynamics_curves")
        found = readouts.dynamics(obj)
        if found is None:
            return
        column = layout.box().column(align=True)
        column.label(text=f"Frame {context.scene.frame_current}", icon="TIME")
        for name, value in rows(found, _active_joint(context, obj)):
            line = column if max(len(name), len(value)) > WIDE else column.split(factor=0.5)
            line.label(text=name)
            line.label(text=value)


def rows(found: DynamicsReadout, joint: Joint | None) -> list[tuple[str, str]]:
    """(name, value with its unit) of a joint that has efforts, then of the robot."""
    lines = []
    if joint is not None and joint.name in found.efforts:
        lines.append(("Joint", joint.name))
        units, limits = freedom_units(joint), joint.effort
        for i, (effort, unit) in enumerate(zip(found.efforts[joint.name], units, strict=True)):
            share = f" ({abs(effort) / limits[i]:.0%})" if math.isfinite(limits[i]) and limits[i] > 0.0 else ""
            lines.append(("Effort", f"{_number(effort)} {FORCES[unit]}{share}"))
        lines.append(("Power", f"{_number(sum(found.powers[joint.name]))} W"))
    lines.append(("Power of All", f"{_number(found.power)} W"))
    lines.append(("Kinetic Energy", f"{_number(found.kinetic_energy)} J"))
    lines.append(("Potential Energy", f"{_number(found.potential_energy)} J"))
    lines.append(("Center of Mass", _place(found.center_of_mass)))
    lines.append(("Zero-Moment Point", _place(found.zero_moment_point)))
    for link, own in found.impulses.items():
        for kind, part, unit in (("Impulse", own[:3], "N s"), ("Angular Impulse", own[3:], "N m s")):
            lines.append((f"{kind} of {link}", f"{'  '.join(map(_number, part))} {unit}"))
    return lines


def _number(value: float) -> str:
    return f"{value + 0.0:.4g}" if abs(value) >= 5e-4 else "0"


def _place(point: tuple[float, float, float]) -> str:
    if not all(map(math.isfinite, point)):
        return "none: it is in the air"
    return "  ".join(f"{x + 0.0:.3f}" for x in point) + " m"


def _active_joint(context: bpy.types.Context, obj: bpy.types.Object) -> Joint | None:
    bone = active_bone(context, obj)
    try:
        return None if bone is None else binding(obj).joint_of_bone.get(bone.name)
    except RobokinError:
        return None


CLASSES = (ROBOKIN_PT_dynamics,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
