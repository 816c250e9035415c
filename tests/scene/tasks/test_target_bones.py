"""Tasks whose target is a bone: of another armature, or a control bone of the robot's own."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from support.blender.scene_robots import add_robot
from support.blender.scene_tasks import add, head, shown, solve


@pytest.fixture
def robot(scene):
    obj = add_robot()
    obj.location, obj.rotation_euler = (1, -2, 0.5), (0, 0, 0.7)
    bpy.context.view_layer.update()
    return obj


@pytest.fixture
def rig(robot):
    """Two bones in a chain before the robot, bent and moved."""
    data = bpy.data.armatures.new("control")
    obj = bpy.data.objects.new("control", data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    arm, hand = data.edit_bones.new("arm"), data.edit_bones.new("hand")
    arm.head, arm.tail, hand.head, hand.tail = (0, 0, 0), (0, 0, 0.4), (0, 0, 0.4), (0, 0, 0.5)
    hand.parent = arm
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.matrix_world = robot.matrix_world @ Matrix.Translation((0.5, 0.1, 0.0))
    for bone in obj.pose.bones:
        bone.rotation_mode = "XYZ"
    obj.pose.bones["hand"].location = (0.05, 0.1, 0.0)
    obj.pose.bones["arm"].rotation_euler = (0.2, 0.0, 0.1)
    bpy.context.view_layer.objects.active = robot
    return obj


def test_a_pose_follows_a_bone_of_another_armature(robot, rig):
    add(robot, "POSE", rig, subtarget="hand")
    solve(robot)
    bone = np.array(rig.matrix_world @ rig.pose.bones["hand"].matrix)
    np.testing.assert_allclose(shown(robot), bone, atol=1e-3)
    robot.robokin.tasks[0].kind, robot.robokin.tasks[0].subtarget = "AIM", ""
    solve(robot)
    away = np.array(rig.matrix_world.translation - head(robot))
    assert np.linalg.norm(np.cross(shown(robot)[:3, 2], away)) < 1e-3


def test_a_bone_is_followed_in_a_bake(scene, robot, rig):
    add(robot, "POSITION", rig, subtarget="hand")
    arm = rig.pose.bones["arm"]
    for frame, angle in ((1, 0.0), (10, 0.5)):
        arm.rotation_euler.x = angle
        arm.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_start, scene.frame_end = 1, 10
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert robot.robokin.solver.bake_status == "CONVERGED"
    for frame in (1, 6, 10):
        scene.frame_set(frame)
        assert (head(robot) - rig.matrix_world @ rig.pose.bones["hand"].head).length < 3e-4


def test_a_control_bone_of_the_robots_own_armature(robot):
    bpy.ops.object.mode_set(mode="EDIT")
    bone = robot.data.edit_bones.new("control")
    bone.head, bone.tail = (0.4, 0.1, 0.5), (0.4, 0.1, 0.6)
    bpy.ops.object.mode_set(mode="OBJECT")
    robot.pose.bones["control"].location = (0.02, 0.0, 0.0)
    add(robot, "POSITION", robot, subtarget="control")
    solve(robot)
    assert (head(robot) - robot.matrix_world @ robot.pose.bones["control"].head).length < 3e-4


def test_bones_that_cannot_be_followed_are_named(robot, rig):
    task = add(robot, "POSITION", rig, subtarget="foot")
    with pytest.raises(RuntimeError, match=r"'foot' .*arm, hand|'foot'.*hand"):
        bpy.ops.robokin.solve_pose()
    task.target, task.subtarget = robot, "panda_joint4"
    with pytest.raises(RuntimeError, match="follows a bone of 'panda' itself, a cycle"):
        bpy.ops.robokin.solve_pose()
