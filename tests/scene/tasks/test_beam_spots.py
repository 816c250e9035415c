"""The spot of a beam as the tip of On Curve and Along Curve, and factors of A(q) that change with the pose."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector
from support.blender.scene_robots import add_robot, placed
from support.blender.scene_tasks import add, shown, solve, world

OFFSET, TILT = (0.05, 0.0, 0.1), (0.25, -0.1, 0.0)


@pytest.fixture
def robot(scene):
    """A Panda that is turned, moved and shown at twice its size."""
    return placed(add_robot(), (1, -2, 0.5), (0.2, -0.1, 0.7), 2.0)


def circle(robot, at, radius):
    """A circle object, at a place in the robot's own space."""
    bpy.ops.curve.primitive_bezier_circle_add(radius=radius)
    ring = bpy.context.object
    ring.data.resolution_u = 64
    ring.matrix_world = robot.matrix_world @ Matrix.LocRotScale(Vector(at), Euler((0.1, 0.2, 0.0)), Vector((0.5,) * 3))
    bpy.context.view_layer.objects.active = robot
    bpy.context.view_layer.update()
    return ring


def spot(robot, ring):
    """(2,) of the beam on the circle's plane, in its axes, from the matrices that Blender shows; in radii."""
    T = shown(robot) @ np.array(Matrix.LocRotScale(Vector(OFFSET), Euler(TILT), None))
    plane = np.linalg.inv(world(ring)) @ T
    return plane[:2, 3] - plane[2, 3] / plane[2, 2] * plane[:2, 2]


def beam():
    return {"use_spot": True, "axis": "Z", "offset_location": OFFSET, "offset_rotation": TILT}


def test_a_spot_on_a_curve(robot):
    ring = circle(robot, (0.5, 0.1, 0.1), 0.15)
    add(robot, "CURVE", ring, **beam())
    solve(robot)
    assert abs(np.linalg.norm(spot(robot, ring)) - 0.15) < 3e-4


def test_a_spot_goes_round_at_its_speed_while_the_circle_moves(robot, scene):
    ring = circle(robot, (0.5, 0.1, 0.1), 0.15)
    ring.keyframe_insert("location", frame=1)
    ring.location.z += 0.1
    ring.keyframe_insert("location", frame=40)
    add(robot, "ALONG_CURVE", ring, speed=0.2, **beam())  # [Blender units a second]
    scene.frame_end = 40
    found = []
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert robot.robokin.solver.bake_status == "CONVERGED", robot.robokin.solver.bake_reason
    for frame in range(1, 41):
        scene.frame_set(frame)
        found.append(spot(robot, ring))
    away = np.array(found)
    assert abs(np.linalg.norm(away, axis=1) - 0.15).max() < 2e-4
    turned = np.unwrap(np.arctan2(away[:, 1], away[:, 0]))
    np.testing.assert_allclose(abs(np.diff(turned))[3:] * 0.15 * 24, 0.2, rtol=3e-3)
