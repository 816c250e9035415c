"""What of a scene a robot may not touch: its own links, and the objects that are marked as obstacles."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from functools import lru_cache

import bpy
import numpy as np

from ..properties.bridge import Binding, binding
from ..properties.bridge.visuals.meshes.reading import is_supported, read_mesh
from ..properties.link_pairs import link_pairs
from ..robokin.arrays import Array
from ..robokin.collision import CollisionModel, Hull, Obstacle
from ..robokin.errors import RobokinError
from ..robokin.model.geometry import Mesh
from ..robokin.model.robot import RobotModel
from .animation import frames as animation
from .tasks.root_frames import roots_from_world
from .tasks.shapes import parts_of, points_of
from .tasks.targets import world_matrix

_PARTS = 64  # loose parts of an obstacle that count for themselves
_CHUNK = 32  # frames of the scene visited between two reports of progress


def obstacles_in(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The mesh objects that are marked as obstacles."""
    return [obj for obj in scene.objects if obj.type == "MESH" and obj.robokin.is_obstacle]


def collisions_over(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    frames: Sequence[float],
    robot: Binding | None = None,
) -> Generator[float, None, CollisionModel | None]:
    """Yield the share of the work done (0..1) now and then; return what may not touch over the frames; None for a robot
    without collision shapes.

    A mesh counts as its convex hull, an obstacle as that of each of its loose parts, with the form that it has now.
    Links that a joint connects, and those that may touch (`pairs_left_out`), do not count. Raises RobokinError.
    """
    robot = robot or binding(obj)
    model = robot.model
    if not any(link.collisions for link in model.links):
        return None
    owners = obstacles_in(scene)
    places = [(owner, "") for owner in (obj, *owners)]
    worlds: dict[bpy.types.Object, Array] = {}
    for owner, _ in places if owners else ():
        if animation.moved_by_keys_only(owner):
            worlds[owner] = animation.keyed_matrices(owner, frames)
    visited = [place for place in places if owners and place[0] not in worlds]
    for owner, _ in visited:
        animation.check_evaluated(owner, view_layer, f"obstacle {owner.name!r}" if owner != obj else f"{obj.name!r}")
        worlds[owner] = np.empty((len(frames), 4, 4))
    if visited:
        for index in animation.visit_frames(scene, frames):
            for place in visited:
                worlds[place[0]][index] = world_matrix(place)
            if index % _CHUNK == 0:
                yield index / len(frames)
    found = []
    for owner in owners:
        who = f"obstacle {owner.name!r}"
        placement = roots_from_world(obj, worlds[obj], worlds[owner], who, robot)
        found += [Obstacle(owner.name, Hull(points), placement) for points in _parts(obj, owner, who)]
    return CollisionModel(model, found, pairs_left_out(obj, model), mesh_hull)


def _parts(obj: bpy.types.Object, owner: bpy.types.Object, who: str) -> list[Array]:
    """(n, 3) points of each loose part of an obstacle; of all together where they are many, as in a soup of faces."""
    parts = parts_of(obj, owner, who)
    return parts if len(parts) <= _PARTS else [points_of(obj, owner, who)]


def pairs_left_out(obj: bpy.types.Object, model: RobotModel) -> list[tuple[str, str]]:
    """Pairs of links that may touch: by the robot's list; of those that are not in it the ones that do at rest."""
    listed, known = link_pairs(obj), set(model.link_names)
    resting = [(a, b) for a, b in touching_at_rest(model) if not {(a, b), (b, a)} & listed.keys()]
    return [*resting, *((a, b) for (a, b), may in listed.items() if may and {a, b} <= known)]


@lru_cache(maxsize=16)
def touching_at_rest(model: RobotModel) -> tuple[tuple[str, str], ...]:
    """Pairs of links that are in each other at rest, those that are so at every pose among them."""
    resting = CollisionModel(model, hull=mesh_hull).contacts(model.neutral()[None])
    return tuple({contact.names for contact in resting})


def mesh_hull(mesh: Mesh) -> Hull | None:
    """The convex hull of a mesh file; None for one that cannot be read."""
    if mesh.path is None or not is_supported(mesh.path):
        return None
    try:
        return _hull(mesh.path, tuple(mesh.scale), os.stat(mesh.path).st_mtime)
    except (OSError, RobokinError):
        return None


@lru_cache(maxsize=256)
def _hull(path: str, scale: tuple[float, float, float], changed: float) -> Hull:
    return Hull(read_mesh(path).vertices * np.array(scale))
