"""Writing whole F-curves of a robot's channels, and reading its configurations back over many frames."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from typing import Any

import bpy
import numpy as np

from ...properties.bridge import Binding, Channel, binding, curves, read_configuration, write_configuration
from ...properties.bridge.model.channels import LOCATION, OWN, QUATERNION
from ...properties.handlers import posing_paused
from ...properties.overrides import takes_keys
from ...robokin import RobokinError
from ...robokin.arrays import Array
from . import frames as animation
from .undone import whole_or_undone

Key = tuple[str, int]

_LINEAR = 1
_CHUNK, _KEYED = 32, 2000  # frames of the scene, and of F-curves, between two reports of progress


def own_keys(robot: Binding) -> dict[Key, Channel]:
    """(data path, array index) of every channel that q is written to."""
    return {channel_key(channel): channel for channel in robot.written_channels}


def channel_key(channel: Channel) -> Key:
    return f'pose.bones["{bpy.utils.escape_identifier(channel.bone)}"].{channel.path}', channel.index


@contextmanager
def pose_held(obj: bpy.types.Object, q: Array, robot: Binding) -> Iterator[None]:
    """Inside, the robot stands at q whatever its own curves say; afterwards pose and curves are as before."""
    # No curve and no bone is held meanwhile: a handler may remove or rename them.
    keys, names = own_keys(robot), obj.pose.bones.keys()
    muted = [key for key in animation.fcurves(obj) if key in keys]
    bones = {channel.bone for channel in keys.values()}
    before = {name: (obj.pose.bones[name].rotation_mode, obj.pose.bones[name].matrix_basis.copy()) for name in bones}
    values = {key: obj.path_resolve(key[0])[key[1]] for key in keys}
    _mute(obj, muted, True)
    write_configuration(obj, q, robot)
    try:
        with posing_paused():
            yield
    finally:
        there = obj.pose.bones.keys()  # renamed bones keep their place
        now = dict(zip(names, there, strict=True)) if len(there) == len(names) else {}
        _mute(obj, [(_renamed(path, keys[path, index].bone, now), index) for path, index in muted], False)
        for name, (mode, basis) in before.items():
            bone = obj.pose.bones.get(now.get(name, name))
            if bone is not None and bone.rotation_mode != mode:
                bone.rotation_mode, bone.matrix_basis = mode, basis
        for (path, index), value in values.items():
            with suppress(ValueError):  # a bone that was removed
                obj.path_resolve(_renamed(path, keys[path, index].bone, now))[index] = value
        obj.update_tag(refresh={"DATA"})


def _renamed(path: str, bone: str, now: Mapping[str, str]) -> str:
    """The path of a bone's channel, where the bone is called otherwise by now."""
    old, new = (f'pose.bones["{bpy.utils.escape_identifier(name)}"]' for name in (bone, now.get(bone, bone)))
    return new + path.removeprefix(old)


def _mute(obj: bpy.types.Object, keys: Collection[Key], mute: bool) -> None:
    bag = animation.channelbag(obj)
    for curve in bag.fcurves if bag is not None else ():
        if (curve.data_path, curve.array_index) in keys:
            curve.mute = mute


def refuse_unwritable(scene: bpy.types.Scene, obj: bpy.types.Object, new_action: bool, robot: Binding) -> None:
    """Raise RobokinError when keys on the robot's channels could not be written, or would not be what is seen."""
    if animation.stretched(scene):
        raise RobokinError("the scene's time is stretched (Output > Frame Range): set Old and New to the same to bake")
    data = obj.animation_data
    if data is None:
        return
    if data.use_tweak_mode:
        raise RobokinError(f"{obj.name!r} is in the NLA's tweak mode: leave it before baking")
    refuse_driven(obj, robot)
    if not new_action and not takes_keys(obj):
        raise RobokinError(f"action {data.action.name!r} is linked from another file: bake into a new action")


def refuse_driven(obj: bpy.types.Object, robot: Binding, q: slice = slice(None)) -> None:
    """Raise RobokinError when a driver would override what is written to a channel of these coordinates. One that is
    muted does not."""
    data = obj.animation_data
    drivers = [] if data is None else [d for d in data.drivers if not d.mute]
    keys = own_keys(robot) if drivers else {}
    for driver in drivers:
        channel = keys.get((driver.data_path, driver.array_index))
        if channel is not None and channel.q in range(robot.model.nq)[q]:
            raise RobokinError(f"{_channel_label(robot, channel)} has a driver: mute or remove it")


