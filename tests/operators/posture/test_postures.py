"""Stored postures: kept by names, through renames and changes of the robot; home, mirror, text, SRDF; old files."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.properties.bridge import (
    binding,
    build_armature,
    read_configuration,
    robot_model,
    write_configuration,
)
from robokin_addon.properties.postures import posture_configuration, start_configuration
from robokin_addon.properties.selected.selection import select
from robokin_addon.robokin import (
    Joint,
    Link,
    RobotModel,
    clamp,
    format_joint_values,
    in_limits,
    parse_joint_values,
    random_configuration,
)
from robokin_addon.scene.animation.frames import fcurves
from support.blender.scene_robots import READY, add_robot, model_of
from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot as urdf_of
from support.robots import robot_data

NEAR = 1e-6  # channels are single precision


@pytest.fixture
def panda(scene):
    return add_robot()


def pose(obj, seed):
    """A random pose inside the limits, as the channels hold it."""
    write_configuration(obj, random_configuration(robot_model(obj), np.random.default_rng(seed)))
    return read_configuration(obj)


def names(obj):
    return [item.name for item in obj.robokin.postures]


def test_a_posture_comes_back(panda):
    wanted = pose(panda, 1)
    assert bpy.ops.robokin.posture_add(name="reach") == {"FINISHED"}
    pose(panda, 2)
    assert bpy.ops.robokin.posture_apply(name="reach") == {"FINISHED"}
    assert np.array_equal(read_configuration(panda), wanted)
    other = pose(panda, 3)
    assert bpy.ops.robokin.posture_overwrite(name="reach") == {"FINISHED"}
    pose(panda, 4)
    bpy.ops.robokin.posture_apply()
    assert np.array_equal(read_configuration(panda), other)


def test_names_are_unique_and_references_follow(panda):
    assert names(panda) == ["Start"] and panda.robokin.solver.posture == "Start"
    bpy.ops.robokin.posture_add(name="Start")
    assert names(panda) == ["Start", "Start.001"] and panda.robokin.active_posture == 1
    bpy.ops.robokin.posture_role(name="Start", role="HOME")
    panda.robokin.postures["Start"].name = "ready"
    assert panda.robokin.solver.posture == panda.robokin.home_posture == "ready"
    panda.robokin.postures["Start.001"].name = "ready"
    assert names(panda) == ["ready", "ready.001"] and panda.robokin.solver.posture == "ready"
    panda.robokin.postures["ready"].name = " "
    assert names(panda)[0] == "ready"


def test_the_list_is_moved_and_shortened(panda):
    for name in "abc":
        bpy.ops.robokin.posture_add(name=name)
    assert bpy.ops.robokin.posture_move(direction="DOWN") == {"CANCELLED"}
    bpy.ops.robokin.posture_move(direction="UP")
    assert names(panda) == ["Start", "a", "c", "b"] and panda.robokin.active_posture == 2
    bpy.ops.robokin.posture_remove(name="Start")
    assert names(panda) == ["a", "c", "b"] and panda.robokin.solver.posture == "" and panda.robokin.active_posture == 1
    for _ in range(3):
        bpy.ops.robokin.posture_remove()
    assert names(panda) == []
    with pytest.raises(RuntimeError, match="has no stored posture"):
        bpy.ops.robokin.posture_apply()
    with pytest.raises(RuntimeError, match="no stored posture named 'b'"):
        bpy.ops.robokin.posture_apply(name="b")


def test_renamed_removed_and_added_joints(scene):
    obj = add_robot()
    wanted = pose(obj, 5)
    bpy.ops.robokin.posture_add(name="kept")
    obj.data.bones["panda_joint2"].name = "shoulder"
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bones = obj.data.edit_bones
    for name in ("panda_finger_joint1", "panda_finger_joint2"):
        bones.remove(bones[name])
    bpy.ops.object.mode_set(mode="OBJECT")
    model = robot_model(obj)
    assert "shoulder" in [joint.name for joint in model.joints] and model.nq == 7
    pose(obj, 6)
    assert bpy.ops.robokin.posture_apply(name="kept") == {"FINISHED"}
    assert read_configuration(obj) == pytest.approx(wanted[:7], abs=NEAR)


def test_a_posture_of_some_joints_leaves_the_others(panda):
    for bone in panda.pose.bones:
        select(bone, bone.name in ("panda_joint2", "panda_joint4"))
    held = pose(panda, 7)
    assert bpy.ops.robokin.posture_add(name="part", selected=True) == {"FINISHED"}
    assert json.loads(panda.robokin.postures["part"].values).keys() == {"panda_joint2", "panda_joint4"}
    before = pose(panda, 8)
    bpy.ops.robokin.posture_apply(name="part")
    after = read_configuration(panda)
    assert np.array_equal(after[[1, 3]], held[[1, 3]]) and np.array_equal(
        after[[0, 2, 4, 5, 6, 7]], before[[0, 2, 4, 5, 6, 7]]
    )
    panda.robokin.solver.posture = "part"
    start = start_configuration(panda, robot_model(panda), "POSTURE")
    assert np.array_equal(start[[1, 3]], held[[1, 3]]) and start[0] == 0.0


def test_home(panda):
    model = robot_model(panda)
    pose(panda, 9)
    bpy.ops.robokin.home()
    assert read_configuration(panda) == pytest.approx(clamp(model, model.neutral()), abs=NEAR)
    wanted = pose(panda, 10)
    bpy.ops.robokin.posture_add(name="Home")
    bpy.ops.robokin.reset_pose()
    bpy.ops.robokin.home()
    assert np.array_equal(read_configuration(panda), wanted)
    bpy.ops.robokin.posture_role(name="Start", role="HOME")
    bpy.ops.robokin.home()
    assert read_configuration(panda)[:7] == pytest.approx(READY, abs=NEAR)
    bpy.ops.robokin.posture_role(name="Start", role="HOME")
    assert panda.robokin.home_posture == ""


def test_narrowed_limits_hold_for_postures(panda):
    write_configuration(panda, robot_model(panda).configuration({"panda_joint1": 2.5, "panda_joint4": -2}))
    bpy.ops.robokin.posture_add(name="far")
    panda.data.bones["panda_joint1"].robokin.upper = 1.0
    bpy.ops.robokin.posture_apply(name="far")
    assert read_configuration(panda)[0] <= 1.0 and in_limits(robot_model(panda), read_configuration(panda))


@pytest.mark.parametrize("values", ["", "{", "[1]", "null", "1" * 400, "[" * 5000])
def test_a_damaged_posture_is_said(panda, values):
    before = read_configuration(panda)
    bpy.ops.robokin.posture_add(name="odd")
    panda.robokin.postures["odd"].values = values
    with pytest.raises(RuntimeError, match="'odd' of 'panda' is damaged"):
        bpy.ops.robokin.posture_apply(name="odd")
    panda.robokin.postures[
        "odd"
    ].values = '{"panda_joint1": "far", "panda_joint2": [1, 2], "panda_joint3": 0.25, "x": 1}'
    assert bpy.ops.robokin.posture_apply(name="odd") == {"FINISHED"}
    assert read_configuration(panda)[:4] == pytest.approx([before[0], before[1], 0.25, before[3]], abs=NEAR)


def test_applying_keys_where_keys_are_wanted(panda, auto_keying):
    bpy.ops.robokin.posture_apply(name="Start")
    assert panda.animation_data is not None and panda.animation_data.action is not None


def test_files_of_one_posture_without_a_name_have_it_in_the_list(panda, tmp_path):
    values = {f"panda_joint{i + 1}": x for i, x in enumerate(READY)}
    panda.robokin.postures.clear()
    panda.robokin.solver.posture = json.dumps(values)
    assert start_configuration(panda, robot_model(panda), "POSTURE")[:7] == pytest.approx(READY)
    path = str(tmp_path / "old.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["panda"]
    assert names(obj) == ["Posture"] and obj.robokin.solver.posture == "Posture"
    assert json.loads(obj.robokin.postures[0].values) == values
    assert start_configuration(obj, robot_model(obj), "POSTURE")[:7] == pytest.approx(READY)
    obj.data.bones["panda_joint2"].name = "shoulder"
    assert start_configuration(obj, robot_model(obj), "POSTURE")[:7] == pytest.approx(READY)


def test_postures_are_kept_in_the_file(panda, tmp_path):
    wanted = pose(panda, 11)
    bpy.ops.robokin.posture_add(name="kept")
    bpy.ops.robokin.posture_role(name="kept", role="START")
    path = str(tmp_path / "kept.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["panda"]
    assert names(obj) == ["Start", "kept"]
    assert np.array_equal(start_configuration(obj, robot_model(obj), "POSTURE"), wanted)


def test_the_mirrored_posture_of_a_humanoid(scene):
    """Pinocchio says where the hands are."""
    obj = add_robot("talos_full_v2")
    model = robot_model(obj)
    write_configuration(
        obj, model.configuration({"arm_left_1_joint": 0.3, "arm_left_4_joint": -1.0, "torso_1_joint": 0.2})
    )
    bpy.ops.robokin.posture_add(name="wave left")
    assert bpy.ops.robokin.posture_mirror() == {"FINISHED"}
    assert names(obj) == ["wave left", "wave right"]
    oracle = Oracle.from_urdf(model_of("talos_full_v2"), urdf_of("talos_full_v2"))
    model, postures = robot_model(obj), obj.robokin.postures
    before, after = (
        oracle.frames(posture_configuration(model, postures[name])) for name in ("wave left", "wave right")
    )
    for a, b in (("left", "right"), ("right", "left")):
        hand = before[f"arm_{a}_7_link"][:3, 3] * (1, -1, 1)
        assert np.allclose(hand, after[f"arm_{b}_7_link"][:3, 3], atol=1e-6)
    bpy.ops.robokin.posture_apply(name="wave left")
    bpy.ops.robokin.mirror_pose()
    wanted = posture_configuration(robot_model(obj), obj.robokin.postures["wave right"])
    assert read_configuration(obj) == pytest.approx(wanted, abs=NEAR)


def test_text_poses_the_robot(panda):
    text = "panda_joint1: 20 deg\nelbow: 3\npanda_joint2: 200 deg\npanda_finger_joint1: 10 mm"
    assert bpy.ops.robokin.paste_joint_values(text=text) == {"FINISHED"}
    q, model = read_configuration(panda), robot_model(panda)
    assert q[0] == pytest.approx(np.radians(20), abs=NEAR) and q[7] == pytest.approx(0.01, abs=NEAR)
    assert q[1] == pytest.approx(model.upper[1], abs=NEAR) and q[1] <= model.upper[1]
    assert q[2] == pytest.approx(READY[2], abs=NEAR)
    with pytest.raises(RuntimeError, match=r"'panda_joint3'.*'fast'"):
        bpy.ops.robokin.paste_joint_values(text="panda_joint3: fast")
    with pytest.raises(RuntimeError, match="no joint named 'elbow'"):
        bpy.ops.robokin.paste_joint_values(text="elbow: 3")
    assert np.array_equal(read_configuration(panda), q)
    bpy.ops.robokin.paste_joint_values(text="panda_joint1: -20", degrees=True)
    assert read_configuration(panda)[0] == pytest.approx(np.radians(-20), abs=NEAR)


def test_text_of_a_robot_with_every_kind_of_coordinate(scene):
    joints = [
        Joint("plane", "planar", "base", "a"),
        Joint("cross", "universal", "a", "b"),
        Joint("turn", "revolute", "b", "c", axis=(0, 1, 0), lower=-2.0, upper=2.0),
    ]
    model = RobotModel("mixed", [Link(name) for name in ("base", "a", "b", "c")], joints, "floating")
    obj = build_armature(bpy.context, bpy.context.scene.collection, model)
    wanted = pose(obj, 12)
    text = format_joint_values(model, model.joint_values(wanted))
    pose(obj, 13)
    assert bpy.ops.robokin.paste_joint_values(text=text) == {"FINISHED"}
    assert read_configuration(obj) == pytest.approx(wanted, abs=NEAR)
    assert parse_joint_values(model, text).values.keys() == model.joint_values(wanted).keys()


def test_srdf_in_and_out(panda, tmp_path):
    srdf = robot_data() / "panda_description/srdf/panda.srdf"
    assert bpy.ops.robokin.import_srdf(filepath=str(srdf)) == {"FINISHED"}
    assert names(panda) == ["Start", "default"]
    oracle = Oracle.from_urdf(model_of("panda"), urdf_of("panda"))
    pin.loadReferenceConfigurations(oracle.pin_model, str(srdf), False)
    q = posture_configuration(robot_model(panda), panda.robokin.postures["default"])
    assert q[:7] == pytest.approx(oracle.pin_model.referenceConfigurations["default"][:7])
    path = tmp_path / "out.srdf"
    assert bpy.ops.robokin.export_srdf(filepath=str(path)) == {"FINISHED"}
    stored = {item.name: json.loads(item.values) for item in panda.robokin.postures}
    panda.robokin.postures.clear()
    bpy.ops.robokin.import_srdf(filepath=str(path))
    assert {item.name: json.loads(item.values) for item in panda.robokin.postures} == stored
    with pytest.raises(RuntimeError, match=r"none\.srdf: no such file"):
        bpy.ops.robokin.import_srdf(filepath=str(tmp_path / "none.srdf"))


def test_the_slider_moves_the_joint_within_its_range(panda):
    bone = panda.pose.bones["panda_joint4"]
    channel = next(c for c in binding(panda).own_channels if c.bone == bone.name)
    for share in (0.0, 100.0, 25.0):
        bone.robokin_range = share
        q = read_configuration(panda)[3]
        assert q == pytest.approx(channel.lower + share / 100 * (channel.upper - channel.lower), abs=NEAR)
        assert channel.lower <= q <= channel.upper
        assert bone.robokin_range == pytest.approx(share, abs=1e-3)
    before = read_configuration(panda)
    panda.pose.bones["panda_hand_tcp_joint"].robokin_range = 50.0  # fixed: nothing to move
    panda.pose.bones["panda_finger_joint2"].robokin_range = 50.0  # follows another
    assert np.array_equal(read_configuration(panda), before)


def test_the_slider_is_keyed_as_the_preferences_say(panda, auto_keying):
    bone = panda.pose.bones["panda_joint4"]
    auto_keying.use_keyframe_insert_available = True
    bone.robokin_range = 60.0
    assert not fcurves(panda)
    auto_keying.use_keyframe_insert_available = False
    bone.robokin_range = 75.0
    assert [path for path, _ in fcurves(panda)] == [bone.path_from_id("rotation_euler")]


def test_the_list_of_joints_follows_the_active_bone(panda):
    index = panda.pose.bones.find("panda_joint5")
    panda.robokin.active_joint = index
    assert panda.data.bones.active.name == "panda_joint5"
    panda.data.bones.active = panda.data.bones["panda_joint2"]
    assert panda.robokin.active_joint == panda.pose.bones.find("panda_joint2")


def test_a_change_of_units_keeps_values_of_joints_that_are_not_there(panda, scene):
    bpy.ops.robokin.posture_add(name="all")
    item = panda.robokin.postures["all"]
    before = json.loads(item.values)
    item.values = json.dumps(before | {"gone": 0.3, "panda_finger_joint1": 0.02})
    item.links = json.dumps(json.loads(item.links) | {"gone": "tool"})
    scene.unit_settings.scale_length = 0.1
    bpy.context.view_layer.update()
    after = json.loads(item.values)
    assert after["panda_finger_joint1"] == pytest.approx(0.002) and after["gone"] == 0.3
    assert set(after) == {*before, "gone"} and json.loads(item.links)["gone"] == "tool"


def test_no_bone_selected_names_the_robot_and_the_way_out(scene):
    robot = add_robot()
    for bone in robot.pose.bones:
        select(bone, False)
    with pytest.raises(RuntimeError, match="'panda': no bone of a moving joint is selected"):
        bpy.ops.robokin.posture_add(selected=True)
    assert len(robot.robokin.postures) == 1
