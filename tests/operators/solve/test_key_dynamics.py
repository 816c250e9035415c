"""Efforts and energy of an animation as curves, and as a limit that a check knows."""

from __future__ import annotations

import json
from dataclasses import replace

import bpy
import numpy as np
import pytest
from robokin_addon.operators.handlers import dynamics_readout
from robokin_addon.properties.bridge import binding, robot_model
from robokin_addon.properties.results import readouts
from robokin_addon.robokin import RobotModel
from robokin_addon.robokin.structure.tool_links import tool_links
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.animation.curves import own_keys, write_curves
from robokin_addon.solvers import Motion, MotionDynamics
from support.blender.panels import draw
from support.blender.scene_robots import add_robot, add_target, build, circle
from support.command import run
from support.problems.obstructed import planar_arm

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
        for key, channel in own_keys(binding(robot)).items():
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
    for name, (unit, values) in expected.columns().items():
        curve = found[f'{PREFIX}["{name}"]']
        assert curve.group.name == f"Dynamics [{unit}]"
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


def test_the_command_line_tells_the_same(scene, robot, tmp_path, capsys):
    expected = MotionDynamics.of(baked(scene, robot))
    blend, told = tmp_path / "robot.blend", tmp_path / "told.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    done = run(capsys, "dynamics", blend, "--frames", "1:20", "--json", told)
    assert done.code in (0, 1), done.err
    values = json.loads(told.read_text())["values"]
    assert values["panda_joint4 effort"] == pytest.approx(expected.effort[:, 3], rel=1e-5, abs=1e-5)
    motion = tmp_path / "motion.csv"
    assert run(capsys, "export", blend, "--frames", "1:20", "-o", motion).code == 0
    refused = run(capsys, "dynamics", blend, "--motion", motion, "--rate", "10")
    assert refused.code == 2 and "--motion has its own times" in refused.err


def read_out(robot):
    """What the panel shows, when it is computed."""
    bpy.context.view_layer.update()
    draw(object=robot)
    dynamics_readout.finish_work()
    labels = [text for text in draw(object=robot)["ROBOKIN_PT_dynamics"]["labels"] if text != "Quantities"]
    return readouts.dynamics(robot), dict(zip(labels[1::2], labels[2::2], strict=True))


def values_of(found, name, joint=""):
    """Of a quantity of a joint, or of the robot."""
    return next(each.values for each in (found.joints[joint] if joint else found.robot) if each.name == name)


def test_the_panel_tells_those_of_the_present_frame(scene, robot):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.key_dynamics() == {"FINISHED"}
    curves = {path[len(PREFIX) + 2 : -2]: curve for path, curve in ours(robot).items()}
    robot.data.bones.active = robot.data.bones["panda_joint2"]

    (tool,) = tool_links(binding(robot).model)
    for frame in (1, 2, 10, 20):
        scene.frame_set(frame)
        robot.data.bones.active = None
        found, _ = read_out(robot)
        seen = set()
        for name, joint in [(each.name, own) for own in found.joints for each in found.joints[own]] + [
            (each.name, "") for each in found.robot
        ]:
            of = joint or (tool if name.endswith(f" of {tool}") else "")
            column = f"{of} {name.removesuffix(f' of {tool}').lower()}".strip()
            own = values_of(found, name, joint)
            for value, axis in zip(own, (" x", " y", " z") if len(own) == 3 else ("",), strict=True):
                if name != "Power of All":
                    seen.add(column + axis)
                    expected = curves[column + axis].evaluate(frame)
                    assert value == pytest.approx(expected, rel=1e-3, abs=1e-3 * max(1.0, abs(expected))), column
        assert seen == curves.keys()
        robot.data.bones.active = robot.data.bones["panda_joint2"]
        found, told = read_out(robot)
        (effort,) = values_of(found, "Effort", "panda_joint2")
        assert told["Joint"] == "panda_joint2" and told["Effort"].startswith(f"{effort:.4g} N m (")
        assert f"Angular Velocity of {binding(robot).link_of_bone['panda_joint2']}" in told
    assert abs(values_of(found, "Power of All")[0]) > 0.1
    for kind, unit in (("Impulse", "N s"), ("Angular Impulse", "N m s"), ("Base Force", "N")):
        name = kind if kind.startswith("Base") else f"{kind} of {tool}"
        own = [float(part) for part in told[name].removesuffix(f" {unit}").split()]
        assert own == pytest.approx(values_of(found, name), rel=1e-3, abs=1e-3) and any(own)
    robot.robokin.solver.dynamics_curves = {"ENERGY"}
    assert set(read_out(robot)[1]) == {"Joint", "Kinetic Energy", "Potential Energy"}
    robot.pose.bones["panda_joint4"].rotation_euler[1] += 0.3  # held, not moved
    held, _ = read_out(robot)
    assert values_of(held, "Kinetic Energy") == values_of(held, "Power of All") == (0.0,)
    assert values_of(held, "Center of Mass") != values_of(found, "Center of Mass")


