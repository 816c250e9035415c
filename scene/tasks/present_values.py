"""Tasks that ask for what the robot's pose is now."""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from ...properties.bridge import Binding, read_configuration, to_blender
from ...properties.task_kinds import KINDS, tip_axis, tip_offset
from ...robokin import center_of_mass, forward_kinematics
from ...robokin.arrays import Array
from ...robokin.model.tree import axis_to_z
from ...robokin.spatial.se3 import inverse
from ...robokin.units import coordinate_units
from .new_targets import robot_size, rounded
from .root_frames import metres_per_world_unit
from .solver_tasks import SolverTasks
from .targets import needs_target, targets_now

RobokinTask = bpy.types.PropertyGroup


def take_present(context: bpy.types.Context, obj: bpy.types.Object, robot: Binding, task: RobokinTask) -> bool:
    """Whether there was something to take: a fixed pose, a distance, a relative pose, the value of a joint.

    Raises RobokinError.
    """
    links, unit = robot.link_of_bone, metres_per_world_unit(obj, robot)
    frames = forward_kinematics(robot.model, read_configuration(obj, robot))
    tip, other = _tip(obj, robot, task, frames), frames.get(links.get(task.other, ""))
    if task.kind == "JOINT":
        _take_joint(obj, robot, task)
    elif task.kind == "RELATIVE" and tip is not None and other is not None:
        T = inverse(other) @ tip
        task.location = T[:3, 3] / unit
        task.rotation = Matrix(T[:3, :3].tolist()).to_euler()
    elif task.kind == "DISTANCE" and tip is not None and (other is not None or task.target or not task.use_target):
        here = other if other is not None else targets_now(context, obj, [task], robot=robot).T[0, 0]
        task.distance = np.linalg.norm(tip[:3, 3] - here[:3, 3]) / unit
    else:
        T = None if needs_target(task) else present_target(context, obj, robot, task)
        if T is None:
            return False
        task.location, task.rotation = rounded(to_blender(obj, T, None, robot), robot_size(obj))
    return True


def present_target(
    context: bpy.types.Context, obj: bpy.types.Object, robot: Binding, task: RobokinTask, q: Array | None = None
) -> Array | None:
    """(4, 4) T_root_target [m] that q, else the robot's present pose, meets, of a task that asks for one.
    Raises RobokinError."""
    if KINDS[task.kind].target != "POSE":
        return None
    q = read_configuration(obj, robot) if q is None else q
    T = np.eye(4)
    if task.kind == "CENTER_OF_MASS":
        T[:3, 3] = center_of_mass(robot.model, q)
        return T
    tip = _tip(obj, robot, task, forward_kinematics(robot.model, q))
    if tip is None:
        return None
    T[:] = tip
    if task.kind in ("AXIS", "AIM", "LASER"):
        T[:3, :3] = tip[:3, :3] @ axis_to_z(tip_axis(task))
        if task.kind != "AXIS":
            T[:3, 3] += _distance_ahead(context, obj, robot, task, tip, T[:3, 2]) * T[:3, 2]
    return T


def _tip(obj: bpy.types.Object, robot: Binding, task: RobokinTask, frames: Mapping[str, Array]) -> Array | None:
    """(4, 4) T_root_tip [m] of a task, with its offset; None without a bone. frames: of all links."""
    links = robot.link_of_bone
    if task.tip not in links:
        return None
    offset = tip_offset(task, metres_per_world_unit(obj, robot)) if KINDS[task.kind].offset else None
    T = frames[links[task.tip]]
    return T if offset is None else T @ offset


def _distance_ahead(
    context: bpy.types.Context, obj: bpy.types.Object, robot: Binding, task: RobokinTask, tip: Array, along: Array
) -> float:
    """[m] from the tip to what an aim or a laser has before it: where the beam falls on its surface object, else as far
    away as the root."""
    if task.kind == "LASER" and task.surface is not None:
        here = targets_now(context, obj, [task], robot=robot)
        _, (laser,) = SolverTasks(obj, robot, [task]).at(here, influence=np.ones(1))
        hit = laser.surface.hit(tip[:3, 3], along)
        if hit is not None:
            return hit[0]
    return float(np.linalg.norm(tip[:3, 3])) or 1.0


def _take_joint(obj: bpy.types.Object, robot: Binding, task: RobokinTask) -> None:
    joint = robot.joint_of_bone[robot.own_bone(task.tip)]
    values = read_configuration(obj, robot)[robot.model.slot(joint.name).q]
    units = coordinate_units(joint)
    lengths = [value / robot.metres_per_unit for value, unit in zip(values, units, strict=True) if unit == "m"]
    angles = [value for value, unit in zip(values, units, strict=True) if unit == "rad"]
    if "" in units:
        angles = list(Quaternion([v for v, unit in zip(values, units, strict=True) if not unit]).to_euler())
    for vector, numbers in ((task.location, lengths), (task.rotation, angles)):
        for i, number in enumerate(numbers):  # not a slice: an empty one crashes Blender 4.5
            vector[i] = number
