"""Bakes of every kind of task against a motion that meets it: what Blender shows of the bones, by formulas of our own.

A robot is led through a motion of its joints; targets are keyed so that this motion meets them. The bake has to find
one that does, whatever carries the target: its own keys, a parent, a constraint or a bone of another armature.
"""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from robokin_addon.properties.bridge import read_configuration, robot_model, write_configuration
from support.blender.scene_tasks import mesh_object
from support.problems.led_motions import (
    FRAMES,
    NEAR,
    TURNED,
    Led,
    angle,
    between,
    circle_at,
    follow,
    off_circle,
    shifted,
    turned,
)


@pytest.fixture(params=["keys", "parent", "constraint", "bone"])
def led(request, scene):
    """Of each carrier another robot: scaled up, in millimetres, on a base that moves."""
    name, unit, scale, moves = {
        "keys": ("panda", 1.0, 2.0, False),
        "parent": ("ur5_robot", 0.001, 1.0, False),
        "constraint": ("panda", 1.0, 1.0, True),
        "bone": ("ur5_robot", 1.0, 0.5, True),
    }[request.param]
    led = Led(scene, name, unit, scale, moves)
    led.carrier = request.param
    return led


@pytest.mark.parametrize("kind", ["POSE", "POSITION", "ORIENTATION", "AXIS"])
def test_poses(scene, led, kind):
    goals = [turned(T, T[:3, 0]) for T in led.tips] if kind == "AXIS" else led.tips
    follow(led, goals, kind)
    if kind == "AXIS":
        led.obj.robokin.tasks[0].axis = "X"
    for i in led.bake(scene):
        T, goal = led.world(led.tip), led.tips[i]
        if kind in ("POSE", "POSITION"):
            assert np.linalg.norm(T[:3, 3] - goal[:3, 3]) * led.unit < NEAR
        if kind in ("POSE", "ORIENTATION"):
            assert angle(T[:3, :3], goal[:3, :3]) < TURNED
        if kind == "AXIS":
            assert between(T[:3, 0], goal[:3, 0]) < TURNED


def test_aim(scene, led):
    places = [shifted(T, -0.3 / led.unit * T[:3, 1]) for T in led.tips]
    follow(led, places, "AIM", axis="-Y")
    for i in led.bake(scene):
        T = led.world(led.tip)
        assert between(-T[:3, 1], places[i][:3, 3] - T[:3, 3]) < TURNED


def test_laser_on_a_plane(scene, led):
    spots = [turned(shifted(T, 0.3 / led.unit * T[:3, 2]), [0.1, 0.2 + 0.02 * i, 1.0]) for i, T in enumerate(led.tips)]
    follow(led, spots, "LASER", axis="Z")
    for i in led.bake(scene):
        T, (spot, n) = led.world(led.tip), (spots[i][:3, 3], spots[i][:3, 2])
        away = n @ (spot - T[:3, 3]) / (n @ T[:3, 2])
        assert away > 0.0 and np.linalg.norm(T[:3, 3] + away * T[:3, 2] - spot) * led.unit < NEAR


def test_laser_on_a_mesh_that_moves(scene, led):
    import bmesh  # which comes with bpy

    radius = 0.15 / led.unit
    mesh, geometry = bpy.data.meshes.new("ball"), bmesh.new()
    bmesh.ops.create_icosphere(geometry, subdivisions=5, radius=radius)
    geometry.to_mesh(mesh)
    geometry.free()
    ball = mesh_object("ball", mesh)
    for frame, T in zip(FRAMES, led.tips, strict=True):
        ball.location = T[:3, 3] + (0.3 / led.unit + radius) * T[:3, 2]
        ball.rotation_euler = (0.1 * frame, 0.2, 0.0)
        ball.keyframe_insert("location", frame=frame)
        ball.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.objects.active = led.obj
    spots = [shifted(T, 0.3 / led.unit * T[:3, 2]) for T in led.tips]
    task = follow(led, spots, "LASER", axis="Z", surface=ball)
    task.position_tolerance = 1e-3 / led.unit  # the facets of the ball
    for i in led.bake(scene):
        T, centre = led.world(led.tip), np.array(ball.matrix_world.translation)
        along = T[:3, 2] @ (centre - T[:3, 3])
        across = np.linalg.norm(centre - T[:3, 3] - along * T[:3, 2])
        hit = T[:3, 3] + (along - math.sqrt(radius**2 - across**2)) * T[:3, 2]
        assert np.linalg.norm(hit - spots[i][:3, 3]) * led.unit < 2e-3


