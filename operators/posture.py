"""The pose a robot starts from: a stored posture, or rest; and going back to it."""

from __future__ import annotations

import json

import bpy
import numpy as np

from ..properties.bridge import nearest_within_limits, read_configuration, robot_model, write_configuration
from ..properties.solver_settings import STARTS
from ..robokin import RobokinError, RobotModel, clamp
from .common import RobotOperator
from .curves import auto_keying, key_channels

Array = np.ndarray


def start_configuration(obj: bpy.types.Object, start: str) -> Array:
    """(nq,) inside the limits. start: "POSTURE" or "REST". Raises RobokinError when the stored text is damaged."""
    model = robot_model(obj)
    text = obj.robokin.solver.posture
    if start == "REST" or not text:
        return nearest_within_limits(model)
    return clamp(model, parse_configuration(model, text, f"stored posture of {obj.name!r}"))


def bake_start(obj: bpy.types.Object, start: str) -> Array | None:
    """As `start_configuration`; None, for the bake to choose, where the posture is asked for and none is stored."""
    if start == "POSTURE" and not obj.robokin.solver.posture:
        return None
    return start_configuration(obj, start)


def parse_configuration(model: RobotModel, text: str, what: str) -> Array:
    """(nq,) from JSON {joint: value}. Raises RobokinError."""
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise RobokinError(f'{what} must be joint values as JSON, as {{"joint": 0.5}}, not {text[:40]!r}')
    return model.configuration(values)


class ROBOKIN_OT_reset_pose(RobotOperator, bpy.types.Operator):
    """Put the robot back into its stored posture, or to rest"""

    bl_idname = "robokin.reset_pose"
    bl_label = "Reset Pose"

    start: bpy.props.EnumProperty(name="To", description="The pose to go to", items=STARTS, default="REST")

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        write_configuration(obj, start_configuration(obj, self.start))
        if auto_keying(context):
            key_channels(obj, context.scene.frame_current_final)
        return {"FINISHED"}


class ROBOKIN_OT_store_posture(RobotOperator, bpy.types.Operator):
    """Remember the present pose as the posture that bakes start from"""

    bl_idname = "robokin.store_posture"
    bl_label = "Store Posture"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        model = robot_model(obj)
        values = model.joint_values(clamp(model, read_configuration(obj)))
        own = {joint.name: values[joint.name] for joint in model.moving_joints}
        obj.robokin.solver.posture = json.dumps(own)
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_reset_pose, ROBOKIN_OT_store_posture)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
