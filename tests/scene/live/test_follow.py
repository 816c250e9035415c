"""Live: the robot is at its targets after every update of the scene."""

from __future__ import annotations

import bpy
import numpy as np
from robokin_addon.operators.live import events
from robokin_addon.properties.bridge import binding, read_configuration, write_configuration
from robokin_addon.properties.results import readouts
from robokin_addon.properties.results.why import why
from robokin_addon.scene.live import session
from support.blender.scene_robots import TOOL, add_empty, add_target, world_error

NEAR = 1e-4


def update() -> None:
    bpy.context.view_layer.update()


def inside(obj) -> bool:
    """As the channels say in single precision, turned into double precision."""
    limits, q = binding(obj).model.limits, read_configuration(obj)
    return bool((q >= limits.lower).all() and (q <= limits.upper).all())


def test_it_follows_at_every_update(robot, target):
    start = target.location.copy()
    for i in range(40):
        target.location = start
        target.location.x -= 0.1 * (1.0 - np.cos(0.3 * i))
        target.location.y += 0.2 * np.sin(0.3 * i)
        target.rotation_euler.z += 0.02
        before = read_configuration(robot)
        update()
        distance, angle = world_error(robot, TOOL, target)
        assert distance < NEAR and angle < 1e-3
        assert abs(read_configuration(robot) - before).max() < 0.3  # no flip
        assert inside(robot) and robot.robokin.solver.status == "CONVERGED"


def test_fields_are_read_again_only_where_they_may_have_changed(robot, target, monkeypatch):
    read = []
    real = session.read_fields
    monkeypatch.setattr(session, "read_fields", lambda *a: read.append(1) or real(*a))
    for change, times in (
        (lambda: setattr(target.location, "x", target.location.x - 0.05), 0),
        (lambda: setattr(target.rotation_euler, "z", 0.1), 0),
        (lambda: setattr(robot.robokin.tasks[0], "position_tolerance", 2e-4), 1),
        (lambda: setattr(robot.robokin.tasks.add(), "enabled", False), 1),
        (lambda: robot.robokin.tasks.remove(1), 1),
        (lambda: setattr(target, "parent", add_empty("carrier")), 1),
        (lambda: bpy.context.scene.frame_set(4), 1),
        (lambda: setattr(target.location, "y", 0.05), 0),
    ):
        read.clear()
        change()
        target.location.z += 0.01
        update()
        assert len(read) == times
        assert world_error(robot, TOOL, target)[0] < 2 * NEAR


def test_a_bone_of_another_armature_that_goes_is_missed(robot, target, scene):
    rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("hand")
    bone.head, bone.tail = (0.45, 0.0, 0.5), (0.45, 0.0, 0.6)
    bpy.ops.object.mode_set(mode="OBJECT")
    task = robot.robokin.tasks[0]
    task.kind, task.target, task.subtarget = "POSITION", rig, "hand"
    update()
    assert (robot.pose.bones[TOOL].matrix.translation - rig.pose.bones["hand"].head).length < NEAR
    rig.pose.bones["hand"].location.y -= 0.05
    update()
    assert (robot.pose.bones[TOOL].matrix.translation - rig.pose.bones["hand"].head).length < NEAR
    rig.data.bones["hand"].name = "fist"
    update()
    assert "target bone" in readouts.live(robot).text


def test_each_update_solves_once_and_none_without_a_change(robot, target, monkeypatch):
    solved = []
    real = events.Session._followed
    monkeypatch.setattr(events.Session, "_followed", lambda *a: solved.append(1) or real(*a))
    target.location.x -= 0.05
    update()
    assert len(solved) == 1
    other = add_empty("other")
    for _ in range(3):
        other.location.x += 1.0
        update()
    assert len(solved) == 1


