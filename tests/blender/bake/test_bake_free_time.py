"""A bake of a whole motion whose time is free."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers import check_motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_robot, add_target, circle

FRAMES = 24


def baked(scene, robot, **given):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake(mode="WHOLE", **given) == {"FINISHED"}
    first, last = robot.robokin.baked_frames
    motion = finish(sample_motion(scene, robot, range(first, last + 1), binding(robot)))
    assert not check_motion(motion, float32=True).violations
    return last, motion


def test_a_motion_takes_the_frames_that_it_is_worth(scene):
    scene.frame_start, scene.frame_end = 1, FRAMES
    robot = add_robot()
    circle(add_target(robot, kind="POSITION"), FRAMES, 0.05)
    as_given, _ = baked(scene, robot)
    gentle, _ = baked(scene, robot, duration_weight=0.01)
    hasty, _ = baked(scene, robot, duration_weight=1e4)
    fastest, _ = baked(scene, robot, cost="DURATION")
    seconds = [frames / 24.0 for frames in (fastest - 1, FRAMES - 1)]
    assert "it takes {:.3g} s in place of {:.3g} s".format(*seconds) in robot.robokin.solver.bake_reason
    assert fastest <= hasty < as_given == FRAMES < gentle


def test_what_is_too_fast_gets_the_time_that_it_needs(scene):
    scene.frame_start, scene.frame_end = 1, 8
    robot = add_robot()
    circle(add_target(robot, kind="POSITION"), 8, 0.3)
    baked(scene, robot)
    assert robot.robokin.solver.bake_status == "LIMIT"
    last, _ = baked(scene, robot, cost="DURATION")
    assert robot.robokin.solver.bake_status == "CONVERGED" and last > 8
    scene.frame_end = 4  # over the keys of the last bake
    with bpy.context.temp_override(object=robot), pytest.raises(RuntimeError, match="over the keys from frame 5"):
        bpy.ops.robokin.bake(mode="WHOLE", cost="DURATION")


def test_it_brakes_before_it_rests(scene):
    """Where the motion is over before the range is; what criteria cost is that of what is shown."""
    scene.frame_start, scene.frame_end = 1, 2 * FRAMES
    robot = add_robot()
    circle(add_target(robot, kind="POSITION"), 2 * FRAMES, 0.02)
    for bone in robot.data.bones:
        bone.robokin.use_acceleration, bone.robokin.acceleration = True, 5.0
    robot.robokin.criteria.add().kind = "KINETIC_ENERGY"
    baked(scene, robot)
    last, ended = baked(scene, robot, cost="DURATION")
    motion = finish(sample_motion(scene, robot, range(1, 2 * FRAMES + 1), binding(robot)))
    assert last < FRAMES and 24.0 * abs(ended.v[-1]).max() > 5.0 and abs(motion.v[-1]).max() < 1e-3
    assert not check_motion(motion, float32=True).violations
    np.testing.assert_allclose(motion.q[-1], ended.q[-1], atol=1e-3)
    cost = fcurves(robot)["robokin.criteria[0].cost", 0]
    assert cost.evaluate(last) > 1e-3 > cost.evaluate(2 * FRAMES)


def test_one_frame_stays_one(scene):
    scene.frame_start = scene.frame_end = 1
    robot = add_robot()
    add_target(robot, kind="POSITION")
    assert baked(scene, robot, cost="DURATION")[0] == 1