def _channel_label(robot: Binding, channel: Channel) -> str:
    """The channel as Blender's interface names it, and its joint."""
    joint = robot.joint_of_bone[channel.bone].name
    kind = "Location" if channel.path == LOCATION else "Rotation"
    axes = "WXYZ" if channel.path == QUATERNION else "XYZ"
    return f"joint {joint!r}: {axes[channel.index]} {kind} of bone {channel.bone!r}"


def write_curves(obj: bpy.types.Object, frames: Sequence[int], Q: Array, new_action: bool, robot: Binding) -> Array:
    """Linear keys for Q (n, nq) at the frames, in place of the robot's keys between the first and the last of them.

    Keys outside and all other channels stay. With `new_action` they go into a copy of the present action, which keeps
    its own name and content; in the copy, the robot's channels hold the bake alone. Returns the Q that was written,
    rounded to single precision inside the limits. Where writing fails, all is as it was.
    """
    with whole_or_undone(obj):
        return _written(obj, frames, Q, new_action, robot)


def _written(obj: bpy.types.Object, frames: Sequence[int], Q: Array, new_action: bool, robot: Binding) -> Array:
    bag = ensure_channelbag(obj, new_action)
    written = np.array(Q, float)
    existing = {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}
    at = np.asarray(frames, np.float32)
    before = None if new_action else _kept_before(robot, existing, frames)
    own = zip(curves(obj, Q, before, robot), robot.written_channels, strict=True)
    for (path, index, values, group), channel in own:
        curve = existing.get((path, index)) or bag.fcurves.new(path, index=index)
        if new_action:
            curve.keyframe_points.clear()
        replace_keys(curve, at, values)
        for modifier in list(curve.modifiers):
            if modifier.type != "CYCLES":  # which repeats what is outside; any other would bend the bake
                curve.modifiers.remove(modifier)
        curve.mute = False
        if curve.group is None:
            curve.group = bag.groups.get(group) or bag.groups.new(group)
        if channel.role == OWN:
            written[:, channel.q] = channel.factor * values.astype(float)
    return written


def rounded(obj: bpy.types.Object, Q: Array, robot: Binding) -> Array:
    """Q (n, nq) as `write_curves` writes it, but for the signs of quaternions."""
    found = np.array(Q, float)
    for (_, _, values, _), channel in zip(curves(obj, Q, None, robot), robot.written_channels, strict=True):
        if channel.role == OWN:
            found[:, channel.q] = channel.factor * values.astype(float)
    return found


def rounded_channels(obj: bpy.types.Object, Q: Array, robot: Binding) -> list[Array]:
    """(n,) values of each written channel for Q (n, nq), in single precision."""
    return [values for _, _, values, _ in curves(obj, Q, None, robot)]


def write_numbers(obj: bpy.types.Object, path: str, frames: Sequence[int], values: Array, group: str) -> None:
    """Linear keys for a number of the object, in place of its keys between the first and the last frame."""
    bag = ensure_channelbag(obj)
    curve = next((curve for curve in bag.fcurves if curve.data_path == path), None) or bag.fcurves.new(path)
    replace_keys(curve, np.asarray(frames, np.float32), np.asarray(values, np.float32))
    if curve.group is None:
        curve.group = bag.groups.get(group) or bag.groups.new(group)


def _kept_before(robot: Binding, existing: dict[Key, bpy.types.FCurve], frames: Sequence[int]) -> Array:
    """(nq,) the quaternions of the last keys that stay before the frames; zero where there are none, and elsewhere."""
    before = np.zeros(robot.model.nq)
    for channel in robot.written_channels:
        key = channel_key(channel)
        if channel.path == QUATERNION and key in existing:
            earlier = [point.co.x for point in existing[key].keyframe_points if point.co.x < frames[0]]
            if earlier:
                before[channel.q] = channel.factor * existing[key].evaluate(earlier[-1])
    return before


def key_channels(
    obj: bpy.types.Object, frame: float, robot: Binding, chosen: Set[Key] | None = None, **given: Any
) -> None:
    """Key every channel that follows from q as it stands, or those that are chosen; quaternions with the sign that
    their curves have there. given: more for `keyframe_insert`."""
    found = animation.fcurves(obj)
    for bone, modes in robot.modes.items():
        path = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].rotation_quaternion'
        if modes == ("QUATERNION",) and all((path, i) in found for i in range(4)):
            shown = np.array([found[path, i].evaluate(frame) for i in range(4)])
            if shown @ np.array(obj.pose.bones[bone].rotation_quaternion) < 0.0:
                obj.pose.bones[bone].rotation_quaternion.negate()
    for key, channel in own_keys(robot).items():
        if chosen is None or key in chosen:
            bone = obj.pose.bones[channel.bone]
            bone.keyframe_insert(channel.path, index=channel.index, frame=frame, group=channel.bone, **given)


