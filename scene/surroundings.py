"""What a robot may touch or not, as the scene stands: looked at often, made anew only where it changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import bpy
import numpy as np

from ..properties.bridge import Binding, binding
from ..properties.bridge.visuals.mesh_hulls import mesh_hull
from ..properties.handlers import register_cache_factory
from ..robokin.arrays import Array
from ..robokin.collision import CollisionModel, Hull, Obstacle
from .animation.frames import stands_still
from .collisions import checked_collisions, obstacle_placement, pairs_left_out
from .obstacle_shapes import read_form, shape_soon
from .obstacles import SceneObstacle, obstacles_now
from .tasks.targets import world_matrix


@dataclass(frozen=True, eq=False)
class Surroundings:
    """collisions: the pairs; the same object for as long as they and their shapes are the same.   placements:
    (obstacles, 4, 4) where obstacles are, in the root frame [m]."""

    collisions: CollisionModel
    placements: Array

    def is_as(self, other: Surroundings | None) -> bool:
        return (
            other is not None
            and self.collisions is other.collisions
            and np.array_equal(self.placements, other.placements)
        )


class Watch:
    """The surroundings of one robot, as they were seen last."""

    def __init__(self) -> None:
        self._key: tuple | None = None
        self._collisions: CollisionModel | None = None
        self._known: dict[SceneObstacle, tuple[tuple, bytes | None, tuple[Hull, ...], Array]] = {}

    def look(
        self,
        scene: bpy.types.Scene,
        obj: bpy.types.Object,
        robot: Binding,
        moved: Callable[[bpy.types.Object], Array | None],
        still: bool = False,
    ) -> Surroundings:
        """moved: the world matrix (4, 4) of an object that was moved in this update, before Blender has computed it;
        None of others. still: without obstacles that are animated. Raises RobokinError, also for a robot without
        collision shapes."""

        def world_of(owner: bpy.types.Object) -> Array:
            brought = moved(owner)
            return (world_matrix((owner, "")) if brought is None else brought)[None]

        found: list[tuple[str, Hull]] = []
        placements = []
        before, self._known = self._known, {}
        for each in obstacles_now(scene, obj):
            if still and not all(map(stands_still, (obj, *each.owners))):
                continue
            world = each.world(world_of)
            where = robot, world_of(obj).tobytes(), world.tobytes()
            known = before.get(each)
            if known is None or known[0] != where or known[1] is None or known[1] != read_form(each):
                shape = shape_soon(obj, each, world[0])
                placement = obstacle_placement(obj, robot, each, world_of)[0]
                known = where, read_form(each), shape.hulls, placement
            self._known[each] = known
            found += [(each.name, hull) for hull in known[2]]
            placements += [known[3]] * len(known[2])
        obstacles = [Obstacle(name, hull) for name, hull in found]
        off = pairs_left_out(obj, robot.model, obstacles)
        key = robot.model, tuple(found), tuple(off)
        if self._collisions is None or key != self._key:
            has_shapes = any(link.collisions for link in robot.model.links)
            made = CollisionModel(robot.model, obstacles, off, mesh_hull) if has_shapes else None
            self._collisions, self._key = checked_collisions(obj, made), key
        return Surroundings(self._collisions, np.array(placements).reshape(-1, 4, 4))


_still: dict[int, tuple[Watch, Surroundings, CollisionModel]] = {}  # by session_uids of robots


def still_collisions(obj: bpy.types.Object) -> CollisionModel:
    """The pairs of a robot with obstacles that are not animated, where they are; the same object until something has
    changed. Raises RobokinError."""
    scene = (obj.users_scene or (bpy.context.scene,))[0]
    known = _still.get(obj.session_uid)
    watch = Watch() if known is None else known[0]
    view = watch.look(scene, obj, binding(obj), lambda owner: None, still=True)
    if known is None or not view.is_as(known[1]):
        obstacles = zip(view.collisions.obstacles, view.placements, strict=True)
        placed = [Obstacle(each.name, each.shape, T) for each, T in obstacles]
        known = _still[obj.session_uid] = watch, view, view.collisions.among(placed)
    return known[2]


def _forget_all(*_: object) -> None:
    _still.clear()


register, unregister = register_cache_factory(_forget_all)
