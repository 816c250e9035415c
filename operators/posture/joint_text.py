"""Joint values as text, to and from the clipboard."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding, read_configuration
from ...robokin import RobokinError, format_joint_values, parse_joint_values, within_limits
from ...robokin.units import counted
from ...scene.bake.start import own_values
from ..common import RobotOperator
from .posture import take_pose

STYLES = (
    ("LINES", "Lines", "One line for each joint, in degrees and meters"),
    ("JSON", "JSON", "One JSON object, in radians and meters, exact"),
)


class ROBOKIN_OT_copy_joint_values(RobotOperator, bpy.types.Operator):
    """Copy the joint values of the present pose to the clipboard as text"""

    bl_idname = "robokin.copy_joint_values"
    bl_label = "Copy Joint Values"
    bl_options = {"REGISTER"}  # the scene is not changed: nothing to undo

    style: bpy.props.EnumProperty(name="Form", description="How the text is written", items=STYLES)

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        values = own_values(robot.model, read_configuration(obj, robot))
        context.window_manager.clipboard = format_joint_values(robot.model, values, self.style.lower())
        self.report({"INFO"}, f"{counted(len(values), 'joint value')} copied")
        return {"FINISHED"}


class ROBOKIN_OT_paste_joint_values(RobotOperator, bpy.types.Operator):
    """Pose the robot with joint values from the clipboard: lines name: value, JSON, a CSV row or a ROS joint state"""

    bl_idname = "robokin.paste_joint_values"
    bl_label = "Paste Joint Values"

    text: bpy.props.StringProperty(
        name="Text", description="Joint values; empty: the text in the clipboard", options={"SKIP_SAVE"}
    )
    degrees: bpy.props.BoolProperty(
        name="Degrees", description="Angles without a unit are in degrees, not in radians", default=False
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        model = robot.model
        text = self.given("text", context.window_manager.clipboard)
        if not text.strip():
            raise RobokinError("there is no text in the clipboard")
        found = parse_joint_values(model, text, self.degrees)
        q = read_configuration(obj, robot)
        parsed = model.configuration(found.values)
        for name in found.values:
            own = model.slot(name).q
            q[own] = parsed[own]
        inside, notes = within_limits(model, q)
        take_pose(context, obj, robot, inside)
        if found.unknown:
            self.report({"WARNING"}, f"no joints of {obj.name!r}: {', '.join(found.unknown[:6])}")
        if notes:
            more = f"; and {len(notes) - 1} more" if len(notes) > 1 else ""
            self.report({"WARNING"}, f"{notes[0]}{more}")
        self.report({"INFO"}, f"{counted(len(found.values), 'joint value')} pasted")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_copy_joint_values, ROBOKIN_OT_paste_joint_values)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
