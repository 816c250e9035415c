"""Curve objects of several splines as targets: the lines that Blender itself evaluates, motions on and along them."""

from __future__ import annotations

from itertools import pairwise

import bpy
import numpy as np
import pytest
from robokin_addon.scene.tasks.shapes import curve_of
from support.blender.scene_robots import add_robot, placed
from support.blender.scene_tasks import add, head, mesh_object, polyline, shown, solve


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 24
    return placed(add_robot(), (1, -2, 0.5), (0, 0, 0.7))


def mixed(*kinds, resolution=7):
    """Splines (type, points, cyclic) with random points."""
    rng = np.random.default_rng(len(kinds))
    data = bpy.data.curves.new("mixed", "CURVE")
    data.dimensions, data.resolution_u = "3D", resolution
    for kind, count, cyclic in kinds:
        spline = data.splines.new(kind)
        points = spline.bezier_points if kind == "BEZIER" else spline.points
        points.add(count - 1)
        for point in points:
            place = rng.normal(size=3)
            if kind == "BEZIER":
                point.co, point.handle_left_type, point.handle_right_type = place, "AUTO", "AUTO"
            else:
                point.co, point.weight = (*place, rng.uniform(0.5, 2.0)), 1.0
        spline.use_cyclic_u = cyclic
        if kind == "NURBS":
            spline.order_u, spline.use_endpoint_u = 4, not cyclic
    obj = mesh_object("mixed", data)
    obj.rotation_euler, obj.scale, obj.location = (0.3, -1.0, 0.4), (1.0, 2.0, 0.5), (3, 2, 1)
    bpy.context.view_layer.update()
    return obj


def edges_of(obj):
    """(edges, 2, 3) in the world, of the mesh that Blender evaluates."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = np.array([obj.matrix_world @ vertex.co for vertex in mesh.vertices])
    edges = points[np.array([edge.vertices for edge in mesh.edges])]
    evaluated.to_mesh_clear()
    return edges


def read(robot, obj):
    """(edges, 2, 3) in the world, of the curve as a target."""
    rigid = obj.matrix_world.to_quaternion().to_matrix().to_4x4()
    rigid.translation = obj.matrix_world.translation
    found = curve_of(robot, obj, "task").moved(np.array(rigid))
    own = found.segments
    return found.lines, np.stack((own["origin"], own["origin"] + own["size"][:, None] * own["along"]), axis=1)


KINDS = [
    [("POLY", 4, True), ("POLY", 1, False), ("POLY", 3, False)],
    [("NURBS", 5, False), ("BEZIER", 3, True), ("POLY", 3, True), ("NURBS", 6, True), ("BEZIER", 4, False)],
    [("BEZIER", 2, True)],
    [("NURBS", 4, False)],
]


@pytest.mark.parametrize("modified", [False, True])
@pytest.mark.parametrize("kinds", KINDS)
def test_the_lines_are_those_that_blender_evaluates(robot, kinds, modified):
    obj = mixed(*kinds)
    if modified:
        obj.modifiers.new("twice", "ARRAY").use_relative_offset = False
        obj.modifiers["twice"].use_constant_offset = True
        bpy.context.view_layer.update()
    lines, found = read(robot, obj)
    np.testing.assert_allclose(found, edges_of(obj), atol=3e-6)
    closed = [cyclic for kind, count, cyclic in kinds if count > 1]
    assert [line.closed for line in lines] == closed * (2 if modified else 1)


def beside(robot, *lines, closed=()):
    """A polyline object whose points are told in the robot's own space."""
    obj = mesh_object("rails", polyline(*lines, closed=closed))
    obj.matrix_world = robot.matrix_world
    bpy.context.view_layer.update()
    return obj


def place_of(robot):
    """Of the tip, in the robot's own space."""
    return np.array(robot.matrix_world.inverted() @ head(robot))


def test_on_the_nearest_of_several_splines(robot):
    bpy.context.view_layer.update()
    p = place_of(robot)
    across = np.array([0.0, 0.2, 0.0])
    sides = [[p + x - across, p + x + across] for x in ((0.25, 0, 0), (0.06, 0, 0.02))]
    add(robot, "CURVE", beside(robot, *sides, closed=(1,)))
    solve(robot)
    np.testing.assert_allclose(place_of(robot)[::2], [p[0] + 0.06, p[2] + 0.02], atol=2e-4)


def test_along_one_of_several_at_a_speed_round_its_corners(scene, robot):
    """Frames end where Blender's own lengths say, and the tip keeps to its spline where another crosses it."""
    bpy.context.view_layer.update()
    p = place_of(robot)
    square = p + np.array([(0, 0, 0), (0, 0.05, 0), (0.05, 0.05, 0), (0.05, 0, 0)])
    crossing = p + np.array([(-0.1, 0.03, 0), (0.1, 0.03, 0)])
    task = add(robot, "ALONG_CURVE", beside(robot, crossing, square, closed=(1,)), speed=0.2)
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert robot.robokin.solver.bake_status == "CONVERGED", robot.robokin.solver.bake_reason
    lengths = []
    for frame in range(1, 25):
        scene.frame_set(frame)
        x, y, z = place_of(robot) - p
        assert z == pytest.approx(0.0, abs=2e-4)
        sides = {"left": (x, y), "far": (y - 0.05, 0.05 + x), "right": (x - 0.05, 0.15 - y), "near": (y, 0.2 - x)}
        side = min(sides, key=lambda name: (abs(sides[name][0]), name))
        off, along = sides[side]
        assert abs(off) < 2e-4, (frame, x, y)
        lengths.append(along)
    for a, b in pairwise(lengths[1:]):
        assert (b - a) % 0.2 == pytest.approx(task.speed / scene.render.fps, abs=3e-4)


def test_pose_of_a_tip_beside_splines_is_never_between_them(robot):
    """Two parallel lines, out of reach of each other: the tip ends on one, not half way."""
    bpy.context.view_layer.update()
    T = shown(robot)
    p = place_of(robot)
    add(robot, "CURVE", beside(robot, *(p + np.array([(x, -1, 0), (x, 1, 0)]) for x in (0.1, -0.1))))
    solve(robot)
    assert abs(place_of(robot)[0] - p[0]) == pytest.approx(0.1, abs=2e-4)
    assert not np.allclose(T, shown(robot))
