"""Limits with keys: Check compares each frame with its own, all that is written keeps the narrowest of its frames; what
is keyed keeps a ball's limit on speed between keys too."""

from __future__ import annotations

import json
from collections.abc import Callable

import bpy
import numpy as np
import pytest
from robokin_addon.cli import main
from robokin_addon.properties.bridge import binding, robot_model
from robokin_addon.properties.frame_rate import frame_seconds
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics
from robokin_addon.robokin.spatial import quaternion
from robokin_addon.scene import keyed_numbers
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.scene.bake.smooth import smooth_steps
from robokin_addon.scene.slower_targets import requested_times
from robokin_addon.solvers.motion.files import read_motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_target, build
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


def test_a_bake_keeps_the_narrowest_and_says_so(arm, capfd):
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
    assert "limits are animated: the narrowest of these frames are kept" in capfd.readouterr().out


def turn(arm, speeds) -> None:
    """The first joint turns at speeds [rad/s] from frame to frame."""
    q = np.zeros((LAST, 3))
    q[1:, 0] = np.cumsum(np.broadcast_to(speeds, LAST - 1)) * frame_seconds(bpy.context.scene)
    write_curves(arm, range(1, LAST + 1), q, False, binding(arm))


def fastest_turn(arm, last: int = LAST) -> float:
    """[rad/s] of the first joint."""
    return abs(finish(sample_motion(bpy.context.scene, arm, range(1, last + 1), binding(arm))).v[:, 0]).max()


@pytest.mark.parametrize("tool", ["smooth", "retime"])
def test_smooth_and_retime_keep_the_narrowest(arm, tool):
    turn(arm, SPEED)
    bpy.context.scene.frame_set(1)
    assert called(getattr(bpy.ops.robokin, tool), arm) == {"FINISHED"}
    assert 0.45 < fastest_turn(arm) <= 0.5 + 1e-5


def narrow_later(arm, frame: int) -> None:
    """From a frame on the first joint may turn at 0.25 rad/s."""
    (curve,) = fcurves(arm.data).values()
    curve.keyframe_points.insert(frame, 0.25).interpolation = "CONSTANT"


def test_retime_keeps_limits_of_frames_that_it_adds(arm):
    turn(arm, 2.0 * SPEED)
    narrow_later(arm, LAST + 4)
    assert called(bpy.ops.robokin.retime, arm) == {"FINISHED"}
    last = int(fcurves(arm)['pose.bones["j0"].rotation_euler', 1].range()[1])
    assert last > LAST + 4 and 0.2 < fastest_turn(arm, last) <= 0.25 + 1e-5


def test_limits_that_get_narrower_without_end_are_an_error(arm, monkeypatch):
    monkeypatch.setattr(keyed_numbers, "MOST_FRAMES", 300)
    arm.data.animation_data_clear()
    arm.data.driver_add('bones["j0"].robokin.velocity').driver.expression = "5 / frame"
    turn(arm, SPEED)
    before = fastest_turn(arm)
    assert "limits are animated, and get narrower" in called(bpy.ops.robokin.retime, arm)
    assert fastest_turn(arm) == before


def test_moves_keep_the_narrowest_of_the_frames_that_they_take(arm):
    turn(arm, SPEED)
    bpy.context.scene.frame_set(LAST)
    called(bpy.ops.robokin.move_add, arm, kind="JOINT")
    bpy.context.scene.frame_set(1)
    for last, speed in ((LAST + 30, 0.5), (LAST + 1, 0.25)):  # at 0.5 rad/s it takes 37 frames
        narrow_later(arm, last)
        assert called(bpy.ops.robokin.bake_moves, arm) == {"FINISHED"}
        assert 0.9 * speed < fastest_turn(arm, arm.robokin.moves[0].last) <= speed + 1e-5


@pytest.mark.parametrize("speed", [0.5, 0.25])
def test_the_command_line_keeps_the_narrowest_of_the_frames(arm, tmp_path, speed):
    """Those of the range, and of those that a motion takes more."""
    turn(arm, 2.0 * SPEED)
    if speed < 0.5:
        narrow_later(arm, LAST + 4)
    bpy.context.scene.frame_set(1)
    scene, made, moves = tmp_path / "arm.blend", tmp_path / "made.csv", tmp_path / "moves.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    moves.write_text(json.dumps({"moves": [{"name": "to", "joints": {"j0": 2.0}}]}))
    model = robot_model(arm)
    for command in (["retime", str(scene)], ["move", str(scene), "--moves", str(moves)]):
        assert main([*command, "-o", str(made), "--json", str(tmp_path / "report.json")]) == 0
        assert 0.8 * speed < abs(read_motion(made, model).v[:, 0]).max() <= speed + 1e-5


def test_targets_are_slowed_down_for_limits_of_the_frames_that_they_take_then(arm):
    target, times = add_target(arm, "j2", "POSITION"), []
    for frame, q in ((1, [0.2, 0.5, 0.5]), (LAST, [1.7, 0.5, 0.5])):
        target.location = forward_kinematics(robot_model(arm), np.array(q))["l2"][:3, 3]
        target.keyframe_insert("location", frame=frame)
    for shown in (1, LAST):
        bpy.context.scene.frame_set(shown)
        given = bpy.context.scene, bpy.context.view_layer, arm, binding(arm), range(1, LAST + 1), None
        times.append(finish(requested_times(*given)))
    narrow_later(arm, LAST + 5)
    times.append(finish(requested_times(*given)))
    assert times[0] > 1.5 and times == pytest.approx([times[0], times[0], 2.0 * times[0]], rel=1e-4)


def test_smooth_counts_samples_by_the_limits_of_each(arm):
    turn(arm, np.where(np.arange(LAST - 1) < 9, 0.9, 0.4))
    steps = smooth_steps(bpy.context.scene, arm, range(1, LAST + 1), 0.0)
    assert finish(steps).before == 0


@pytest.mark.parametrize("shown", [1, LAST])
@pytest.mark.parametrize("tool", ["smooth", "retime", "reduce_keys"])
def test_a_motion_that_is_legal_outside_the_narrowest_range_stays(scene, tool, shown):
    scene.frame_start, scene.frame_end = 1, LAST
    obj = build(planar_arm(3))
    obj.robokin.live = False
    for frame, limit in ((1, 0.3), (2, 2.0)):
        obj.data.bones["j0"].robokin.upper = limit
        obj.data.keyframe_insert('bones["j0"].robokin.upper', frame=frame)
    q = np.zeros((LAST, 3))
    q[:, 0] = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, LAST))
    write_curves(obj, range(1, LAST + 1), q, False, binding(obj))
    scene.frame_set(shown)
    assert called(getattr(bpy.ops.robokin, tool), obj) == {"FINISHED"}
    motion = finish(sample_motion(scene, obj, range(1, LAST + 1), binding(obj)))
    assert motion.q[:, 0].max() > 0.95
    keys = len(fcurves(obj)['pose.bones["j0"].rotation_euler', 1].keyframe_points)
    assert keys < LAST if tool == "reduce_keys" else keys >= LAST


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