@pytest.mark.parametrize("side", ["ON", "ABOVE", "BELOW"])
def test_plane(scene, led, side):
    away = {"ON": 0.0, "ABOVE": 0.1, "BELOW": -0.1}[side] / led.unit
    planes = []
    for i, T in enumerate(led.tips):
        plane = turned(T, [0.3, 0.1 * i / 12, 1.0])
        # from the middle of the motion on it pushes the tip along
        planes.append(shifted(plane, away * (i - 4) / 8 * plane[:3, 2]))
    follow(led, planes, "PLANE", side=side)
    heights = []
    for i in led.bake(scene):
        heights.append(led.unit * planes[i][:3, 2] @ (led.world(led.tip)[:3, 3] - planes[i][:3, 3]))
    if side == "ON":
        assert max(map(abs, heights)) < NEAR
    else:
        assert min(height * np.sign(away) for height in heights) > -NEAR and min(map(abs, heights)) < NEAR


def test_line(scene, led):
    lines = [turned(T, [1.0, 0.2 + 0.03 * i, 0.3]) for i, T in enumerate(led.tips)]
    lines = [shifted(T, 0.2 / led.unit * T[:3, 2]) for T in lines]
    follow(led, lines, "LINE")
    for i in led.bake(scene):
        away = led.world(led.tip)[:3, 3] - lines[i][:3, 3]
        assert np.linalg.norm(np.cross(lines[i][:3, 2], away)) * led.unit < NEAR


def test_curve_that_moves(scene, led):
    curve, radius = circle_at(led, [turned(T, [0.2, 0.03 * i, 1.0]) for i, T in enumerate(led.tips)])
    led.add("CURVE", curve)
    for _ in led.bake(scene):
        assert off_circle(curve, radius, led.world(led.tip)[:3, 3]) * led.unit < NEAR


def test_along_a_curve_that_moves(scene, led):
    curve, radius = circle_at(led, [turned(led.tips[0], [0.2, 0.01 * i, 1.0]) for i in range(len(FRAMES))])
    task = led.add("ALONG_CURVE", curve, speed=0.06 / led.unit)
    task.position_tolerance = 1e-3 / led.unit
    angles = []
    for _ in led.bake(scene):
        point = led.world(led.tip)[:3, 3]
        assert off_circle(curve, radius, point) * led.unit < 1e-3
        x, y, _ = curve.matrix_world.inverted() @ Vector(point)
        angles.append(math.atan2(y, x))
    way = (angles[-1] - angles[0]) * radius * led.unit
    assert way == pytest.approx(0.06 * (len(FRAMES) - 1) / scene.render.fps, abs=2e-3)


@pytest.mark.parametrize("relation", ["EQUAL", "INSIDE", "OUTSIDE"])
def test_distance(scene, led, relation):
    wanted = [0.3 / led.unit * (1 + 0.02 * i) for i in range(len(FRAMES))]
    push = {"EQUAL": 0.0, "INSIDE": 0.1, "OUTSIDE": -0.1}[relation] / led.unit
    places = []
    for i, T in enumerate(led.tips):
        away = wanted[i] + push * (i - 4) / 8
        places.append(shifted(T if relation == "EQUAL" else led.tips[0], away * np.array([0.6, 0.0, 0.8])))
    task = follow(led, places, "DISTANCE", relation=relation)
    led.key(task, "distance", wanted)
    residual = []
    for i in led.bake(scene):
        residual.append(led.unit * (np.linalg.norm(led.world(led.tip)[:3, 3] - places[i][:3, 3]) - wanted[i]))
    if relation == "EQUAL":
        assert max(map(abs, residual)) < NEAR
    else:
        sign = 1 if relation == "OUTSIDE" else -1
        assert min(sign * each for each in residual) > -NEAR and min(map(abs, residual)) < NEAR


def test_distance_of_two_bones(scene, led):
    wanted = [np.linalg.norm(a[:3, 3] - b[:3, 3]) for a, b in zip(led.tips, led.elbows, strict=True)]
    task = led.add("DISTANCE", other=led.elbow)
    led.key(task, "distance", wanted)
    for i in led.bake(scene):
        found = np.linalg.norm(led.world(led.tip)[:3, 3] - led.world(led.elbow)[:3, 3])
        assert abs(found - wanted[i]) * led.unit < NEAR


def test_relative_pose(scene, led):
    wanted = [np.linalg.inv(b) @ a for a, b in zip(led.tips, led.elbows, strict=True)]
    task = led.add("RELATIVE", other=led.elbow)
    led.key(task, "location", [T[:3, 3] for T in wanted])
    last, eulers = None, []
    for T in wanted:
        rotation = Matrix(T[:3, :3].tolist())
        last = rotation.to_euler("XYZ") if last is None else rotation.to_euler("XYZ", last)
        eulers.append(last)
    led.key(task, "rotation", eulers)
    for i in led.bake(scene):
        T = np.linalg.inv(led.world(led.elbow)) @ led.world(led.tip)
        assert np.linalg.norm(T[:3, 3] - wanted[i][:3, 3]) * led.unit < NEAR
        assert angle(T[:3, :3], wanted[i][:3, :3]) < TURNED


