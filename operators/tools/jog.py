"""Jog: keys move a joint, or the tool along axes, step by step. The keys are entries of the tool's keymap."""

from __future__ import annotations

import math

import bpy

from ...properties.bridge import binding, write_configuration
from ...properties.handlers import posing_paused
from ...properties.selected.selection import select, selected_bones
from ...robokin import RobokinError
from ...scene.posing.jog import jogged_joint, jogged_tool, joint_of_number
from ...scene.posing.joint_turn import JointTurn
from ..common import RobotOperator
from .gesture import settle
from .turn_joint import value_and_limits

FRAMES = (
    ("JOINT", "Joint", "The axes of the active joint, one after another"),
    ("TOOL", "Tool", "Along, or with Turn about, the axes of the tool"),
    ("BASE", "Base", "Along, or with Turn about, the axes of the robot's base"),
)
AXES = (("1", "First", "X"), ("2", "Second", "Y"), ("3", "Third", "Z"))
FINE = 0.1  # of a step


class KeyOperator(RobotOperator):
    """Mixin: a key that cannot do its work says so in the status bar, and the next key is free."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return self.reported(context, "WARNING")


class ROBOKIN_OT_jog(KeyOperator, bpy.types.Operator):
    """Move the active joint, or the tool, by one step"""

    bl_idname = "robokin.jog"
    bl_label = "Jog"
    bl_options = {"REGISTER", "UNDO_GROUPED"}
    bl_undo_group = "Jog"

    frame: bpy.props.EnumProperty(name="Frame", description="What the steps go along", items=FRAMES, default="JOINT")
    axis: bpy.props.EnumProperty(name="Axis", description="Which of the axes", items=AXES, options={"SKIP_SAVE"})
    direction: bpy.props.EnumProperty(
        name="Direction",
        items=(("FORWARD", "Forward", "Along the axis"), ("BACK", "Back", "Against the axis")),
        description="Which way",
        options={"SKIP_SAVE"},
    )
    turn: bpy.props.BoolProperty(name="Turn", description="Turn the tool about the axis; otherwise move it along")
    angle: bpy.props.FloatProperty(
        name="Angle", description="Angle of a step", subtype="ANGLE", default=math.radians(2.0), min=0.0
    )
    length: bpy.props.FloatProperty(
        name="Length", description="Length of a step", subtype="DISTANCE", unit="LENGTH", default=0.01, min=0.0
    )
    fine: bpy.props.BoolProperty(name="Fine", description="A tenth of a step", options={"SKIP_SAVE"})

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        axis, sign = int(self.axis) - 1, (-1.0 if self.direction == "BACK" else 1.0) * (FINE if self.fine else 1.0)
        robot, bone = binding(obj), obj.data.bones.active
        length = self.length * robot.metres_per_unit
        if self.frame == "JOINT":
            if bone is None:
                raise RobokinError("no joint is active: choose one with a number key, or click its link")
            turn = JointTurn(obj, bone.name, axis)
            q = jogged_joint(turn, axis, sign * (length if turn.is_length else self.angle))
        else:
            by = sign * (self.angle if self.turn else length)
            q, tip = jogged_tool(obj, robot, axis, by, self.turn, self.frame == "TOOL")
            said = f"{tip}: {'about' if self.turn else 'along'} {'XYZ'[axis]} of the {self.frame.lower()}"
        with posing_paused():
            write_configuration(obj, q, robot)
            settle(context, obj)
        if self.frame == "JOINT":
            said = value_and_limits(context.scene, obj, turn)
        if context.area is not None:
            context.area.tag_redraw()
        self.report({"INFO"}, f"Jog  {said}")
        return {"FINISHED"}


class ROBOKIN_OT_choose_joint(KeyOperator, bpy.types.Operator):
    """Make a joint active by its number"""

    bl_idname = "robokin.choose_joint"
    bl_label = "Choose Joint"
    bl_options = {"UNDO"}  # not REGISTER: after steps of Jog, F9 would change the choice and take the steps back

    number: bpy.props.IntProperty(name="Number", description="1 is the first joint that moves", default=1, min=1)

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        bone = joint_of_number(obj, self.number)
        for other in selected_bones(obj):
            select(obj.pose.bones[other], False)
        select(obj.pose.bones[bone], True)
        obj.data.bones.active = obj.data.bones[bone]
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_jog, ROBOKIN_OT_choose_joint)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
