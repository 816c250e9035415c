"""The shapes of tasks as they were read last, for what is shown while Blender draws and may read none."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import bpy
import numpy as np

from ...properties.bridge import Changes
from ...properties.handlers import register_cache_factory
from ...robokin import RobokinError
from .root_frames import metres_per_world_unit
from .shapes import has_shape, read_shape
from .targets import places_of

RobokinTask = bpy.types.PropertyGroup

# Of a kind of task and the object of its shape: the size at which it was read, and the shape, or why there is none.
_shapes: dict[tuple[str, int], tuple[Hashable, Any]] = {}
_count = [0]  # how often shapes were read


def shown_shape(_robot: bpy.types.Object, task: RobokinTask) -> Any:
    """The shape as `read_shape` read it, asked for alike; of a task that is none of `missing_shapes`. Raises
    RobokinError naming the task."""
    if not has_shape(task):
        return None
    _, shape = _shapes[_key(task)]
    if isinstance(shape, RobokinError):
        raise shape
    return shape


def missing_shapes(obj: bpy.types.Object, tasks: Iterable[RobokinTask]) -> list[RobokinTask]:
    """The tasks whose shapes were not read, or have changed since."""
    read = {key: size for key, (size, _) in _shapes.items()}
    return [task for task in tasks if has_shape(task) and read.get(_key(task)) != _size(obj, task)]


def read_shapes(obj: bpy.types.Object, tasks: Iterable[RobokinTask]) -> None:
    for task in tasks:
        shape: Any
        try:
            shape = read_shape(obj, task)
        except RobokinError as error:
            shape = error
        _shapes[_key(task)] = _size(obj, task), shape
        _count[0] += 1


def shape_count() -> int:
    """Another number when any shape was read anew."""
    return _count[0]


def _owner(task: RobokinTask) -> bpy.types.Object:
    return places_of(task)["surface" if task.kind == "LASER" else "target"][0]


def _key(task: RobokinTask) -> tuple[str, int]:
    return task.kind, _owner(task).session_uid


def _size(obj: bpy.types.Object, task: RobokinTask) -> Hashable:
    """A shape is that of an object at its scale, whatever its place."""
    stretch = np.array(_owner(task).matrix_world, float)[:3, :3]
    return np.round(stretch.T @ stretch, 6).tobytes(), metres_per_world_unit(obj)


def _forget_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, changes: Changes) -> None:
    if _shapes and (changes.is_first or any(owner in changes.forms for _, owner in _shapes)):
        _shapes.clear()


def _forget_all(*_: object) -> None:
    _shapes.clear()


register, unregister = register_cache_factory(_forget_all, change=_forget_changed)
