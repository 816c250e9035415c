"""Making helper bones: every joint gets those that it needs (see `Binding.joint_bones`), and loses all others."""

from __future__ import annotations

import re
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ....robokin import RobokinError
from ..belonging import has_object
from ..model.binding import binding
from ..model.helper_bones import helper_owners, stands_right
from ..model.joint_bones import BoneAllocation, allocations
from ..parents import with_parents
from ..pose.configuration import clamp_pose
from ..record.current import Records, present_records
from ..record.naming import unique_bone_name
from ..record.reading import read_helper
from ..record.snapshot import ArmatureContent, armature_content, refuse_linked_bones
from ..record.stored import HELPER_KEY, HelperRecord
from ..record.writing import write_helper
from ..rig.hand_posing import refresh_rigs
from ..rig.widgets import assign_helper_shapes

_SIDE = re.compile(r"[._\- ](?:l|r|left|right)$", re.IGNORECASE)


def fit_helper_bones(context: bpy.types.Context, obj: bpy.types.Object) -> int:
    """Make, put right and remove helper bones until the robot's bones can show its joints; how many joints got others.

    The pose of the other joints is kept. Object, Pose or Edit Mode; it comes back. Raises RobokinError.
    """
    mode = obj.mode
    if mode == "EDIT":
        _set_mode(context, obj, "OBJECT")
    try:
        return _fit(context, obj)
    finally:
        if obj.mode != mode:
            _set_mode(context, obj, mode)


@dataclass(frozen=True, eq=False)
class _HelperChange:
    """New helpers of each bone in `made`, from the parent on, as their frames and counts; the bones to remove."""

    made: dict[str, list[BoneAllocation]]
    removed: set[str]


def _fit(context: bpy.types.Context, obj: bpy.types.Object) -> int:
    content = armature_content(obj)
    found = present_records(obj, content)
    plan = _planned(obj.data, content, found)
    if not plan.made and not plan.removed:
        return 0
    refuse_linked_bones(obj)
    _set_mode(context, obj, "EDIT")
    _edit(obj.data, found, plan)
    _set_mode(context, obj, "OBJECT")
    context.view_layer.update()
    refresh_rigs(obj.data)
    assign_helper_shapes(obj, binding(obj))
    clamp_pose(obj)
    return len(plan.made)


def _planned(armature: bpy.types.Armature, content: ArmatureContent, found: Records) -> _HelperChange:
    owners = helper_owners(content)
    rests = {bone.name: found.rests[bone.place][:3, :3] for bone in content.bones}
    made: dict[str, list[BoneAllocation]] = {}
    kept: set[str] = set()
    for bone in content.bones:
        record = found.records[bone.name]
        parent = found.parents[bone.name]
        above = np.eye(3) if parent is None else rests[parent]
        wanted = allocations(record.joint, rests[bone.name] @ record.frame.T, above, record.frame)[:-1]
        present = [read_helper(helper.record, helper.name) for helper in bone.helpers]
        fits = len(present) == len(wanted) and all(
            owners[helper.name] == bone.name
            and share.count == own.count
            and abs(share.frame - own.frame).max() <= 1e-6
            and stands_right(bone, helper.place, own, found)
            for helper, own, share in zip(bone.helpers, present, wanted, strict=True)
        )
        if fits:
            kept.update(helper.name for helper in bone.helpers)
        else:
            made[bone.name] = wanted
    return _HelperChange(made, {bone.name for bone in armature.bones if HELPER_KEY in bone} - kept)


def _edit(armature: bpy.types.Armature, found: Records, plan: _HelperChange) -> None:
    bones = armature.edit_bones
    for name in plan.made:
        _hang(bones[name], _above_helpers(bones[name]))
    for name in plan.removed:
        bones.remove(bones[name])
    for name, wanted in plan.made.items():
        own, parent = bones[name], bones[name].parent
        taken = set(bones.keys())
        for i, share in enumerate(wanted):
            helper = bones.new(unique_bone_name(_helper_name(name, i, len(wanted)), taken))
            helper.head, helper.tail = (0.0, 0.0, 0.0), (0.0, own.length, 0.0)
            turn = np.eye(4)
            turn[:3, :3] = found.records[name].frame.T @ share.frame
            helper.matrix = Matrix((np.array(own.matrix, float) @ turn).tolist())
            helper[HELPER_KEY] = write_helper(HelperRecord(name, share.count, share.frame))
            _hang(helper, parent)
            parent = helper
        _hang(own, parent)


def _hang(bone: bpy.types.EditBone, parent: bpy.types.EditBone | None) -> None:
    if bone.parent != parent:
        bone.use_connect = False
        bone.parent = parent


def _above_helpers(bone: bpy.types.EditBone) -> bpy.types.EditBone | None:
    return next((above for above in with_parents(bone.parent) if HELPER_KEY not in above), None)


def _helper_name(bone: str, i: int, count: int) -> str:
    """The ending that says a side stays at the end."""
    side = _SIDE.search(bone)
    stem, side_text = (bone[: side.start()], side.group()) if side else (bone, "")
    return f"{stem} helper{f' {i + 1}' if count > 1 else ''}{side_text}"


def _set_mode(context: bpy.types.Context, obj: bpy.types.Object, mode: str) -> None:
    if not has_object(context.view_layer, obj):
        raise RobokinError(f"{obj.name!r} is not in the view layer {context.view_layer.name!r}")
    if context.view_layer.objects.active != obj:
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        context.view_layer.objects.active = obj
    with context.temp_override(object=obj, active_object=obj):
        bpy.ops.object.mode_set(mode=mode)
