"""Check: what it says of an animation is what the curves do; markers come and go."""

from __future__ import annotations

import errno
import json
import os
import re

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, robot_model
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.animation.curves import own_keys
from support.blender.panels import draw
from support.blender.scene_robots import add_empty, add_robot, add_target, circle
from support.command import run as program

ELBOW = 'pose.bones["panda_joint4"].rotation_euler'


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 30
    return add_robot()


def run(robot, tmp_path, **options):
    path = tmp_path / "check.json"
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.check(report_path=str(path), **options) == {"FINISHED"}
    return json.loads(path.read_text())


def markers(scene):
    return sorted((marker.frame, marker.name) for marker in scene.timeline_markers)


def elbow_curve(robot, points):
    """Linear keys on the elbow; its limits are about -3.07 .. -0.07 rad, 2.17 rad/s."""
    key = next(key for key in own_keys(binding(robot)) if key[0] == ELBOW)
    bag = animation.channelbag(robot)
    if bag is None:
        robot.keyframe_insert("location", frame=1)
        bag = animation.channelbag(robot)
    curve = bag.fcurves.new(key[0], index=key[1])
    sign = own_keys(binding(robot))[key].sign
    for frame, value in points:
        curve.keyframe_points.insert(frame, sign * value).interpolation = "LINEAR"


def test_a_bake_passes_and_leaves_no_marker(scene, robot, tmp_path):
    circle(add_target(robot), 30)
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.bake()
    scene.frame_set(11)
    report = run(robot, tmp_path)
    settings = robot.robokin.solver
    assert settings.check_passed and settings.check_summary == "30 frames: limits kept, tasks met, no collisions"
    assert report["violations"] == [] and [row["frame"] for row in report["frames"]] == list(range(1, 31))
    assert {row["status"] for row in report["frames"]} == {"CONVERGED"} and markers(scene) == []
    assert scene.frame_current == 11


def test_speed_and_acceleration_are_those_of_the_curves(scene, robot, tmp_path):
    elbow_curve(robot, [(1, -2.0), (10, -2.0), (13, -1.0), (30, -1.0)])
    report = run(robot, tmp_path)
    found = [(v["frame"], v["joint"], v["kind"]) for v in report["violations"] if v["kind"] == "velocity"]
    assert found == [(frame, "panda_joint4", "velocity") for frame in (11, 12, 13)]
    first = next(v for v in report["violations"] if v["kind"] == "velocity")
    assert first["value"] == pytest.approx(24 / 3, rel=1e-5)
    assert first["limit"] == robot_model(robot).velocity[3]
    assert not robot.robokin.solver.check_passed
    assert "velocity of panda_joint4" in robot.robokin.solver.check_summary
    listed = robot.robokin.solver.check_failures
    rows = {(row.first, row.last): row.reason for row in listed if "moves at" in row.reason}
    assert list(rows) == [(11, 13)]
    assert rows[11, 13] == "too fast: panda_joint4 moves at 8 rad/s, allowed 2.175 rad/s: needs 3.68 times more time"
    drawn = draw()["ROBOKIN_PT_check"]
    assert "458°/s" in " ".join(drawn["labels"]) and "rad/s" not in " ".join(drawn["labels"])
    scene.frame_set(1)
    at = [row.first for row in listed].index(11)
    assert bpy.ops.robokin.failure_show(index=at, of="CHECK") == {"FINISHED"} and scene.frame_current == 11


def test_a_motion_that_takes_as_long_as_is_said_is_not_too_fast(scene, robot, tmp_path):
    for joint in robot.data.bones:
        joint.robokin.use_acceleration = False
    keys = np.array([(1, -2.0), (5, -2.0), (11, -0.5), (16, -0.5)])
    elbow_curve(robot, keys)
    run(robot, tmp_path, frame_end=16)
    need = float(re.search(r"needs ([\d.]+) times", robot.robokin.solver.check_summary).group(1))
    assert need > 1.0
    for slower, passes in ((need, True), (0.95 * need, False)):
        fcurves = animation.channelbag(robot).fcurves
        fcurves.remove(next(curve for curve in fcurves if curve.data_path == ELBOW))
        elbow_curve(robot, [(10 * slower * frame, value) for frame, value in keys])
        scene.render.fps = 240
        found = run(robot, tmp_path, frame_end=700)["violations"]
        assert (not [v for v in found if v["kind"] == "velocity"]) is passes


def test_positions_beyond_a_limit_are_found_where_they_are(scene, robot, tmp_path):
    elbow_curve(robot, [(1, -1.0), (20, 0.9), (30, -1.0)])
    report = run(robot, tmp_path)
    assert "stands still" not in robot.robokin.solver.check_summary
    upper = robot_model(robot).upper[3]
    expected = [f for f in range(1, 31) if np.interp(f, (1, 20, 30), (-1, 0.9, -1)) > upper]
    assert [v["frame"] for v in report["violations"] if v["kind"] == "upper"] == expected and expected


