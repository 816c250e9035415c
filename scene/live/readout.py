"""What following comes to, in words for the panel."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...properties.results.readouts import LiveReadout
from ...properties.results.result_text import in_scene_units, status_words
from ...properties.results.why import held_joints
from ...properties.tasks import RobokinTask
from ...scene.animation import frames as animation
from ...scene.tasks.solver_tasks import are_hard

_SHOWN = 3  # joints or tasks that a text names


def live_readout(obj: bpy.types.Object, problem: str, is_searched: bool) -> LiveReadout:
    """problem: why the robot cannot follow; "" when it can.   is_searched: the result is that of a search."""
    if problem:
        return LiveReadout(f"Waits: {problem}", False)
    settings, scene = obj.robokin.solver, bpy.context.scene
    first, last = obj.robokin.baked_frames
    if first <= scene.frame_current_final <= last:
        return LiveReadout("Shows its bake until something changes", settings.status == "CONVERGED")
    notes = ("Live wins over the robot's keys; renders show the keys",) if is_keyed(obj) else ()
    if settings.status == "CONVERGED":
        return LiveReadout("Follows its targets", True, notes)
    if settings.status == "OUT_OF_REACH":
        return LiveReadout(f"Too far: {in_scene_units(scene, settings.reason)}", False, notes, True)
    if not settings.status:
        return LiveReadout("No task counts now", True, notes)
    if settings.status == "COLLISION":
        return LiveReadout(f"Kept away: {in_scene_units(scene, settings.reason)}", False, notes, is_searched)
    missed = [task for task in obj.robokin.tasks if task.solved and not task.reached]
    cause = _held_by(*held_joints(obj))
    soft = [task for task, is_hard in zip(missed, are_hard(obj, missed), strict=True) if not is_hard]
    if soft:
        notes = (*notes, f"Live takes soft tasks as hard: {_names(soft)}")
    if missed and _give_way(obj, missed):
        why = f"held by {cause}, " if cause else ""
        return LiveReadout(f"Follows; {why}met only as nearly as can be: {_names(missed)}", True, notes, is_searched)
    if is_searched:
        said = f"{status_words(settings.status, settings.reason)}: {in_scene_units(scene, settings.reason)}"
        return LiveReadout(said, False, notes, True)
    notes = (*notes, "Solve Pose looks for other postures")
    if cause:
        return LiveReadout(f"Held by {cause}", False, notes)
    if len(missed) > 1:
        return LiveReadout(f"Cannot meet all of these from this pose: {_names(missed)}", False, notes)
    return LiveReadout("Cannot get there from this pose", False, notes)


def _give_way(obj: bpy.types.Object, missed: Sequence[RobokinTask]) -> bool:
    """Whether all tasks of the first level are met: what the others want gives way to those above."""
    first = min(task.priority for task in obj.robokin.tasks if task.solved)
    return obj.robokin.solver.mode == "PRIORITIES" and all(task.priority > first for task in missed)


def _held_by(limits: Sequence[str], locked: Sequence[str]) -> str:
    own = [f"the limits of {_named(limits)}"] if limits else []
    return " and ".join([*own, f"the padlock of {_named(locked)}"] if locked else own)


def _names(tasks: Sequence[RobokinTask]) -> str:
    return _named([task.name for task in tasks])


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")


def is_keyed(obj: bpy.types.Object) -> bool:
    """Whether a bone has keys."""
    return any(path.startswith("pose.bones[") for path, _ in animation.fcurves(obj))
