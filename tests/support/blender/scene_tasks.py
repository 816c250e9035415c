"""Tasks in a scene, what they are on, and where Blender itself shows the bones."""

from __future__ import annotations

import math
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Matrix, Vector
from mathutils.geometry import interpolate_bezier
from robokin_addon.properties.bridge import binding

from support.blender.scene_robots import TOOL, add_empty

FRAMES = (1, 13, 24)
NEAR = 3e-4
HAND = TOOL


def add(robot, kind, target=None, tip=HAND, **settings):
    assert bpy.ops.robokin.task_add(kind=kind, tip=tip, other=settings.pop("other", "")) == {"FINISHED"}
    task = robot.robokin.tasks[-1]
    task.use_target, task.target = target is not None, target
    for name, value in settings.items():
        setattr(task, name, value)
    return task


def place(robot, at, turn=(0.0, 0.0, 0.0), name="goal"):
    """An empty at a place in the robot's own space."""
    empty = add_empty(name)
    empty.matrix_world = robot.matrix_world @ Matrix.LocRotScale(Vector(at), None, None)
    empty.rotation_euler, empty.scale = turn, (1, 1, 1)
    bpy.context.view_layer.update()
    return empty


def solve(robot, status="CONVERGED"):
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert robot.robokin.solver.status == status, robot.robokin.solver.reason
    assert all(task.reached == (status == "CONVERGED") for task in robot.robokin.tasks if task.solved)
    bpy.context.view_layer.update()


def shown(robot, bone=HAND):
    """(4, 4) of a bone's link as Blender shows it in the world, without scale."""
    own = binding(robot)
    T = np.array(robot.matrix_world @ robot.pose.bones[bone].matrix, float)
    T[:3, :3] = T[:3, :3] / np.cbrt(np.linalg.det(T[:3, :3])) @ own.frames[own.bones.index(bone)].T
    return T


def frames_of_bake(robot, scene, **settings):
    """Bake, and be at some of its frames in turn."""
    bpy.context.view_layer.objects.active = robot
    assert bpy.ops.robokin.bake(**settings) == {"FINISHED"}
    assert robot.robokin.solver.bake_status == "CONVERGED", robot.robokin.solver.bake_reason
    for frame in FRAMES:
        scene.frame_set(frame)
        bpy.context.view_layer.update()
        yield frame


def head(robot, bone=HAND):
    return Vector(shown(robot, bone)[:3, 3])


def world(obj):
    return np.array(obj.matrix_world, float)


def angle(a, b):
    return math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)


def mesh_object(name, mesh):
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def ball(robot, at, radius):
    import bmesh  # which comes with bpy

    mesh, geometry = bpy.data.meshes.new("ball"), bmesh.new()
    bmesh.ops.create_icosphere(geometry, subdivisions=3, radius=radius)
    geometry.to_mesh(mesh)
    geometry.free()
    obj = mesh_object("ball", mesh)
    obj.location, obj.scale, obj.rotation_euler = robot.matrix_world @ Vector(at), (1.5, 1.0, 0.8), (0.1, 0.5, 0.9)
    bpy.context.view_layer.update()
    return obj


def bezier(robot, at, closed=False, **thickness):
    data = bpy.data.curves.new("path", "CURVE")
    data.dimensions = "3D"
    for name, value in thickness.items():
        setattr(data, name, value)
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(3)
    for i, point in enumerate(spline.bezier_points):
        point.co = (0.2 * math.cos(i * math.pi / 2), 0.3 * math.sin(i * math.pi / 2), 0.05 * i)
        point.handle_left_type = point.handle_right_type = "AUTO"
    spline.use_cyclic_u = closed
    obj = mesh_object("path", data)
    obj.location, obj.rotation_euler, obj.scale = robot.matrix_world @ Vector(at), (0.3, 0.2, 0.1), (1.0, 2.0, 0.5)
    bpy.context.view_layer.update()
    return obj


def polyline(*lines, closed=()):
    """A curve of one poly spline for each list of points. closed: which of them."""
    data = bpy.data.curves.new("polyline", "CURVE")
    data.dimensions = "3D"
    for i, points in enumerate(lines):
        spline = data.splines.new("POLY")
        spline.points.add(len(points) - 1)
        spline.points.foreach_set("co", [x for point in points for x in (*point, 1.0)])
        spline.use_cyclic_u = i in closed
    return data


def distance_to_curve(curve, p):
    """From Blender's own points of the Bézier curve."""
    spline = curve.data.splines[0]
    points = list(spline.bezier_points)
    pairs = zip(points, points[1:] + points[:1] if spline.use_cyclic_u else points[1:], strict=False)
    nearest = []
    for a, b in pairs:
        samples = interpolate_bezier(a.co, a.handle_right, b.handle_left, b.co, spline.resolution_u + 1)
        places = [curve.matrix_world @ sample for sample in samples]
        for start, end in pairwise(places):
            along = end - start
            share = min(max((p - start).dot(along) / along.length_squared, 0.0), 1.0)
            nearest.append((start + share * along - p).length)
    return min(nearest)
