"""The criteria of a robot as the solvers take them."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import bpy
import numpy as np

from ...properties.bridge import Binding, robot_model, world_from_root
from ...properties.criteria import POTENTIALS
from ...properties.postures import find_posture, posture_configuration
from ...robokin.arrays import Array
from ...solvers.criteria import Criterion, criterion
from ..animation.curves import write_numbers
from ..obstacle_shapes import all_shapes
from ..obstacles import obstacles_in
from ..surroundings import still_collisions
from ..tasks.root_frames import metres_per_world_unit

RobokinCriterion = bpy.types.PropertyGroup


def enabled_entries(obj: bpy.types.Object) -> list[RobokinCriterion]:
    """The entries of the list that take part."""
    return [item for item in obj.robokin.criteria if item.enabled]


def enabled_criteria(obj: bpy.types.Object, settings: Array | None = None) -> list[Criterion]:
    """The criteria that take part. settings: (c, 2) weight and gain of each, the present ones unless stated.

    Raises RobokinError naming the criterion.
    """
    items = enabled_entries(obj)
    numbers = [(item.weight, item.gain) for item in items] if settings is None else settings.tolist()
    return [solver_criterion(obj, item, *own) for item, own in zip(items, numbers, strict=True)]


def shapes_of_criteria(obj: bpy.types.Object) -> Generator[float, None, None]:
    """Yield the share of the work done (0..1) now and then, until the obstacles that criteria look at have shapes.
    Raises RobokinError naming the obstacle."""
    if any(item.kind == "FAR_FROM_OBSTACLES" for item in enabled_entries(obj)):
        scene = (obj.users_scene or (bpy.context.scene,))[0]
        yield from all_shapes(obj, obstacles_in(scene, obj))


def solver_criterion(obj: bpy.types.Object, item: RobokinCriterion, weight: float, gain: float) -> Criterion:
    """Raises RobokinError naming the criterion."""
    options: dict[str, object] = {"weight": weight, "name": f"criterion {item.name!r}"}
    if item.kind in POTENTIALS:
        options["gain"] = gain
    if item.kind == "SMOOTH":
        options["time"] = item.time
    if item.kind == "DYNAMIC_TORQUE":
        options["damping"] = item.damping
    if item.kind == "FAR_FROM_OBSTACLES":
        options["collisions"] = still_collisions(obj)
        options["distance"] = item.distance * metres_per_world_unit(obj)
    if item.kind in ("GRAVITY_TORQUE", "DYNAMIC_TORQUE"):
        options["gravity"] = root_gravity(obj)
    if item.kind == "REST_POSTURE" and item.posture:
        options["posture"] = posture_configuration(robot_model(obj), find_posture(obj, item.posture))
    return criterion(item.kind.lower(), **options)


def root_gravity(obj: bpy.types.Object, robot: Binding | None = None) -> Array:
    """(3,) [m/s^2] the scene's gravity in the robot's root frame, as the robot stands now. robot: the object's
    binding, where the caller has just asked for it."""
    scenes = obj.users_scene or (bpy.context.scene,)
    axes = world_from_root(obj, None, robot)[:3, :3]
    return (axes / np.linalg.norm(axes, axis=0)).T @ np.array(scenes[0].gravity)


def write_costs(obj: bpy.types.Object, items: Sequence[RobokinCriterion], frames: Sequence[int], costs: Array) -> None:
    """Keys for what criteria cost and how steeply that rises: costs (n, c, 2), as of `costs_of_motion`."""
    for item, numbers in zip(items, np.moveaxis(costs, 1, 0), strict=True):
        path = item.path_from_id()
        for name, values in zip(("cost", "slope"), numbers.T, strict=True):
            write_numbers(obj, f"{path}.{name}", frames, values, "Criteria")
