"""Saving keeps what was edited in the fields of each bone, whatever is wrong with another."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.bridge import robot_model
from robokin_addon.properties.bridge.record.reading import read_record
from robokin_addon.properties.bridge.record.stored import KEY
from support.blender.scene_robots import add_robot


def recorded(robot, bone):
    return read_record(robot.data.bones[bone][KEY], bone).joint


@pytest.mark.parametrize("damage", ["no axis", "no record", "nothing"])
def test_a_bone_that_is_no_joint_does_not_keep_the_others_from_being_saved(scene, tmp_path, damage):
    robot = add_robot()
    bones = robot.data.bones
    before = recorded(robot, "panda_joint2")
    if damage == "no axis":
        bones["panda_joint2"].robokin.axis = (0, 0, 0)
    elif damage == "no record":
        bones["panda_joint2"][KEY] = "{"
    for name in ("panda_joint1", "panda_joint5"):
        bones[name].robokin.upper = 0.25
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robot.blend"))
    assert [recorded(robot, name).upper[0] for name in ("panda_joint1", "panda_joint5")] == [0.25, 0.25]
    if damage == "no record":
        assert bones["panda_joint2"][KEY] == "{"
        return
    assert (recorded(robot, "panda_joint2").axis == before.axis).all()
    bones["panda_joint2"].robokin.axis = before.axis
    assert robot_model(robot).joint("panda_joint1").upper[0] == 0.25


def test_a_name_that_is_no_text_does_not_either(scene, tmp_path):
    """A file can hold one that no script can read."""
    add_robot()
    path = tmp_path / "robot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    path.write_bytes(path.read_bytes().replace(b"panda_joint2\0", b"panda_\xffoint2\0"))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    (robot,) = bpy.context.scene.objects
    robot.data.bones["panda_joint5"].robokin.upper = 0.25
    bpy.ops.wm.save_mainfile()
    assert recorded(robot, "panda_joint5").upper[0] == 0.25
