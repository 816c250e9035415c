"""The criteria of a robot as the solvers take them, and what they say of the present pose."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..properties import readouts
from ..properties.bridge import read_configuration, robot_model, world_from_root
from ..properties.criteria import POTENTIALS
from ..properties.postures import find_posture, posture_configuration
from ..properties.readouts import CriterionReadout
from ..robokin import RobokinError
from ..solvers.criteria import Criterion, Potential, criterion
from ..solvers.state import State
from ..solvers.task_levels import TaskLevels
from . import animation
from .scene_targets import targets_shown
from .scene_tasks import SolverTasks, enabled_tasks
from .task_shapes import has_shape

Array = np.ndarray
RobokinCriterion = bpy.types.PropertyGroup

PULLS = 4  # joints that a readout names
WEAK = 1e-3  # of the strongest pull: what is weaker is not named


def enabled_criteria(obj: bpy.types.Object, settings: Array | None = None) -> list[Criterion]:
    """Those that take part. settings: (c, 2) weight and gain of each, as they stand unless given.

    Raises RobokinError naming the criterion.
    """
    items = [item for item in obj.robokin.criteria if item.enabled]
    given = [(item.weight, item.gain) for item in items] if settings is None else settings.tolist()
    return [solver_criterion(obj, item, *own) for item, own in zip(items, given, strict=True)]


def settings_over(obj: bpy.types.Object, frames: Sequence[float]) -> Array:
    """(n, c, 2) weight and gain of the criteria that take part; those that are not moved by keys as they stand."""
    items = [item for item in obj.robokin.criteria if item.enabled]
    found = np.empty((len(frames), len(items), 2))
    keyed = animation.keyed_only(obj, lambda path: path.startswith("robokin.criteria"))
    for i, item in enumerate(items):
        for k, name in enumerate(("weight", "gain")):
            path = f"{item.path_from_id()}.{name}"
            found[:, i, k] = animation.property_values(obj, path, 1, frames)[:, 0] if keyed else getattr(item, name)
    return found


def solver_criterion(obj: bpy.types.Object, item: RobokinCriterion, weight: float, gain: float) -> Criterion:
    """Raises RobokinError naming the criterion."""
    options: dict[str, object] = {"weight": weight, "name": f"criterion {item.name!r}"}
    if item.kind in POTENTIALS:
        options["gain"] = gain
    if item.kind == "SMOOTH":
        options["time"] = item.time
    if item.kind == "DYNAMIC_TORQUE":
        options["damping"] = item.damping
    if item.kind in ("GRAVITY_TORQUE", "DYNAMIC_TORQUE"):
        options["gravity"] = root_gravity(obj)
    if item.kind == "REST_POSTURE" and item.posture:
        options["posture"] = posture_configuration(obj, find_posture(obj, item.posture))
    return criterion(item.kind.lower(), **options)


def root_gravity(obj: bpy.types.Object) -> Array:
    """(3,) [m/s^2] the scene's gravity in the robot's root frame, as the robot stands now."""
    scenes = obj.users_scene or (bpy.context.scene,)
    axes = world_from_root(obj)[:3, :3]
    return (axes / np.linalg.norm(axes, axis=0)).T @ np.array(scenes[0].gravity)


def criteria_readouts(obj: bpy.types.Object) -> Sequence[CriterionReadout]:
    """One for each criterion of the list, in the present pose, at rest. Computed anew only when something changed."""
    try:
        q = read_configuration(obj)
        settings = tuple(
            (item.kind, item.gain, item.time, item.damping, item.posture, item.name) for item in obj.robokin.criteria
        )
        tasks = tuple(map(_seen, obj.robokin.tasks))
        key = (robot_model(obj), q.tobytes(), settings, tasks, root_gravity(obj).tobytes())
        if _last.get("key") != key:
            _last.update(key=key, shown=_read(obj, q))
    except RobokinError as error:
        return [CriterionReadout(None, problem=str(error)) for _ in obj.robokin.criteria]
    return _last["shown"]


def _seen(task: bpy.types.PropertyGroup) -> tuple:
    """All of a task that the rows may depend on."""
    place = tuple(map(tuple, task.target.matrix_world)) if task.target is not None else None
    numbers = (*task.location, *task.rotation, task.distance, task.priority)
    return task.kind, task.tip, task.other, task.axis, task.enabled, task.use_target, place, numbers


_last: dict = {}


def _read(obj: bpy.types.Object, q: Array) -> list[CriterionReadout]:
    state = _state(obj, q)
    return [_readout(obj, item, state) for item in obj.robokin.criteria]


def _state(obj: bpy.types.Object, q: Array) -> State:
    """At q at rest, with the tasks as they are shown; those whose shape would have to be read are left out."""
    tasks = [task for task in enabled_tasks(obj) if not has_shape(task)]
    targets = targets_shown(obj, tasks)
    levels = TaskLevels(robot_model(obj), SolverTasks(obj, tasks).at(targets, 0, np.ones(len(tasks)))[1])
    return levels.state(q, levels.targets, 1.0)


def _readout(obj: bpy.types.Object, item: RobokinCriterion, state: State) -> CriterionReadout:
    try:
        own = solver_criterion(obj, item, item.weight, item.gain)
        own.check(state)
        cost = own.value(state, np.zeros(state.model.nv))
    except RobokinError as error:
        return CriterionReadout(None, problem=str(error))
    if not isinstance(own, Potential):
        return CriterionReadout(cost)
    slope = own.gradient(state) * state.scale
    pulls = []
    for joint in state.model.moving_joints:
        at = state.model.slot(joint.name).v
        steepest = max(slope[at], key=abs)
        if abs(steepest) > WEAK * abs(slope).max():
            pulls.append((joint.name, float(steepest)))
    pulls.sort(key=lambda pull: -abs(pull[1]))
    return CriterionReadout(cost, tuple(pulls[:PULLS]))


def register() -> None:
    readouts.criteria = criteria_readouts


def unregister() -> None:
    readouts.criteria = readouts.nothing
    _last.clear()
