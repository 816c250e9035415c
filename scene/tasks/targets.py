"""What tasks read of the scene, now or over many frames: where their objects are, and their animated numbers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.task_kinds import KINDS, Reading
from ...robokin.arrays import Array
from ...solvers.tasks import FrameTask
from ..animation import frames as animation
from .ad_hoc import AdHocTask, Place
from .root_frames import roots_from_world
from .shapes import has_shape, read_shape

RobokinTask = bpy.types.PropertyGroup
RobokinCriterion = bpy.types.PropertyGroup
Numbers = Mapping[str, Array]
Shapes = Callable[[bpy.types.Object, RobokinTask], Any]  # as `read_shape`

_CHUNK = 32  # frames of the scene visited between two reports of progress


@dataclass(frozen=True, eq=False)
class Targets:
    """What k tasks read over n frames. influence: (n, k).   settings: (n, c, 2) weight and gain of each criterion."""

    readings: Sequence[Reading]
    influence: Array
    settings: Array

    @property
    def T(self) -> Array:
        """(n, k, 4, 4) T_root_target [m]."""
        if not self.readings:
            return np.zeros((len(self.influence), 0, 4, 4))
        return np.stack([reading.T for reading in self.readings], axis=1)


def needs_target(task: RobokinTask) -> bool:
    """Whether an object must be given as the task's target."""
    kind = KINDS[task.kind].target
    if not kind or (task.kind == "DISTANCE" and task.other):
        return False
    return task.use_target or kind != "POSE"


def places_of(task: RobokinTask) -> dict[str, Place]:
    """What counts of where things are, by the property that names them. They must be there (`enabled_tasks`)."""
    found = {"target": (task.target, target_bone(task))} if needs_target(task) else {}
    if task.kind == "LASER" and task.surface is not None:
        found["surface"] = (task.surface, "")
    return found


def target_bone(task: RobokinTask) -> str:
    """The bone that the task follows; "": its target itself."""
    return task.subtarget if task.target is not None and task.target.type == "ARMATURE" else ""


def world_matrix(place: Place) -> Array:
    """(4, 4) as Blender computed it last."""
    owner, bone = place
    world = np.array(owner.matrix_world, float)
    return world @ np.array(owner.pose.bones[bone].matrix, float) if bone else world


CRITERION_NUMBERS = ("weight", "gain")


def numbers_of(task: RobokinTask) -> tuple[str, ...]:
    """Names of the properties that are read at every frame."""
    kind = KINDS[task.kind]
    fixed = ("location", "rotation") if kind.target == "POSE" and not task.use_target else ()
    return (*dict.fromkeys((*fixed, *kind.animated)), "influence")


def targets_now(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    tasks: Sequence[RobokinTask],
    ad_hoc: Sequence[AdHocTask] = (),
    *,
    robot: Binding,
) -> Targets:
    """Targets as the scene stands, also where it has been moved by hand and not keyed. One view layer update."""
    context.view_layer.update()
    scene, view_layer = context.scene, context.view_layer
    places = {place: f"task {task.name!r}" for task in tasks for place in places_of(task).values()}
    places |= {place: each.task.name for each in ad_hoc for place in each.places}
    worlds = {place: world_now(scene, view_layer, place, who) for place, who in places.items()}
    worlds[obj, ""] = world_matrix((obj, ""))[None]
    return _targets(obj, robot, tasks, worlds, _present_numbers(tasks), ad_hoc=ad_hoc)


def targets_shown(obj: bpy.types.Object, robot: Binding, tasks: Sequence[RobokinTask], shape_of: Shapes) -> Targets:
    """Targets as Blender computed them last, for showing values while it draws."""
    places = {(obj, "")}.union(*(places_of(task).values() for task in tasks))
    worlds = {place: world_matrix(place)[None] for place in places}
    return _targets(obj, robot, tasks, worlds, _present_numbers(tasks), shape_of)


def _present_numbers(tasks: Iterable[RobokinTask]) -> list[Numbers]:
    return [{name: _number(task, name)[None] for name in numbers_of(task)} for task in tasks]


def _number(entry: bpy.types.PropertyGroup, name: str) -> Array:
    return np.atleast_1d(np.array(getattr(entry, name), dtype=np.float64))


def world_now(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, place: Place, who: str) -> Array:
    """(1, 4, 4) the world matrix of a place, from its keys or as Blender evaluated it. Raises RobokinError."""
    if not animation.is_evaluated(place[0], view_layer) and _moved_by_keys_only(place):
        return animation.keyed_matrices(place[0], [scene.frame_current_final])
    animation.check_evaluated(place[0], view_layer, who)
    return world_matrix(place)[None]


def _moved_by_keys_only(place: Place) -> bool:
    return not place[1] and animation.moved_by_keys_only(place[0])