def test_out_of_reach_is_the_best_legal_pose_with_its_reason(robot, target):
    for x in (1.0, 2.0, 4.0):
        target.location = (x, 0.3, 0.4)
        update()
        assert inside(robot) and robot.robokin.solver.status == "OUT_OF_REACH"
    tip = robot.pose.bones[TOOL].matrix.translation
    away = np.array(target.location) - np.array(robot.pose.bones["panda_joint2"].matrix.translation)
    straight = np.array(tip) - np.array(robot.pose.bones["panda_joint2"].matrix.translation)
    assert straight @ away / np.linalg.norm(straight) / np.linalg.norm(away) > 0.99  # stretched towards it
    shown = readouts.live(robot)
    assert shown.text.startswith("Too far:") and not shown.is_met
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    assert f"at least {100 * float(robot.robokin.solver.reason.split()[2]):.4g} cm farther" in readouts.live(robot).text
    assert not robot.robokin.tasks[0].reached and robot.robokin.tasks[0].position_residual > 2.0
    target.location = (0.45, 0.0, 0.5)
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR and readouts.live(robot).text == "Follows its targets"


def test_limits_hold_where_a_target_leads_past_them(robot, target):
    for turn in np.linspace(0.0, 2.0 * np.pi, 90):
        target.location = (0.5 * np.cos(turn), 0.5 * np.sin(turn), 0.5)
        update()
        assert inside(robot)


def test_switched_off_it_stands_and_switched_on_it_follows(robot, target):
    robot.robokin.live = False
    update()
    before = read_configuration(robot)
    target.location.x -= 0.1
    update()
    assert read_configuration(robot).tolist() == before.tolist() and readouts.live(robot) is None
    robot.robokin.live = True
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR


def test_values_of_tasks_count_at_once(robot, target):
    start = np.array(target.location)
    target.location.x -= 0.2
    update()
    robot.robokin.tasks[0].influence = 0.0
    update()
    there = read_configuration(robot)
    assert robot.robokin.solver.status == ""
    target.location = start
    update()
    assert read_configuration(robot).tolist() == there.tolist()
    robot.robokin.tasks[0].influence = 1.0
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR
    target.location.x -= 0.1
    robot.robokin.tasks[0].use_location[0] = False
    update()
    assert abs(robot.pose.bones[TOOL].matrix.translation.x - start[0]) < 0.02
    robot.robokin.tasks[0].enabled = False
    there = read_configuration(robot)
    target.location.z += 0.1
    update()
    assert read_configuration(robot).tolist() == there.tolist()


def test_half_an_influence_is_half_the_way_however_often_it_is_solved(robot):
    target = add_target(robot, kind="POSITION")
    update()
    start = np.array(target.location)
    robot.robokin.tasks[0].influence = 0.5
    way = np.array((-0.1, 0.1, 0.05))
    for share in (0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 0.5, 1.0):
        target.location = start + share * way
        target.scale *= 1.01  # an update, whatever the place
        update()
        tip = np.array(robot.pose.bones[TOOL].matrix.translation)
        assert np.linalg.norm(tip - start - 0.5 * share * way) < 5e-4


def test_a_pose_by_hand_is_where_it_goes_on_from(robot, target):
    q = read_configuration(robot)
    q[2] += 0.4  # a turn of the upper arm, which the tool need not follow
    write_configuration(robot, q)
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR
    assert abs(read_configuration(robot)[2] - q[2] + 0.4) > 0.05  # the elbow is elsewhere


