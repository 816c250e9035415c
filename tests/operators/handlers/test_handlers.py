"""Handlers go on: a fault about one robot leaves the others alone, and is told once."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from robokin_addon.operators.handlers import hand_limits, save_handler
from robokin_addon.properties import handlers
from robokin_addon.properties.bridge.record.reading import read_record
from robokin_addon.properties.bridge.record.stored import KEY
from robokin_addon.properties.handlers import reported_faults
from support.blender.scene_robots import add_robot

ROOT = Path(__file__).resolve().parents[3]
EVENTS = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]


def test_all_handlers_are_guarded(addon):
    ours = [h for event in EVENTS for h in getattr(bpy.app.handlers, event) if h.__module__.startswith("robokin_addon")]
    assert len(ours) >= 5 and {*ours, *handlers.CHANGE_HANDLERS} == set(handlers._guarded.values())
    sources = [
        path for part in ("properties", "scene", "operators", "panels", "cli") for path in (ROOT / part).rglob("*.py")
    ]
    assert [path.name for path in sources if "import persistent" in path.read_text("utf-8")] == ["handlers.py"]


@pytest.fixture
def faulty(monkeypatch):
    """A fault of the program about the robot called "bad"."""

    def clamp_pose(obj, *arguments):
        if obj.name == "bad":
            raise KeyError("a fault")
        return real(obj, *arguments)

    real = hand_limits.clamp_pose
    monkeypatch.setattr(hand_limits, "clamp_pose", clamp_pose)
    yield
    reported_faults()


def test_a_fault_about_one_robot_is_reported_once_and_the_others_are_looked_after(scene, faulty, capsys):
    bad, good = add_robot(), add_robot()
    bad.name, good.name = "bad", "good"
    capsys.readouterr()
    reported_faults()
    for _ in range(5):
        for robot in (bad, good):
            robot.pose.bones["panda_joint1"].rotation_euler[1] = 100.0
        bpy.context.view_layer.update()
    assert good.pose.bones["panda_joint1"].rotation_euler[1] < 3.0 < bad.pose.bones["panda_joint1"].rotation_euler[1]
    told = capsys.readouterr().err
    assert told.count("KeyError: 'a fault'") == 1 and "report this" in told
    (fault,) = reported_faults()
    assert fault.startswith("keeping limits: KeyError")


def test_a_fault_about_one_robot_does_not_keep_others_from_being_saved(scene, tmp_path, monkeypatch):
    robots = [add_robot() for _ in range(3)]
    for robot in robots:
        robot.data.bones["panda_joint1"].robokin.damping = 0.5

    def keep_edits(armature):
        if armature == robots[1].data:
            raise ZeroDivisionError
        real(armature)

    real = save_handler.keep_edits
    monkeypatch.setattr(save_handler, "keep_edits", keep_edits)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robots.blend"))
    kept = [read_record(robot.data.bones["panda_joint1"][KEY], "").joint.damping for robot in robots]
    assert kept == [0.5, 0.003, 0.5] and len(reported_faults()) == 1


def test_saving_in_edit_mode_keeps_what_was_edited(scene, tmp_path):
    robot = add_robot()
    robot.data.bones["panda_joint1"].robokin.damping = 0.5
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robot.blend"))
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    robot = bpy.context.object
    assert read_record(robot.data.bones["panda_joint1"][KEY], "").joint.damping == 0.5
