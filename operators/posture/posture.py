"""Poses to go back to: rest, home, and the stored posture that bakes start from."""

from __future__ import annotations

import bpy

from ...properties.bridge import Binding, binding, nearest_within_limits, write_configuration
from ...properties.postures import (
    free_name,
    home_posture,
    posture_configuration,
    start_configuration,
    store_posture,
)
from ...properties.solver_settings import POSES
from ...robokin.arrays import Array
from ...scene.animation.auto_keys import auto_key
from ...scene.animation.curves import refuse_driven
from ...scene.bake.start import present_values
from ..common import RobotOperator


def take_pose(context: bpy.types.Context, obj: bpy.types.Object, robot: Binding, q: Array) -> None:
    """Pose the robot, and key it where the user has what is posed keyed. Raises RobokinError where a driver holds a
    joint."""
    refuse_driven(obj, robot)
    write_configuration(obj, q, robot)
    auto_key(context, obj, robot)


class ROBOKIN_OT_reset_pose(RobotOperator, bpy.types.Operator):
    """Put the robot to rest, or into the stored posture that bakes start from"""

    bl_idname = "robokin.reset_pose"
    bl_label = "Reset Pose"

    start: bpy.props.EnumProperty(name="To", description="The pose to go to", items=POSES, default="REST")

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        take_pose(context, obj, robot, start_configuration(obj, robot.model, self.start))
        return {"FINISHED"}


class ROBOKIN_OT_home(RobotOperator, bpy.types.Operator):
    """Go to the posture that is home; without one, to rest: every joint at zero or at the limit nearest to it"""

    bl_idname = "robokin.home"
    bl_label = "Home"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot, posture = binding(obj), home_posture(obj)
        rest = nearest_within_limits(robot.model)
        take_pose(context, obj, robot, rest if posture is None else posture_configuration(robot.model, posture))
        self.report({"INFO"}, f"Home: {'rest' if posture is None else posture.name}")
        return {"FINISHED"}


class ROBOKIN_OT_store_posture(RobotOperator, bpy.types.Operator):
    """Remember the present pose as the posture that bakes start from"""

    bl_idname = "robokin.store_posture"
    bl_label = "Store Posture"

    name: bpy.props.StringProperty(
        name="Name",
        description="Name of the posture; empty: the one that bakes start from, or Start",
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot, solver, postures = binding(obj), obj.robokin.solver, obj.robokin.postures
        name = self.name or (solver.posture if solver.posture in postures else free_name("Start", set(postures.keys())))
        solver.posture = store_posture(obj, robot.model, name, present_values(obj, robot)).name
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_reset_pose, ROBOKIN_OT_home, ROBOKIN_OT_store_posture)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
