"""World matrices as Blender gives them, in the root frame of a robot and in metres; many frames at once."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from ...properties.bridge import Binding, binding, world_from_root
from ...robokin import RobokinError
from ...robokin.arrays import Array


def metres_per_world_unit(obj: bpy.types.Object, robot: Binding | None = None) -> float:
    """Metres of the robot in a Blender unit of the world: a robot whose object is scaled up is solved at its own size.
    robot: the object's binding, where the caller has just asked for it.

    Raises BridgeError for a non-uniform or negative scale.
    """
    robot = robot or binding(obj)
    scale = np.cbrt(np.linalg.det(world_from_root(obj, None, robot)[:3, :3]))
    return float(robot.metres_per_unit / scale)


def world_scale(obj: bpy.types.Object, robot: Binding) -> float:
    """Metres of the world in a metre of the robot, by which lengths of places, not of joints, are said and shown.
    Raises BridgeError for a non-uniform or negative scale."""
    return robot.metres_per_unit / metres_per_world_unit(obj, robot)


def roots_from_world(
    obj: bpy.types.Object, T_world_robot: Array, T_world_target: Array, task: str, robot: Binding
) -> Array:
    """(n, 4, 4) T_root_target [m] from world matrices (n, 4, 4) of the robot object and the target, scales dropped.

    Raises BridgeError for a robot of non-uniform scale, RobokinError for a target without one.
    """
    # Blender 5 gives its matrices as arrays of single precision, in which a product with the unit would be rounded.
    world, T_world_target = np.array(T_world_robot, float), np.asarray(T_world_target, float)
    for bad in _not_similar(world):
        world_from_root(obj, Matrix(world[bad].tolist()), robot)  # raises, saying what is wrong with it
    world[:, :3, 3] *= robot.metres_per_unit
    world = world @ robot.root
    scale = np.cbrt(np.linalg.det(world[:, :3, :3]))
    rotation = rotations_of(world[:, :3, :3])
    if not np.isfinite(T_world_target).all():
        raise RobokinError(f"task {task!r}: its target is nowhere (its position or rotation is not a number)")
    if abs(np.linalg.det(T_world_target[:, :3, :3])).min(initial=1.0) < 1e-18:
        raise RobokinError(f"task {task!r}: its target has a scale of zero, so its axes have no direction")
    away = T_world_target[:, :3, 3] * robot.metres_per_unit - world[:, :3, 3]
    T = np.zeros_like(T_world_target)
    T[:, :3, :3] = rotation.swapaxes(1, 2) @ rotations_of(T_world_target[:, :3, :3])
    T[:, :3, 3] = np.einsum("nji,nj->ni", rotation, away) / scale[:, None]
    T[:, 3, 3] = 1.0
    return T


def _not_similar(matrices: Array) -> list[int]:
    """The first index whose matrix is not rotation, location and uniform positive scale; as a list of one or none."""
    bad = ~np.isfinite(matrices).all(axis=(1, 2))
    block = np.where(bad[:, None, None], np.eye(3), matrices[:, :3, :3])
    scale = np.maximum(np.linalg.norm(block, axis=1).mean(axis=1), 1e-30)[:, None, None]
    gram = block.swapaxes(1, 2) @ block / scale**2
    bad |= (abs(gram - np.eye(3)).max(axis=(1, 2)) > 1e-4) | (np.linalg.det(block) <= 0)
    return np.flatnonzero(bad)[:1].tolist()


def rotations_of(blocks: Array) -> Array:
    """(n, 3, 3) rotations of matrices with scale; a mirrored one as Blender decomposes it, all three axes turned."""
    columns = blocks / np.linalg.norm(blocks, axis=1, keepdims=True)
    u, _, vt = np.linalg.svd(columns)
    rotations = u @ vt
    return rotations * np.sign(np.linalg.det(rotations))[:, None, None]
