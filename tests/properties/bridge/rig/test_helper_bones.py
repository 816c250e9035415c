"""Joints that need several bones: proper Euler orders, skew axes, and bones whose axes are not those of the joint."""

from __future__ import annotations

import json
import math
from pathlib import Path

import bpy
import numpy as np
import pytest
from robokin_addon.panels.prepared.robot_panel import joint_summary
from robokin_addon.properties.bridge import (
    BridgeError,
    binding,
    channel_table,
    fit_helper_bones,
    read_configuration,
    robot_model,
    write_configuration,
)
from robokin_addon.properties.bridge.record.stored import HELPER_KEY, KEY
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, in_limits, random_configuration
from robokin_addon.robokin.model.joint_types import JOINT_TYPES
from robokin_addon.scene.animation.frames import fcurves
from support.blender.scene_robots import add_target, build
from support.random_problems.random_trees import random_placement

PROPER = [order for order in JOINT_TYPES["gimbal"].orders if order[0] == order[2]]
SKEW = np.array([[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.3, -0.9, 0.1]])


def robot(*joints: dict) -> RobotModel:
    """Joints j0, j1 ... one behind the other, each somewhere."""
    rng = np.random.default_rng(7)
    made = [Joint(f"j{i}", parent=f"l{i}", child=f"l{i + 1}", placement=random_placement(rng), **fields)
            for i, fields in enumerate(joints)]  # fmt: skip
    return RobotModel("spread", [Link(f"l{i}") for i in range(len(joints) + 1)], made)


def assert_shown(obj: bpy.types.Object, model: RobotModel, q: np.ndarray, atol: float = 2e-6) -> None:
    """Every link stands in Blender where the model says."""
    bpy.context.view_layer.update()
    placements, found = forward_kinematics(model, q), binding(obj)
    for link, bone, frame in zip(model.links, found.bones, found.frames, strict=True):
        T = np.array(obj.pose.bones[bone].matrix)
        T[:3, :3] = T[:3, :3] @ frame.T
        np.testing.assert_allclose(T, found.root @ placements[link.name], atol=atol)


def assert_same_joints(mine: RobotModel, theirs: RobotModel) -> None:
    for a, b in zip(mine.joints, theirs.joints, strict=True):
        assert (a.name, a.type, a.order, a.parent, a.child) == (b.name, b.type, b.order, b.parent, b.child)
        np.testing.assert_allclose(a.placement, b.placement, atol=1e-9)
        for step, other in zip(a.kind.decompose(a), b.kind.decompose(b), strict=True):
            np.testing.assert_allclose(step.axis, other.axis, atol=1e-9)
        np.testing.assert_array_equal((a.lower, a.upper), (b.lower, b.upper))


def helpers(obj: bpy.types.Object) -> list[str]:
    return [bone.name for bone in obj.data.bones if HELPER_KEY in bone]


@pytest.mark.parametrize("order", PROPER)
def test_a_proper_euler_order_has_a_bone_for_each_axis(scene, order):
    model = robot({"type": "gimbal", "order": order}, {"type": "revolute"})
    obj = build(model)
    assert helpers(obj) == ["j0 helper 1", "j0 helper 2"]
    assert_same_joints(robot_model(obj), model)
    own = [c for c in channel_table(obj) if c.role == "own"]
    assert [(c.bone, c.path) for c in own[:3]] == [
        (bone, "rotation_euler") for bone in ("j0 helper 1", "j0 helper 2", "j0")
    ]
    for q in np.random.default_rng(0).uniform(-9.0, 9.0, (5, model.nq)):  # turns are kept
        write_configuration(obj, q)
        np.testing.assert_allclose(read_configuration(obj), q, atol=1e-6)
        assert_shown(obj, model, q)


@pytest.mark.parametrize("kind", ["universal", "gimbal"])
def test_skew_axes(scene, kind):
    nv = JOINT_TYPES[kind].nv
    model = robot({"type": kind, "axes": SKEW[:nv], "lower": -1.0, "upper": 2.0}, {"type": "prismatic"})
    obj = build(model)
    assert len(helpers(obj)) == nv - 1
    assert_same_joints(robot_model(obj), model)
    rng = np.random.default_rng(1)
    for _ in range(5):
        q = random_configuration(model, rng)
        write_configuration(obj, q)
        assert_shown(obj, model, q)


