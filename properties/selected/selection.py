"""Which bones are selected, in Blender 4 and 5."""

from __future__ import annotations

import bpy


def is_selected(bone: bpy.types.PoseBone) -> bool:
    return _owner(bone).select


def select(bone: bpy.types.PoseBone, wanted: bool) -> None:
    _owner(bone).select = wanted


def selected_bones(obj: bpy.types.Object) -> list[str]:
    return [bone.name for bone in obj.pose.bones if bone.bone is not None and is_selected(bone)]


def _owner(bone: bpy.types.PoseBone) -> bpy.types.PoseBone | bpy.types.Bone:
    return bone if hasattr(bone, "select") else bone.bone  # Blender 5, Blender 4
