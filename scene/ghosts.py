"""Lines that show a robot at other joint values: sharp edges of its links' meshes, and a line from joint to joint."""

from __future__ import annotations

import bpy
import numpy as np

from ..properties.bridge import binding, read_configuration, world_from_root
from ..robokin import forward_kinematics
from ..robokin.arrays import Array

SHARP = np.cos(np.radians(30.0))  # of the angle between two faces
MOST = 60000  # lines of all ghosts together: what a view still draws fluently


def ghost_lines(obj: bpy.types.Object, Q: Array) -> Array:
    """(n, m, 2, 3) ends of lines in Blender's world, of the robot at each row of Q (n, nq). Raises RobokinError."""
    robot, now = binding(obj), read_configuration(obj)
    unit = np.diag([1.0 / robot.metres_per_unit] * 3 + [1.0])
    T_world_root = unit @ world_from_root(obj)
    links = forward_kinematics(robot.model, now)
    own: dict[str, list[Array]] = {}
    for child in obj.children:
        link = robot.link_of_bone.get(robot.own_bone(child.parent_bone)) if child.parent_type == "BONE" else None
        if link is not None and child.type == "MESH" and child.visible_get():
            T_link_mesh = np.linalg.inv(T_world_root @ links[link]) @ np.array(child.matrix_world, float)
            own.setdefault(link, []).append(sharp_edges(child.data) @ T_link_mesh[:3, :3].T + T_link_mesh[:3, 3])
    edges = {link: np.concatenate(lines) for link, lines in own.items()}
    every = max(1, -(-len(Q) * sum(map(len, edges.values())) // MOST))
    parts: list[list[Array]] = [[] for _ in Q]
    for lines, q in zip(parts, Q, strict=True):
        placed = {link: T_world_root @ T for link, T in forward_kinematics(robot.model, q).items()}
        for joint in robot.model.joints:
            if joint.parent in placed:
                lines.append(np.array([[placed[joint.parent][:3, 3], placed[joint.child][:3, 3]]]))
        for link, ends in edges.items():
            T = placed[link]
            lines.append(ends[::every] @ T[:3, :3].T + T[:3, 3])
    return np.array([np.concatenate([np.empty((0, 2, 3)), *lines]) for lines in parts]).reshape(len(Q), -1, 2, 3)


def sharp_edges(mesh: bpy.types.Mesh) -> Array:
    """(m, 2, 3) ends of a mesh's edges at which its faces bend, and of those that are not between two faces."""
    points, ends = np.empty(3 * len(mesh.vertices), np.float32), np.empty(2 * len(mesh.edges), np.int32)
    mesh.vertices.foreach_get("co", points)
    mesh.edges.foreach_get("vertices", ends)
    edge_of, sizes = np.empty(len(mesh.loops), np.int32), np.empty(len(mesh.polygons), np.int32)
    normals = np.empty(3 * len(mesh.polygons), np.float32)
    mesh.loops.foreach_get("edge_index", edge_of)
    mesh.polygons.foreach_get("loop_total", sizes)
    mesh.polygons.foreach_get("normal", normals)
    of_loops = np.repeat(normals.reshape(-1, 3), sizes, axis=0)
    faces = np.bincount(edge_of, minlength=len(mesh.edges))
    total = np.stack([np.bincount(edge_of, of_loops[:, i], len(mesh.edges)) for i in range(3)], axis=1)
    is_sharp = (faces != 2) | ((total**2).sum(axis=1) < 2.0 + 2.0 * SHARP)
    return points.reshape(-1, 3)[ends.reshape(-1, 2)[is_sharp]].astype(float)
