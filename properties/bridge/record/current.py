"""The joints of an armature as they stand: its records with what was edited, moved, renamed or rescaled since."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import bpy
import numpy as np

from ....robokin.arrays import Array
from ..errors import BridgeError
from .fields import edited_record, read_fields
from .mirrored import mirrored_apart
from .naming import named_apart
from .reading import read_record, read_robot
from .rescale import rescaled_joint, rescaled_link
from .snapshot import ArmatureContent
from .stored import BoneRecord, RobotRecord

# A bone counts as moved when its place against its parent differs by more than this part of their distance.
MOVED = 1e-4


@dataclass(frozen=True, eq=False)
class Records:
    """records, parents: of each joint's bone, its record and the bone of the joint above, None for `root`.
    rests: (4, 4) rest matrices of all bones by their place, Blender units."""

    robot: RobotRecord
    root: str
    records: dict[str, BoneRecord]
    parents: dict[str, str | None]
    rests: Array


def present_records(obj: bpy.types.Object, content: ArmatureContent) -> Records:
    """In the present unit. Raises BridgeError naming the bone, or ModelError."""
    found = recorded_records(obj, content)
    ratio = content.metres_per_unit / found.robot.metres_per_unit
    if abs(ratio - 1.0) > 1e-6:
        return dataclasses.replace(found, records=rescaled(found.records, ratio))
    return found


def recorded_records(obj: bpy.types.Object, content: ArmatureContent) -> Records:
    """In the unit in which they were recorded. Raises BridgeError naming the bone, or ModelError."""
    robot = read_robot(content.robot, obj.data.name)
    bones = content.bones
    records = {b.name: _edited(b.record, b.name, read_fields(obj.data.bones[b.name].robokin)) for b in bones}
    matrices = np.frombuffer(content.rests, np.float32).reshape(-1, 4, 4).astype(float).swapaxes(1, 2)
    rests = {b.name: matrices[b.place] for b in bones}
    for name, rest in rests.items():
        check_rest(name, rest)
    parents = {b.name: b.parent for b in bones}
    roots = [name for name, parent in parents.items() if parent is None]
    if len(roots) != 1:
        listed = ", ".join(map(repr, roots[:6])) or "none"
        raise BridgeError(f"{obj.name!r}: a robot has one root bone; these have no parent: {listed}")
    links = {b.name: read_record(b.record, b.name).link.name for b in bones}
    records = named_apart(mirrored_apart(records, rests), parents, links)
    for name, record in records.items():
        parent = parents[name]
        if parent is not None:
            records[name] = _moved(record, records[parent], rests[name], rests[parent], robot)
    return Records(robot, roots[0], records, parents, matrices)


def check_rest(bone: str, rest: Array) -> None:
    """Raise BridgeError for a bone without axes at rest (4, 4), as applying a scale of 0 leaves it."""
    if not np.isfinite(rest).all() or abs(rest[:3, :3].T @ rest[:3, :3] - np.eye(3)).max() > 0.01:
        raise BridgeError(f"bone {bone!r} has no direction at rest: give it a length in Edit Mode")


@lru_cache(maxsize=16384)
def _edited(text: str, bone: str, shown: tuple[Any, ...]) -> BoneRecord:
    """Kept, since an edit of one bone reads those of all. Raises BridgeError naming the bone, or ModelError."""
    return edited_record(read_record(text, bone), shown)


def rescaled(records: dict[str, BoneRecord], ratio: float) -> dict[str, BoneRecord]:
    """Records in metres of another size: `ratio` times the number of metres in a Blender unit."""
    joints = {record.joint.name: record.joint for record in records.values()}
    result = {}
    for name, record in records.items():
        followed = joints.get(record.joint.mimic.joint) if record.joint.mimic else None
        joint, link = rescaled_joint(record.joint, ratio, followed), rescaled_link(record.link, ratio)
        result[name] = dataclasses.replace(record, joint=joint, link=link)
    return result


def _moved(record: BoneRecord, parent: BoneRecord, rest: Array, parent_rest: Array, robot: RobotRecord) -> BoneRecord:
    """The record with the placement its bone has now, when it was moved in Edit Mode or re-parented."""
    T_parent_bone = np.linalg.inv(parent_rest) @ rest
    offset = abs(T_parent_bone - record.rest)
    reach = max(np.linalg.norm(T_parent_bone[:3, 3]), np.linalg.norm(record.rest[:3, 3]), 1e-6)
    # Single precision knows a place to some 1e-7 of its distance from the armature's origin.
    reach = max(reach, 3e-7 / MOVED * np.linalg.norm(rest[:3, 3]))
    if offset[:3, :3].max() <= MOVED and offset[:3, 3].max() <= MOVED * reach:
        return record
    placement = bone_placement(T_parent_bone, parent.frame, record.frame, robot.metres_per_unit)
    return dataclasses.replace(record, joint=dataclasses.replace(record.joint, placement=placement))


def bone_placement(T_parent_bone: Array, parent_frame: Array, frame: Array, unit: float) -> Array:
    """(4, 4) T_parent_joint [m] of a bone's joint. T_parent_bone: at rest, in Blender units of `unit` metres.

    parent_frame, frame: R_link_bone of the parent bone and of the bone.
    """
    placement = np.eye(4)
    placement[:3, :3] = nearest_rotation(parent_frame @ T_parent_bone[:3, :3] @ frame.T)
    placement[:3, 3] = parent_frame @ T_parent_bone[:3, 3] * unit
    return placement


def nearest_rotation(nearly: Array) -> Array:
    """(3, 3) an exact rotation in place of one in single precision."""
    u, _, vt = np.linalg.svd(nearly)
    return u @ vt
