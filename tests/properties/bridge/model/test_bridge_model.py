"""Armature -> RobotModel: exact, cached, following edits of bones and fields."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import BridgeError, binding, binding_held, is_robot, robot_model
from robokin_addon.properties.bridge.model.binding import _cache
from robokin_addon.properties.bridge.record.stored import KEY
from robokin_addon.robokin import Joint, Link, Mimic, ModelError, RobotModel, load_urdf, urdf_text
from support.blender.scene_robots import build
from support.random_problems.random_trees import random_robot
from support.robots import robot


@pytest.mark.parametrize("name", ["panda", "ur5_robot", "tiago", "romeo_small"])
@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_a_urdf_comes_back_bit_for_bit(scene: bpy.types.Scene, tmp_path: Path, name: str, unit: float) -> None:
    scene.unit_settings.scale_length = unit
    model = load_urdf(robot(name))
    obj = build(model)
    assert urdf_text(robot_model(obj)) == urdf_text(model)
    path = str(tmp_path / "robot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    again = robot_model(next(o for o in bpy.data.objects if is_robot(o)))
    assert urdf_text(again) == urdf_text(model)
    assert [j.name for j in again.joints] == [j.name for j in model.joints]


@pytest.mark.parametrize("root", ["fixed", "floating", "planar"])
def test_random_trees_come_back_whole(scene: bpy.types.Scene, root: str) -> None:
    for seed in range(5):
        model = random_robot(seed, root=root)
        back = robot_model(build(model))
        assert (back.nq, back.nv, back.root) == (model.nq, model.nv, root)
        for mine, theirs in zip(back.joints, model.joints, strict=True):
            assert (mine.name, mine.type, mine.parent, mine.child, mine.mimic) == (
                theirs.name, theirs.type, theirs.parent, theirs.child, theirs.mimic,
            )  # fmt: skip
            for name in ("placement", "axis", "lower", "upper", "velocity", "effort"):
                assert (getattr(mine, name) == getattr(theirs, name)).all(), (seed, mine.name, name)
        for mine, theirs in zip(back.links, model.links, strict=True):
            assert (
                mine.mass == theirs.mass and (mine.com == theirs.com).all() and (mine.inertia == theirs.inertia).all()
            )


def test_the_model_is_the_same_object_until_something_changes(scene: bpy.types.Scene) -> None:
    obj = build(load_urdf(robot("panda")))
    first = robot_model(obj)
    obj.pose.bones["panda_joint2"].rotation_euler[1] = 0.5
    obj.location = (1, 2, 3)
    bpy.context.view_layer.update()
    assert robot_model(obj) is first
    obj.data.bones["panda_joint2"].robokin.upper = 0.25
    assert robot_model(obj) is not first


def test_a_held_binding_is_not_looked_at_anew_and_let_go_again(scene: bpy.types.Scene) -> None:
    obj = build(load_urdf(robot("panda")))
    limit = obj.data.bones["panda_joint2"].robokin
    with pytest.raises(KeyError), binding_held(obj) as held, binding_held(obj):
        limit.upper = 0.25
        assert robot_model(obj) is held.model
        raise KeyError
    assert robot_model(obj).joint("panda_joint2").upper.tolist() == [0.25]


def test_edited_fields_change_the_model_and_nothing_else(scene: bpy.types.Scene) -> None:
    model = load_urdf(robot("panda"))
    obj = build(model)
    settings = obj.data.bones["panda_joint2"].robokin
    settings.upper = 0.1
    settings.mass = 2.7
    settings.use_velocity = False
    back = robot_model(obj)
    # What was typed, not its single precision neighbour.
    assert back.joint("panda_joint2").upper.tolist() == [0.1]
    assert back.link("panda_link2").mass == 2.7
    assert np.isinf(back.joint("panda_joint2").velocity).all()
    assert back.joint("panda_joint2").lower.tolist() == model.joint("panda_joint2").lower.tolist()
    assert (back.link("panda_link2").inertia == model.link("panda_link2").inertia).all()
    assert back.joint("panda_joint3").upper.tolist() == model.joint("panda_joint3").upper.tolist()


def test_fields_that_were_lost_are_no_edit(scene: bpy.types.Scene) -> None:
    """A 5.x file opened in 4.5 has no registered properties on bones."""
    model = load_urdf(robot("panda"))
    obj = build(model)
    for bone in obj.data.bones:
        bone.property_unset("robokin")
    assert urdf_text(robot_model(obj)) == urdf_text(model)


def test_impossible_fields_are_named(scene: bpy.types.Scene) -> None:
    obj = build(load_urdf(robot("panda")))
    obj.data.bones["panda_joint2"].robokin.lower = 3.0
    with pytest.raises(ModelError, match=r"panda_joint2.*lower limit"):
        robot_model(obj)


def test_a_moved_bone_moves_its_joint(scene: bpy.types.Scene) -> None:
    model = load_urdf(robot("panda"))
    obj = build(model)
    bpy.ops.object.mode_set(mode="EDIT")
    for name in [j.name for j in model.joints[3:]]:  # joint 3 and all after it, as one
        if name in obj.data.edit_bones:
            obj.data.edit_bones[name].translate(obj.data.edit_bones[name].vector.__class__((0.0, 0.0, 0.125)))
    bpy.ops.object.mode_set(mode="OBJECT")
    back = robot_model(obj)
    moved = [j.name for j, k in zip(back.joints, model.joints, strict=True) if abs(j.placement - k.placement).max() > 0]
    assert moved == ["panda_joint3"]
    before, after = model.joint("panda_joint3").placement, back.joint("panda_joint3").placement
    assert np.linalg.norm(after[:3, 3] - before[:3, 3]) == pytest.approx(0.125, abs=1e-6)
    assert abs(after[:3, :3] - before[:3, :3]).max() < 2e-6


def test_the_axis_is_the_bones_y(scene: bpy.types.Scene) -> None:
    obj = build(load_urdf(robot("panda")))
    model = robot_model(obj)
    for joint in model.moving_joints:
        slots = [c for c in _channels(obj) if c.bone == joint.name]
        assert [(c.index, c.sign) for c in slots] == [(1, 1.0)]


def _channels(obj: bpy.types.Object) -> tuple:
    from robokin_addon.properties.bridge import channel_table

    return channel_table(obj)


def test_a_renamed_bone_renames_its_joint_and_mimics_follow(scene: bpy.types.Scene) -> None:
    links = [Link(n) for n in ("base", "a", "b")]
    joints = [Joint("one", "revolute", "base", "a"), Joint("two", "revolute", "base", "b", mimic=Mimic("one", 2.0))]
    obj = build(RobotModel("pair", links, joints))
    obj.data.bones["one"].name = "uno"
    model = robot_model(obj)
    assert model.joint("two").mimic == Mimic("uno", 2.0)
    assert binding(obj).bone_of_link == {"base": "base", "a": "uno", "b": "two"}


def test_a_mimic_joint_is_driven_by_its_renamed_source(scene: bpy.types.Scene) -> None:
    obj = build(load_urdf(robot("panda")))
    obj.data.bones["panda_finger_joint1"].name = 'left "finger"'
    bpy.context.view_layer.update()
    obj.pose.bones['left "finger"'].location[1] = 0.03
    bpy.context.view_layer.update()
    assert obj.pose.bones["panda_finger_joint2"].location[1] == pytest.approx(0.03)


def test_long_and_clashing_names_stay_whole(scene: bpy.types.Scene) -> None:
    long = "é" * 40  # 80 bytes
    links = [Link("base"), Link("a"), Link("b")]
    joints = [Joint(long + "1", "revolute", "base", "a"), Joint(long + "2", "revolute", "base", "b")]
    model = RobotModel("long", links, joints)
    obj = build(model)
    assert all(len(bone.name.encode()) <= 63 for bone in obj.data.bones)
    assert [j.name for j in robot_model(obj).joints] == [j.name for j in model.joints]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda obj: setattr(obj.data.bones["panda_joint3"], "use_inherit_rotation", False), "panda_joint3.*Inherit"),
        (lambda obj: obj.pose.bones["panda_joint3"].constraints.new("COPY_ROTATION"), "panda_joint3.*Copy Rotation"),
        (lambda obj: obj.data.bones["panda_joint3"].__setitem__(KEY, "{"), "panda_joint3.*not JSON"),
        (lambda obj: obj.data.bones["panda_joint3"].__setitem__(KEY, '{"version": 99}'), "panda_joint3.*version 99"),
        (lambda obj: obj.data.bones["panda_joint3"].__setitem__(KEY, '{"version": 1}'), "panda_joint3.*damaged"),
    ],
)
def test_what_no_robot_may_have_is_refused_by_name(scene: bpy.types.Scene, spoil: object, words: str) -> None:
    obj = build(load_urdf(robot("panda")))
    robot_model(obj)
    spoil(obj)
    with pytest.raises(BridgeError, match=words):
        robot_model(obj)


def test_a_bone_between_joints_may_be_there_but_not_move(scene: bpy.types.Scene) -> None:
    obj = build(load_urdf(robot("panda")))
    before = urdf_text(robot_model(obj))
    bpy.ops.object.mode_set(mode="EDIT")
    bones = obj.data.edit_bones
    extra = bones.new("extra")
    extra.tail, extra.parent = (0.0, 0.0, 0.1), bones["panda_joint3"]
    bones["panda_joint4"].parent = extra
    bpy.ops.object.mode_set(mode="OBJECT")
    assert urdf_text(robot_model(obj)) == before
    obj.pose.bones["extra"].location = (0.1, 0.0, 0.0)
    with pytest.raises(BridgeError, match=r"'extra'.*clear its pose"):
        robot_model(obj)


def test_what_is_no_robot(scene: bpy.types.Scene) -> None:
    empty = bpy.data.objects.new("empty", None)
    plain = bpy.data.objects.new("plain", bpy.data.armatures.new("plain"))
    assert not is_robot(None) and not is_robot(empty) and not is_robot(plain)
    with pytest.raises(BridgeError, match="plain"):
        robot_model(plain)


def test_another_unit_scale_rereads_the_bones(scene: bpy.types.Scene) -> None:
    """A Blender unit that becomes a centimetre makes the same bones a robot of a hundredth of the size."""
    model = load_urdf(robot("panda"))
    obj = build(model)
    scene.unit_settings.scale_length = 0.01
    small = robot_model(obj)
    for mine, theirs in zip(small.joints, model.joints, strict=True):
        np.testing.assert_allclose(mine.placement[:3, 3], 0.01 * theirs.placement[:3, 3], atol=1e-15)
    assert small.joint("panda_finger_joint1").upper == pytest.approx(0.01 * model.joint("panda_finger_joint1").upper)
    assert small.joint("panda_joint1").upper == model.joint("panda_joint1").upper


def test_mimics_of_another_kind_follow_the_unit_scale(scene: bpy.types.Scene) -> None:
    """A slider that follows a hinge has its multiplier in metres per radian, its offset in metres."""
    joints = [
        Joint("turn", "revolute", "base", "a"),
        Joint("slide", "prismatic", "base", "b", mimic=Mimic("turn", 0.5, 0.2)),
        Joint("turn back", "revolute", "base", "c", mimic=Mimic("slide", 3.0, 0.1)),
    ]
    obj = build(RobotModel("geared", [Link(n) for n in ("base", "a", "b", "c")], joints))
    scene.unit_settings.scale_length = 0.01
    small = robot_model(obj)
    assert astuple(small.joint("slide").mimic) == ("turn", pytest.approx(0.005), pytest.approx(0.002))
    assert astuple(small.joint("turn back").mimic) == ("slide", pytest.approx(300.0), pytest.approx(0.1))


def test_the_models_of_all_robots_of_a_file_are_kept_and_no_others(scene: bpy.types.Scene) -> None:
    robots = [build(RobotModel("arm", [Link("base")], [])) for _ in range(40)]
    models = [robot_model(obj) for obj in robots]
    assert [robot_model(obj) for obj in robots] == models
    for obj in robots[1:]:
        bpy.data.armatures.remove(obj.data)
    build(RobotModel("arm", [Link("base")], []))
    assert len(_cache) <= 2
    assert robot_model(robots[0]) is models[0]
