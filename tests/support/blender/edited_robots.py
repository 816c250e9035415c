"""What holds of a robot whatever was done to its armature."""

from __future__ import annotations

import math

import bpy
import numpy as np
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.robokin import in_limits, random_configuration

from support.blender.rigs import disagreement


def stays_right(obj: bpy.types.Object, precision: float = 1e-5) -> None:
    """Model and bones agree in any pose, limits hold under a hand, none is left over, and IK solves."""
    model = robot_model(obj)
    rng = np.random.default_rng(0)
    for _ in range(4):
        q = random_configuration(model, rng)
        write_configuration(obj, q)
        assert disagreement(obj) < precision
        assert in_limits(model, read_configuration(obj))
    robot = binding(obj)
    for channel in robot.own_channels:
        bone = obj.pose.bones[channel.bone]
        assert not getattr(bone, {"location": "lock_location"}.get(channel.path, "lock_rotation"))[channel.index % 3]
        if channel.path != "rotation_quaternion" and math.isfinite(channel.upper):
            getattr(bone, channel.path)[channel.index] = 1e3 / channel.factor
    bpy.context.view_layer.update()
    q = read_configuration(obj)
    assert in_limits(model, q)
    bounded = [c.q for c in robot.own_channels if c.path != "rotation_quaternion" and math.isfinite(c.upper)]
    np.testing.assert_allclose(q[bounded], model.upper[bounded], atol=1e-4)
    assert disagreement(obj) < precision
    target = random_configuration(model, rng)
    leaf = model.links[-1].name
    write_configuration(obj, target)
    bpy.context.view_layer.update()
    bone = robot.bone_of_link[leaf]
    with bpy.context.temp_override(object=obj, active_object=obj):
        assert bpy.ops.robokin.task_add(tip=bone, kind="POSE") == {"FINISHED"}
        write_configuration(obj, model.limits.middle(model.neutral()))
        assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
        assert obj.robokin.solver.status == "CONVERGED", obj.robokin.solver.reason
        bpy.ops.robokin.task_remove()
