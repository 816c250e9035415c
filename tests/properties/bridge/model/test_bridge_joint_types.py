"""Every joint type as a bone: channels, locks, limits of each coordinate, edits, bake, files, panel."""

from __future__ import annotations

import json
import math

import bpy
import numpy as np
import pytest
from robokin_addon.panels.prepared.robot_panel import joint_summary
from robokin_addon.properties.bridge import (
    binding,
    channel_table,
    curves,
    read_configuration,
    robot_model,
    write_configuration,
)
from robokin_addon.properties.bridge.record.fields import write_fields
from robokin_addon.properties.bridge.record.reading import read_record
from robokin_addon.properties.bridge.record.stored import VERSION
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, in_limits, random_configuration
from robokin_addon.robokin.model.joint_types import JOINT_TYPES
from robokin_addon.scene.animation.frames import fcurves
from support.blender.scene_robots import build, shown

TYPES = ("revolute", "prismatic", "planar", "screw", "cylindrical", "universal", "gimbal")
# A proper Euler order needs several bones: see test_helper_bones.py.
ORDERED = [(kind.name, o) for kind in JOINT_TYPES.values() for o in kind.orders if len(set(o)) == len(o)]


def chain(*kinds: str, **fields: object) -> RobotModel:
    """Joints j0, j1 ... one behind the other, half a metre apart."""
    step = np.eye(4)
    step[1, 3] = 0.5
    joints = [
        Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", placement=step, axis=(0, 1, 0), **fields)
        for i, kind in enumerate(kinds)
    ]
    return RobotModel("chain", [Link(f"l{i}") for i in range(len(kinds) + 1)], joints)


@pytest.mark.parametrize(("kind", "order"), ORDERED)
def test_every_order_is_a_rotation_mode_of_blender(scene, kind, order):
    model = chain(kind, order=order)
    obj = build(model)
    for q in np.random.default_rng(0).uniform(-3.1, 3.1, (5, model.nq)):
        write_configuration(obj, q)
        np.testing.assert_allclose(shown(obj, "l1"), forward_kinematics(model, q)["l1"], atol=1e-6)
        np.testing.assert_allclose(read_configuration(obj), q, atol=1e-6)


def test_a_gimbal_about_the_bones_axes_has_the_mode_of_its_order_backwards(scene):
    obj = build(chain("gimbal", order="XZY"))
    robot = binding(obj)
    np.testing.assert_array_equal(robot.frames[1], np.eye(3))
    assert obj.pose.bones["j0"].rotation_mode == "YZX"


def test_another_rotation_mode_is_read_and_put_back(scene):
    model = chain("gimbal")
    obj = build(model)
    q = np.array([0.4, -0.9, 0.3])
    write_configuration(obj, q)
    for mode in ("QUATERNION", "YXZ"):
        obj.pose.bones["j0"].rotation_mode = mode
        bpy.context.view_layer.update()
        np.testing.assert_allclose(read_configuration(obj), q, atol=1e-5)
    write_configuration(obj, q)
    np.testing.assert_allclose(shown(obj, "l1"), forward_kinematics(model, q)["l1"], atol=1e-6)


def test_the_way_of_a_screw_goes_with_its_angle(scene):
    scene.unit_settings.scale_length = 0.01
    model = chain("screw", pitch=0.02)
    obj = build(model)
    bone = obj.pose.bones["j0"]
    own, way = (c for c in channel_table(obj) if c.bone == "j0")
    assert (own.path, own.role, way.path, way.role) == ("rotation_euler", "own", "location", "coupled")
    assert bone.lock_location[:] == (True,) * 3 and not bone.lock_rotation[own.index]
    bone.rotation_euler[own.index] = own.sign * 20.0  # more than three turns, by hand
    bpy.context.view_layer.update()
    assert bone.location[way.index] * way.factor == pytest.approx(0.4, rel=1e-6)
    np.testing.assert_allclose(read_configuration(obj), [20.0], rtol=1e-6)
    scene.frame_set(1)
    np.testing.assert_allclose(shown(obj, "l1")[1, 3], 50.0 + 40.0, rtol=1e-6)


