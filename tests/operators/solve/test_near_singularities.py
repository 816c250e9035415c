"""How near a robot is to a singularity, as Blender tells it: in a check, as curves, in a task's panel."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from robokin_addon.operators.handlers.task_readouts import task_readouts
from robokin_addon.properties.bridge import binding, robot_model
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.check.check import check_steps
from robokin_addon.solvers import Singularities, tool_at
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_robot, add_target, circle
from support.command import run

PREFIX = '["robokin_singularities"]'


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 40
    robot = add_robot()
    circle(add_target(robot), 40)
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.bake()
    return robot


def test_a_check_warns_and_passes(scene, robot, tmp_path) -> None:
    view_layer, settings = bpy.context.view_layer, robot.robokin.solver
    found = finish(check_steps(scene, view_layer, robot, binding(robot), range(1, 41), singularity=10.0))
    assert found.passed and "40 near a singularity" in found.summary()
    assert [(row.first, row.last, row.status) for row in found.rows()] == [(1, 40, "SINGULAR")]
    told = found.to_dict()
    tip = tool_at(robot_model(robot), "panda_hand_tcp")
    value = Singularities(tip).over(found.motion.q)[0]
    assert [row["singularities"][0]["singular_value"] for row in told["frames"]] == pytest.approx(value)
    assert told["warnings"][0]["frame"] == 1 and told["warnings"][0]["limit"] == 10.0
    settings.singularity = 10.0
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.check()
        assert settings.check_passed and [m.frame for m in scene.timeline_markers] == [1]
        bpy.ops.robokin.check(singularity=0.0)
        assert not scene.timeline_markers


def test_curves(robot) -> None:
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.key_singularities() == {"FINISHED"}
        found = [path for path, _ in animation.fcurves(robot) if path.startswith(PREFIX)]
        assert len(found) == 2
        name = robot.robokin.tasks[0].name
        curve = animation.fcurves(robot)[f'{PREFIX}["{name} singular value"]', 0]
        assert len(curve.keyframe_points) == 40 and 0.0 < curve.evaluate(3) < 1.0
        bpy.ops.robokin.clear_singularities()
        assert not [path for path, _ in animation.fcurves(robot) if path.startswith(PREFIX)]
        with pytest.raises(RuntimeError, match="no curves"):
            bpy.ops.robokin.clear_singularities()


def test_the_readout_of_a_task(robot) -> None:
    (shown,) = task_readouts(robot)
    assert 0.02 < shown.singular_value < 1.0 and not shown.singularity
    robot.robokin.solver.singularity = 1.0
    bpy.context.view_layer.update()  # as Blender does before it draws
    (shown,) = task_readouts(robot)
    assert "it cannot" in shown.singularity


def test_the_command_line(robot, capsys, tmp_path) -> None:
    path = tmp_path / "robot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    done = run(capsys, "check", path, "--singularity", "9", "--json", tmp_path / "report.json")
    assert done.code == 0 and "near a singularity" in done.out
    report = json.loads((tmp_path / "report.json").read_text())
    assert len(report["warnings"]) == 40 and "manipulability" in report["frames"][0]["singularities"][0]
    assert np.isfinite(report["warnings"][0]["value"])
