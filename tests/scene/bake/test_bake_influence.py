"""Bakes of tasks that come and go."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.animation.curves import own_keys
from support.blender.scene_bakes import bake, keys, worst_error
from support.blender.scene_robots import TOOL, add_target


def test_a_task_without_influence_lets_go_and_is_taken_up_again(scene, robot, target, tmp_path):
    task = robot.robokin.tasks[0]
    for frame, influence in ((1, 1.0), (14, 1.0), (15, 0.0), (20, 0.0), (21, 1.0)):
        task.influence = influence
        task.keyframe_insert("influence", frame=frame)
    for point in animation.fcurves(robot)[task.path_from_id("influence"), 0].keyframe_points:
        point.interpolation = "CONSTANT"
    bake(robot, report_path=str(tmp_path / "bake.json"))
    frames = {row["frame"]: row for row in json.loads((tmp_path / "bake.json").read_text())["frames"]}
    assert [f for f, row in frames.items() if row["status"] == "EMPTY"] == list(range(15, 21))
    assert frames[16]["residuals"] == [None] and frames[14]["residuals"][0]["position"] < 1.1e-4
    assert frames[15]["q"] == pytest.approx(frames[20]["q"])
    assert frames[40]["status"] == "CONVERGED"
    assert worst_error(scene, robot, target, range(1, 15)) < 1.5e-4


def test_a_bake_of_frames_without_any_task_says_empty(robot, target):
    robot.robokin.tasks[0].influence = 0.0
    settings = bake(robot)
    assert settings.bake_status == "EMPTY" and "no task has an influence" in settings.bake_reason
    robot.robokin.tasks[0].keyframe_insert("influence", frame=20)
    robot.robokin.tasks[0].influence = 1.0
    robot.robokin.tasks[0].keyframe_insert("influence", frame=1)
    assert bake(robot).bake_status == "CONVERGED"


def fade(robot, task, *keys_of):
    for frame, influence in keys_of:
        task.influence = influence
        task.keyframe_insert("influence", frame=frame)
    for point in animation.fcurves(robot)[task.path_from_id("influence"), 0].keyframe_points:
        point.interpolation = "LINEAR"


def test_a_task_that_fades_leaves_the_others_met(scene, robot, target):
    held = robot.robokin.tasks.add()
    held.name, held.tip, held.kind, held.target = "same", TOOL, "POSITION", target
    fade(robot, robot.robokin.tasks[0], (1, 1.0), (40, 0.0))
    assert bake(robot).bake_status == "CONVERGED"
    assert worst_error(scene, robot, target, (1, 20, 40)) < 1.5e-4
    own = own_keys(binding(robot))
    assert max(abs(np.diff(values[:, 1])).max() for key, values in keys(robot).items() if key in own) < 0.2


def test_a_task_fades_in_evenly_and_out_where_it_is(scene, robot, tmp_path):
    """The tip goes from where it stands to its target in proportion, as Blender shows it; then it stays."""
    target = add_target(robot, kind="POSITION")
    away = np.array(target.location)
    target.location.x += 0.15
    target.location.z += 0.2
    goal = np.array(target.location)
    fade(robot, robot.robokin.tasks[0], (1, 0.0), (25, 1.0), (30, 1.0), (40, 0.0))
    settings = bake(robot, report_path=str(tmp_path / "bake.json"))
    assert settings.bake_status == "CONVERGED"
    rows = json.loads((tmp_path / "bake.json").read_text())["frames"]
    assert [row["status"] for row in rows].count("EMPTY") == 2
    for frame in range(1, 41):
        scene.frame_set(frame)
        share = min(frame - 1, 24) / 24
        bone = robot.matrix_world @ robot.pose.bones[TOOL].head
        np.testing.assert_allclose(bone, away + share * (goal - away), atol=2e-4, err_msg=str(frame))
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.check() == {"FINISHED"}
    assert robot.robokin.solver.check_passed, robot.robokin.solver.check_summary


def test_what_gives_way_to_a_task_that_fades_in_is_said_of_every_frame(scene, robot, tmp_path):
    """A goal of the second level, and one of the first that comes: frames have the status of what was found out."""
    add_target(robot, kind="POSITION")
    add_target(robot, kind="POSITION").location.z -= 0.2
    rail, grasp = robot.robokin.tasks
    rail.name, rail.priority, grasp.name = "rail", 2, "grasp"
    fade(robot, grasp, (10, 0.0), (20, 1.0), (25, 1.0))
    settings = bake(robot, frame_end=25, report_path=str(tmp_path / "bake.json"))
    told = json.loads((tmp_path / "bake.json").read_text())
    statuses = [row["status"] for row in told["frames"]]
    assert statuses[:10] == ["CONVERGED"] * 10 and statuses[10:] == ["TASK_CONFLICT"] * 15
    fading, whole = settings.bake_failures
    assert (fading.first, fading.last, whole.first, whole.last) == (11, 19, 20, 25)
    assert "task 'rail', task 'grasp'; of partial influence: task 'grasp'" in fading.reason
    assert "partial" not in whole.reason
