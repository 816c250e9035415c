"""What a robot's pose follows from: its tasks and criteria as they are set, their numbers, and where their objects
are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import bpy

from ...properties.bridge import Binding
from ...properties.criteria import RobokinCriterion
from ...properties.task_kinds import KINDS
from ...properties.tasks import RobokinTask
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...scene.criteria.solver_criteria import enabled_entries, root_gravity
from ...scene.surroundings import still_collisions
from ...scene.tasks.ad_hoc import Place
from ...scene.tasks.shapes import has_shape
from ...scene.tasks.shown_shapes import missing_shapes, read_shapes, shape_count
from ...scene.tasks.solver_tasks import enabled_tasks
from ...scene.tasks.targets import numbers_of, places_of, world_matrix, world_now

_READOUTS = {"rna_type", "position_residual", "orientation_residual", "solved", "reached", "tip_link", "other_link"}
_CRITERION = ("name", "kind", "weight", "gain", "time", "damping", "distance", "posture")
_HEAVY = ("GRAVITY_TORQUE", "DYNAMIC_TORQUE")


Numbers = tuple[dict[str, Any], ...]
Worlds = dict[Place, Array]


def followed_tasks(obj: bpy.types.Object, robot: Binding) -> list[RobokinTask]:
    """The tasks that a pose can meet, as for Solve Pose. Raises RobokinError naming the task."""
    return [task for task in enabled_tasks(obj, robot) if not KINDS[task.kind].is_velocity]


def has_tasks(obj: bpy.types.Object) -> bool:
    """Whether there may be anything to follow; asked at every update."""
    return any(task.enabled and not KINDS[task.kind].is_velocity for task in obj.robokin.tasks)


def read_settings(obj: bpy.types.Object, tasks: Sequence[RobokinTask]) -> tuple:
    """What a problem is made of, beside the robot."""
    criteria = enabled_entries(obj)
    settings = [obj.robokin.solver.mode, *(_static(task.kind)(task) for task in tasks)]
    settings += [_of_criterion()(item) for item in criteria]
    if any(item.kind in _HEAVY for item in criteria):
        settings.append(root_gravity(obj).tobytes())
    if any(item.kind == "FAR_FROM_OBSTACLES" for item in criteria):
        settings.append(still_collisions(obj))
    if any(item.kind == "REST_POSTURE" for item in criteria) or any(task.kind == "POSTURE" for task in tasks):
        settings += [(item.name, item.values) for item in obj.robokin.postures]
    if any(map(has_shape, tasks)):
        read_shapes(obj, missing_shapes(obj, tasks))
        settings.append(shape_count())
    return tuple(settings)


def read_numbers(tasks: Iterable[RobokinTask]) -> Numbers:
    """The animated numbers of each task by their names."""
    return tuple({name: _plain(getattr(task, name)) for name in numbers_of(task)} for task in tasks)


def _plain(value: Any) -> object:
    return value if isinstance(value, (int, float)) else tuple(value)


def read_worlds(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    obj: bpy.types.Object,
    tasks: Sequence[RobokinTask],
) -> Worlds:
    """(4, 4) of each place that counts, as Blender computed it last. Raises RobokinError naming the task."""
    found = {(obj, ""): world_matrix((obj, ""))}
    for task in tasks:
        for place in places_of(task).values():
            if place in found:
                continue
            if place[0].visible_get(view_layer=depsgraph.view_layer):
                found[place] = world_matrix(place)
            elif not place[0].users_scene:  # deleted, and kept by the task alone
                raise RobokinError(f"task {task.name!r}: its target {place[0].name!r} is in no scene: choose another")
            else:
                found[place] = world_now(scene, depsgraph.view_layer, place, f"task {task.name!r}")[0]
    return found


def kept_worlds(worlds: Worlds) -> dict[tuple[int, str], bytes]:
    """What may be kept of them: not Blender's own data, which go with their file."""
    return {(owner.session_uid, bone): matrix.tobytes() for (owner, bone), matrix in worlds.items()}


@cache
def _static(kind: str) -> Callable[[RobokinTask], tuple]:
    """The properties of a task that a problem is made of."""
    animated = {"location", "rotation", "influence", *KINDS[kind].animated}
    return _getter(
        RobokinTask, [name for name in RobokinTask.bl_rna.properties.keys() if name not in _READOUTS | animated]
    )


@cache
def _of_criterion() -> Callable[[RobokinCriterion], tuple]:
    return _getter(RobokinCriterion, _CRITERION)


def _getter(owner: type, names: Iterable[str]) -> Callable[[Any], tuple]:
    """Getter of values of a group that may be kept and compared: numbers and texts at once, then vectors, then
    objects."""
    properties = [owner.bl_rna.properties[name] for name in names]
    objects = [each.identifier for each in properties if each.type == "POINTER"]
    vectors = [each.identifier for each in properties if getattr(each, "is_array", False)]
    plain = attrgetter(*(n for n in names if n not in vectors and n not in objects), "name", "name")
    vectors_of, objects_of = attrgetter(*vectors, "name", "name"), attrgetter(*objects, "name", "name")

    def read(group: Any) -> tuple:
        kept = [each if each is None else each.session_uid for each in objects_of(group)[:-2]]
        return (*plain(group), *(each[:] for each in vectors_of(group)[:-2]), *kept)

    return read