def test_axes_of_its_own_that_are_square_need_no_helper(scene):
    turn = random_placement(np.random.default_rng(3))[:3, :3]
    model = robot({"type": "gimbal", "axes": turn})
    obj = build(model)
    assert not helpers(obj)
    for q in np.random.default_rng(0).uniform(-3.0, 3.0, (5, 3)):
        write_configuration(obj, q)
        np.testing.assert_allclose(read_configuration(obj), q, atol=1e-6)
        assert_shown(obj, model, q)


RETYPED = [
    {"joint_type": "gimbal"},
    {"joint_type": "gimbal", "gimbal_order": "YXY"},
    {"joint_type": "universal"},
    {"joint_type": "planar", "axis": (0.0, 0.6, 0.8)},
    {"joint_type": "floating"},
    {"joint_type": "spherical"},
    {"joint_type": "cylindrical", "axis": (0.0, 0.6, 0.8)},
    {"joint_type": "screw", "axis": (0.0, 0.6, 0.8), "pitch": 0.1},
    {"joint_type": "prismatic", "axis": (0.48, 0.6, 0.64)},
    {"joint_type": "gimbal", "use_axes": True, "axis_1": (1, 0, 0), "axis_2": (0, 1, 1), "axis_3": (0, 0, 1)},
]


@pytest.mark.parametrize("fields", RETYPED, ids=lambda f: "-".join(map(str, f.values())))
def test_any_bone_may_carry_any_joint(scene, fields):
    """The bone keeps its axes, which were chosen for another joint: askew to those of its link."""
    obj = build(robot({"type": "revolute", "axis": (1, 2, 3)}, {"type": "revolute", "axis": (0.3, 0.1, -1)}))
    settings = obj.data.bones["j0"].robokin
    for name, value in fields.items():
        setattr(settings, name, value)
    with pytest.raises(BridgeError, match=r"'j0'.*Update Helper Bones"):
        binding(obj)
    assert bpy.ops.robokin.helper_bones() == {"FINISHED"}
    model, rng = robot_model(obj), np.random.default_rng(2)
    assert helpers(obj)
    for _ in range(4):
        q = random_configuration(model, rng)
        write_configuration(obj, q)
        assert_shown(obj, model, q)
        again = forward_kinematics(model, read_configuration(obj)).array
        np.testing.assert_allclose(again, forward_kinematics(model, q).array, atol=2e-6)
    assert fit_helper_bones(bpy.context, obj) == 0  # nothing is left to do
    assert obj.data.bones["j0"].parent.name == helpers(obj)[-1]
    settings = obj.data.bones["j0"].robokin
    settings.use_axes = False
    settings.joint_type, settings.axis = "revolute", (1, 2, 3)
    assert bpy.ops.robokin.helper_bones() == {"FINISHED"}
    assert not helpers(obj) and obj.data.bones["j0"].parent.name == "l0"
    assert_shown(obj, robot_model(obj), read_configuration(obj))


def test_the_pose_of_other_joints_is_kept(scene):
    obj = build(robot({"type": "revolute"}, {"type": "revolute"}, {"type": "gimbal"}))
    write_configuration(obj, np.array([0.3, 7.0, 0.1, 0.2, -0.3]))
    obj.data.bones["j2"].robokin.gimbal_order = "ZXZ"
    bpy.ops.robokin.helper_bones()
    np.testing.assert_allclose(read_configuration(obj)[:2], [0.3, 7.0], atol=1e-6)


