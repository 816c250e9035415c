"""The record of a bone together with the fields that show it: read whole, written whole."""

from __future__ import annotations

from collections.abc import Mapping

import bpy

from ...robokin import RobokinError
from .binding import binding
from .errors import BridgeError
from .fields import edited_record, read_fields, write_fields
from .fit_helpers import fit_helper_bones
from .rig import refresh_rigs
from .truth import KEY, VERSION, BoneRecord, read_record, write_record


def bone_record(bone: bpy.types.Bone) -> BoneRecord:
    """What the bone is as a joint and link, edited fields included. Raises BridgeError, ModelError."""
    return edited_record(read_record(bone[KEY], bone.name), read_fields(bone.robokin))


def put_record(bone: bpy.types.Bone, record: BoneRecord) -> None:
    """Let the bone and its fields say what the record says."""
    bone[KEY] = write_record(record)
    write_fields(bone.robokin, record, VERSION)


def edit_records(context: bpy.types.Context, obj: bpy.types.Object, records: Mapping[str, BoneRecord]) -> None:
    """Write the records of some bones at once; limits, locks, drivers and helper bones follow.

    Raises BridgeError, ModelError when the armature would be no robot any more, and then changes nothing.
    """
    if obj.data.library is not None or obj.data.override_library is not None:
        raise BridgeError(
            f"the joints of {obj.name!r} are in {obj.data.name!r}, linked from another file: edit them there"
        )
    before = {name: bone_record(obj.data.bones[name]) for name in records}
    try:
        _put_all(obj, records)
        fit_helper_bones(context, obj)
        binding(obj)
    except RobokinError:
        _put_all(obj, before)
        raise
    refresh_rigs(obj.data)


def _put_all(obj: bpy.types.Object, records: Mapping[str, BoneRecord]) -> None:
    for name, record in records.items():
        put_record(obj.data.bones[name], record)
