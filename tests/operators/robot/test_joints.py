"""Joints of many bones at once: set, copied; all or nothing."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, build_armature, keep_edits, robot_model
from robokin_addon.properties.bridge.editing.records import bone_record
from robokin_addon.properties.bridge.record.fields import field_values, read_fields, stored_fields
from robokin_addon.properties.bridge.record.stored import KEY
from robokin_addon.robokin import Joint, Link, RobotModel
from support.blender.rigs import ARM, HUMANOID, add_rig, disagreement, select


@pytest.fixture
def arm(scene):
    obj = add_rig(ARM)
    assert bpy.ops.robokin.make_robot() == {"FINISHED"}
    return obj


def test_all_selected_joints_get_type_axis_and_limits(arm):
    select(arm, "lower", "hand")
    done = bpy.ops.robokin.set_joint(
        joint_type="revolute", axis="-X", limits="RANGE", lower_angle=math.radians(-90), upper_angle=math.radians(35)
    )
    assert done == {"FINISHED"}
    for name in ("lower", "hand"):
        joint = robot_model(arm).joint(name)
        np.testing.assert_array_equal(joint.axis, (-1, 0, 0))
        assert (joint.lower[0], joint.upper[0]) == (-math.pi / 2.0, math.radians(35))
        bone = arm.pose.bones[name]
        bone.rotation_euler[0] = -2.0
        bpy.context.view_layer.update()
        assert bone.rotation_euler[0] == pytest.approx(-math.radians(35))
        assert not bone.lock_rotation[0] and all(bone.lock_rotation[1:])
        # The fields show the record: nothing counts as edited.
        settings = arm.data.bones[name].robokin
        assert read_fields(settings) and settings.upper_angle == pytest.approx(math.radians(35))
    assert disagreement(arm) < 1e-5


@pytest.mark.parametrize(
    "kind", ["fixed", "continuous", "screw", "cylindrical", "universal", "gimbal", "spherical", "planar"]
)
def test_limits_stay_where_they_limit_the_same(scene, kind):
    obj = add_rig([(n, p, h, t) for n, p, h, t in ARM[:2]] + [("hand", "lower", (0, 0, 2.1), (0, 0, 2.4))])
    bpy.ops.robokin.make_robot()
    select(obj, "hand")
    bpy.ops.robokin.set_joint(joint_type="revolute", axis="Y", limits="RANGE", lower_angle=-0.5, upper_angle=0.75)
    bpy.ops.robokin.set_joint(joint_type=kind, limits="KEEP")
    joint = robot_model(obj).joint("hand")
    assert joint.type == kind
    if kind == "screw":
        assert (joint.lower[0], joint.upper[0]) == (-0.5, 0.75)
    else:
        assert np.isinf(joint.lower).all() and np.isinf(joint.upper).all()
    assert disagreement(obj) < 1e-5


def by_operator(obj, kind):
    select(obj, "hand")
    bpy.ops.robokin.set_joint(joint_type=kind, axis="KEEP", limits="KEEP")


def by_field(obj, kind):
    obj.data.bones["hand"].robokin.joint_type = kind


@pytest.mark.parametrize("retype", [by_operator, by_field])
@pytest.mark.parametrize("axis", ["X", "-X", "Y", "Z"])
def test_a_hinge_that_becomes_a_ball_twists_about_its_bone(scene, retype, axis):
    """As one made anew does: about a hinge's axis, cone and twist would limit what nobody means."""
    obj = add_rig([("root", None, (0, 0, 0), (0, 0, 1)), ("hand", "root", (0, 1, 1), (0.3, 2, 1.2))])
    bpy.ops.robokin.make_robot()
    select(obj, "hand")
    bpy.ops.robokin.set_joint(joint_type="revolute", axis=axis, limits="NONE")
    retype(obj, "spherical")
    bone = bone_record(obj.data.bones["hand"])
    np.testing.assert_allclose(bone.frame.T @ bone.joint.axis, (0, 1, 0), atol=1e-6)
    np.testing.assert_allclose(obj.data.bones["hand"].robokin.axis, bone.joint.axis, atol=1e-6)
    keep_edits(obj.data)
    retype(obj, "spherical")
    np.testing.assert_allclose(bone_record(obj.data.bones["hand"]).joint.axis, bone.joint.axis, atol=1e-6)
    assert disagreement(obj) < 1e-5


