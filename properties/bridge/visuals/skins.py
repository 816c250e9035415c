"""Meshes that the armature of a robot deforms."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import bpy
import numpy as np

from ..errors import BridgeError
from ..model.binding import Binding
from ..parents import with_parents
from ..record.snapshot import is_robot
from .link_meshes import LinkSurface, double, link_from_bone, placed, points_and_triangles

_CHUNK = 10_000  # triangles looked at together


def bone_under_skin(shown: bpy.types.Object, face: int) -> tuple[bpy.types.Object, str] | None:
    """(robot, bone) of the bone that moves a face of a mesh most, by the weights of its corners. shown: the mesh as
    the viewport shows it, evaluated. None where no robot's armature deforms that face."""
    for modifier in shown.original.modifiers:
        robot = modifier.object if modifier.type == "ARMATURE" and modifier.show_viewport else None
        if robot is None or not is_robot(robot) or not 0 <= face < len(shown.data.polygons):
            continue
        bones = _deforming_bones(robot, shown)
        shares: Counter[str] = Counter()
        for corner in shown.data.polygons[face].vertices:
            shares.update(_shares(shown.data.vertices[corner], bones))
        for bone, _ in shares.most_common(1):
            return robot, bone
    return None


def skin_surfaces(context: bpy.types.Context, obj: bpy.types.Object, robot: Binding) -> dict[str, list[LinkSurface]]:
    """Find by bone of a link the faces that it, or a bone below it, moves most, of each mesh that is shown and that the
    robot deforms by weights. The mesh is as its other modifiers leave it. Raises BridgeError, which names the mesh."""
    deforming = [
        modifier
        for mesh in context.view_layer.objects
        if mesh.type == "MESH" and mesh.visible_get() and mesh.display_type != "BOUNDS"
        if all(each.parent_type != "BONE" for each in with_parents(mesh))
        for modifier in mesh.modifiers
        if modifier.type == "ARMATURE" and modifier.object == obj and modifier.show_viewport
        if modifier.use_vertex_groups
    ]
    found: dict[str, list[LinkSurface]] = {}
    try:
        for modifier in deforming:
            modifier.show_viewport = False
        depsgraph = context.evaluated_depsgraph_get()
        for mesh in dict.fromkeys(modifier.id_data for modifier in deforming):
            for bone, surface in _parts(depsgraph, obj, robot, mesh):
                found.setdefault(bone, []).append(surface)
    finally:
        for modifier in deforming:
            modifier.show_viewport = True
    return found


def _parts(
    depsgraph: bpy.types.Depsgraph, obj: bpy.types.Object, robot: Binding, mesh: bpy.types.Object
) -> list[tuple[str, LinkSurface]]:
    """What each link moves most of a mesh that is not deformed."""
    shown = mesh.evaluated_get(depsgraph)
    bones = _deforming_bones(obj, mesh)
    links = {bone: _link_of(obj, robot, bone) for bone in bones.values()}
    data = shown.to_mesh(preserve_all_data_layers=True, depsgraph=depsgraph)
    try:
        points, corners = points_and_triangles(data)
        weights = np.zeros((len(points), len(robot.bones) + 1), np.float32)  # the last: of bones that no link has
        for vertex in data.vertices:
            for bone, share in _shares(vertex, bones).items():
                weights[vertex.index, links[bone]] += share
    finally:
        shown.to_mesh_clear()
    most = np.full(len(corners), -1)
    for start in range(0, len(corners), _CHUNK):
        shares = sum(weights[own] for own in corners[start : start + _CHUNK].T)
        most[start : start + _CHUNK] = np.where(shares.any(axis=1), shares.argmax(axis=1), -1)
    T_obj_mesh = np.linalg.inv(double(obj.matrix_world)) @ double(shown.matrix_world)
    parts = []
    for k in np.unique(most[(most >= 0) & (most < len(robot.bones))]):
        bone = robot.bones[k]
        T_bone_mesh = np.linalg.inv(double(obj.data.bones[bone].matrix_local)) @ T_obj_mesh
        try:
            part = placed(mesh.name, points, corners[most == k], link_from_bone(robot, bone, T_bone_mesh))
        except BridgeError as fault:
            raise BridgeError(f"mesh {mesh.name!r}: {fault}") from None
        parts.append((bone, replace(part, is_cut=True)))
    return parts


def _deforming_bones(robot: bpy.types.Object, mesh: bpy.types.Object) -> dict[int, str]:
    """Bones that deform the mesh by the numbers of their vertex groups."""
    bones = robot.data.bones
    return {each.index: each.name for each in mesh.vertex_groups if each.name in bones and bones[each.name].use_deform}


def _shares(vertex: bpy.types.MeshVertex, bones: dict[int, str]) -> dict[str, float]:
    """What each bone has in the motion of a vertex; all together 1, as Blender takes weights."""
    weights = {bones[each.group]: each.weight for each in vertex.groups if each.group in bones and each.weight}
    whole = sum(weights.values())
    return {bone: weight / whole for bone, weight in weights.items()}


def _link_of(obj: bpy.types.Object, robot: Binding, bone: str) -> int:
    """The number of the link that moves with a bone, len(robot.bones) for none."""
    own = next((each.name for each in with_parents(obj.data.bones[bone]) if each.name in robot.bones), None)
    return len(robot.bones) if own is None else robot.bones.index(own)
