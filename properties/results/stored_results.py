"""Results on the robot, where the panel reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ...robokin.arrays import Array
from ...solvers import Status, Task
from .why import Why, store_why

_SAID = "status", "reason", "why"
_SAID_OF_TASK = "position_residual", "orientation_residual", "solved", "reached"


def store_result(
    obj: bpy.types.Object,
    status: str,
    reason: str,
    tasks: Sequence[bpy.types.PropertyGroup],
    wanted: Sequence[Task],
    residual_array: Array,
    unit: float,
    blamed: Why,
) -> None:
    """Store status, reason and residuals (tasks, 2) of a pose, in Blender units of `unit` metres.

    tasks: those that the result is about, `wanted` in the solver's form.
    """
    if blamed.tasks:
        names = {form.name: task.name for task, form in zip(tasks, wanted, strict=True)}
        blamed = Why(blamed.joints, tuple(names.get(name, name) for name in blamed.tasks))
    store_why(obj, blamed)
    settings = obj.robokin.solver
    # Writing is what takes time, and mostly nothing is new.
    if settings.status != status:
        settings.status = status
    if settings.reason != reason:
        settings.reason = reason
    if len(tasks) < len(obj.robokin.tasks):
        _clear_tasks(obj)
    for task, form, residuals in zip(tasks, wanted, residual_array.tolist(), strict=True):
        position, orientation, reached = 0.0, 0.0, True
        for part, residual in zip(form.parts, residuals, strict=False):
            if part.is_length:
                position = residual / unit
            else:
                orientation = residual
            reached = reached and residual <= part.tolerance
        task.position_residual, task.orientation_residual = position, orientation
        if not task.solved or task.reached != reached:
            task.solved, task.reached = True, reached


class ShownResult:
    """What the panel says of a robot's pose, to be shown again."""

    def __init__(self, obj: bpy.types.Object) -> None:
        self._said = _values(obj.robokin.solver, _SAID)
        self._of_tasks = [_values(task, _SAID_OF_TASK) for task in obj.robokin.tasks]

    def show(self, obj: bpy.types.Object) -> None:
        _set(obj.robokin.solver, self._said)
        for task, values in zip(obj.robokin.tasks, self._of_tasks, strict=False):
            _set(task, values)


def _values(group: bpy.types.PropertyGroup, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(group, name) for name in names}


def _set(group: bpy.types.PropertyGroup, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(group, name, value)


def clear_result(obj: bpy.types.Object) -> None:
    """There is no result."""
    settings = obj.robokin.solver
    settings.status = settings.reason = settings.why = ""
    _clear_tasks(obj)


def _clear_tasks(obj: bpy.types.Object) -> None:
    for task in obj.robokin.tasks:
        task.solved = task.reached = False


def store_bake_result(obj: bpy.types.Object, frame: float) -> None:
    """What the bake found at a frame becomes the result of the pose."""
    clear_result(obj)
    settings = obj.robokin.solver
    missed = (item for item in settings.bake_failures if item.status and item.first <= frame <= item.last)
    failure = next(missed, None)
    settings.status, settings.reason = (
        ("CONVERGED", "as baked") if failure is None else (failure.status, failure.reason)
    )


def store_failures(items: bpy.types.bpy_prop_collection, rows: Sequence[tuple[int, int, Status, str]]) -> None:
    """Store (first, last, status, reason) of frames in a row."""
    items.clear()  # in an override those of its file stay
    for i, (first, last, status, reason) in enumerate(rows):
        if i == len(items):
            items.add().name = str(i)  # by which Blender finds again what an override has changed
        item = items[i]
        item.first, item.last, item.status, item.reason = first, last, str(status), reason
    for item in items[len(rows) :]:
        item.status = ""
