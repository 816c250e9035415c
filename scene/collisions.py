"""What of a scene a robot may not touch: its own links, and the objects that are marked as obstacles."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import lru_cache

import bpy
import numpy as np

from ..properties.bridge import Binding
from ..properties.bridge.visuals.mesh_hulls import mesh_hull
from ..properties.pairs.link_pairs import link_pairs
from ..robokin.arrays import Array
from ..robokin.collision import CollisionModel, Hull, Obstacle
from ..robokin.errors import RobokinError
from ..robokin.model.robot import RobotModel
from ..solvers import ClearanceTask
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
    robot: Binding,
) -> Generator[float, None, CollisionModel | None]:
    """Yield the share of the work done (0..1) now and then; return what may not touch over the frames; None for a robot
    without collision shapes.

    A mesh counts as its convex hull, an obstacle as that of each of its loose parts, with the form that it has now.
    Links that a joint connects, and those that may touch (`pairs_left_out`), do not count. Raises RobokinError.
    """
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
    return _collisions(obj, robot, owners, worlds)


def collisions_now(scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding) -> CollisionModel | None:
    """What may not touch, as `collisions_over` says it, with obstacles where they are in the scene as it stands."""
    owners = obstacles_in(scene)
    if not any(link.collisions for link in robot.model.links):
        return None
    return _collisions(obj, robot, owners, {owner: world_matrix((owner, ""))[None] for owner in (obj, *owners)})


def _collisions(
    obj: bpy.types.Object,
    robot: Binding,
    owners: Sequence[bpy.types.Object],
    worlds: Mapping[bpy.types.Object, Array],
) -> CollisionModel:
    """worlds: (frames, 4, 4) of the robot and each obstacle."""
    found = []
    for owner in owners:
        who = f"obstacle {owner.name!r}"
        placement = roots_from_world(obj, worlds[obj], worlds[owner], who, robot)
        found += [Obstacle(owner.name, Hull(points), placement) for points in _parts(obj, owner, who)]
    return CollisionModel(robot.model, found, pairs_left_out(obj, robot.model), mesh_hull)


def _parts(obj: bpy.types.Object, owner: bpy.types.Object, who: str) -> list[Array]:
    """(n, 3) points of each loose part of an obstacle; of all together where they are many, as in a soup of faces."""
    parts = parts_of(obj, owner, who)
    return parts if len(parts) <= _PARTS else [points_of(obj, owner, who)]


def pairs_left_out(obj: bpy.types.Object, model: RobotModel) -> list[tuple[str, str]]:
    """Pairs of links that may touch: by the robot's list; of those that are not in it the ones that do at rest."""
    listed, known = link_pairs(obj), set(model.link_names)
    resting = [(a, b) for a, b in _touching_at_rest(model) if not {(a, b), (b, a)} & listed.keys()]
    return [*resting, *((a, b) for (a, b), may in listed.items() if may and {a, b} <= known)]


def avoids_collisions(obj: bpy.types.Object, avoid: bool | None = None) -> bool:
    """avoid: in place of the robot's setting."""
    return bool(obj.robokin.solver.avoid_collisions) if avoid is None else avoid


def clearance_of(
    obj: bpy.types.Object, robot: Binding, collisions: CollisionModel | None, margin: float | None = None
) -> ClearanceTask:
    """What the robot keeps away from. margin [m]: in place of its own. Raises RobokinError for a robot without
    collision shapes, or whose meshes are not found."""
    own = obj.robokin.solver.collision_margin * robot.metres_per_unit
    known = checked_collisions(obj, collisions)
    placed = np.array([each.placement.reshape(-1, 4, 4)[0] for each in known.obstacles]).reshape(-1, 4, 4)
    return ClearanceTask(known, own if margin is None else margin, placed)


def checked_collisions(obj: bpy.types.Object, collisions: CollisionModel | None) -> CollisionModel:
    """What may not touch, all of which is known. Raises RobokinError."""
    if collisions is None:
        raise RobokinError(f"no link of {obj.name!r} has a collision shape: Fit Collision Shapes makes them")
    if collisions.left_out:
        names = ", ".join(dict.fromkeys(collisions.left_out))
        raise RobokinError(f"the collision meshes of {names} are not found: they cannot be avoided")
    return collisions


def clearance_now(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    robot: Binding,
    avoid: bool | None = None,
    margin: float | None = None,
) -> list[ClearanceTask]:
    """What the robot keeps away from in the scene as it stands, as `clearance_of` says it, where it avoids
    collisions: one, or none. avoid, margin [m]: in place of its settings."""
    if not avoids_collisions(obj, avoid):
        return []
    return [clearance_of(obj, robot, collisions_now(scene, obj, robot), margin)]


def obstacle_placements(collisions: CollisionModel, frames: int) -> Array:
    """(frames, obstacles, 4, 4) where obstacles are, in the root frame."""
    placed = [np.broadcast_to(each.placement, (frames, 4, 4)) for each in collisions.obstacles]
    return np.stack(placed, axis=1) if placed else np.empty((frames, 0, 4, 4))


@lru_cache(maxsize=16)
def _touching_at_rest(model: RobotModel) -> tuple[tuple[str, str], ...]:
    """Pairs of links that are in each other at rest, those that are so at every pose among them."""
    return tuple(CollisionModel(model, hull=mesh_hull).touching_at_rest())
