"""Marks of the scene, by which a result says whether it is still about what is there: what a solve, a bake or a check
depends on, as a short text that is kept with the result. One whose mark is not that of the scene is shown as one of
before the change."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache

import bpy
import numpy as np

from ...properties.bridge import Binding, binding, read_configuration
from ...properties.bridge.parents import with_parents
from ...properties.frame_rate import frame_seconds
from ...properties.results import readouts
from ...properties.results.change_marks import MARKS, once_for_each_change
from ...robokin import RobokinError, RobotModel
from ...scene.animation import frames as animation
from ...scene.tasks.targets import places_of
from .motion_parts import motion_parts

# Said of a task or a criterion by a result; they do not change what is asked.
_SAID = {"rna_type", "name", "position_residual", "orientation_residual", "solved", "reached", "cost", "slope"}
_curves: dict[tuple[int, ...], tuple[int, bytes]] = {}  # of animated objects: when it was looked at, and the mark


def pose_mark(obj: bpy.types.Object, robot: Binding) -> str:
    """A mark of the robot's pose, its tasks and criteria, and where what they follow is, as Blender
    computed it last."""
    places = {place for task in _enabled(obj) for place in places_of(task).values() if place[0] is not None}
    worlds = (_world(obj, place) for place in sorted(places, key=lambda place: (place[0].name_full, place[1])))
    return _mark([read_configuration(obj, robot).tobytes(), *_dependencies(obj, robot, ()), *worlds])


def motion_mark(obj: bpy.types.Object, robot: Binding) -> str:
    """A mark of the frame rate, the gravity, what moves the robot and what its tasks follow, all else in tasks and
    criteria, also of keys that were written a moment ago and Blender has not noticed yet."""
    _curves.clear()
    return present_mark(obj, robot)


def present_mark(obj: bpy.types.Object, robot: Binding) -> str:
    """`motion_mark` of what Blender has noticed, for panels, which ask for it at every redraw."""
    followed = {place[0] for task in _enabled(obj) for place in places_of(task).values() if place[0] is not None}
    chain = {found for owner in (obj, *followed) for found in with_parents(owner)}
    owners = sorted(chain, key=lambda owner: owner.name_full)
    animated = {path for path, _ in animation.fcurves(obj)}
    scene = bpy.context.scene
    timing = repr((frame_seconds(scene), *scene.gravity)).encode()
    return _mark([timing, _motion_of(owners), *_dependencies(obj, robot, animated)])


def is_present(obj: bpy.types.Object, result: str) -> bool:
    """Whether the last "solve", "bake" or "check" of the robot is about what is there now. A robot that follows its
    targets live is solved anew at each change."""
    if result == "solve" and readouts.live(obj) is not None:
        return True
    try:
        return getattr(obj.robokin.solver, f"{result}_mark") == _shown_mark(obj, result == "solve")
    except RobokinError:
        return False


@once_for_each_change
def _shown_mark(obj: bpy.types.Object, is_pose: bool) -> str:
    return (pose_mark if is_pose else present_mark)(obj, binding(obj))


def _enabled(obj: bpy.types.Object) -> list[bpy.types.PropertyGroup]:
    return [task for task in obj.robokin.tasks if task.enabled]


def _dependencies(obj: bpy.types.Object, robot: Binding, animated: Iterable[str]) -> Iterator[bytes]:
    """What the robot is and what is asked of it, but for the properties at these data paths."""
    yield _bounds(robot.model)
    yield obj.robokin.solver.mode.encode()
    for entries in ("tasks", "criteria"):
        for i, entry in enumerate(getattr(obj.robokin, entries)):
            if entry.enabled:
                names = (name for name in entry.bl_rna.properties.keys() if name not in _SAID)
                own = [_plain(getattr(entry, n)) for n in names if f"robokin.{entries}[{i}].{n}" not in animated]
                yield repr(own).encode()


@lru_cache(maxsize=8)
def _bounds(model: RobotModel) -> bytes:
    bounds = (model.lower, model.upper, model.velocity, model.acceleration, model.effort)
    masses = [part for link in model.links for part in (np.float64(link.mass), link.com, link.inertia)]
    return b"".join(part.tobytes() for part in (*bounds, *masses))


def _plain(value: object) -> object:
    if isinstance(value, bpy.types.ID):
        return value.name_full
    return value if isinstance(value, (str, int, float, type(None))) else tuple(value)


def _world(obj: bpy.types.Object, place: tuple[bpy.types.Object, str]) -> bytes:
    """Where a place is, seen from the robot."""
    owner, bone = place
    world = owner.matrix_world @ owner.pose.bones[bone].matrix if bone in _bones(owner) else owner.matrix_world
    return np.round(np.array(obj.matrix_world.inverted_safe() @ world), 6).tobytes()


def _bones(owner: bpy.types.Object) -> Iterable[str]:
    return owner.pose.bones.keys() if owner.pose is not None else ()


def _motion_of(owners: list[bpy.types.Object]) -> bytes:
    """A mark of all that moves them; looked at anew only after something has changed."""
    key = tuple(owner.session_uid for owner in owners)
    if _curves.get(key, (-1,))[0] != MARKS.updates:
        parts = [part for owner in owners for part in motion_parts(owner)]
        _curves.clear()
        _curves[key] = MARKS.updates, _mark(parts).encode()
    return _curves[key][1]


def _mark(parts: Iterable[bytes]) -> str:
    total = 0
    for part in parts:
        total = zlib.crc32(part, total)
    return f"{total:08x}"


def register() -> None:
    readouts.is_present = is_present


def unregister() -> None:
    readouts.is_present = readouts.always
    _curves.clear()
