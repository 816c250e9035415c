"""The list of joint values: a slider for each joint, and names and values that can be read."""

from __future__ import annotations

import math
from itertools import pairwise

import bpy
import pytest
from robokin_addon.panels.joint_values import MOST, NAMES, ROBOKIN_UL_joint_values
from robokin_addon.properties.bridge import build_armature
from robokin_addon.robokin import Joint, Link, RobotModel
from support.blender.panels import draw
from support.blender.scene_robots import add_robot


@pytest.fixture
def panda(scene):
    return add_robot()


def test_joint_values_show_every_moving_joint_and_a_range_where_there_is_one(panda):
    panda.pose.bones["panda_finger_joint1"].location[1] = 0.001
    bpy.context.view_layer.update()
    drawn = draw()["ROBOKIN_PT_joint_values"]
    labels = [label for label in drawn["labels"] if label]
    assert labels == [*(f"joint{i}" for i in range(1, 8)), "finger_joint1", "finger_joint2", "1 mm"]
    assert drawn["props"].count("robokin_range") == 8
    assert {"-115\u00b0", "1 mm"} <= set(drawn["texts"])


def test_a_joint_that_follows_cannot_be_moved_there_and_says_what_it_follows(panda):
    """Its value is shown, and none of its fields: a driver would move it back."""
    for name, said in (("panda_finger_joint2", 1), ("panda_finger_joint1", 0)):
        panda.robokin.active_joint = panda.pose.bones.find(name)
        drawn = draw()["ROBOKIN_PT_joint_values"]
        assert " ".join(drawn["labels"]).count("Follows panda_finger_joint1") == said
        assert drawn["props"].count("robokin_range") == 8


def test_values_stand_in_sliders_wide_enough_for_them_where_the_list_scrolls(scene):
    """Beside it half a slider cuts off 100 %."""
    assert bpy.ops.robokin.add_robot(robot="humanoid") == {"FINISHED"}
    obj = bpy.context.object
    bone = next(bone for bone in obj.pose.bones if bone.bone.robokin.joint_type == "revolute")
    bone.rotation_euler[1] = math.radians(-7.5)
    drawn = draw()["ROBOKIN_PT_joint_values"]
    assert drawn["props"].count("robokin_range") > MOST
    assert "-7.5\u00b0" in drawn["texts"] and "-7.5\u00b0" not in drawn["labels"]
    assert ROBOKIN_UL_joint_values.share == NAMES < 0.45
    assert {"L_ankl_pitc", "R_ankl_pitc"} <= set(drawn["labels"])
    bone.bone.robokin.joint_type = "prismatic"  # lengths are longer
    draw()
    assert ROBOKIN_UL_joint_values.share < 0.9 * NAMES


def test_the_name_of_a_base_that_drives_is_whole_beside_its_place(scene):
    """In a list that scrolls, as that of a robot with many joints: names are narrow there."""
    links = ["base_footprint_link", *(f"link{i}" for i in range(13))]
    joints = [Joint(child, "revolute", parent, child) for parent, child in pairwise(links)]
    build_armature(bpy.context, bpy.context.scene.collection, RobotModel("r", map(Link, links), joints, "planar"))
    names = [label for label in draw()["ROBOKIN_PT_joint_values"]["labels"] if label.startswith("base")]
    assert names == ["base_footprint_link"]


def test_short_names_leave_room_for_values(panda):
    """Of lengths, which Blender cuts off in a slider of half the width."""
    draw()
    assert ROBOKIN_UL_joint_values.share == NAMES
    assert bpy.ops.robokin.add_robot(robot="gantry") == {"FINISHED"}
    draw()
    assert ROBOKIN_UL_joint_values.share < 0.9 * NAMES


def test_the_values_of_the_chosen_joint_can_be_typed(panda):
    panda.data.bones.active = panda.data.bones["panda_joint4"]
    assert ("rotation_euler", 1) in draw()["ROBOKIN_PT_joint_values"]["props"]


def test_a_ball_is_three_angles(scene):
    assert bpy.ops.robokin.add_robot(robot="puppet") == {"FINISHED"}
    obj = bpy.context.object
    bone = obj.pose.bones["waist"]
    obj.data.bones.active = bone.bone
    drawn = draw()["ROBOKIN_PT_joint_values"]
    assert "robokin_angles" in drawn["props"] and not [p for p in drawn["props"] if p[0] == "rotation_quaternion"]
    for angles in ((0.1, -0.2, 0.05), (0.0, 0.0, 0.0)):
        bone.robokin_angles = angles
        assert tuple(bone.robokin_angles) == pytest.approx(angles, abs=1e-6)
        assert tuple(bone.rotation_quaternion.to_euler()) == pytest.approx(angles, abs=1e-6)
    bone.robokin_angles = (3.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert abs(bone.robokin_angles[0]) < 2.0  # its cone


def test_a_floating_base_shows_where_it_is_and_how_it_is_turned(scene):
    joints = [Joint("elbow", "revolute", "body", "arm", lower=-1.0, upper=1.0)]
    model = RobotModel("r", [Link("body"), Link("arm")], joints, "floating")
    obj = build_armature(bpy.context, bpy.context.scene.collection, model)
    base = obj.pose.bones["body"]
    base.location = (0.0, 1.25, 0.0)
    obj.data.bones.active = base.bone
    drawn = draw(object=obj, active_object=obj)["ROBOKIN_PT_joint_values"]
    assert any("1.25 m" in label and "\u00b0" not in label for label in drawn["labels"])
    assert {("location", 0), ("location", 1), ("location", 2), "robokin_angles"} <= set(drawn["props"])


def test_joint_values_of_joints_with_several_coordinates(scene):
    joints = [Joint("cross", "universal", "base", "a"), Joint("wheel", "continuous", "a", "b")]
    model = RobotModel("r", [Link(name) for name in ("base", "a", "b")], joints, "planar")
    build_armature(bpy.context, bpy.context.scene.collection, model)
    drawn = draw()["ROBOKIN_PT_joint_values"]
    assert [p for p in drawn["props"] if isinstance(p, tuple)] == [("rotation_euler", 1)]  # of the wheel
    assert "robokin_range" not in drawn["props"]
    obj = bpy.context.object
    obj.pose.bones["cross"].rotation_euler = math.radians(-129.24), 0.0, math.radians(2.04)
    assert "-129\u00b0 2\u00b0" in [text.strip() for text in draw()["ROBOKIN_PT_joint_values"]["labels"]]
