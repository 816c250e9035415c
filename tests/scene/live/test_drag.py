"""What a cancelled transform leaves of the keys that a robot had."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.live.drag import Drag
from support.blender.scene_robots import build
from support.problems.obstructed import planar_arm

FRAME = 5


@pytest.fixture
def arm(scene):
    """Its first two joints have keys, the first one at the frame of the drag, too."""
    obj = build(planar_arm(3))
    obj.robokin.live = False
    for bone, frames in (("j0", (1, FRAME, 9)), ("j1", (1, 9))):
        for frame in frames:
            key(obj, bone, 0.1 * frame, frame)
    scene.frame_set(FRAME)
    return obj


def key(obj: bpy.types.Object, bone: str, value: float, frame: int) -> None:
    channel = next(each for each in binding(obj).own_channels if each.bone == bone)
    getattr(obj.pose.bones[bone], channel.path)[channel.index] = value
    obj.pose.bones[bone].keyframe_insert(channel.path, index=channel.index, frame=frame)


def keys(obj: bpy.types.Object) -> dict[object, np.ndarray]:
    """(keys, 3, 2) places of each curve's keys and of their handles."""
    return {
        name: np.array([[point.handle_left, point.co, point.handle_right] for point in curve.keyframe_points])
        for name, curve in animation.fcurves(obj).items()
    }


def drag(obj: bpy.types.Object) -> None:
    """Auto-keys all three joints, and is cancelled."""
    before = Drag(obj, bpy.context.scene, binding(obj))
    for bone in ("j0", "j1", "j2"):
        key(obj, bone, 0.9, FRAME)
    assert not before.is_confirmed()
    before.put_back(obj)


@pytest.mark.parametrize("handles", ["AUTO_CLAMPED", "FREE", "ALIGNED"])
def test_keys_and_their_handles_are_as_they_were(arm, handles: str) -> None:
    for curve in animation.fcurves(arm).values():
        for point in curve.keyframe_points:
            point.handle_left_type = point.handle_right_type = handles
        curve.update()
    before = keys(arm)
    drag(arm)
    assert keys(arm).keys() == before.keys()
    for name, own in keys(arm).items():
        np.testing.assert_allclose(own, before[name], atol=1e-6)


def test_an_action_that_was_not_there_is_gone(scene) -> None:
    obj = build(planar_arm(3))
    obj.robokin.live = False
    drag(obj)
    assert obj.animation_data is None and not bpy.data.actions
