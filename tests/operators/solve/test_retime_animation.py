"""Retime: an animation goes the same way in new time, inside the limits."""

from __future__ import annotations

from itertools import pairwise

import bpy
import numpy as np
import pytest
from robokin_addon.operators.solve.retime import ROBOKIN_OT_retime
from robokin_addon.panels.overlays.timeline import tinted_frames
from robokin_addon.panels.shapes.colors import of_limit
from robokin_addon.properties.bridge import binding, read_configuration, robot_model
from robokin_addon.robokin import library_robot
from robokin_addon.robokin.backend import get_backend
from robokin_addon.robokin.structure.tool_links import tool_links
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.animation.frames import channelbag
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers import check_motion
from robokin_addon.solvers.motion.dynamics import motion_efforts
from robokin_addon.solvers.motion.motion import Motion
from robokin_addon.solvers.progress import finish
from robokin_addon.solvers.trajectories.motion_limits import MotionLimits
from support.blender.panels import draw
from support.blender.scene_bakes import snapshot
from support.blender.scene_robots import build
from support.blender.windows import called, window

LAST = 40


@pytest.fixture
def animated(scene, robot):
    """Waves of the seven joints over frames 1 .. 40: it is fast for its limits where it begins, slow elsewhere."""
    q = np.tile(read_configuration(robot), (LAST, 1))
    t = np.linspace(0.0, 1.0, LAST)[:, None]
    q[:, :7] += 0.4 * np.sin(np.arange(1, 8) * 0.8 * t)
    write_curves(robot, range(1, LAST + 1), q, False, binding(robot))
    return robot


def limited(robot) -> None:
    """The accelerations that are usual are limits."""
    model = robot_model(robot)
    for joint, own in zip(model.moving_joints, MotionLimits.of(model).acceleration, strict=True):
        bone = robot.data.bones[joint.name].robokin
        bone.use_acceleration, bone.acceleration = True, own


def seen(robot, last):
    return finish(sample_motion(bpy.context.scene, robot, range(1, last + 1), binding(robot)))


def keeps_limits(motion) -> bool:
    """Velocities and accelerations from frame to frame, with what keys in single precision take from them."""
    bound, rounding = MotionLimits.of(motion.model), 1e-6 / motion.times[1]
    fast = (abs(motion.v) > bound.velocity + rounding).any()
    return not fast and not (abs(motion.a) > bound.acceleration + 4.0 * rounding / motion.times[1]).any()


def off_the_way(before: Motion, after: Motion) -> float:
    """[rad] the farthest of the samples from the way of the other motion."""
    dense = before.resample(5000.0).q
    return max(abs(dense - q).max(axis=1).min() for q in after.q)


def test_the_fastest_keeps_way_and_limits_and_rests_to_the_end_of_the_range(animated, capfd):
    before = seen(animated, LAST)
    assert not keeps_limits(before)  # it starts at speed
    assert called(bpy.ops.robokin.retime, animated) == {"FINISHED"}
    after = seen(animated, LAST)
    moving = np.flatnonzero(abs(after.v).max(axis=1) > 1e-5)
    end = int(moving[-1]) + 1
    assert 5 < end < LAST - 5
    assert keeps_limits(after) and off_the_way(before, after) < 1e-3
    np.testing.assert_allclose(after.q[[0, -1]], before.q[[0, -1]], atol=1e-6)
    said = capfd.readouterr().out
    assert f"frames 1 to {end}: " in said and "before 1.625 s" in said and "playback" not in said
    assert "acceleration of panda_joint7" in said and "no limit on acceleration" in said


def test_as_animated_is_nowhere_faster_and_goes_on_after_the_range(scene, animated, capfd):
    limited(animated)
    scene.frame_end, before = LAST, seen(animated, LAST)
    animated.robokin.solver.retime_mode = "AS_ANIMATED"
    assert called(bpy.ops.robokin.retime, animated) == {"FINISHED"}
    assert f"playback ends before, at frame {LAST}" in capfd.readouterr().out
    after = seen(animated, LAST + 5)
    assert keeps_limits(after) and off_the_way(before, after) < 1e-3
    assert (abs(after.v).max(axis=0) <= abs(before.v).max(axis=0) * (1.0 + 1e-3) + 1e-5).all()
    assert abs(after.q[LAST - 1] - before.q[-1]).max() > 1e-3 > abs(after.q[-1] - before.q[-1]).max()


