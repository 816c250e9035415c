"""Why a target is missed, known at once, and what one click does about it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.panels.prepared.joint_rows import blocking_bones
from robokin_addon.properties.bridge import binding, robot_model, write_configuration
from robokin_addon.properties.results.why import remedies, why
from robokin_addon.robokin.library import library_robot
from robokin_addon.scene.animation.frames import fcurves
from support.blender.panels import draw_popover
from support.blender.scene_robots import TOOL, add_robot, add_target, build, world_error


def run(robot, operator, **options):
    with bpy.context.temp_override(object=robot, active_object=robot):
        assert getattr(bpy.ops.robokin, operator)(**options) == {"FINISHED"}
    bpy.context.view_layer.update()


@pytest.fixture(params=[True, False], ids=["live", "solved"])
def robot(request, scene):
    return add_robot(live=request.param)


def moved(robot, target, **channels):
    for name, value in channels.items():
        setattr(target, name, value)
    bpy.context.view_layer.update()
    if not robot.robokin.live:
        run(robot, "solve_pose")


def offered(robot):
    return {remedy.how for remedy in remedies(robot)}


def drawn(robot):
    return draw_popover("ROBOKIN_PT_why", object=robot, active_object=robot)


def test_what_is_too_far_away_comes_into_reach(robot):
    target = add_target(robot)
    moved(robot, target, location=(4.0, 1.0, 0.5))
    assert robot.robokin.solver.status == "OUT_OF_REACH" and why(robot).tasks == (robot.robokin.tasks[0].name,)
    assert offered(robot) == {"BASE"} and drawn(robot)["operators"] == ["robokin.base_nearer"]
    run(robot, "base_nearer")
    if not robot.robokin.live:
        run(robot, "solve_pose")
    assert world_error(robot, TOOL, target)[0] < 1e-4 and robot.robokin.solver.status == "CONVERGED"


def test_where_no_joint_turns_the_tool_so_the_base_is_not_to_blame(scene):
    robot = build(library_robot("gantry"))
    robot.robokin.live = False
    target = add_target(robot, robot.pose.bones[-1].name)
    target.rotation_euler.rotate_axis("X", 0.5)
    moved(robot, target)
    assert robot.robokin.solver.status == "OUT_OF_REACH" and "no joint turns it so" in robot.robokin.solver.reason
    assert "ROTATION" in offered(robot) and "BASE" not in offered(robot)
    run(robot, "task_relax", task=robot.robokin.tasks[0].name, how="ROTATION")
    run(robot, "solve_pose")
    assert robot.robokin.solver.status == "CONVERGED"


@pytest.fixture(params=[True, False], ids=["live", "solved"])
def held(request, scene):
    """A six-axis arm whose last joint may not turn the tool about its own axis as its target asks."""
    robot = build(library_robot("puma560"))
    robot.robokin.live = request.param
    write_configuration(robot, np.array([0.1, 0.2, -1.5, 0.4, 0.7, 0.0]))
    bpy.context.view_layer.update()
    target = add_target(robot, robot.pose.bones[-1].name)
    last = robot_model(robot).moving_joints[-1]
    settings = robot.data.bones[binding(robot).bone_of_link[last.child]].robokin
    settings.lower, settings.upper = -0.1, 0.1
    target.rotation_euler.rotate_axis("Z", 1.0)
    moved(robot, target)
    return robot, last.name


def test_a_joint_at_its_limit_is_named_and_red(held):
    robot, last = held
    settings, target = robot.robokin.solver, robot.robokin.tasks[0].target
    assert settings.status == ("MAX_ITERATIONS" if robot.robokin.live else "LIMIT")
    assert last in why(robot).joints and last in [j.name for j in robot_model(robot).moving_joints]
    assert binding(robot).bone_of_link[robot_model(robot).joint(last).child] in blocking_bones(robot)
    assert offered(robot) == {"ROTATION", "AXIS", "TOLERANCE"}
    assert any(last in label for label in drawn(robot)["labels"]) and "robokin.postures" in drawn(robot)["operators"]
    run(robot, "task_relax", how="ROTATION")
    if not robot.robokin.live:
        run(robot, "solve_pose")
    assert settings.status == "CONVERGED" and not why(robot).joints and not blocking_bones(robot)
    assert world_error(robot, robot.pose.bones[-1].name, target)[0] < 1e-4


@pytest.mark.parametrize("how", ["AXIS", "TOLERANCE"])
def test_a_task_that_asks_less_is_met(held, how):
    robot, _ = held
    task = robot.robokin.tasks[0]
    assert task.solved and not task.reached
    run(robot, "task_relax", how=how, task=task.name)
    if not robot.robokin.live:
        run(robot, "solve_pose")
    assert robot.robokin.solver.status == "CONVERGED" and task.reached


def test_tasks_in_conflict_come_one_after_the_other(robot):
    first, second = add_target(robot), add_target(robot, kind="POSITION")
    moved(robot, second, location=first.location + second.location * 0.2)
    assert robot.robokin.solver.status != "CONVERGED"
    assert "PRIORITY" in offered(robot)
    run(robot, "task_relax", how="PRIORITY", task=robot.robokin.tasks[1].name)
    if not robot.robokin.live:
        run(robot, "solve_pose")
    assert robot.robokin.tasks[0].reached and not robot.robokin.tasks[1].reached
    assert robot.robokin.tasks[1].priority == 2


def test_what_cannot_be_relaxed_is_reported(robot):
    add_target(robot)
    for operator, options, words in (
        ("task_relax", {"how": "PRIORITY"}, "changes nothing of it"),
        ("task_relax", {"how": "ROTATION", "task": "tool"}, "no task named 'tool'"),
        ("base_nearer", {"task": "tool"}, "no task named 'tool'"),
    ):
        with pytest.raises(RuntimeError, match=words):
            run(robot, operator, **options)
    robot.keyframe_insert("location")
    assert fcurves(robot)
    with pytest.raises(RuntimeError, match="held where it is"):
        run(robot, "base_nearer")
    robot.robokin.tasks[0].target.parent = robot
    robot.animation_data_clear()
    with pytest.raises(RuntimeError, match="moves with the robot"):
        run(robot, "base_nearer")
    robot.robokin.solver.why = "[1"
    assert why(robot).joints == ()
