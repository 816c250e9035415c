"""A bake of a whole motion whose time is free."""

from __future__ import annotations

import bpy
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers import check_motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_robot, add_target, circle

FRAMES = 24


def baked(scene, robot, **given):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake(mode="WHOLE", **given) == {"FINISHED"}
    first, last = robot.robokin.baked_frames
    motion = finish(sample_motion(scene, robot, range(first, last + 1)))
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
    assert fastest <= hasty < as_given == FRAMES < gentle
