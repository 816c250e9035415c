"""What following comes to, in words for the panel."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...properties.results.readouts import LiveReadout
from ...scene.animation import frames as animation

_SHOWN = 3  # joints that a text names


def live_readout(obj: bpy.types.Object, problem: str, blocking: Sequence[str]) -> LiveReadout:
    """problem: why the robot cannot follow; "" when it can.   blocking: joints at their limits."""
    if problem:
        return LiveReadout(f"Waits: {problem}", False)
    settings = obj.robokin.solver
    first, last = obj.robokin.baked_frames
    if first <= bpy.context.scene.frame_current_final <= last:
        return LiveReadout("Shows its bake until something changes", settings.status == "CONVERGED")
    notes = ("Live wins over the robot's keys; renders show the keys",) if is_keyed(obj) else ()
    if settings.status in ("CONVERGED", ""):
        return LiveReadout("Follows its targets", True, notes)
    if settings.status == "OUT_OF_REACH":
        return LiveReadout(f"Too far: {settings.reason}", False, notes)
    if settings.status == "EMPTY":
        return LiveReadout("No task counts now", True, notes)
    notes = (*notes, "Solve Pose looks for other postures")
    if not blocking:
        return LiveReadout("Cannot get there from this pose", False, notes)
    named = ", ".join(blocking[:_SHOWN]) + (" ..." if len(blocking) > _SHOWN else "")
    return LiveReadout(f"Held by the limits of {named}", False, notes)


def is_keyed(obj: bpy.types.Object) -> bool:
    """Whether a bone has keys."""
    return any(path.startswith("pose.bones[") for path, _ in animation.fcurves(obj))
