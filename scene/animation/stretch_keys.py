"""New keys for a stretch of frames, with the curves before and after it as they were."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...properties.bridge import Binding, curves
from ...robokin.arrays import Array
from .curves import channel_key, ensure_channelbag, own_keys, replace_keys
from .frames import fcurves


def bake_modifiers(obj: bpy.types.Object, robot: Binding, first: int, last: int) -> None:
    """Curves of the robot that modifiers bend become a key a frame, from first to last and as far as they have keys:
    single keys do not say what they show."""
    found = fcurves(obj)
    for key in own_keys(robot) & found.keys():
        curve = found[key]
        bent = [modifier for modifier in curve.modifiers if not modifier.mute]
        if bent:
            ends = [point.co.x for point in curve.keyframe_points]
            frames = range(int(np.floor(min([first, *ends]))), int(np.ceil(max([last, *ends]))) + 1)
            shown = [curve.evaluate(frame) for frame in frames]
            for modifier in bent:
                curve.modifiers.remove(modifier)
            replace_keys(curve, np.array(frames, np.float32), np.array(shown, np.float32))


def write_stretch(
    obj: bpy.types.Object, robot: Binding, frames: Sequence[int], Q: Array, before: Array | None, span: tuple[int, int]
) -> None:
    """Keys for Q (n, nq) at frames in a row. At all other frames of the span (first, last) the curves show what they
    did; keys between which they were no straight lines become a key a frame where the stretch meets them.
    before: (nq,) what is shown before it."""
    bag = ensure_channelbag(obj)
    existing = {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}
    own = zip(curves(obj, Q, before, robot), robot.written_channels, strict=True)
    for (path, index, values, group), channel in own:
        curve = existing.get(channel_key(channel))
        if curve is None or not curve.keyframe_points:
            present = np.float32(obj.path_resolve(path)[index])
            if (values == present).all():
                continue
            if curve is None:
                curve = bag.fcurves.new(path, index=index)
                curve.group = bag.groups.get(group) or bag.groups.new(group)
            replace_keys(curve, np.array(frames[:1], np.float32), np.full(1, present))
        _put_in(curve, list(frames), values, span)


def _put_in(curve: bpy.types.FCurve, frames: list[int], values: Array, span: tuple[int, int]) -> None:
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
    else:  # it holds its first and last key, also where they are new ones
        left = left if before or frames[0] > span[0] else []
        right = right if after or frames[-1] < span[1] else []
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
