"""The shapes of tasks as they were read last, for what is shown while Blender draws and may read none."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .root_frames import metres_per_world_unit
from .scene_targets import places_of
from .task_shapes import has_shape, read_shape

RobokinTask = bpy.types.PropertyGroup

_shapes: dict[Hashable, Any] = {}
_count = [0]  # how often shapes were read


def shown_shape(obj: bpy.types.Object, task: RobokinTask) -> Any:
    """As `read_shape` read it; of a task that is none of `missing_shapes`."""
    return _shapes[_key(obj, task)] if has_shape(task) else None


def missing_shapes(obj: bpy.types.Object, tasks: Iterable[RobokinTask]) -> list[RobokinTask]:
    """Those of the tasks whose shapes were not read, or have changed since."""
    return [task for task in tasks if has_shape(task) and _key(obj, task) not in _shapes]


def read_shapes(obj: bpy.types.Object, tasks: Iterable[RobokinTask]) -> None:
    """Raises RobokinError naming the task."""
    for task in tasks:
        _shapes[_key(obj, task)] = read_shape(obj, task)
        _count[0] += 1


def shape_count() -> int:
    """Another number when any shape was read anew."""
    return _count[0]


def _owner(task: RobokinTask) -> bpy.types.Object:
    return places_of(task)["surface" if task.kind == "LASER" else "target"][0]


def _key(obj: bpy.types.Object, task: RobokinTask) -> Hashable:
    """A shape is that of an object at its scale, whatever its place."""
    stretch = np.array(_owner(task).matrix_world, float)[:3, :3]
    size = np.round(stretch.T @ stretch, 6)
    return task.kind, _owner(task).session_uid, size.tobytes(), metres_per_world_unit(obj)


@persistent
def _forget_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _shapes and any(u.is_updated_geometry and u.id.original.session_uid in _owners() for u in depsgraph.updates):
        _shapes.clear()


def _owners() -> set[int]:
    return {key[1] for key in _shapes}


def register() -> None:
    bpy.app.handlers.depsgraph_update_post.append(_forget_changed)


def unregister() -> None:
    bpy.app.handlers.depsgraph_update_post.remove(_forget_changed)
    _shapes.clear()
