"""Auto-keying as Blender's own tools do it: what each preference has keyed. Blender's own way of inserting keys with a
keying set is the oracle of the sets."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.bridge import binding
from robokin_addon.scene.animation.auto_keys import auto_key
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.scene.animation.frames import fcurves
from support.blender.every_joint import make_every_joint
from support.blender.scene_robots import add_robot, add_target

BONE = 'pose.bones["panda_joint2"].rotation_euler'


@pytest.fixture(autouse=True)
def edit(auto_keying):
    return auto_keying


@pytest.fixture
def robot(scene):
    robot = add_robot(live=True)
    add_target(robot)
    bpy.context.view_layer.update()
    return robot


def moved(robot, frame=5):
    """The keyed frames of each channel after the target was moved at a frame; joint 1 needs no motion for it."""
    bpy.context.scene.frame_set(frame)
    target = robot.robokin.tasks[0].target
    target.location.z -= 0.03
    bpy.context.view_layer.update()
    return {key: [point.co.x for point in curve.keyframe_points] for key, curve in fcurves(robot).items()}


def test_all_channels_are_keyed(robot):
    assert moved(robot) == {key: [5.0] for key in own_keys(binding(robot))}


def test_only_insert_available_keys_no_channel_without_a_curve(robot, edit):
    edit.use_keyframe_insert_available = True
    assert moved(robot) == {}
    robot.pose.bones["panda_joint2"].keyframe_insert("rotation_euler", index=1, frame=1)
    assert moved(robot) == {(BONE, 1): [1.0, 5.0]}


def test_only_insert_needed_keys_what_has_moved(robot, edit):
    edit.use_auto_keyframe_insert_needed = True
    for key in own_keys(binding(robot)):
        bone = robot.pose.bones[own_keys(binding(robot))[key].bone]
        bone.keyframe_insert(key[0].rpartition(".")[2], index=key[1], frame=1)
    found = moved(robot)
    fingers = {key for key in found if "finger" in key[0]}
    assert fingers and all(found[key] == [1.0] for key in fingers)
    assert found[BONE, 1] == [1.0, 5.0]


def test_replace_keys_only_where_there_is_a_key(robot):
    bpy.context.scene.tool_settings.auto_keying_mode = "REPLACE_KEYS"
    assert moved(robot) == {}
    robot.pose.bones["panda_joint2"].keyframe_insert("rotation_euler", index=1, frame=5)
    assert moved(robot, 6) == {(BONE, 1): [5.0]}
    before = fcurves(robot)[BONE, 1].keyframe_points[0].co.y
    assert moved(robot, 5) == {(BONE, 1): [5.0]}
    assert fcurves(robot)[BONE, 1].keyframe_points[0].co.y != before


def test_keys_have_the_type_that_is_chosen(robot):
    bpy.context.scene.tool_settings.keyframe_type = "BREAKDOWN"
    moved(robot)
    assert {curve.keyframe_points[0].type for curve in fcurves(robot).values()} == {"BREAKDOWN"}


@pytest.mark.parametrize(
    "made", ["Location", "Rotation", "Scaling", "BUILTIN_KSI_LocRot", "WholeCharacter", "Available"]
)
def test_a_keying_set_keys_the_same_channels_as_blender_with_it(scene, made):
    robot = make_every_joint()
    bpy.context.view_layer.objects.active = robot
    robot.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    own = own_keys(binding(robot))
    if made == "Available":
        path, index = next(iter(own))
        robot.keyframe_insert(path, index=index, frame=1)
    scene.frame_set(9)
    area = next(each for each in bpy.context.window.screen.areas if each.type == "VIEW_3D")
    region = next(each for each in area.regions if each.type == "WINDOW")
    with bpy.context.temp_override(area=area, region=region):
        bpy.ops.anim.keyframe_insert_by_name(type=made)
    at = {key for key, curve in fcurves(robot).items() if curve.keyframe_points[-1].co.x == 9.0}
    wanted = at & own.keys()
    robot.animation_data_clear()
    if made == "Available":
        robot.keyframe_insert(path, index=index, frame=1)
    bpy.ops.object.mode_set(mode="OBJECT")
    scene.tool_settings.use_keyframe_insert_keyingset = True
    scene.keying_sets_all.active = next(each for each in scene.keying_sets_all if each.bl_idname == made)
    scene.frame_set(9)
    auto_key(bpy.context, robot)
    assert {key for key, curve in fcurves(robot).items() if curve.keyframe_points[-1].co.x == 9.0} == wanted
    assert bool(wanted) == (made != "Scaling")


def test_a_keying_set_of_ones_own_keys_its_paths(robot):
    scene = bpy.context.scene
    own = scene.keying_sets.new(idname="own", name="own")
    own.paths.add(robot, BONE, index=1)
    own.paths.add(robot, "location")
    scene.keying_sets.active = own
    scene.tool_settings.use_keyframe_insert_keyingset = True
    assert moved(robot) == {(BONE, 1): [5.0]}
    own.paths[0].use_entire_array = True
    assert (BONE, 1) in moved(robot, 7) and len(moved(robot, 8)) == 1


def test_a_quaternion_is_keyed_as_a_whole(scene, edit):
    robot = make_every_joint()
    ball = robot.pose.bones["ball"]
    ball.keyframe_insert("rotation_quaternion", frame=1)
    edit.use_auto_keyframe_insert_needed = edit.use_keyframe_insert_available = True
    scene.frame_set(9)
    ball.rotation_quaternion = (0.98, 0.2, 0.0, 0.0)
    auto_key(bpy.context, robot)
    assert [len(curve.keyframe_points) for curve in fcurves(robot).values()] == [2] * 4
