"""New keys for a stretch of frames, with the curves before and after it as they were."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...properties.bridge import Binding, curves
from ...robokin import RobokinError
from ...robokin.arrays import Array
from .curves import channel_key, ensure_channelbag, own_keys, replace_keys
from .frames import fcurves


def refuse_modified(obj: bpy.types.Object, robot: Binding) -> None:
    """Raise RobokinError where a modifier bends a curve of the robot: single keys do not say what it shows."""
    own = own_keys(robot)
    for key, curve in fcurves(obj).items():
        if key in own and any(not modifier.mute for modifier in curve.modifiers):
            joint = robot.joint_of_bone[own[key].bone].name
            raise RobokinError(f"joint {joint!r}: its curve has a modifier: bake it into keys, or remove it")


def write_stretch(
    obj: bpy.types.Object, robot: Binding, frames: Sequence[int], Q: Array, before: Array | None = None
) -> None:
    """Keys for Q (n, nq) at frames in a row. At all other frames the curves show what they did; keys between which they
    were no straight lines become a key a frame where the stretch meets them. before: (nq,) what is shown before it."""
    bag = ensure_channelbag(obj)
    existing = {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}
    own = zip(curves(obj, Q, before, robot), robot.written_channels, strict=True)
    for (path, index, values, group), channel in own:
        curve = existing.get(channel_key(channel))
        if curve is None:
            present = np.float32(obj.path_resolve(path)[index])
            if (values == present).all():
                continue
            curve = bag.fcurves.new(path, index=index)
            curve.group = bag.groups.get(group) or bag.groups.new(group)
            around = [frames[0] - 1, frames[-1] + 1]
            replace_keys(curve, np.array(around, np.float32), np.full(2, present))
        _put_in(curve, list(frames), values)


def _put_in(curve: bpy.types.FCurve, frames: list[int], values: Array) -> None:
    points = curve.keyframe_points
    before = [point for point in points if point.co.x <= frames[0] - 1]
    after = [point for point in points if point.co.x >= frames[-1] + 1]
    inside = [point for point in points if frames[0] - 1 < point.co.x < frames[-1] + 1]
    leaves = (inside[-1] if inside else before[-1] if before else after[0]).interpolation
    left = _filled(before[-1].co.x if before else None, frames[0] - 1, -1, before and before[-1].interpolation)
    right = _filled(after[0].co.x if after else None, frames[-1] + 1, 1, leaves)
    if curve.extrapolation == "LINEAR":  # it goes on beyond its keys as from the last but one to the last
        left = left if before else [frames[0] - 2, *left]
        right = right if after else [*right, frames[-1] + 2]
    kept = {frame: curve.evaluate(frame) for frame in (*left, *right)}
    for point in (*before[-1:], *after[:1]):
        point.handle_left_type = point.handle_right_type = "FREE"  # their neighbours become others
    if before:
        before[-1].interpolation = "LINEAR"
    at = [*left, *frames, *right]
    shown = [*(kept[frame] for frame in left), *values.tolist(), *(kept[frame] for frame in right)]
    replace_keys(curve, np.array(at, np.float32), np.array(shown, np.float32))


def _filled(key: float | None, beside: int, step: int, interpolation: str) -> list[int]:
    """Frames from beside the stretch up to a key outside of it that get a key, in order."""
    if key is None or key == beside:
        return [] if key is not None else [beside]
    if interpolation == "LINEAR":
        return [beside]
    last = int(np.ceil(key)) + (1 if float(key).is_integer() else 0) if step < 0 else int(np.floor(key))
    if step > 0 and float(key).is_integer():
        last -= 1
    return list(range(last, beside + 1)) if step < 0 else list(range(beside, last + 1))
