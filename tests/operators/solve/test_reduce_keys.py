"""Reduce Keys: the curves as they are written keep the bound, in Blender's own evaluation."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from robokin_addon.cli.main import main
from robokin_addon.operators.solve.reduce_keys import ROBOKIN_OT_reduce_keys
from robokin_addon.properties.bridge import binding, read_configuration, robot_model
from robokin_addon.robokin import clamp, integrate, library_robot, random_configuration
from robokin_addon.robokin.structure.tool_links import end_links, tool_links
from robokin_addon.scene.animation import key_reduction as written_keys
from robokin_addon.scene.animation.curves import own_keys, write_curves
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers import check_motion
from robokin_addon.solvers.motion import key_reduction
from robokin_addon.solvers.motion.key_reduction import tool_errors
from robokin_addon.solvers.progress import finish
from support.blender.scene_bakes import snapshot
from support.blender.scene_robots import TOOL, build
from support.blender.windows import called, window
from support.random_problems.random_trees import random_robot

LAST = 40


@pytest.fixture
def animated(scene, robot):
    q = np.tile(read_configuration(robot), (LAST, 1))
    q[:, :7] += 0.2 * (1.0 - np.cos(np.arange(1, 8) * 0.5 * np.linspace(0.0, 2.0, LAST)[:, None]))
    model = robot_model(robot)
    write_curves(robot, range(1, LAST + 1), np.clip(q, model.lower, model.upper), False, binding(robot))
    return robot


def seen(robot):
    return finish(
        sample_motion(bpy.context.scene, robot, (1.0 + 0.25 * np.arange(4 * LAST - 3)).tolist(), binding(robot))
    )


def keyed(robot):
    return max(len(fcurves(robot)[key].keyframe_points) for key in own_keys(binding(robot)))


def test_the_written_curves_keep_the_bound(animated, capfd, tmp_path):
    before = seen(animated)
    report = tmp_path / "report.json"
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    assert called(bpy.ops.robokin.reduce_keys, animated, position=0.5e-3, report_path=str(report)) == {"FINISHED"}
    after, told = seen(animated), json.loads(report.read_text("utf-8"))
    away, turned = tool_errors(before.model, [binding(animated).link_of_bone[TOOL]], after.q, before.q)
    assert away.max() <= 0.5e-3 and turned.max() <= np.radians(0.5)
    assert told["position"] <= 0.5e-3 and told["broken_after"] == 0
    assert told["keys_before"] == LAST and keyed(animated) == told["keys_after"] < LAST // 3
    assert f"keys in {told['keys_after']} frames, before in {LAST}" in (said := capfd.readouterr().out)
    assert " cm and " in said and "mm" not in said


@pytest.mark.parametrize("name", ["panda", "puppet", "puma560", "humanoid"])
@pytest.mark.parametrize("bound", [0.2e-3, 3e-3])
def test_what_is_reported_is_never_too_low(scene, tmp_path, name, bound):
    """At 32nds of a frame no tool is farther off than is said, and little less."""
    robot, last = build(library_robot(name)), 12
    robot.robokin.live = False
    model, rng = robot_model(robot), np.random.default_rng(5)
    swing = np.sin(np.linspace(0.0, rng.uniform(2.0, 4.0, model.nv), last) + rng.uniform(0.0, 6.0, model.nv))
    q = [clamp(model, integrate(model, model.limits.middle(model.neutral()), each)) for each in 0.3 * swing]
    write_curves(robot, range(1, last + 1), q, False, binding(robot))
    parts = (1.0 + np.arange(32 * (last - 1) + 1) / 32.0).tolist()
    before = finish(sample_motion(bpy.context.scene, robot, parts, binding(robot)))
    report = tmp_path / "r.json"
    given = {"position": bound, "rotation": 10.0 * bound, "frame_start": 1, "frame_end": last}
    assert called(bpy.ops.robokin.reduce_keys, robot, report_path=str(report), **given) == {"FINISHED"}
    after, told = finish(sample_motion(bpy.context.scene, robot, parts, binding(robot))), json.loads(report.read_text())
    for off, said in zip(
        tool_errors(model, end_links(model), after.q, before.q), (told["position"], told["rotation"]), strict=True
    ):
        assert off.max() <= said * (1.0 + 1e-6) + 1e-9 and said <= 1.03 * off.max() + 1e-6


@pytest.mark.parametrize("name", ["panda", "puma560", "humanoid"])
@pytest.mark.parametrize("seed", range(3))
def test_bezier_keys_that_somebody_set_are_kept_or_fewer(scene, tmp_path, name, seed):
    """Some next to each other, some far apart, at limits and with handles that lead over them between keys."""
    robot, frames = build(library_robot(name)), [1, 2, 4, 12, 13, 20, 31]
    robot.robokin.live = False
    model, rng = robot_model(robot), np.random.default_rng(seed)
    swing = 0.4 * np.sin(rng.uniform(0.02, 0.1, model.nv) * np.array(frames)[:, None] + rng.uniform(0, 6, model.nv))
    start = clamp(model, random_configuration(model, rng))
    write_curves(robot, frames, [clamp(model, integrate(model, start, x)) for x in swing], False, binding(robot))
    for key in own_keys(binding(robot)):
        curve = fcurves(robot)[key]
        for point in curve.keyframe_points:
            point.interpolation, point.handle_left_type, point.handle_right_type = "BEZIER", "AUTO", "AUTO"
        curve.update()
    report = tmp_path / "r.json"
    given = {"frame_start": 1, "frame_end": frames[-1], "report_path": str(report)}
    assert called(bpy.ops.robokin.reduce_keys, robot, **given) == {"FINISHED"}
    told = json.loads(report.read_text())
    assert told["keys_after"] <= len(frames) and told["broken_after"] <= told["broken_before"]


@pytest.mark.parametrize("seed", range(3))
def test_bezier_keys_of_balls_and_universal_joints_are_never_refused(scene, tmp_path, seed):
    """Some turn fast: then the keys that are there are the fewest, and stay."""
    model = random_robot(seed, 4, ("fixed", "floating", "planar")[seed], ("spherical", "universal", "revolute"))
    robot, frames, rng = build(model), [1, 4, 11, 16, 20], np.random.default_rng(seed)
    robot.robokin.live = False
    model = robot_model(robot)
    swings = (0.1 + 0.4 * seed) * rng.normal(size=(len(frames), model.nv))
    start = model.neutral()
    write_curves(robot, frames, [clamp(model, integrate(model, start, x)) for x in swings], False, binding(robot))
    for key in own_keys(binding(robot)):
        curve = fcurves(robot)[key]
        for point in curve.keyframe_points:
            point.interpolation, point.handle_left_type, point.handle_right_type = "BEZIER", "AUTO", "AUTO"
        curve.update()
    before, report = seen(robot), tmp_path / "r.json"
    given = {"frame_start": 1, "frame_end": frames[-1], "report_path": str(report)}
    assert called(bpy.ops.robokin.reduce_keys, robot, **given) == {"FINISHED"}
    told = json.loads(report.read_text())
    assert told["keys_after"] <= len(frames) and told["broken_after"] <= told["broken_before"]
    away, _ = tool_errors(model, end_links(model), seen(robot).q, before.q)
    assert away.max() <= told["position"] + 1e-6 <= 1.01e-3


@pytest.mark.parametrize("kind", ["CONSTANT", "ELASTIC"])
def test_what_jumps_within_a_frame_is_refused_with_the_bone(animated, kind):
    for key in own_keys(binding(animated)):
        points = fcurves(animated)[key].keyframe_points
        for point in list(points)[::-1]:
            if round(point.co.x) % 5 != 1:
                points.remove(point)
        for point in points:
            point.interpolation = kind
    before = seen(animated).q
    said = called(bpy.ops.robokin.reduce_keys, animated, frame_start=1, frame_end=LAST)
    assert "no keys at whole frames keep the bounds: bone 'panda_" in said and "choose Bezier" in said
    np.testing.assert_array_equal(seen(animated).q, before)


def test_keys_between_frames_are_looked_at(animated):
    """A swing between two of them is seen by no eighth of a frame."""
    curve = fcurves(animated)[next(iter(own_keys(binding(animated))))]
    for frame, more in ((4.03, 0.0), (4.06, 0.03), (4.09, 0.0)):
        curve.keyframe_points.insert(frame, curve.evaluate(4.0) + more)
    said = called(bpy.ops.robokin.reduce_keys, animated, position=1e-3, frame_start=1, frame_end=LAST)
    assert "bone 'panda_joint1' is off most, at frame 4.06, where it jumps or swings" in said


def test_the_bound_is_a_length_of_the_world(animated, tmp_path):
    """As all lengths of operators: of a robot that its object makes 10 times as large, a tenth of it is its own."""
    animated.scale = (10.0,) * 3
    report = tmp_path / "r.json"
    assert called(bpy.ops.robokin.reduce_keys, animated, position=2e-3, report_path=str(report)) == {"FINISHED"}
    assert 1e-5 < json.loads(report.read_text("utf-8"))["position"] <= 0.2e-3
    assert bpy.ops.robokin.reduce_keys.get_rna_type().properties["position"].unit == "LENGTH"


def test_without_a_bound_it_is_a_millimetre_of_the_robot(animated, tmp_path):
    animated.scale = (10.0,) * 3
    report = tmp_path / "r.json"
    assert called(bpy.ops.robokin.reduce_keys, animated, report_path=str(report)) == {"FINISHED"}
    assert 0.2e-3 < json.loads(report.read_text("utf-8"))["position"] <= 1e-3


def test_the_bound_on_the_angle_counts_where_the_other_is_wide(animated):
    before, found = seen(animated), robot_model(animated)
    given = {"position": 0.1, "frame_start": 1, "frame_end": LAST}
    assert called(bpy.ops.robokin.reduce_keys, animated, rotation=np.radians(0.1), **given) == {"FINISHED"}
    away, turned = tool_errors(found, [binding(animated).link_of_bone[TOOL]], seen(animated).q, before.q)
    assert np.radians(0.01) < turned.max() <= np.radians(0.1) and away.max() < 0.1 and keyed(animated) < LAST


def test_a_failure_while_it_writes_leaves_all_as_it_was(animated, monkeypatch):
    name, actions, before = animated.animation_data.action.name, len(bpy.data.actions), seen(animated).q

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(written_keys, "_shape_keys", fail)
    for new_action in (False, True):
        steps = written_keys.reduce_steps(bpy.context.scene, animated, 1, LAST, 1e-3, 0.01, new_action)
        with pytest.raises(MemoryError):
            finish(steps)
        assert animated.animation_data.action.name == name and len(bpy.data.actions) == actions
        assert keyed(animated) == LAST and np.array_equal(seen(animated).q, before)


def test_balls_and_screws_have_keys_that_fit(scene):
    robot = build(library_robot("puppet"))
    model, rng = robot_model(robot), np.random.default_rng(0)
    q = np.tile(read_configuration(robot), (LAST, 1))
    for at in model.tree.quaternions[:3]:
        axis = rng.normal(size=3)
        angle = 0.2 * np.sin(np.linspace(0.0, 3.0, LAST))
        q[:, at : at + 4] = np.column_stack((np.cos(angle), np.sin(angle)[:, None] * axis / np.linalg.norm(axis)))
    write_curves(robot, range(1, LAST + 1), [clamp(model, x) for x in q], False, binding(robot))
    before = seen(robot)
    assert called(bpy.ops.robokin.reduce_keys, robot, position=2e-3, frame_start=1, frame_end=LAST) == {"FINISHED"}
    away, _ = tool_errors(model, tool_links(model), seen(robot).q, before.q)
    assert away.max() <= 2e-3 and keyed(robot) < LAST // 2


def test_esc_and_the_command(animated, monkeypatch, tmp_path, scene):
    before = snapshot(scene, animated)
    with window(monkeypatch, ROBOKIN_OT_reduce_keys, "", "ESC") as seen_window:
        assert called(bpy.ops.robokin.reduce_keys, animated) == {"CANCELLED"}
    assert seen_window.slices == 2 and snapshot(scene, animated) == before
    path, out = tmp_path / "waves.blend", tmp_path / "few.blend"
    scene.frame_start, scene.frame_end = 1, LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert main(["reduce", str(path), "--position", "0.2", "-o", str(out), "--json", str(tmp_path / "r.json")]) == 0
    told = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert told["position"] <= 0.2e-3 and told["keys_after"] < told["keys_before"]
    wide = ["--position", "100", "--rotation", "0.1"]
    assert main(["reduce", str(path), *wide, "-o", str(out), "--json", str(tmp_path / "r.json")]) == 0
    told = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert np.radians(0.01) < told["rotation"] <= np.radians(0.1) and told["keys_after"] < told["keys_before"]
    assert main(["reduce", str(path), "--position", "0"]) == 2
    assert main(["reduce", str(path), "--frames", "3:3"]) == 2


def test_without_keys_there_is_nothing_to_reduce(animated):
    animated.animation_data_clear()
    with bpy.context.temp_override(object=animated), pytest.raises(RuntimeError, match="has no keys in frames 1 to"):
        bpy.ops.robokin.reduce_keys()


def test_what_the_curves_are_off_is_looked_at_once_more(animated, monkeypatch, tmp_path):
    """Where the written curves are farther off than their model said, fewer keys are taken away."""
    monkeypatch.setattr(key_reduction, "SPARE", 1.6)
    report = tmp_path / "r.json"
    given = {"position": 0.2e-3, "frame_start": 1, "frame_end": LAST, "report_path": str(report)}
    assert called(bpy.ops.robokin.reduce_keys, animated, **given) == {"FINISHED"}
    told = json.loads(report.read_text("utf-8"))
    assert 1e-5 < told["position"] <= 0.2e-3 and told["keys_after"] < told["keys_before"]


def rolled(scene, turned):
    """The mobile arm whose wheels turn (LAST, 2) [rad] from frame to frame, as its arm moves; the places of its base
    and wheels in q, and of its arm."""
    scene.frame_start, scene.frame_end = 1, LAST
    robot = build(library_robot("mobile_arm"))
    model = robot_model(robot)
    (base,) = model.rolling_bases
    own = [*range(base.q, base.q + 3), *base.wheel_q]
    arm = [i for i in range(model.nq) if i not in own]
    q = np.tile(model.limits.middle(model.neutral()), (LAST, 1))
    for row in range(1, LAST):
        q[row, list(base.wheel_q)] = q[row - 1, list(base.wheel_q)] + turned[row]
        q[row, base.q : base.q + 3] = base.roll(q[row - 1, base.q : base.q + 3], turned[row])
    q[:, arm] += 0.1 * np.sin(np.linspace(0.0, 2.0, LAST)[:, None] + np.arange(len(arm)))
    write_curves(robot, range(1, LAST + 1), q, False, binding(robot))
    return robot, own, arm


def test_a_base_that_rolls_keeps_its_keys(scene, capfd):
    robot, own, arm = rolled(scene, 0.1 + 0.05 * np.sin(0.1 * np.arange(LAST)[:, None] + np.arange(2)))
    model, before = robot_model(robot), seen(robot)
    assert called(bpy.ops.robokin.reduce_keys, robot, position=2e-3) == {"FINISHED"}
    after = seen(robot)
    assert np.array_equal(after.q[:, own], before.q[:, own])
    assert tool_errors(model, tool_links(model), after.q, before.q)[0].max() <= 2e-3
    assert "the base that rolls keeps keys where it turns or changes speed" in capfd.readouterr().out
    counts = {channel.q: len(fcurves(robot)[key].keyframe_points) for key, channel in own_keys(binding(robot)).items()}
    assert {counts[i] for i in own} == {LAST} and max(counts[i] for i in arm) < LAST // 2


def test_a_base_that_rolls_has_keys_where_it_turns_or_changes_speed(scene):
    """It stands, goes straight on evenly, turns as it goes, and stands."""
    turned = np.zeros((LAST, 2))
    turned[11:21], turned[21:31] = 0.1, (0.1, 0.15)
    robot, own, _ = rolled(scene, turned)
    before = seen(robot)
    assert called(bpy.ops.robokin.reduce_keys, robot, position=2e-3) == {"FINISHED"}
    assert abs(seen(robot).q[:, own] - before.q[:, own]).max() < 1e-6
    keys = own_keys(binding(robot))
    (frames,) = {tuple(p.co.x for p in fcurves(robot)[key].keyframe_points) for key in keys if keys[key].q in own}
    assert frames == (1.0, 11.0, *np.arange(21.0, 32.0), LAST)
    kinds = {each.kind for each in check_motion(seen(robot).at(np.arange(LAST) / 24.0), float32=True).violations}
    assert "slip" not in kinds


def test_a_base_that_accelerates_straight_has_few_keys_and_its_wheels_do_not_slip(scene):
    robot, own, _ = rolled(scene, 0.1 - 0.1 * np.cos(np.linspace(0.0, 2.0 * np.pi, LAST))[:, None] * np.ones(2))
    before = seen(robot)
    assert called(bpy.ops.robokin.reduce_keys, robot, position=2e-3, rotation=0.5) == {"FINISHED"}
    keys = own_keys(binding(robot))
    counts = {len(fcurves(robot)[key].keyframe_points) for key in keys if keys[key].q in own}
    assert max(counts) < LAST // 2
    after = seen(robot)
    assert tool_errors(after.model, tool_links(after.model), after.q, before.q)[0].max() <= 2e-3
    kinds = {each.kind for each in check_motion(after.at(np.arange(LAST) / 24.0), float32=True).violations}
    assert "slip" not in kinds
