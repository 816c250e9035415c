"""Stretches solved again of a robot on wheels."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, to_blender, write_configuration
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.scene.animation.curves import channel_key, own_keys
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers import check_motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_target, build
from support.blender.windows import called

FRAMES = range(1, 41)


@pytest.fixture
def mobile(scene):
    """An arm on wheels whose tool has followed a target, and what its curves are."""
    robot = build(library_robot("mobile_arm"))
    robot.robokin.live = False
    found = binding(robot)
    model, start = found.model, found.model.limits.middle(found.model.neutral())
    write_configuration(robot, start)
    target = add_target(robot, found.bone_of_link["tool"])
    target.matrix_world = to_blender(robot, forward_kinematics(model, start)["tool"], None, found)
    for frame, x in ((1, 0.0), (20, 0.1), (40, 0.3)):
        target.location.x += x
        target.keyframe_insert("location", frame=frame)
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    assert called(bpy.ops.robokin.bake, robot) == {"FINISHED"} and robot.robokin.solver.bake_status == "CONVERGED"
    curves = [fcurves(robot)[key] for key in sorted(own_keys(found))]

    def values():
        return np.array([[curve.evaluate(frame) for frame in FRAMES] for curve in curves])

    return robot, curves, values


def dragged_and_solved(mobile, curve, far, dragged=range(15, 16)) -> np.ndarray:
    """The frames that are other than before."""
    robot, _, values = mobile
    before = values()
    for each in dragged:
        curve.keyframe_points[each].co.y += far
    curve.update()
    assert called(bpy.ops.robokin.solve_again, robot) == {"FINISHED"}
    motion = finish(sample_motion(bpy.context.scene, robot, FRAMES, binding(robot)))
    assert not check_motion(motion, float32=True).violations
    return np.flatnonzero(abs(values() - before).max(axis=0) > 1e-6)


def test_frames_of_an_arm_on_wheels_are_solved_again_alone(mobile):
    """The base is again where it was after the stretch, whose frames alone change: all 40 did."""
    changed = dragged_and_solved(mobile, next(curve for curve in mobile[1] if "wrist_3" in curve.data_path), 0.15)
    assert len(changed) and abs(changed - 15).max() <= 4


@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_base_that_is_dragged_comes_back_alone(mobile, index):
    """Its wheels say where it was."""
    robot, curves, _ = mobile
    found = binding(robot)
    base = found.model.rolling_bases[0]
    channel = next(each for each in found.written_channels if each.q == base.q + index)
    curve = fcurves(robot)[channel_key(channel)]
    assert curve in curves
    assert abs(dragged_and_solved(mobile, curve, 0.08) - 15).max(initial=0) <= 1


@pytest.mark.parametrize(
    "dragged", [range(15, 16), range(1), range(2), range(39, 40), range(20, 40), range(12, 25)], ids=str
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_wheel_that_is_dragged_comes_back_alone(mobile, side, dragged):
    """The base says how it has turned."""
    robot, _, _ = mobile
    found = binding(robot)
    wheel = found.model.rolling_bases[0].wheel_q[side]
    channel = next(each for each in found.written_channels if each.q == wheel)
    changed = dragged_and_solved(mobile, fcurves(robot)[channel_key(channel)], 0.08, dragged)
    assert set(changed.tolist()) <= set(dragged)
