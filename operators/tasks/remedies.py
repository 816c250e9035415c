"""What helps with a target that cannot be met, one click each: the task is relaxed, or the base comes nearer. Each is
tried out: the robot is solved anew, and what brings nothing nearer is taken back and said."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...properties.bridge import binding, read_configuration, to_blender
from ...properties.handlers import posing_paused
from ...properties.results import readouts
from ...properties.results.result_text import quantity_text
from ...properties.results.stored_results import ShownResult
from ...properties.results.why import HOWS, base_held, can_relax, store_tried
from ...properties.task_kinds import KINDS
from ...robokin import RobokinError, UnknownNameError
from ...robokin.arrays import Array
from ...scene.animation.lists import place_in_list
from ...scene.posing.by_method import home
from ...scene.posing.solve import SolvedPose, solve_steps
from ...scene.tasks.present_values import present_target
from ...scene.tasks.targets import targets_now
from ...solvers.progress import finish
from ..common import RobotOperator
from ..solve.solve import take_pose

MORE = 1.01  # times the residual: surely within the tolerance
# Of the way from the base to the tip: to where the tip is at Home, and to where it strains to reach the target.
NEARER = (0.0, 0.2, -0.2, 0.5, 1.0), (0.2, 0.5, 0.8)
LEAST = 1e-9
BUDGET = 0.5  # [s] of work after which no other place of the base is tried
ROOM = 0.15  # share of its range that a joint should keep away from its limits where the base comes
FINEST = 1.0 / 32.0  # of the way
LESS = 0.9  # times what was missed: so much nearer that asking less is worth it
PLACE = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
ASKED = ("use_rotation", "frame", "priority", "position_tolerance", "orientation_tolerance")  # what a remedy changes


def named_task(obj: bpy.types.Object, name: str) -> bpy.types.PropertyGroup:
    """The task of that name; the active one for "". Raises RobokinError."""
    tasks = obj.robokin.tasks
    if name:
        if name not in tasks:
            raise UnknownNameError("task", name, tasks.keys())
        return tasks[name]
    return tasks[place_in_list(obj, "tasks")]


def solved_now(context: bpy.types.Context, obj: bpy.types.Object, start: Array | None = None) -> SolvedPose:
    """A solve as the scene stands, of which the panel shows what is missed. start: (nq,), else the present pose.
    Raises RobokinError."""
    with posing_paused():
        solved = finish(solve_steps(context, obj, obj.robokin.solver.seed, start))
    solved.store(obj)
    return solved


def missed(obj: bpy.types.Object, relaxed: bpy.types.PropertyGroup | None = None, how: str = "") -> float:
    """What the panel shows missed, in tolerances of the tasks, without what is no longer asked of the relaxed one."""
    found = 0.0
    for task in obj.robokin.tasks:
        if not task.solved or task.reached or (task == relaxed and how == "PRIORITY"):
            continue
        found += task.position_residual / task.position_tolerance
        if task != relaxed or how != "ROTATION":
            found += task.orientation_residual / task.orientation_tolerance
    return found


@contextmanager
def tried_out(obj: bpy.types.Object, put_back: Callable[[], None], how: str, task: str) -> Iterator[Callable[[], None]]:
    """Inside, a remedy is tried out; calling what is yielded keeps it. Else, also where anything raises, what it
    changed is put back, with what the panel said. Where it was in vain, it is not offered again."""
    shown, kept = ShownResult(obj), []
    try:
        yield lambda: kept.append(True)
    finally:
        if not kept:
            put_back()
            shown.show(obj)
    if not kept:
        store_tried(obj, how, task)


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
        task, settings = named_task(obj, self.task), obj.robokin.solver
        words = f"{next(label for how, label, _ in HOWS if how == self.how)}: {task.name}"
        if not can_relax(obj, task, self.how):
            raise RobokinError(f"task {task.name!r}: {words.partition(':')[0]} changes nothing of it")
        if self.how == "TOLERANCE" or not readouts.is_present(obj, "solve"):  # Live may be on its way yet
            solved_now(context, obj)
        before = missed(obj, task, self.how)
        kept = [(settings, "mode", settings.mode), *((task, name, _value(task, name)) for name in ASKED)]
        with tried_out(obj, lambda: _set(kept), self.how, task.name) as keep:
            self._relax(obj, task)
            solved = solved_now(context, obj)
            if solved.result.converged or missed(obj, task, self.how) < LESS * before:
                take_pose(context, obj, solved)
                keep()
                self.report({"INFO"}, f"{words}: {_outcome(solved)}")
                return {"FINISHED"}
        self.report({"WARNING"}, f"{words} does not help, all is as before")
        return {"CANCELLED"}

    def _relax(self, obj: bpy.types.Object, task: bpy.types.PropertyGroup) -> None:
        if self.how == "ROTATION":
            task.use_rotation = (False,) * 3
        elif self.how == "AXIS":
            task.frame, task.use_rotation = "TIP", (True, True, False)
        elif self.how == "PRIORITY":
            obj.robokin.solver.mode = "PRIORITIES"
            task.priority = 1 + max(other.priority for other in obj.robokin.tasks if other.enabled and other != task)
        else:
            kind = KINDS[task.kind]
            if kind.has_length:
                task.position_tolerance = max(task.position_tolerance, MORE * task.position_residual, LEAST)
            if kind.has_angle:
                task.orientation_tolerance = max(task.orientation_tolerance, MORE * task.orientation_residual, LEAST)


class ROBOKIN_OT_base_nearer(RobotOperator, bpy.types.Operator):
    """Move the robot along the ground toward a target that is too far away, no farther than its joints need to stay
    away from their limits"""

    bl_idname = "robokin.base_nearer"
    bl_label = "Move Base Nearer"

    task: bpy.props.StringProperty(
        name="Task", description="Name of the task; empty: the active one", options={"SKIP_SAVE"}
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        task = named_task(obj, self.task)
        if problem := base_held(obj, task):
            raise RobokinError(problem)
        robot = binding(obj)
        present = read_configuration(obj, robot)
        start = home(obj, robot.model, present)
        tips = [present_target(context, obj, robot, task, q) for q in (start, present)]
        if tips[0] is None:
            raise RobokinError(f"task {task.name!r} does not say where the robot should be")
        if not readouts.is_present(obj, "solve"):
            solved_now(context, obj)
        before, stood = missed(obj), obj.matrix_world.copy()
        wanted = targets_now(context, obj, [task], robot=robot).T[0, 0]
        place, goal = stood.translation, to_blender(obj, wanted, None, robot).translation
        away = []
        for tip, shares in zip(tips, NEARER, strict=True):
            at = to_blender(obj, tip, None, robot).translation
            away += [_level(goal - at + share * (at - place)) for share in shares]
        kept = [(obj, "matrix_world", stood), *((obj, name, _value(obj, name)) for name in PLACE)]
        with tried_out(obj, lambda: _set(kept), "BASE", task.name) as keep:
            best = _nearest(lambda shift: _BasePlace.at(context, obj, stood, shift, start), away)
            if best.missed < LESS * before:
                obj.matrix_world = Matrix.Translation(best.shift) @ stood
                take_pose(context, obj, best.solved)
                best.solved.store(obj)  # other places were tried after it
                keep()
                distance = best.shift.length * context.scene.unit_settings.scale_length
                moved = f"moved by {quantity_text(context.scene, 'LENGTH', distance)}"
                self.report({"INFO"}, f"{obj.name}: {moved}, {_outcome(best.solved)}")
                return {"FINISHED"}
        self.report({"WARNING"}, f"{self.bl_label}: {task.name} does not help, all is as before")
        return {"CANCELLED"}


@dataclass(frozen=True, eq=False)
class _BasePlace:
    """Where the base may stand. missed: by the tasks, as `missed`.   room: of the joint that came nearest to its limit,
    the share of its range up to there; no more than ROOM counts."""

    shift: Vector
    solved: SolvedPose
    missed: float
    room: float

    @classmethod
    def at(
        cls, context: bpy.types.Context, obj: bpy.types.Object, stood: Matrix, shift: Vector, start: Array
    ) -> _BasePlace:
        """The base moved by the shift from where it stood, and solved from `start` (nq,). Raises RobokinError."""
        obj.matrix_world = Matrix.Translation(shift) @ stood
        solved = solved_now(context, obj, start)
        model, q = solved.robot.model, solved.result.q
        span = model.upper - model.lower
        counts = (q != start) & np.isfinite(span) & (span > 0.0)
        shares = np.minimum(q - model.lower, model.upper - q)[counts] / span[counts]
        return cls(shift, solved, missed(obj), shares.min(initial=ROOM))


def _nearest(placed: Callable[[Vector], _BasePlace], away: Iterable[Vector]) -> _BasePlace:
    """The place where least is missed and joints have room; then as near to where the base stood as one with both."""
    begin, tried = time.thread_time(), []
    for shift in away:
        tried.append(placed(shift))
        if (tried[-1].missed, tried[-1].room) == (0.0, ROOM) or time.thread_time() - begin > BUDGET:
            break
    best = min(tried, key=lambda each: (each.missed, -each.room))
    shift, low, high = best.shift, 0.0, 1.0
    while best.missed == 0.0 and high - low > FINEST and time.thread_time() - begin < BUDGET:
        share = (low + high) / 2.0
        nearer = placed(share * shift)
        if nearer.missed == 0.0 and nearer.room >= best.room:
            best, high = nearer, share
        else:
            low = share
    return best


def _level(shift: Vector) -> Vector:
    return Vector((shift.x, shift.y, 0.0))


def _outcome(solved: SolvedPose) -> str:
    return "every task is met" if solved.result.converged else "nearer, but not met"


def _value(owner: Any, name: str) -> object:
    value = getattr(owner, name)
    return value if isinstance(value, str | int | float) else tuple(value)


def _set(values: list[tuple[Any, str, Any]]) -> None:
    for owner, name, value in values:
        setattr(owner, name, value)


CLASSES = (ROBOKIN_OT_task_relax, ROBOKIN_OT_base_nearer)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