def test_the_panel_follows_keys_frame_rate_gravity_and_the_chosen_joint(scene, robot):
    scene.frame_set(10)
    found, _ = read_out(robot)
    least = min(found.joints, key=lambda joint: values_of(found, "Effort", joint))
    bone = robot.data.bones.active = robot.data.bones[least]
    bone.robokin.use_effort, bone.robokin.effort = True, 2.0
    before, told = read_out(robot)
    (effort,), (power,) = (values_of(before, name, bone.name) for name in ("Effort", "Power"))
    assert effort < -0.01 and told["Effort"] == f"{effort:.4g} N m ({-effort / 2.0:.0%})"
    assert told["Power"] == f"{power:.4g} W"
    for name, unit in (("Power of All", "W"), ("Kinetic Energy", "J"), ("Potential Energy", "J")):
        assert told[name] == f"{values_of(before, name)[0]:.4g} {unit}"
    (energy,) = values_of(before, "Kinetic Energy")
    scene.render.fps *= 2  # twice as fast
    assert values_of(read_out(robot)[0], "Kinetic Energy") == pytest.approx((4.0 * energy,))
    scene.render.fps //= 2
    assert read_out(robot)[0] == before
    robot.data.bones.active = None
    assert "Joint" not in read_out(robot)[1]
    scene.gravity = (0.0, 0.0, 0.0)
    found, told = read_out(robot)
    assert values_of(found, "Potential Energy") == (0.0,) and values_of(found, "Kinetic Energy") == (energy,)
    assert told["Zero-Moment Point"] == "none: it is in the air"
    key = next(key for key in own_keys(binding(robot)) if "panda_joint3" in key[0])
    animation.fcurves(robot)[key].keyframe_points[8].co.y += 0.1  # of the frame before this one
    assert values_of(read_out(robot)[0], "Kinetic Energy")[0] > 1.5 * energy


def test_the_power_of_all_drives_leaves_out_what_carries_the_root(scene):
    arm = planar_arm(2)
    links = [replace(link, mass=1.0, inertia=0.1 * np.eye(3)) for link in arm.links]
    robot = build(RobotModel("arm", links, arm.joints[1:], "floating"))
    robot.robokin.live = False
    model = robot_model(robot)
    Q = np.tile(model.neutral(), (3, 1))
    Q[:, 2] = 0.1, 0.2, 0.35  # it rises
    Q[:, -2:] = [[0.1, 0.2], [0.2, 0.1], [0.4, 0.3]]
    write_curves(robot, [1, 2, 3], Q, False, binding(robot))
    scene.frame_set(3)
    found, _ = read_out(robot)
    root, *driven = (
        sum(each.values[0] for each in found.joints[joint.name] if each.name.startswith("Power"))
        for joint in model.moving_joints
    )
    assert abs(root) > 1.0 and values_of(found, "Power of All") == pytest.approx((sum(driven),))
