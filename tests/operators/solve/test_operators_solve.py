"""Solve Pose, Reset Pose, Store Posture, on a real arm; Blender's own bone matrices say whether the tip arrived."""

from __future__ import annotations

import json
import re

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.robokin import in_limits
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.tasks.root_frames import metres_per_world_unit, roots_from_world
from support.blender.scene_robots import (
    READY,
    TOOL,
    add_empty,
    add_robot,
    add_target,
    model_pose,
    root_from_world,
    world_error,
)


@pytest.fixture
def robot(scene):
    return add_robot()


def solve(robot, **options):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.solve_pose(**options) == {"FINISHED"}
    return robot.robokin.solver


@pytest.mark.parametrize("unit", [1.0, 0.001])
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_the_tip_arrives_where_the_target_is_seen(scene, unit, scale):
    scene.unit_settings.scale_length = unit
    robot = add_robot()
    robot.location, robot.rotation_euler, robot.scale = (1, -2, 3), (0.3, 0.4, 0.5), (scale,) * 3
    bpy.context.view_layer.update()
    target = add_target(robot)
    size = scale / unit
    robot.robokin.tasks[0].position_tolerance = 1e-5 * size
    target.location.x += 0.05 * size
    target.rotation_euler.rotate_axis("Z", 0.3)
    settings = solve(robot)
    assert settings.status == "CONVERGED" and robot.robokin.tasks[0].reached
    distance, angle = world_error(robot, TOOL, target)
    assert distance < 2e-5 * size and angle < 2e-3


def test_the_reset_goes_to_rest_or_to_the_stored_posture(robot):
    model = robot_model(robot)
    bpy.ops.robokin.reset_pose()
    assert read_configuration(robot) == pytest.approx(np.clip(np.zeros(model.nq), model.lower, model.upper), abs=1e-6)
    bpy.ops.robokin.reset_pose(start="POSTURE")
    assert read_configuration(robot)[:7] == pytest.approx(READY, abs=1e-6)


def test_a_damaged_posture_is_said_and_changes_nothing(robot):
    robot.robokin.solver.posture = '{"panda_joint1": 0.5'
    before = read_configuration(robot)
    with pytest.raises(RuntimeError, match="stored posture of 'panda' must name joints as JSON"):
        bpy.ops.robokin.reset_pose(start="POSTURE")
    robot.robokin.solver.posture = '{"elbow": 0.5}'
    with pytest.raises(RuntimeError, match="no joint named 'elbow'"):
        bpy.ops.robokin.reset_pose(start="POSTURE")
    assert read_configuration(robot) == pytest.approx(before)


def test_a_target_out_of_reach_is_a_result_with_its_reason_and_a_pose_inside_the_limits(robot, tmp_path):
    add_target(robot).location.x += 10.0
    settings = solve(robot, report_path=str(tmp_path / "report.json"))
    assert settings.status == "OUT_OF_REACH" and "farther" in settings.reason
    task = robot.robokin.tasks[0]
    assert task.solved and not task.reached and task.position_residual > 8.0
    assert in_limits(robot_model(robot), read_configuration(robot))
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["status"] == "OUT_OF_REACH" and set(report["q"]) >= {"panda_joint1", "panda_finger_joint2"}


def test_residuals_are_in_units_of_the_scene(scene):
    scene.unit_settings.scale_length = 0.001
    robot = add_robot()
    add_target(robot, kind="POSITION").location.x += 10_000.0
    solve(robot)
    tip, target = model_pose(robot, TOOL)[:3, 3], robot.robokin.tasks[0].target
    shown = root_from_world(robot, target.matrix_world)[:3, 3]
    assert robot.robokin.tasks[0].position_residual == pytest.approx(np.linalg.norm(tip - shown) * 1000, rel=1e-4)


def test_keys_are_made_when_asked_for_at_the_present_frame(scene, robot):
    add_target(robot).location.z -= 0.05
    scene.frame_set(17)
    solve(robot)
    assert not fcurves(robot)
    solve(robot, key=True)
    curves = fcurves(robot)
    assert len(curves) == robot_model(robot).nq
    assert {curve.keyframe_points[0].co[0] for curve in curves.values()} == {17.0}


def test_keys_that_are_asked_for_are_all_made_with_auto_keying_too(robot, auto_keying):
    """Only Insert Available, which is on at first, leaves none out."""
    auto_keying.use_keyframe_insert_available = True
    add_target(robot).location.z -= 0.05
    solve(robot)
    assert not fcurves(robot)
    solve(robot, key=True)
    assert len(fcurves(robot)) == len(own_keys(binding(robot)))


