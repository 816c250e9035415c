"""The padlock of a joint: Solve, Live and Bake leave it where it is."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from robokin_addon.operators.tools.turn_joint import joint_and_limits
from robokin_addon.properties.bridge import binding, keep_edits, read_configuration, robot_model
from robokin_addon.properties.results import readouts
from robokin_addon.properties.results.why import held_joints
from robokin_addon.robokin import RobokinError
from robokin_addon.scene.posing.joint_turn import JointTurn
from robokin_addon.scene.tasks.present_postures import present_postures
from robokin_addon.solvers.progress import finish
from support.blender.panels import draw
from support.blender.scene_bakes import bake
from support.blender.scene_robots import TOOL, add_target, world_error

JOINT, AT = "panda_joint3", 2


def lock(robot, *names):
    bones = binding(robot).bone_of_link
    for name in names:
        robot.data.bones[bones[robot_model(robot).joint(name).child]].robokin.locked = True


def test_solve_moves_the_other_joints(robot):
    target = add_target(robot)
    target.location.y += 0.1
    lock(robot, JOINT)
    before = read_configuration(robot)
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    bpy.context.view_layer.update()
    now = read_configuration(robot)
    assert now[AT] == before[AT] and abs(now - before).max() > 0.1
    assert robot.robokin.solver.status == "CONVERGED" and world_error(robot, TOOL, target)[0] < 1e-4


def test_what_cannot_be_reached_so_names_the_lock(robot):
    target = add_target(robot)
    target.location.z -= 0.3
    lock(robot, "panda_joint2", "panda_joint4")
    bpy.ops.robokin.solve_pose()
    assert robot.robokin.solver.status != "CONVERGED"
    assert "(locked: panda_joint2, panda_joint4)" in robot.robokin.solver.reason


def test_a_lock_is_not_called_a_limit_and_the_remedy_is_to_open_it(robot):
    target = add_target(robot)
    target.location.z -= 0.3
    lock(robot, "panda_joint4")
    bpy.ops.robokin.solve_pose()
    said = robot.robokin.solver.reason
    assert "a pose that moves panda_joint4, which is locked, meets it" in said and "limit" not in said
    assert said.count("locked") == 1
    bpy.context.view_layer.update()
    drawn = draw()["ROBOKIN_PT_solve"]
    assert "Held by locked joints" in drawn["labels"]
    assert held_joints(robot) == ([], ["panda_joint4"])
    robot.robokin.live = True
    target.location.z -= 0.01
    bpy.context.view_layer.update()
    assert "the padlock of panda_joint4" in readouts.live(robot).text


def test_live_names_no_padlock_of_a_joint_that_would_not_help(robot):
    target = add_target(robot)
    lock(robot, "panda_joint4", "panda_finger_joint1")  # no finger moves the tool
    robot.robokin.live = True
    target.location.z -= 0.31
    bpy.context.view_layer.update()
    assert held_joints(robot)[1] == ["panda_joint4"]


def test_turn_joint_and_jog_refuse_it(robot):
    lock(robot, JOINT)
    before = read_configuration(robot)
    robot.data.bones.active = robot.data.bones[binding(robot).own_channels[AT].bone]
    with pytest.raises(RuntimeError, match="joint 'panda_joint3' is locked: open its padlock"):
        bpy.ops.robokin.jog()
    with pytest.raises(RobokinError, match="is locked"):
        JointTurn(robot, robot.data.bones.active.name).refuse_locked()
    assert joint_and_limits(bpy.context.scene, robot, robot.data.bones.active.name).startswith(
        "panda_joint3 (locked): "
    )
    assert (read_configuration(robot) == before).all()


def test_live_follows_with_the_others_also_when_the_locked_joint_is_turned_by_hand(robot):
    target = add_target(robot)
    lock(robot, JOINT)
    robot.robokin.live = True
    bpy.context.view_layer.update()
    held = read_configuration(robot)[AT]
    for _ in range(5):
        target.location.y += 0.03
        bpy.context.view_layer.update()
        assert read_configuration(robot)[AT] == held
        assert world_error(robot, TOOL, target)[0] < 1e-4
    channel = binding(robot).own_channels[AT]
    getattr(robot.pose.bones[channel.bone], channel.path)[channel.index] += 0.2
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    assert abs(read_configuration(robot)[AT] - held - 0.2) < 1e-6
    assert world_error(robot, TOOL, target)[0] < 1e-4


def test_a_bake_holds_it_at_every_frame(scene, robot, target):
    lock(robot, JOINT)
    held = read_configuration(robot)[AT]
    assert bake(robot, frame_end=20, start="REST").bake_status == "CONVERGED"
    for frame in range(1, 21):
        scene.frame_set(frame)
        assert read_configuration(robot)[AT] == held


def test_the_lock_is_in_the_record_and_older_records_have_none(robot):
    lock(robot, JOINT)
    keep_edits(robot.data)
    bone = robot.data.bones[binding(robot).own_channels[AT].bone]
    record = json.loads(bone["robokin_joint"])
    assert record["version"] == 4 and record["locked"] is True
    del record["locked"]
    bone.robokin.version = 0
    bone["robokin_joint"] = json.dumps(record | {"version": 2})
    assert binding(robot).locked == ()


def test_all_postures_have_the_locked_joint_where_it_is(robot):
    add_target(robot)
    lock(robot, JOINT)
    q = read_configuration(robot)
    found = finish(present_postures(bpy.context, robot))
    assert len(found) and (found.q[:, AT] == q[AT]).all()


def test_moves_lead_the_tool_with_the_others(robot):
    assert bpy.ops.robokin.move_add(kind="LINE") == {"FINISHED"}
    move = robot.robokin.moves[-1]
    move.target.location.z -= 0.1
    bpy.context.view_layer.update()
    lock(robot, "panda_joint3")
    before = read_configuration(robot)
    slot = robot_model(robot).slot("panda_joint3").q
    bpy.context.view_layer.objects.active = robot
    assert bpy.ops.robokin.bake_moves() == {"FINISHED"}
    for frame in (1, 5, 10, 20):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(read_configuration(robot)[slot], before[slot], atol=1e-6)
    assert abs(read_configuration(robot) - before).max() > 0.01
