"""All channels at once are what they are one by one."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import PoseArrays, binding, read_configuration, write_configuration
from robokin_addon.robokin import forward_kinematics, integrate
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


def test_the_pose_is_evaluated_and_the_armature_not_copied(scene):
    obj = build(model_of("talos_full_v2", "floating"))
    hung = bpy.data.objects.new("hung", bpy.data.meshes.new("hung"))
    scene.collection.objects.link(hung)
    hung.parent, hung.parent_type, hung.parent_bone = obj, "BONE", obj.pose.bones[-1].name
    bpy.context.view_layer.update()
    robot, listed = binding(obj), []

    def note(_scene, depsgraph):
        listed.extend(update.id.id_type for update in depsgraph.updates)

    handlers = bpy.app.handlers.depsgraph_update_post
    arrays, q = PoseArrays(obj, robot), read_configuration(obj)
    arrays.read(obj)
    arrays.write(obj, integrate(robot.model, q, np.full(robot.model.nv, 0.1)))
    handlers.append(note)
    bpy.context.view_layer.update()
    handlers.remove(note)
    shown = [np.array(bone.matrix) for bone in obj.pose.bones], np.array(hung.matrix_world)
    assert "OBJECT" in listed and "ARMATURE" not in listed
    obj.update_tag(refresh={"DATA"})
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(shown[0], [np.array(bone.matrix) for bone in obj.pose.bones])
    np.testing.assert_array_equal(shown[1], np.array(hung.matrix_world))
    expected = forward_kinematics(robot.model, read_configuration(obj))
    name = robot.bones[-1]
    at = (robot.root @ expected[robot.link_of_bone[name]])[:3, 3] / robot.metres_per_unit
    np.testing.assert_allclose(obj.pose.bones[name].matrix.translation, at, atol=1e-5)


def channels(obj: bpy.types.Object) -> list[tuple[float, ...]]:
    bones = obj.pose.bones
    return [(*b.location, *b.rotation_euler, *b.rotation_quaternion) for b in bones]
