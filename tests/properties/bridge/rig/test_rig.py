"""What holds a robot for posing by hand is written where it differs only: locks, limits, drivers."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.bridge import read_configuration, rig_pose, write_configuration
from robokin_addon.properties.bridge.rig.hand_posing import LIMIT_ROTATION
from support.blender.drawing import writes_refused
from support.blender.scene_robots import add_robot


def parts(robot):
    """Addresses of all constraints and drivers."""
    constraints = [c.as_pointer() for bone in robot.pose.bones for c in bone.constraints]
    drivers = robot.animation_data.drivers if robot.animation_data else ()
    return constraints, [curve.as_pointer() for curve in drivers]


@pytest.mark.parametrize("name", ["panda", "talos_full_v2"])
def test_a_robot_that_is_rigged_is_not_written_again(scene, name):
    robot = add_robot(name)
    before = parts(robot)
    with writes_refused():
        rig_pose(robot)
    assert parts(robot) == before


def test_an_edit_changes_the_constraint_that_it_concerns(scene):
    robot = add_robot()
    bone = robot.pose.bones["panda_joint2"]
    constraint, before = bone.constraints[LIMIT_ROTATION], parts(robot)
    bone.bone.robokin.upper = 0.25
    assert constraint.max_y == 0.25 and constraint.use_limit_y and parts(robot) == before
    bone.bone.robokin.use_upper = bone.bone.robokin.use_lower = False
    assert LIMIT_ROTATION not in bone.constraints and len(parts(robot)[0]) == len(before[0]) - 1
    bone.bone.robokin.use_upper = bone.bone.robokin.use_lower = True
    assert bone.constraints[LIMIT_ROTATION].max_y == 0.25


def test_a_followed_joint_changes_its_driver_and_no_other(scene):
    robot = add_robot()
    follower = robot.data.bones["panda_finger_joint2"].robokin
    (curve,) = robot.animation_data.drivers
    before = parts(robot)
    follower.mimic_multiplier = 0.5
    assert parts(robot) == before and "0.5 * q" in curve.driver.expression
    q = read_configuration(robot)
    q[-1] = 0.02
    write_configuration(robot, q)
    bpy.context.view_layer.update()
    assert max(map(abs, robot.pose.bones["panda_finger_joint2"].location)) == pytest.approx(0.01)
    follower.mimic_joint = ""
    assert not robot.animation_data.drivers


def test_what_a_person_changed_of_our_constraint_is_put_back(scene):
    robot = add_robot()
    constraint = robot.pose.bones["panda_joint2"].constraints[LIMIT_ROTATION]
    wanted = constraint.max_y
    constraint.max_y, constraint.use_limit_x, constraint.owner_space, constraint.enabled = 3.0, True, "WORLD", False
    rig_pose(robot)
    assert (constraint.max_y, constraint.use_limit_x, constraint.owner_space) == (wanted, False, "LOCAL")
    assert constraint.enabled
