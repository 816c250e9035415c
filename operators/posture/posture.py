"""Poses to go back to: rest, home, and the stored posture that bakes start from."""

from __future__ import annotations

import json

import bpy
import numpy as np

from ...properties.bridge import nearest_within_limits, read_configuration, robot_model, write_configuration
from ...properties.postures import (
    free_name,
    home_posture,
    parse_configuration,
    posture_configuration,
    start_configuration,
    store_posture,
)
from ...properties.solver_settings import POSES
from ...robokin import RobotModel, clamp
from ...robokin.arrays import Array
from ...robokin.model.robot import JointValue
from ...scene.animation.curves import auto_keying, key_channels, own_keys, shown_by_keys
from ...scene.animation.frames import fcurves
from ..common import RobotOperator

SAME = 1e-5  # [rad, m] a pose that is no farther from that of the curves is theirs


def bake_start(scene: bpy.types.Scene, obj: bpy.types.Object, start: str) -> Array | None:
    """(nq,) where a bake starts; None for the bake to choose: "AUTOMATIC", "POSTURE" where none is chosen, "PRESENT"
    where the robot shows nothing but curves and no bake has kept a start yet. Raises RobokinError."""
    if start == "PRESENT":
        return _present_start(scene, obj)
    if start == "AUTOMATIC" or (start == "POSTURE" and not obj.robokin.solver.posture):
        return None
    return start_configuration(obj, start)


def keep_start(obj: bpy.types.Object, start: str, q0: Array | None) -> None:
    """Remember where a bake from the present pose started, for when it is repeated."""
    if start == "PRESENT" and q0 is not None:
        obj.robokin.solver.start_values = json.dumps(own_values(robot_model(obj), q0))


def _present_start(scene: bpy.types.Scene, obj: bpy.types.Object) -> Array | None:
    """The pose that the robot was given. What its curves show was not: they are what a bake replaces."""
    model, q = robot_model(obj), read_configuration(obj)
    if not own_keys(obj).keys() & fcurves(obj).keys():
        return clamp(model, q)
    shown = shown_by_keys(obj, [scene.frame_current_final])
    if shown is not None and not np.allclose(shown[0], q, rtol=0.0, atol=SAME):
        return clamp(model, q)
    kept = obj.robokin.solver.start_values
    return clamp(model, parse_configuration(model, kept, "the kept start")) if kept else None


def take_pose(context: bpy.types.Context, obj: bpy.types.Object, q: Array) -> None:
    """Pose the robot, and key it where the user has what is posed keyed."""
    write_configuration(obj, q)
    if auto_keying(context, obj):
        key_channels(obj, context.scene.frame_current_final)


def present_values(obj: bpy.types.Object) -> dict[str, JointValue]:
    """{joint: value} of the pose as it stands, moved inside the limits; of the joints that move on their own."""
    model = robot_model(obj)
    return own_values(model, clamp(model, read_configuration(obj)))


def own_values(model: RobotModel, q: Array) -> dict[str, JointValue]:
    """{joint: value} of the joints that move on their own."""
    values = model.joint_values(q)
    return {joint.name: values[joint.name] for joint in model.moving_joints}


class ROBOKIN_OT_reset_pose(RobotOperator, bpy.types.Operator):
    """Put the robot to rest, or into the stored posture that bakes start from"""

    bl_idname = "robokin.reset_pose"
    bl_label = "Reset Pose"

    start: bpy.props.EnumProperty(name="To", description="The pose to go to", items=POSES, default="REST")

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        take_pose(context, obj, start_configuration(obj, self.start))
        return {"FINISHED"}


class ROBOKIN_OT_home(RobotOperator, bpy.types.Operator):
    """Go to the posture that is home; without one, to rest: every joint at zero or at the limit nearest to it"""

    bl_idname = "robokin.home"
    bl_label = "Home"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        posture = home_posture(obj)
        rest = nearest_within_limits(robot_model(obj))
        take_pose(context, obj, rest if posture is None else posture_configuration(obj, posture))
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
        solver, postures = obj.robokin.solver, obj.robokin.postures
        name = self.name or (solver.posture if solver.posture in postures else free_name("Start", set(postures.keys())))
        solver.posture = store_posture(obj, name, present_values(obj)).name
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_reset_pose, ROBOKIN_OT_home, ROBOKIN_OT_store_posture)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
