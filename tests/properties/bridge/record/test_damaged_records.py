"""A damaged record names its bone and field, stays as it is until it is reset, and nothing else suffers from it."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import robot_model
from robokin_addon.properties.bridge.record.reading import read_helper, read_record, read_robot
from robokin_addon.properties.bridge.record.stored import HELPER_KEY, KEY, ROBOT_KEY
from robokin_addon.properties.bridge.record.writing import write_helper, write_record, write_robot
from robokin_addon.robokin import RobokinError
from robokin_addon.robokin.model.joint_types import JOINT_TYPES
from support.blender.every_joint import make_every_joint
from support.blender.panels import draw
from support.blender.rigs import disagreement
from support.blender.scene_robots import TOOL, add_robot, add_target
from support.command import run
from support.few import these_slow
from support.hostile.damage import HELPERS, RECORDS, ROBOTS, damaged, mutated
from support.hostile.fuzzing import SEED

BONE = "panda_joint3"


def said(error) -> str:
    """The message, which is one line of bounded length."""
    text = str(error)
    assert text and "\n" not in text and len(text) < 500, text
    return text


def survives(robot: bpy.types.Object, others: bpy.types.Object | None = None) -> None:
    """Panels, operators, handlers and saving go on; none of them raises anything but a report of one line."""
    drawn = draw(object=robot, active_object=robot)
    assert drawn["ROBOKIN_PT_robot"]["labels"]
    robot.location.x += 0.1
    bpy.context.view_layer.update()  # handlers; those that raise fail the test at its end
    bpy.context.scene.unit_settings.scale_length *= 2.0
    bpy.context.view_layer.update()
    bpy.context.scene.unit_settings.scale_length *= 0.5
    bpy.context.view_layer.update()
    calls = {
        name: {} for name in ("solve_pose", "store_posture", "task_add", "target_add", "helper_bones", "set_joint")
    }
    calls |= {"make_robot": {}, "reset_pose": {}, "bake": {"frame_end": 2}, "inertia_from_mesh": {}, "copy_joint": {}}
    with bpy.context.temp_override(object=robot, active_object=robot):
        for name, options in calls.items():
            try:
                getattr(bpy.ops.robokin, name)(**options)
            except RuntimeError as error:
                assert "Traceback" not in str(error), f"{name}: {error}"


def plain(stored):
    """What lies in a custom property, as Python's own values."""
    for way in ("to_dict", "to_list"):
        if hasattr(stored, way):
            return getattr(stored, way)()
    return stored


@pytest.fixture
def panda(scene):
    robot = add_robot()
    add_target(robot)
    bpy.context.view_layer.objects.active = robot
    return robot


@pytest.mark.parametrize("kind", these_slow(RECORDS, *(kind for i, kind in enumerate(RECORDS) if i % 4)))
def test_a_damaged_record_is_named_and_kept(panda, tmp_path, kind):
    change, words = RECORDS[kind]
    bone = panda.data.bones[BONE]
    bone[KEY] = spoiled = damaged(bone[KEY], change)
    with pytest.raises(RobokinError, match=rf"^bone '{BONE}'.*{words}") as caught:
        robot_model(panda)
    assert said(caught.value) in " ".join(draw()["ROBOKIN_PT_robot"]["labels"])
    panda.data.bones["panda_joint6"].robokin.upper = 0.125
    other = add_robot()
    other.data.bones[BONE].robokin.upper = 0.25
    bpy.context.view_layer.objects.active = panda
    survives(panda)
    file = tmp_path / "robots.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert plain(bone[KEY]) == spoiled
    assert read_record(panda.data.bones["panda_joint6"][KEY], "").joint.upper[0] == 0.125
    assert read_record(other.data.bones[BONE][KEY], "").joint.upper[0] == 0.25


@pytest.mark.parametrize("kind", ROBOTS)
def test_a_damaged_robot_is_named_and_kept(panda, kind):
    change, words = ROBOTS[kind]
    panda.data[ROBOT_KEY] = spoiled = damaged(panda.data[ROBOT_KEY], change)
    with pytest.raises(RobokinError, match=f"^armature 'panda'.*{words}") as caught:
        robot_model(panda)
    said(caught.value)
    survives(panda)
    assert panda.data[ROBOT_KEY] == spoiled


def test_a_damaged_helper_is_named_and_kept(scene):
    robot = make_every_joint()
    name = next(bone.name for bone in robot.data.bones if HELPER_KEY in bone)
    text = robot.data.bones[name][HELPER_KEY]
    for change, words in HELPERS.values():
        robot.data.bones[name][HELPER_KEY] = spoiled = damaged(text, change)
        with pytest.raises(RobokinError, match=f"^helper bone '{name}'.*{words}") as caught:
            robot_model(robot)
        said(caught.value)
        survives(robot)
        assert plain(robot.data.bones[name][HELPER_KEY]) == spoiled


