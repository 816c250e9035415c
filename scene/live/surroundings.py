"""What a robot that follows its targets keeps away from: looked at in each update, made anew only where it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.bridge.visuals.mesh_hulls import mesh_hull
from ...robokin.arrays import Array
from ...robokin.collision import CollisionModel, Hull, Obstacle
from ...solvers import ClearanceTask
from ..collisions import checked_collisions, obstacle_placement, pairs_left_out
from ..obstacles import SceneObstacle, is_unchanged, obstacle_shape, obstacles_in
from ..tasks.targets import world_matrix


@dataclass(frozen=True, eq=False)
class Surroundings:
    """clearance: what is kept apart.   placements: (obstacles, 4, 4) where obstacles are, in the root frame."""

    clearance: ClearanceTask
    placements: Array


class Watch:
    """The surroundings of one robot, as they were seen last."""

    def __init__(self) -> None:
        self._key: tuple | None = None
        self._clearance: ClearanceTask | None = None
        self._seen: dict[SceneObstacle, tuple[tuple, tuple[Hull, ...], Array]] = {}

    def look(
        self, scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding, worlds: Mapping[bpy.types.Object, Array]
    ) -> Surroundings | None:
        """None: the robot does not avoid collisions. worlds: (4, 4) of objects that were moved in this update.
        Raises RobokinError."""
        if not obj.robokin.solver.avoid_collisions:
            self._key, self._clearance, self._seen = None, None, {}
            return None

        def world_of(owner: bpy.types.Object) -> Array:
            return (worlds[owner] if owner in worlds else world_matrix((owner, "")))[None]

        found: list[tuple[str, Hull]] = []
        placements = []
        before, self._seen = self._seen, {}
        for each in obstacles_in(scene, obj):
            world = each.world(world_of)
            where = robot, world_of(obj).tobytes(), world.tobytes()
            known = before.get(each)
            if known is None or known[0] != where or not is_unchanged(each):
                shape = obstacle_shape(obj, each, world[0], is_watched=True)
                known = where, shape.hulls, obstacle_placement(obj, robot, each, world_of)[0]
            self._seen[each] = known
            found += [(each.name, hull) for hull in known[1]]
            placements += [known[2]] * len(known[1])
        off = pairs_left_out(obj, robot.model)
        margin = obj.robokin.solver.collision_margin * robot.metres_per_unit
        key = robot.model, tuple(found), tuple(off), margin
        if self._clearance is None or key != self._key:
            obstacles = [Obstacle(name, hull) for name, hull in found]
            has_shapes = any(link.collisions for link in robot.model.links)
            seen = CollisionModel(robot.model, obstacles, off, mesh_hull) if has_shapes else None
            self._clearance, self._key = ClearanceTask(checked_collisions(obj, seen), margin), key
        return Surroundings(self._clearance, np.array(placements).reshape(-1, 4, 4))