def test_a_bone_of_another_armature_is_followed(robot, scene):
    lead = bpy.data.objects.new("lead", bpy.data.armatures.new("lead"))
    scene.collection.objects.link(lead)
    bpy.context.view_layer.objects.active = lead
    bpy.ops.object.mode_set(mode="EDIT")
    bone = lead.data.edit_bones.new("tip")
    bone.head, bone.tail = (0, 0, 0), (0, 0.1, 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    lead.location = (0.5, 0.0, 0.5)
    bpy.ops.robokin.task_add.poll()
    task = robot.robokin.tasks.add()
    task.name, task.kind, task.tip, task.target, task.subtarget = "lead", "POSITION", TOOL, lead, "tip"
    for x in (0.0, 0.05, 0.1):
        lead.pose.bones["tip"].location.x = x
        update()
        head = lead.matrix_world @ lead.pose.bones["tip"].head
        assert (robot.matrix_world @ robot.pose.bones[TOOL].head - head).length < NEAR


def test_the_robots_own_place_counts(robot, target):
    robot.location.y += 0.1
    robot.rotation_euler.z += 0.2
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR


def test_a_deleted_target_and_one_in_no_scene_stop_it_and_say_so(robot, target, scene):
    before = read_configuration(robot)
    scene.collection.objects.unlink(target)
    update()
    update()
    assert readouts.live(robot).text.startswith("Waits: ") and "was deleted" in readouts.live(robot).text
    bpy.data.objects.remove(target)
    update()
    assert "has no target" in readouts.live(robot).text
    assert read_configuration(robot).tolist() == before.tolist()
    robot.robokin.tasks[0].target = add_empty("new")
    bpy.data.objects["new"].location = (0.45, 0, 0.5)
    update()
    assert (robot.pose.bones[TOOL].matrix.translation - bpy.data.objects["new"].location).length < NEAR


def test_priorities_and_criteria_are_those_of_solve_pose(robot, target):
    robot.robokin.tasks[0].kind = "POSITION"
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.criterion_add(kind="JOINT_SPRINGS")
    target.location.x -= 0.05
    update()
    live = read_configuration(robot)
    assert world_error(robot, TOOL, target)[0] < NEAR
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert abs(read_configuration(robot) - live).max() < 1e-3


def test_edit_mode_and_what_is_no_robot_are_left_alone(robot, target):
    bpy.context.view_layer.objects.active = robot
    bpy.ops.object.mode_set(mode="EDIT")
    target.location.x -= 0.05
    update()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR


def test_what_operators_change_counts_at_once(robot, target):
    other = add_target(robot, kind="POSITION")
    other.location.x -= 0.2
    robot.robokin.tasks[0].priority, robot.robokin.tasks[1].priority = 1, 2
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.task_remove(index=0) == {"FINISHED"}
    assert (robot.pose.bones[TOOL].matrix.translation - other.location).length < NEAR
    before = read_configuration(robot)
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.criterion_add(kind="JOINT_SPRINGS") == {"FINISHED"}
    assert abs(read_configuration(robot) - before).max() > 0.01  # the elbow has moved


def test_a_lower_task_that_gives_way_is_named_and_is_no_alarm(robot, target):
    bpy.ops.robokin.store_posture(name="Start")
    bpy.ops.robokin.task_add(kind="POSTURE")
    task = robot.robokin.tasks[1]
    task.posture, task.priority = "Start", 2
    target.location.y += 0.1
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR
    shown = readouts.live(robot)
    assert shown.text == f"Follows; met only as nearly as can be: {task.name}" and shown.is_met
    task.priority = 1
    update()
    assert not readouts.live(robot).is_met


def test_tasks_that_pull_apart_are_all_named(robot, target):
    other = add_target(robot, kind="POSITION")
    other.location.z += 0.1
    update()
    shown = readouts.live(robot)
    names = ", ".join(task.name for task in robot.robokin.tasks)
    assert shown.text == f"Cannot meet all of these from this pose: {names}" and not shown.is_met


def test_a_soft_task_that_is_missed_is_told_to_be_hard_here(robot, target):
    other = add_target(robot, kind="POSITION")
    other.location.z += 0.1
    robot.robokin.tasks[1].soft_weight = 1.0
    update()
    note = f"Live takes soft tasks as hard: {robot.robokin.tasks[1].name}"
    assert note not in readouts.live(robot).notes
    robot.robokin.solver.bake_mode = "WHOLE"
    update()
    assert note in readouts.live(robot).notes


def test_joints_at_their_limits_that_nothing_pushes_are_not_blamed(robot, target):
    """The fingers of the Panda are shut, which is at their lower limit."""
    bpy.ops.robokin.store_posture(name="Start")
    bpy.ops.robokin.task_add(kind="POSTURE")
    robot.robokin.tasks[1].posture = "Start"
    target.location.y += 0.1
    update()
    assert "panda_finger_joint1" in (joint.name for joint in binding(robot).model.moving_joints)
    assert not why(robot).joints and not readouts.live(robot).is_met
    target.location.z = -2.0  # the shoulder and the elbow stop
    update()
    assert "panda_finger_joint1" not in why(robot).joints


def test_a_lower_task_that_a_limit_holds_up_names_the_joint(robot, target):
    robot.robokin.tasks[0].kind = "POSITION"
    bpy.ops.robokin.task_add(kind="JOINT")
    task = robot.robokin.tasks[1]
    task.tip, task.rotation.x, task.priority = "panda_joint7", 10.0, 2
    update()
    shown = readouts.live(robot)
    assert shown.text == f"Follows; held by the limits of panda_joint7, met only as nearly as can be: {task.name}"
