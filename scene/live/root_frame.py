"""One robot's root frame, looked at once and used for many targets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np
from mathutils import Euler, Matrix

from ...properties.bridge import Binding, world_from_root
from ...properties.task_kinds import KINDS
from ...robokin.arrays import Array
from ...scene.tasks.root_frames import roots_from_world
from ...scene.tasks.targets import Reading

_NEARLY = 1e-5  # axes of a target that are square to this become so by one step of Newton's
_SMALL = 1e-12  # squares of sizes
_POLISH, _EYE = 1.5 * np.eye(3), np.eye(4)


class RootFrame:
    """The root frame of a robot whose object stands at a world matrix: `roots_from_world` of one frame, without its
    checks of the robot for each target.

    unit: metres of the robot in a Blender unit of the world.   up: (3,) the world's Z axis in the root frame.
    Raises BridgeError for a robot of non-uniform scale.
    """

    def __init__(self, obj: bpy.types.Object, robot: Binding, world: Array) -> None:
        T_world_root = world_from_root(obj, Matrix(world.tolist()), robot)
        self._world, self._robot = world, robot
        scale = float(np.cbrt(np.linalg.det(T_world_root[:3, :3])))
        self._turn = T_world_root[:3, :3].T / scale
        self._sized = self._turn * (robot.metres_per_unit / scale)
        self._origin = self._turn @ T_world_root[:3, 3] / scale
        self.unit = robot.metres_per_unit / scale
        self._turned: dict[tuple[str, str], tuple[bytes, Array]] = {}  # by tasks and roles
        self.up = self._turn[:, 2].copy()

    def reading(
        self,
        obj: bpy.types.Object,
        task: bpy.types.PropertyGroup,
        worlds: Mapping[str, Array],
        numbers: Mapping[str, Any],
        shape: Any,
    ) -> Reading:
        """What a task reads, in one frame. worlds: (4, 4) of each place, by the property that names it. Raises
        RobokinError naming the task."""
        name = task.name
        places = {role: self.from_world(obj, world, name, role) for role, world in worlds.items()}
        if "target" not in places and "location" in numbers and KINDS[task.kind].target:
            pose = np.eye(4)
            pose[:3, :3] = Euler(numbers.get("rotation", (0.0, 0.0, 0.0))).to_matrix()
            pose[:3, 3] = numbers["location"]
            places["target"] = self.from_world(obj, pose, name, "fixed")
        arrays = {name: np.array(value, float).reshape(1, -1) for name, value in numbers.items() if name != "influence"}
        surface = places.get("surface")
        target = places.get("target", _EYE)[None]
        return Reading(target, None if surface is None else surface[None], self.up[None], arrays, shape)

    def from_world(self, obj: bpy.types.Object, world: Array, task: str, role: str) -> Array:
        """(4, 4) T_root_target [m] of a world matrix, scale dropped. role: what it is for the task. Raises RobokinError
        naming the task."""
        block = world[:3, :3]
        known, turned = self._turned.get((task, role), (b"", None))
        if known == (now := block.tobytes()) and turned is not None:  # it was moved only
            T = turned.copy()
            T[:3, 3] = self._sized @ world[:3, 3] - self._origin
            return T
        size = _sizes_of_square_axes(*block.ravel().tolist())
        if size is None:
            return roots_from_world(obj, self._world[None], world[None], task, self._robot)[0]
        columns = block / size
        rotation = columns @ (_POLISH - 0.5 * columns.T @ columns)
        T = _EYE.copy()
        T[:3, :3] = self._turn @ rotation
        T[:3, 3] = self._sized @ world[:3, 3] - self._origin
        self._turned[task, role] = now, T
        return T.copy()


def _sizes_of_square_axes(*block: float) -> tuple[float, float, float] | None:
    """Lengths of the columns of a (3, 3) matrix; None where they are not nearly at right angles, right-handed and some
    size."""
    a, b, c, d, e, f, g, h, i = block
    x, y, z = a * a + d * d + g * g, b * b + e * e + h * h, c * c + f * f + i * i
    bent = max(abs(a * b + d * e + g * h), abs(a * c + d * f + g * i), abs(b * c + e * f + h * i))
    volume = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    least = min(x, y, z)
    if not (least > _SMALL and bent < _NEARLY * least and volume > 0.0):
        return None
    return math.sqrt(x), math.sqrt(y), math.sqrt(z)
