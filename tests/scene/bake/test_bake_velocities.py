"""Bakes of tasks that ask for velocities, as Blender's matrices and channels show them frame by frame."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Vector
from robokin_addon.properties.bridge import read_configuration
from robokin_addon.scene.animation.frames import fcurves
from support.blender.scene_robots import add_empty, add_robot, placed
from support.blender.scene_tasks import FRAMES, NEAR, add, bezier, distance_to_curve, frames_of_bake, head, shown
from support.few import rest_slow


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 24
    return placed(add_robot(), (1, -2, 0.5), (0, 0, 0.7))


def velocities(robot, scene, *bones):
    """(frames after the second, bones) rad/s between two keys."""
    curves = fcurves(robot)
    paths = [f'pose.bones["{bone}"].rotation_euler' for bone in bones]
    values = np.array([[curves[path, 1].evaluate(frame) for path in paths] for frame in range(1, 25)])
    return np.diff(values, axis=0)[1:] * scene.render.fps / scene.render.fps_base


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
    for frame in frames_of_bake(robot, scene):
        assert distance_to_curve(path, head(robot)) < NEAR, frame
    places = []
    for frame in range(1, 25):
        scene.frame_set(frame)
        places.append(np.array(head(robot)))
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1) * scene.render.fps / scene.render.fps_base
    assert (steps < 0.1 * 1.01).all()
    np.testing.assert_allclose(steps[4:], 0.1, rtol=0.01)  # the robot stands still before it starts


def test_twist_about_a_hinge(scene, robot):
    """The hand goes round the Z axis of an empty; it stays as far from it, and turns by the angle."""
    hinge = add_empty("hinge")
    hinge.location = robot.matrix_world @ Vector((0.35, 0.05, 0.4))
    hinge.rotation_euler = (0.2, 0.1, 0.3)
    bpy.context.view_layer.update()
    task = add(robot, "TWIST", hinge)
    task.angular_velocity = (0, 0, 0.4)
    to_hinge = np.linalg.inv(np.array(hinge.matrix_world))
    poses = [to_hinge @ shown(robot) for _ in frames_of_bake(robot, scene)]
    fps = scene.render.fps / scene.render.fps_base
    for frame, T in zip(FRAMES[1:], poses[1:], strict=True):
        angle = 0.4 * (frame - FRAMES[0]) / fps
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        np.testing.assert_allclose(T, turn @ poses[0], atol=2e-4)


def test_joint_velocity(scene, robot):
    add(robot, "JOINT_VELOCITY", tip="panda_joint1").angular_velocity[0] = 0.3
    angles = [robot.pose.bones["panda_joint1"].rotation_euler.y for _ in frames_of_bake(robot, scene)]
    fps = scene.render.fps / scene.render.fps_base
    assert angles[2] - angles[1] == pytest.approx(0.3 * 11 / fps, abs=1e-3)


def test_a_band_of_velocities_lets_others_decide(scene, robot):
    """What lies below decides within the band, here for its fastest."""
    task = add(robot, "JOINT_VELOCITY", tip="panda_joint1")
    task.angular_velocity[0], task.orientation_band = 0.3, 0.1
    other = add(robot, "JOINT_VELOCITY", tip="panda_joint1", priority=2)
    other.angular_velocity[0], other.orientation_tolerance = 1.0, 10.0
    list(frames_of_bake(robot, scene))
    np.testing.assert_allclose(velocities(robot, scene, "panda_joint1"), 0.4, atol=1e-3)
    task.orientation_band, task.angular_velocity[0] = 0.0, -0.2
    list(frames_of_bake(robot, scene))
    np.testing.assert_allclose(velocities(robot, scene, "panda_joint1"), -0.2, atol=1e-3)


def test_a_twist_with_a_band(scene, robot):
    task = add(robot, "TWIST")
    task.linear_velocity, task.position_band = (0.1, 0.0, 0.0), 0.04
    other = add(robot, "TWIST", priority=2)
    other.position_tolerance = 10.0
    starts = [Vector(head(robot)) for _ in frames_of_bake(robot, scene)]
    way = robot.matrix_world.to_3x3().inverted() @ (starts[2] - starts[1])
    along = (FRAMES[2] - FRAMES[1]) / scene.render.fps
    assert way.x / along == pytest.approx(0.06, abs=2e-3)


def test_a_sum_of_velocities_couples_joints(scene, robot):
    """Joint 2 is moved; joint 6 turns half as fast the other way, and 0.1 rad/s on top that come in later."""
    add(robot, "JOINT_VELOCITY", tip="panda_joint2").angular_velocity[0] = 0.2
    bpy.ops.robokin.task_add(kind="LINEAR_VELOCITY", tip="panda_joint2", other="panda_joint6")
    task = robot.robokin.tasks[-1]
    assert (task.coefficients, task.tip) == ('{"panda_joint6": -1.0, "panda_joint2": 1.0}', "")
    task.coefficients = '{"panda_joint2": 0.5, "panda_joint6": 1}'
    for frame, rate in ((1, 0.0), (12, 0.0), (13, 0.1)):
        task.rate = rate
        task.keyframe_insert("rate", frame=frame)
    list(frames_of_bake(robot, scene))
    found = velocities(robot, scene, "panda_joint2", "panda_joint6")
    np.testing.assert_allclose(found[:8], np.tile((0.2, -0.1), (8, 1)), atol=1e-3)
    np.testing.assert_allclose(found[14:], np.tile((0.2, 0.0), (len(found) - 14, 1)), atol=1e-3)


def test_factors_may_change_with_the_pose(scene, robot):
    add(robot, "JOINT_VELOCITY", tip="panda_joint2").angular_velocity[0] = 0.4
    bpy.ops.robokin.task_add(kind="LINEAR_VELOCITY")
    robot.robokin.tasks[-1].coefficients = '{"panda_joint2": "2 * panda_joint2", "panda_joint6": 1}'
    list(frames_of_bake(robot, scene))
    angles = []
    for frame in range(1, 25):
        scene.frame_set(frame)
        angles.append(read_configuration(robot)[[1, 5]])
    second, sixth = np.array(angles[3:]).T
    # its integral: the square of the second and the sixth have a sum that stays
    np.testing.assert_allclose(second**2 + sixth, second[0] ** 2 + sixth[0], atol=1e-4)
    assert np.ptp(second) > 0.2


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ("", "must name joints as JSON"),
        ("{}", "no joint has a factor"),
        ('{"panda_joint9": 1}', "panda_joint9"),
        ('{"panda_joint1": [1, 2]}', "takes 1 factors, not 2"),
        ('{"panda_joint1": "fast"}', "no joint or function named 'fast'"),
        ('{"panda_joint8": 1}', "no joint with a motion of its own, for task 'Velocity Sum', named 'panda_joint8'"),
        ('{"panda_finger_joint2": 1}', "named 'panda_finger_joint2'"),
    ],
)
def test_bad_factors_are_one_line(scene, robot, factors, says):
    bpy.ops.robokin.task_add(kind="LINEAR_VELOCITY")
    robot.robokin.tasks[0].coefficients = factors
    with pytest.raises(RuntimeError, match=says) as caught:
        bpy.ops.robokin.bake()
    assert "task 'Velocity Sum'" in str(caught.value)


def bake_too_fast(robot, scene):
    bpy.context.view_layer.objects.active = robot
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert robot.robokin.solver.bake_status == "LIMIT", robot.robokin.solver.bake_reason
    assert "too fast for the velocity or acceleration limits of panda_joint" in robot.robokin.solver.bake_reason
    for frame in range(1, 25):
        scene.frame_set(frame)
        bpy.context.view_layer.update()
        yield frame
    assert bpy.ops.robokin.check() == {"FINISHED"}
    assert "limit" not in robot.robokin.solver.check_summary.lower(), robot.robokin.solver.check_summary


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
def test_a_point_that_is_too_fast_stays_on_its_curve(scene, robot, backend, monkeypatch):
    monkeypatch.setenv("ROBOKIN_BACKEND", backend)
    path = bezier(robot, (0.5, 0.0, 0.5))
    path.scale = (1, 1, 1)
    start = path.matrix_world @ path.data.splines[0].bezier_points[0].co
    bpy.context.view_layer.update()
    task = add(robot, "ALONG_CURVE", path, speed=0.1)
    first = add(robot, "POSITION", add_empty("start"))
    first.target.location = start
    for frame, influence, speed in ((1, 1.0, 0.0), (2, 0.0, 20.0)):
        first.influence, task.speed = influence, speed
        first.keyframe_insert("influence", frame=frame)
        task.keyframe_insert("speed", frame=frame)
    places = []
    for frame in bake_too_fast(robot, scene):
        places.append(head(robot))
        assert distance_to_curve(path, head(robot)) < NEAR, frame
    assert (places[6] - places[1]).length > 0.05


def test_a_hinge_that_is_too_fast_is_turned_about_more_slowly(scene, robot):
    hinge = add_empty("hinge")
    hinge.location = robot.matrix_world @ Vector((0.35, 0.3, 0.4))
    hinge.rotation_euler = (0.1, 0.1, 0.3)
    bpy.context.view_layer.update()
    add(robot, "TWIST", hinge).angular_velocity = (0, 0, 6.0)
    to_hinge = np.linalg.inv(np.array(hinge.matrix_world))
    poses = [to_hinge @ shown(robot) for _ in bake_too_fast(robot, scene)]
    angles = []
    for T in poses:
        turn = T @ np.linalg.inv(poses[0])
        np.testing.assert_allclose(turn[:3, 2], (0, 0, 1), atol=2e-4)
        np.testing.assert_allclose(turn[:3, 3], 0, atol=3e-4)
        angles.append(np.arctan2(turn[1, 0], turn[0, 0]))
    assert 0.3 < np.unwrap(angles)[10] < 6.0 * 10 / 24 - 0.3
