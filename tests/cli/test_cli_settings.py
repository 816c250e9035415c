"""What a command is not told is as the robot's settings in the file say: a bake is that of the Bake button."""

from __future__ import annotations

import json

import pytest
from support.blender.scene_robots import add_robot, add_target, circle
from support.command import report, run


@pytest.fixture
def file(scene, tmp_path):
    """A robot whose settings are none of the defaults, with an action of its own."""
    import bpy

    scene.frame_start, scene.frame_end = 1, 40
    robot = add_robot()
    circle(add_target(robot), 40)
    robot.keyframe_insert("location", frame=1)
    robot.animation_data.action.name = "mine"
    settings = robot.robokin.solver
    settings.start, settings.new_action = "REST", True
    settings.range, settings.frame_start, settings.frame_end, settings.step = "CUSTOM", 10, 14, 2
    settings.posture = '{"panda_joint1": 1.0, "panda_joint4": -2.0}'
    path = tmp_path / "own.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def keys(path):
    """{(data path, index): [(frame, value)]} of the bones, and the names of all actions."""
    import bpy
    from robokin_addon.scene.animation.frames import fcurves

    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = fcurves(next(obj for obj in bpy.data.objects if obj.type == "ARMATURE"))
    curves = {key: [tuple(point.co) for point in curve.keyframe_points] for key, curve in found.items()}
    return {key: row for key, row in curves.items() if key[0].startswith("pose")}, {a.name for a in bpy.data.actions}


def test_a_bake_is_that_of_the_button(file, capsys, tmp_path):
    import bpy

    assert run(capsys, "bake", file, "-o", tmp_path / "out.blend").code == 0
    bpy.ops.wm.open_mainfile(filepath=str(file))
    bpy.context.view_layer.objects.active = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "button.blend"))
    (wanted, names), (found, own) = keys(tmp_path / "button.blend"), keys(tmp_path / "out.blend")
    assert found == wanted and own == names and "mine" in names and len(names) == 3
    assert all([frame for frame, _ in row] == [10, 12, 14] for row in found.values())


def test_options_are_in_place_of_the_settings(file, capsys, tmp_path):
    out = tmp_path / "out.blend"
    options = ("--frames", "1:3", "--step", "1", "--start", "posture", "--no-new-action")
    posture = report(capsys, tmp_path, "bake", file, "-o", out, *options)["frames"]
    assert [row["frame"] for row in posture] == [1, 2, 3]
    assert len(keys(out)[1]) == 2
    rest = report(capsys, tmp_path, "bake", file, "-o", out, "--frames", "1:3", "--step", "1")["frames"]
    assert rest[0]["q"] != posture[0]["q"]


def test_check_and_export_take_the_same_frames(file, capsys, tmp_path):
    found = report(capsys, tmp_path, "check", file, code=1)["frames"]
    assert [row["frame"] for row in found] == [10, 12, 14]
    assert run(capsys, "export", file, "-o", tmp_path / "motion.csv").code == 0
    assert len((tmp_path / "motion.csv").read_text().splitlines()) == 1 + 5


def test_a_range_of_no_frames_is_named(file, capsys, tmp_path):
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(file))
    next(obj for obj in bpy.data.objects if obj.type == "ARMATURE").robokin.solver.frame_end = 9
    bpy.ops.wm.save_mainfile()
    for command in ("bake", "check"):
        assert run(capsys, command, file).refused("10 to 9", "--frames")
    assert run(capsys, "bake", file, "--start", "rest", "--q0", "{}").refused("--q0", "--start", "give one")
    assert run(capsys, "check", file, "--step", "0").refused("--step", "'0'")


def test_efforts_are_checked_as_the_panel_says(file, capsys, tmp_path):
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(file))
    robot = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    joint, settings = robot.data.bones["panda_joint2"].robokin, robot.robokin.solver
    joint.use_effort, joint.effort = True, 1.0
    settings.efforts = True
    bpy.ops.wm.save_mainfile()
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.check(report_path=str(tmp_path / "button.json"))
    button = json.loads((tmp_path / "button.json").read_text())["violations"]
    assert {each["kind"] for each in button} == {"effort"}
    assert report(capsys, tmp_path, "check", file, code=1)["violations"] == button
    without = report(capsys, tmp_path, "check", file, "--no-efforts", code=1)["violations"]
    assert without == []
