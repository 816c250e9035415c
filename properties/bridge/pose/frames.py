"""The robot's root frame against Blender's world.

T_root_x is rigid and in metres. The object's location, rotation and uniform scale, and the scene's unit scale, come in
between: world = object x (armature lengths = metres / metres per unit). A uniform scale s of the object enlarges what
is seen in the world; the robot's own lengths, and with them targets expressed in its root frame, do not know of it.

Blender's world is single precision: a place is known to 6e-8 of its distance from the world's origin, so that 100 m
away what is seen may be 8e-6 m off however exactly the robot is solved. Far scenes are best moved to the origin.
"""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from ....robokin.arrays import Array
from ..errors import BridgeError
from ..model.binding import Binding, binding
from ..record.current import nearest_rotation

FARTHEST = 1e15  # scale, and Blender units: beyond, nothing is left of a robot's own size


def world_from_root(obj: bpy.types.Object, matrix_world: Matrix | None = None, robot: Binding | None = None) -> Array:
    """(4, 4) T_world_root in metres: a similarity, whose rotation block is s * R for an object of uniform scale s.

    `matrix_world`: the object's, when it is to be another than the present one (another frame).
    robot: the object's binding, where the caller has just asked for it.
    Raises BridgeError for a non-uniform or negative scale, and for a matrix that is not numbers.
    """
    robot = robot or binding(obj)
    rotation, scale, location = _parts(obj, matrix_world)
    T_world_root = np.eye(4)
    T_world_root[:3, :3] = scale * rotation
    T_world_root[:3, 3] = location * robot.metres_per_unit
    return T_world_root @ robot.root


def to_blender(
    obj: bpy.types.Object, T_root_x: Array, matrix_world: Matrix | None = None, robot: Binding | None = None
) -> Matrix:
    """World matrix (scale 1, Blender units) of a frame given in the root frame."""
    robot = robot or binding(obj)
    T_world_root = world_from_root(obj, matrix_world, robot)
    scale = np.cbrt(np.linalg.det(T_world_root[:3, :3]))
    T_world_x = T_world_root @ np.asarray(T_root_x, float)
    T_world_x[:3, :3] /= scale
    T_world_x[:3, 3] /= robot.metres_per_unit
    return Matrix(T_world_x.tolist())


def _parts(obj: bpy.types.Object, matrix_world: Matrix | None) -> tuple[Array, float, Array]:
    """(rotation (3, 3), uniform scale, location (3,) in Blender units) of the object."""
    matrix = np.array(matrix_world if matrix_world is not None else obj.matrix_world, float)
    if not np.isfinite(matrix).all():
        raise BridgeError(f"{obj.name!r} is nowhere: its location, rotation or scale is not a number")
    columns = np.linalg.norm(matrix[:3, :3], axis=0)
    scale = columns.mean()
    gram = matrix[:3, :3].T @ matrix[:3, :3]
    if scale < 1e-12:
        raise BridgeError(f"{obj.name!r} has scale 0: give it a size")
    if scale > FARTHEST or abs(matrix[:3, 3]).max() > FARTHEST:
        raise BridgeError(f"{obj.name!r} is too large or too far away to calculate with: mind its location and scale")
    if abs(gram / scale**2 - np.eye(3)).max() > 1e-4:
        shown = ", ".join(f"{x:g}" for x in columns)
        raise BridgeError(f"{obj.name!r} has a non-uniform scale ({shown}): make it the same in all axes")
    if np.linalg.det(matrix[:3, :3]) < 0:
        raise BridgeError(f"{obj.name!r} has a negative scale: a mirrored robot would be another robot")
    return nearest_rotation(matrix[:3, :3] / scale), float(scale), matrix[:3, 3]
