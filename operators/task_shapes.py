"""Shapes that tasks need of objects: a curve to be on, a mesh to be hit, points to stand on. They move rigidly with
their object: a shape is read once, at its object's size, in axes without scale."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ..robokin import RobokinError
from ..solvers.tasks import Curve, Mesh
from .root_frames import metres_per_world_unit, rotations_of

Array = np.ndarray
RobokinTask = bpy.types.PropertyGroup


def has_shape(task: RobokinTask) -> bool:
    """Whether `read_shape` reads one."""
    return task.kind in ("CURVE", "ALONG_CURVE", "SUPPORT") or (task.kind == "LASER" and task.surface is not None)


def read_shape(obj: bpy.types.Object, task: RobokinTask) -> Curve | Mesh | Array | None:
    """A Curve, a Mesh or points (n, 3) in metres of the robot, in the rigid frame of the object; None for a task
    without. Raises RobokinError naming the task."""
    who = f"task {task.name!r}"
    if task.kind in ("CURVE", "ALONG_CURVE"):
        return curve_of(obj, task.target, who)
    if task.kind == "LASER" and task.surface is not None:
        return _surface_of(obj, task.surface, who)
    return points_of(obj, task.target, who) if task.kind == "SUPPORT" else None


def curve_of(robot: bpy.types.Object, owner: bpy.types.Object, who: str) -> Curve:
    """As it is drawn. Raises RobokinError that begins with `who`."""
    points, closed = _curve_points(owner, who)
    return Curve(_rigid(robot, owner, points), closed, f"{who}: curve {owner.name!r}")


def points_of(robot: bpy.types.Object, owner: bpy.types.Object, who: str) -> Array:
    """(n, 3) the vertices of a mesh object. Raises RobokinError that begins with `who`."""
    with _evaluated_mesh(owner) as mesh:
        points = _vertices(mesh)
    if len(points) < 3:
        raise RobokinError(f"{who}: its target {owner.name!r} has fewer than 3 vertices")
    return _rigid(robot, owner, points)


def _surface_of(robot: bpy.types.Object, owner: bpy.types.Object, who: str) -> Mesh:
    with _evaluated_mesh(owner) as mesh:
        mesh.calc_loop_triangles()
        corners = np.array([triangle.vertices for triangle in mesh.loop_triangles], int).reshape(-1, 3)
        points = _vertices(mesh)
    if not len(corners):
        raise RobokinError(f"{who}: its surface {owner.name!r} has no faces")
    return Mesh(_rigid(robot, owner, points), corners)


def _rigid(robot: bpy.types.Object, owner: bpy.types.Object, points: Array) -> Array:
    """(n, 3) points of an object's own space, at its scale, in its axes [m]."""
    stretch = np.array(owner.matrix_world, float)[:3, :3]
    turn = rotations_of(stretch[None])[0]
    return points @ (turn.T @ stretch).T * metres_per_world_unit(robot)


@contextmanager
def _evaluated_mesh(owner: bpy.types.Object) -> Iterator[bpy.types.Mesh]:
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    try:
        yield evaluated.to_mesh()
    finally:
        evaluated.to_mesh_clear()


def _curve_points(owner: bpy.types.Object, who: str) -> tuple[Array, bool]:
    """(points (n, 3) along the one line of a curve object, whether it is closed)."""
    splines = owner.data.splines
    if len(splines) != 1:
        raise RobokinError(f"{who}: its curve {owner.name!r} has {len(splines)} splines, not one")
    if any(modifier.show_viewport for modifier in owner.modifiers):
        return _modified_points(owner, who)
    return _bare_points(owner.data), bool(splines[0].use_cyclic_u)


def _modified_points(owner: bpy.types.Object, who: str) -> tuple[Array, bool]:
    with _evaluated_mesh(owner) as mesh:
        edges = np.array([edge.vertices for edge in mesh.edges], int).reshape(-1, 2)
        points, has_faces = _vertices(mesh), bool(mesh.polygons)
    n = len(points)
    along = np.column_stack((np.arange(n), np.arange(n) + 1))
    is_closed = len(edges) == n
    if is_closed and n:
        along[-1, 1] = 0
    if has_faces or n < 2 or not np.array_equal(edges, along[: len(edges)]) or len(edges) < n - 1:
        cure = "give it no bevel, extrusion or fill" if has_faces else "disable those that break it up"
        raise RobokinError(f"{who}: its curve {owner.name!r} is not one line with its modifiers: {cure}")
    return points, is_closed


def _bare_points(curve: bpy.types.Curve) -> Array:
    """Without thickness and faces, a curve's mesh is its points in their order."""
    data = curve.copy()
    data.bevel_depth = data.extrude = 0.0
    data.bevel_object, data.bevel_mode = None, "ROUND"
    data.fill_mode = "FULL" if data.dimensions == "3D" else "NONE"
    bare = bpy.data.objects.new("sampled", data)
    try:
        return _vertices(bare.to_mesh())
    finally:
        bare.to_mesh_clear()
        bpy.data.objects.remove(bare)
        bpy.data.curves.remove(data)


def _vertices(mesh: bpy.types.Mesh) -> Array:
    points = np.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)
