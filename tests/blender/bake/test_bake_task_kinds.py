"""Bakes of every kind of task whose target moves, and of velocities, as Blender's matrices show them frame by frame."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from mathutils import Vector
from support.blender.scene_robots import add_empty, add_robot, placed
from support.blender.scene_tasks import NEAR, add, bezier, distance_to_curve, frames_of_bake, head, shown


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 24
    return placed(add_robot(), (1, -2, 0.5), (0, 0, 0.7))


def moving(robot, start, end, name="goal"):
    """An empty that goes from one place to another in the robot's own space."""
    empty = add_empty(name)
    for frame, place in ((1, start), (24, end)):
        empty.location = robot.matrix_world @ Vector(place)
        empty.keyframe_insert("location", frame=frame)
    return empty


def test_aim_and_distance_follow_an_object(scene, robot, tmp_path):
    goal = moving(robot, (0.8, 0.2, 0.2), (0.7, -0.2, 0.5))
    add(robot, "AIM", goal)
    task = add(robot, "DISTANCE", goal, distance=0.3)
    task.keyframe_insert("distance", frame=1)
    task.distance = 0.4
    task.keyframe_insert("distance", frame=24)
    for frame in frames_of_bake(robot, scene):
        T, away = shown(robot), np.array(goal.matrix_world.translation) - shown(robot)[:3, 3]
        assert np.linalg.norm(away) == pytest.approx(task.distance, abs=NEAR), frame
        assert np.linalg.norm(np.cross(T[:3, 2], away)) < 1e-3
    report = tmp_path / "check.json"
    assert bpy.ops.robokin.check(report_path=str(report)) == {"FINISHED"}
    assert robot.robokin.solver.check_passed, robot.robokin.solver.check_summary
    assert {*json.loads(report.read_text())["frames"][0]["residuals"][1]} == {"distance"}


def test_a_curve_that_moves_and_a_place_that_is_kept(scene, robot):
    path = bezier(robot, (0.5, 0.0, 0.5))
    for frame in (1, 24):
        path.keyframe_insert("location", frame=frame)
        path.keyframe_insert("rotation_euler", frame=frame)
        path.location.z += 0.1
        path.rotation_euler.z += 0.2
    add(robot, "CURVE", path)
    add(robot, "POSITION", moving(robot, (0.4, -0.05, 0.5), (0.45, 0.05, 0.6)), use_location=(True, False, False))
    robot.robokin.tasks[1].priority = 2
    robot.robokin.tasks[1].position_tolerance = 10.0
    for frame in frames_of_bake(robot, scene):
        assert distance_to_curve(path, head(robot)) < NEAR, frame


def test_relative_pose_and_pin(scene, robot):
    before = np.linalg.inv(shown(robot, "panda_joint5")) @ shown(robot)
    add(robot, "RELATIVE", other="panda_joint5")
    add(robot, "PIN", tip="panda_joint3", use_rotation=(False,) * 3)
    held = head(robot, "panda_joint3")
    start = robot.matrix_world.inverted() @ head(robot)
    add(robot, "POSITION", moving(robot, start, start + Vector((0.05, 0.05, -0.05))), priority=2)
    robot.robokin.tasks[2].position_tolerance = 10.0
    for _ in frames_of_bake(robot, scene):
        np.testing.assert_allclose(np.linalg.inv(shown(robot, "panda_joint5")) @ shown(robot), before, atol=2e-3)
        assert (head(robot, "panda_joint3") - held).length < NEAR


def test_the_present_frame_makes_no_difference(scene, robot):
    """Shapes are read at the first frame of the bake."""
    path = bezier(robot, (0.5, 0.0, 0.5))
    path.keyframe_insert("scale", frame=1)
    path.scale *= 1.5
    path.keyframe_insert("scale", frame=24)
    add(robot, "CURVE", path)
    found = []
    for frame in (1, 20):
        scene.frame_set(frame)
        found.append([list(shown(robot).ravel()) for _ in frames_of_bake(robot, scene)])
    assert found[0] == found[1]
