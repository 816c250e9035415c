"""What of a scene is an obstacle: mesh objects and collections that are marked, and instances of them; their convex
parts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..properties.collection import marked_collections
from ..properties.handlers import add_handler, remove_handler
from ..robokin.arrays import Array
from ..robokin.collision import Hull
from ..robokin.collision.convex_parts import convex_parts
from .animation import frames as animation
from .tasks.root_frames import metres_per_world_unit
from .tasks.shapes import placed_points, triangles_of
from .tasks.targets import world_matrix

_CHUNK = 32  # frames of the scene visited between two reports of progress
_KEPT = 512  # shapes of obstacles
_DIGITS = 6  # sizes that agree so far are one


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


def obstacles_in(scene: bpy.types.Scene, robot: bpy.types.Object) -> list[SceneObstacle]:
    """The obstacles of a robot: mesh objects that are marked or in a marked collection, also nested ones and instances,
    but for what hangs on the robot's own bones."""
    marked = {obj for collection in marked_collections(scene) for obj in collection.all_objects}
    found: dict[SceneObstacle, None] = {}  # in order
    for obj in scene.objects:
        if obj.type in ("MESH", "EMPTY"):
            for each in _within(obj, False, marked, ()):
                if not any(_hangs_on(owner, robot) for owner in each.owners):
                    found[each] = None
    return list(found)


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


def _hangs_on(obj: bpy.types.Object, robot: bpy.types.Object) -> bool:
    if any(modifier.type == "ARMATURE" and modifier.object == robot for modifier in obj.modifiers):
        return True
    while obj.parent is not None:
        if obj.parent == robot and obj.parent_type == "BONE":
            return True
        obj = obj.parent
    return False


def worlds_over(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    robot: bpy.types.Object,
    obstacles: Sequence[SceneObstacle],
    frames: Sequence[float],
) -> Generator[float, None, dict[bpy.types.Object, Array]]:
    """Yield the share of the frames visited now and then; return (frames, 4, 4) world matrices of the robot and of what
    moves obstacles. Raises RobokinError."""
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
            if index % _CHUNK == 0:
                yield index / len(frames)
    return worlds


@dataclass(frozen=True, eq=False)
class ObstacleShape:
    """hulls: convex parts in the obstacle's axes without scale [m].   excess [m]: how far they are beyond the mesh."""

    hulls: tuple[Hull, ...]
    excess: float


_shapes: dict[tuple, tuple[bytes, ObstacleShape]] = {}  # with the form that each was made of
_read: dict[int, bytes] = {}  # forms by session_uids, of objects that have not changed since they were read


def obstacle_shape(
    robot: bpy.types.Object, obstacle: SceneObstacle, world: Array, is_watched: bool = False
) -> ObstacleShape:
    """The parts of an obstacle at a world matrix (4, 4), by its scale; none of an empty mesh. They are found once for
    each form and size. is_watched: where Blender has told no change its mesh is not read again. Raises RobokinError
    naming the obstacle."""
    owner, stretch = obstacle.mesh, np.asarray(world, float)[:3, :3]
    is_mirrored = bool(np.linalg.det(stretch) < 0.0)
    key = owner.session_uid, *_size(stretch), is_mirrored, f"{metres_per_world_unit(robot):.{_DIGITS}g}"
    kept = _shapes.get(key)
    if kept is not None and is_watched and kept[0] == read_form(obstacle):
        return kept[1]
    points, triangles = triangles_of(owner)
    form = points.tobytes() + triangles.tobytes()
    if kept is None or kept[0] != form:
        placed = placed_points(robot, owner.name, stretch, points, f"obstacle {obstacle.name!r}")
        parts = convex_parts(placed, triangles[:, ::-1] if is_mirrored else triangles)
        if len(_shapes) >= _KEPT:
            _shapes.clear()
        hulls = tuple(map(Hull, parts.parts)) if len(points) else ()
        kept = _shapes[key] = form, ObstacleShape(hulls, parts.excess)
    _read[owner.session_uid] = kept[0]
    return kept[1]


def _size(stretch: Array) -> tuple[bytes, int]:
    """What is the same for axes (3, 3) of one size, however they are turned."""
    squares = stretch.T @ stretch
    exponent = int(np.frexp(1.5 * squares.max())[1])  # 1 is inside its interval
    return (np.round(np.ldexp(squares, -exponent), _DIGITS) + 0.0).tobytes(), exponent


def farthest_beyond(
    scene: bpy.types.Scene, robot: bpy.types.Object, objects: set[bpy.types.Object]
) -> tuple[float, str]:
    """How far convex parts reach beyond meshes at most [m], and the obstacle that does, of those that objects are or
    move. Raises RobokinError."""
    worst = 0.0, ""
    for each in obstacles_in(scene, robot):
        if not objects.isdisjoint(each.owners):
            world = each.world(lambda owner: world_matrix((owner, ""))[None])
            worst = max(worst, (obstacle_shape(robot, each, world[0]).excess, each.name))
    return worst


def read_form(obstacle: SceneObstacle) -> bytes | None:
    """The mesh as it was read last; None where Blender has told a change since."""
    return _read.get(obstacle.mesh.session_uid)


def _forget_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    for update in depsgraph.updates if _read else ():
        if update.is_updated_geometry:
            _read.pop(update.id.original.session_uid, None)


def _forget_all(*_: object) -> None:
    _shapes.clear()
    _read.clear()


def register() -> None:
    add_handler("load_post", _forget_all)
    add_handler("depsgraph_update_post", _forget_changed)


def unregister() -> None:
    remove_handler("depsgraph_update_post", _forget_changed)
    remove_handler("load_post", _forget_all)
    _forget_all()
