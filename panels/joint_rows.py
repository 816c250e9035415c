"""What the list of joint values shows of each bone, prepared from the robot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import bpy

from ..properties.bridge import Binding, Channel, binding, last_binding
from ..properties.bridge.model.channels import COUPLED, DRIVEN, QUATERNION
from ..properties.joint_range import ranged_channel
from ..robokin import RobokinError


@dataclass(frozen=True)
class JointRow:
    """channels: (label, channel); a single one needs no label.   ranged: there is a range to show.   follows: it moves
    by itself."""

    channels: tuple[tuple[str, Channel], ...]
    ranged: bool
    follows: bool


def joint_rows(obj: bpy.types.Object, fresh: bool = False) -> dict[str, JointRow]:
    """{bone: row} of the bones that move; {} when the robot cannot be read. fresh: as the robot is now; else as it was
    when the panel was drawn, which is what the rows of a list want."""
    try:
        return _joint_rows(binding(obj) if fresh else last_binding(obj))
    except RobokinError:
        return {}


@lru_cache(maxsize=8)
def _joint_rows(robot: Binding) -> dict[str, JointRow]:
    by_bone: dict[str, list[Channel]] = {}
    for channel in robot.channels:
        if channel.role != COUPLED:
            by_bone.setdefault(channel.bone, []).append(channel)
    rows = {}
    for bone, channels in by_bone.items():
        labels = [("" if len(channels) == 1 else _letter(channel), channel) for channel in channels]
        follows = all(channel.role == DRIVEN for channel in channels)
        rows[bone] = JointRow(tuple(labels), ranged_channel(robot, bone) is not None, follows)
    return rows


def _letter(channel: Channel) -> str:
    return ("WXYZ" if channel.path == QUATERNION else "XYZ")[channel.index]