def test_as_animated_keeps_the_time_of_what_breaks_no_limit(animated, capfd):
    before = seen(animated, LAST)
    assert check_motion(before).ok and not keeps_limits(before)  # which are usual, but not the robot's
    assert called(bpy.ops.robokin.retime, animated, mode="AS_ANIMATED") == {"FINISHED"}
    said = capfd.readouterr().out
    assert f"frames 1 to {LAST}: 1.625 s, before 1.625 s" in said and "usual ones, or what the animation has," in said
    after = seen(animated, LAST)
    assert check_motion(after).ok and off_the_way(before, after) < 1e-3


def test_jerk_tool_speed_and_power_are_limited_and_what_binds_is_shown(animated):
    settings = animated.robokin.solver
    settings.retime_jerk, settings.retime_tool_speed = True, 0.2
    assert called(bpy.ops.robokin.retime, animated, power=8.0) == {"FINISHED"}
    after = seen(animated, 3 * LAST)
    bound, step = MotionLimits.of(after.model), after.times[1]
    jerks = np.diff(after.a, axis=0) / step
    assert (abs(jerks) <= bound.jerk + 8e-6 / step**3).all() and keeps_limits(after)
    tool = after.model.link_index(tool_links(after.model)[0])
    tips = get_backend("auto").frame_placements(after.model.tree, after.q)[:, tool, :3, 3]
    assert np.linalg.norm(np.diff(tips, axis=0), axis=1).max() / step <= 0.2 * (1.0 + 1e-3)
    rows = list(settings.retime_limits)
    assert "tool speed" in {row.status for row in rows} and rows[0].first == 1
    joints, tools = {joint.name for joint in after.model.moving_joints}, set(tool_links(after.model))
    assert all(row.reason in (tools if row.status.startswith("tool") else joints) for row in rows)
    assert all(a.last + 1 == b.first for a, b in pairwise(rows))
    drawn = draw(object=animated)["ROBOKIN_PT_check"]
    assert "robokin.failure_show" in drawn["operators"]
    assert tinted_frames(animated) == [(row.first, row.last, of_limit(row.status), 1.0) for row in rows]
    assert len({of_limit(row.status) for row in rows}) > 1
    assert called(bpy.ops.robokin.failure_show, animated, of="RETIME", index=1) == {"FINISHED"}
    assert bpy.context.scene.frame_current == rows[1].first


@pytest.mark.slow
def test_drives_and_accelerations_of_tools_are_limited_and_lengths_are_those_of_the_scene(animated):
    settings = animated.robokin.solver
    drive = animated.data.bones["panda_joint2"].robokin
    effort, drive.effort = drive.effort, 1.0
    assert "'panda_joint2' cannot keep its limit on effort" in called(bpy.ops.robokin.retime, animated, efforts=True)
    drive.effort = effort
    assert called(bpy.ops.robokin.retime, animated, power=3.0) == {"FINISHED"}
    assert "power" in {row.status for row in settings.retime_limits}
    after = seen(animated, 4 * LAST)
    watts = motion_efforts(after, np.array([0.0, 0.0, -9.81])) * after.v
    assert 2.0 < abs(watts).max() < 3.3  # by differences of frames
    animated.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    given = {"frame_start": 1, "frame_end": 4 * LAST, "tool_speed": 0.4, "tool_acceleration": 0.8}
    assert called(bpy.ops.robokin.retime, animated, **given) == {"FINISHED"}
    assert {"tool speed", "tool acceleration"} <= {row.status for row in settings.retime_limits}
    after = seen(animated, 4 * LAST)
    tool = after.model.link_index(tool_links(after.model)[0])
    tips = 2.0 * get_backend("auto").frame_placements(after.model.tree, after.q)[:, tool, :3, 3]
    for order, most in ((1, 0.4), (2, 0.8)):
        rates = np.linalg.norm(np.diff(tips, order, axis=0), axis=1) / after.times[1] ** order
        assert 0.9 * most < rates.max() <= most * (1.0 + 1e-2)


