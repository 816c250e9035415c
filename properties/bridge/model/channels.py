"""Which channel of which pose bone carries which coordinate of a joint.

A joint is a sequence of elementary motions; each acts about or along one axis of a bone that carries it, so each
coordinate is one entry of `rotation_euler` or `location` (a floating joint: `location` and `rotation_quaternion`; a
screw: one of each, the location going with the angle). Which bones carry a joint, and how they are turned:
`Binding.joint_bones`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ....robokin.arrays import Array
from ....robokin.model.joint_types import Elementary, MotionPrimitive
from ....robokin.model.robot import Joint
from ..errors import BridgeError
from .joint_bones import JointBone, bone_axis, native

EULER, LOCATION, QUATERNION = "rotation_euler", "location", "rotation_quaternion"
OWN, COUPLED, DRIVEN = "own", "coupled", "driven"
# The order in which the axis of a single rotation turns first, so that the channel decomposes cleanly.
_ORDERS = ("XYZ", "YXZ", "ZXY")
_EVERY_ORDER = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


@dataclass(frozen=True)
class Channel:
    """One coordinate: sign * unit * value of the channel = scale * q[q] + offset.

    modes: rotation modes of the bone in which the value is to be read, the one that the bone gets first.
    path, index: the pose bone's property ("rotation_euler", "location", "rotation_quaternion") and its entry.
    unit: SI per channel unit (metres per Blender unit for a length, 1 for an angle or a quaternion's entry).
    lower, upper: bounds of this coordinate in SI; those of the model for a coordinate of its own.
    role: OWN (scale 1, offset 0), or another channel has the coordinate for its own: COUPLED is written with that, as
    the slide of a screw with its angle (a bone's own channels cannot drive each other: Blender takes that for a cycle
    of dependencies and shows the values of the frame before); DRIVEN, of a mimic joint, is moved by a driver.
    """

    bone: str
    modes: tuple[str, ...]
    path: str
    index: int
    q: int
    sign: float
    unit: float
    lower: float
    upper: float
    scale: float = 1.0
    offset: float = 0.0
    role: str = OWN

    @property
    def factor(self) -> float:
        """d q / d channel."""
        return self.sign * self.unit


@dataclass(frozen=True)
class ChannelEntry:
    """A channel of a joint: sign * unit * value = slope * coordinate of the joint. See `Channel` for the fields."""

    bone: str
    coordinate: int
    path: str
    index: int
    sign: float
    unit: float
    slope: float = 1.0
    role: str = OWN


def joint_channels(
    joint: Joint, joint_bones: Sequence[JointBone], metres_per_unit: float
) -> tuple[list[ChannelEntry], dict[str, tuple[str, ...]]]:
    """(the joint's channels by coordinate, `Channel.modes` of each of its bones).

    Raises BridgeError naming the bone when its bones cannot show the joint.
    """
    steps = joint.kind.decompose(joint)
    if sum(joint_bone.count for joint_bone in joint_bones) != len(steps):
        raise BridgeError(_unfit(joint, joint_bones))
    found: list[ChannelEntry] = []
    modes: dict[str, tuple[str, ...]] = {}
    for joint_bone in joint_bones:
        if not native(steps[: joint_bone.count], joint_bone.frame):
            raise BridgeError(_unfit(joint, joint_bones))
        turns: list[int] = []
        for step in steps[: joint_bone.count]:
            found += _step_channels(step, joint_bone, sum(e.role == OWN for e in found), metres_per_unit)
            if step.motion in (MotionPrimitive.ROTATION, MotionPrimitive.HELICAL):
                turns.append(bone_axis(step.axis, joint_bone.frame)[0])
        steps = steps[joint_bone.count :]
        free = any(e.path == QUATERNION and e.bone == joint_bone.bone for e in found)
        modes[joint_bone.bone] = ("QUATERNION",) if free else _euler_orders(turns)
    return found, modes


def _unfit(joint: Joint, joint_bones: Sequence[JointBone]) -> str:
    return (
        f"bone {joint_bones[-1].bone!r}: its {joint.type} joint does not move about the axes of its bones: "
        "Update Helper Bones (robokin.helper_bones)"
    )


def _step_channels(step: Elementary, joint_bone: JointBone, iq: int, metres_per_unit: float) -> list[ChannelEntry]:
    bone = joint_bone.bone
    if step.motion in (MotionPrimitive.FREE, MotionPrimitive.BALL):
        along = [bone_axis(axis, joint_bone.frame) for axis in np.eye(3)]
        channels = [(LOCATION, i, sign, metres_per_unit) for i, sign in along if step.motion is MotionPrimitive.FREE]
        channels += [(QUATERNION, 0, 1.0, 1.0), *((QUATERNION, i + 1, sign, 1.0) for i, sign in along)]
        return [ChannelEntry(bone, iq + k, *channel) for k, channel in enumerate(channels)]
    index, sign = bone_axis(step.axis, joint_bone.frame)
    if step.motion is MotionPrimitive.TRANSLATION:
        return [ChannelEntry(bone, iq, LOCATION, index, sign, metres_per_unit)]
    turn = ChannelEntry(bone, iq, EULER, index, sign, 1.0)
    if step.motion is MotionPrimitive.ROTATION:
        return [turn]
    return [turn, ChannelEntry(bone, iq, LOCATION, index, sign, metres_per_unit, step.pitch, COUPLED)]


def _euler_orders(turns: list[int]) -> tuple[str, ...]:
    """Blender's names of the orders that turn about these axes one after the other; it names the last one first.

    One angle is the same in every order. Of two the third axis, which does not turn, is put between them: an order
    is singular where its middle angle is a quarter turn.
    """
    if len(turns) < 2:
        best = _ORDERS[turns[0]] if turns else "YXZ"
        return (best, *(order for order in _EVERY_ORDER if order != best))
    if len(turns) == 2:
        turns = [turns[0], 3 - sum(turns), turns[1]]
    return ("".join("XYZ"[i] for i in reversed(turns)),)


def round_inward(values: Array, lower: float, upper: float) -> Array:
    """float32 values nearest to `values` with lower <= value <= upper in double precision.

    Where no float32 lies between the bounds, the one nearest to them.
    """
    rounded = np.clip(values, lower, upper).astype(np.float32)
    too_high = rounded.astype(float) > upper
    rounded[too_high] = np.nextafter(rounded[too_high], np.float32(-np.inf))
    too_low = rounded.astype(float) < lower
    rounded[too_low] = np.nextafter(rounded[too_low], np.float32(np.inf))
    return rounded


@lru_cache(maxsize=4096)
def channel_bounds(channel: Channel) -> tuple[float, float]:
    """Bounds of the channel's own value (radians or Blender units), such that factor * value keeps to those in SI."""
    ends = sorted((channel.lower / channel.factor, channel.upper / channel.factor))
    low, high = ends
    if channel.unit != 1.0:
        # Division and multiplication by the unit both round: step inside until the product does not exceed the bound.
        while np.isfinite(high) and not _inside(channel, high):
            high = np.nextafter(high, -np.inf)
        while np.isfinite(low) and not _inside(channel, low):
            low = np.nextafter(low, np.inf)
    return float(low), float(high)


def _inside(channel: Channel, value: float) -> bool:
    # A range of a single point may have no exact counterpart: a few units in the last place are as good as equal.
    slack = 4e-16 * max(abs(channel.lower), abs(channel.upper)) if channel.lower == channel.upper else 0.0
    return channel.lower - slack <= channel.factor * value <= channel.upper + slack
