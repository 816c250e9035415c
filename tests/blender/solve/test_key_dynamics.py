"""Efforts and energy of an animation as curves, and as a limit that a check knows."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from robokin_addon.operators.handlers import dynamics_readout
from robokin_addon.properties.bridge import robot_model
from robokin_addon.properties.results import readouts
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.solvers import Motion, MotionDynamics
from support.blender.panels import draw
from support.blender.scene_robots import add_robot, add_target, circle
from support.program import program

PREFIX = '["robokin_dynamics"]'


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 20
    robot = add_robot()
    circle(add_target(robot), 20)
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.bake()
    return robot


def ours(robot) -> dict[str, bpy.types.FCurve]:
    return {path: curve for (path, _), curve in animation.fcurves(robot).items() if path.startswith(PREFIX)}


def baked(scene, robot) -> Motion:
    """From what the curves say, by the scene's own evaluation."""
    model, rows = robot_model(robot), []
    for frame in range(1, 21):
        q = model.neutral()
        for key, channel in own_keys(robot).items():
            q[channel.q] = channel.factor * animation.fcurves(robot)[key].evaluate(frame)
        rows.append(q)
    return Motion.of(model, np.arange(20) / scene.render.fps, rows)


def test_curves_are_what_the_motion_takes(scene, robot):
    others = {key: len(curve.keyframe_points) for key, curve in animation.fcurves(robot).items()}
    expected = MotionDynamics.of(baked(scene, robot))
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.key_dynamics() == {"FINISHED"}
    found = ours(robot)
    assert len(found) == len(expected.columns())
    for name, (_, values) in expected.columns().items():
        curve = found[f'{PREFIX}["{name}"]']
        assert [curve.evaluate(frame) for frame in range(1, 21)] == pytest.approx(values, rel=1e-5, abs=1e-5), name
    scene.frame_set(7)
    shown = robot["robokin_dynamics"]["panda_joint2 effort"]
    assert shown == pytest.approx(expected.effort[6, 1], rel=1e-5)
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.key_dynamics(frame_start=5, frame_end=9)  # in their place
        assert {len(curve.keyframe_points) for curve in ours(robot).values()} == {5}
        assert bpy.ops.robokin.clear_dynamics() == {"FINISHED"}
        with pytest.raises(RuntimeError, match="no curves of Key Dynamics"):
            bpy.ops.robokin.clear_dynamics()
    assert not ours(robot) and "robokin_dynamics" not in robot
    assert {key: len(curve.keyframe_points) for key, curve in animation.fcurves(robot).items()} == others


def test_gravity_of_the_scene_counts(scene, robot):
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.key_dynamics()
        heavy = ours(robot)[f'{PREFIX}["base force z"]'].evaluate(10)
        scene.gravity = (0.0, 0.0, 0.0)
        bpy.ops.robokin.key_dynamics()
    light = ours(robot)[f'{PREFIX}["base force z"]'].evaluate(10)
    assert heavy - light == pytest.approx(9.81 * robot_model(robot).total_mass, rel=1e-4)
    point = ours(robot).get(f'{PREFIX}["zero-moment point x"]')
    assert point is None  # nothing presses on the ground


def test_check_compares_efforts_where_it_is_asked(scene, robot, tmp_path):
    robot.data.bones["panda_joint2"].robokin.use_effort = True
    robot.data.bones["panda_joint2"].robokin.effort = 1.0
    path = tmp_path / "check.json"
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.check(report_path=str(path))
        assert json.loads(path.read_text())["violations"] == []
        bpy.ops.robokin.check(report_path=str(path), efforts=True)
    found = [v for v in json.loads(path.read_text())["violations"] if v["joint"] == "panda_joint2"]
    assert {v["kind"] for v in found} == {"effort"} and {v["limit"] for v in found} == {1.0}
    assert any("too heavy: panda_joint2" in row.reason for row in robot.robokin.solver.check_failures)


def test_the_command_line_tells_the_same(scene, robot, tmp_path):
    expected = MotionDynamics.of(baked(scene, robot))
    blend, told = tmp_path / "robot.blend", tmp_path / "told.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    done = program("dynamics", str(blend), "--frames", "1:20", "--json", str(told))
    assert done.returncode in (0, 1), done.stderr
    values = json.loads(told.read_text())["values"]
    assert values["panda_joint4 effort"] == pytest.approx(expected.effort[:, 3], rel=1e-5, abs=1e-5)
    motion = tmp_path / "motion.csv"
    assert program("export", str(blend), "--frames", "1:20", "-o", str(motion)).returncode == 0
    refused = program("dynamics", str(blend), "--motion", str(motion), "--rate", "10")
    assert refused.returncode == 2 and "--motion has its own times" in refused.stderr


def test_the_panel_tells_those_of_the_present_frame(scene, robot):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.key_dynamics() == {"FINISHED"}
    curves = {path[len(PREFIX) + 2 : -2]: curve for path, curve in ours(robot).items()}
    robot.data.bones.active = robot.data.bones["panda_joint2"]

    def shown():
        bpy.context.view_layer.update()
        draw(object=robot)
        dynamics_readout.finish_work()
        labels = draw(object=robot)["ROBOKIN_PT_dynamics"]["labels"]
        return readouts.dynamics(robot), dict(zip(labels[1::2], labels[2::2], strict=True))

    for frame in (1, 2, 10, 20):
        scene.frame_set(frame)
        found, told = shown()
        for name, value in (
            ("panda_joint2 effort", found.efforts["panda_joint2"][0]),
            ("panda_joint4 power", found.powers["panda_joint4"][0]),
            ("kinetic energy", found.kinetic_energy),
            ("center of mass z", found.center_of_mass[2]),
            ("zero-moment point x", found.zero_moment_point[0]),
        ):
            assert value == pytest.approx(curves[name].evaluate(frame), rel=1e-4, abs=1e-4), name
        effort = found.efforts["panda_joint2"][0]
        assert told["Joint"] == "panda_joint2" and told["Effort"].startswith(f"{effort:.4g} N m (")
    assert abs(found.power) > 0.1
    robot.pose.bones["panda_joint4"].rotation_euler[1] += 0.3  # held, not moved
    held, _ = shown()
    assert held.kinetic_energy == held.power == 0.0 and held.center_of_mass != found.center_of_mass
