"""The F-curves that animate something in the file."""

from __future__ import annotations

import bpy


def fcurves(owner: bpy.types.ID) -> dict[tuple[str, int], bpy.types.FCurve]:
    """The F-curves that animate `owner` now, by (path, index): not muted, not empty.

    NLA strips are not looked at. A group's mute switch has no effect on what Blender evaluates, so neither here.
    """
    bag = channelbag(owner)
    if bag is None:
        return {}
    return {(curve.data_path, curve.array_index): curve for curve in bag.fcurves if not (curve.mute or curve.is_empty)}


def channelbag(owner: bpy.types.ID) -> bpy.types.ActionChannelbag | None:
    """Where the F-curves of `owner` are, None when it has no action or no slot in it."""
    data = owner.animation_data
    if data is None or data.action is None or data.action_slot is None or not data.action.layers:
        return None
    strips = data.action.layers[0].strips
    return strips[0].channelbag(data.action_slot) if strips else None
