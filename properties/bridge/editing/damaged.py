"""Records that are damaged: which they are, and making them anew when a person asks for it."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import Any

import bpy
import numpy as np

from ....robokin import RobokinError
from ....robokin.arrays import Array
from ....robokin.model.joint_types import JOINT_TYPES
from ....robokin.model.robot import Joint, Link
from ....robokin.model.topology import free_name
from ..errors import BridgeError, DamagedRecordError
from ..parents import with_parents
from ..record.current import bone_placement, check_rest, nearest_rotation
from ..record.fields import edited_record, read_fields
from ..record.reading import read_helper, read_record, read_robot, whole_parts
from ..record.rescale import rescaled_joint
from ..record.snapshot import metres_per_unit, refuse_linked_bones
from ..record.stored import HELPER_KEY, KEY, ROBOT_KEY, BoneRecord, HelperRecord, RobotRecord
from ..record.writing import write_helper, write_robot
from ..rig.hand_posing import refresh_rigs
from .helper_bones import fit_helper_bones
from .infer_joints import guess_joint
from .records import put_records


def damaged_records(armature: bpy.types.Armature) -> dict[str, str]:
    """What is wrong with each damaged record, by the name of its bone; "" is the armature's own."""
    found: dict[str, str] = {}
    holders = [(bone, key, read) for bone in armature.bones for key, read in _READ.items() if key in bone]
    for holder, key, read in ((armature, ROBOT_KEY, read_robot), *holders):
        try:
            read(holder[key], holder.name)
        except DamagedRecordError as error:
            found["" if holder == armature else holder.name] = str(error)
        except BridgeError:  # of a newer version, which is not damaged
            continue
    return found


def reset_record(context: bpy.types.Context, obj: bpy.types.Object, name: str) -> None:
    """Make the damaged record of a bone anew, "" is the armature's own; limits, locks and helper bones follow as soon
    as no other record is damaged.

    What of the record is whole is kept. The rest comes from the bone's fields, which are single precision, and from
    its rest pose; where these do not say it, the joint is guessed as for an ordinary bone. Object or Pose Mode. Raises
    RobokinError, and then changes nothing.
    """
    armature = obj.data
    refuse_linked_bones(obj)
    damaged = damaged_records(armature)
    if name not in damaged:
        listed = ", ".join(repr(bone or "the armature's own") for bone in damaged) or "none"
        raise BridgeError(f"{obj.name!r}: the record of {name or armature.name!r} is not damaged (damaged: {listed})")
    if not name:
        armature[ROBOT_KEY] = write_robot(RobotRecord(armature.name, metres_per_unit(obj)))
    elif KEY in armature.bones[name]:
        put_records(armature, {name: _new_record(obj, armature.bones[name])})
    else:
        below = next((bone.name for bone in armature.bones[name].children_recursive if KEY in bone), "")
        # It carries nothing, which is put right as soon as the joint is known.
        armature.bones[name][HELPER_KEY] = write_helper(HelperRecord(below, 0, np.eye(3)))
    if len(damaged) == 1:
        fit_helper_bones(context, obj)
        refresh_rigs(armature)


def _new_record(obj: bpy.types.Object, bone: bpy.types.Bone) -> BoneRecord:
    parts, frame, rest = whole_parts(bone[KEY], bone.name), _frame(bone), _rest(bone)
    link, joint = parts.get("link"), parts.get("joint")
    known = [record for other in obj.data.bones if KEY in other and (record := _readable(other)) is not None]
    taken = {record.index for record in known}
    index = parts.get("index", next(i for i in count() if i not in taken))
    if link is None:
        link = Link(free_name(bone.name, {record.link.name for record in known}))
    if frame is None:  # the axes of the rest placement are not known
        link, joint = Link(link.name, link.mass), None
    axes = np.eye(3) if frame is None else frame
    if joint is not None:
        rest = parts.get("rest", rest)
        made = BoneRecord(parts.get("bone", bone.name), index, joint, link, axes, rest)
    else:
        joint = _guessed(obj, bone, frame)
        made = BoneRecord(bone.name, index, joint, link, axes, rest)
    shown = read_fields(bone.robokin)
    if shown and frame is not None:
        with suppress(RobokinError):  # fields that are no joint either
            return edited_record(made, shown)
    return made


def _guessed(obj: bpy.types.Object, bone: bpy.types.Bone, frame: Array | None) -> Joint:
    """What its locks and limits say of the bone, in place. frame: (3, 3) R_link_bone, the identity where not known."""
    placement, parent = np.eye(4), _joint_above(bone)
    fields: dict[str, Any] = {"type": "fixed"}
    if parent is not None:
        members = [other.name for other in obj.data.bones if KEY in other]
        guess = guess_joint(obj.pose.bones[bone.name], members, "FIXED").fields
        if frame is None:
            fields = guess
        elif JOINT_TYPES[guess["type"]].nv == 1:
            fields = guess | {"axis": frame @ guess["axis"]}
        above, own = _frame(parent), np.eye(3) if frame is None else frame
        placement = bone_placement(_rest(bone), np.eye(3) if above is None else above, own, 1.0)
    joint = Joint(bone.name, parent=None, child="", placement=placement, **fields)
    return rescaled_joint(joint, _metres_per_unit(obj), None)


def _frame(bone: bpy.types.Bone) -> Array | None:
    """(3, 3) R_link_bone: of the bone's own record, or such that a joint below or above it stays where it is; None
    where nothing says."""
    own = whole_parts(bone[KEY], bone.name)
    if "frame" in own:
        return own["frame"]
    for below in bone.children_recursive:
        record = _readable(below) if KEY in below else None
        if record is not None and record.bone == below.name and _joint_above(below) == bone:
            return nearest_rotation(record.joint.placement[:3, :3] @ record.frame @ record.rest[:3, :3].T)
    above = _joint_above(bone)
    record = _readable(above) if above is not None else None
    if record is not None and {"joint", "rest"} <= own.keys():
        return nearest_rotation(own["joint"].placement[:3, :3].T @ record.frame @ own["rest"][:3, :3])
    return None


def _joint_above(bone: bpy.types.Bone) -> bpy.types.Bone | None:
    """The bone of the joint above."""
    return next((above for above in with_parents(bone.parent) if KEY in above), None)


def _rest(bone: bpy.types.Bone) -> Array:
    """(4, 4) T_parentbone_bone at rest, of the bone of the joint above."""
    parent, rest = _joint_above(bone), np.array(bone.matrix_local, float)
    check_rest(bone.name, rest)
    if parent is None:
        return rest
    above = np.array(parent.matrix_local, float)
    check_rest(parent.name, above)
    return np.linalg.inv(above) @ rest


def _readable(bone: bpy.types.Bone) -> BoneRecord | None:
    try:
        return read_record(bone[KEY], bone.name)
    except BridgeError:
        return None


def _metres_per_unit(obj: bpy.types.Object) -> float:
    try:
        return read_robot(obj.data[ROBOT_KEY], obj.data.name).metres_per_unit
    except BridgeError:
        return metres_per_unit(obj)


_READ = {KEY: read_record, HELPER_KEY: read_helper}
