"""Tasks in the solver's words, beside those of the scene: with targets of their own, or that follow objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy

from ...robokin.arrays import Array
from ...solvers import Task
from ...solvers.tasks import Plane, TwistTask
from ...solvers.tasks.places.surface import MovedSurface
from .shapes import curve_of, points_of, surface_of

Place = tuple[bpy.types.Object, str]  # an object, or a bone of an armature ("" for no bone)

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
    "center of mass": lambda task, T, shape: T[:3, 3],
    "curve": lambda task, T, shape: shape.moved(T),
    "support": lambda task, T, shape: shape @ T[:3, :3].T + T[:3, 3],
    "along curve": lambda task, T, shape: (task.target.speed, shape.moved(T)),
    "twist": lambda task, T, shape: TwistTask.expressed_in(T, task.target),
}
_SHAPES = {"curve": ("CURVE", curve_of), "along curve": ("CURVE", curve_of), "support": ("MESH", points_of)}


@dataclass(frozen=True, eq=False)
class AdHocTask:
    """task: of influence 1; its target holds, unless it follows something.   influence: 0 to 1, at all frames.
    place: what its target follows; None: nothing.   surface: the mesh object that a laser falls on; None: a plane, as
    given or (is_on_place) the XY plane of its place, as that of the spot of a beam on a curve."""

    task: Task
    influence: float = 1.0
    place: Place | None = None
    surface: bpy.types.Object | None = None
    is_on_place: bool = False

    @property
    def needed_type(self) -> str:
        """Type of the object that the task follows; "": any."""
        return _SHAPES[self.task.kind][0] if self.task.kind in _SHAPES else ""

    @property
    def places(self) -> list[Place]:
        """All that counts of where things are."""
        return [*([self.place] if self.place else []), *([(self.surface, "")] if self.surface else [])]

    @property
    def has_shape(self) -> bool:
        return self.surface is not None or (self.place is not None and bool(self.needed_type))

    def read_shape(self, robot: bpy.types.Object) -> Any:
        """Read a shape with `shapes.read_shape`. Raises RobokinError naming the task."""
        if self.surface is not None:
            return surface_of(robot, self.surface, self.task.name)
        if self.place is None or not self.needed_type:
            return None
        _, read = _SHAPES[self.task.kind]
        return read(robot, self.place[0], self.task.name)

    def target(self, T_root_target: Array, T_root_surface: Array | None, shape: Any) -> Any:
        """What is asked for, in the task's own terms, where what it follows has these poses (4, 4)."""
        if self.task.kind == "laser":
            return self._on_surface(T_root_target, T_root_surface, shape)
        if self.place is None:
            return self.task.target
        followed = _FOLLOWED[self.task.kind](self.task, T_root_target, shape)
        if not self.is_on_place or getattr(self.task, "direction", None) is None:
            return followed
        plane = Plane(T_root_target[:3, 3], T_root_target[:3, 2])
        return (*followed, plane) if isinstance(followed, tuple) else (followed, plane)

    def _on_surface(self, T_root_target: Array, T_root_surface: Array | None, shape: Any) -> Any:
        spot, surface = self.task.target
        if self.place is not None:
            spot = T_root_target[:3, 3]
        if T_root_surface is not None:
            surface = MovedSurface(shape, T_root_surface)
        elif self.is_on_place:
            surface = Plane(spot, T_root_target[:3, 2])
        return spot, surface