def show_curves(obj: bpy.types.Object, frame: float, robot: Binding) -> None:
    """Put the robot's channels where its curves are at a frame, without visiting it."""
    write_configuration(obj, read_configuration(obj, robot), robot)  # sets the bones' rotation modes
    found = animation.fcurves(obj)
    for path, index in own_keys(robot):
        obj.path_resolve(path)[index] = found[path, index].evaluate(frame)
    obj.update_tag(refresh={"DATA"})


def key_frames(curve: bpy.types.FCurve) -> Array:
    """(n,) frames of a curve's keys, in single precision, read at once."""
    at = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", at)
    return at[::2]


def replace_keys(curve: bpy.types.FCurve, frames: Array, values: Array) -> None:
    """Linear keys at the frames (n,) in place of those between the first and the last of them, single precision."""
    points, at = curve.keyframe_points, key_frames(curve)
    inside = (at >= frames[0]) & (at <= frames[-1])
    if inside.all():
        points.clear()
    else:
        for index in np.flatnonzero(inside)[::-1].tolist():
            points.remove(points[index], fast=True)
    kept = len(points)
    points.add(len(frames))
    for name, new, size in (("co", np.column_stack((frames, values)), 2), ("interpolation", _LINEAR, 1)):
        array = np.empty(size * len(points), np.float32 if size == 2 else np.int32)
        points.foreach_get(name, array)
        array.reshape(-1, size)[kept:] = new
        points.foreach_set(name, array)
    curve.update()


def ensure_channelbag(obj: bpy.types.Object, new_action: bool = False) -> bpy.types.ActionChannelbag:
    """Where its F-curves are, made where there is none. new_action: of a copy of its action."""
    data = obj.animation_data_create()
    if data.action is None:
        _assign(data, bpy.data.actions.new(f"{obj.name}Action"), obj)
    elif new_action:
        kept = data.action
        kept.use_fake_user = True
        handle = data.action_slot.handle if data.action_slot else None
        copy = kept.copy()
        copy.use_fake_user = False
        data.action = copy
        slot = next((slot for slot in copy.slots if slot.handle == handle), None)
        data.action_slot = slot or copy.slots.new(obj.id_type, obj.name)
    elif data.action_slot is None:
        _assign(data, data.action, obj)
    action = data.action
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(data.action_slot, ensure=True)


def _assign(data: bpy.types.AnimData, action: bpy.types.Action, obj: bpy.types.Object) -> None:
    data.action = action
    if data.action_slot is None:
        data.action_slot = action.slots.new(obj.id_type, obj.name)


def sample_configurations(
    scene: bpy.types.Scene, obj: bpy.types.Object, frames: Sequence[float], robot: Binding
) -> Generator[float, None, Array]:
    """Yield the share done now and then; return (n, nq), the configurations that the animation shows at the frames.

    From the F-curves when they alone move the robot, else from the scene, whose frame comes back.
    """
    Q = np.empty((len(frames), robot.model.nq))
    if _moved_by_keys_only(obj, robot):
        for first in range(0, len(frames), _KEYED):
            yield first / len(frames)
            Q[first : first + _KEYED] = _keyed_configurations(obj, frames[first : first + _KEYED], robot)
        return Q
    for index in animation.visit_frames(scene, frames):
        Q[index] = read_configuration(obj, robot)
        if index % _CHUNK == 0:
            yield index / len(frames)
    return Q


def shown_by_keys(obj: bpy.types.Object, frames: Sequence[float], robot: Binding | None = None) -> Array | None:
    """(n, nq) of the F-curves at the frames; None when not they alone move the robot. Changes nothing."""
    robot = robot or binding(obj)
    return _keyed_configurations(obj, frames, robot) if _moved_by_keys_only(obj, robot) else None


def _keyed_configurations(obj: bpy.types.Object, frames: Sequence[float], robot: Binding) -> Array:
    Q = np.empty((len(frames), robot.model.nq))
    found = animation.fcurves(obj)
    for channel in robot.own_channels:
        path, index = channel_key(channel)
        curve = found.get((path, index))
        if curve is None:
            Q[:, channel.q] = channel.factor * obj.path_resolve(path)[index]
        else:
            Q[:, channel.q] = [channel.factor * curve.evaluate(frame) for frame in frames]
    return Q


def _moved_by_keys_only(obj: bpy.types.Object, robot: Binding) -> bool:
    modes = robot.modes
    if any(obj.pose.bones[bone].rotation_mode != modes[bone][0] for bone in modes):
        return False
    paths = {path for path, _ in own_keys(robot)}
    if any(path.endswith(".rotation_mode") for path, _ in animation.fcurves(obj)):
        return False
    return animation.keyed_only(obj, paths.__contains__)
