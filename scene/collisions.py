"""What of a scene a robot may not touch: its own links, and obstacles."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from functools import lru_cache

import bpy
import numpy as np

from ..properties.bridge import Binding
from ..properties.bridge.visuals.mesh_hulls import mesh_hull
from ..properties.pairs.link_pairs import link_pairs
from ..robokin.arrays import Array
from ..robokin.collision import CollisionModel, Obstacle
from ..robokin.errors import RobokinError
from ..robokin.model.robot import RobotModel
from ..solvers import ClearanceTask
from ..solvers.progress import scaled
from .obstacle_shapes import all_shapes, world_now
from .obstacles import SceneObstacle, obstacles_in, obstacles_now, worlds_over
from .tasks.root_frames import metres_per_world_unit, roots_from_world


def collisions_over(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    frames: Sequence[float],
    robot: Binding,
) -> Generator[float, None, CollisionModel | None]:
    """Yield the share of the work done (0..1) now and then; return what may not touch over the frames; None for a robot
    without collision shapes.

    A mesh of a link counts as its convex hull, an obstacle as its convex parts, with the form that it has now.
    Links that a joint connects, and those that may touch (`pairs_left_out`), do not count. Raises RobokinError.
    """
    model = robot.model
    if not any(link.collisions for link in model.links):
        return None
    found = obstacles_in(scene, obj)
    worlds: dict[bpy.types.Object, Array] = {}
    if found:
        worlds = yield from scaled(worlds_over(scene, view_layer, obj, found, frames), 0.0, 0.5)
    return (yield from scaled(_collisions(obj, robot, found, worlds.__getitem__), 0.5, 1.0))


def collisions_now(
    scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding
) -> Generator[float, None, CollisionModel | None]:
    """What `collisions_over` says, with obstacles where they are in the scene as it stands."""
    if not any(link.collisions for link in robot.model.links):
        return None
    return (yield from _collisions(obj, robot, obstacles_now(scene, obj), world_now))


def _collisions(
    obj: bpy.types.Object,
    robot: Binding,
    obstacles: Sequence[SceneObstacle],
    world_of: Callable[[bpy.types.Object], Array],
) -> Generator[float, None, CollisionModel]:
    """world_of: (frames, 4, 4) of the robot, or of what moves an obstacle."""
    found: list[Obstacle] = []
    for each, shape in (yield from all_shapes(obj, obstacles)):
        placement = obstacle_placement(obj, robot, each, world_of)
        found += [Obstacle(each.name, hull, placement) for hull in shape.hulls]
    return CollisionModel(robot.model, found, pairs_left_out(obj, robot.model, found), mesh_hull)


def obstacle_placement(
    obj: bpy.types.Object, robot: Binding, obstacle: SceneObstacle, world_of: Callable[[bpy.types.Object], Array]
) -> Array:
    """(frames, 4, 4) of an obstacle in the root frame. world_of: (frames, 4, 4) of the robot, or of what moves it."""
    return roots_from_world(obj, world_of(obj), obstacle.world(world_of), f"obstacle {obstacle.name!r}", robot)


def pairs_left_out(obj: bpy.types.Object, model: RobotModel, obstacles: Iterable[Obstacle]) -> list[tuple[str, str]]:
    """Pairs of links, or of a link and an obstacle, that may touch: by the robot's list; of the links that are not in
    it those that do at rest."""
    listed, known = link_pairs(obj), {*model.link_names, *(each.name for each in obstacles)}
    resting = [(a, b) for a, b in _touching_at_rest(model) if not {(a, b), (b, a)} & listed.keys()]
    return [*resting, *((a, b) for (a, b), may in listed.items() if may and {a, b} <= known)]


def avoids_collisions(obj: bpy.types.Object, avoid: bool | None = None) -> bool:
    """avoid: in place of the robot's setting."""
    return bool(obj.robokin.solver.avoid_collisions) if avoid is None else avoid


def margin_of(obj: bpy.types.Object, robot: Binding) -> float:
    """[m] that nothing comes nearer."""
    return float(obj.robokin.solver.collision_margin * metres_per_world_unit(obj, robot))


def clearance_of(
    obj: bpy.types.Object, robot: Binding, collisions: CollisionModel | None, margin: float | None = None
) -> ClearanceTask:
    """What the robot keeps away from. margin [m]: in place of its own. Raises RobokinError for a robot without
    collision shapes, or whose meshes are not found."""
    known = checked_collisions(obj, collisions)
    placed = np.array([each.placement.reshape(-1, 4, 4)[0] for each in known.obstacles]).reshape(-1, 4, 4)
    return ClearanceTask(known, margin_of(obj, robot) if margin is None else margin, placed)


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
) -> Generator[float, None, list[ClearanceTask]]:
    """Yield the share of the work done (0..1) now and then; return what the robot keeps away from in the scene as it
    stands, as `clearance_of` says it, where it avoids collisions: one, or none. avoid, margin [m]: in place of its
    settings."""
    if not avoids_collisions(obj, avoid):
        return []
    return [clearance_of(obj, robot, (yield from collisions_now(scene, obj, robot)), margin)]


def obstacle_placements(collisions: CollisionModel, frames: int) -> Array:
    """(frames, obstacles, 4, 4) where obstacles are, in the root frame."""
    placed = [np.broadcast_to(each.placement, (frames, 4, 4)) for each in collisions.obstacles]
    return np.stack(placed, axis=1) if placed else np.empty((frames, 0, 4, 4))


@lru_cache(maxsize=16)
def _touching_at_rest(model: RobotModel) -> tuple[tuple[str, str], ...]:
    """Pairs of links that are in each other at rest, those that are so at every pose among them."""
    return tuple(CollisionModel(model, hull=mesh_hull).touching_at_rest())
