"""The quaternions that a repair, new timing and a program write keep a ball's limit on speed between keys too."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding
from robokin_addon.robokin import Joint, Link, RobotModel
from robokin_addon.robokin.spatial import quaternion
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.animation.frames import fcurves
from support.blender.scene_robots import build
from support.blender.windows import called

LAST, SPEED, PARTS = 40, 14.0, 16


@pytest.fixture
def ball(scene) -> bpy.types.Object:
    """A ball that turns about its diagonal, in the middle faster than it may."""
    scene.frame_start, scene.frame_end = 1, LAST
    joint = Joint("j", "spherical", "base", "l", velocity=SPEED, acceleration=3000.0)
    obj = build(RobotModel("r", [Link("base"), Link("l", 1.0, inertia=np.eye(3))], [joint]))
    obj.robokin.live = False
    pace = np.where(abs(np.arange(LAST) - 20) < 6, 1.4, 0.9) * SPEED / scene.render.fps
    turns = np.cumsum(pace)[:, None] * np.ones(3)
    write_curves(obj, range(1, LAST + 1), quaternion.exp(turns), False, binding(obj))
    return obj


def fastest(obj: bpy.types.Object, last: int = LAST) -> np.ndarray:
    """(3,) [rad/s] by differences of a sixteenth of a frame, to the frame `last`, of the curves as Blender shows them."""
    curves = [curve for (path, _), curve in sorted(fcurves(obj).items()) if path.endswith("rotation_quaternion")]
    steps = np.arange(PARTS * (last - 1) + 1) / PARTS + 1.0
    q = quaternion.normalize(np.array([[curve.evaluate(frame) for curve in curves] for frame in steps]))
    turned = quaternion.log(quaternion.multiply(quaternion.conjugate(q[:-1]), q[1:]))
    return abs(turned).max(axis=0) * PARTS * bpy.context.scene.render.fps


def program(obj: bpy.types.Object) -> set[str]:
    for frame in (8, 20, 5):
        bpy.context.scene.frame_set(frame)
        called(bpy.ops.robokin.move_add, obj, kind="JOINT")
    bpy.context.scene.frame_set(1)
    return called(bpy.ops.robokin.bake_moves, obj)


@pytest.mark.parametrize(
    "remedy",
    [lambda obj: called(bpy.ops.robokin.smooth, obj), lambda obj: called(bpy.ops.robokin.retime, obj), program],
    ids=["smooth", "retime", "program"],
)
def test_no_ball_is_too_fast_between_keys(ball, remedy: Callable[[bpy.types.Object], set[str]]) -> None:
    assert fastest(ball).max() > 1.1 * SPEED
    assert remedy(ball) == {"FINISHED"}
    last = ball.robokin.moves[-1].last if ball.robokin.moves else LAST
    assert 0.95 * SPEED < fastest(ball, last).max() <= SPEED * (1.0 + 1e-5)
