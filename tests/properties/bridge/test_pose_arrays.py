"""All channels at once are what they are one by one."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import PoseArrays, binding, read_configuration, write_configuration
from robokin_addon.robokin import integrate
from support.blender.every_joint import make_every_joint
from support.blender.scene_robots import build, model_of

ROBOTS = {
    "panda": lambda: build(model_of("panda")),
    "talos": lambda: build(model_of("talos_full_v2", "floating")),
    "every joint": make_every_joint,
}


@pytest.mark.parametrize("name", ROBOTS)
def test_read_and_written_alike(scene, name):
    obj = ROBOTS[name]()
    bpy.context.view_layer.update()
    robot = binding(obj)
    arrays, random = PoseArrays(obj, robot), np.random.default_rng(1)
    for size in (0.1, 1.0, 10.0):
        q = integrate(robot.model, robot.model.neutral(), random.normal(0.0, size, robot.model.nv))
        arrays.read(obj)
        rounded = arrays.write(obj, q)
        own = channels(obj)
        assert arrays.read(obj).tobytes() == rounded.tobytes() == read_configuration(obj).tobytes()
        write_configuration(obj, robot.model.neutral())
        write_configuration(obj, q)
        assert own == channels(obj)


def test_another_rotation_mode_is_read_and_put_right(scene):
    obj = build(model_of("panda"))
    arrays = PoseArrays(obj, binding(obj))
    bone = obj.pose.bones["panda_joint2"]
    bone.rotation_euler[1] = 0.3
    bone.rotation_mode = "QUATERNION"
    assert arrays.read(obj).tobytes() == read_configuration(obj).tobytes()
    q = arrays.read(obj)
    assert abs(q[1] - 0.3) < 1e-6
    arrays.write(obj, q)
    assert bone.rotation_mode != "QUATERNION" and abs(bone.rotation_euler[1] - 0.3) < 1e-6


def channels(obj: bpy.types.Object) -> list[tuple[float, ...]]:
    bones = obj.pose.bones
    return [(*b.location, *b.rotation_euler, *b.rotation_quaternion) for b in bones]