@pytest.mark.parametrize("kind", ["placement singular", "no text", "nested without end", "version 0", "mass a list"])
def test_the_command_line_says_it_in_one_line(panda, capsys, tmp_path: Path, kind):
    bone = panda.data.bones[BONE]
    bone[KEY] = damaged(bone[KEY], RECORDS[kind][0])
    file = tmp_path / "damaged.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    for command in (
        ("info",),
        ("bake", "--frames", "1:2"),
        ("solve", "--task", f"kind=position,tip={TOOL},target=0:0:1"),
    ):
        assert run(capsys, command[0], file, *command[1:]).refused(f"bone '{BONE}'")


KINDS = ("not JSON", "joint null", "link a text", "frame singular", "rest singular", "index a text", "bone null")


@pytest.mark.parametrize(
    ("bone", "kind"),
    [
        *((BONE, kind) for kind in RECORDS),
        *((bone, kind) for bone in ("panda_link0", "panda_finger_joint1", "panda_hand_tcp_joint") for kind in KINDS),
    ],
)
def test_a_damaged_record_is_reset_from_what_is_left(panda, bone, kind):
    """The robot is the same again: to single precision, as the bone's fields know it."""
    before, pose = robot_model(panda), panda.pose.bones[TOOL].matrix.copy()
    text = panda.data.bones[bone][KEY]
    panda.data.bones[bone][KEY] = damaged(text, RECORDS[kind][0])
    others = {b.name: b[KEY] for b in panda.data.bones if b.name != bone}
    newer = kind in ("version 99", "version 10^400")
    drawn = draw()["ROBOKIN_PT_robot"]["operators"]
    assert drawn == ([] if newer else ["robokin.reset_record"])
    if newer:
        with pytest.raises(RuntimeError, match="is not damaged"):
            bpy.ops.robokin.reset_record(bone=bone)
        return
    assert bpy.ops.robokin.reset_record(bone=bone) == {"FINISHED"}
    assert {b.name: b[KEY] for b in panda.data.bones if b.name != bone} == others
    after = robot_model(panda)
    assert [joint.name for joint in after.joints] == [joint.name for joint in before.joints]
    for mine, other in zip(after.joints, before.joints, strict=True):
        assert mine.type == other.type
        np.testing.assert_allclose(mine.placement, other.placement, atol=1e-5)
        if mine.nv and (mine.child != bone or TOOL != bone):
            np.testing.assert_allclose(mine.axis, other.axis, atol=1e-5)
        np.testing.assert_allclose(mine.lower, other.lower, rtol=1e-6)
        np.testing.assert_allclose(mine.upper, other.upper, rtol=1e-6)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(panda.pose.bones[TOOL].matrix, pose, atol=1e-5)
    assert disagreement(panda) < 1e-5


def test_a_joint_of_which_nothing_is_left_is_guessed_from_its_locks(panda):
    """Neither the fields, which Blender 4.5 loses, nor a joint below or above tell of it."""
    before = robot_model(panda)
    for bone in panda.data.bones:
        bone.property_unset("robokin")
        bone[KEY] = ""
    assert draw()["ROBOKIN_PT_robot"]["operators"] == ["robokin.reset_record"] * 4
    for bone in panda.data.bones.keys():
        assert bpy.ops.robokin.reset_record(bone=bone) == {"FINISHED"}
    after = robot_model(panda)
    assert [joint.name for joint in after.joints[1:]] == [joint.name for joint in before.joints[1:]]
    limited = [joint for joint in before.moving_joints if joint.type == "revolute" and joint.upper[0] < np.pi]
    assert len(limited) == 6  # a constraint cannot say more than half a turn
    for joint in limited:
        assert after.joint(joint.name).type == "revolute"
        np.testing.assert_allclose(after.joint(joint.name).upper, joint.upper, atol=1e-6)
    assert disagreement(panda) < 1e-5


@pytest.mark.parametrize("kind", ROBOTS)
def test_the_record_of_an_armature_is_reset(panda, kind):
    before = panda.data[ROBOT_KEY]
    panda.data[ROBOT_KEY] = damaged(before, ROBOTS[kind][0])
    assert draw()["ROBOKIN_PT_robot"]["operators"] == ["robokin.reset_record"]
    assert bpy.ops.robokin.reset_record() == {"FINISHED"}
    assert panda.data[ROBOT_KEY] == before