def test_pin_and_advance(scene, led):
    """In the frame of the robot's root, which may move. The tip advances while the elbow is pinned in height."""
    led.add("PIN", tip=led.elbow, use_rotation=(False,) * 3, use_location=(False, False, True))
    task = led.add("ADVANCE", frame="WORLD")
    ways = [np.array([0.02, 0.03, -0.02]) / led.unit * i / len(FRAMES) for i in range(len(FRAMES))]
    led.key(task, "location", ways)
    roots = []
    for frame in FRAMES:
        scene.frame_set(frame)
        roots.append(np.linalg.inv(np.array(led.obj.matrix_world, float)))
    elbow, tip = (roots[0] @ T[0] for T in (led.elbows, led.tips))
    size = np.cbrt(abs(np.linalg.det(roots[0][:3, :3])))
    for i in led.bake(scene):
        there = roots[i] @ led.world(led.tip)
        assert np.linalg.norm(there[:3, 3] - tip[:3, 3] - size * ways[i]) * led.unit / size < NEAR
        assert abs((roots[i] @ led.world(led.elbow))[2, 3] - elbow[2, 3]) * led.unit / size < NEAR


def test_center_of_mass(scene, led):
    places = []
    for centre in led.centres:
        T = np.eye(4)
        T[:3, 3] = centre
        places.append(T)
    follow(led, places, "CENTER_OF_MASS")
    for i in led.bake(scene):
        assert np.linalg.norm(led.centre() - led.centres[i]) * led.unit < NEAR


def test_support_that_moves_away(scene, led):
    mesh = bpy.data.meshes.new("foot")
    side = 0.1 / led.unit
    mesh.from_pydata([(-side, -side, 0), (side, -side, 0), (side, side, 0), (-side, side, 0)], [], [])
    foot = mesh_object("foot", mesh)
    for i, (frame, centre) in enumerate(zip(FRAMES, led.centres, strict=True)):
        foot.location = centre - np.array([(0.1 if i > 5 else 0.03) / led.unit, 0.0, 0.3 / led.unit])
        foot.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.objects.active = led.obj
    led.add("SUPPORT", foot, margin=0.02 / led.unit)
    for _ in led.bake(scene):
        away = np.array(foot.matrix_world.inverted() @ Vector(led.centre()))[:2]
        assert abs(away).max() * led.unit < 0.08 + NEAR


def test_joint_and_posture(scene, led):
    """Two values that are keyed, and the posture for all the rest, one level below."""
    bones = [joint.name for joint in robot_model(led.obj).moving_joints[:2]]
    for k, bone in enumerate(bones):
        task = led.add("JOINT", tip=bone)
        led.key(task, "rotation", [(q[k], 0.0, 0.0) for q in led.q])
    write_configuration(led.obj, led.q[6])
    bpy.ops.robokin.store_posture(name="there")
    led.obj.robokin.solver.posture = "Start"
    led.add("POSTURE", posture="there", priority=2).orientation_tolerance = 3.0
    for i in led.bake(scene):
        q = read_configuration(led.obj)
        np.testing.assert_allclose(q[:2], led.q[i][:2], atol=1e-3)
        if i > 8:
            np.testing.assert_allclose(q[2:6], led.q[6][2:6], atol=1e-3)


def test_velocities(scene, led):
    """A hinge that the hand turns about, in the root's frame; a joint that turns at a speed that is keyed."""
    bone = robot_model(led.obj).moving_joints[0].name
    speeds = [0.1 + 0.02 * i for i in range(len(FRAMES))]
    task = led.add("JOINT_VELOCITY", tip=bone)
    led.key(task, "angular_velocity", [(speed, 0.0, 0.0) for speed in speeds])
    twist = led.add("TWIST", frame="WORLD", priority=2, use_location=(False, False, True), use_rotation=(False,) * 3)
    twist.linear_velocity = (0.0, 0.0, 0.05 / led.unit)
    dt = scene.render.fps_base / scene.render.fps
    found, heights, root = [], [], None
    for _ in led.bake(scene):
        found.append(read_configuration(led.obj)[0])
        own = np.linalg.inv(np.array(led.obj.matrix_world, float))
        root = np.cbrt(abs(np.linalg.det(own[:3, :3])))
        heights.append((own @ led.world(led.tip))[2, 3] * led.unit / root)
    np.testing.assert_allclose(np.diff(found) / dt, speeds[1:], atol=2e-3)
    np.testing.assert_allclose(np.diff(heights) / dt, 0.05, atol=2e-3)
