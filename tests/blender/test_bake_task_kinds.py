"""Bakes of every kind of task whose target moves, and of velocities, as Blender's matrices show them frame by frame."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender.test_task_kinds import add, bezier, distance_to_curve, head, shown
from tests.support.scene_robots import add_empty, add_robot

FRAMES = (1, 13, 24)
NEAR = 3e-4


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 24
    obj = add_robot()
    obj.location, obj.rotation_euler = (1, -2, 0.5), (0, 0, 0.7)
    bpy.context.view_layer.update()
    return obj


def moving(robot, start, end, name="goal"):
    """An empty that goes from one place to another in the robot's own space."""
    empty = add_empty(name)
    for frame, place in ((1, start), (24, end)):
        empty.location = robot.matrix_world @ Vector(place)
        empty.keyframe_insert("location", frame=frame)
    return empty


def bake(robot, scene, **settings):
    bpy.context.view_layer.objects.active = robot
    assert bpy.ops.robokin.bake(**settings) == {"FINISHED"}
    assert robot.robokin.solver.bake_status == "CONVERGED", robot.robokin.solver.bake_reason
    for frame in FRAMES:
        scene.frame_set(frame)
        bpy.context.view_layer.update()
        yield frame


def test_aim_and_distance_follow_an_object(scene, robot, tmp_path):
    goal = moving(robot, (0.8, 0.2, 0.2), (0.7, -0.2, 0.5))
    add(robot, "AIM", goal)
    task = add(robot, "DISTANCE", goal, distance=0.3)
    task.keyframe_insert("distance", frame=1)
    task.distance = 0.4
    task.keyframe_insert("distance", frame=24)
    for frame in bake(robot, scene):
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
    for frame in bake(robot, scene):
        assert distance_to_curve(path, head(robot)) < NEAR, frame


def test_relative_pose_and_pin(scene, robot):
    before = np.linalg.inv(shown(robot, "panda_joint5")) @ shown(robot)
    add(robot, "RELATIVE", other="panda_joint5")
    add(robot, "PIN", tip="panda_joint3", use_rotation=(False,) * 3)
    held = head(robot, "panda_joint3")
    start = robot.matrix_world.inverted() @ head(robot)
    add(robot, "POSITION", moving(robot, start, start + Vector((0.05, 0.05, -0.05))), priority=2)
    robot.robokin.tasks[2].position_tolerance = 10.0
    for _ in bake(robot, scene):
        np.testing.assert_allclose(np.linalg.inv(shown(robot, "panda_joint5")) @ shown(robot), before, atol=2e-3)
        assert (head(robot, "panda_joint3") - held).length < NEAR


def test_along_a_curve_at_a_speed(scene, robot):
    path = bezier(robot, (0.5, 0.0, 0.5))
    path.scale = (1, 1, 1)
    start = path.matrix_world @ path.data.splines[0].bezier_points[0].co
    bpy.context.view_layer.update()
    add(robot, "ALONG_CURVE", path, speed=0.1)
    first = add(robot, "POSITION", add_empty("start"))
    first.target.location = start
    for frame, influence in ((1, 1.0), (2, 0.0)):
        first.influence = influence
        first.keyframe_insert("influence", frame=frame)
    curves = {}
    for frame in bake(robot, scene):
        curves[frame] = head(robot)
        assert distance_to_curve(path, head(robot)) < NEAR, frame
    assert 0.02 < (curves[13] - curves[1]).length < 0.1 * 12 / 24 + 1e-3


def test_twist_about_a_hinge(scene, robot):
    """The hand goes round the Z axis of an empty; it stays as far from it, and turns by the angle."""
    hinge = add_empty("hinge")
    hinge.location = robot.matrix_world @ Vector((0.35, 0.05, 0.4))
    hinge.rotation_euler = (0.2, 0.1, 0.3)
    bpy.context.view_layer.update()
    task = add(robot, "TWIST", hinge)
    task.angular_velocity = (0, 0, 0.4)
    to_hinge = np.linalg.inv(np.array(hinge.matrix_world))
    poses = [to_hinge @ shown(robot) for _ in bake(robot, scene)]
    fps = scene.render.fps / scene.render.fps_base
    for frame, T in zip(FRAMES[1:], poses[1:], strict=True):
        angle = 0.4 * (frame - FRAMES[0]) / fps
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        np.testing.assert_allclose(T, turn @ poses[0], atol=2e-4)


def test_joint_velocity(scene, robot):
    add(robot, "JOINT_VELOCITY", tip="panda_joint1").angular_velocity[0] = 0.3
    angles = [robot.pose.bones["panda_joint1"].rotation_euler.y for _ in bake(robot, scene)]
    fps = scene.render.fps / scene.render.fps_base
    assert angles[2] - angles[1] == pytest.approx(0.3 * 11 / fps, abs=1e-3)


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
        found.append([list(shown(robot).ravel()) for _ in bake(robot, scene)])
    assert found[0] == found[1]
