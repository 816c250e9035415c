"""A target that follows the robot's own bones is refused, by whatever way it does; everything else is not."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.bridge import robot_model
from robokin_addon.robokin import RobokinError
from robokin_addon.scene.tasks.cycles import refuse_cycles
from support.blender.rigs import add_rig


@pytest.fixture
def robot(scene):
    """A moving hand on a fixed base, and a control bone beside them that is no joint."""
    bones = [("base", None, (0, 0, -1), (0, 0, 0)), ("hand", "base", (0, 0, 0), (0, 0, 1))]
    obj = add_rig([*bones, ("control", None, (1, 0, 0), (1, 0, 1))], "robot")
    obj.data.bones["control"].use_deform = False
    assert bpy.ops.robokin.make_robot() == {"FINISHED"}
    assert [joint.child for joint in robot_model(obj).joints] == ["base", "hand"]
    return obj


def add(name, data=None):
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def child_of_bone(target, robot):
    target.parent, target.parent_type, target.parent_bone = robot, "BONE", "hand"


def grandchild_of_bone(target, robot):
    target.parent = add("between")
    child_of_bone(target.parent, robot)


def copies_bone(target, robot):
    constraint = target.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = robot, "hand"


def armature_constraint(target, robot):
    entry = target.constraints.new("ARMATURE").targets.new()
    entry.target, entry.subtarget = robot, "hand"


def driven_by_bone(target, robot):
    variable = target.driver_add("location", 0).driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = robot, "hand"


def driven_by_channel(target, robot):
    variable = target.driver_add("location", 0).driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = robot, 'pose.bones["hand"].location[0]'


def on_the_skin(target, robot):
    skin = add("skin", bpy.data.meshes.new("skin"))
    skin.modifiers.new("a", "ARMATURE").object = robot
    target.parent, target.parent_type = skin, "VERTEX"


def through_another_armature(target, robot):
    other = robot.copy()
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    constraint = other.pose.bones["hand"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = robot, "hand"
    child_of_bone(target, other)


@pytest.mark.parametrize(
    "tie",
    [
        child_of_bone,
        grandchild_of_bone,
        copies_bone,
        armature_constraint,
        driven_by_bone,
        driven_by_channel,
        on_the_skin,
        through_another_armature,
    ],
)
def test_following_the_robots_own_bones_is_a_cycle(robot, tie):
    target = add("target")
    tie(target, robot)
    with pytest.raises(RobokinError, match=r"task 'reach': its target 'target' follows a bone of 'robot' itself"):
        refuse_cycles(robot, target, "reach")


def child_of_object(target, robot):
    target.parent = robot


def copies_object(target, robot):
    target.constraints.new("COPY_LOCATION").target = robot


def muted(target, robot):
    copies_bone(target, robot)
    target.constraints[0].mute = True


def child_of_another_robots_bone(target, robot):
    other = robot.copy()
    bpy.context.scene.collection.objects.link(other)
    child_of_bone(target, other)


def in_a_ring(target, robot):
    other = add("other")
    other.constraints.new("COPY_LOCATION").target = target
    target.constraints.new("COPY_LOCATION").target = other


@pytest.mark.parametrize("tie", [child_of_object, copies_object, muted, child_of_another_robots_bone, in_a_ring])
def test_everything_else_is_not(robot, tie):
    target = add("target")
    tie(target, robot)
    refuse_cycles(robot, target, "reach")


@pytest.mark.parametrize("bone", ["control", "base"])
def test_bones_that_the_joints_do_not_move_may_be_followed(robot, bone):
    target = add("target")
    constraint = target.constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = robot, bone
    refuse_cycles(robot, target, "reach")
    held = add("held")
    held.parent, held.parent_type, held.parent_bone = robot, "BONE", bone
    refuse_cycles(robot, held, "reach")


def test_a_control_bone_that_follows_a_joint_is_a_cycle(robot):
    target = add("target")
    target.parent, target.parent_type, target.parent_bone = robot, "BONE", "control"
    constraint = robot.pose.bones["control"].constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = robot, "hand"
    with pytest.raises(RobokinError, match="a cycle"):
        refuse_cycles(robot, target, "reach")
