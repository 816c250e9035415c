"""Armature -> RobotModel, cached by content.

Lengths: a Blender unit is `scene.unit_settings.scale_length` metres, so a robot's lengths in metres are those of its
bones times that. The object's own scale does not change the robot: it scales what is seen of it in the world.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np

from ....robokin.arrays import Array
from ....robokin.model.robot import ROOT_TYPES, Joint, RobotModel
from ....robokin.model.wheels import find_drive
from ....robokin.structure.locking import can_lock, locked_model
from ..errors import BridgeError
from ..record.current import MOVED, Records, present_records
from ..record.snapshot import ArmatureContent, armature_content
from ..record.stored import BoneRecord
from .channels import DRIVEN, OWN, Channel, joint_channels
from .helper_bones import find_joint_bones
from .joint_bones import JointBone

_cache: dict[tuple[int, str], tuple[ArmatureContent, Binding]] = {}
_bindings: dict[int, Binding] = {}  # by object
_unread: set[int] = set()  # objects that could not be read when they were last looked at


@dataclass(frozen=True, eq=False)
class Binding:
    """A robot model and the bones that show it.

    bones: name of each joint's own bone, in the model's order.   frames: R_link_bone of each, (3, 3).
    joint_bones: all bones of each joint, helper bones first.   modes: `Channel.modes` of every bone.
    channels: of every bone, own ones in the order of q, then others.
    root: (4, 4) T_armature_root [m]: where the root joint's frame stands in the armature's space.
    locked: names of the joints with a padlock.
    """

    model: RobotModel
    bones: tuple[str, ...]
    frames: tuple[Array, ...]
    joint_bones: tuple[tuple[JointBone, ...], ...]
    modes: dict[str, tuple[str, ...]]
    channels: tuple[Channel, ...]
    root: Array
    metres_per_unit: float
    locked: tuple[str, ...] = ()

    def model_at(self, q: Array) -> RobotModel:
        """The model that holds the joints with a padlock where they are in q (nq,); it is what solvers take."""
        return locked_model(self.model, self.locked, q) if self.locked else self.model

    def limited(self, model: RobotModel) -> Binding:
        """Its bones, for a robot that differs by its limits alone, inside which channels are written."""
        if model is self.model:
            return self
        channels, _ = _channels(model, self.joint_bones, self.metres_per_unit)
        return dataclasses.replace(self, model=model, channels=channels)

    @cached_property
    def own_channels(self) -> tuple[Channel, ...]:
        """The nq channels that q is read from and written to, in its order."""
        return tuple(c for c in self.channels if c.role == OWN)

    @cached_property
    def written_channels(self) -> tuple[Channel, ...]:
        """Channels that follow from q and have no driver."""
        return tuple(c for c in self.channels if c.role != DRIVEN)

    @cached_property
    def ranged_channels(self) -> dict[str, Channel]:
        """{bone: channel} of bones with a single channel of their own, where that has two limits."""
        own = [channel.bone for channel in self.own_channels]
        return {
            channel.bone: channel
            for channel in self.own_channels
            if own.count(channel.bone) == 1 and -math.inf < channel.lower < channel.upper < math.inf
        }

    @cached_property
    def joint_of_bone(self) -> dict[str, Joint]:
        """The joint that each bone carries, helper bones included."""
        joints = zip(self.model.joints, self.joint_bones, strict=True)
        return {joint_bone.bone: joint for joint, joint_bones in joints for joint_bone in joint_bones}

    def own_bone(self, bone: str) -> str:
        """The joint's own bone for one of its helper bones; any other bone is returned as it is."""
        joint = self.joint_of_bone.get(bone)
        return bone if joint is None else self.bone_of_link[joint.child]

    @cached_property
    def bone_of_link(self) -> dict[str, str]:
        return {link.name: bone for link, bone in zip(self.model.links, self.bones, strict=True)}

    @cached_property
    def link_of_bone(self) -> dict[str, str]:
        return {bone: link for link, bone in self.bone_of_link.items()}


def robot_model(obj: bpy.types.Object) -> RobotModel:
    """The robot that the armature `obj` is. The same object is returned until the armature changes.

    Raises BridgeError naming the bone, or ModelError, when the armature cannot be a robot.
    """
    return binding(obj).model


def binding(obj: bpy.types.Object) -> Binding:
    """The model with its bones and channels. Raises BridgeError, ModelError."""
    if obj is not None and obj.session_uid in _bindings:
        return _bindings[obj.session_uid]
    if obj is not None:
        _unread.add(obj.session_uid)  # unless all goes well
    content = armature_content(obj)
    key = (obj.data.session_uid, obj.data.name_full)
    cached = _cache.get(key)
    if cached is None:
        _forget_removed()
    if cached is None or cached[0] != content:
        _cache[key] = cached = (content, _build(obj, content))
    _unread.discard(obj.session_uid)
    return cached[1]


def _forget_removed() -> None:
    """Keep as many models as there are armatures: a scene of any number of robots looks at all of them at once."""
    for gone in _cache.keys() - {(data.session_uid, data.name_full) for data in bpy.data.armatures}:
        del _cache[gone]


