"""What a transform that is cancelled must put back: the keys that the robot's channels had at the frame, and what the
panel said."""

from __future__ import annotations

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.results.stored_results import ShownResult
from ...robokin.arrays import Array
from ...scene.animation import frames as animation
from ...scene.animation.curves import key_frames, own_keys

_PLACES = ("co", "handle_left", "handle_right")
_NEAR = 1e-3  # frames: a key nearer than this is at the frame


class Drag:
    """Made while a transform runs, before anything is keyed."""

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene, robot: Binding) -> None:
        self._frame = scene.frame_current_final
        self._operators = _operators()
        data = obj.animation_data
        self._had_data = data is not None
        self._had_action = data is not None and data.action is not None
        found = animation.fcurves(obj)
        self._points = {key: _points(found[key]) if key in found else None for key in own_keys(robot)}
        self._result, self._memory = ShownResult(obj), obj.robokin.live_memory

    def is_confirmed(self) -> bool:
        """After the transform: only what was not cancelled is among the operators that can be repeated."""
        return _operators() != self._operators

    def put_back(self, obj: bpy.types.Object) -> None:
        self._result.show(obj)
        obj.robokin.live_memory = self._memory
        data = obj.animation_data
        if data is None or data.action is None:
            return
        if not self._had_action:
            action, data.action = data.action, None
            if not action.users:
                bpy.data.actions.remove(action)
            if not self._had_data:
                obj.animation_data_clear()
            return
        bag = animation.channelbag(obj)
        for key, curve in animation.fcurves(obj).items():
            if key not in self._points:
                continue
            before = self._points[key]
            if before is None:
                bag.fcurves.remove(curve)
                continue
            if all(map(np.array_equal, _points(curve), before)):
                continue
            if 2 * len(curve.keyframe_points) > len(before[0]) and (point := _key_at(curve, self._frame)) is not None:
                curve.keyframe_points.remove(point, fast=True)
            if 2 * len(curve.keyframe_points) == len(before[0]):
                for name, values in zip(_PLACES, before, strict=True):
                    curve.keyframe_points.foreach_set(name, values)
            curve.update()


def _operators() -> int:
    """The last one of those that were run."""
    operators = bpy.context.window_manager.operators
    return operators[-1].as_pointer() if len(operators) else 0


def _key_at(curve: bpy.types.FCurve, frame: float) -> bpy.types.Keyframe | None:
    near = np.flatnonzero(abs(key_frames(curve) - frame) < _NEAR)
    return curve.keyframe_points[int(near[0])] if len(near) else None


def _points(curve: bpy.types.FCurve) -> list[Array]:
    """(2 keys,) of each of `_PLACES`. A key that is inserted also moves the handles of those beside it."""
    found = [np.empty(2 * len(curve.keyframe_points), np.float32) for _ in _PLACES]
    for name, values in zip(_PLACES, found, strict=True):
        curve.keyframe_points.foreach_get(name, values)
    return found
