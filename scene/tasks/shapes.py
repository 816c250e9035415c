"""Shapes that tasks need of objects: a curve to be on, a mesh to be hit, points to stand on. They move rigidly with
their object: a shape is read once, at its object's size, in axes without scale."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...solvers.tasks import Curve, Curves, MeshSurface
from .root_frames import metres_per_world_unit, rotations_of

Line = tuple[Array, bool]  # points (n, 3) and whether they are closed
RobokinTask = bpy.types.PropertyGroup


def has_shape(task: RobokinTask) -> bool:
    """Whether `read_shape` reads one."""
    return task.kind in ("CURVE", "ALONG_CURVE", "SUPPORT") or (task.kind == "LASER" and task.surface is not None)


def read_shape(obj: bpy.types.Object, task: RobokinTask) -> Curves | MeshSurface | Array | None:
    """Curves, a MeshSurface or points (n, 3) in metres of the robot, in the rigid frame of the object; None for a task
    without. Raises RobokinError naming the task."""
    who = f"task {task.name!r}"
    if task.kind in ("CURVE", "ALONG_CURVE"):
        return curve_of(obj, task.target, who)
    if task.kind == "LASER" and task.surface is not None:
        return surface_of(obj, task.surface, who)
    return points_of(obj, task.target, who) if task.kind == "SUPPORT" else None


def curve_of(robot: bpy.types.Object, owner: bpy.types.Object, who: str) -> Curves:
    """A curve as it is drawn, a line for each spline. Raises RobokinError that begins with `who`."""
    is_modified = any(modifier.show_viewport for modifier in owner.modifiers)
    lines = _modified_lines(owner, who) if is_modified else _bare_lines(owner.data)
    if not lines:
        raise RobokinError(f"{who}: its curve {owner.name!r} has no spline of two points or more")
    what = f"{who}: curve {owner.name!r}"
    return Curves([Curve(_rigid(robot, owner, points, who), closed, what) for points, closed in lines])


def points_of(robot: bpy.types.Object, owner: bpy.types.Object, who: str) -> Array:
    """(n, 3) the vertices of a mesh object. Raises RobokinError that begins with `who`."""
    with _evaluated_mesh(owner) as mesh:
        points = _vertices(mesh)
    if len(points) < 3:
        raise RobokinError(f"{who}: its target {owner.name!r} has fewer than 3 vertices")
    return _rigid(robot, owner, points, who)


def triangles_of(owner: bpy.types.Object) -> tuple[Array, Array]:
    """(n, 3) vertices of a mesh object in its own space, (m, 3) indices of its triangles; of a wire one is there
    twice."""
    with _evaluated_mesh(owner) as mesh:
        mesh.calc_loop_triangles()
        corners, ends = np.empty(3 * len(mesh.loop_triangles), np.int32), np.empty(2 * len(mesh.edges), np.int32)
        is_loose = np.empty(len(mesh.edges), bool)
        mesh.loop_triangles.foreach_get("vertices", corners)
        mesh.edges.foreach_get("vertices", ends)
        mesh.edges.foreach_get("is_loose", is_loose)
        points = _vertices(mesh)
    loose = ends.reshape(-1, 2)[is_loose]
    return points, np.concatenate((corners.reshape(-1, 3), loose[:, [0, 1, 1]]))


def surface_of(robot: bpy.types.Object, owner: bpy.types.Object, who: str) -> MeshSurface:
    """The faces of a mesh object. Raises RobokinError that begins with `who`."""
    with _evaluated_mesh(owner) as mesh:
        mesh.calc_loop_triangles()
        corners = np.array([triangle.vertices for triangle in mesh.loop_triangles], int).reshape(-1, 3)
        points = _vertices(mesh)
    if not len(corners):
        raise RobokinError(f"{who}: its surface {owner.name!r} has no faces")
    return MeshSurface(_rigid(robot, owner, points, who), corners)


def _rigid(robot: bpy.types.Object, owner: bpy.types.Object, points: Array, who: str) -> Array:
    """(n, 3) points of an object's own space, at its scale, in its axes [m]. Raises RobokinError that begins with
    `who`."""
    return placed_points(robot, owner.name, np.array(owner.matrix_world, float)[:3, :3], points, who)


def placed_points(robot: bpy.types.Object, name: str, stretch: Array, points: Array, who: str) -> Array:
    """(n, 3) points of a space that a matrix (3, 3) turns and scales, at its scale, in its axes [m]. Raises
    RobokinError that begins with `who`."""
    if not (np.isfinite(stretch).all() and np.isfinite(points).all() and np.linalg.det(stretch)):
        raise RobokinError(f"{who}: {name!r} has no size, or its scale or its points are not numbers")
    turn = rotations_of(stretch[None])[0]
    return points @ (turn.T @ stretch).T * metres_per_world_unit(robot)


@contextmanager
def _evaluated_mesh(owner: bpy.types.Object) -> Iterator[bpy.types.Mesh]:
    evaluated = owner.evaluated_get(bpy.context.evaluated_depsgraph_get())
    try:
        yield evaluated.to_mesh()
    finally:
        evaluated.to_mesh_clear()


def _modified_lines(owner: bpy.types.Object, who: str) -> list[Line]:
    with _evaluated_mesh(owner) as mesh:
        if mesh.polygons:
            cure = "give it no bevel, extrusion or fill"
            raise RobokinError(f"{who}: its curve {owner.name!r} has faces with its modifiers: {cure}")
        lines = _lines(mesh)
    if lines is None:
        cure = "disable those that break them up"
        raise RobokinError(f"{who}: its curve {owner.name!r} is not made of lines with its modifiers: {cure}")
    return lines


def _bare_lines(curve: bpy.types.Curve) -> list[Line]:
    """Without thickness and faces, a curve's mesh is its lines."""
    data = curve.copy()
    data.bevel_depth = data.extrude = 0.0
    data.bevel_object, data.bevel_mode = None, "ROUND"
    data.fill_mode = "FULL" if data.dimensions == "3D" else "NONE"
    bare = bpy.data.objects.new("sampled", data)
    try:
        return _lines(bare.to_mesh()) or []
    finally:
        bare.to_mesh_clear()
        bpy.data.objects.remove(bare)
        bpy.data.curves.remove(data)


def _lines(mesh: bpy.types.Mesh) -> list[Line] | None:
    """Lines of a mesh whose edges join vertices to lines in their order, as those of a curve do; None for any other.
    Vertices without an edge are left out."""
    points, first = _vertices(mesh), 0
    edges = {tuple(sorted(edge.vertices)) for edge in mesh.edges}
    lines = []
    for last in range(len(points)):
        if (last, last + 1) in edges:
            edges.remove((last, last + 1))
            continue
        closed = (first, last) in edges
        if last > first:
            lines.append((points[first : last + 1], closed))
        edges.discard((first, last))
        first = last + 1
    return None if edges else lines


def _vertices(mesh: bpy.types.Mesh) -> Array:
    points = np.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)
