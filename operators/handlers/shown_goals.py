"""Where tasks want the robot now, for what is drawn: read from the scene as Blender computed it last. No solver is
made, so that it may be asked for at every redraw."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np

from ...properties.bridge import Binding, binding_held
from ...properties.results import readouts
from ...properties.results.readouts import Goal
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...scene.animation.frames import rotation_matrices
from ...scene.tasks.root_frames import metres_per_world_unit, rotations_of
from ...scene.tasks.shown_shapes import missing_shapes, shown_shape
from ...scene.tasks.solver_tasks import check_task
from ...scene.tasks.targets import needs_target, places_of, world_matrix

_AT_POINT = ("POSE", "POSITION", "CENTER_OF_MASS")


def task_goals(obj: bpy.types.Object) -> list[Goal]:
    """Aims of the enabled tasks whose aim is a place, with an influence."""
    try:
        with binding_held(obj) as robot:
            return list(_goals(obj, robot))
    except RobokinError:
        return []


def _goals(obj: bpy.types.Object, robot: Binding) -> Iterator[Goal]:
    for i, task in enumerate(obj.robokin.tasks):
        if not task.enabled or task.influence <= 0.0 or task.kind not in (*_AT_POINT, "PLANE", "LINE"):
            continue
        try:
            check_task(obj, task, robot)
            T = _target(task)
        except RobokinError:
            continue
        link = "" if task.kind == "CENTER_OF_MASS" else robot.link_of_bone[task.tip]
        axis = rotations_of(T[None, :3, :3])[0, :, 2] if task.kind in ("PLANE", "LINE") else None
        yield Goal(i, link, T[:3, 3], axis if task.kind == "PLANE" else None, axis if task.kind == "LINE" else None)


def _target(task: bpy.types.PropertyGroup) -> Array:
    if needs_target(task):
        return world_matrix(places_of(task)["target"])
    T = np.eye(4)
    T[:3, :3] = rotation_matrices(np.array([task.rotation], float), "XYZ")[0]
    T[:3, 3] = task.location
    return T


def support_points(obj: bpy.types.Object) -> Array | None:
    """(n, 3) in the world of the first support task; None without one, or before its shape has been read."""
    for task in obj.robokin.tasks:
        if task.kind != "SUPPORT" or not task.enabled or task.target is None:
            continue
        try:
            if missing_shapes(obj, [task]):
                return None
            points = shown_shape(obj, task)
        except RobokinError:
            return None
        world = world_matrix((task.target, ""))
        return points / metres_per_world_unit(obj) @ rotations_of(world[None, :3, :3])[0].T + world[:3, 3]
    return None


def register() -> None:
    readouts.goals, readouts.support = task_goals, support_points


def unregister() -> None:
    readouts.goals, readouts.support = readouts.nothing, readouts.no_points