def test_a_duration_is_kept_or_refused(animated):
    before = snapshot(bpy.context.scene, animated)
    assert "takes at least" in called(bpy.ops.robokin.retime, animated, mode="DURATION", duration=0.1)
    assert snapshot(bpy.context.scene, animated) == before
    assert called(bpy.ops.robokin.retime, animated, mode="DURATION", duration=3.0) == {"FINISHED"}
    after = seen(animated, 80)  # 3 s are 72 frames of 1/24 s
    moved = abs(after.q[-1] - after.q).max(axis=1)
    assert keeps_limits(after) and moved[71] > 1e-6 > moved[72]


def test_what_cannot_be_retimed_is_refused_and_stays(scene, animated):
    def refused() -> str:
        before = snapshot(scene, animated)
        said = called(bpy.ops.robokin.retime, animated, mode="AS_ANIMATED", frame_start=1, frame_end=LAST)
        assert snapshot(scene, animated) == before
        return said

    limited(animated)
    q = read_configuration(animated)
    write_curves(animated, [LAST + 1], q[None], False, binding(animated))
    assert "over the keys from frame 41 on" in refused()
    still = np.tile(q, (LAST, 1))
    write_curves(animated, range(1, LAST + 1), still, False, binding(animated))
    assert "stands still in frames 1 to 40" in refused()
    still[6, 3] = robot_model(animated).lower[3] - 0.5
    write_curves(animated, range(1, LAST + 1), still, False, binding(animated))
    fourth = channelbag(animated).fcurves.find('pose.bones["panda_joint4"].rotation_euler', index=1)
    fourth.keyframe_points[6].co.y *= 2.0
    assert "frame 7: 'panda_joint4' is outside its position limits" in refused()


def test_wheels_that_rolled_roll(scene):
    robot = build(library_robot("mobile_arm"))
    model = robot_model(robot)
    base = model.rolling_bases[0]
    q = np.tile(model.limits.middle(model.neutral()), (LAST, 1))
    for row in range(1, LAST):
        turned = 0.1 + 0.05 * np.sin(0.1 * row + np.arange(2))
        q[row, list(base.wheel_q)] = q[row - 1, list(base.wheel_q)] + turned
        q[row, base.q : base.q + 3] = base.roll(q[row - 1, base.q : base.q + 3], turned)
    write_curves(robot, range(1, LAST + 1), q, False, binding(robot))
    assert called(bpy.ops.robokin.retime, robot, frame_start=1, frame_end=LAST) == {"FINISHED"}
    after = seen(robot, 2 * LAST)
    assert not check_motion(after, float32=True).violations
    np.testing.assert_allclose(after.q[-1], q[-1], atol=1e-4)


def test_from_the_window_it_goes_in_slices_until_esc(scene, animated, monkeypatch):
    before = snapshot(scene, animated)
    with window(monkeypatch, ROBOKIN_OT_retime, "", "ESC") as seen_window:
        assert called(bpy.ops.robokin.retime, animated) == {"CANCELLED"}
    assert seen_window.slices == 2 and snapshot(scene, animated) == before
    with window(monkeypatch, ROBOKIN_OT_retime) as seen_window:
        assert called(bpy.ops.robokin.retime, animated) == {"FINISHED"}
    assert seen_window.shares == sorted(seen_window.shares) and snapshot(scene, animated) != before


@pytest.mark.parametrize("options", [{}, {"jerk": True}, {"mode": "AS_ANIMATED"}], ids=lambda own: next(iter(own), ""))
def test_esc_stops_it_amid_its_timing(scene, animated, monkeypatch, options):
    before = snapshot(scene, animated)
    with window(monkeypatch, ROBOKIN_OT_retime, *[""] * 8, "ESC") as stopped:
        assert called(bpy.ops.robokin.retime, animated, **options) == {"CANCELLED"}
    assert 20.0 < stopped.shares[-1] < 95.0 and snapshot(scene, animated) == before
    with window(monkeypatch, ROBOKIN_OT_retime) as whole:
        assert called(bpy.ops.robokin.retime, animated, **options) == {"FINISHED"}
    assert whole.shares == sorted(whole.shares)


def test_one_undo_step_takes_it_all_back(scene, animated):
    name, before = animated.name, snapshot(scene, animated)[1]
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = animated
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.robokin.retime("EXEC_DEFAULT", True)
    assert snapshot(scene, animated)[1] != before
    bpy.ops.ed.undo()
    assert snapshot(bpy.context.scene, bpy.data.objects[name])[1] == before
