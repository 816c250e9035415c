"""Targets go where the robot's pose meets them: from forward kinematics to inverse, without a jump."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix

from ...properties.bridge import binding, to_blender
from ...properties.task_kinds import KINDS
from .present_values import present_target
from .solver_tasks import enabled_tasks
from .targets import needs_target, target_bone

CHANNELS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
NEAR = 1e-4  # [Blender units, and of the axes] single precision, some parents deep


def snap_targets(context: bpy.types.Context, obj: bpy.types.Object) -> tuple[list[bpy.types.Object], list[str]]:
    """Move the objects that the robot's enabled tasks follow to where its pose meets them; those that were moved, and
    of the others why not, a line each. Raises RobokinError."""
    wanted: dict[bpy.types.Object, tuple[Matrix, dict[str, tuple]]] = {}
    robot, notes = binding(obj), []
    for task in enabled_tasks(obj, robot):
        target = task.target
        if not needs_target(task) or KINDS[task.kind].target != "POSE" or KINDS[task.kind].is_velocity:
            continue
        why = _why_not(task, target)
        if not why and target in wanted:
            why = "its target is that of another task, too"
        T = None if why else present_target(context, obj, robot, task)
        if T is None:
            notes.append(f"task {task.name!r} stays: {why or 'the pose does not say where its target is'}")
            continue
        matrix = _with_parts(target.matrix_world, to_blender(obj, T, None, robot), KINDS[task.kind].pose)
        wanted[target] = matrix, {name: tuple(getattr(target, name)) for name in CHANNELS}
    for target, (matrix, _) in wanted.items():
        target.matrix_world = matrix
    context.view_layer.update()
    for target, (matrix, before) in list(wanted.items()):
        if not np.allclose(np.array(target.matrix_world), np.array(matrix), atol=NEAR, rtol=NEAR):
            for name, values in before.items():
                setattr(target, name, values)
            del wanted[target]
            notes.append(f"{target.name!r} stays: a constraint or a driver moves it")
    return list(wanted), notes


def _why_not(task: bpy.types.PropertyGroup, target: bpy.types.Object) -> str:
    if target_bone(task):
        return f"its target is the bone {task.subtarget!r}"
    if task.kind == "DISTANCE":
        return "it keeps its distance"
    if not target.is_editable:
        return f"its target {target.name!r} is linked from another file"
    return ""


def _with_parts(before: Matrix, wanted: Matrix, parts: tuple[str, ...]) -> Matrix:
    location, rotation, scale = before.decompose()
    return Matrix.LocRotScale(
        wanted.translation if "location" in parts else location,
        wanted.to_quaternion() if "rotation" in parts else rotation,
        scale,
    )
