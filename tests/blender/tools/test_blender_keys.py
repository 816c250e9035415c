"""Blender's own keys on robots: which axis they turn about, and when they stay Blender's."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.tools.blender_keys import ROBOKIN_OT_duplicate_whole, common_axis
from robokin_addon.properties.selected.selection import select
from support.blender.scene_robots import add_robot


def chosen(robot, *bones):
    for bone in robot.pose.bones:
        select(bone, bone.name in bones)


def test_a_key_knows_the_axis_of_the_joints_that_are_selected(scene):
    robot = add_robot()
    chosen(robot, "panda_joint2")
    assert common_axis(robot, "rotation_euler") == 1 and common_axis(robot, "location") is None
    chosen(robot, "panda_joint2", "panda_joint4")
    assert common_axis(robot, "rotation_euler") == 1
    chosen(robot, "panda_finger_joint1")
    assert common_axis(robot, "location") == 1 and common_axis(robot, "rotation_euler") is None
    chosen(robot, "panda_finger_joint2")  # follows the other one
    assert common_axis(robot, "location") is None


@pytest.mark.parametrize(("kind", "axis"), [("universal", None), ("spherical", None), ("screw", 1), ("cylindrical", 1)])
def test_joints_with_several_axes_turn_as_blender_turns_bones(scene, kind, axis):
    robot = add_robot()
    robot.data.bones["panda_joint3"].robokin.joint_type = kind
    chosen(robot, "panda_joint3")
    assert common_axis(robot, "rotation_euler") == axis


def test_keys_are_in_the_key_map_and_a_robot_alone_is_duplicated_whole(scene):
    keymaps = bpy.context.window_manager.keyconfigs.addon.keymaps
    found = {(name, item.idname, item.type) for name, keymap in keymaps.items() for item in keymap.keymap_items}
    assert ("Pose", "robokin.transform_joint", "R") in found and ("Pose", "robokin.transform_joint", "G") in found
    assert ("Object Mode", "robokin.duplicate_whole", "D") in found
    robot = add_robot()
    for obj in bpy.context.selected_objects:
        obj.select_set(obj == robot)
    robot.select_set(True)
    assert ROBOKIN_OT_duplicate_whole.poll(bpy.context)
    bpy.ops.object.empty_add()
    robot.select_set(True)
    assert not ROBOKIN_OT_duplicate_whole.poll(bpy.context)
