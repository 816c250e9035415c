"""Which channel of a pose bone carries which coordinate of a joint.

A joint is a sequence of elementary motions; each acts about or along one axis of the bone, so each coordinate is
one entry of `rotation_euler` or `location` (a floating joint: `location` and `rotation_quaternion`; a screw: one of
each, the location going with the angle). The bone's rest frame is chosen for that: a 1-dof axis is the bone's Y; of a
planar joint Y is the normal, and Z, X the two lengths; universal and gimbal joints keep the axes of the link.
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
OWN, COUPLED, DRIVEN = "own", "coupled", "driven"
# The order in which the axis of a single rotation turns first, so that the channel decomposes cleanly.
_ORDERS = ("XYZ", "YXZ", "ZXY")
_EVERY_ORDER = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
# Cosine and sine between a bone and -Y, between which Blender keeps it less exactly.
_BACKWARD, _EXACT = -0.8, 2e-7


@dataclass(frozen=True)
class Channel:
    """One coordinate: sign * unit * value of the channel = scale * q[q] + offset.

    modes: rotation modes of the bone in which the value is to be read, the one that the bone gets first.
    path, index: the pose bone's property ("rotation_euler", "location", "rotation_quaternion") and its entry.
    unit: SI per channel unit (metres per Blender unit for a length, 1 for an angle or a quaternion's entry).
    lower, upper: bounds of this coordinate in SI; those of the model for a coordinate of its own.
    role: OWN (scale 1, offset 0), or another channel has the coordinate for its own: COUPLED is written with that, as
    the way of a screw with its angle (a bone's own channels cannot drive each other: Blender takes that for a cycle
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


def bone_frame(joint: Joint, rest: Array, parent: Array) -> Array:
    """(3, 3) R_link_bone that a new bone gets: Y along the axis of the joint; the link's own axes when it has none.

    rest: (3, 3) R_root_link.   parent: (3, 3) R_root_bone of the parent bone, the identity for the root bone.
    Where Blender would not keep this Y exactly (see `_kept`), the axis is the bone's Z or X instead.
    """
    frame = np.eye(3)
    if joint.kind.has_axis:
        across = [step.axis for step in joint.kind.decompose(joint) if abs(step.axis @ joint.axis) < 0.5]
        frame = _frame_along(joint.axis, across[0] if across else None)
    choices = [np.roll(frame, turn, axis=1) for turn in range(3)]
    return next((f for f in choices if _kept(rest @ f[:, 1], parent[:, 1])), frame)


def _frame_along(main: Array, second: Array | None) -> Array:
    """(3, 3) rotation whose Y is `main` and whose Z is `second`, as far as that is across it."""
    if second is None:
        # The link axis most across the joint axis keeps one more axis of the bone where the link has it.
        across = np.eye(3)[[2, 0, 1]]
        second = across[np.argmin(abs(across @ main).round(6))]
    second = second - main * (main @ second)
    second /= np.linalg.norm(second)
    return np.column_stack((np.cross(main, second), main, second))


def _kept(direction: Array, parent: Array) -> bool:
    """Whether Blender keeps a bone of this direction (in the armature's axes) exactly.

    Direction and roll, which it stores, become a matrix by a formula that loses digits around -Y of the parent bone
    and, in Edit Mode, of the armature: up to 3e-5, which all bones below inherit. At -Y itself it is exact.
    """
    for y in (np.array([0.0, 1.0, 0.0]), parent):
        if direction @ y < _BACKWARD and np.linalg.norm(np.cross(direction, y)) > _EXACT:
            return False
    return True


@dataclass(frozen=True)
class Entry:
    """A channel of a joint: sign * unit * value = slope * coordinate of the joint. See `Channel` for the fields."""

    coordinate: int
    path: str
    index: int
    sign: float
    unit: float
    slope: float = 1.0
    role: str = OWN


def joint_channels(
    joint: Joint, bone: str, frame: Array, metres_per_unit: float
) -> tuple[list[Entry], tuple[str, ...]]:
    """(the joint's channels by coordinate, `Channel.modes` of its bone).

    Raises BridgeError naming the bone when an axis of the joint is not an axis of the bone.
    """
    found: list[Entry] = []
    turns: list[int] = []
    iq = 0
    for step in joint.kind.decompose(joint):
        if step.motion in (Motion.FREE, Motion.BALL):
            in_bone = [int(i) for i in np.argmax(abs(frame), axis=1)]  # the bone axis along each axis of the link
            if abs(np.eye(3)[in_bone] - abs(frame)).max() > 1e-5:
                raise BridgeError(f"bone {bone!r}: the axes of a {joint.type} joint must be those of the bone")
            along = [(i, float(np.sign(frame[k, i]))) for k, i in enumerate(in_bone)]
            channels = [(LOCATION, i, sign, metres_per_unit) for i, sign in along if step.motion is Motion.FREE]
            channels += [(QUATERNION, 0, 1.0, 1.0), *((QUATERNION, i + 1, sign, 1.0) for i, sign in along)]
            found += [Entry(iq + k, *channel) for k, channel in enumerate(channels)]
            iq += step.motion.nq
            continue
        axis = frame.T @ step.axis
        index = int(np.argmax(abs(axis)))
        if abs(axis[index]) < 1.0 - 1e-5:
            raise BridgeError(f"bone {bone!r}: the axis of its {joint.type} joint is not an axis of the bone")
        sign = 1.0 if axis[index] > 0 else -1.0
        if step.motion is Motion.TRANSLATION:
            found.append(Entry(iq, LOCATION, index, sign, metres_per_unit))
        else:
            found.append(Entry(iq, EULER, index, sign, 1.0))
            turns.append(index)
        if step.motion is Motion.HELICAL:
            found.append(Entry(iq, LOCATION, index, sign, metres_per_unit, step.pitch, COUPLED))
        iq += step.motion.nq
    return found, ("QUATERNION",) if any(e.path == QUATERNION for e in found) else _euler_orders(turns)


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