def test_missed_tasks_are_named_by_frame(scene, robot, tmp_path):
    target = add_target(robot)
    target.keyframe_insert("location", frame=10)
    target.location.x += 20.0
    target.keyframe_insert("location", frame=11)
    rows = run(robot, tmp_path)["frames"]
    assert [row["status"] for row in rows] == ["CONVERGED"] * 10 + ["OUT_OF_REACH"] * 20
    assert rows[20]["residuals"][0]["position"] > 15.0
    # no key moves the robot, which Live may have shown at its targets
    assert "20 miss a task, the first 11 (OUT_OF_REACH); the robot stands still" in robot.robokin.solver.check_summary
    assert markers(scene) == [(11, "panda check: out of reach")]
    (row,) = robot.robokin.solver.check_failures
    assert (row.first, row.last, row.status) == (11, 30, "OUT_OF_REACH")
    assert row.reason == "hand_tcp is off by up to 20 m"


def test_a_task_counts_where_it_has_an_influence(scene, robot, tmp_path):
    target = add_target(robot)
    target.location.x += 20.0
    near = add_target(robot)
    task = robot.robokin.tasks[0]
    for frame, influence in ((1, 0.0), (20, 0.0), (21, 1.0)):
        task.influence = influence
        task.keyframe_insert("influence", frame=frame)
    assert near.location.x < 5.0
    rows = run(robot, tmp_path)["frames"]
    assert [row["status"] for row in rows] == ["CONVERGED"] * 20 + ["OUT_OF_REACH"] * 10
    assert rows[0]["residuals"][0] is None and rows[0]["residuals"][1]["position"] < 1e-4


def test_without_tasks_the_limits_are_checked(scene, robot, tmp_path):
    rows = run(robot, tmp_path)["frames"]
    assert {row["status"] for row in rows} == {"EMPTY"} and robot.robokin.solver.check_passed
    assert robot.robokin.solver.check_summary == "30 frames: limits kept, no task, no collisions"


def test_markers_of_another_scene_go_away_with_the_next_check(scene, robot, tmp_path):
    elbow_curve(robot, [(1, -2.0), (10, -2.0), (13, -1.0), (30, -1.0)])
    run(robot, tmp_path)
    other = bpy.data.scenes.new("other")
    assert markers(scene)
    with bpy.context.temp_override(scene=other, object=robot):
        bpy.ops.robokin.check_clear()
    assert markers(scene) == []


def test_markers_are_not_doubled_and_go_away_while_others_stay(scene, robot, tmp_path):
    scene.timeline_markers.new("mine", frame=4)
    elbow_curve(robot, [(1, -2.0), (10, -2.0), (13, -1.0), (30, -1.0)])
    run(robot, tmp_path)
    first = markers(scene)
    assert len(first) > 1 and (11, "panda check: panda_joint4 velocity") in first
    run(robot, tmp_path)
    assert markers(scene) == first
    run(robot, tmp_path, markers=False)
    assert markers(scene) == [(4, "mine")]
    run(robot, tmp_path, markers=True)
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.check_clear()
    assert markers(scene) == [(4, "mine")] and robot.robokin.solver.check_summary == ""


def test_long_names_make_valid_markers(scene, robot, tmp_path):
    robot.name = "ä" * 31
    add_target(robot).location.x += 20.0
    run(robot, tmp_path)
    assert len(scene.timeline_markers) == 1
    run(robot, tmp_path)
    assert len(scene.timeline_markers) == 1


def test_robots_of_like_names_keep_their_markers_apart(scene, robot, tmp_path):
    """Their names begin and end alike; a copy has none of the markers of the robot that it is a copy of."""
    left, right = robot, add_robot()
    left.name, right.name = "assembly_cell_of_the_robot_left_arm", "assembly_cell_of_the_other_left_arm"
    for each in (left, right):
        add_target(each).location.x += 20.0
        run(each, tmp_path)
    assert len(markers(scene)) == 2
    with bpy.context.temp_override(object=left):
        bpy.ops.robokin.check_clear()
    assert len(markers(scene)) == 1
    copy = right.copy()
    scene.collection.objects.link(copy)
    with bpy.context.temp_override(object=copy):
        bpy.ops.robokin.check_clear()
    assert len(markers(scene)) == 1
    run(copy, tmp_path)
    assert len(markers(scene)) == 2
    right.name = "renamed"
    run(right, tmp_path)
    assert len(markers(scene)) == 2 and [m for m in markers(scene) if m[1].startswith("renamed check")]


