"""The key that goes from target to target."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import read_configuration, write_configuration
from support.blender.scene_robots import world


def test_a_key_goes_from_target_to_target(scene, capfd):
    assert bpy.ops.robokin.add_robot(robot="desk_arm") == {"FINISHED"}
    robot = bpy.context.object
    for aside in (0.0, 0.04, 5.0):
        assert bpy.ops.robokin.move_add(kind="LINE") == {"FINISHED"}
        robot.robokin.moves[-1].target.location.x += aside
    tool = robot.data.bones[-1].name
    start = world(robot, tool)
    said = []
    for _ in range(4):
        assert bpy.ops.robokin.next_target() == {"FINISHED"}
        said.append(capfd.readouterr().out)
    assert "Line: reached (1 of 3)" in said[0] and "Line: reached (1 of 3)" in said[3]
    assert "Line.001: as near as it gets" in said[1] and "Line.002: as near as it gets" in said[2]
    np.testing.assert_allclose(world(robot, tool), start, atol=1e-4)
    assert "turned away" in said[1] and " m away" in said[2]
    assert bpy.ops.robokin.next_target(direction="PREVIOUS") == {"FINISHED"}
    assert robot.robokin.active_move == 2
    assert bpy.ops.robokin.next_target(direction="ACTIVE") == {"FINISHED"}
    assert robot.robokin.active_move == 2


def test_the_next_target_of_a_joint_move_is_its_posture(scene, capfd):
    assert bpy.ops.robokin.add_robot(robot="desk_arm") == {"FINISHED"}
    robot = bpy.context.object
    there = read_configuration(robot)
    there[:2] += 0.2
    write_configuration(robot, there)
    assert bpy.ops.robokin.move_add(kind="JOINT") == {"FINISHED"}
    write_configuration(robot, there - 0.1)
    assert bpy.ops.robokin.next_target() == {"FINISHED"}
    assert "reached (1 of 1)" in capfd.readouterr().out
    np.testing.assert_allclose(read_configuration(robot), there, atol=1e-6)


def test_the_next_target_of_a_curve_is_its_end(scene, capfd):
    assert bpy.ops.robokin.add_robot(robot="panda") == {"FINISHED"}
    robot, data = bpy.context.object, bpy.data.curves.new("way", "CURVE")
    assert bpy.ops.robokin.move_add(kind="CURVE") == {"FINISHED"}
    move, data.dimensions = robot.robokin.moves[0], "3D"
    start, line = world(robot, robot.data.bones[-1].name), data.splines.new("POLY")
    line.points.add(1)
    line.points[0].co, line.points[1].co = (*start, 1.0), (*(start - 0.05), 1.0)
    move.target = bpy.data.objects.new("way", data)
    scene.collection.objects.link(move.target)
    bpy.context.view_layer.update()
    assert bpy.ops.robokin.next_target() == {"FINISHED"}
    assert "reached (1 of 1)" in capfd.readouterr().out


def test_a_robot_without_moves_has_no_next_target(robot):
    with pytest.raises(RuntimeError, match="has no moves: add one"):
        bpy.ops.robokin.next_target()
