"""Where the curves of a robot miss a task or break a limit, piece by piece and without visiting a frame, so that it can
be looked at while a person drags a key."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...properties.bridge import binding
from ...properties.results.readouts import BrokenFrames, BrokenRow
from ...scene.animation.curves import shown_by_keys
from ...scene.animation.frames import keyed_only, moved_by_keys_only
from ...scene.bake.report import MET
from ...scene.check.check import AnimationCheck, check_steps
from ...scene.check.rows import limit_rows, task_rows
from ...scene.tasks.shapes import has_shape
from ...scene.tasks.solver_tasks import enabled_tasks
from ...scene.tasks.targets import places_of
from ...solvers.progress import mapped

PIECE = 100  # frames that are judged at once
LEAD = 3  # frames before them that speeds, accelerations and jerks are differences from


def broken_steps(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    frames: Sequence[int],
    efforts: bool = False,
    limits: Mapping[str, object] | None = None,
) -> Generator[float, None, BrokenFrames | None]:
    """Yield the share done after each piece; return what `check_steps` would say of the frames, but for collisions
    and tipping.

    Nothing is changed and no frame is visited: tasks that follow what keys alone do not move are left out, and named.
    None where keys alone do not move the robot. Raises RobokinError.
    """
    robot = binding(obj)
    if shown_by_keys(obj, frames[:1], robot) is None:
        return None
    enabled = enabled_tasks(obj, robot)
    tasks = [task for task in enabled if _is_keyed(obj, task)]
    parts: list[AnimationCheck] = []
    for first in range(0, len(frames), PIECE):
        own = frames[max(first - LEAD, 0) : first + PIECE]
        chosen = {"tasks": tasks, "efforts": efforts, "with_collisions": False, "limits": limits}
        steps, share = check_steps(scene, view_layer, obj, robot, own, **chosen), first / len(frames)
        parts.append((yield from mapped(steps, lambda _, done=share: done)))
        yield share
    return _joined(frames, parts, tuple(task.name for task in enabled if task not in tasks))


def _is_keyed(obj: bpy.types.Object, task: bpy.types.PropertyGroup) -> bool:
    """Whether all that the task reads follows from F-curves alone."""
    places = {*places_of(task).values(), (obj, "")}
    if has_shape(task) or any(bone or not moved_by_keys_only(owner) for owner, bone in places):
        return False
    return keyed_only(obj, lambda path: path.startswith("robokin."))


def _joined(frames: Sequence[int], parts: Sequence[AnimationCheck], unseen: tuple[str, ...]) -> BrokenFrames:
    violations, statuses, missed, residuals = [], [], [], []
    for number, part in enumerate(parts):
        lead = LEAD if number else 0
        at = number * PIECE - lead
        violations += [replace(v, frame=v.frame + at) for v in part.limits.violations if v.frame >= lead]
        statuses += part.statuses[lead:]
        missed.append(part.missed[lead:])
        residuals.append(part.residuals[lead:])
    tasks = parts[0].tasks
    units = [next((part.units[i] for part in parts if part.units[i]), ()) for i in range(len(tasks))]
    rows = task_rows(frames, statuses, np.concatenate(missed), np.concatenate(residuals), tasks, units, parts[0].world)
    rows = sorted([*rows, *limit_rows(frames, violations, parts[0].world)], key=lambda row: row.first)
    broken = {v.frame for v in violations} | {i for i, status in enumerate(statuses) if status not in MET}
    shown = tuple(BrokenRow(int(row.first), int(row.last), str(row.status), row.reason) for row in rows)
    return BrokenFrames(shown, len(broken), unseen)