@contextmanager
def binding_held(obj: bpy.types.Object, known: Binding | None = None) -> Iterator[Binding]:
    """Inside, which must not change the armature, its binding is not looked at anew. known: the one to take, where it
    has just been looked at. Raises BridgeError, ModelError."""
    outer = obj.session_uid in _bindings
    _bindings[obj.session_uid] = known or binding(obj)
    try:
        yield _bindings[obj.session_uid]
    finally:
        if not outer:
            del _bindings[obj.session_uid]


def last_binding(obj: bpy.types.Object) -> Binding:
    """The binding as it was last asked for, for showing values where something else has just asked: whether it still
    holds is not looked at, which takes most of the time. Raises BridgeError, ModelError."""
    data = obj.data
    cached = _cache.get((data.session_uid, data.name_full))
    return cached[1] if cached is not None and obj.session_uid not in _unread else binding(obj)


def _build(obj: bpy.types.Object, content: ArmatureContent) -> Binding:
    unit = content.metres_per_unit
    found = present_records(obj, content)
    records = found.records
    model = _assemble(found)
    bone_of_joint = {record.joint.name: name for name, record in records.items() if name != found.root}
    names = (found.root, *(bone_of_joint[joint.name] for joint in model.joints[1:]))
    frames = tuple(records[name].frame for name in names)
    joint_bones = find_joint_bones(content, found, model, names)
    channels, modes = _channels(model, joint_bones, unit)
    for b in content.bones:
        if b.connected and any(c.bone == b.name and c.path == "location" for c in channels):
            raise BridgeError(f"bone {b.name!r} slides but is connected to its parent: turn off Connected in Edit Mode")
    rest = found.rests[next(b.place for b in content.bones if b.name == found.root)]
    root = _root_frame(records[found.root], rest, unit)
    closed = [joint for joint, name in zip(model.joints, names, strict=True) if records[name].locked]
    locked = tuple(joint.name for joint in closed if can_lock(joint))
    return Binding(model, names, frames, joint_bones, modes, channels, root, unit, locked)


def _assemble(found: Records) -> RobotModel:
    records, root = found.records, found.root
    root_type = records[root].joint.type
    if root_type not in ROOT_TYPES:
        raise BridgeError(f"root bone {root!r} is {root_type} (valid: {', '.join(ROOT_TYPES)})")
    ordered = sorted((r for n, r in records.items() if n != root), key=lambda record: record.index)
    parent_of = {r.joint.name: found.parents[n] for n, r in records.items() if n != root}
    joints: list[Joint] = [
        dataclasses.replace(r.joint, parent=records[str(parent_of[r.joint.name])].link.name, child=r.link.name)
        for r in ordered
    ]
    links = [r.link for r in records.values()]
    drive = records[root].joint.drive
    if root_type == "wheeled" and drive is None:
        # Left to itself the model would add wheels, which have no bones.
        plain = RobotModel(found.robot.name, links, joints, "planar")
        base = dataclasses.replace(records[root].joint, child=records[root].link.name)
        drive = find_drive(base, {link.name: link for link in links}, plain.joints[1:])
    return RobotModel(found.robot.name, links, joints, root_type, drive)


def _channels(
    model: RobotModel, joint_bones: tuple[tuple[JointBone, ...], ...], unit: float
) -> tuple[tuple[Channel, ...], dict[str, tuple[str, ...]]]:
    own: list[Channel] = []
    others: list[Channel] = []
    modes: dict[str, tuple[str, ...]] = {}
    for joint, slot, bones in zip(model.joints, model.slots, joint_bones, strict=True):
        found, bone_modes = joint_channels(joint, bones, unit)
        modes |= bone_modes
        scale, offset = model.mimic_map(joint.name)
        for entry in found:
            q = slot.q.start + entry.coordinate
            where = (entry.bone, modes[entry.bone], entry.path, entry.index, q, entry.sign, entry.unit)
            role = entry.role if joint.mimic is None else DRIVEN
            if role == OWN:
                own.append(Channel(*where, float(model.lower[q]), float(model.upper[q])))
            else:
                ends = (model.lower[q], model.upper[q])
                if joint.mimic is not None:
                    ends = tuple(end[entry.coordinate] for end in model.joint_limits(joint.name))
                low, high = sorted(entry.slope * float(end) for end in ends) if entry.slope else (0.0, 0.0)
                others.append(Channel(*where, low, high, entry.slope * scale, entry.slope * offset, role))
    return (*own, *others), modes


def _root_frame(record: BoneRecord, rest: Array, unit: float) -> Array:
    T_armature_root = np.eye(4)
    rotation = rest[:3, :3] @ record.frame.T
    if abs(rotation - np.eye(3)).max() > MOVED:
        T_armature_root[:3, :3] = rotation
    if abs(rest[:3, 3]).max() > 1e-6:
        T_armature_root[:3, 3] = rest[:3, 3] * unit
    return T_armature_root