def test_helpers_follow_renames_duplicates_and_files(scene, tmp_path: Path):
    model = robot({"type": "gimbal", "order": "ZXZ"}, {"type": "universal", "axes": SKEW[:2]})
    obj = build(model)
    obj.data.bones["j0"].name = "hip.L"
    obj.data.bones["j0 helper 1"].name = "whatever"
    found = binding(obj)
    assert [c.bone for c in found.own_channels] == ["whatever", "j0 helper 2", "hip.L", "j1 helper", "j1"]
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in obj.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name in ("j1", "j1 helper")
    obj.data.edit_bones.active = obj.data.edit_bones["j1"]
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert robot_model(obj).nv == 7
    assert {c.bone for c in binding(obj).own_channels} >= {"j1.001", "j1 helper.001"}
    q = np.random.default_rng(0).uniform(-3, 3, 7)
    write_configuration(obj, q)
    assert_shown(obj, robot_model(obj), q)
    path = str(tmp_path / "helpers.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    again = bpy.data.objects["spread"]
    np.testing.assert_allclose(read_configuration(again), q, atol=1e-6)
    assert_shown(again, robot_model(again), q)


def test_a_duplicate_without_its_helpers_gets_some(scene):
    obj = build(robot({"type": "gimbal", "order": "ZXZ"}))
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in obj.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name == "j0"
    obj.data.edit_bones.active = obj.data.edit_bones["j0"]
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(BridgeError, match=r"'j0.001' hangs on 'j0 helper 1', a helper bone of 'j0'"):
        binding(obj)
    bpy.ops.robokin.helper_bones()
    assert obj.data.bones["j0.001 helper 1"].parent.name == obj.data.bones["j0 helper 1"].parent.name == "l0"
    q = np.array([0.4, 1.0, 2.0, -0.4, -1.0, 0.7])
    write_configuration(obj, q)
    assert_shown(obj, robot_model(obj), q)


@pytest.mark.parametrize("mode", ["OBJECT", "POSE", "EDIT"])
def test_a_joint_that_was_moved_takes_its_helpers_along(scene, mode):
    obj = build(robot({"type": "gimbal", "order": "XYX"}))
    bpy.ops.object.mode_set(mode="EDIT")
    bone = obj.data.edit_bones["j0"]
    bone.head.x += 0.4
    bone.tail.x += 0.4
    bone.roll += 0.3
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(BridgeError, match=r"'j0 helper 1' was moved against 'j0'.*Update Helper Bones"):
        binding(obj)
    bpy.ops.object.mode_set(mode=mode)
    assert fit_helper_bones(bpy.context, obj) == 1
    assert obj.mode == mode
    bpy.ops.object.mode_set(mode="OBJECT")
    q = np.array([0.4, 1.0, 2.0])
    write_configuration(obj, q)
    assert_shown(obj, robot_model(obj), q)


def test_bones_in_millimetres(scene):
    scene.unit_settings.scale_length = 0.001
    model = robot({"type": "gimbal", "order": "ZXZ"}, {"type": "gimbal", "order": "ZYZ"})
    obj = build(model)
    q = np.array([0.4, 1.0, 2.0, -0.3, 0.2, 0.1])
    write_configuration(obj, q)
    assert_same_joints(robot_model(obj), model)
    found = forward_kinematics(model, q)["l2"]
    bpy.context.view_layer.update()
    np.testing.assert_allclose(np.array(obj.pose.bones["j1"].matrix)[:3, 3] / 1000, found[:3, 3], atol=2e-6)


def test_locks_limits_and_the_panel(scene):
    model = robot({"type": "gimbal", "order": "ZXZ", "lower": [0.2, -9.0, -1.0], "upper": [1.0, -0.5, 1.0]})
    obj = build(model)
    assert in_limits(model, read_configuration(obj))
    own = [c for c in channel_table(obj) if c.role == "own"]
    for channel in own:
        bone = obj.pose.bones[channel.bone]
        assert [not locked for locked in bone.lock_rotation] == [i == channel.index for i in range(3)]
        assert all(bone.lock_location) and all(bone.lock_scale) and bone.custom_shape.name == "Robokin Ring"
    for value in (-30.0, 30.0):
        for channel in own:
            obj.pose.bones[channel.bone].rotation_euler[channel.index] = value / channel.factor
        bpy.context.view_layer.update()
        q = read_configuration(obj)
        assert in_limits(model, q)
        np.testing.assert_allclose(q, model.lower if value < 0 else model.upper, atol=1e-6)
    summaries = {joint_summary(obj, obj.data.bones[name]) for name in ("j0", "j0 helper 1", "j0 helper 2")}
    assert len(summaries) == 1
    summary = summaries.pop()
    assert summary.bone == "j0" and len(summary.channels) == 3 and len(summary.freedoms) == 3


def test_posed_by_ik_baked_and_read_back(scene):
    model = robot(
        {"type": "gimbal", "order": "ZXZ", "lower": -2.0, "upper": 2.0},
        {"type": "universal", "axes": SKEW[:2], "lower": -2.0, "upper": 2.0},
        {"type": "revolute", "lower": -2.0, "upper": 2.0},
        {"type": "fixed"},
    )
    obj = build(model)
    start, end = (random_configuration(model, np.random.default_rng(seed)) for seed in (3, 4))
    write_configuration(obj, start)
    bpy.context.view_layer.update()
    obj.data.bones.active = obj.data.bones["j3"]
    target = add_target(obj, "j3", "POSE")
    bpy.ops.robokin.store_posture()
    target.rotation_mode = "QUATERNION"
    for frame, q in ((1, start), (30, start + 0.2 * (end - start))):
        write_configuration(obj, q)
        bpy.context.view_layer.update()
        target.matrix_world = obj.pose.bones["j3"].matrix @ _bone_to_link(obj, "j3")
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.view_layer.objects.active = obj
    report = Path(bpy.app.tempdir) / "report.json"
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=30, report_path=str(report)) == {"FINISHED"}
    assert obj.robokin.solver.bake_status == "CONVERGED", obj.robokin.solver.bake_reason
    assert len(fcurves(obj)) == model.nq
    for row in json.loads(report.read_text())["frames"][::7]:
        scene.frame_set(row["frame"])
        solved = model.configuration(row["q"])
        np.testing.assert_allclose(read_configuration(obj), solved, atol=1e-6)
        assert_shown(obj, model, solved)


