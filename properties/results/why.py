"""Why the last solve missed its targets: the joints and tasks that it blames, and what can be done about it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

import bpy

from ...solvers.ik.diagnosis import NOT_TURNED
from ..bridge import binding
from ..bridge.fcurves import fcurves
from ..bridge.parents import with_parents
from ..task_kinds import KINDS
from . import readouts

HOWS = (
    ("ROTATION", "Free the Rotation", "The tip may turn as it likes; its position counts alone"),
    ("AXIS", "Free the Turn about Z", "The tip may turn about its own Z axis, as a drill or a round nozzle may"),
    ("PRIORITY", "Come after the Others", "The task gives way to the others: it comes one priority after them"),
    ("TOLERANCE", "Accept What Is Reached", "The tolerances of the task become as large as its residual now"),
)


@dataclass(frozen=True)
class Why:
    """joints: names of those whose limits or padlocks hold the robot up.   tasks: of those that are in conflict,
    or too far.   tried: remedies that were tried out and do not help, as (how, task)."""

    joints: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    tried: tuple[tuple[str, str], ...] = ()


NOTHING = Why()


@dataclass(frozen=True)
class Remedy:
    """how: of HOWS, "BASE" for the base to come nearer, "PATH" for a path that a planner finds, or "POSTURES" for a
    search from other postures.   task: the name of the one that is changed; "" for a path or a search."""

    how: str
    task: str


def store_why(obj: bpy.types.Object, blamed: Why) -> None:
    """Written only where it is new: that is what takes time."""
    if why(obj) != blamed:
        text = json.dumps([blamed.joints, blamed.tasks, blamed.tried]) if blamed != NOTHING else ""
        obj.robokin.solver.why = text


def store_tried(obj: bpy.types.Object, how: str, task: str = "") -> None:
    """A remedy was tried in vain: it is not offered again until the next solve."""
    blamed = why(obj)
    store_why(obj, replace(blamed, tried=(*blamed.tried, (how, task))))


def why(obj: bpy.types.Object) -> Why:
    return _parsed(obj.robokin.solver.why)


@lru_cache(maxsize=8)
def _parsed(text: str) -> Why:
    if not text:
        return NOTHING
    with suppress(ValueError, TypeError):  # of a damaged file
        joints, tasks, tried = (*json.loads(text), ())[:3]  # files of before have two
        return Why(tuple(map(str, joints)), tuple(map(str, tasks)), tuple((str(how), str(task)) for how, task in tried))
    return NOTHING


def held_joints(obj: bpy.types.Object) -> tuple[list[str], list[str]]:
    """Names of the joints whose limits hold the robot up, and of those whose padlocks do. Raises RobokinError."""
    joints, locked = why(obj).joints, binding(obj).locked
    return [name for name in joints if name not in locked], [name for name in joints if name in locked]


def is_missed(obj: bpy.types.Object) -> bool:
    """Whether the last solve left something to explain."""
    return obj.robokin.solver.status not in ("", "CONVERGED", "EMPTY")


def remedies(obj: bpy.types.Object) -> list[Remedy]:
    """What may help with the last solve: of the tasks that it blames, else of those that it missed; nothing that was
    tried in vain."""
    tasks, blamed = obj.robokin.tasks, why(obj)
    named = [task for task in tasks if task.name in blamed.tasks and task.enabled]
    missed = [task for task in tasks if task.solved and not task.reached]
    found = [Remedy("PATH", "")] if obj.robokin.solver.status == "COLLISION" else []
    for task in named or missed:
        is_far = obj.robokin.solver.status == "OUT_OF_REACH" and not obj.robokin.solver.reason.startswith(NOT_TURNED)
        if is_far and ("BASE", task.name) not in blamed.tried and not base_held(obj, task):
            found.append(Remedy("BASE", task.name))
            continue
        useful = [how for how, *_ in HOWS if how != "PRIORITY" or missed != [task]]  # it helps the others
        found += [Remedy(how, task.name) for how in useful if can_relax(obj, task, how)]
    following = readouts.live(obj) if obj.robokin.live else None
    if following is not None and not following.is_searched:  # Solve has searched already
        found.append(Remedy("POSTURES", ""))
    return [remedy for remedy in found if (remedy.how, remedy.task) not in blamed.tried]


def base_held(obj: bpy.types.Object, task: bpy.types.PropertyGroup) -> str:
    """Why the base cannot come nearer to the target of a task; "" where it can."""
    if any(obj.lock_location) or any(path == "location" for path, _ in fcurves(obj)):
        return f"{obj.name!r} is held where it is: its location is locked or keyed"
    if task.use_target and obj in with_parents(task.target):
        return f"task {task.name!r}: its target moves with the robot"
    return ""


def can_relax(obj: bpy.types.Object, task: bpy.types.PropertyGroup, how: str) -> bool:
    """Whether one of HOWS changes anything of a task."""
    kind = KINDS[task.kind]
    turns = kind.has_length and "use_rotation" in kind.axes and any(task.use_rotation)
    if how == "ROTATION":
        return turns
    if how == "AXIS":
        return turns and all(task.use_rotation)
    if how == "PRIORITY":
        others = [other.priority for other in obj.robokin.tasks if other.enabled and other != task]
        is_last = obj.robokin.solver.mode == "PRIORITIES" and task.priority > max(others, default=0)
        return bool(others) and not kind.is_hard and not is_last
    return task.solved and not task.reached
