"""Convex parts of obstacles: made once for each form and size, in slices where somebody waits."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..properties.bridge import Changes
from ..properties.handlers import register_cache_factory
from ..robokin import RobokinError
from ..robokin.arrays import Array
from ..robokin.collision import Hull
from ..robokin.collision.convex_parts import convex_parts
from ..solvers.progress import scaled
from .obstacles import SceneObstacle, obstacles_in
from .tasks.root_frames import metres_per_world_unit
from .tasks.shapes import placed_points, triangles_of
from .tasks.targets import world_matrix

_KEPT = 512  # shapes of obstacles
_LEFT = 16  # that were begun
_MOMENT = 0.03  # [s] of work while somebody waits
_DIGITS = 6  # sizes that agree so far are one


class AwaitedError(RobokinError):
    """What is asked for is being made; it is there soon."""


@dataclass(frozen=True, eq=False)
class ObstacleShape:
    """hulls: convex parts in the obstacle's axes without scale [m].   excess [m]: how far they are beyond the mesh."""

    hulls: tuple[Hull, ...]
    excess: float


_shapes: dict[tuple, tuple[bytes, ObstacleShape]] = {}  # with the form that each was made of
_begun: dict[tuple, tuple[bytes, Generator[float, None, ObstacleShape]]] = {}  # the same of those that are being made
_read: dict[int, bytes] = {}  # forms by session_uids, of objects that have not changed since they were read


def obstacle_shape(
    robot: bpy.types.Object, obstacle: SceneObstacle, world: Array, is_watched: bool = False
) -> Generator[float, None, ObstacleShape]:
    """Yield the share of the work done (0..1) now and then; return the parts of an obstacle at a world matrix (4, 4),
    by its scale; none of an empty mesh. They are found once for each form and size; work that was left goes on where it
    was. is_watched: where Blender has noticed no change its mesh is not read again. Raises RobokinError naming the
    obstacle."""
    owner, stretch = obstacle.mesh, np.asarray(world, float)[:3, :3]
    is_mirrored = bool(np.linalg.det(stretch) < 0.0)
    key = owner.session_uid, *_size(stretch), is_mirrored, f"{metres_per_world_unit(robot):.{_DIGITS}g}"
    form = read_form(obstacle) if is_watched else None
    while True:
        if form is not None and _form(_shapes, key) == form:
            return _shapes[key][1]
        if form is None or _form(_begun, key) != form:
            points, triangles = triangles_of(owner)
            form = _read[owner.session_uid] = points.tobytes() + triangles.tobytes()
            if form not in (_form(_shapes, key), _form(_begun, key)):
                who = f"obstacle {obstacle.name!r}"
                placed = placed_points(robot, owner.name, stretch, points, who)
                steps = _made(who, placed, triangles[:, ::-1] if is_mirrored else triangles)
                _keep(_begun, key, (form, steps), _LEFT)
            continue
        steps = _begun.pop(key)[1]  # what fails is begun anew
        try:
            share = next(steps)
        except StopIteration as end:
            _keep(_shapes, key, (form, end.value), _KEPT)
        else:
            _keep(_begun, key, (form, steps), _LEFT)
            yield share


def _made(who: str, points: Array, triangles: Array) -> Generator[float, None, ObstacleShape]:
    """Yield the share of the work done (0..1) now and then; return the parts. Raises RobokinError that begins with
    `who`."""
    try:
        made = yield from convex_parts(points, triangles)
        return ObstacleShape(tuple(Hull(part) for part in made.parts if len(part)), made.excess)
    except RobokinError as error:
        raise RobokinError(f"{who}: {error}") from error


def _form(made: Mapping[tuple, tuple[bytes, Any]], key: tuple) -> bytes | None:
    """What something was made of."""
    return made[key][0] if key in made else None


def _keep(made: dict[tuple, tuple[bytes, Any]], key: tuple, value: tuple[bytes, Any], most: int) -> None:
    """In place of the oldest, where there are enough."""
    made.pop(key, None)
    if len(made) >= most:
        del made[next(iter(made))]
    made[key] = value


def shape_soon(robot: bpy.types.Object, obstacle: SceneObstacle, world: Array) -> ObstacleShape:
    """`obstacle_shape` of an obstacle that is watched, where somebody waits at the window: what is not made in a
    moment is made a little further by each call. Raises AwaitedError until then; RobokinError."""
    until = time.perf_counter() + _patience()
    steps = obstacle_shape(robot, obstacle, world, is_watched=True)
    try:
        while True:
            share = next(steps)
            if time.perf_counter() > until:
                raise AwaitedError(f"the convex parts of obstacle {obstacle.name!r} are being made: {share:.0%}")
    except StopIteration as end:
        return end.value


def _patience() -> float:
    """[s] of whoever waits; without a window nobody does."""
    return np.inf if bpy.app.background else _MOMENT


def _size(stretch: Array) -> tuple[bytes, int]:
    """What is the same for axes (3, 3) of one size, however they are turned."""
    squares = stretch.T @ stretch
    exponent = int(np.frexp(1.5 * squares.max())[1])  # 1 is inside its interval
    return (np.round(np.ldexp(squares, -exponent), _DIGITS) + 0.0).tobytes(), exponent


def all_shapes(
    robot: bpy.types.Object, found: Sequence[SceneObstacle]
) -> Generator[float, None, list[tuple[SceneObstacle, ObstacleShape]]]:
    """Yield the share of the work done (0..1) now and then; return obstacles with their shapes. Raises RobokinError
    naming the obstacle."""
    made = []
    for k, each in enumerate(found):
        steps = obstacle_shape(robot, each, each.world(world_now)[0])
        made.append((each, (yield from scaled(steps, k / len(found), (k + 1) / len(found)))))
    return made


def farthest_beyond(
    scene: bpy.types.Scene, robot: bpy.types.Object, objects: set[bpy.types.Object]
) -> Generator[float, None, tuple[float, str]]:
    """Yield the share of the work done (0..1) now and then; return how far convex parts reach beyond meshes at most
    [m], and the obstacle that does, of those that objects are or move when they are marked. Raises RobokinError."""
    made = yield from all_shapes(robot, obstacles_in(scene, robot, objects))
    reaches = [(shape.excess, each.name) for each, shape in made if not objects.isdisjoint(each.owners)]
    return max(reaches, default=(0.0, ""), key=lambda reach: reach[0])


def world_now(owner: bpy.types.Object) -> Array:
    """(1, 4, 4) where Blender has an object."""
    return world_matrix((owner, ""))[None]


def read_form(obstacle: SceneObstacle) -> bytes | None:
    """The mesh as it was read last; None where Blender has noticed a change since."""
    return _read.get(obstacle.mesh.session_uid)


def _forget_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, changes: Changes) -> None:
    for owner in [*_read] if changes.is_first else changes.forms:
        _read.pop(owner, None)


def _forget_all(*_: object) -> None:
    _shapes.clear()
    _begun.clear()
    _read.clear()


register, unregister = register_cache_factory(_forget_all, change=_forget_changed)
