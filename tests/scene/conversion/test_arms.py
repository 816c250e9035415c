"""The hands of a captured person lead those of a robot with other arms."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, write_configuration
from robokin_addon.robokin import RobotModel, forward_kinematics, random_configuration
from support.blender.scene_robots import build, model_of
from support.blender.windows import called
from support.captures import FRAMES

ICUB_LEGS = {"hip_pitch": 0.3, "knee": -0.6, "ankle_pitch": -0.3}


def test_hands_go_about_the_robots_shoulders_as_far_as_its_arms_are_long(person, humanoid):
    """A person whose arms are as long as the legs is nearer to a robot with short arms than by the legs alone."""
    humanoid.robokin.retarget_source = person
    assert called(bpy.ops.robokin.retarget_motion, humanoid) == {"FINISHED"}
    person.animation_data_clear()
    shoulder = np.array(humanoid.matrix_world @ humanoid.pose.bones["left_shoulder_roll_joint"].matrix)[:3, 3]
    hand = humanoid.robokin.tasks["Left hand"].target
    base = np.array(hand.parent.parent.matrix_world)[:3, :3]
    ways = []
    for arm in ((0.0, 0.0, 0.0), (0.0, 0.0, -1.0)):  # straight, and with a bent elbow
        person.pose.bones["LeftForeArm"].rotation_mode = "XYZ"
        person.pose.bones["LeftForeArm"].rotation_euler = arm
        for bone in person.pose.bones:
            bone.location = (0.0, 0.0, 0.0)
        person.pose.bones["Hips"].rotation_mode = person.pose.bones["LeftArm"].rotation_mode = "XYZ"
        bpy.context.view_layer.update()
        heads = [person.matrix_world @ person.pose.bones[name].head for name in ("LeftHand", "LeftArm")]
        theirs = base @ np.array(heads[0] - heads[1])
        ways.append((np.array(hand.matrix_world)[:3, 3] - shoulder, theirs))
    scales = [np.linalg.norm(own) / np.linalg.norm(theirs) for own, theirs in ways]
    for (own, theirs), scale in zip(ways, scales, strict=True):
        np.testing.assert_allclose(own, scale * theirs, atol=1e-5)
    assert scales[0] == pytest.approx(scales[1], rel=1e-4)
    model = binding(humanoid).model
    links = [
        binding(humanoid).link_of_bone[bone]
        for bone in (humanoid.robokin.tasks["Left hand"].tip, "left_shoulder_roll_joint")
    ]
    rng, reach = np.random.default_rng(7), 0.0
    for _ in range(300):
        found = forward_kinematics(model, random_configuration(model, rng))
        reach = max(reach, np.linalg.norm((found[links[0]] - found[links[1]])[:3, 3]))
    assert np.linalg.norm(ways[0][0]) == pytest.approx(reach, rel=0.03)


@pytest.mark.parametrize(
    ("field", "value"), [("source", "LeftHand"), ("source", "Spine"), ("tip", "waist_pitch_joint")]
)
def test_two_hands_on_one_bone_have_no_arms(person, humanoid, field, value):
    humanoid.robokin.retarget_source = person
    assert called(bpy.ops.robokin.retarget_guess, humanoid) == {"FINISHED"}
    assert humanoid.robokin.retarget_pairs[4].name == "Right hand"
    setattr(humanoid.robokin.retarget_pairs[4], field, value)
    assert called(bpy.ops.robokin.retarget_motion, humanoid) == {"FINISHED"}
    assert not any(each.name.startswith("Arm of") for each in bpy.data.objects)


def test_a_robot_with_short_arms_meets_all_frames(scene, person, capfd):
    """The hands of iCub were 5 mm off in all of them, by the scale of its legs."""
    model = model_of("icub", root="floating")
    links = [replace(link, visuals=(), collisions=()) for link in model.links]
    robot = build(RobotModel(model.name, links, model.joints[1:], root="floating"))
    robot.robokin.live = False
    bent = {f"{side}_{joint}": value for side in "lr" for joint, value in ICUB_LEGS.items()}
    write_configuration(robot, binding(robot).model.configuration(bent))
    bpy.context.view_layer.update()
    robot.robokin.retarget_source = person
    scene.frame_start, scene.frame_end = 1, FRAMES
    assert called(bpy.ops.robokin.retarget_motion, robot) == {"FINISHED"}
    assert called(bpy.ops.robokin.bake, robot) == {"FINISHED"}
    assert "Reached: all 16 frames are met" in capfd.readouterr().out