def test_nothing_is_left_of_a_type_that_a_bone_had(scene):
    obj = build(chain("screw", pitch=0.1))
    write_configuration(obj, np.array([2.0]))
    bpy.context.view_layer.update()
    assert obj.pose.bones["j0"].location[1] == pytest.approx(0.2)
    obj.data.bones["j0"].robokin.joint_type = "revolute"
    np.testing.assert_allclose(shown(obj, "l1"), forward_kinematics(robot_model(obj), [2.0])["l1"], atol=1e-6)


@pytest.mark.parametrize("kind", TYPES)
def test_limits_of_each_coordinate_stop_a_hand(scene, kind):
    """Ranges that do not hold 0, and one of several turns."""
    nv = JOINT_TYPES[kind].nv
    lower, upper = np.array([0.5, -9.0, -1.0])[:nv], np.array([12.0, -0.25, 2.0])[:nv]
    model = chain(kind, kind, lower=lower, upper=upper, pitch=0.05)
    obj = build(model)
    assert in_limits(model, read_configuration(obj))
    own = [c for c in channel_table(obj) if c.role == "own"]
    for value in (-30.0, 30.0):
        for channel in own:
            getattr(obj.pose.bones[channel.bone], channel.path)[channel.index] = value / channel.factor
        bpy.context.view_layer.update()
        end = model.lower if value < 0 else model.upper
        np.testing.assert_allclose(read_configuration(obj), end, atol=1e-5)
        assert in_limits(model, read_configuration(obj))
        np.testing.assert_allclose(shown(obj, "l2"), forward_kinematics(model, end)["l2"], atol=3e-5)


@pytest.mark.parametrize("kind", ["universal", "gimbal"])
def test_limit_constraints_do_not_change_what_is_inside(scene, kind):
    """Where Robokin is not installed they hold the limits, and only where Blender can tell the angles apart."""
    for size in (0.5, 1.2, 2.0, 3.0):
        model = chain(kind, lower=-size, upper=size)
        obj = build(model)
        rng = np.random.default_rng(1)
        for q in [random_configuration(model, rng) for _ in range(10)] + [model.lower, model.upper]:
            write_configuration(obj, q)
            np.testing.assert_allclose(shown(obj, "l1"), forward_kinematics(model, q)["l1"], atol=1e-5)
        found = "Robokin Rotation Limit" in obj.pose.bones["j0"].constraints
        assert found == (size * JOINT_TYPES[kind].nv < 1.5 * math.pi)


@pytest.mark.parametrize("kind", [kind for kind in JOINT_TYPES if kind != "wheeled"])
def test_a_bone_is_retyped_by_its_fields(scene, kind):
    obj = build(chain("revolute", "revolute"))
    fields = obj.data.bones["j0"].robokin
    fields.joint_type = kind
    joint = robot_model(obj).joint("j0")
    assert joint.type == kind and (joint.order in JOINT_TYPES[kind].orders or joint.order == "")
    if joint.nv > 1 and not joint.kind.has_cone:
        fields.use_lower_2, fields.lower_2, fields.use_upper_2, fields.upper_2_angle = True, 0.25, True, 0.5
        fields.use_velocity_2, fields.velocity_2 = True, 3.0
        joint = robot_model(obj).joint("j0")
        assert (joint.lower[1], joint.upper[1], joint.velocity[1]) == (0.25, 0.5, 3.0)
        assert np.isinf(np.delete(joint.lower, 1)).all() and np.isinf(np.delete(joint.velocity, 1)).all()
    for order in joint.kind.orders:
        setattr(fields, f"{kind}_order", order)
        assert bpy.ops.robokin.helper_bones() == {"FINISHED"}
        fields = obj.data.bones["j0"].robokin
        assert robot_model(obj).joint("j0").order == order
    if joint.kind.has_pitch:
        fields.pitch = 0.125
        assert robot_model(obj).joint("j0").pitch == 0.125
    summary = joint_summary(obj, obj.data.bones["j0"])
    assert len(summary.freedoms) + len(summary.cone) == (2 if joint.kind.has_cone else min(joint.nv, 3))
    for field, _ in summary.extra:
        assert hasattr(fields, field)