def test_a_marker_that_a_person_made_theirs_stays(scene, robot, tmp_path):
    add_target(robot).location.x += 20.0
    run(robot, tmp_path)
    scene.timeline_markers[0].frame = 17
    run(robot, tmp_path)
    assert [frame for frame, _ in markers(scene)] == [1, 17]


def test_what_drivers_and_strips_show_is_checked_too(scene, robot, tmp_path):
    elbow_curve(robot, [(1, -1.0), (20, 0.9), (30, -1.0)])
    plain = run(robot, tmp_path)
    key = next(key for key in own_keys(binding(robot)) if "panda_joint2" in key[0])
    driver = robot.driver_add(*key)
    driver.driver.expression = "frame * 0.01"
    scene.frame_set(5)
    driven = run(robot, tmp_path)
    assert scene.frame_current == 5
    assert driven["violations"] == plain["violations"]
    assert driven["frames"][9]["q"]["panda_joint2"] == pytest.approx(0.1, abs=1e-6)
    assert driven["frames"][9]["q"]["panda_joint4"] == pytest.approx(plain["frames"][9]["q"]["panda_joint4"], abs=1e-6)


def test_the_time_step_is_the_scenes(scene, robot, tmp_path):
    elbow_curve(robot, [(1, -2.0), (10, -2.0), (13, -1.0), (30, -1.0)])
    scene.render.fps, scene.render.fps_base = 6, 1.0
    report = run(robot, tmp_path)
    assert not [v for v in report["violations"] if v["kind"] == "velocity"]
    scene.render.fps_base = 0.5
    report = run(robot, tmp_path)
    assert [v["value"] for v in report["violations"] if v["kind"] == "velocity"] == pytest.approx([4.0] * 3, rel=1e-5)


def test_stretched_time_is_read_as_it_is_shown(scene, robot, tmp_path):
    elbow_curve(robot, [(1, -2.0), (30, -1.0)])
    scene.render.frame_map_new = 200
    rows = run(robot, tmp_path)["frames"]
    assert rows[-1]["q"]["panda_joint4"] == pytest.approx(-2.0 + 14 / 29, abs=0.02)


def test_an_unwritable_report_says_so_before_anything_is_changed(scene, robot, tmp_path):
    add_target(robot)
    with bpy.context.temp_override(object=robot):
        for path in ("/no/such/folder/report.json", str(tmp_path)):
            for operator in (bpy.ops.robokin.bake, bpy.ops.robokin.check):
                with pytest.raises(RuntimeError, match="cannot write the report"):
                    operator(report_path=path)
    settings = robot.robokin.solver
    assert not (settings.bake_status or settings.check_summary or markers(scene) or animation.fcurves(robot))


def test_a_report_that_fails_at_the_end_leaves_what_is_done(robot, tmp_path, monkeypatch):
    """An operator that is cancelled has no undo step, so it must have changed nothing."""

    def is_full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    add_target(robot)
    monkeypatch.setattr(os, "fsync", is_full)
    path = tmp_path / "report.json"
    path.write_text("old")
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake(report_path=str(path)) == {"FINISHED"}
        assert bpy.ops.robokin.check(report_path=str(path)) == {"FINISHED"}
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["report.json"]
    assert animation.fcurves(robot) and robot.robokin.solver.check_summary


def test_a_target_that_is_no_longer_there_is_refused(robot, tmp_path):
    bpy.data.objects.remove(add_target(robot))
    add_empty("other")
    with pytest.raises(RuntimeError, match="has no target"):
        run(robot, tmp_path)


def test_limits_of_drives_tools_and_tipping(scene, robot, target, tmp_path, capsys):
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.bake()
        settings = robot.robokin.solver
        settings.retime_tool_speed = 0.01
        bpy.ops.robokin.check()
    assert any("moves at" in item.reason for item in settings.check_failures)
    assert {item.status for item in settings.check_failures} == {"LIMIT"}
    settings.retime_tool_speed, settings.tipping = 0.0, True
    with bpy.context.temp_override(object=robot), pytest.raises(RuntimeError, match="no support task and no feet"):
        bpy.ops.robokin.check()
    ground = bpy.data.objects.new("ground", bpy.data.meshes.new("ground"))
    ground.data.from_pydata([(9.0, -0.1, 0.0), (9.2, -0.1, 0.0), (9.1, 0.1, 0.0)], [], [])
    scene.collection.objects.link(ground)
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.task_add(kind="SUPPORT")
        robot.robokin.tasks[-1].target = ground
        bpy.ops.robokin.check()
    assert any("the robot tips" in item.reason for item in settings.check_failures)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    done = program(capsys, "check", tmp_path / "a.blend", "--no-tipping", "--power", "0.001", "--json", "-")
    assert done.code == 1 and '"power"' in done.out and '"tipping"' not in done.out
