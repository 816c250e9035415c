"""Bakes of a robot in a scene, and what they left."""

from __future__ import annotations

import bpy
import numpy as np
from robokin_addon.properties.bridge import read_configuration
from robokin_addon.scene.animation import frames as animation

from support.blender.scene_robots import TOOL, add_empty, world_error


def bake(robot, **options):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake(**options) == {"FINISHED"}
    return robot.robokin.solver


def keys(robot):
    """{(path, index): (n, 2) frames and values} of everything the robot's action holds."""
    found = {}
    for curve in animation.channelbag(robot).fcurves:
        co = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", co)
        found[curve.data_path, curve.array_index] = co.reshape(-1, 2)
    return found


def worst_error(scene, robot, target, frames):
    errors = []
    for frame in frames:
        scene.frame_set(frame)
        errors.append(world_error(robot, TOOL, target)[0])
    return max(errors)


def snapshot(scene, robot):
    action = robot.animation_data.action if robot.animation_data else None
    curves = keys(robot) if animation.channelbag(robot) else {}
    mutes = [curve.mute for curve in animation.channelbag(robot).fcurves] if curves else []
    pose = read_configuration(robot).tolist()
    return action, {key: values.tolist() for key, values in curves.items()}, mutes, pose, scene.frame_current_final


def slow_road(robot, target):
    """The same motion, by way of a constraint: Blender has to evaluate it."""
    follower = add_empty("follower")
    follower.constraints.new("COPY_TRANSFORMS").target = target
    robot.robokin.tasks[0].target = follower