@pytest.mark.parametrize("kind", ["planar", "floating", "universal", "gimbal"])
def test_a_bone_turned_against_its_link(scene, kind):
    """Retyped, a bone keeps the axes it was made with: here the link's, permuted and turned over."""
    obj = build(RobotModel("r", [Link("a"), Link("b")], [Joint("j", "revolute", "a", "b", axis=(0, 0, -1))]))
    frame = binding(obj).frames[1]
    assert frame.min() == -1.0
    obj.data.bones["j"].robokin.joint_type = kind
    model, rng = robot_model(obj), np.random.default_rng(0)
    for _ in range(5):
        q = random_configuration(model, rng)
        write_configuration(obj, q)
        np.testing.assert_allclose(shown(obj, "b"), forward_kinematics(model, q)["b"], atol=1e-6)
        again = forward_kinematics(model, read_configuration(obj))["b"]
        np.testing.assert_allclose(again, forward_kinematics(model, q)["b"], atol=1e-6)


def rotate_tool(obj: bpy.types.Object, bone: str, angle: float, axis: str) -> None:
    bpy.context.view_layer.objects.active = obj
    if obj.mode != "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    area = next(a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    for other in obj.pose.bones:
        (other if hasattr(other, "select") else other.bone).select = other.name == bone
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], area=area, region=region):
        bpy.ops.transform.rotate(value=angle, orient_axis=axis, orient_type="GLOBAL")
    bpy.context.view_layer.update()


@pytest.mark.parametrize("kind", ["screw", "cylindrical", "universal", "gimbal"])
def test_the_rotate_tool_keeps_to_the_joint(scene, kind):
    model = chain(kind, lower=-0.6, upper=0.8, pitch=0.1)
    obj = build(model)
    for angle, axis in ((0.3, "X"), (0.7, "Y"), (-1.1, "Z"), (2.5, "Y"), (-2.0, "X")):
        rotate_tool(obj, "j0", angle, axis)
        q = read_configuration(obj)
        assert in_limits(model, q)
        np.testing.assert_allclose(shown(obj, "l1"), forward_kinematics(model, q)["l1"], atol=1e-6)
    assert abs(q).max() > 0.1


def test_a_key_on_the_angle_of_a_screw_is_one_on_its_way(scene):
    scene.tool_settings.use_keyframe_insert_auto = True
    obj = build(chain("screw", "screw", pitch=0.1))
    bones = obj.pose.bones
    for frame, angle in ((1, 0.5), (11, 2.5)):
        scene.frame_set(frame)
        bones["j0"].rotation_euler[1] = bones["j1"].rotation_euler[1] = angle
        bones["j0"].keyframe_insert("rotation_euler", index=1)  # as a transform does, of what it moves
        bpy.context.view_layer.update()
    for frame in range(1, 12):
        scene.frame_set(frame)
        assert bones["j0"].location[1] == pytest.approx(0.1 * bones["j0"].rotation_euler[1], abs=1e-6)
    assert {curve.data_path for curve in fcurves(obj).values()} == {
        'pose.bones["j0"].rotation_euler',
        'pose.bones["j0"].location',
    }


def test_a_record_without_an_order_has_the_usual_one(scene):
    obj = build(chain("gimbal", order="XYZ"))
    bone = obj.data.bones["j0"]
    record = json.loads(bone["robokin_joint"]) | {"version": 1}
    for name in ("order", "axes", "drive"):
        del record["joint"][name]
    bone["robokin_joint"] = json.dumps(record)
    write_fields(bone.robokin, read_record(bone["robokin_joint"], "j0"), VERSION)
    assert robot_model(obj).joint("j0").order == "ZYX"


def test_curves_are_one_for_each_coordinate(scene):
    model = chain("screw", "cylindrical", "universal", "gimbal", pitch=0.1)
    obj = build(model)
    Q = np.random.default_rng(0).uniform(-9.0, 9.0, (30, model.nq))
    found = curves(obj, Q)
    assert len(found) == model.nq + 1  # the way of the screw
    for (path, index, values, _), channel in zip(found, channel_table(obj), strict=False):
        assert path.endswith(channel.path) and index == channel.index
        expected = channel.scale * Q[:, channel.q] + channel.offset
        np.testing.assert_allclose(channel.factor * values.astype(float), expected, atol=1e-5)
