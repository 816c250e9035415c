"""Where a bake starts from: the pose that the robot was given, and never the curves that it replaces."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import read_configuration, write_configuration
from support.blender.panels import draw
from support.blender.scene_bakes import bake, keys
from support.blender.scene_robots import add_robot, add_target, circle


def posed(robot, *changes):
    """(nq,) the present pose with joints set to (index, value), shown."""
    q = read_configuration(robot)
    for index, value in changes:
        q[index] = value
    write_configuration(robot, q)
    bpy.context.view_layer.update()
    return read_configuration(robot)


@pytest.fixture
def robot(scene):
    """A redundant arm whose pose is none that a search would take, at its target."""
    robot = add_robot()
    robot.robokin.solver.posture = ""
    robot.robokin.solver.property_unset("start")
    posed(robot, (0, 0.9), (2, -1.1), (4, 0.7))
    circle(add_target(robot), 20, radius=0.02)
    return robot


def test_the_first_frame_is_the_pose_on_the_screen(scene, robot):
    before = read_configuration(robot)
    assert robot.robokin.solver.start == "PRESENT"
    assert bake(robot, frame_end=20).bake_status == "CONVERGED"
    scene.frame_set(1)
    np.testing.assert_allclose(read_configuration(robot), before, atol=2e-3)


def test_baked_again_at_any_frame_it_is_the_same(scene, robot):
    bake(robot, frame_end=20)
    first = keys(robot)
    for frame in (1, 13, 50):
        scene.frame_set(frame)
        bake(robot, frame_end=20)
        assert all((points == first[channel]).all() for channel, points in keys(robot).items())


def test_a_pose_given_since_counts(scene, robot):
    bake(robot, frame_end=20)
    scene.frame_set(1)
    given = posed(robot, (2, 0.4), (0, -0.5))
    bake(robot, frame_end=20)
    scene.frame_set(1)
    assert abs(read_configuration(robot) - given)[[0, 2]].max() < 0.6
    first = keys(robot)
    bake(robot, frame_end=20)
    assert all((points == first[channel]).all() for channel, points in keys(robot).items())


def test_curves_that_no_bake_started_from_do_not_count(scene, robot):
    for frame, value in ((1, 2.0), (20, -2.0)):
        robot.pose.bones["panda_joint1"].rotation_euler[1] = value
        robot.pose.bones["panda_joint1"].keyframe_insert("rotation_euler", index=1, frame=frame)
    scene.frame_set(5)
    settings = bake(robot, frame_end=20)
    assert ", from " in settings.bake_reason and not settings.start_values


def test_automatic_looks_for_a_start_and_is_offered_where_the_present_one_fails(scene, robot):
    target = robot.robokin.tasks[0].target
    assert ", from " in bake(robot, frame_end=20, start="AUTOMATIC").bake_reason
    target.location.x += 5.0
    target.animation_data_clear()
    bake(robot, frame_end=3)
    panel = draw(object=robot)["ROBOKIN_PT_bake"]
    assert "Look for Another Start" in panel["texts"]
    robot.robokin.solver.start = "AUTOMATIC"
    assert "Look for Another Start" not in draw(object=robot)["ROBOKIN_PT_bake"]["texts"]


def test_a_posture_that_is_chosen_is_what_bakes_start_from(scene, robot):
    bpy.ops.robokin.posture_add(name="mine")
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.posture_role(name="mine", role="START")
    assert robot.robokin.solver.start == "POSTURE"
    robot.robokin.solver.start = "REST"
    robot.robokin.solver.posture = "mine"
    assert robot.robokin.solver.start == "REST"


def test_files_from_before_start_from_the_posture_they_chose(scene, robot, tmp_path):
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.posture_add(name="mine")
    robot.robokin.solver["posture"] = "mine"
    robot.robokin.solver.property_unset("start")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    assert bpy.data.objects["panda"].robokin.solver.start == "POSTURE"