@pytest.mark.parametrize("first", ["axis", "type"])
def test_an_axis_that_is_given_to_a_ball_stays(scene, first):
    obj = add_rig([("root", None, (0, 0, 0), (0, 0, 1)), ("hand", "root", (0, 1, 1), (0.3, 2, 1.2))])
    bpy.ops.robokin.make_robot()
    fields = obj.data.bones["hand"].robokin
    edits = {"axis": (0.6, 0.0, 0.8), "joint_type": "spherical"}
    for name in sorted(edits, reverse=first == "type"):
        setattr(fields, name, edits[name])
    fields.joint_type = "spherical"
    np.testing.assert_allclose(robot_model(obj).joint("hand").axis, (0.6, 0.0, 0.8), atol=1e-7)
    select(obj, "hand")
    bpy.ops.robokin.set_joint(joint_type="spherical", axis="Z", limits="KEEP")
    np.testing.assert_allclose(robot_model(obj).joint("hand").axis, (0, 0, 1), atol=1e-7)
    bpy.ops.robokin.set_joint(joint_type="spherical", axis="KEEP", limits="NONE")
    np.testing.assert_allclose(robot_model(obj).joint("hand").axis, (0, 0, 1), atol=1e-7)


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_ranges_of_what_slides_are_lengths_of_the_scene(scene, unit):
    scene.unit_settings.scale_length = unit
    obj = add_rig([("root", None, (0, 0, 0), (0, 0, 1)), ("rail", "root", (0, 1, 1), (0, 2, 1))])
    bpy.ops.robokin.make_robot()
    select(obj, "rail")
    bpy.ops.robokin.set_joint(
        joint_type="cylindrical", axis="Y", limits="RANGE", lower_angle=-1, upper_angle=2, upper_length=0.3
    )
    joint = robot_model(obj).joint("rail")
    np.testing.assert_allclose(joint.lower, (-1.0, 0.0))
    np.testing.assert_allclose(joint.upper, (2.0, 0.3 * unit), rtol=1e-12)


def test_a_joint_is_copied_in_the_axes_of_the_bones(scene):
    """The bones of an imported robot are turned against their links; the copied axis is the same axis of the bone."""
    joints = [
        Joint("a", "revolute", "l0", "l1", axis=(1, 0, 0), lower=-0.5, upper=1.0, velocity=2.0, stiffness=3.0),
        Joint("b", "prismatic", "l1", "l2", axis=(0, 0, 1), lower=-9.0, upper=9.0),
        Joint("c", "continuous", "l2", "l3", axis=(0, -1, 0)),
    ]
    obj = build_armature(bpy.context, scene.collection, RobotModel("r", [Link(f"l{i}") for i in range(4)], joints))
    select(obj, "c", "b", "a")
    assert bpy.ops.robokin.copy_joint() == {"FINISHED"}
    model = robot_model(obj)
    for name in ("b", "c"):
        joint = model.joint(name)
        assert (joint.type, joint.lower[0], joint.upper[0]) == ("revolute", -0.5, 1.0)
        assert (joint.velocity[0], joint.stiffness, joint.mimic) == (2.0, 3.0, None)
    assert {(c.path, c.index, c.sign) for c in binding(obj).own_channels} == {("rotation_euler", 1, 1.0)}
    assert disagreement(obj) < 1e-5


def test_edits_in_fields_are_kept_by_an_edit_of_many(arm):
    arm.data.bones["lower"].robokin.mass = 2.5
    select(arm, "lower")
    bpy.ops.robokin.set_joint(joint_type="revolute", axis="Z", limits="KEEP")
    assert robot_model(arm).link("lower").mass == 2.5
    record = bone_record(arm.data.bones["lower"])
    assert field_values(record)["mass"] == 2.5


@pytest.mark.parametrize(
    ("names", "call", "words"),
    [
        ((), lambda: bpy.ops.robokin.set_joint(), "no joint of 'rig' is selected"),
        (("lower",), lambda: bpy.ops.robokin.copy_joint(), "only 'lower' is selected"),
        (("upper", "lower"), lambda: bpy.ops.robokin.set_joint(joint_type="prismatic"), "connected|root bone"),
        (("lower", "hand"), lambda: bpy.ops.robokin.set_joint(joint_type="revolute", limits="RANGE", lower_angle=1,
                                                               upper_angle=0), "lower limit"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_changes_nothing(arm, names, call, words):
    select(arm, *names)
    before = robot_model(arm)
    texts = [(bone[KEY], stored_fields(bone)) for bone in arm.data.bones]
    with pytest.raises(RuntimeError, match=words):
        call()
    assert [(bone[KEY], stored_fields(bone)) for bone in arm.data.bones] == texts
    after = robot_model(arm)
    assert [(j.type, list(j.lower)) for j in after.joints] == [(j.type, list(j.lower)) for j in before.joints]


def test_one_undo_takes_an_edit_of_many_back(scene):
    obj = add_rig(HUMANOID)
    bpy.ops.robokin.make_robot()
    select(obj, "forearm.L", "forearm.R")
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.robokin.set_joint("EXEC_DEFAULT", True, joint_type="fixed") == {"FINISHED"}
    assert robot_model(bpy.data.objects["rig"]).joint("forearm.R").type == "fixed"
    bpy.ops.ed.undo()
    model = robot_model(bpy.data.objects["rig"])
    assert {model.joint(f"forearm.{side}").type for side in "LR"} == {"continuous"}
