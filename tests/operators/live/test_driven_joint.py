"""A joint whose own channel has a driver: nothing that is solved could be shown, so it is refused by name."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.bridge import binding, read_configuration
from robokin_addon.properties.results import readouts
from robokin_addon.scene.animation.curves import own_keys
from support.blender.scene_robots import TOOL, add_target, world_error

WORDS = "joint 'panda_joint1': Y Rotation of bone 'panda_joint1' has a driver: mute or remove it"


def drive(robot, value=0.3):
    path, index = next(iter(own_keys(binding(robot))))
    curve = robot.driver_add(path, index)
    curve.driver.expression = str(value)
    bpy.context.view_layer.update()
    return curve


@pytest.mark.parametrize("name", ["solve_pose", "solve_by_method", "postures", "bake"])
def test_it_is_refused_by_name_until_the_driver_is_muted(robot, name):
    target = add_target(robot)
    target.location.y += 0.05
    curve = drive(robot)
    before = read_configuration(robot)
    solve = getattr(bpy.ops.robokin, name)
    with pytest.raises(RuntimeError, match=WORDS):
        solve()
    assert (read_configuration(robot) == before).all()
    curve.mute = True
    bpy.context.view_layer.update()
    assert solve() == {"FINISHED"}


def test_live_says_so_and_follows_again_once_the_driver_is_gone(robot):
    target = add_target(robot)
    robot.robokin.live = True
    bpy.context.view_layer.update()
    curve = drive(robot)
    before = read_configuration(robot)
    target.location.y += 0.05
    bpy.context.view_layer.update()
    assert readouts.live(robot).text == f"Waits: {WORDS}" and robot.robokin.solver.status == ""
    assert (read_configuration(robot) == before).all()
    robot.driver_remove(curve.data_path, curve.array_index)
    bpy.context.view_layer.update()
    assert "Waits" not in readouts.live(robot).text and world_error(robot, TOOL, target)[0] < 1e-4
