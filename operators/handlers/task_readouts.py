"""Residuals of a robot's tasks in the present pose, while Blender draws."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...properties.bridge import Binding, binding_held, read_configuration
from ...properties.results import readouts
from ...properties.results.change_marks import once_for_each_change
from ...properties.results.readouts import TaskReadout
from ...properties.task_kinds import KINDS
from ...robokin import RobokinError, RobotModel
from ...robokin.arrays import Array
from ...scene.live.residuals import LiveResiduals
from ...scene.tasks.root_frames import metres_per_world_unit
from ...scene.tasks.shown_shapes import missing_shapes, shown_shape
from ...scene.tasks.solver_tasks import SolverTasks, check_task
from ...scene.tasks.targets import targets_shown
from ...solvers.motion.motion import Motion
from ...solvers.motion.task_check import motion_residuals, motion_targets
from ...solvers.progress import finish
from ...solvers.singularities.measure import Singularities
from ...solvers.singularities.tool import tools_of
from ...solvers.tasks import FrameTask, Task
from ...solvers.velocity.task_levels import TaskLevels
from ..live.events import residuals_now


def task_readouts(obj: bpy.types.Object) -> Sequence[TaskReadout | None]:
    """One for each task of the list; None where it has none: of a velocity, of what is counted from the start of a
    solve, where the influence is not 1. Computed anew only when something has changed, and never what Live has just
    found. Which singularity is near is shown of the active task."""
    return _shown(obj, obj.robokin.active_task)


@once_for_each_change
def _shown(obj: bpy.types.Object, active: int) -> Sequence[TaskReadout | None]:
    try:
        with binding_held(obj) as robot:
            live = residuals_now(obj, robot)
            return _computed(obj, robot) if live is None else _of_live(obj, robot.model, *live)
    except RobokinError:
        return [None] * len(obj.robokin.tasks)


def _of_live(obj: bpy.types.Object, model: RobotModel, live: LiveResiduals, q: Array) -> Sequence[TaskReadout | None]:
    shown: list[TaskReadout | None] = [None] * len(obj.robokin.tasks)
    for place, form, residuals in zip(live.places, live.forms, live.values, strict=True):
        if _has_readout(obj.robokin.tasks[place]):
            shown[place] = _readout(obj, model, place, form, residuals, live.unit, q)
    return shown


def _computed(obj: bpy.types.Object, robot: Binding) -> Sequence[TaskReadout | None]:
    shown: list[TaskReadout | None] = [None] * len(obj.robokin.tasks)
    places, tasks = [], []
    for i, task in enumerate(obj.robokin.tasks):
        if task.enabled:
            try:
                check_task(obj, task, robot)
                if _has_readout(task) and not missing_shapes(obj, [task]):
                    places.append(i)
                    tasks.append(task)
            except RobokinError as error:
                shown[i] = TaskReadout(0.0, 0.0, False, str(error))
    if not tasks:
        return shown
    counting, wanted = SolverTasks(obj, robot, tasks).at(targets_shown(obj, robot, tasks, shown_shape))
    model, unit = robot.model, metres_per_world_unit(obj, robot)
    motion = Motion.of(model, np.zeros(1), read_configuration(obj, robot)[None])
    levels = TaskLevels(model, wanted)
    residuals = finish(motion_residuals(levels, motion_targets(levels, None, motion), motion))[0]
    for i, task, own in zip(counting, wanted, residuals, strict=True):
        shown[places[i]] = _readout(obj, model, places[i], task, own, unit, motion.q[0])
    return shown


def _readout(
    obj: bpy.types.Object, model: RobotModel, place: int, task: Task, residuals: Array, unit: float, q: Array
) -> TaskReadout:
    """place: of the task in the list.   residuals: (2,) of its parts.   unit: metres in a Blender unit."""
    parts = list(zip(task.parts, residuals.tolist(), strict=False))
    length = next((r / unit for part, r in parts if part.is_length), 0.0)
    angle = next((r for part, r in parts if not part.is_length), 0.0)
    met = all(r <= part.tolerance for part, r in parts)
    near = _near(obj, model, task, q) if place == obj.robokin.active_task else (None, "")
    return TaskReadout(length, angle, met, "", *near)


def _near(obj: bpy.types.Object, model: RobotModel, task: Task, q: Array) -> tuple[float | None, str]:
    """The smallest singular value of a task's tip, and which singularity is near."""
    found = _tools.get(model, task)
    if found is None:
        return None, ""
    value = float(found.over(q[None])[0][0])
    return value, found.at(q).motion() if value < obj.robokin.solver.singularity else ""


class _Tools:
    """What was found of the tools of the last robot: their families."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._model: RobotModel | None = None
        self._found: dict[tuple, Singularities | None] = {}

    def get(self, model: RobotModel, task: Task) -> Singularities | None:
        """None of a task without a tool."""
        if model is not self._model:
            self._model, self._found = model, {}
        if not isinstance(task, FrameTask):
            return None
        key = task.link, task.offset.tobytes(), task.weights.tobytes(), task.frame
        if key not in self._found:
            tools = [tool for tool in tools_of(model, [task]) if tool.rank]
            self._found[key] = Singularities(tools[0]) if tools else None
        return self._found[key]


_tools = _Tools()


def _has_readout(task: bpy.types.PropertyGroup) -> bool:
    return not KINDS[task.kind].is_velocity and task.kind not in ("PIN", "ADVANCE") and task.influence >= 1.0


def register() -> None:
    readouts.tasks = task_readouts


def unregister() -> None:
    readouts.tasks = readouts.nothing
    _tools.clear()
