"""q <-> the channels of the pose bones. Channels, not matrices: a joint that has turned twice stays so."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ....robokin import clamp
from ....robokin.arrays import Array
from ....robokin.model.robot import RobotModel
from ....robokin.spatial import quaternion
from ....robokin.spatial.swing_twist import Cone, contains
from ..errors import BridgeError
from ..model.binding import Binding, binding
from ..model.channels import COUPLED, EULER, LOCATION, QUATERNION, Channel, channel_bounds, round_inward
from .spherical import keys_in_cone, round_into_cone, surely_inside, unit

_ROUNDING = 1.2e-7  # of a quaternion's entry in single precision
Curve = tuple[str, int, Array, str]  # data path, array index, (frames,) float32, group


def channel_table(obj: bpy.types.Object) -> tuple[Channel, ...]:
    """The channels of the robot: those of q in its order, then others (mimic joints, the slide of screws)."""
    return binding(obj).channels


def read_configuration(obj: bpy.types.Object, robot: Binding | None = None) -> Array:
    """(nq,) configuration in which the armature stands, as its channels say; not clamped to limits.
    robot: the object's binding, where the caller has just asked for it, here and below.

    Raises BridgeError naming the bone for a channel that is not a number.
    """
    robot = robot or binding(obj)
    q = np.empty(robot.model.nq)
    for channel in robot.own_channels:
        q[channel.q] = channel.factor * _read(obj.pose.bones[channel.bone], channel)
    _normalise(robot.model, q)
    return q


def write_configuration(obj: bpy.types.Object, q: Array, robot: Binding | None = None) -> None:
    """Pose the armature. Values outside the limits are put on them; single precision is rounded inward.

    Writes channels only: no view layer update. Raises ConfigurationError for a q of the wrong shape.
    """
    robot = robot or binding(obj)
    bones = obj.pose.bones
    q = robot.model.check_configuration(q)
    for bone, modes in robot.modes.items():
        if bones[bone].rotation_mode not in modes:
            bones[bone].rotation_mode = modes[0]
    for cone in robot.model.limits.cones:
        at = slice(cone.q, cone.q + 4)
        q[at] = round_into_cone(cone, q[at])
    for channel in robot.written_channels:
        getattr(bones[channel.bone], channel.path)[channel.index] = float(
            _channel_values(channel, q[channel.q : channel.q + 1])[0]
        )
    obj.update_tag(refresh={"DATA"})


def nearest_within_limits(model: RobotModel) -> Array:
    """(nq,) the configuration inside the limits that is nearest to the neutral one."""
    return clamp(model, model.neutral())


def curves(obj: bpy.types.Object, Q: Array, before: Array | None = None, robot: Binding | None = None) -> list[Curve]:
    """Whole F-curves of a motion: (data path, array index, float32 values, group) of `Binding.written_channels`.

    Q: (frames, nq). Every value lies inside its limit as the single precision number that is returned, so linear
    keys stay inside between frames too; quaternions do not change sign from frame to frame.   before: (nq,) where the
    robot is shown before the first frame, from which the sign goes on.
    """
    robot = robot or binding(obj)
    Q = np.array(Q, float)
    _sign_continuous(robot.model, Q, before)
    for cone in robot.model.limits.cones:
        at = slice(cone.q, cone.q + 4)
        Q[:, at] = keys_in_cone(cone, Q[:, at])
    found: list[Curve] = []
    for channel in robot.written_channels:
        path = f'pose.bones["{bpy.utils.escape_identifier(channel.bone)}"].{channel.path}'
        found.append((path, channel.index, _channel_values(channel, Q[:, channel.q]), channel.bone))
    return found


def clamp_pose(obj: bpy.types.Object, robot: Binding | None = None) -> list[Channel]:
    """Put channels that a hand moved out of their limits back on them, and let coupled ones go along; the channels
    that were changed."""
    robot = robot or binding(obj)
    changed: list[Channel] = []
    for channel in robot.own_channels:
        bone = obj.pose.bones[channel.bone]
        if channel.path == QUATERNION or not (np.isfinite(channel.lower) or np.isfinite(channel.upper)):
            continue
        values = getattr(bone, channel.path)
        low, high = channel_bounds(channel)
        if np.isfinite(values[channel.index]) and not low <= values[channel.index] <= high:
            values[channel.index] = float(round_inward(np.array([values[channel.index]]), low, high)[0])
            changed.append(channel)
    for cone in robot.model.limits.cones:
        changed += _clamp_ball(obj, robot.own_channels[cone.q : cone.q + 4], cone)
    return changed + _couple(obj, robot)


def _clamp_ball(obj: bpy.types.Object, channels: Sequence[Channel], cone: Cone) -> list[Channel]:
    """Put a ball joint that is outside of its cone back into it."""
    bone = obj.pose.bones[channels[0].bone]
    values = [channel.factor * _read(bone, channel) for channel in channels]
    if surely_inside(cone, *values):
        return []
    q = np.array(values)
    if contains(cone, unit(q)):
        return []
    inside = round_into_cone(cone, q)
    if abs(inside - unit(q)).max() < _ROUNDING:  # a cone that no single precision quaternion is in: as near as can be
        return []
    if bone.rotation_mode not in channels[0].modes:
        bone.rotation_mode = channels[0].modes[0]
    for channel, value in zip(channels, inside.tolist(), strict=True):
        getattr(bone, channel.path)[channel.index] = value / channel.factor
    return list(channels)


def _couple(obj: bpy.types.Object, robot: Binding) -> list[Channel]:
    """Let channels go with the ones that they are coupled to; the channels that were changed."""
    changed: list[Channel] = []
    for channel in (c for c in robot.written_channels if c.role == COUPLED):
        lead = next(c for c in robot.own_channels if c.q == channel.q)
        bone = obj.pose.bones[channel.bone]
        coordinate = lead.factor * _read(obj.pose.bones[lead.bone], lead)
        value, values = float(_channel_values(channel, np.array([coordinate]))[0]), getattr(bone, channel.path)
        if values[channel.index] != value:
            values[channel.index] = value
            changed.append(channel)
    return changed


def _channel_values(channel: Channel, coordinates: Array) -> Array:
    low, high = channel_bounds(channel)
    return round_inward((channel.scale * coordinates + channel.offset) / channel.factor, low, high)


def _read(bone: bpy.types.PoseBone, channel: Channel) -> float:
    if channel.path == LOCATION or bone.rotation_mode in channel.modes:
        value = getattr(bone, channel.path)[channel.index]
    elif channel.path == EULER:
        value = bone.matrix_basis.to_euler(channel.modes[0])[channel.index]
    else:
        value = bone.matrix_basis.to_quaternion()[channel.index]
    if not np.isfinite(value):
        raise BridgeError(f"bone {bone.name!r}: its {channel.path.replace('_', ' ')} is not a number")
    return value


def _normalise(model: RobotModel, q: Array) -> None:
    for start in model.tree.quaternions:
        length = np.linalg.norm(q[start : start + 4])
        # Blender shows a zero quaternion as no rotation.
        q[start : start + 4] = q[start : start + 4] / length if length > 1e-9 else (1.0, 0.0, 0.0, 0.0)


def _sign_continuous(model: RobotModel, Q: Array, before: Array | None) -> None:
    for start in model.tree.quaternions:
        quaternions = Q[:, start : start + 4]
        if before is not None and quaternions[0] @ before[start : start + 4] < 0.0:
            quaternions[0] *= -1.0
        quaternions[:] = quaternion.continuous(quaternions)
