"""What panels say of tasks and results follows the scene, or is told as that of before the change."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.bridge import binding
from robokin_addon.properties.results import readouts
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.scene.animation.frames import fcurves
from support.blender.panels import draw
from support.blender.scene_robots import add_target


def words(panel):
    return " ".join(draw()[panel]["labels"])


def test_what_a_task_is_off_by_follows_target_and_pose(robot):
    target = add_target(robot)
    assert "Off by 0" in words("ROBOKIN_PT_tasks")
    target.location.z += 0.13
    bpy.context.view_layer.update()
    assert "Off by 0.13 m" in words("ROBOKIN_PT_tasks")
    bpy.ops.robokin.solve_pose()
    bpy.context.view_layer.update()
    assert "0.13" not in words("ROBOKIN_PT_tasks")
    robot.pose.bones["panda_joint1"].rotation_euler[1] += 0.5
    bpy.context.view_layer.update()
    assert readouts.tasks(robot)[0].position > 0.1 and not readouts.tasks(robot)[0].reached


@pytest.mark.parametrize(
    "change",
    [
        lambda robot, target: setattr(target, "location", (0.5, 0.1, 0.6)),
        lambda robot, target: setattr(robot.pose.bones["panda_joint1"], "rotation_euler", (0.0, 0.7, 0.0)),
        lambda robot, target: setattr(robot.robokin.tasks[0], "position_tolerance", 0.5),
        lambda robot, target: setattr(robot.robokin.tasks[0], "enabled", False),
        lambda robot, target: setattr(robot.data.bones["panda_joint2"].robokin, "upper", 1.0),
        lambda robot, target: setattr(robot.robokin.solver, "mode", "WEIGHTED"),
    ],
)
def test_a_solve_is_reported_as_that_of_before_any_change(robot, change):
    target = add_target(robot)
    target.location.x += 0.05
    bpy.ops.robokin.solve_pose()
    bpy.context.view_layer.update()
    assert draw()["ROBOKIN_PT_solve"]["labels"][0] == "Reached"
    change(robot, target)
    bpy.context.view_layer.update()
    assert draw()["ROBOKIN_PT_solve"]["labels"][0] == "Before the change: reached"


def test_a_robot_that_is_moved_with_its_target_is_as_it_was(robot):
    target = add_target(robot)
    bpy.ops.robokin.solve_pose()
    for obj in (robot, target):
        obj.location.x += 1.0
    bpy.context.view_layer.update()
    assert draw()["ROBOKIN_PT_solve"]["labels"][0] == "Reached"


def test_bake_and_check_hold_until_a_curve_is_edited(scene, robot, target):
    bpy.ops.robokin.bake(frame_end=10)
    bpy.ops.robokin.check(frame_end=10)
    for frame in (5, 20, 1):
        scene.frame_set(frame)
        assert "Before" not in words("ROBOKIN_PT_bake") + words("ROBOKIN_PT_check")
    fcurves(robot)[next(iter(own_keys(binding(robot))))].keyframe_points[3].co[1] += 0.2
    robot.animation_data.action.update_tag()
    bpy.context.view_layer.update()
    assert "Before the change: " in words("ROBOKIN_PT_bake")
    assert "Before the change:" in words("ROBOKIN_PT_check")


def test_a_script_may_edit_keys_and_go_to_a_frame_at_once(scene, robot, target):
    bpy.ops.robokin.bake(frame_end=10)
    key = next(iter(own_keys(binding(robot))))
    for change in (
        lambda: setattr(fcurves(robot)[key].keyframe_points[3], "co", (4.0, 1.0)),
        lambda: fcurves(robot)[key].keyframe_points.insert(5, 1.0),
        lambda: setattr(target, "rotation_euler", (0.1, 0.0, 0.0)),
    ):
        bpy.ops.robokin.bake(frame_end=10)
        assert "Before" not in words("ROBOKIN_PT_bake")
        change()
        scene.frame_set(5)
        assert "Before the change: " in words("ROBOKIN_PT_bake")


@pytest.mark.parametrize("what", ["target's curve", "influence", "a limit", "frame rate"])
def test_a_bake_is_of_its_targets_and_tasks(robot, target, what):
    bpy.ops.robokin.bake(frame_end=10)
    if what == "target's curve":
        fcurves(target)["location", 0].keyframe_points[2].co[1] += 0.1
        target.animation_data.action.update_tag()
    elif what == "influence":
        robot.robokin.tasks[0].influence = 0.5
    elif what == "frame rate":
        bpy.context.scene.render.fps = 60
    else:
        robot.data.bones["panda_joint2"].robokin.velocity = 0.1
    bpy.context.view_layer.update()
    assert "Before the change: " in words("ROBOKIN_PT_bake")
