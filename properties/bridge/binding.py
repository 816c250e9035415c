"""Armature -> RobotModel, cached by content.

Lengths: a Blender unit is `scene.unit_settings.scale_length` metres, so a robot's lengths in metres are those of its
bones times that. The object's own scale does not change the robot: it scales what is seen of it in the world.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...robokin.model import ROOT_TYPES, Joint, RobotModel
from .channels import DRIVEN, OWN, Channel, joint_channels
from .errors import BridgeError
from .fields import edited_record, read_fields, stored_fields
from .rescale import rescaled_joint, rescaled_link
from .truth import KEY, ROBOT_KEY, BoneRecord, RobotRecord, read_record, read_robot

Array = np.ndarray

# Names of the constraints that Robokin itself puts on bones begin with this.
OWN_CONSTRAINT = "Robokin"
# A bone counts as moved when its place against its parent differs by more than this part of their distance.
MOVED = 1e-4
_KEPT = 16  # models in the cache
_AT_REST = Matrix()
_cache: dict[tuple[int, str], tuple[tuple, Binding]] = {}


@dataclass(frozen=True, eq=False)
class Binding:
    """A robot model and the bones that show it.

    bones: bone name of each joint, in the model's order.   frames: R_link_bone of each, (3, 3).
    modes: `Channel.modes` of each.   channels: of every bone, own ones in the order of q, then others.
    root: (4, 4) T_armature_root [m]: where the root joint's frame stands in the armature's space.
    """

    model: RobotModel
    bones: tuple[str, ...]
    frames: tuple[Array, ...]
    modes: tuple[tuple[str, ...], ...]
    channels: tuple[Channel, ...]
    root: Array
    metres_per_unit: float

    @cached_property
    def own_channels(self) -> tuple[Channel, ...]:
        """The nq channels that q is read from and written to, in its order."""
        return tuple(c for c in self.channels if c.role == OWN)

    @cached_property
    def written_channels(self) -> tuple[Channel, ...]:
        """Those that follow from q and have no driver."""
        return tuple(c for c in self.channels if c.role != DRIVEN)

    @cached_property
    def bone_of_link(self) -> dict[str, str]:
        return {link.name: bone for link, bone in zip(self.model.links, self.bones, strict=True)}

    @cached_property
    def link_of_bone(self) -> dict[str, str]:
        return {bone: link for link, bone in self.bone_of_link.items()}


def is_robot(obj: bpy.types.Object | None) -> bool:
    """Whether `obj` is an armature that carries a robot."""
    return obj is not None and obj.type == "ARMATURE" and ROBOT_KEY in obj.data


def metres_per_unit(obj: bpy.types.Object | None = None) -> float:
    """Metres in one Blender unit, of the current scene (or of the one that holds `obj`, when the current does not)."""
    scene = bpy.context.scene
    if obj is not None and scene.objects.get(obj.name) != obj and obj.users_scene:
        scene = obj.users_scene[0]
    return float(str(np.float32(scene.unit_settings.scale_length)))


def robot_model(obj: bpy.types.Object) -> RobotModel:
    """The robot that the armature `obj` is. The same object is returned until the armature changes.

    Raises BridgeError naming the bone, or ModelError, when the armature cannot be a robot.
    """
    return binding(obj).model


def binding(obj: bpy.types.Object) -> Binding:
    """The model with its bones and channels. Raises BridgeError, ModelError."""
    if not is_robot(obj):
        raise BridgeError(f"{obj.name if obj else 'nothing'!r} is not a robot: import a URDF")
    _refuse_what_bends_kinematics(obj)
    content = _content(obj)
    key = (obj.data.session_uid, obj.data.name_full)
    cached = _cache.pop(key, None)
    if cached is None or cached[0] != content:
        cached = (content, _build(obj, content))
    _cache[key] = cached  # the newest last
    while len(_cache) > _KEPT:
        del _cache[next(iter(_cache))]
    return cached[1]


class _BoneContent(NamedTuple):
    """All that a bone says about its joint; equal content gives an equal model."""

    name: str
    place: int
    parent: str | None
    record: str
    fields: dict
    connected: bool


def _content(obj: bpy.types.Object) -> tuple:
    arm = obj.data
    rests = np.empty(16 * len(arm.bones), np.float32)
    arm.bones.foreach_get("matrix_local", rests)
    bones = tuple(
        _BoneContent(bone.name, i, _robot_parent(bone), bone[KEY], stored_fields(bone), bone.use_connect)
        for i, bone in enumerate(arm.bones)
        if KEY in bone
    )
    return arm[ROBOT_KEY], metres_per_unit(obj), rests.tobytes(), bones


def _robot_parent(bone: bpy.types.Bone) -> str | None:
    """The nearest bone above that is a joint."""
    parent = bone.parent
    while parent is not None and KEY not in parent:
        parent = parent.parent
    return parent.name if parent else None


def _build(obj: bpy.types.Object, content: tuple) -> Binding:
    robot_text, unit, matrices, bones = content
    robot: RobotRecord = read_robot(robot_text, obj.data.name)
    shown = {b.name: read_fields(obj.data.bones[b.name].robokin) for b in bones}
    records = {b.name: edited_record(read_record(b.record, b.name), shown[b.name]) for b in bones}
    columns = np.frombuffer(matrices, np.float32).reshape(-1, 4, 4).astype(float)
    rests = {b.name: columns[b.place].T for b in bones}
    parents = {b.name: b.parent for b in bones}
    roots = [name for name, parent in parents.items() if parent is None]
    if len(roots) != 1:
        listed = ", ".join(map(repr, roots[:6])) or "none"
        raise BridgeError(f"{obj.name!r}: a robot has one root bone; these have no parent: {listed}")
    root = roots[0]
    records = _named_apart(records, parents)
    for name, record in records.items():
        if name != root:
            records[name] = _moved(record, records[parents[name]], rests[name], rests[parents[name]], robot)
    ratio = unit / robot.metres_per_unit
    if abs(ratio - 1.0) > 1e-6:
        records = _rescaled(records, ratio)
    model = _assemble(robot.name, records, parents, root)
    bone_of_joint = {record.joint.name: name for name, record in records.items() if name != root}
    names = (root, *(bone_of_joint[joint.name] for joint in model.joints[1:]))
    frames = tuple(records[name].frame for name in names)
    channels, modes = _channels(model, names, frames, unit)
    for b in bones:
        if b.connected and any(c.bone == b.name and c.path == "location" for c in channels):
            raise BridgeError(f"bone {b.name!r} slides but is connected to its parent: turn off Connected in Edit Mode")
    return Binding(model, names, frames, modes, channels, _root_frame(records[root], rests[root], unit), unit)


def _rescaled(records: dict[str, BoneRecord], ratio: float) -> dict[str, BoneRecord]:
    joints = {record.joint.name: record.joint for record in records.values()}
    result = {}
    for name, record in records.items():
        followed = joints.get(record.joint.mimic.joint) if record.joint.mimic else None
        joint, link = rescaled_joint(record.joint, ratio, followed), rescaled_link(record.link, ratio)
        result[name] = dataclasses.replace(record, joint=joint, link=link)
    return result


def _named_apart(records: dict[str, BoneRecord], parents: dict[str, str | None]) -> dict[str, BoneRecord]:
    """Renamed and duplicated bones give their new names to their joints; mimics follow; link names become unique."""
    new_names = {name: r.joint.name if name == r.bone else name for name, r in records.items()}
    taken = {r.link.name for name, r in records.items() if name == r.bone}
    result = {}
    for name, record in records.items():
        joint, link = dataclasses.replace(record.joint, name=new_names[name]), record.link
        if joint.mimic is not None:
            bones = [n for n, r in records.items() if r.joint.name == joint.mimic.joint]
            # Of a bone and its duplicates it is the nearest in the tree, as where two equal grippers were joined.
            bone = min(bones, key=lambda n: (_steps_up(name, n, parents), n != records[n].bone), default=None)
            followed = new_names.get(bone or joint.mimic.joint, joint.mimic.joint)
            joint = dataclasses.replace(joint, mimic=dataclasses.replace(joint.mimic, joint=followed))
        if name != record.bone and link.name in taken:
            link = dataclasses.replace(link, name=_free(f"{link.name}_{name}", taken))
        taken.add(link.name)
        result[name] = dataclasses.replace(record, joint=joint, link=link)
    return result


def _steps_up(name: str, other: str, parents: dict[str, str | None]) -> int:
    """How many bones above `name` is the first that is above `other` too."""
    above = set()
    bone: str | None = other
    while bone is not None:
        above.add(bone)
        bone = parents[bone]
    steps, bone = 0, name
    while bone is not None and bone not in above:
        steps, bone = steps + 1, parents[bone]
    return steps


def _free(wanted: str, taken: set[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted


def _moved(record: BoneRecord, parent: BoneRecord, rest: Array, parent_rest: Array, robot: RobotRecord) -> BoneRecord:
    """The record with the placement its bone has now, when it was moved in Edit Mode or re-parented."""
    T_parent_bone = np.linalg.inv(parent_rest) @ rest
    offset = abs(T_parent_bone - record.rest)
    reach = max(np.linalg.norm(T_parent_bone[:3, 3]), np.linalg.norm(record.rest[:3, 3]), 1e-6)
    # Single precision knows a place to some 1e-7 of its distance from the armature's origin.
    reach = max(reach, 3e-7 / MOVED * np.linalg.norm(rest[:3, 3]))
    if offset[:3, :3].max() <= MOVED and offset[:3, 3].max() <= MOVED * reach:
        return record
    placement = np.eye(4)
    rotation = parent.frame @ T_parent_bone[:3, :3] @ record.frame.T
    u, _, vt = np.linalg.svd(rotation)  # back to an exact rotation
    placement[:3, :3] = u @ vt
    placement[:3, 3] = parent.frame @ T_parent_bone[:3, 3] * robot.metres_per_unit
    return dataclasses.replace(record, joint=dataclasses.replace(record.joint, placement=placement))


def _assemble(name: str, records: dict[str, BoneRecord], parents: dict[str, str | None], root: str) -> RobotModel:
    root_type = records[root].joint.type
    if root_type not in ROOT_TYPES.values():
        raise BridgeError(f"root bone {root!r} is {root_type} (valid: {', '.join(ROOT_TYPES.values())})")
    ordered = sorted((r for n, r in records.items() if n != root), key=lambda record: record.index)
    parent_of = {r.joint.name: parents[n] for n, r in records.items() if n != root}
    joints: list[Joint] = [
        dataclasses.replace(r.joint, parent=records[str(parent_of[r.joint.name])].link.name, child=r.link.name)
        for r in ordered
    ]
    kinds = {joint_type: kind for kind, joint_type in ROOT_TYPES.items()}
    return RobotModel(name, [r.link for r in records.values()], joints, kinds[root_type])


def _channels(
    model: RobotModel, bones: tuple[str, ...], frames: tuple[Array, ...], unit: float
) -> tuple[tuple[Channel, ...], tuple[tuple[str, ...], ...]]:
    own: list[Channel] = []
    others: list[Channel] = []
    modes = []
    for joint, slot, bone, frame in zip(model.joints, model.slots, bones, frames, strict=True):
        found, bone_modes = joint_channels(joint, bone, frame, unit)
        modes.append(bone_modes)
        scale, offset = model.mimic_map(joint.name)
        for entry in found:
            q = slot.q.start + entry.coordinate
            where = (bone, bone_modes, entry.path, entry.index, q, entry.sign, entry.unit)
            role = entry.role if joint.mimic is None else DRIVEN
            if role == OWN:
                own.append(Channel(*where, float(model.lower[q]), float(model.upper[q])))
            else:
                ends = (float(joint.lower[entry.coordinate]), float(joint.upper[entry.coordinate]))
                low, high = sorted(entry.slope * end for end in ends) if entry.slope else (0.0, 0.0)
                others.append(Channel(*where, low, high, entry.slope * scale, entry.slope * offset, role))
    return (*own, *others), tuple(modes)


def _root_frame(record: BoneRecord, rest: Array, unit: float) -> Array:
    T_armature_root = np.eye(4)
    rotation = rest[:3, :3] @ record.frame.T
    if abs(rotation - np.eye(3)).max() > MOVED:
        T_armature_root[:3, :3] = rotation
    if abs(rest[:3, 3]).max() > 1e-6:
        T_armature_root[:3, 3] = rest[:3, 3] * unit
    return T_armature_root


def _refuse_what_bends_kinematics(obj: bpy.types.Object) -> None:
    """Raise BridgeError for settings under which Blender would not show what the model says."""
    for bone in obj.data.bones:
        plain = bone.use_inherit_rotation and bone.inherit_scale == "FULL" and bone.use_local_location
        if not plain and KEY in bone:
            raise BridgeError(
                f"bone {bone.name!r}: a robot needs Inherit Rotation, Local Location, Inherit Scale: Full"
            )
    for bone in obj.pose.bones if obj.pose is not None else ():
        if KEY not in bone.bone:
            if bone.matrix_basis != _AT_REST and any(KEY in below for below in bone.bone.children_recursive):
                raise BridgeError(
                    f"bone {bone.name!r} carries the robot but is none of its joints: clear its pose (to move the "
                    "whole robot, move the object)"
                )
            continue
        for constraint in bone.constraints:
            ours = constraint.name.startswith(OWN_CONSTRAINT)
            if not ours and constraint.enabled and constraint.influence > 0.0:
                raise BridgeError(
                    f"bone {bone.name!r} has the constraint {constraint.name!r}, but a robot's joints move by their "
                    "own values: remove or disable it, or make it a task"
                )
