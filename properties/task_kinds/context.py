"""One task at one frame: what it reads of the scene, in the solver's units and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...robokin.arrays import Array
from ...robokin.spatial import so3
from ...solvers.tasks import Curves, Plane
from ..bridge import Binding


@dataclass(frozen=True, eq=False)
class Reading:
    """What one task reads over n frames. T: (n, 4, 4) T_root_target [m], the identity without one.
    surface: (n, 4, 4) of the surface's object, or None.   up: (n, 3) the world's Z axis in the root frame.
    numbers: {name of a property: (n, size)} as the property is stored.
    shape: see `scene/tasks/shapes.py`; the same at all."""

    T: Array
    surface: Array | None
    up: Array
    numbers: Mapping[str, Array]
    shape: Any


@dataclass(frozen=True, eq=False)
class TaskContext:
    """`frame`: index into the reading.   unit: metres of the robot in a Blender unit of the world.   level, influence:
    of the task for the solver."""

    obj: bpy.types.Object
    robot: Binding
    task: bpy.types.PropertyGroup
    reading: Reading
    frame: int
    unit: float
    level: int
    influence: float

    @property
    def name(self) -> str:
        return f"task {self.task.name!r}"

    @property
    def common(self) -> dict[str, Any]:
        """What every task with a level takes."""
        return {"name": self.name, "priority": self.level, "influence": self.influence}

    @property
    def on_tip(self) -> dict[str, Any]:
        """What every task on a frame of the tip takes."""
        return {"offset": tip_offset(self.task, self.unit), **self.common}

    @property
    def on_point(self) -> dict[str, Any]:
        """Arguments that every task on a point of the tip takes."""
        return {"point": np.array(self.task.offset_location) * self.unit, **self.common}

    @property
    def on_spot(self) -> dict[str, Any]:
        """Arguments that every task takes on a point of the tip, or on the spot of a beam from there."""
        if not self.task.use_spot:
            return self.on_point
        beam = so3.from_rpy(self.task.offset_rotation) @ self.axis
        return {"direction": beam, "surface": self.plane, **self.on_point}

    @property
    def link(self) -> str:
        return self.robot.link_of_bone[self.task.tip]

    @property
    def other(self) -> str:
        return self.robot.link_of_bone[self.task.other]

    @property
    def T(self) -> Array:
        """(4, 4) T_root_target."""
        return self.reading.T[self.frame]

    @property
    def point(self) -> Array:
        """(3,) where the target is."""
        return self.T[:3, 3]

    @property
    def z(self) -> Array:
        """(3,) where the target's Z axis points."""
        return self.T[:3, 2]

    @property
    def plane(self) -> Plane:
        """The target's XY plane."""
        return Plane(self.point, self.z)

    @property
    def curve(self) -> Curves:
        """The target's curve where it is."""
        return self.reading.shape.moved(self.T)

    @property
    def axis(self) -> Array:
        """(3,) the axis of the tip."""
        return tip_axis(self.task)

    def number(self, name: str) -> Array:
        """(size,) an animated property, as it is stored."""
        return self.reading.numbers[name][self.frame]

    def metres(self, name: str) -> float:
        """An animated length, or a speed in m/s."""
        return float(self.number(name)[0]) * self.unit

    @property
    def position_weights(self) -> Array:
        return np.array(self.task.use_location) * self.task.location_weights * self.task.position_weight

    @property
    def orientation_weights(self) -> Array:
        return np.array(self.task.use_rotation) * self.task.rotation_weights * self.task.orientation_weight

    @property
    def near(self) -> float:
        """[m] that counts as reached."""
        return self.task.position_tolerance * self.unit

    @property
    def turned(self) -> float:
        """[rad] that counts as reached."""
        return self.task.orientation_tolerance

    @property
    def band(self) -> float:
        """[m] that does not count."""
        return self.task.position_band * self.unit

    @property
    def cone(self) -> float:
        """[rad] that does not count."""
        return self.task.orientation_band


def tip_offset(task: bpy.types.PropertyGroup, unit: float) -> Array | None:
    """(4, 4) T_link_tip [m] of a task; None: the tip is the frame of its link. unit: metres in a Blender unit."""
    location, rotation = task.offset_location, task.offset_rotation
    if not any(location) and not any(rotation):
        return None
    T = np.eye(4)
    T[:3, :3] = so3.from_rpy(rotation)
    T[:3, 3] = np.array(location) * unit
    return T


def tip_axis(task: bpy.types.PropertyGroup) -> Array:
    """(3,) the axis of the tip that an axis, aim or laser task means, in the tip's frame."""
    direction = np.zeros(3)
    direction["XYZ".index(task.axis[-1])] = -1.0 if task.axis[0] == "-" else 1.0
    return direction
