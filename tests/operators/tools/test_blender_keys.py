"""Blender's own keys on robots: which axis they turn about, and when they stay Blender's."""

from __future__ import annotations

from types import SimpleNamespace as Of

import bpy
import pytest
from robokin_addon.operators.tools import blender_keys
from robokin_addon.operators.tools.blender_keys import (
    ROBOKIN_OT_duplicate_whole,
    ROBOKIN_OT_transform_joint,
    common_axis,
    has_key,
    own_transform,
)
from robokin_addon.properties.selected.selection import select
from support.blender.scene_robots import add_robot, add_target


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
    robot.select_set(False)
    bpy.ops.object.empty_add()
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


class Bpy:
    """Stands in for `bpy` in the module of the keys: writes down which operators are called."""

    def __init__(self):
        self.calls, self.ops = [], self
        self.transform = self.robokin = self.object = self

    def __getattr__(self, name):
        return lambda *args, **options: self.calls.append((name, args, options))


def pressed(monkeypatch, operator, key, shift=False, **settings):
    """What a key calls that is bound as it is in the add-on's own key map, in the context of now."""
    stand_in = Bpy()
    monkeypatch.setattr(blender_keys, "bpy", stand_in)
    (item,) = [
        item
        for keymap in bpy.context.window_manager.keyconfigs.addon.keymaps.values()
        for item in keymap.keymap_items
        if item.idname == operator.bl_idname and (item.type, bool(item.shift)) == (key, shift)
    ]
    own = Of(kind=getattr(item.properties, "kind", ""), report=lambda *args: stand_in.calls.append(args))
    outcome = operator.invoke(own, bpy.context, Of(type=key, shift=shift))
    return outcome, stand_in.calls


@pytest.mark.parametrize(
    ("key", "bone", "call"), [("R", "panda_joint2", "rotate"), ("G", "panda_finger_joint1", "translate")]
)
def test_a_key_turns_or_slides_about_the_joint_s_own_axis(scene, monkeypatch, key, bone, call):
    robot = add_robot()
    chosen(robot, bone)
    monkeypatch.setattr(blender_keys, "has_key", lambda *_: True)
    outcome, calls = pressed(monkeypatch, ROBOKIN_OT_transform_joint, key)
    assert outcome == {"FINISHED"}
    ((name, args, options),) = calls
    assert (name, args) == (call, ("INVOKE_DEFAULT", True))
    assert options == {"orient_type": "LOCAL", "constraint_axis": (False, True, False)}
    chosen(robot, "panda_joint8")
    assert pressed(monkeypatch, ROBOKIN_OT_transform_joint, key) == ({"PASS_THROUGH"}, [])
    chosen(robot, bone)
    monkeypatch.setattr(blender_keys, "has_key", lambda *_: False)
    assert pressed(monkeypatch, ROBOKIN_OT_transform_joint, key) == ({"PASS_THROUGH"}, [])


def test_the_key_is_blender_s_with_two_armatures_in_pose_mode(scene):
    robot = add_robot()
    bpy.ops.object.armature_add()
    other = bpy.context.object
    robot.select_set(True)
    bpy.context.view_layer.objects.active = robot
    bpy.ops.object.mode_set(mode="POSE")
    assert other.mode == robot.mode == "POSE" and not ROBOKIN_OT_transform_joint.poll(bpy.context)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not ROBOKIN_OT_transform_joint.poll(bpy.context)
    other.select_set(False)
    bpy.ops.object.mode_set(mode="POSE")
    assert ROBOKIN_OT_transform_joint.poll(bpy.context)


def test_shift_d_duplicates_the_robot_that_is_selected(scene, monkeypatch):
    robot = add_robot()
    bpy.ops.object.empty_add()
    bpy.context.object.select_set(False)
    robot.select_set(True)
    for is_its_key, outcome, calls in (
        (True, {"FINISHED"}, [("duplicate_move", ("INVOKE_DEFAULT", True), {})]),
        (False, {"PASS_THROUGH"}, []),
    ):
        monkeypatch.setattr(blender_keys, "has_key", lambda *_, found=is_its_key: found)
        assert pressed(monkeypatch, ROBOKIN_OT_duplicate_whole, "D", True) == (outcome, calls)
    assert bpy.context.object == robot


@pytest.mark.parametrize("has_mesh", [False, True])
def test_shift_d_takes_targets_along_and_tells_where_meshes_stay_behind(scene, monkeypatch, has_mesh):
    robot = add_robot()
    add_target(robot).select_set(True)
    robot.select_set(True)
    monkeypatch.setattr(blender_keys, "has_key", lambda *_: True)
    outcome, calls = pressed(monkeypatch, ROBOKIN_OT_duplicate_whole, "D", True)
    assert outcome == {"FINISHED"} and bpy.context.object == robot
    assert calls == [("duplicate_move", ("INVOKE_DEFAULT", True), {})]
    if has_mesh:
        bpy.ops.mesh.primitive_cube_add()
        bpy.context.object.parent = robot
        bpy.context.object.select_set(False)
    bpy.ops.object.empty_add()
    robot.select_set(True)
    outcome, calls = pressed(monkeypatch, ROBOKIN_OT_duplicate_whole, "D", True)
    if not has_mesh:
        assert outcome == {"PASS_THROUGH"} and not calls
        return
    told = ({"WARNING"}, "Meshes stay behind: select one robot alone to duplicate it with them")
    assert outcome == {"FINISHED"} and calls == [("duplicate_move", ("INVOKE_DEFAULT", True), {}), told]
