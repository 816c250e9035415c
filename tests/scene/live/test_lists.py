"""A live robot sees what a script does to its lists: Blender lists no change then."""

from __future__ import annotations

import bpy
import numpy as np
from robokin_addon.properties.bridge import read_configuration
from robokin_addon.properties.results import readouts
from support.blender.scene_robots import TOOL, add_empty, add_robot, add_target, world_error

NEAR = 1.01e-4  # the tolerance of a task


def moved(robot, target):
    """(nq,) where the robot is after its target has moved."""
    target.location.x -= 0.1
    bpy.context.view_layer.update()
    return read_configuration(robot)


def add_criterion(robot):
    robot.robokin.tasks[0].kind = "POSITION"
    criterion = robot.robokin.criteria.add()
    criterion.name, criterion.kind, criterion.posture = "rest", "REST_POSTURE", "Start"
    criterion.weight = 1.0
    bpy.context.view_layer.update()


def test_a_criterion_that_is_removed_counts_no_more(robot, target):
    start = read_configuration(robot)
    robot.robokin.tasks[0].kind = "POSITION"
    bpy.context.view_layer.update()
    without = moved(robot, target)
    assert abs(without - start).max() > 0.01
    other = add_robot(live=True)
    own = add_target(other)
    add_criterion(other)
    other.robokin.criteria.remove(0)
    np.testing.assert_allclose(moved(other, own), without, atol=1e-4)


def test_a_posture_that_is_removed_is_missed(robot, target):
    add_criterion(robot)
    robot.robokin.postures.remove(robot.robokin.postures.find("Start"))
    moved(robot, target)
    assert "no stored posture named 'Start'" in readouts.live(robot).text


def test_a_task_of_the_same_name_is_another_one(robot, target, capfd):
    name = robot.robokin.tasks[0].name
    robot.robokin.tasks.clear()
    robot.robokin.tasks.add().name = name
    before = read_configuration(robot)
    assert (moved(robot, target) == before).all()
    assert f"task {name!r} has no tip" in readouts.live(robot).text
    assert "Traceback" not in capfd.readouterr().err


def test_the_enabled_one_of_two_tasks_of_a_name_is_followed(robot, target):
    other = add_empty("other")
    other.matrix_world = target.matrix_world
    other.location.y += 0.1
    task = robot.robokin.tasks.add()
    task.name, task.tip, task.target, task.enabled = robot.robokin.tasks[0].name, TOOL, other, False
    bpy.context.view_layer.update()
    robot.robokin.tasks.move(0, 1)
    moved(robot, target)
    assert world_error(robot, TOOL, target)[0] < NEAR
