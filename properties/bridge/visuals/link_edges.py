"""The sharp edges of the meshes of links: lines that show a robot at other joint values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import bpy
import numpy as np

from ....robokin import forward_kinematics
from ....robokin.arrays import Array
from ..model.binding import Binding
from ..pose.configuration import read_configuration
from ..pose.frames import world_from_root

Key = TypeVar("Key", str, int)

SHARP = np.cos(np.radians(30.0))  # of the angle between two faces
SMALL = 0.25  # of the size of a mesh: edges that hang together and reach less far are of a screw, a letter, a notch
MOST = 60000  # lines of all ghosts together: what a view still draws fluently, while frames are played too


def shown_meshes(obj: bpy.types.Object, robot: Binding) -> list[tuple[str, bpy.types.Object]]:
    """(link, mesh object) of those that are seen and hang on a bone of the robot."""
    found = []
    for child in obj.children:
        link = robot.link_of_bone.get(robot.own_bone(child.parent_bone)) if child.parent_type == "BONE" else None
        if link is not None and child.type == "MESH" and child.visible_get():
            found.append((link, child))
    return found


def link_edges(obj: bpy.types.Object, robot: Binding) -> dict[str, Array]:
    """(m, 2, 3) ends of the sharp edges of each link whose meshes have some, in its frame [m]."""
    unit = np.diag([1.0 / robot.metres_per_unit] * 3 + [1.0])
    T_world_root = unit @ world_from_root(obj, None, robot)
    links = forward_kinematics(robot.model, read_configuration(obj, robot))
    own: dict[str, list[Array]] = {}
    for link, child in shown_meshes(obj, robot):
        T_link_mesh = np.linalg.inv(T_world_root @ links[link]) @ np.array(child.matrix_world, float)
        own.setdefault(link, []).append(sharp_edges(child.data) @ T_link_mesh[:3, :3].T + T_link_mesh[:3, 3])
    whole = {link: np.concatenate(lines) for link, lines in own.items()}
    return {link: lines for link, lines in whole.items() if len(lines)}


def thinned(edges: Mapping[Key, Array], copies: int) -> dict[Key, Array]:
    """Only so many of the edges that as many copies of them have MOST lines."""
    every = max(1, -(-copies * sum(map(len, edges.values())) // MOST))
    return {link: ends[::every] for link, ends in edges.items()}


def sharp_edges(mesh: bpy.types.Mesh) -> Array:
    """(m, 2, 3) ends of a mesh's edges at which its faces bend, and of those that are not between two faces; without
    those of small details."""
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
    return _large(points.reshape(-1, 3).astype(float), ends.reshape(-1, 2)[is_sharp])


def _large(points: Array, edges: Array) -> Array:
    """(m, 2, 3) the edges (k, 2) between points (n, 3), of those that hang together and reach far."""
    if not len(edges):
        return np.empty((0, 2, 3))
    label, before = np.arange(len(points)), np.empty(0, int)
    while not np.array_equal(label, before):  # the least index of all that hang together
        before = label.copy()
        least = label[edges].min(axis=1)
        np.minimum.at(label, edges.ravel(), np.repeat(least, 2))
        label = label[label]
    used = np.unique(edges)
    low, high = np.full(points.shape, np.inf), np.full(points.shape, -np.inf)
    np.minimum.at(low, label[used], points[used])
    np.maximum.at(high, label[used], points[used])
    reach = np.linalg.norm((high - low)[label[edges[:, 0]]], axis=1)
    return points[edges[reach >= SMALL * np.linalg.norm(np.ptp(points, axis=0))]]
