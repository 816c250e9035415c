"""Tasks that are missed: an arrow from where the tip is, with the reason, to where it should be."""

from __future__ import annotations

import math

import bpy

from ...properties.results import readouts
from ...properties.results.readouts import Goal, TaskReadout
from ...properties.results.result_text import in_scene_units
from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ..prepared.task_rows import residual_text
from ..shapes import colors
from ..shapes.lines import arrow
from .pieces import Pieces
from .robot_view import RobotView

LABEL = "{name}: {off}"


def task_errors(obj: bpy.types.Object, view: RobotView, scene: bpy.types.Scene) -> Pieces:
    found, structure = Pieces(), view.structure
    assert structure is not None
    missed = []
    for goal in readouts.goals(obj):
        task = obj.robokin.tasks[goal.task]
        start = _start(goal, view)
        end = _aim(goal, start)
        away = math.dist(start, end)
        if away <= task.position_tolerance + 1e-6 * view.scale():
            continue
        found.lines.append((arrow(start, end, 0.25, 0.06 * view.scale()), colors.ERROR))
        missed.append((task, start, end, away))
    if not missed:
        return found
    reason = _reason(obj, scene)
    for task, start, end, away in missed:
        turned = task.orientation_residual if task.solved and not task.reached else 0.0
        off = residual_text(scene, "POSITION", TaskReadout(away, 0.0, False))
        if turned > task.orientation_tolerance and task.kind == "POSE":
            off = residual_text(scene, "POSE", TaskReadout(away, turned, False))
        found.label(LABEL.format(name=task.name, off=off[:1].lower() + off[1:]), end, colors.ERROR, start)
    if reason:
        _, start, end, _ = missed[0]
        found.label(reason, start, colors.ERROR, end)  # beside the tool, which is seen where the target is in a wall
    return found


def _reason(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Why what is shown misses: the bake's, of a frame that it failed at, or that of following live."""
    frame = scene.frame_current_final
    first, last = obj.robokin.baked_frames
    if first <= frame <= last:
        rows = (row for row in obj.robokin.solver.bake_failures if row.status and row.first <= frame <= row.last)
        return next((in_scene_units(scene, row.reason) for row in rows), "")
    live = readouts.live(obj)
    return live.text if live is not None and not live.is_met else ""


def _start(goal: Goal, view: RobotView) -> Array:
    assert view.structure is not None
    model = view.structure.robot.model
    if goal.link:
        return view.links[model.link_index(goal.link), :3, 3]
    return view.points(get_backend("auto").center_of_mass(model.tree, view.q))


def _aim(goal: Goal, start: Array) -> Array:
    """The nearest point that meets the task."""
    away = start - goal.point
    if goal.normal is not None:
        return start - goal.normal * (goal.normal @ away)
    return goal.point if goal.line is None else goal.point + goal.line * (goal.line @ away)
