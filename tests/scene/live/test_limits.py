"""Live keeps limits and padlocks that were changed, keyed or driven, on another frame too."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.bridge import binding, read_configuration
from support.blender.scene_robots import TOOL, world_error

UPPER = 0.05
NEAR, TURNED = 1.01e-4, 1.01e-3  # the tolerances of a task
FIRST, LAST = "panda_joint1", "panda_joint7"
PATH = f'bones["{FIRST}"].robokin.upper'


def angle(robot, joint: str = FIRST) -> float:
    return float(read_configuration(robot)[binding(robot).model.slot(joint).q][0])


def aside(target) -> None:
    target.location.y += 0.3
    bpy.context.view_layer.update()


def keyed(robot):
    own = robot.data.bones[FIRST].robokin
    for frame, own.upper in ((1, 2.8), (10, UPPER)):
        robot.data.keyframe_insert(PATH, frame=frame)


def driven(robot):
    robot.data.driver_add(PATH).driver.expression = f"2.8 if frame < 5 else {UPPER}"


@pytest.mark.parametrize("limited", [keyed, driven])
def test_a_limit_of_another_frame_holds_there(scene, robot, target, limited):
    limited(robot)
    scene.frame_set(1)
    aside(target)
    assert angle(robot) > UPPER + 0.01
    scene.frame_set(10)
    assert angle(robot) <= UPPER
    target.location.y += 0.01
    bpy.context.view_layer.update()
    assert angle(robot) <= UPPER
    found = world_error(robot, TOOL, target)
    assert found[0] < NEAR and found[1] < TURNED


def test_a_limit_that_is_set_before_another_frame_holds(scene, robot, target):
    robot.data.bones[FIRST].robokin.upper = UPPER
    scene.frame_set(10)
    aside(target)
    assert angle(robot) <= UPPER
    assert world_error(robot, TOOL, target)[0] < NEAR


def test_a_padlock_that_is_set_before_another_frame_holds(scene, robot, target):
    before = angle(robot)
    robot.data.bones[FIRST].robokin.locked = True
    scene.frame_set(10)
    aside(target)
    assert angle(robot) == before and binding(robot).locked == (FIRST,)
    assert world_error(robot, TOOL, target)[0] < NEAR


@pytest.mark.parametrize("frame", [1, 10])
def test_a_limit_holds_where_it_does_not_bring_the_target_nearer(scene, robot, target, frame):
    """The last joint turns about the tip: the residual of a far target is the same."""
    robot.robokin.tasks[0].kind = "POSITION"
    target.location = (9.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    upper = angle(robot, LAST) - 0.3
    robot.data.bones[LAST].robokin.upper = upper
    scene.frame_set(frame)
    bpy.context.view_layer.update()
    assert angle(robot, LAST) <= upper + 1e-6