def test_auto_keying_keys_what_is_solved_and_what_is_reset(scene, robot, auto_keying):
    add_target(robot).location.z -= 0.05
    scene.frame_set(3)
    solve(robot)
    scene.frame_set(8)
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.reset_pose()
    for curve in fcurves(robot).values():
        assert [point.co[0] for point in curve.keyframe_points] == [3.0, 8.0]
    assert len(fcurves(robot)) == robot_model(robot).nq


def test_a_target_moved_by_hand_at_a_keyed_frame_counts_as_seen(scene, robot):
    target = add_target(robot)
    target.keyframe_insert("location", frame=1)
    target.location.x += 0.05
    solve(robot)
    assert world_error(robot, TOOL, target)[0] < 2e-4


def test_position_axes_that_are_free_stay_free(robot):
    target = add_target(robot, kind="POSITION")
    before = model_pose(robot, TOOL)[:3, 3]
    task = robot.robokin.tasks[0]
    task.use_location = (True, False, False)
    target.location.x += 0.05
    target.location.y += 5.0
    assert solve(robot).status == "CONVERGED"
    after = model_pose(robot, TOOL)[:3, 3]
    assert after[0] - before[0] == pytest.approx(0.05, abs=2e-4) and abs(after[1]) < 0.8


def test_an_axis_points_along_the_targets_z(robot):
    target = add_target(robot, kind="AXIS")
    task = robot.robokin.tasks[0]
    task.axis = "-X"
    target.rotation_euler = (0.2, 0.1, 0.0)
    assert solve(robot).status == "CONVERGED"
    bpy.context.view_layer.update()
    z = np.array(target.matrix_world.to_3x3()).T[2]
    assert -model_pose(robot, TOOL)[:3, 0] @ z > np.cos(2e-3)


def test_influence_zero_and_disabled_tasks_take_no_part(robot):
    add_target(robot).location.x += 10.0
    near = add_target(robot, kind="POSITION")
    near.location.z -= 0.05
    far = robot.robokin.tasks[0]
    far.influence = 0.0
    assert solve(robot).status == "CONVERGED" and not far.solved
    far.influence, far.enabled = 1.0, False
    assert solve(robot).status == "CONVERGED"
    robot.robokin.tasks[1].enabled = False
    with pytest.raises(RuntimeError, match="there is no task to solve for"):
        solve(robot)


def break_tip(robot, task, target):
    task.tip = "panda_hand_tcp"  # the link, not the bone


def lose_tip(robot, task, target):
    task.tip = ""


def lose_target(robot, task, target):
    bpy.data.objects.remove(target)


def flatten_target(robot, task, target):
    target.scale = (1, 1, 0)


def stretch_robot(robot, task, target):
    robot.scale = (1, 2, 1)


def free_everything(robot, task, target):
    task.use_location = task.use_rotation = (False,) * 3


def tie_to_itself(robot, task, target):
    target.parent, target.parent_type, target.parent_bone = robot, "BONE", TOOL


def hide_constrained(robot, task, target):
    target.constraints.new("COPY_LOCATION").target = add_empty("lead")
    target.hide_viewport = True


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (break_tip, "no tip of task .* named 'panda_hand_tcp' .did you mean: panda_hand_tcp_joint"),
        (lose_tip, "task 'hand_tcp' has no tip"),
        (lose_target, "task 'hand_tcp' has no target: choose an object"),
        (flatten_target, "its target has a scale of zero"),
        (stretch_robot, r"'panda' has a non-uniform scale \(1, 2, 1\)"),
        (free_everything, "every axis is free"),
        (tie_to_itself, "follows a bone of 'panda' itself, a cycle"),
        (hide_constrained, "is disabled in viewports"),
    ],
)
def test_what_cannot_be_solved_says_why_in_one_line_and_changes_nothing(robot, harm, words):
    target = add_target(robot)
    before = read_configuration(robot)
    harm(robot, robot.robokin.tasks[0], target)
    with pytest.raises(RuntimeError, match=words) as raised:
        solve(robot)
    assert str(raised.value).strip().count("\n") == 0
    assert read_configuration(robot).tolist() == before.tolist() and robot.robokin.solver.status == ""


def test_a_hidden_target_is_where_its_keys_say_not_where_it_was_last_seen(scene, robot):
    target = add_target(robot)
    target.keyframe_insert("location", frame=1)
    target.location.x += 0.05
    target.keyframe_insert("location", frame=10)
    scene.frame_set(1)
    target.hide_viewport = True
    scene.frame_set(10)
    assert solve(robot).status == "CONVERGED"
    target.hide_viewport = False
    assert world_error(robot, TOOL, target)[0] < 2e-4


