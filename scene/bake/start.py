"""The pose that a bake starts from."""

from __future__ import annotations

import json
from dataclasses import replace

import bpy
import numpy as np

from ...properties.bridge import Binding, read_configuration
from ...properties.postures import (
    parse_configuration,
    start_configuration,
)
from ...robokin import RobotModel, clamp
from ...robokin.arrays import Array
from ...robokin.model.robot import JointValue
from ...scene.animation.curves import own_keys, shown_by_keys
from ...scene.animation.frames import fcurves
from ...scene.tasks.memory import fading, read_memory, write_memory
from ...solvers.tracking.segments import Segment

SAME = 1e-5  # [rad, m] a pose that is no farther from that of the curves is theirs


def bake_start(scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding, start: str) -> Array | None:
    """(nq,) where a bake starts; None for the bake to choose: "AUTOMATIC", "POSTURE" where none is chosen, "PRESENT"
    where the robot shows nothing but curves and no bake has kept a start yet. Raises RobokinError."""
    if start == "PRESENT":
        return _present_start(scene, obj, robot)
    if start == "AUTOMATIC" or (start == "POSTURE" and not obj.robokin.solver.posture):
        return None
    return start_configuration(obj, robot.model, start)


def keep_start(obj: bpy.types.Object, robot: Binding, start: str, q0: Array | None) -> None:
    """Remember where a bake from the present pose started, for when it is repeated."""
    if start == "PRESENT" and q0 is not None:
        obj.robokin.solver.start_values = json.dumps(own_values(robot.model, q0))
        memory = read_memory(obj, robot.model)
        memory.baked = memory.faded_at(q0)
        write_memory(obj, memory)


def with_fades(obj: bpy.types.Object, robot: Binding, segment: Segment, q0: Array) -> Segment:
    """A segment that starts at q0 (nq,), where its tasks that fade go on from what is remembered of that pose."""
    tasks = segment.tracker.tasks
    shares = [task.influence for task in tasks] if segment.influence is None else segment.influence[0]
    return replace(segment, without=read_memory(obj, robot.model).without_at(q0, fading(tasks, shares)))


def _present_start(scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding) -> Array | None:
    """The pose that the robot was given. What its curves show was not: they are what a bake replaces."""
    model, q = robot.model, read_configuration(obj, robot)
    if not own_keys(robot).keys() & fcurves(obj).keys():
        return clamp(model, q)
    shown = shown_by_keys(obj, [scene.frame_current_final], robot)
    if shown is not None and not np.allclose(shown[0], q, rtol=0.0, atol=SAME):
        return clamp(model, q)
    kept = obj.robokin.solver.start_values
    return clamp(model, parse_configuration(model, kept, "the kept start")) if kept else None


def present_values(obj: bpy.types.Object, robot: Binding) -> dict[str, JointValue]:
    """{joint: value} of the pose as it stands, moved inside the limits; of the joints that move on their own."""
    return own_values(robot.model, clamp(robot.model, read_configuration(obj, robot)))


def own_values(model: RobotModel, q: Array) -> dict[str, JointValue]:
    """{joint: value} of the joints that move on their own."""
    values = model.joint_values(q)
    return {joint.name: values[joint.name] for joint in model.moving_joints}