def targets_over(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    tasks: Sequence[RobokinTask],
    frames: Sequence[float],
    ad_hoc: Sequence[AdHocTask] = (),
    criteria: Sequence[RobokinCriterion] = (),
    *,
    robot: Binding,
) -> Generator[float, None, Targets]:
    """Yield the share of the work done (0..1) now and then; return the Targets over the frames, of the scene's tasks
    and then of ad-hoc tasks, with the settings of the criteria.

    What is moved by keys alone is computed from the curves; the rest is read from the scene frame by frame, and the
    present frame comes back. Raises RobokinError.
    """
    places = {(obj, "")}.union(*(places_of(task).values() for task in tasks))
    places.update(place for each in ad_hoc for place in each.places)
    visited = {place for place in places if not _moved_by_keys_only(place)}
    worlds = {place: animation.keyed_matrices(place[0], frames) for place in places - visited}
    read = [(task, numbers_of(task)) for task in tasks] + [(item, CRITERION_NUMBERS) for item in criteria]
    numbers: list[Numbers] = []
    if animation.keyed_only(obj, lambda path: path.startswith("robokin.")):
        numbers = [_numbers_from_curves(obj, entry, names, frames) for entry, names in read]
    if visited or len(numbers) < len(read):
        for owner, _ in visited:
            animation.check_evaluated(owner, view_layer, f"robot {obj.name!r}")
        worlds |= {place: np.empty((len(frames), 4, 4)) for place in visited}
        samples: list[dict[str, list[Array]]] = [{name: [] for name in names} for _, names in read]
        for index in animation.visit_frames(scene, frames):
            for place in visited:
                worlds[place][index] = world_matrix(place)
            for rows, (entry, _) in zip(samples, read, strict=True):
                for name, row in rows.items():
                    row.append(_number(entry, name))
            if index % _CHUNK == 0:
                yield index / len(frames)
        numbers = numbers or [{name: np.array(row) for name, row in rows.items()} for rows in samples]
    if any(map(has_shape, tasks)) or any(each.has_shape for each in ad_hoc):
        with animation.frame_restored(scene):
            animation.set_frame(scene, frames[0])
            return _targets(obj, robot, tasks, worlds, numbers, ad_hoc=ad_hoc)
    return _targets(obj, robot, tasks, worlds, numbers, ad_hoc=ad_hoc)


def _numbers_from_curves(
    obj: bpy.types.Object, entry: bpy.types.PropertyGroup, names: Iterable[str], frames: Sequence[float]
) -> Numbers:
    path = entry.path_from_id()
    return {name: animation.property_values(obj, f"{path}.{name}", len(_number(entry, name)), frames) for name in names}


def _targets(
    obj: bpy.types.Object,
    robot: Binding,
    tasks: Sequence[RobokinTask],
    worlds: Mapping[Place, Array],
    numbers: Sequence[Numbers],
    shape_of: Shapes = read_shape,
    ad_hoc: Sequence[AdHocTask] = (),
) -> Targets:
    """numbers: of the tasks, and of the criteria after them. Shapes are read from the scene as it stands."""
    count = len(worlds[obj, ""])
    up = roots_from_world(obj, worlds[obj, ""], np.tile(np.eye(4), (count, 1, 1)), "up", robot)[:, :3, 2]
    readings = [
        _reading(obj, robot, task, worlds, own, up, shape_of) for task, own in zip(tasks, numbers, strict=False)
    ]
    influence = np.ones((count, len(tasks) + len(ad_hoc)))
    for column, task, own in zip(influence.T, tasks, numbers, strict=False):
        if not KINDS[task.kind].is_hard:
            column[:] = own["influence"][:, 0].clip(0.0, 1.0)
    influence[:, len(tasks) :] = [each.influence for each in ad_hoc]
    settings = np.empty((count, len(numbers) - len(tasks), len(CRITERION_NUMBERS)))
    for column, own in zip(np.moveaxis(settings, 1, 0), numbers[len(tasks) :], strict=True):
        column[:] = np.hstack([own[name] for name in CRITERION_NUMBERS])
    return Targets(readings + [_ad_hoc_reading(obj, robot, each, worlds, up) for each in ad_hoc], influence, settings)


def _reading(
    obj: bpy.types.Object,
    robot: Binding,
    task: RobokinTask,
    worlds: Mapping[Place, Array],
    numbers: Numbers,
    up: Array,
    shape_of: Shapes,
) -> Reading:
    own = worlds[obj, ""]
    still = np.tile(np.eye(4), (len(own), 1, 1))
    places = {
        name: roots_from_world(obj, own, worlds[place], task.name, robot) for name, place in places_of(task).items()
    }
    if "target" not in places and "location" in numbers and KINDS[task.kind].target:
        places["target"] = roots_from_world(obj, own, _fixed_poses(numbers), task.name, robot)
    return Reading(places.get("target", still), places.get("surface"), up, numbers, shape_of(obj, task))


def _ad_hoc_reading(
    obj: bpy.types.Object, robot: Binding, ad_hoc: AdHocTask, worlds: Mapping[Place, Array], up: Array
) -> Reading:
    own = worlds[obj, ""]
    if ad_hoc.place is not None:
        T = roots_from_world(obj, own, worlds[ad_hoc.place], ad_hoc.task.name, robot)
    else:
        target = ad_hoc.task.target if isinstance(ad_hoc.task, FrameTask) else np.eye(4)
        T = np.tile(target, (len(own), 1, 1))
    surface = None
    if ad_hoc.surface is not None:
        surface = roots_from_world(obj, own, worlds[ad_hoc.surface, ""], ad_hoc.task.name, robot)
    return Reading(T, surface, up, {}, ad_hoc.read_shape(obj))


def _fixed_poses(numbers: Numbers) -> Array:
    """(n, 4, 4) of location and rotation."""
    poses = np.tile(np.eye(4), (len(numbers["location"]), 1, 1))
    poses[:, :3, :3] = animation.rotation_matrices(numbers["rotation"], "XYZ")
    poses[:, :3, 3] = numbers["location"]
    return poses