def _bone_to_link(obj: bpy.types.Object, bone: str):
    from mathutils import Matrix

    found = binding(obj)
    return Matrix(found.frames[found.bones.index(bone)].T.tolist()).to_4x4()


def test_a_target_at_a_helper_is_one_at_its_joint(scene):
    obj = build(robot({"type": "gimbal", "order": "ZXZ"}))
    bpy.ops.object.mode_set(mode="POSE")
    obj.data.bones.active = obj.data.bones["j0 helper 1"]
    helper = obj.pose.bones["j0 helper 1"]
    (helper if hasattr(helper, "select") else helper.bone).select = True
    assert bpy.ops.robokin.target_add(kind="POSE") == {"FINISHED"}
    assert obj.robokin.tasks[-1].tip == "j0"


def test_a_damaged_helper_is_named(scene):
    obj = build(robot({"type": "gimbal", "order": "ZXZ"}))
    obj.data.bones["j0 helper 1"][HELPER_KEY] = "{}"
    with pytest.raises(BridgeError, match="helper bone 'j0 helper 1'"):
        binding(obj)


def test_records_of_the_first_version_are_read(scene):
    model = robot({"type": "gimbal", "order": "XYZ"}, {"type": "revolute"})
    obj = build(model)
    for bone in obj.data.bones:
        record = json.loads(bone[KEY])
        record["version"] = 1
        del record["joint"]["axes"], record["joint"]["drive"]
        bone[KEY] = json.dumps(record)
    assert_same_joints(robot_model(obj), model)


def test_a_side_stays_at_the_end_of_the_name(scene):
    links = [Link("a"), Link("b")]
    obj = build(RobotModel("r", links, [Joint("hip.L", "gimbal", "a", "b", order="ZXZ")]))
    assert helpers(obj) == ["hip helper 1.L", "hip helper 2.L"]
    assert math.isclose(obj.data.bones["hip helper 1.L"].length, obj.data.bones["hip.L"].length, rel_tol=1e-5)
