"""What helps with a target that cannot be met, one click each: the task is relaxed, or the base comes nearer."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding, to_blender
from ...properties.bridge.parents import with_parents
from ...properties.results.result_text import quantity_text
from ...properties.results.why import HOWS, can_relax
from ...properties.task_kinds import KINDS
from ...robokin import RobokinError, UnknownNameError
from ...scene.animation.frames import fcurves
from ...scene.tasks.present_values import present_target
from ...scene.tasks.targets import targets_now
from ..common import RobotOperator

MORE = 1.01  # times the residual: surely within the tolerance
NEARER = 0.2  # of the way from the base to the tip: the arm is not stretched then
LEAST = 1e-9


def named_task(obj: bpy.types.Object, name: str) -> bpy.types.PropertyGroup:
    """The task of that name; the active one for "". Raises RobokinError."""
    tasks = obj.robokin.tasks
    if name:
        if name not in tasks:
            raise UnknownNameError("task", name, tasks.keys())
        return tasks[name]
    if not 0 <= obj.robokin.active_task < len(tasks):
        raise RobokinError(f"{obj.name!r} has no task to relax")
    return tasks[obj.robokin.active_task]


class ROBOKIN_OT_task_relax(RobotOperator, bpy.types.Operator):
    """Ask less of a task, so that the robot can meet it"""

    bl_idname = "robokin.task_relax"
    bl_label = "Relax Task"

    how: bpy.props.EnumProperty(name="How", description="What is no longer asked", items=HOWS)
    task: bpy.props.StringProperty(
        name="Task", description="Name of the task; empty: the active one", options={"SKIP_SAVE"}
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return next(text for how, _, text in HOWS if how == properties.how)

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        task = named_task(obj, self.task)
        if not can_relax(obj, task, self.how):
            words = next(label for how, label, _ in HOWS if how == self.how)
            raise RobokinError(f"task {task.name!r}: {words} changes nothing of it")
        if self.how == "ROTATION":
            task.use_rotation = (False,) * 3
        elif self.how == "AXIS":
            task.frame, task.use_rotation = "TIP", (True, True, False)
        elif self.how == "PRIORITY":
            settings = obj.robokin.solver
            if settings.mode != "PRIORITIES":
                settings.mode = "PRIORITIES"
            task.priority = 1 + max(other.priority for other in obj.robokin.tasks if other.enabled and other != task)
        else:
            kind = KINDS[task.kind]
            if kind.has_length:
                task.position_tolerance = max(task.position_tolerance, MORE * task.position_residual, LEAST)
            if kind.has_angle:
                task.orientation_tolerance = max(task.orientation_tolerance, MORE * task.orientation_residual, LEAST)
        return {"FINISHED"}


class ROBOKIN_OT_base_nearer(RobotOperator, bpy.types.Operator):
    """Move the robot toward a target that is too far away, so near that the arm need not be stretched"""

    bl_idname = "robokin.base_nearer"
    bl_label = "Move Base Nearer"

    task: bpy.props.StringProperty(
        name="Task", description="Name of the task; empty: the active one", options={"SKIP_SAVE"}
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        task = named_task(obj, self.task)
        if any(obj.lock_location) or any(path == "location" for path, _ in fcurves(obj)):
            raise RobokinError(f"{obj.name!r} is held where it is: its location is locked or keyed")
        if task.use_target and obj in with_parents(task.target):
            raise RobokinError(f"task {task.name!r}: its target moves with the robot")
        robot = binding(obj)
        tip = present_target(context, obj, robot, task)
        if tip is None:
            raise RobokinError(f"task {task.name!r} does not say where the robot should be")
        wanted = targets_now(context, obj, [task], robot=robot).T[0, 0]
        at, matrix = to_blender(obj, tip, None, robot).translation, obj.matrix_world.copy()
        away = to_blender(obj, wanted, None, robot).translation - at + NEARER * (at - matrix.translation)
        matrix.translation += away
        obj.matrix_world = matrix
        distance = quantity_text(context.scene, "LENGTH", away.length * context.scene.unit_settings.scale_length)
        self.report({"INFO"}, f"{obj.name}: moved by {distance}")
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_task_relax, ROBOKIN_OT_base_nearer)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