def test_a_renamed_tip_is_found_again(robot):
    target = add_target(robot)
    target.location.z -= 0.05
    robot.data.bones[TOOL].name = "tool"
    assert solve(robot).status == "CONVERGED" and robot.robokin.tasks[0].tip == "tool"
    assert world_error(robot, "tool", target)[0] < 2e-4


def test_nothing_is_solved_while_bones_are_edited(robot):
    add_target(robot)
    bpy.context.view_layer.objects.active = robot
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Leave Edit Mode first"):
        bpy.ops.robokin.solve_pose()
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_posture_stored_before_the_limits_were_narrowed_is_moved_inside(robot):
    from robokin_addon.properties.postures import start_configuration

    robot.data.bones["panda_joint4"].robokin.upper = -2.5
    q = start_configuration(robot, robot_model(robot), "POSTURE")
    assert q[3] == pytest.approx(-2.5, abs=1e-6) and in_limits(robot_model(robot), q)


def test_many_poses_at_once_are_the_bridges_one_by_one(scene):
    rng = np.random.default_rng(5)
    scene.unit_settings.scale_length = 0.01
    robot = add_robot("ur5_robot")
    worlds, targets, expected = [], [], []
    target = add_empty("target")
    for _ in range(20):
        robot.location, robot.rotation_euler = rng.normal(size=3), rng.normal(size=3)
        robot.scale = (rng.uniform(0.1, 3),) * 3
        target.location, target.rotation_euler = rng.normal(size=3), rng.normal(size=3)
        target.scale = rng.uniform(0.2, 2, 3) * rng.choice((-1, 1))
        bpy.context.view_layer.update()
        worlds.append(np.array(robot.matrix_world))
        targets.append(np.array(target.matrix_world))
        expected.append(root_from_world(robot, target.matrix_world))
    found = roots_from_world(robot, np.array(worlds), np.array(targets), "task", binding(robot))
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert metres_per_world_unit(robot) == pytest.approx(0.01 / robot.scale[0], rel=1e-6)


def test_the_same_seed_gives_the_same_pose(robot):
    target = add_target(robot)
    target.location.x -= 0.9
    poses = []
    for _ in range(2):
        q = read_configuration(robot)
        q[:7] = READY
        write_configuration(robot, q)
        solve(robot, seed=3)
        poses.append(read_configuration(robot).tolist())
    assert poses[0] == poses[1]


@pytest.mark.parametrize("live", [False, True])
def test_below_a_scaled_parent_the_reason_says_what_the_residual_is(robot, live):
    robot.parent = add_empty("table")
    robot.parent.scale = (3, 3, 3)
    bpy.context.view_layer.update()
    add_target(robot).location.x += 10.0
    robot.robokin.live = live
    bpy.context.view_layer.update()
    if not live:
        solve(robot)
    said = float(robot.robokin.solver.reason.removeprefix("at least ").split(" m ")[0])
    assert said == pytest.approx(robot.robokin.tasks[0].position_residual, rel=0.01)


@pytest.mark.parametrize("act", ["bake", "check", "solve_by_method", "next_target"])
def test_reasons_say_lengths_of_the_world_whatever_finds_them(robot, capfd, act):
    """A hand that stands 20 m from its target in the world, of a robot three times its size."""
    bpy.ops.object.empty_add()
    robot.parent = add_empty("table")
    robot.parent.scale = (3, 3, 3)
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = robot
    target = add_target(robot)
    if act == "next_target":
        bpy.ops.robokin.move_add(kind="LINE")
        target = robot.robokin.moves[0].target
    target.location.x += 20.0
    bpy.context.view_layer.update()
    named = {"bake": {"frame_start": 1, "frame_end": 2}, "check": {"frame_start": 1, "frame_end": 2}}
    capfd.readouterr()
    getattr(bpy.ops.robokin, act)(**named.get(act, {}))
    bpy.context.view_layer.update()
    away = world_error(robot, TOOL, target)[0]
    said, solver = capfd.readouterr().out, robot.robokin.solver
    if act in ("bake", "check"):
        said = " ".join(item.reason for item in getattr(solver, f"{act}_failures"))
    found = [float(number) for number in re.findall(r"([\d.]+) m\b", said)]
    assert found and min(abs(number - away) for number in found) < 0.01 * away, said


def test_a_check_of_one_frame_counts_as_one_speaks(robot):
    bone = robot.pose.bones["panda_joint1"]
    bone.keyframe_insert("rotation_euler", index=1, frame=1)
    fcurves(robot)[next(iter(own_keys(binding(robot))))].keyframe_points[0].co.y = 3.5
    bpy.ops.robokin.check(frame_start=1, frame_end=1)
    assert "1 breaks a limit, the worst at 1: " in robot.robokin.solver.check_summary