def test_the_record_of_a_helper_bone_is_reset(scene):
    robot = make_every_joint()
    bpy.context.view_layer.objects.active = robot
    name = next(bone.name for bone in robot.data.bones if HELPER_KEY in bone)
    before, text = len(robot.data.bones), robot.data.bones[name][HELPER_KEY]
    for change, _ in HELPERS.values():
        robot.data.bones[name][HELPER_KEY] = damaged(text, change)
        assert bpy.ops.robokin.reset_record(bone=name) == {"FINISHED"}
        assert {joint.type for joint in robot_model(robot).joints} == set(JOINT_TYPES)
        assert len(robot.data.bones) == before and disagreement(robot) < 1e-5


def test_only_what_is_damaged_is_reset(panda):
    before = panda.data.bones[BONE][KEY]
    for name in (BONE, "", "ghost"):
        with pytest.raises(RuntimeError, match="is not damaged \\(damaged: none\\)"):
            bpy.ops.robokin.reset_record(bone=name)
    assert panda.data.bones[BONE][KEY] == before


READ = {KEY: (read_record, write_record), HELPER_KEY: (read_helper, write_helper), ROBOT_KEY: (read_robot, write_robot)}


def record_holders(robot):
    """(owner, key) of all records of the robot."""
    for bone in robot.data.bones:
        yield from ((bone, key) for key in (KEY, HELPER_KEY) if key in bone)
    yield robot.data, ROBOT_KEY


def readable(holder, key) -> bool:
    try:
        READ[key][0](holder[key], holder.name)
    except RobokinError:
        return False
    return True


@pytest.mark.slow
def test_random_damage_to_texts(scene):
    """What is read after random damage is a record that can be written and read again as the same text; anything else
    is one line that names its owner."""
    rng = np.random.default_rng(SEED)
    texts = [(key, owner[key]) for robot in (make_every_joint(), add_robot()) for owner, key in record_holders(robot)]
    refused = 0
    for _ in range(20_000):
        key, text = texts[rng.integers(len(texts))]
        read, write = READ[key]
        other = mutated(rng, text)
        try:
            record = read(other, "Ann")
        except RobokinError as error:
            assert "'Ann'" in said(error), SEED
            refused += 1
            continue
        assert write(read(write(record), "Ann")) == write(record), (SEED, other)
    assert refused > 10_000


@pytest.mark.slow
def test_random_damage_in_a_scene(scene, tmp_path):
    """Nothing raises, whatever lies on the bones; texts that are damaged stay, and what is edited on other bones is
    saved."""
    rng = np.random.default_rng(SEED)
    file = str(tmp_path / "robots.blend")
    make_every_joint()
    add_robot()
    bpy.ops.wm.save_as_mainfile(filepath=file)
    for _ in range(200):
        bpy.ops.wm.open_mainfile(filepath=file)
        robots = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
        robot = robots[rng.integers(2)]
        bpy.context.view_layer.objects.active = robot
        holders = list(record_holders(robot))
        spoiled = {}
        sound = rng.random() < 0.5  # every other time what is there can be read, but is another robot
        for i in rng.choice(len(holders), size=rng.integers(1, 4), replace=False):
            holder, key = holders[i]
            text = holder[key]
            holder[key] = mutated(rng, text)
            while sound and not readable(holder, key):
                holder[key] = mutated(rng, text)
            if not readable(holder, key):
                spoiled[holder.name, key] = plain(holder[key])
            holders[i] = None
        edited = next(filter(None, holders))[0].name
        robot.data.bones[edited].robokin.damping = 0.375
        survives(robot)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "damaged.blend"))
        for (name, key), value in spoiled.items():
            assert plain((robot.data if key == ROBOT_KEY else robot.data.bones[name])[key]) == value, SEED
        assert read_record(robot.data.bones[edited][KEY], edited).joint.damping == 0.375, SEED


def test_a_joint_type_that_is_none(panda):
    """A stored number of no type, as a damaged file has: Blender shows it as no word at all, and the record counts."""
    bone = panda.data.bones[BONE]
    before = bone[KEY]
    store = bone.bl_system_properties_get() if hasattr(bone, "bl_system_properties_get") else bone
    store["robokin"]["joint_type"] = 999
    assert bone.robokin.joint_type == ""
    assert robot_model(panda).joint(BONE).kind.name == "revolute"
    survives(panda)
    panda.data.bones.active = bone
    drawn = draw(object=panda, active_object=panda)
    assert "joint_type" in drawn["ROBOKIN_PT_joint"]["props"]
    assert read_record(bone[KEY], BONE).joint.type == read_record(before, BONE).joint.type
    bone.robokin.joint_type = "prismatic"
    assert robot_model(panda).joint(BONE).kind.name == "prismatic"
