"""What a robot's pose follows from: its tasks and criteria as they are set, their numbers, and where their objects
are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from ...scene.animation.curves import refuse_driven
from ...scene.collisions import avoids_collisions
from ...scene.criteria.solver_criteria import enabled_entries, root_gravity
from ...scene.posing.solve import velocities_left_out
from ...scene.surroundings import Surroundings, still_collisions
from ...scene.tasks.ad_hoc import Place
from ...scene.tasks.shapes import has_shape
from ...scene.tasks.shown_shapes import missing_shapes, read_shapes, shape_count
from ...scene.tasks.solver_tasks import enabled_tasks
from ...scene.tasks.targets import numbers_of, places_of, world_matrix, world_now

_READOUTS = {"rna_type", "position_residual", "orientation_residual", "solved", "reached", "tip_link", "other_link"}
_CRITERION = ("name", "kind", "weight", "gain", "time", "damping", "distance", "posture")
_TASK = ("name", "kind", "enabled", "tip", "other", "target", "surface")
_HEAVY = ("GRAVITY_TORQUE", "DYNAMIC_TORQUE")


Numbers = tuple[dict[str, Any], ...]
Worlds = dict[Place, Array]


class Settings:
    """Values to be compared, and kept things to be found by: many, so that their hash is taken once."""

    __slots__ = ("_hash", "values")

    def __init__(self, values: tuple) -> None:
        self.values, self._hash = values, hash(values)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Settings) and self.values == other.values)


@dataclass(frozen=True, eq=False)
class RobotFields:
    """What the fields of a robot ask for. They are read once: until Blender lists the robot or its scene among what was
    changed, or shows another frame, or the lists have other entries, they are as they were.

    lists: as `read_lists` reads them.   followed: which tasks a pose can meet, as for Solve Pose.   Of each of these,
    bones: the bone that counts of each object that a property names, "" for the object itself;   numbers: the animated
    ones;   levels, shares: as the solver has them.   settings: what a problem is made of, beside the robot and what
    `looks_at` names: "gravity", "obstacles" of a criterion, "shapes" of tasks.   avoids: whether obstacles are kept
    away from.
    left_out: what is said of tasks that no pose can meet.
    """

    lists: tuple
    followed: tuple[int, ...]
    bones: tuple[dict[str, str], ...]
    numbers: Numbers
    levels: tuple[int, ...]
    shares: tuple[float, ...]
    settings: Settings
    looks_at: frozenset[str]
    avoids: bool
    left_out: str

    def places(self, tasks: Sequence[RobokinTask]) -> list[dict[str, Place]]:
        """What counts of each task of where things are, by the property that names them."""
        pairs = zip(tasks, self.bones, strict=True)
        return [{name: (getattr(task, name), bone) for name, bone in bones.items()} for task, bones in pairs]


def read_fields(obj: bpy.types.Object, robot: Binding) -> RobotFields:
    """Raises RobokinError naming the task that cannot be followed, or the joint that a driver moves."""
    refuse_driven(obj, robot)
    tasks = [task for task in enabled_tasks(obj, robot) if not KINDS[task.kind].is_velocity]
    numbers, has_levels = _read_numbers(tasks), obj.robokin.solver.mode == "PRIORITIES"
    return RobotFields(
        lists=read_lists(obj),
        followed=tuple(i for i, task in enumerate(obj.robokin.tasks) if task in tasks),
        bones=tuple({name: bone for name, (_, bone) in places_of(task).items()} for task in tasks),
        numbers=numbers,
        levels=tuple(task.priority if has_levels else 1 for task in tasks),
        shares=tuple(_share(task, own["influence"]) for task, own in zip(tasks, numbers, strict=True)),
        settings=Settings(_read_settings(obj, tasks)),
        looks_at=frozenset(_looks_at(obj, tasks)),
        avoids=avoids_collisions(obj),
        left_out=velocities_left_out(obj),
    )


def read_lists(obj: bpy.types.Object) -> tuple:
    """What tells the entries of a robot's lists apart. Blender does not notice where a script adds, removes or moves
    some: looked at in every update."""
    tasks, criteria = map(_of_task(), obj.robokin.tasks), map(_of_criterion(), enabled_entries(obj))
    return tuple(tasks), tuple(criteria), tuple(obj.robokin.postures.keys())


def _share(task: RobokinTask, influence: float) -> float:
    return 1.0 if KINDS[task.kind].is_hard else min(max(influence, 0.0), 1.0)


def has_tasks(obj: bpy.types.Object) -> bool:
    """Whether there may be anything to follow; asked at every update."""
    return any(task.enabled and not KINDS[task.kind].is_velocity for task in obj.robokin.tasks)


def _read_settings(obj: bpy.types.Object, tasks: Sequence[RobokinTask]) -> tuple:
    criteria = enabled_entries(obj)
    settings = [obj.robokin.solver.mode, *(_static(task.kind)(task) for task in tasks)]
    settings += [_of_criterion()(item) for item in criteria]
    if any(item.kind == "REST_POSTURE" for item in criteria) or any(task.kind == "POSTURE" for task in tasks):
        settings += [(item.name, item.values) for item in obj.robokin.postures]
    return tuple(settings)


def _looks_at(obj: bpy.types.Object, tasks: Sequence[RobokinTask]) -> Iterator[str]:
    kinds = {item.kind for item in enabled_entries(obj)}
    if not kinds.isdisjoint(_HEAVY):
        yield "gravity"
    if "FAR_FROM_OBSTACLES" in kinds:
        yield "obstacles"
    if any(map(has_shape, tasks)):
        yield "shapes"


def read_scene(obj: bpy.types.Object, fields: RobotFields, tasks: Sequence[RobokinTask]) -> tuple:
    """What a problem is made of that changes without the robot: looked at in every update."""
    found: list[object] = []
    if "gravity" in fields.looks_at:
        found.append(root_gravity(obj).tobytes())
    if "obstacles" in fields.looks_at:
        found.append(still_collisions(obj))
    if "shapes" in fields.looks_at:
        read_shapes(obj, missing_shapes(obj, tasks))
        found.append(shape_count())
    return tuple(found)


def _read_numbers(tasks: Iterable[RobokinTask]) -> Numbers:
    return tuple({name: _plain(getattr(task, name)) for name in numbers_of(task)} for task in tasks)


def _plain(value: Any) -> object:
    return value if isinstance(value, (int, float)) else tuple(value)


def read_worlds(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    obj: bpy.types.Object,
    tasks: Sequence[RobokinTask],
    places: Sequence[Mapping[str, Place]],
) -> Worlds:
    """(4, 4) of each place that counts, as Blender computed it last. Raises RobokinError naming the task."""
    found = {(obj, ""): world_matrix((obj, ""))}
    for task, own in zip(tasks, places, strict=True):
        for place in own.values():
            if place in found:
                continue
            if place[0].visible_get(view_layer=depsgraph.view_layer):
                found[place] = world_matrix(place)
            elif not place[0].users_scene:  # deleted, and kept by the task alone
                raise RobokinError(f"task {task.name!r}: its target {place[0].name!r} is in no scene: choose another")
            else:
                found[place] = world_now(scene, depsgraph.view_layer, place, f"task {task.name!r}")[0]
    return found


@dataclass(frozen=True, eq=False)
class Read:
    """What a pose follows from. fields, scene, worlds: as they are read here.   around: what it keeps away from."""

    fields: RobotFields
    scene: tuple
    worlds: dict[tuple[int, str], bytes]
    around: Surroundings | None = None

    def is_as(self, other: Read | None) -> bool:
        return other is not None and (
            self.worlds == other.worlds
            and self.fields.numbers == other.fields.numbers
            and self.problem == other.problem
            and (other.around is None if self.around is None else self.around.is_as(other.around))
        )

    @property
    def problem(self) -> tuple:
        """What the problem is made of, beside the robot."""
        return self.fields.settings, self.scene


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
def _of_task() -> Callable[[RobokinTask], tuple]:
    return _getter(RobokinTask, _TASK)


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
