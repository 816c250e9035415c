"""What the tests of Blender's side share: a robot whose tip has a target that goes round, which a file has unless it
makes its own; and no test may leave a fault that a handler went on after."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.handlers import reported_faults

from support.blender.scene_robots import add_robot, add_target, circle


@pytest.fixture(autouse=True)
def handlers_work():
    reported_faults()
    yield
    assert reported_faults() == []


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 40
    return add_robot()


@pytest.fixture
def auto_keying(scene):
    """It is on, and the preferences leave no channel out; Blender's own keep curves from being made."""
    edit = bpy.context.preferences.edit
    before = edit.use_auto_keyframe_insert_needed, edit.use_keyframe_insert_available
    scene.tool_settings.use_keyframe_insert_auto = True
    edit.use_auto_keyframe_insert_needed = edit.use_keyframe_insert_available = False
    yield edit
    edit.use_auto_keyframe_insert_needed, edit.use_keyframe_insert_available = before


@pytest.fixture
def target(robot):
    target = add_target(robot)
    circle(target, 40)
    return target


@pytest.fixture(name="robot")
def live_robot(scene):
    return add_robot(live=True)


@pytest.fixture(name="target")
def followed_target(robot):
    """It stands still, and the robot has gone to it where it follows."""
    found = add_target(robot)
    bpy.context.view_layer.update()
    return found
