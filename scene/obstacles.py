"""What of a scene is an obstacle: mesh objects and collections that are marked, and instances of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..properties.collection import marked_collections
from ..robokin.arrays import Array
from .animation import frames as animation
from .tasks.targets import world_matrix

_CHUNK = 32  # frames of the scene visited between two reports of progress
_AWAY = 1e6  # [world units] to where what a robot carries is no obstacle
_CARRY = ("CHILD_OF", "COPY_TRANSFORMS")  # constraints with one target


@dataclass(frozen=True)
class SceneObstacle:
    """A mesh object, perhaps as an instance. through: the objects that instance its collection, the outermost first,
    each with that collection."""

    mesh: bpy.types.Object
    through: tuple[tuple[bpy.types.Object, bpy.types.Collection], ...] = ()

    @property
    def name(self) -> str:
        return "/".join([owner.name for owner, _ in self.through] + [self.mesh.name])

    @property
    def owners(self) -> tuple[bpy.types.Object, ...]:
        """The objects whose motion moves it."""
        return (*(owner for owner, _ in self.through), self.mesh)

    def world(self, of: Callable[[bpy.types.Object], Array]) -> Array:
        """(n, 4, 4) where it is, its scale included. of: (n, 4, 4) world matrices of an object."""
        world: Array = np.eye(4)
        for owner, collection in self.through:
            offset = np.eye(4)
            offset[:3, 3] = -np.array(collection.instance_offset)
            world = world @ of(owner) @ offset
        return world @ of(self.mesh)


def obstacles_in(
    scene: bpy.types.Scene, robot: bpy.types.Object, more: Iterable[bpy.types.Object] = ()
) -> list[SceneObstacle]:
    """The obstacles of a robot: mesh objects that are marked or in a marked collection, also nested ones and instances,
    but for what hangs on the robot's own bones. more: what counts as marked too."""
    marked = {obj for collection in marked_collections(scene) for obj in collection.all_objects} | {*more}
    found: dict[SceneObstacle, None] = {}  # in order
    for obj in scene.objects:
        if obj.type in ("MESH", "EMPTY"):
            for each in _within(obj, False, marked, ()):
                if not any(hangs_on(owner, robot) for owner in each.owners):
                    found[each] = None
    return list(found)


def obstacles_now(scene: bpy.types.Scene, robot: bpy.types.Object) -> list[SceneObstacle]:
    """The obstacles of a robot as the scene stands: without what it carries by a constraint."""
    return [each for each in obstacles_in(scene, robot) if not any(is_carried(owner, robot) for owner in each.owners)]


def _within(
    obj: bpy.types.Object,
    is_marked: bool,
    marked: set[bpy.types.Object],
    through: tuple[tuple[bpy.types.Object, bpy.types.Collection], ...],
) -> Iterator[SceneObstacle]:
    """The obstacle that an object is, or those that it instances. is_marked: what instances it is."""
    own = is_marked or obj in marked or obj.robokin.is_obstacle
    if obj.type == "MESH" and own:
        yield SceneObstacle(obj, through)
    collection = obj.instance_collection if obj.instance_type == "COLLECTION" else None
    if collection is not None and collection not in (inner for _, inner in through):
        is_whole = own or collection.robokin.is_obstacle
        for inner in collection.all_objects:
            yield from _within(inner, is_whole, marked, (*through, (obj, collection)))


def hangs_on(obj: bpy.types.Object, robot: bpy.types.Object) -> bool:
    """Whether a robot carries an object on a bone: then it belongs to that link, and is no obstacle of the robot."""
    if any(modifier.type == "ARMATURE" and modifier.object == robot for modifier in obj.modifiers):
        return True
    while obj.parent is not None:
        if obj.parent == robot and obj.parent_type == "BONE":
            return True
        obj = obj.parent
    return False


def is_carried(obj: bpy.types.Object, robot: bpy.types.Object) -> bool:
    """Whether a constraint with influence lets an object, or what it is parented to, go where a bone of a robot
    goes, as the scene stands."""
    if any(each.influence > 0.0 and not each.mute and _carries(each, robot) for each in obj.constraints):
        return True
    return obj.parent is not None and is_carried(obj.parent, robot)


def _carries(constraint: bpy.types.Constraint, robot: bpy.types.Object) -> bool:
    targets = constraint.targets if constraint.type == "ARMATURE" else (constraint,) * (constraint.type in _CARRY)
    return any(each.target == robot and each.subtarget for each in targets)


def worlds_over(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    robot: bpy.types.Object,
    obstacles: Sequence[SceneObstacle],
    frames: Sequence[float],
) -> Generator[float, None, dict[bpy.types.Object, Array]]:
    """Yield the share of the frames visited now and then; return (frames, 4, 4) world matrices of the robot and of what
    moves obstacles; far away where the robot carries it by a constraint. Raises RobokinError."""
    owners = dict.fromkeys((robot, *(owner for each in obstacles for owner in each.owners)))
    instanced = {owner for each in obstacles for owner in each.owners[1:]}
    worlds = {owner: animation.keyed_matrices(owner, frames) for owner in owners if animation.moved_by_keys_only(owner)}
    visited = [owner for owner in owners if owner not in worlds]
    for owner in visited:
        if owner not in instanced or owner.hide_viewport:  # Blender evaluates what is instanced, in no layer too
            who = f"{owner.name!r}" if owner == robot else f"obstacle {owner.name!r}"
            animation.check_evaluated(owner, view_layer, who)
        worlds[owner] = np.empty((len(frames), 4, 4))
    if visited:
        for index in animation.visit_frames(scene, frames):
            for owner in visited:
                worlds[owner][index] = world_matrix((owner, ""))
                worlds[owner][index, 0, 3] += _AWAY * (owner != robot and is_carried(owner, robot))
            if index % _CHUNK == 0:
                yield index / len(frames)
    return worlds
