"""What the panel shows of the tasks of a robot that follows: what Live has found, for as long as it holds."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.handlers import task_readouts
from robokin_addon.properties.bridge import binding
from robokin_addon.properties.handlers import posing_paused
from support.blender.fixtures import followed_target, live_robot
from support.blender.scene_robots import add_empty, add_target

__all__ = ["followed_target", "live_robot"]
FAR = 3.0  # Blender units: beyond any arm


def computed(robot):
    """(position, orientation, reached, singularity) of each task, by a whole task check."""
    return plain(task_readouts._computed(robot, binding(robot)))


def plain(found):
    return [
        None if each is None else (each.position, each.orientation, each.reached, each.singular_value, each.problem)
        for each in found
    ]


def is_as_computed(robot) -> None:
    for found, wanted in zip(plain(task_readouts.task_readouts(robot)), computed(robot), strict=True):
        assert (found is None) == (wanted is None)
        if found is not None:
            assert found[2:] == (wanted[2], pytest.approx(wanted[3], abs=1e-5), wanted[4])
            assert found[:2] == pytest.approx(wanted[:2], abs=2e-5)


@pytest.mark.parametrize("by", [0.05, FAR])
def test_what_live_has_found_is_not_computed_again(robot, target, monkeypatch, by) -> None:
    for _ in range(2):
        target.location.z += by
        bpy.context.view_layer.update()
        is_as_computed(robot)
        with monkeypatch.context() as patch:
            patch.setattr(task_readouts, "_computed", None)  # calling it would raise
            (found,) = task_readouts.task_readouts(robot)
        assert found.reached == (by != FAR) and found.singular_value > 0.0
        assert found.position == (pytest.approx(0.0, abs=1e-4) if by != FAR else pytest.approx(by, rel=2.0))


def switch_off(robot, target) -> None:
    robot.robokin.live = False
    target.location.z -= 0.2


def move_while_paused(robot, target) -> None:
    with posing_paused():
        target.location.z -= 0.2
        bpy.context.view_layer.update()


def pose_while_paused(robot, target) -> None:
    with posing_paused():
        robot.pose.bones["panda_joint2"].rotation_euler[1] += 0.3
        bpy.context.view_layer.update()


def edit_while_paused(robot, target) -> None:
    with posing_paused():
        robot.robokin.tasks[0].position_tolerance, robot.robokin.tasks[0].orientation_tolerance = 10.0, 3.0
        bpy.context.view_layer.update()


def show_another_frame(robot, target) -> None:
    target.keyframe_insert("location", frame=1)
    target.location.x -= FAR
    target.keyframe_insert("location", frame=20)
    bpy.context.scene.frame_set(10)


def move_after_live(robot, target) -> None:
    """A script's own handler does, in the update in which Live has looked."""
    handlers = bpy.app.handlers.depsgraph_update_post

    def move(scene, depsgraph) -> None:
        handlers.remove(move)
        target.location.x += 0.2

    handlers.append(move)
    target.location = (0.4, 0.0, 0.5)


def bake_and_go_back(robot, target) -> None:
    show_another_frame(robot, target)
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.bake(frame_start=1, frame_end=5)
    bpy.context.scene.frame_set(3)


@pytest.mark.parametrize(
    "change",
    [
        switch_off,
        move_while_paused,
        pose_while_paused,
        show_another_frame,
        bake_and_go_back,
        move_after_live,
        edit_while_paused,
        lambda robot, target: robot.robokin.tasks.remove(0),
        lambda robot, target: robot.robokin.tasks.add(),
        lambda robot, target: setattr(robot.robokin.tasks[0], "enabled", False),
        lambda robot, target: setattr(robot.robokin.tasks[0], "influence", 0.5),
        lambda robot, target: setattr(robot.robokin.tasks[0], "position_tolerance", 10.0),
        lambda robot, target: setattr(robot.robokin.tasks[0], "kind", "POSITION"),
        lambda robot, target: setattr(robot.robokin.tasks[0], "target", add_empty("elsewhere")),
        lambda robot, target: bpy.data.objects.remove(target),
        lambda robot, target: setattr(robot, "location", (0.0, 0.0, FAR)),
        lambda robot, target: setattr(robot.data.bones["panda_joint2"].robokin, "locked", True),
    ],
)
def test_what_no_longer_holds_is_not_shown(robot, target, change) -> None:
    target.location.z += FAR
    bpy.context.view_layer.update()
    task_readouts.task_readouts(robot)
    change(robot, target)
    if change is not edit_while_paused:
        bpy.context.view_layer.update()
    is_as_computed(robot)


def test_a_pose_that_blender_has_not_noticed_yet_counts(robot, target) -> None:
    robot.pose.bones["panda_joint2"].rotation_euler[1] += 0.3
    is_as_computed(robot)
    assert task_readouts.task_readouts(robot)[0].position > 0.1


def test_the_singular_value_is_of_the_active_task(robot, target) -> None:
    add_target(robot)
    bpy.context.view_layer.update()
    for active in (0, 1):
        robot.robokin.active_task = active
        found = task_readouts.task_readouts(robot)
        assert [each.singular_value is not None for each in found] == [i == active for i in range(2)]
