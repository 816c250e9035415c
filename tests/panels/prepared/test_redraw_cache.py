"""The robot as it is drawn: looked at anew only where nobody else has, and never an old one."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.panels.prepared.redraw_cache import shown_binding
from robokin_addon.properties.bridge import BridgeError, binding
from robokin_addon.properties.bridge.model import binding as module
from support.blender.scene_robots import add_robot


@pytest.fixture
def robot(scene):
    robot = add_robot()
    bpy.context.view_layer.update()
    shown_binding(robot)
    return robot


@pytest.fixture
def looks(monkeypatch):
    """How often an armature was looked at."""
    found = []
    real = module.armature_content
    monkeypatch.setattr(module, "armature_content", lambda obj: (found.append(obj), real(obj))[1])
    return found


def test_a_redraw_looks_at_nothing_again(robot, looks):
    first = shown_binding(robot)
    bpy.context.view_layer.objects.active = robot
    other = bpy.data.objects.new("other", None)
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    looks.clear()
    assert shown_binding(robot) is first and len(looks) <= 1  # the scene was changed
    other.location.x += 1.0
    bpy.context.view_layer.update()
    looks.clear()
    assert shown_binding(robot) is first and not looks


def test_a_robot_that_was_changed_is_the_new_one(robot, looks):
    first = shown_binding(robot)
    robot.data.bones["panda_joint4"].robokin.locked = True
    bpy.context.view_layer.update()
    looks.clear()
    assert shown_binding(robot) is not first and shown_binding(robot).locked == ("panda_joint4",) and not looks
    bpy.context.scene.unit_settings.scale_length = 2.0
    bpy.context.view_layer.update()
    assert shown_binding(robot).metres_per_unit == 2.0


@pytest.mark.parametrize(("field", "value"), [("mass", 7.0), ("com", (0, 0, 1)), ("inertia", [1.0, 0, 0, 1, 0, 1])])
def test_a_link_that_a_script_changes_is_the_new_one(robot, field, value):
    first = shown_binding(robot)
    setattr(robot.data.bones["panda_joint4"].robokin, field, value)
    bpy.context.view_layer.update()
    assert shown_binding(robot) is not first


def test_in_another_scene_it_is_the_robot_of_that_scene(robot):
    first, other = bpy.context.scene, bpy.data.scenes.new("other")
    other.unit_settings.scale_length = 0.5
    other.collection.objects.link(robot)
    for scene, unit in ((other, 0.5), (first, 1.0), (other, 0.5)):
        bpy.context.window.scene = scene
        bpy.context.view_layer.update()
        assert shown_binding(robot).metres_per_unit == unit


def test_limits_that_keys_change_are_those_of_the_frame(robot):
    joint = robot.data.bones["panda_joint4"].robokin
    for frame, lower in ((1, -2.0), (10, -1.0)):
        joint.lower = lower
        robot.data.keyframe_insert('bones["panda_joint4"].robokin.lower', frame=frame)
    for frame, lower in ((1, -2.0), (10, -1.0)):
        bpy.context.scene.frame_set(frame)
        model = shown_binding(robot).model
        assert model.lower[model.slot("panda_joint4").q] == pytest.approx(lower)


def test_a_robot_that_can_no_longer_be_read_is_none(robot):
    constraint = robot.pose.bones["panda_joint4"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.influence = bpy.data.objects["panda"], 0.0
    bpy.context.view_layer.update()
    assert shown_binding(robot) is binding(robot)
    constraint.influence = 1.0
    bpy.context.view_layer.update()
    for _ in range(2):
        with pytest.raises(BridgeError, match="has the constraint"):
            shown_binding(robot)
    constraint.influence = 0.0
    bpy.context.view_layer.update()
    assert shown_binding(robot) is binding(robot)


def test_in_edit_mode_there_is_no_robot(robot):
    bpy.context.view_layer.objects.active = robot
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(BridgeError, match="Edit Mode"):
        shown_binding(robot)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    assert shown_binding(robot).bones
