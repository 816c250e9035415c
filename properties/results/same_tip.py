"""Tasks that ask for the same of the same tip."""

from __future__ import annotations

import bpy

# What each kind asks of the place of its tip.
_HOLDS = {"POSE": {"position", "orientation"}, "POSITION": {"position"}, "ORIENTATION": {"orientation"}}


def tasks_on_same_tip(obj: bpy.types.Object, task: bpy.types.PropertyGroup) -> list[str]:
    """Names of the other tasks that hold what this one holds, where all of them count: they are met together only where
    their targets agree."""

    def parts_of(one: bpy.types.PropertyGroup) -> set[str]:
        return _HOLDS.get(one.kind, set()) if one.enabled and one.influence > 0.0 else set()

    def tip(one: bpy.types.PropertyGroup) -> tuple[object, ...]:
        return one.tip, *one.offset_location, *one.offset_rotation

    others = (other for other in obj.robokin.tasks if other != task and tip(other) == tip(task))
    return [other.name for other in others if parts_of(other) & parts_of(task)]
