"""The record of a bone together with the fields that show it: read whole, written whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import bpy
import numpy as np

from ....robokin import RobokinError
from ..model.binding import binding
from ..record.current import recorded_records
from ..record.fields import edited_record, read_fields, write_fields
from ..record.reading import read_record
from ..record.snapshot import armature_content, refuse_linked_bones
from ..record.stored import KEY, VERSION, BoneRecord
from ..record.writing import write_record
from ..rig.hand_posing import refresh_rigs
from .helper_bones import fit_helper_bones


def bone_record(bone: bpy.types.Bone) -> BoneRecord:
    """What the bone is as a joint and link, edited fields included. Raises BridgeError, ModelError."""
    return edited_record(read_record(bone[KEY], bone.name), read_fields(bone.robokin))


def keep_edits(armature: bpy.types.Armature) -> None:
    """Put what was edited in the fields into the records. A bone whose fields are no joint for now, or whose record is
    damaged, is left as it is: the panel says why."""
    # In Edit Mode these are the bones that are saved.
    for bone in armature.edit_bones if armature.is_editmode else armature.bones:
        if KEY in bone:
            try:
                record = read_record(bone[KEY], bone.name)
                edited = edited_record(record, read_fields(bone.robokin))
            except (RobokinError, UnicodeDecodeError, SystemError):  # the others: Blender's own of a damaged text
                continue
            if edited is not record:
                bone[KEY] = write_record(edited)


def put_records(armature: bpy.types.Armature, records: Mapping[str, BoneRecord]) -> None:
    """Let bones and their fields say what the records say. Raises BridgeError, and then writes nothing."""
    texts = {name: write_record(record) for name, record in records.items()}
    for name, record in records.items():
        armature.bones[name][KEY] = texts[name]
        write_fields(armature.bones[name].robokin, record, VERSION)


def edit_records(context: bpy.types.Context, obj: bpy.types.Object, records: Mapping[str, BoneRecord]) -> None:
    """Write the records of some bones at once; limits, locks, drivers and helper bones follow.

    Raises BridgeError, ModelError when the armature would be no robot any more, and then changes nothing.
    """
    refuse_linked_bones(obj)
    before = {name: bone_record(obj.data.bones[name]) for name in records}
    try:
        put_records(obj.data, records)
        fit_helper_bones(context, obj)
        binding(obj)
    except RobokinError:
        put_records(obj.data, before)
        raise
    refresh_rigs(obj.data)


def settle_records(obj: bpy.types.Object) -> bool:
    """Let bones that were renamed, duplicated, mirrored or joined from another robot have records of their own, with
    the names they have now; limits, locks and drivers follow. Whether there were any. Raises BridgeError, ModelError.
    """
    content = armature_content(obj)
    links = binding(obj).link_of_bone
    fields = {bone.name: obj.data.bones[bone.name].robokin for bone in content.bones}
    if all(
        read_record(bone.record, bone.name).bone == bone.name
        and (not fields[bone.name].version or fields[bone.name].link == links[bone.name])
        for bone in content.bones
    ):
        return False
    found = recorded_records(obj, content)
    rests = {bone.name: found.rests[bone.place] for bone in content.bones}
    stale = {}
    for name, record in found.records.items():
        written = read_record(obj.data.bones[name][KEY], name)
        renamed = written.bone != name or written.link.name != record.link.name
        if renamed or written.joint.mimic != record.joint.mimic:
            rest, parent = rests[name], found.parents[name]
            if parent is not None:
                rest = np.linalg.inv(rests[parent]) @ rest
            stale[name] = dataclasses.replace(record, bone=name, rest=rest)
    if stale and obj.data.is_editable:
        put_records(obj.data, stale)
        refresh_rigs(obj.data)
    return bool(stale)
