"""Which channel of a pose bone carries which coordinate of a joint.

A joint is a sequence of elementary motions; each acts about or along one axis of the bone, so each coordinate is
one entry of `rotation_euler` or `location` (a floating joint: `location` and `rotation_quaternion`). The bone's rest
frame is chosen for that: a 1-dof axis is the bone's Y; of a planar joint Y is the normal, and Z, X the two lengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...robokin.joint_types import Motion
from ...robokin.model import Joint
from .errors import BridgeError

Array = np.ndarray

EULER, LOCATION, QUATERNION = "rotation_euler", "location", "rotation_quaternion"
# The order in which the axis of a single rotation turns first, so that the channel decomposes cleanly.
_ORDERS = ("XYZ", "YXZ", "ZXY")
_EXACT, _NEARLY = 2e-7, 3e-4


@dataclass(frozen=True)
class Channel:
    """One coordinate: q[q] = sign * unit * value of the channel, before the mimic law `scale * q + offset`.

    path, index: the pose bone's property ("rotation_euler", "location", "rotation_quaternion") and its entry.
    unit: SI per channel unit (metres per Blender unit for a length, 1 for an angle or a quaternion's entry).
    lower, upper: bounds of this coordinate in SI; those of the model for a coordinate of its own.
    mimic: the coordinate is another joint's; the channel is driven and never written.
    """

    bone: str
    path: str
    index: int
    q: int
    sign: float
    unit: float
    lower: float
    upper: float
    scale: float = 1.0
    offset: float = 0.0
    mimic: bool = False

    @property
    def factor(self) -> float:
        """d q / d channel."""
        return self.sign * self.unit


def bone_frame(joint: Joint, rest: Array) -> Array:
    """(3, 3) R_link_bone that a new bone gets: Y along the axis of the joint; the link's own axes when it has none.

    rest: (3, 3) R_root_link. Blender keeps a bone's direction by head and tail and takes what is within 2.5e-4 of -Y
    for -Y itself; an axis that is nearly, but not exactly, -Y becomes the bone's Z instead.
    """
    steps = joint.kind.decompose(joint)
    axes = [step.axis for step in steps if step.motion.has_axis]
    if not axes:
        return np.eye(3)
    main = axes[-1]
    if len(axes) > 1:
        second = axes[0]
    else:
        # The link axis most across the joint axis keeps one more axis of the bone where the link has it.
        across = np.eye(3)[[2, 0, 1]]
        second = across[np.argmin(abs(across @ main).round(6))]
    second = second - main * (main @ second)
    second /= np.linalg.norm(second)
    third = np.cross(main, second)
    direction = rest @ main
    if direction[1] < 0 and _EXACT < np.hypot(direction[0], direction[2]) < _NEARLY:
        return np.column_stack((second, third, main))
    return np.column_stack((third, main, second))


def joint_channels(
    joint: Joint, bone: str, frame: Array, metres_per_unit: float
) -> tuple[list[tuple[str, int, float, float]], str]:
    """([(path, index, sign, unit)] of the joint's own coordinates in order, the bone's rotation mode).

    Raises BridgeError naming the bone when an axis of the joint is not an axis of the bone.
    """
    found: list[tuple[str, int, float, float]] = []
    mode = "QUATERNION"
    for step in joint.kind.decompose(joint):
        if step.motion in (Motion.FREE, Motion.BALL):
            if abs(frame - np.eye(3)).max() > 1e-5:
                raise BridgeError(f"bone {bone!r}: the axes of a {joint.type} joint must be those of the bone")
            if step.motion is Motion.FREE:
                found += [(LOCATION, i, 1.0, metres_per_unit) for i in range(3)]
            found += [(QUATERNION, i, 1.0, 1.0) for i in range(4)]
            continue
        in_bone = frame.T @ step.axis
        index = int(np.argmax(abs(in_bone)))
        if abs(in_bone[index]) < 1.0 - 1e-5:
            raise BridgeError(f"bone {bone!r}: the axis of its {joint.type} joint is not an axis of the bone")
        sign = 1.0 if in_bone[index] > 0 else -1.0
        if step.motion is Motion.TRANSLATION:
            found.append((LOCATION, index, sign, metres_per_unit))
        else:
            found.append((EULER, index, sign, 1.0))
            mode = _ORDERS[index]
    if joint.nq == 0 or (mode == "QUATERNION" and all(path == LOCATION for path, *_ in found)):
        mode = "YXZ"
    return found, mode


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
