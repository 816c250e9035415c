"""Blender's own keys on robots: which axis they turn about, and when they stay Blender's."""

from __future__ import annotations

from types import SimpleNamespace as Of

import bpy
import pytest
from robokin_addon.operators.tools.blender_keys import ROBOKIN_OT_duplicate_whole, common_axis, has_key, own_transform
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


def test_g_turns_what_cannot_slide(scene):
    robot = add_robot()
    chosen(robot, "panda_joint2")
    assert own_transform(robot, "G") == own_transform(robot, "R") == ("R", 1)
    chosen(robot, "panda_finger_joint1")
    assert own_transform(robot, "G") == ("G", 1) and own_transform(robot, "R") is None


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


def test_a_key_that_has_another_meaning_in_the_user_s_keymap_keeps_it(scene):
    """R chooses a tool in the keymap of other programs, and users have theirs."""

    def has(**item):
        item = {"idname": "transform.rotate", "type": "R", "shift": 0, "active": True} | item
        keyconfigs = Of(user=Of(keymaps={"Pose": Of(keymap_items=[Of(**item)])}))
        context = Of(window_manager=Of(keyconfigs=keyconfigs))
        return has_key(context, "Pose", Of(type="R", shift=False), "transform.rotate")

    assert has()
    assert not has(idname="wm.tool_set_by_id") and not has(type="E") and not has(shift=1) and not has(active=False)
