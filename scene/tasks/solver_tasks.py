"""The tasks of a robot as the scene states them, in the solver's form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

import bpy
import numpy as np

from ...properties.bridge import Binding, binding
from ...properties.bridge.belonging import has_object
from ...properties.task_kinds import KINDS, TaskContext
from ...properties.task_kinds.tip_links import follow_renamed_bones
from ...robokin import RobokinError, UnknownNameError
from ...robokin.arrays import Array
from ...solvers import Task
from ..animation.curves import refuse_driven
from .ad_hoc import AdHocTask
from .cycles import refuse_cycles
from .root_frames import metres_per_world_unit
from .targets import Targets, needs_target, target_bone, targets_now

RobokinTask = bpy.types.PropertyGroup

_TYPES = {"CURVE": "a curve", "MESH": "a mesh"}


def enabled_tasks(obj: bpy.types.Object, robot: Binding) -> list[RobokinTask]:
    """The tasks that take part. Nothing is written: it is asked for while Blender draws, too. Raises RobokinError
    naming the task whose bone or target is missing or unusable."""
    tasks = [task for task in obj.robokin.tasks if task.enabled]
    for task in tasks:
        check_task(obj, task, robot)
    return tasks


def are_hard(obj: bpy.types.Object, tasks: Sequence[RobokinTask]) -> Array:
    """(tasks,) bool. Only in a whole motion tasks may be soft."""
    is_whole = obj.robokin.solver.bake_mode == "WHOLE"
    return np.array([not (is_whole and task.soft_weight) for task in tasks], bool)


def check_task(obj: bpy.types.Object, task: RobokinTask, robot: Binding) -> None:
    """Raises RobokinError naming the task when its bone or target is missing or unusable."""
    _check_bones(robot, task)
    _check_target(obj, task)
    if task.kind == "LASER" and task.surface is not None:
        _check_object(obj, task.name, task.surface, "surface", "MESH")
    if task.kind == "POSTURE":
        _check_posture(obj, task)


def _check_bones(robot: Binding, task: RobokinTask) -> None:
    kind, links = KINDS[task.kind], robot.link_of_bone
    if kind.tip and not task.tip:
        raise RobokinError(f"task {task.name!r} has no {kind.tip.lower()}: choose one of the robot's bones")
    if kind.tip and task.tip not in links:
        raise UnknownNameError(f"{kind.tip.lower()} of task {task.name!r}, a bone,", task.tip, links)
    if kind.needs_other and not task.other:
        raise RobokinError(f"task {task.name!r} has no other bone: choose one of the robot's bones")
    if kind.other and task.other:
        if task.other not in links:
            raise UnknownNameError(f"other bone of task {task.name!r}", task.other, links)
        if task.other == task.tip:
            raise RobokinError(f"task {task.name!r}: {task.tip!r} is both of its bones")


def _check_target(obj: bpy.types.Object, task: RobokinTask) -> None:
    if not needs_target(task):
        return
    wanted = KINDS[task.kind].target
    if task.target is None:
        otherwise = ", or hold a fixed pose" if wanted == "POSE" else ""
        raise RobokinError(f"task {task.name!r} has no target: choose {_TYPES.get(wanted, 'an object')}{otherwise}")
    _check_place(obj, task.name, task.target, target_bone(task), wanted)


def check_ad_hoc(obj: bpy.types.Object, tasks: Sequence[AdHocTask]) -> None:
    """Raises RobokinError naming the task whose target is unusable."""
    for each in tasks:
        if each.place is not None:
            _check_place(obj, each.task.name, *each.place, each.needed_type)
        if each.surface is not None:
            _check_object(obj, each.task.name, each.surface, "surface", "MESH")


def _check_place(obj: bpy.types.Object, task: str, target: bpy.types.Object, bone: str, wanted: str) -> None:
    if bone and bone not in target.data.bones:
        names = [each.name for each in target.data.bones]
        raise UnknownNameError(f"target bone of task {task!r} in {target.name!r}", bone, names)
    _check_object(obj, task, target, "target", wanted, f"bone {bone}" if bone else "")


def _check_object(
    obj: bpy.types.Object, task: str, owner: bpy.types.Object, role: str, wanted: str, what: str = ""
) -> None:
    if wanted in _TYPES and owner.type != wanted:
        found = owner.bl_rna.properties["type"].enum_items[owner.type].name.lower()
        raise RobokinError(f"task {task!r}: its {role} {owner.name!r} is of type {found}, not {_TYPES[wanted]}")
    if _is_deleted(owner):
        raise RobokinError(f"task {task!r}: its {role} {owner.name!r} was deleted: choose another, or undo")
    refuse_cycles(obj, owner, task, "shape" if wanted in _TYPES else what)


def _is_deleted(owner: bpy.types.Object) -> bool:
    """Whether only what refers to it keeps it. Linked objects need not be in a scene."""
    if has_object(bpy.context.scene, owner) or owner.library or owner.override_library:
        return False
    return not owner.users_collection


def _check_posture(obj: bpy.types.Object, task: RobokinTask) -> None:
    postures = obj.robokin.postures
    if not task.posture:
        raise RobokinError(f"task {task.name!r} has no posture: choose a stored one")
    if task.posture not in postures:
        raise UnknownNameError(f"posture of task {task.name!r}", task.posture, [item.name for item in postures])


def ad_hoc_now(context: bpy.types.Context, obj: bpy.types.Object, ad_hoc: Sequence[AdHocTask]) -> list[Task]:
    """Tasks of their own level and influence, towards where the scene stands. Raises RobokinError naming the task."""
    check_ad_hoc(obj, ad_hoc)
    targets = targets_now(context, obj, (), ad_hoc, robot=binding(obj))
    return [_solver_form(each, targets, i, 0, each.influence) for i, each in enumerate(ad_hoc)]


def _solver_form(ad_hoc: AdHocTask, targets: Targets, i: int, frame: int, influence: float) -> Task:
    task = copy(ad_hoc.task)
    task.target, task.influence = _ad_hoc_target(ad_hoc, targets, i, frame), influence
    return task


def _ad_hoc_target(ad_hoc: AdHocTask, targets: Targets, i: int, frame: int) -> Any:
    """i: of what it reads, among the targets."""
    reading = targets.readings[i]
    surface = None if reading.surface is None else reading.surface[frame]
    return ad_hoc.target(reading.T[frame], surface, reading.shape)


class SolverTasks:
    """The solver's form of the scene's tasks, and then of ad-hoc tasks, for any targets and influences."""

    def __init__(
        self, obj: bpy.types.Object, robot: Binding, tasks: Sequence[RobokinTask], ad_hoc: Sequence[AdHocTask] = ()
    ) -> None:
        """Raises BridgeError."""
        self.obj, self._tasks, self._ad_hoc, self._robot = obj, tasks, ad_hoc, robot
        self._levels = obj.robokin.solver.mode == "PRIORITIES"
        self._unit = metres_per_world_unit(obj, robot)
        self._whole: dict[int, Task] = {}

    @property
    def names(self) -> list[str]:
        """What people call the tasks, then the ad-hoc tasks."""
        return [*(task.name for task in self._tasks), *(each.task.name for each in self._ad_hoc)]

    def at(self, targets: Targets, frame: int = 0, influence: Array | None = None) -> tuple[list[int], list[Task]]:
        """(the indices of the tasks that count at a frame of the targets, their solver's form). influence: (k,) in
        place of that of the targets. Raises RobokinError naming the task."""
        influence = targets.influence[frame] if influence is None else influence
        counting = np.flatnonzero(influence > 0.0).tolist()
        return counting, [self._built(targets, frame, i, influence[i]) for i in counting]

    def whole(self, targets: Targets, frame: int, counting: Sequence[int]) -> list[Task]:
        """Tasks of influence 1, each made when it is first asked for, at that frame: the same at all others, where
        `over` gives their targets."""
        for i in counting:
            if i not in self._whole:
                self._whole[i] = self._built(targets, frame, i, 1.0)
        return [self._whole[i] for i in counting]

    def over(self, targets: Targets, frames: Iterable[int], counting: Sequence[int]) -> list[list[Any]]:
        """Targets by frame and task that counts, in the task's own terms. Raises RobokinError."""
        return [[self._target(targets, frame, i) for i in counting] for frame in frames]

    def _built(self, targets: Targets, frame: int, i: int, influence: float) -> Task:
        if i < len(self._tasks):
            context, kind = self._context(targets, frame, i, influence), KINDS[self._tasks[i].kind]
            return kind.build(context, kind.target_at(context))
        task = _solver_form(self._ad_hoc[i - len(self._tasks)], targets, i, frame, influence)
        if not self._levels and task.priority:  # a closed loop stays before all
            task.priority = 1
        return task

    def _target(self, targets: Targets, frame: int, i: int) -> Any:
        if i < len(self._tasks):
            return KINDS[self._tasks[i].kind].target_at(self._context(targets, frame, i, 1.0))
        return _ad_hoc_target(self._ad_hoc[i - len(self._tasks)], targets, i, frame)

    def _context(self, targets: Targets, frame: int, i: int, influence: float) -> TaskContext:
        task = self._tasks[i]
        level = task.priority if self._levels else 1
        return TaskContext(self.obj, self._robot, task, targets.readings[i], frame, self._unit, level, influence)


def pose_tasks(
    context: bpy.types.Context, obj: bpy.types.Object, robot: Binding
) -> tuple[list[RobokinTask], list[Task]]:
    """The tasks with an influence that ask for a pose, towards their targets as they stand, and their solver's form.
    Raises RobokinError."""
    refuse_driven(obj, robot)
    follow_renamed_bones(obj, robot)
    tasks = [task for task in enabled_tasks(obj, robot) if not KINDS[task.kind].is_velocity]
    counting, wanted = SolverTasks(obj, robot, tasks).at(targets_now(context, obj, tasks, robot=robot))
    return [tasks[i] for i in counting], wanted
