"""What following comes to, in words for the panel."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...properties.results.readouts import LiveReadout
from ...properties.results.why import held_joints
from ...scene.animation import frames as animation

_SHOWN = 3  # joints or tasks that a text names


def live_readout(obj: bpy.types.Object, problem: str) -> LiveReadout:
    """problem: why the robot cannot follow; "" when it can."""
    if problem:
        return LiveReadout(f"Waits: {problem}", False)
    settings = obj.robokin.solver
    first, last = obj.robokin.baked_frames
    if first <= bpy.context.scene.frame_current_final <= last:
        return LiveReadout("Shows its bake until something changes", settings.status == "CONVERGED")
    notes = ("Live wins over the robot's keys; renders show the keys",) if is_keyed(obj) else ()
    if settings.status == "CONVERGED":
        return LiveReadout("Follows its targets", True, notes)
    if settings.status == "OUT_OF_REACH":
        return LiveReadout(f"Too far: {settings.reason}", False, notes)
    if not settings.status:
        return LiveReadout("No task counts now", True, notes)
    if settings.status == "COLLISION":
        return LiveReadout(f"Kept away: {settings.reason}", False, notes)
    below = _missed_below(obj)
    if below:
        return LiveReadout(f"Follows; as near as the tasks above allow: {_named(below)}", True, notes)
    notes = (*notes, "Solve Pose looks for other postures")
    blocking = held_joints(obj)
    if not blocking:
        return LiveReadout("Cannot get there from this pose", False, notes)
    return LiveReadout(f"Held by the limits of {_named(blocking)}", False, notes)


def _missed_below(obj: bpy.types.Object) -> list[str]:
    """Tasks that are missed, where all of the first level are met: what they want gives way to those above."""
    solved = [task for task in obj.robokin.tasks if task.solved]
    first = min((task.priority for task in solved), default=1)
    missed = [task for task in solved if not task.reached]
    has_levels = obj.robokin.solver.mode == "PRIORITIES"
    return [task.name for task in missed] if has_levels and all(task.priority > first for task in missed) else []


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")


def is_keyed(obj: bpy.types.Object) -> bool:
    """Whether a bone has keys."""
    return any(path.startswith("pose.bones[") for path, _ in animation.fcurves(obj))
