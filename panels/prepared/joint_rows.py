"""What the list of joint values shows of each bone, prepared from the robot."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import bpy

from ...properties.bridge import Binding, Channel, binding, last_binding
from ...properties.bridge.model.channels import COUPLED, DRIVEN, LOCATION, QUATERNION
from ...properties.results.result_text import quantity_text
from ...properties.results.why import why
from ...robokin import RobokinError
from ...robokin.structure.locking import can_lock
from ...robokin.structure.short_names import short_names


@dataclass(frozen=True)
class JointRow:
    """name: by what the bone differs from the others.   channels: (label, channel); a single one needs no label.
    ranged: there is a range to show.   follows: the joint that moves it, "" when none does.
    ball: its channels are a quaternion.   lockable: it can have a padlock."""

    name: str
    channels: tuple[tuple[str, Channel], ...]
    ranged: bool
    follows: str
    ball: bool
    lockable: bool

    @property
    def places(self) -> tuple[tuple[str, Channel], ...]:
        """Its channels that are locations."""
        return tuple(each for each in self.channels if each[1].path == LOCATION)


def joint_rows(obj: bpy.types.Object) -> dict[str, JointRow]:
    """{bone: row} of the bones that move; {} when the robot cannot be read."""
    try:
        return _joint_rows(binding(obj))
    except RobokinError:
        return {}


@lru_cache(maxsize=8)
def _joint_rows(robot: Binding) -> dict[str, JointRow]:
    by_bone: dict[str, list[Channel]] = {}
    for channel in robot.channels:
        if channel.role != COUPLED:
            by_bone.setdefault(channel.bone, []).append(channel)
    rows = {}
    short = short_names(by_bone)
    for bone, channels in by_bone.items():
        labels = [("" if len(channels) == 1 else _letter(channel), channel) for channel in channels]
        is_driven = all(channel.role == DRIVEN for channel in channels)
        mimic = robot.joint_of_bone[bone].mimic if is_driven else None
        follows = mimic.joint if mimic else ""
        ball = any(channel.path == QUATERNION for channel in channels)
        lockable = not follows and bone in robot.bones and can_lock(robot.joint_of_bone[bone])
        rows[bone] = JointRow(short[bone], tuple(labels), bone in robot.ranged_channels, follows, ball, lockable)
    return rows


def blocking_bones(obj: bpy.types.Object) -> Collection[str]:
    """Bones of the joints whose limits hold up what the last solve could not meet; () when the robot cannot be read."""
    joints = why(obj).joints
    try:
        found = last_binding(obj).joint_of_bone if joints else {}
    except RobokinError:
        return ()
    return {bone for bone, joint in found.items() if joint.name in joints}


def value_text(scene: bpy.types.Scene, bone: bpy.types.PoseBone, channel: Channel) -> str:
    """The value of a joint with its unit, as short as a row of the list is narrow."""
    value = channel.factor * getattr(bone, channel.path)[channel.index]
    if channel.path == LOCATION:
        return quantity_text(scene, "LENGTH", round(value, 3) + 0.0)
    degrees = math.degrees(value)
    return quantity_text(scene, "ROTATION", math.radians(round(degrees, 1 if abs(degrees) < 10.0 else 0)))


def _letter(channel: Channel) -> str:
    return ("WXYZ" if channel.path == QUATERNION else "XYZ")[channel.index]
