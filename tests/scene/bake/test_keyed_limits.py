"""Limits with keys: Check compares each frame with its own, Bake keeps the narrowest of its frames; what is keyed keeps
a ball's limit on speed between keys too."""

from __future__ import annotations

import json
from collections.abc import Callable

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, robot_model
from robokin_addon.properties.frame_rate import frame_seconds
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics
from robokin_addon.robokin.spatial import quaternion
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import build
from support.blender.windows import called
from support.problems.obstructed import planar_arm

LAST, SPEED = 20, 0.8
BALL_LAST, BALL_SPEED, PARTS = 40, 14.0, 16


@pytest.fixture
def arm(scene):
    """Its first joint may turn at 1 rad/s, from frame 11 on at half of that."""
    scene.frame_start, scene.frame_end = 1, LAST
    obj = build(planar_arm(3))
    obj.robokin.live = False
    joint = obj.data.bones["j0"].robokin
    for frame, limit in ((1, 1.0), (11, 0.5)):
        joint.velocity = limit
        obj.data.keyframe_insert('bones["j0"].robokin.velocity', frame=frame)
    action = obj.data.animation_data.action
    for key in action.layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points:
        key.interpolation = "CONSTANT"
    scene.frame_set(1)
    assert robot_model(obj).velocity[0] == pytest.approx(1.0)
    return obj


def test_check_compares_each_frame_with_its_own_limits(arm, tmp_path):
    frames, path = range(1, LAST + 1), tmp_path / "check.json"
    q = np.zeros((LAST, 3))
    q[:, 0] = SPEED * frame_seconds(bpy.context.scene) * np.arange(LAST)
    write_curves(arm, frames, q, False, binding(arm))
    for present in (1, LAST):
        bpy.context.scene.frame_set(present)
        assert called(bpy.ops.robokin.check, arm, report_path=str(path)) == {"FINISHED"}
        found = [v for v in json.loads(path.read_text())["violations"] if v["kind"] == "velocity"]
        assert sorted(v["frame"] for v in found) == [*range(11, LAST + 1)]


def test_a_bake_keeps_the_narrowest_and_says_so(arm):
    start = forward_kinematics(robot_model(arm), np.array([0.2, 0.5, 0.5]))["l2"][:3, 3]
    bpy.ops.object.empty_add(location=start.tolist())
    target = bpy.context.object
    task = arm.robokin.tasks.add()
    task.name, task.kind, task.tip, task.target = "hand", "POSITION", "j2", target
    target.keyframe_insert("location", frame=1)
    target.location = forward_kinematics(robot_model(arm), np.array([0.5, 0.5, 0.5]))["l2"][:3, 3]
    target.keyframe_insert("location", frame=LAST)
    assert called(bpy.ops.robokin.bake, arm) == {"FINISHED"}
    motion = finish(sample_motion(bpy.context.scene, arm, range(1, LAST + 1), binding(arm)))
    assert abs(motion.v[:, 0]).max() <= 0.5 + 1e-5
    assert arm.robokin.solver.bake_status == "LIMIT" or "narrowest" in arm.robokin.solver.bake_reason


def test_smooth_keeps_the_narrowest(arm):
    q = np.zeros((LAST, 3))
    q[:, 0] = SPEED * frame_seconds(bpy.context.scene) * np.arange(LAST)
    write_curves(arm, range(1, LAST + 1), q, False, binding(arm))
    assert called(bpy.ops.robokin.smooth, arm) == {"FINISHED"}
    motion = finish(sample_motion(bpy.context.scene, arm, range(1, LAST + 1), binding(arm)))
    assert 0.45 < abs(motion.v[:, 0]).max() <= 0.5 + 1e-5


def test_retime_keeps_the_narrowest(arm):
    q = np.zeros((LAST, 3))
    q[:, 0] = SPEED * frame_seconds(bpy.context.scene) * np.arange(LAST)
    write_curves(arm, range(1, LAST + 1), q, False, binding(arm))
    bpy.context.scene.frame_set(1)
    assert called(bpy.ops.robokin.retime, arm) == {"FINISHED"}
    motion = finish(sample_motion(bpy.context.scene, arm, range(1, LAST + 1), binding(arm)))
    assert 0.45 < abs(motion.v[:, 0]).max() <= 0.5 + 1e-5


@pytest.mark.parametrize("tool", ["smooth", "retime"])
def test_a_motion_that_is_legal_outside_the_narrowest_range_stays(scene, tool):
    scene.frame_start, scene.frame_end = 1, LAST
    obj = build(planar_arm(3))
    obj.robokin.live = False
    for frame, limit in ((1, 0.3), (2, 2.0)):
        obj.data.bones["j0"].robokin.upper = limit
        obj.data.keyframe_insert('bones["j0"].robokin.upper', frame=frame)
    q = np.zeros((LAST, 3))
    q[:, 0] = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, LAST))
    write_curves(obj, range(1, LAST + 1), q, False, binding(obj))
    scene.frame_set(LAST)
    assert called(getattr(bpy.ops.robokin, tool), obj) == {"FINISHED"}
    motion = finish(sample_motion(scene, obj, range(1, LAST + 1), binding(obj)))
    assert motion.q[:, 0].max() > 0.95


@pytest.fixture
def ball(scene) -> bpy.types.Object:
    """A ball that turns about its diagonal, in the middle faster than it may."""
    scene.frame_start, scene.frame_end = 1, BALL_LAST
    joint = Joint("j", "spherical", "base", "l", velocity=BALL_SPEED, acceleration=3000.0)
    obj = build(RobotModel("r", [Link("base"), Link("l", 1.0, inertia=np.eye(3))], [joint]))
    obj.robokin.live = False
    pace = np.where(abs(np.arange(BALL_LAST) - 20) < 6, 1.4, 0.9) * BALL_SPEED / scene.render.fps
    turns = np.cumsum(pace)[:, None] * np.ones(3)
    write_curves(obj, range(1, BALL_LAST + 1), quaternion.exp(turns), False, binding(obj))
    return obj


def fastest(obj: bpy.types.Object, last: int = BALL_LAST) -> np.ndarray:
    """(3,) [rad/s] by differences of a sixteenth of a frame of the curves as Blender shows them."""
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
    assert fastest(ball).max() > 1.1 * BALL_SPEED
    assert remedy(ball) == {"FINISHED"}
    last = ball.robokin.moves[-1].last if ball.robokin.moves else BALL_LAST
    assert 0.95 * BALL_SPEED < fastest(ball, last).max() <= BALL_SPEED * (1.0 + 1e-5)
