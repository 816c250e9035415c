"""Too fast: what is offered, and that one click of it helps."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.results import readouts
from robokin_addon.scene.animation.frames import channelbag
from support.blender.panels import draw
from support.blender.scene_bakes import bake
from support.blender.scene_robots import add_robot, add_target, circle
from support.blender.windows import called

LAST = 13


@pytest.fixture
def hurried(scene):
    robot = add_robot(live=False)
    target = add_target(robot)
    circle(target, LAST, radius=0.2)
    scene.frame_start, scene.frame_end = 1, LAST
    return robot, target


def times(target):
    return np.array([[point.co.x for point in curve.keyframe_points] for curve in channelbag(target).fcurves])


def test_targets_that_are_too_fast_get_the_time_that_the_joints_need(scene, hurried):
    robot, target = hurried
    settings, before = bake(robot), times(target)
    assert "too fast" in settings.bake_reason
    panel = draw(object=robot)["ROBOKIN_PT_bake"]
    assert "robokin.slow_targets" in panel["operators"]
    assert called(bpy.ops.robokin.slow_targets, robot) == {"FINISHED"}
    factor = (scene.frame_end - 1) / (LAST - 1)
    assert 1.2 < factor < 10.0
    after = times(target)
    own = (after[0, -1] - 1) / (before[0, -1] - 1)
    assert factor == pytest.approx(own, abs=1.0 / (LAST - 1))
    np.testing.assert_allclose(after, 1.0 + own * (before - 1.0), rtol=1e-5)
    settings = bake(robot)
    assert settings.bake_status == "CONVERGED", settings.bake_reason
    assert readouts.is_present(robot, "bake")  # though it was asked just before the keys were written
    assert "robokin.slow_targets" not in draw(object=robot)["ROBOKIN_PT_bake"]["operators"]
    assert "the robot can keep up" in called(bpy.ops.robokin.slow_targets, robot)


def test_a_target_that_is_not_keyed_cannot_be_slower(scene, hurried):
    robot, target = hurried
    target.animation_data_clear()
    assert "nothing to slow down" in called(bpy.ops.robokin.slow_targets, robot, factor=2.0)
    assert scene.frame_end == LAST


def test_keys_that_are_too_fast_are_slowed_down_from_the_check(scene, hurried):
    robot, _ = hurried
    robot.robokin.tasks.clear()
    bone = robot.pose.bones["panda_joint1"]
    for frame, angle in ((1, 0.0), (5, 1.5), (40, 1.0)):
        bone.rotation_euler[1] = angle
        bone.keyframe_insert("rotation_euler", index=1, frame=frame)
    scene.frame_end = 40
    for is_passed in (False, True):
        assert called(bpy.ops.robokin.check, robot) == {"FINISHED"}
        assert robot.robokin.solver.check_passed == is_passed, robot.robokin.solver.check_summary
        texts = draw(object=robot)["ROBOKIN_PT_check"]["texts"]
        assert ("Slow Down Where Too Fast" in texts) != is_passed
        if not is_passed:
            assert called(bpy.ops.robokin.retime, robot, mode="AS_ANIMATED") == {"FINISHED"}
            scene.frame_end = 60
