"""Tasks in the solver's words, beside those of the scene: with targets of their own, or that follow an object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..solvers import Task
from .task_shapes import curve_of, points_of

Array = np.ndarray

# What a task asks, in its own terms, of a target with the pose T_root_target (4, 4) and this shape.
_FOLLOWED: dict[str, Callable[[Any, Array, Any], Any]] = {
    "pose": lambda task, T, shape: T,
    "position": lambda task, T, shape: T[:3, 3],
    "orientation": lambda task, T, shape: T[:3, :3],
    "axis": lambda task, T, shape: T[:3, 2],
    "aim": lambda task, T, shape: T[:3, 3],
    "plane": lambda task, T, shape: (T[:3, 3], T[:3, 2]),
    "line": lambda task, T, shape: (T[:3, 3], T[:3, 2]),
    "distance": lambda task, T, shape: (task.target[0], T[:3, 3]),
    "laser": lambda task, T, shape: (T[:3, 3], task.target[1]),
    "center of mass": lambda task, T, shape: T[:3, 3],
    "curve": lambda task, T, shape: shape.moved(T),
    "support": lambda task, T, shape: shape @ T[:3, :3].T + T[:3, 3],
}
_SHAPES = {"curve": ("CURVE", curve_of), "support": ("MESH", points_of)}


@dataclass(frozen=True, eq=False)
class GivenTask:
    """task: of influence 1; its target holds, unless it follows something.   influence: 0 to 1, at all frames.
    place: the object, or bone of an armature, that its target follows ("" for no bone); None: nothing."""

    task: Task
    influence: float = 1.0
    place: tuple[bpy.types.Object, str] | None = None

    @property
    def needed_type(self) -> str:
        """Of the object that it follows; "": any."""
        return _SHAPES[self.task.kind][0] if self.task.kind in _SHAPES else ""

    @property
    def has_shape(self) -> bool:
        return self.place is not None and bool(self.needed_type)

    def read_shape(self, robot: bpy.types.Object) -> Any:
        """As `task_shapes.read_shape`. Raises RobokinError naming the task."""
        if self.place is None or not self.has_shape:
            return None
        _, read = _SHAPES[self.task.kind]
        return read(robot, self.place[0], self.task.name)

    def target(self, T_root_target: Array, shape: Any) -> Any:
        """What is asked for, in the task's own terms, where what it follows has this pose (4, 4)."""
        if self.place is None:
            return self.task.target
        return _FOLLOWED[self.task.kind](self.task, T_root_target, shape)
