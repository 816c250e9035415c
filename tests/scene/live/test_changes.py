"""Whatever changes, a live robot follows, or says why it waits: never an error, never outside its limits."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from robokin_addon.properties.bridge import binding, read_configuration, write_configuration
from robokin_addon.properties.handlers import posing_paused
from robokin_addon.properties.results import readouts
from robokin_addon.properties.results.result_text import in_scene_units
from support.blender.scene_robots import TOOL, add_empty, add_robot, add_target, world_error

NEAR, TURNED = 1.01e-4, 1.01e-3  # the tolerances of a task


def channels(**values):
    def change(robot, target):
        for name, value in values.items():
            setattr(target, name, value)

    return change


def of_task(**values):
    def change(robot, target):
        target.location.x -= 0.03
        for name, value in values.items():
            setattr(robot.robokin.tasks[0], name, value)

    return change


def parented(robot, target):
    target.parent = add_empty("carrier")
    target.parent.location = (0.0, 0.1, 0.05)


def constrained(robot, target):
    leader = add_empty("leader")
    leader.matrix_world = Matrix.Translation((0.45, 0.1, 0.5))
    target.constraints.new("COPY_LOCATION").target = leader


def driven(robot, target):
    driver = target.driver_add("location", 2).driver
    driver.type, driver.expression = "SCRIPTED", "0.4 + 0.05"


def keyed(robot, target):
    target.keyframe_insert("location", frame=1)
    target.location.y += 0.1
    target.keyframe_insert("location", frame=20)
    bpy.context.scene.frame_set(11)


def keyed_influence(robot, target):
    task = robot.robokin.tasks[0]
    target.location.z += 0.05
    bpy.context.view_layer.update()
    task.influence = 0.0
    robot.keyframe_insert("robokin.tasks[0].influence", frame=1)
    task.influence = 1.0
    robot.keyframe_insert("robokin.tasks[0].influence", frame=20)
    bpy.context.scene.frame_set(25)


def driven_influence(robot, target):
    driver = robot.driver_add("robokin.tasks[0].influence").driver
    variable = driver.variables.new()
    variable.type, variable.targets[0].id, variable.targets[0].transform_type = "TRANSFORMS", target, "LOC_X"
    driver.expression = f"{variable.name} < 0.5"
    target.location.x = 0.6
    bpy.context.view_layer.update()
    target.location = (0.45, 0.1, 0.45)


def renamed_tip(robot, target):
    robot.data.bones[TOOL].name = "tool"
    target.location.x -= 0.05


def renamed_joint(robot, target):
    robot.data.bones["panda_joint4"].name = "elbow"
    target.location.x -= 0.05


def limited(robot, target):
    robot.data.bones["panda_joint1"].robokin.lower = -0.2
    robot.data.bones["panda_joint1"].robokin.upper = 0.2


def posed(robot, target):
    q = read_configuration(robot)
    q[0] += 0.2
    write_configuration(robot, q)


def changed_meanwhile(robot, target):
    """While something else holds the robot: Live sees none of these updates."""
    with posing_paused():
        robot.robokin.tasks[0].position_tolerance = 2e-4
        bpy.context.view_layer.update()
        target.location.x -= 0.05
        bpy.context.view_layer.update()
    target.location.x -= 0.01


def second_task(robot, target):
    """Added by a script, not by an operator."""
    task = robot.robokin.tasks.add()
    task.name, task.kind, task.tip, task.use_target = "elbow", "POSITION", "panda_joint4", False
    task.location, task.priority = (0.0, 0.3, 0.6), 2
    robot.robokin.solver.mode = "PRIORITIES"


def fixed(robot, target):
    task = robot.robokin.tasks[0]
    task.location, task.rotation = target.location, target.rotation_euler
    task.use_target = False
    task.location.x -= 0.05
    target.location = task.location


def copied(robot, target):
    other = target.copy()
    bpy.context.scene.collection.objects.link(other)
    other.location.y += 0.1
    robot.robokin.tasks[0].target = other


def in_edit_mode(robot, target):
    bpy.context.view_layer.objects.active = robot
    bpy.ops.object.mode_set(mode="EDIT")
    target.location.x -= 0.05
    bpy.context.view_layer.update()
    bpy.ops.object.mode_set(mode="OBJECT")


def hidden(robot, target):
    target.hide_viewport = True
    robot.robokin.tasks[0].position_tolerance = 2e-4


def undone(robot, target):
    bpy.ops.ed.undo_push(message="before")
    target.location.x -= 0.05
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()


FOLLOWED = {
    "location": channels(location=(0.45, 0.1, 0.45)),
    "rotation": channels(rotation_euler=(3.0, 0.2, 0.1)),
    "quaternion": channels(rotation_mode="QUATERNION", rotation_quaternion=(0.1, 0.98, 0.1, 0.0)),
    "delta": channels(delta_location=(0.0, 0.05, 0.0)),
    "scale": channels(scale=(2.0, 0.5, 1.0)),
    "matrix": lambda robot, target: setattr(target, "matrix_world", Matrix.Translation((0.4, 0.1, 0.5))),
    "parent": parented,
    "constraint": constrained,
    "driver": driven,
    "keys": keyed,
    "keyed influence": keyed_influence,
    "driven influence": driven_influence,
    "hidden": hidden,
    "another target": copied,
    "fixed pose": fixed,
    "renamed tip": renamed_tip,
    "renamed joint": renamed_joint,
    "renamed target": channels(name="goal", location=(0.45, 0.1, 0.45)),
    "renamed robot": lambda robot, target: (setattr(robot, "name", "arm"), setattr(target, "location", (0.4, 0, 0.5))),
    "limits": limited,
    "pose by hand": posed,
    "moved robot": lambda robot, target: setattr(robot, "location", (0.05, 0.0, 0.0)),
    "turned robot": lambda robot, target: setattr(robot, "rotation_euler", (0.0, 0.0, 0.2)),
    "scaled robot": lambda robot, target: setattr(robot, "scale", (1.2, 1.2, 1.2)),
    "second task": second_task,
    "criterion": lambda robot, target: bpy.ops.robokin.criterion_add(kind="MANIPULABILITY"),
    "mode": lambda robot, target: setattr(robot.robokin.solver, "mode", "WEIGHTED"),
    "tolerance": of_task(position_tolerance=1e-5),
    "weight": of_task(orientation_weight=0.3),
    "priority": of_task(priority=3),
    "frame": lambda robot, target: bpy.context.scene.frame_set(9),
    "edit mode": in_edit_mode,
    "paused": changed_meanwhile,
    "undo": undone,
    "switched off and on": lambda robot, target: (
        setattr(robot.robokin, "live", False),
        setattr(target, "location", (0.45, 0.1, 0.45)),
        bpy.context.view_layer.update(),
        setattr(robot.robokin, "live", True),
    ),
}
MISSED = {
    "axes": of_task(use_rotation=(True, True, False)),
    "kind": of_task(kind="POSITION"),
    "offset": of_task(offset_location=(0.0, 0.0, 0.1)),
    "half an influence": of_task(influence=0.5),
}


def without_its_tip(robot, target):
    bpy.context.view_layer.objects.active = robot
    bpy.ops.object.mode_set(mode="EDIT")
    bones = robot.data.edit_bones
    bones.remove(bones[robot.robokin.tasks[0].tip])
    bpy.ops.object.mode_set(mode="OBJECT")


WAITS = {
    "deleted target": (lambda robot, target: bpy.data.objects.remove(target), "has no target"),
    "target in no scene": (lambda robot, target: bpy.context.scene.collection.objects.unlink(target), "was deleted"),
    "no tip": (lambda robot, target: setattr(robot.robokin.tasks[0], "tip", ""), "has no tip"),
    "wrong tip": (lambda robot, target: setattr(robot.robokin.tasks[0], "tip", "nose"), "no tip of task"),
    "deleted bone": (without_its_tip, "no tip of task"),
    "flat target": (lambda robot, target: setattr(target, "scale", (0.0, 0.0, 0.0)), "scale of zero"),
    "flat robot": (lambda robot, target: setattr(robot, "scale", (1.0, 2.0, 1.0)), "non-uniform scale"),
    "its own bone": (
        lambda robot, target: (
            setattr(robot.robokin.tasks[0], "target", robot),
            setattr(robot.robokin.tasks[0], "subtarget", "panda_joint3"),
        ),
        "",
    ),
    "hung on its own tip": (
        lambda robot, target: (
            setattr(target, "parent", robot),
            setattr(target, "parent_type", "BONE"),
            setattr(target, "parent_bone", TOOL),
        ),
        "a cycle",
    ),
    "too far": (lambda robot, target: setattr(target, "location", (5.0, 0.0, 0.0)), "Too far"),
    "disabled": (lambda robot, target: setattr(robot.robokin.tasks[0], "enabled", False), None),
    "no influence": (lambda robot, target: setattr(robot.robokin.tasks[0], "influence", 0.0), "No task counts"),
}


@pytest.fixture
def again(scene, tmp_path):
    """Opens the same scene anew: a robot that follows its target, and both."""
    robot = add_robot(live=True)
    names = robot.name, add_target(robot).name
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)

    def opened():
        bpy.ops.wm.open_mainfile(filepath=path)
        bpy.context.view_layer.update()
        return [bpy.data.objects[name] for name in names]

    return opened


def after(change, robot, target):
    change(robot, target)
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    robot = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    limits, q = binding(robot).model.limits if robot.scale.x == robot.scale.y else None, None
    if limits is not None:
        q = read_configuration(robot)
        assert (q >= limits.lower - 1e-6).all() and (q <= limits.upper + 1e-6).all()
    return robot


def test_every_change_is_followed(again):
    lost = {}
    for what, change in FOLLOWED.items():
        robot = after(change, *again())
        task = robot.robokin.tasks[0]
        off = world_error(robot, task.tip, task.target)
        if off[0] > NEAR or off[1] > TURNED or readouts.live(robot) is None:
            lost[what] = off, readouts.live(robot)
    assert not lost


def test_what_a_task_asks_for_counts_at_once(again):
    for what, change in MISSED.items():
        robot, target = again()
        q = read_configuration(robot)
        robot = after(change, robot, target)
        assert abs(read_configuration(robot) - q).max() > 1e-4, what
        assert robot.robokin.solver.status == "CONVERGED", what


def test_what_cannot_be_followed_is_reported_and_the_robot_stands(again):
    for what, (change, words) in WAITS.items():
        robot, target = again()
        q = read_configuration(robot)
        robot = after(change, robot, target)
        found = readouts.live(robot)
        if words is None:
            assert found is None, what
        else:
            assert found is not None and words in found.text, (what, found)
            assert found.is_met == (what == "no influence"), (what, found)
        if what not in ("too far", "flat robot"):
            np.testing.assert_allclose(read_configuration(robot), q, atol=1e-5, err_msg=what)


def test_what_solve_pose_finds_out_is_said_until_something_changes(robot, target):
    """Live goes on from the pose; it does not say again that Solve Pose would look farther."""
    draw, at, told = np.random.default_rng(13), np.array(target.location), 0
    for _ in range(24):
        target.location = at + draw.uniform(-0.2, 0.2, 3)
        target.rotation_euler = draw.uniform(-2.0, 2.0, 3)
        bpy.context.view_layer.update()
        if robot.robokin.solver.status != "MAX_ITERATIONS":
            continue
        bpy.ops.robokin.solve_pose()
        found = robot.robokin.solver.status, robot.robokin.solver.reason
        for _ in range(2):
            robot.update_tag()
            bpy.context.view_layer.update()
        assert (robot.robokin.solver.status, robot.robokin.solver.reason) == found
        if found[0] != "CONVERGED":
            shown = readouts.live(robot)
            assert in_scene_units(bpy.context.scene, found[1]) in shown.text
            assert not any("Solve Pose" in note for note in shown.notes)
            told += 1
    assert told > 2
    target.matrix_world = robot.matrix_world @ robot.pose.bones[TOOL].matrix
    bpy.context.view_layer.update()
    assert readouts.live(robot).text == "Follows its targets"
