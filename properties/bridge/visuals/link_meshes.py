"""The meshes that belong to a link: those parented to its bone, or below what is parented to it; as triangles."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ....robokin.arrays import Array
from ..errors import BridgeError
from ..model.binding import Binding
from ..parents import with_parents


@dataclass(frozen=True, eq=False)
class LinkSurface:
    """What a link has of a mesh object. triangles: (n, 3, 3) in its frame [m].   axes: (3, 3) R_link_mesh, those of
    the object.   is_cut: it is a part of the mesh, open where it was cut."""

    mesh: str
    triangles: Array
    axes: Array
    is_cut: bool = False


def link_meshes(obj: bpy.types.Object, bone: str) -> list[bpy.types.Object]:
    """The mesh objects of the link that moves with `bone`, by name."""
    found: list[bpy.types.Object] = []
    front = [child for child in obj.children if child.parent_type == "BONE" and child.parent_bone == bone]
    while front:
        child = front.pop()
        front.extend(child.children)
        if child.type == "MESH" and not child.display_type == "BOUNDS":
            found.append(child)
    return sorted(found, key=lambda child: child.name)


def link_surface(
    depsgraph: bpy.types.Depsgraph, obj: bpy.types.Object, robot: Binding, mesh: bpy.types.Object
) -> LinkSurface:
    """`mesh`, modifiers included, in the link that it belongs to.

    It is what the viewport shows, whatever the pose; of an object that is disabled in viewports the mesh without its
    modifiers. Raises BridgeError when its place in the link is not known.
    """
    top = next(each for each in with_parents(mesh) if each.parent == obj)
    T_link_mesh = _link_from_mesh(obj, robot, mesh, top)
    shown = mesh.evaluated_get(depsgraph)
    data = shown.to_mesh()
    try:
        return placed(mesh.name, *points_and_triangles(data), T_link_mesh)
    finally:
        shown.to_mesh_clear()


def points_and_triangles(data: bpy.types.Mesh) -> tuple[Array, Array]:
    """(n, 3) the points of a mesh in its own units, (m, 3) of each triangle the numbers of its corners."""
    points = np.empty(3 * len(data.vertices))
    data.vertices.foreach_get("co", points)
    data.calc_loop_triangles()
    corners = np.empty(3 * len(data.loop_triangles), np.int32)
    data.loop_triangles.foreach_get("vertices", corners)
    return points.reshape(-1, 3), corners.reshape(-1, 3)


def placed(name: str, points: Array, corners: Array, T_link_mesh: Array) -> LinkSurface:
    """Triangles of a mesh in a link. Raises BridgeError for numbers that are none."""
    points = points @ T_link_mesh[:3, :3].T + T_link_mesh[:3, 3]
    if not (np.isfinite(points).all() and np.isfinite(T_link_mesh).all()):
        raise BridgeError("its place or its points are not numbers")
    triangles = points[corners]
    # A mirrored object shows the faces of its mesh from behind.
    if np.linalg.det(T_link_mesh[:3, :3]) < 0.0:
        triangles = triangles[:, ::-1]
    return LinkSurface(name, triangles, np.linalg.qr(T_link_mesh[:3, :3])[0])


def _link_from_mesh(obj: bpy.types.Object, robot: Binding, mesh: bpy.types.Object, top: bpy.types.Object) -> Array:
    """(4, 4) T_link_mesh with the scales of the objects, to metres."""
    T_bone_mesh = np.eye(4)
    child = mesh
    while True:
        if any(c.enabled and c.influence > 0.0 for c in child.constraints) or child.parent_type not in (
            "BONE",
            "OBJECT",
        ):
            raise BridgeError(f"{child.name!r} is not simply parented: its place in the link is not known")
        T_bone_mesh = double(child.matrix_parent_inverse) @ double(child.matrix_basis) @ T_bone_mesh
        if child == top:
            break
        child = child.parent
    bone = obj.data.bones[top.parent_bone]
    return link_from_bone(robot, bone.name, bone_from_children(bone, top) @ T_bone_mesh)


def link_from_bone(robot: Binding, bone: str, T_bone_mesh: Array) -> Array:
    """(4, 4) T_link_mesh with its scale, to metres."""
    T_link_mesh = np.eye(4)
    T_link_mesh[:3, :3] = robot.frames[robot.bones.index(bone)]
    T_link_mesh = T_link_mesh @ T_bone_mesh
    T_link_mesh[:3] *= robot.metres_per_unit
    return T_link_mesh


def bone_from_children(bone: bpy.types.Bone, child: bpy.types.Object) -> Array:
    """(4, 4) where in the bone's frame its children start from."""
    if bone.use_relative_parent:
        return np.linalg.inv(double(bone.matrix_local))
    T = np.eye(4)
    T[1, 3] = bone.length * getattr(child, "parent_bone_head_tail_factor", 1.0)  # since Blender 5.1; before: the tail
    return T


def double(matrix: object) -> Array:
    """A matrix of Blender's in double precision."""
    return np.array(matrix, float)
