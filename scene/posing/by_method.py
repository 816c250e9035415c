"""The present targets by a method of the papers: every iterate, and keys of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import bpy
import numpy as np

from ...properties.bridge import Binding, read_configuration, write_configuration
from ...properties.postures import home_posture, posture_configuration
from ...robokin import RobokinError, RobotModel
from ...robokin.arrays import Array
from ...scene.animation.curves import refuse_unwritable, show_curves, write_curves
from ...scene.tasks.root_frames import metres_per_world_unit, roots_from_world
from ...scene.tasks.solver_tasks import pose_tasks
from ...solvers import MethodResult
from ...solvers.methods.of_tasks import is_target, solve_tasks_by
from ..obstacle_shapes import world_now
from ..obstacles import obstacles_now


@dataclass(frozen=True, eq=False)
class Descended:
    """tasks: the names of the targets, in turn."""

    robot: Binding
    result: MethodResult
    tasks: list[str]


def by_method(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    robot: Binding,
    method: str,
    in_turn: bool,
    settings: dict[str, object],
) -> Descended:
    """The first Pose or Position task that is enabled, or all that are in turn, from the present pose. Nothing is
    written. Raises RobokinError, also where there is no such task."""
    listed, wanted = pose_tasks(context, obj, robot)
    found = [(task.name, each) for task, each in zip(listed, wanted, strict=True) if is_target(each)]
    if not found:
        raise RobokinError(f"{obj.name!r} has no Pose or Position task to go for: add a target")
    names, targets = zip(*(found if in_turn else found[:1]), strict=True)
    q0 = read_configuration(obj, robot)
    return Descended(robot, solve_tasks_by(method, robot.model_at(q0), targets, q0, **settings), list(names))


def home(obj: bpy.types.Object, model: RobotModel, q: Array) -> Array:
    """(nq,) the Home posture; the middle of the range where there is none. q: for joints that it leaves out."""
    posture = home_posture(obj)
    if posture is None:
        return model.limits.middle(model.neutral())
    return posture_configuration(model, posture, q)


def obstacle_fields(scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding, reach: float) -> dict[str, object]:
    """Breen's obstacles and the radii of their fields [m]: the middle of each marked obstacle's bounding box, and
    `reach` [m] beyond its corners."""
    unit = metres_per_world_unit(obj, robot)
    centers, radii = [], []
    for each in obstacles_now(scene, obj):
        world = each.world(world_now)[0]
        corners = np.array([[*corner, 1.0] for corner in each.mesh.bound_box]) @ world.T
        middle = np.eye(4)
        middle[:3, 3] = (corners[:, :3].min(axis=0) + corners[:, :3].max(axis=0)) / 2.0
        root = roots_from_world(obj, world_now(obj), middle[None], f"obstacle {each.name!r}", robot)[0]
        centers.append(root[:3, 3])
        radii.append(np.linalg.norm(corners[:, :3] - middle[:3, 3], axis=1).max() * unit + reach)
    return {"obstacles": centers, "radius": radii} if centers else {}


def write_descent(scene: bpy.types.Scene, obj: bpy.types.Object, found: Descended, key: bool) -> tuple[int, int] | None:
    """Pose the robot at the result; or key every iterate, a frame each, from the present frame on: then the frames of
    the first and last key. Raises RobokinError."""
    if not key:
        write_configuration(obj, found.result.q, found.robot)
        return None
    refuse_unwritable(scene, obj, False, found.robot)
    first = ceil(scene.frame_current_final)
    frames = range(first, first + len(found.result.path))
    write_curves(obj, frames, found.result.path, False, found.robot)
    show_curves(obj, scene.frame_current_final, found.robot)
    return first, frames[-1]
