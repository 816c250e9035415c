"""A joint whose own channel has a driver: nothing that is solved could be shown, so it is refused by name."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.handlers import moves_preview
from robokin_addon.properties.bridge import binding, read_configuration
from robokin_addon.properties.results import readouts
from robokin_addon.robokin import RobokinError
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.scene.posing.joint_turn import JointTurn
from robokin_addon.scene.posing.link_pull import LinkPull
from support.blender.scene_robots import TOOL, add_target, world_error

WORDS = "joint 'panda_joint1': Y Rotation of bone 'panda_joint1' has a driver: mute or remove it"


def drive(robot, value=0.3):
    path, index = next(iter(own_keys(binding(robot))))
    curve = robot.driver_add(path, index)
    curve.driver.expression = str(value)
    bpy.context.view_layer.update()
    return curve


@pytest.mark.parametrize("name", ["home", "reset_pose", "posture_apply"])
def test_postures_refuse_it_too(robot, name):
    bpy.ops.robokin.posture_add()
    drive(robot)
    before = read_configuration(robot)
    with pytest.raises(RuntimeError, match=WORDS):
        getattr(bpy.ops.robokin, name)()
    assert (read_configuration(robot) == before).all()


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


@pytest.mark.parametrize(
    "act",
    [
        lambda robot: JointTurn(robot, "panda_joint1"),
        lambda robot: LinkPull(robot, "panda_joint4"),
        lambda robot: LinkPull(robot, "panda_joint4", is_self_motion=True),
        lambda _: bpy.ops.robokin.jog(frame="TOOL", axis="1"),
        lambda _: bpy.ops.robokin.jog(frame="JOINT", axis="1"),
        lambda _: bpy.ops.robokin.next_target(),
        lambda _: bpy.ops.robokin.drag_joint(bone="panda_joint1", angle=0.1),
    ],
)
def test_tools_of_the_mouse_and_keys_refuse_it_until_the_driver_is_muted(robot, act):
    bpy.ops.robokin.move_add(kind="LINE")
    robot.data.bones.active = robot.data.bones["panda_joint1"]
    curve = drive(robot)
    before = read_configuration(robot)
    with pytest.raises((RuntimeError, RobokinError), match=WORDS):
        act(robot)
    assert (read_configuration(robot) == before).all()
    curve.mute = True
    act(robot)


def test_another_joint_than_the_driven_one_can_be_turned_and_jogged(robot):
    drive(robot)
    robot.data.bones.active = robot.data.bones["panda_joint2"]
    before = read_configuration(robot)
    bpy.ops.robokin.jog(frame="JOINT", axis="1", angle=0.05)
    bpy.ops.robokin.drag_joint(bone="panda_joint3", angle=0.1)
    bpy.context.view_layer.update()
    moved = read_configuration(robot) - before
    assert moved[:3] == pytest.approx((0.0, 0.05, 0.1), abs=1e-6)


def test_the_preview_of_moves_says_so_and_comes_back_once_the_driver_is_muted(robot):
    bpy.ops.robokin.move_add(kind="LINE")

    def shown():
        readouts.moves(robot)
        moves_preview.finish_work()
        return readouts.moves(robot)

    assert shown().problem == ""
    curve = drive(robot, read_configuration(robot)[0])
    assert shown().problem == WORDS
    curve.mute = True
    assert shown().problem == ""
