"""Why a target is missed, known at once, and what one click does about it."""

from __future__ import annotations

from contextlib import suppress

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector
from robokin_addon.operators.tasks import remedies as remedies_module
from robokin_addon.panels.prepared.joint_rows import blocking_bones
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.properties.results.why import remedies, why
from robokin_addon.robokin import RobokinError
from robokin_addon.robokin.library import ROBOTS, library_robot
from robokin_addon.robokin.structure.tool_links import tool_links
from robokin_addon.scene.animation.frames import fcurves
from support.blender.panels import draw, draw_popover
from support.blender.scene_robots import TOOL, add_robot, add_target, build, model_of, world_error
from support.few import rest_slow
from support.robots import robot as urdf


def run(robot, operator, **options):
    with bpy.context.temp_override(object=robot, active_object=robot):
        assert getattr(bpy.ops.robokin, operator)(**options) == {"FINISHED"}
    bpy.context.view_layer.update()


@pytest.fixture(params=[True, False], ids=["live", "solved"])
def robot(request, scene):
    return add_robot(live=request.param)


def moved(robot, target, **channels):
    for name, value in channels.items():
        setattr(target, name, value)
    bpy.context.view_layer.update()
    if not robot.robokin.live:
        run(robot, "solve_pose")


def offered(robot):
    return {remedy.how for remedy in remedies(robot)} - {"POSTURES"}


def drawn(robot):
    return draw_popover("ROBOKIN_PT_why", object=robot, active_object=robot)


def test_what_is_too_far_away_comes_into_reach(robot):
    target = add_target(robot)
    moved(robot, target, location=(4.0, 1.0, 0.5))
    assert robot.robokin.solver.status == "OUT_OF_REACH" and why(robot).tasks == (robot.robokin.tasks[0].name,)
    assert offered(robot) == {"BASE"} and drawn(robot)["operators"] == ["robokin.base_nearer"]
    said = draw(object=robot, active_object=robot)["ROBOKIN_PT_solve"]["labels"]
    assert ("Out of reach" in said) == (not robot.robokin.live)  # Live says it, else Solve: not both
    run(robot, "base_nearer")
    if not robot.robokin.live:
        run(robot, "solve_pose")
    assert world_error(robot, TOOL, target)[0] < 1e-4 and robot.robokin.solver.status == "CONVERGED"


@pytest.mark.parametrize(("name", "up"), [("panda", 0.02), ("desk_arm", 0.02), ("gantry", 0.0)])
def test_the_base_stays_on_the_ground_where_that_is_enough(scene, name, up):
    """Also that of an arm whose root frame has Z level, and beside a target as high as the arm reaches."""
    assert bpy.ops.robokin.add_robot(robot=name) == {"FINISHED"}
    robot = bpy.context.object
    robot.robokin.live = False
    target = add_target(robot, binding(robot).bone_of_link[ROBOTS[name].tip], "POSITION")
    moved(robot, target, location=target.location + Vector((1.0, 3.0, up)))
    run(robot, "base_nearer")
    assert robot.robokin.solver.status == "CONVERGED" and robot.matrix_world.translation.z == 0.0
    assert robot.matrix_world.translation.length > 1.0


def room(model, start, q):
    """Of the joint that came nearest to its limit, the share of its range up to there."""
    moved = (abs(q - start) > 1e-6) & np.isfinite(model.upper - model.lower)
    return (np.minimum(q - model.lower, model.upper - q)[moved] / (model.upper - model.lower)[moved]).min()


@pytest.mark.parametrize(
    "name", rest_slow(["panda", "z1", "so101", "puma560", "desk_arm", "ur5_robot", "xarm7", "tiago"], 5)
)
def test_the_base_comes_along_the_ground_as_far_as_is_needed_and_no_farther(scene, name):
    """Eight ways: half of the targets are lower than the tool and half higher, some too high for the arm."""
    if name in ROBOTS:
        bpy.ops.robokin.add_robot(robot=name)
    else:
        bpy.ops.robokin.import_urdf(filepath=str(urdf(name)), meshes=False, root="fixed")
    robot = bpy.context.object
    robot.robokin.live = False
    model, own = robot_model(robot), binding(robot)
    tip = "gripperStator" if name == "z1" else tool_links(model)[0]  # that of the file is a finger
    target = add_target(robot, own.bone_of_link[tip], "POSITION" if name == "desk_arm" else "POSE")
    place, start = target.location.copy(), read_configuration(robot)
    size = max(place.length, 0.3)
    reached = farther = 0
    for i in range(8):
        robot.matrix_world.identity()
        write_configuration(robot, start)
        turn = np.pi * i / 2.0
        way = Vector((2.5 * np.cos(turn), 2.5 * np.sin(turn), -0.1 if i < 4 else 0.15)) * size
        moved(robot, target, location=place + way)
        assert robot.robokin.solver.status == "OUT_OF_REACH"
        run(robot, "base_nearer")
        base = robot.matrix_world.translation.copy()
        assert base.z == 0.0 and base.length > 1e-3
        if robot.robokin.solver.status == "CONVERGED":
            home = remedies_module.home(robot, model, start)
            kept = room(model, home, read_configuration(robot))
            assert kept > 0.04
            robot.matrix_world.translation = 0.9 * base
            nearer = remedies_module.solved_now(bpy.context, robot, home).result
            reached += 1
            farther += nearer.converged and room(model, home, nearer.q) >= min(kept, 0.15)
    assert reached >= 4 and farther <= 1


@pytest.mark.parametrize("way", [(1.2, 0.0, 0.1), (-1.0, 1.5, 0.0), (-2.0, -1.0, -0.2)])
def test_the_arm_stays_near_home_where_the_base_comes(scene, way):
    """It strained towards the target before, with joints at their limits: it does not keep that posture."""
    assert bpy.ops.robokin.add_robot(robot="panda") == {"FINISHED"}
    robot = bpy.context.object
    robot.robokin.live = False
    target = add_target(robot, binding(robot).bone_of_link[ROBOTS["panda"].tip])
    moved(robot, target, location=target.location + Vector(way))
    run(robot, "base_nearer")
    q, model = read_configuration(robot), robot_model(robot)
    shares = np.minimum(q - model.lower, model.upper - q)[:7] / (model.upper - model.lower)[:7]
    assert robot.robokin.solver.status == "CONVERGED" and shares.min() > 0.15


def test_below_a_target_that_is_too_high_the_base_stands_under_it_and_the_panel_says_what_is_so(scene):
    robot = add_robot()
    target = add_target(robot)
    moved(robot, target, location=(0.6, 3.6, 0.84), rotation_euler=(np.pi, 0.0, 0.0))
    run(robot, "base_nearer")
    task, off = robot.robokin.tasks[0], world_error(robot, TOOL, target)[0]
    assert robot.matrix_world.translation.z == 0.0 and off < 0.05
    assert task.position_residual == pytest.approx(off, abs=1e-5)


def test_where_no_joint_turns_the_tool_so_the_base_is_not_to_blame(scene):
    robot = build(library_robot("gantry"))
    robot.robokin.live = False
    target = add_target(robot, robot.pose.bones[-1].name)
    target.rotation_euler.rotate_axis("X", 0.5)
    moved(robot, target)
    assert robot.robokin.solver.status == "OUT_OF_REACH" and "no joint turns it so" in robot.robokin.solver.reason
    assert "ROTATION" in offered(robot) and "BASE" not in offered(robot)
    run(robot, "task_relax", task=robot.robokin.tasks[0].name, how="ROTATION")
    run(robot, "solve_pose")
    assert robot.robokin.solver.status == "CONVERGED"


@pytest.fixture(params=[True, False], ids=["live", "solved"])
def held(request, scene):
    """A six-axis arm whose last joint may not turn the tool about its own axis as its target asks."""
    robot = build(library_robot("puma560"))
    robot.robokin.live = request.param
    write_configuration(robot, np.array([0.1, 0.2, -1.5, 0.4, 0.7, 0.0]))
    bpy.context.view_layer.update()
    target = add_target(robot, robot.pose.bones[-1].name)
    last = robot_model(robot).moving_joints[-1]
    settings = robot.data.bones[binding(robot).bone_of_link[last.child]].robokin
    settings.lower, settings.upper = -0.1, 0.1
    target.rotation_euler.rotate_axis("Z", 1.0)
    moved(robot, target)
    return robot, last.name


def test_in_edit_mode_no_joint_is_red(held):
    """Nothing can be read until it ends, and what the panels draw raises nothing."""
    robot, _ = held
    assert blocking_bones(robot)
    bpy.context.view_layer.objects.active = robot
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.view_layer.update()
    with pytest.raises(RobokinError):
        binding(robot)
    assert not blocking_bones(robot)
    draw(object=robot, active_object=robot)


def test_a_joint_at_its_limit_is_named_and_red(held):
    robot, last = held
    settings, target = robot.robokin.solver, robot.robokin.tasks[0].target
    assert settings.status == ("MAX_ITERATIONS" if robot.robokin.live else "LIMIT")
    said = draw(object=robot, active_object=robot)["ROBOKIN_PT_solve"]["labels"]
    assert any("meets it" in label or "Not reached" in label for label in said) == (
        not robot.robokin.live
    )  # Live says it
    assert last in why(robot).joints and last in [j.name for j in robot_model(robot).moving_joints]
    assert binding(robot).bone_of_link[robot_model(robot).joint(last).child] in blocking_bones(robot)
    assert offered(robot) == {"ROTATION", "AXIS", "TOLERANCE"}
    assert any(last in label for label in drawn(robot)["labels"])
    assert ("robokin.postures" in drawn(robot)["operators"]) == robot.robokin.live  # Solve has searched them all
    run(robot, "task_relax", how="ROTATION")
    if not robot.robokin.live:
        run(robot, "solve_pose")
    assert settings.status == "CONVERGED" and not why(robot).joints and not blocking_bones(robot)
    assert world_error(robot, robot.pose.bones[-1].name, target)[0] < 1e-4


@pytest.mark.parametrize("how", ["AXIS", "TOLERANCE"])
def test_a_task_that_asks_less_is_met(held, how):
    robot, _ = held
    task = robot.robokin.tasks[0]
    assert task.solved and not task.reached
    run(robot, "task_relax", how=how, task=task.name)
    if not robot.robokin.live:
        run(robot, "solve_pose")
    assert robot.robokin.solver.status == "CONVERGED" and task.reached


def test_postures_that_were_searched_in_vain_are_not_offered(held):
    """Neither after Solve Pose, nor after All Postures, until something changes."""
    robot, _ = held
    robot.robokin.live, target = True, robot.robokin.tasks[0].target
    for search in ("solve_pose", "postures"):
        moved(robot, target, location=target.location + Vector((0.0, 0.0, 0.001)))
        assert "robokin.postures" in drawn(robot)["operators"]
        with bpy.context.temp_override(object=robot, active_object=robot), suppress(RuntimeError):
            getattr(bpy.ops.robokin, search)()
        bpy.context.view_layer.update()
        assert "robokin.postures" not in drawn(robot)["operators"]


def test_tasks_in_conflict_come_one_after_the_other(robot):
    first, second = add_target(robot), add_target(robot, kind="POSITION")
    moved(robot, second, location=first.location + second.location * 0.2)
    assert robot.robokin.solver.status != "CONVERGED"
    assert "PRIORITY" in offered(robot)
    run(robot, "task_relax", how="PRIORITY", task=robot.robokin.tasks[1].name)
    if not robot.robokin.live:
        run(robot, "solve_pose")
    assert robot.robokin.tasks[0].reached and not robot.robokin.tasks[1].reached
    assert robot.robokin.tasks[1].priority == 2


def test_what_cannot_be_relaxed_is_reported(robot):
    add_target(robot)
    for operator, options, words in (
        ("task_relax", {"how": "PRIORITY"}, "changes nothing of it"),
        ("task_relax", {"how": "ROTATION", "task": "tool"}, "no task named 'tool'"),
        ("base_nearer", {"task": "tool"}, "no task named 'tool'"),
    ):
        with pytest.raises(RuntimeError, match=words):
            run(robot, operator, **options)
    robot.keyframe_insert("location")
    assert fcurves(robot)
    with pytest.raises(RuntimeError, match="held where it is"):
        run(robot, "base_nearer")
    robot.robokin.tasks[0].target.parent = robot
    robot.animation_data_clear()
    with pytest.raises(RuntimeError, match="moves with the robot"):
        run(robot, "base_nearer")
    robot.robokin.solver.why = "[1"
    assert why(robot).joints == ()


def solved_anew(robot):
    """Live goes on from the pose that it has; Solve Pose is asked."""
    if not robot.robokin.live:
        run(robot, "solve_pose")
    bpy.context.view_layer.update()


def asked(robot):
    """What remedies change, as text."""
    tasks = [(tuple(t.use_rotation), t.frame, t.priority, t.position_tolerance) for t in robot.robokin.tasks]
    return repr((tasks, robot.robokin.solver.mode, robot.matrix_world))


def still_missed(robot, remedy):
    """In tolerances of each task, what the remedy does not give up."""
    given_up = {"ROTATION": (1.0, 0.0), "PRIORITY": (0.0, 0.0)}
    found = 0.0
    for task in robot.robokin.tasks:
        length, angle = given_up.get(remedy.how, (1.0, 1.0)) if task.name == remedy.task else (1.0, 1.0)
        if not task.reached:
            found += length * task.position_residual / task.position_tolerance
            found += angle * task.orientation_residual / task.orientation_tolerance
    return found


def hard_scene(name, rng, live):
    """A robot in a random pose whose targets are pulled away from it: farther than it reaches, turned, or apart."""
    model = library_robot(name) if name in ROBOTS else model_of(name)
    robot = build(model)
    q = read_configuration(robot)
    for joint in model.moving_joints:
        own = model.slot(joint.name).q
        if own.stop - own.start == 1:
            q[own] = rng.uniform(max(model.limits.lower[own][0], -3.0), min(model.limits.upper[own][0], 3.0))
    robot.robokin.live = live
    write_configuration(robot, q)
    bpy.context.view_layer.update()
    tip = binding(robot).bone_of_link[ROBOTS[name].tip] if name in ROBOTS else robot.pose.bones[-1].name
    kinds = [("POSE",), ("POSITION",), ("POSE", "POSITION"), ("POSITION", "AXIS")][rng.integers(4)]
    for kind in kinds:
        target = add_target(robot, tip, kind)
        target.location += Vector(rng.normal(size=3) * max(robot.dimensions) * rng.choice([0.1, 0.3, 2.0]))
        target.rotation_euler.rotate(Euler(rng.normal(size=3)))
    bpy.context.view_layer.update()
    solved_anew(robot)
    return robot


@pytest.mark.parametrize(
    "name", rest_slow(["panda", "scara", "planar_3r", "mobile_arm", "gantry", "desk_arm", "z1"], 4)
)
def test_a_remedy_brings_the_tasks_nearer_or_says_that_it_does_not(scene, name):
    tried = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, len(name)])
        robot = hard_scene(name, rng, live=seed % 2 == 1)
        for count, remedy in enumerate(each for each in remedies(robot) if each.how != "POSTURES"):
            if count:  # the one before has changed it
                robot = hard_scene(name, np.random.default_rng([seed, len(name)]), live=seed % 2 == 1)
            before, was = still_missed(robot, remedy), asked(robot)
            options = {"task": remedy.task} | ({} if remedy.how == "BASE" else {"how": remedy.how})
            with bpy.context.temp_override(object=robot, active_object=robot):
                operator = bpy.ops.robokin.base_nearer if remedy.how == "BASE" else bpy.ops.robokin.task_relax
                outcome = operator(**options)
            solved_anew(robot)
            tried += 1
            if outcome == {"FINISHED"}:
                assert robot.robokin.solver.status == "CONVERGED" or still_missed(robot, remedy) < 0.95 * before
            else:
                assert asked(robot) == was and still_missed(robot, remedy) <= 1.001 * before
    assert tried > 1


def test_what_was_tried_in_vain_is_not_offered_again_until_something_changes(robot):
    target = add_target(robot)
    moved(robot, target, location=(4.0, 1.0, 0.5))
    robot.lock_location = (False, False, False)
    constraint = robot.constraints.new("LIMIT_LOCATION")  # the base does not go where it is put
    constraint.use_min_x = constraint.use_max_x = constraint.use_min_y = constraint.use_max_y = True
    robot.location.x, robot.rotation_euler.z = 1.0, 7.0
    bpy.context.view_layer.update()
    if not robot.robokin.live:
        run(robot, "solve_pose")
    assert offered(robot) == {"BASE"}
    with bpy.context.temp_override(object=robot, active_object=robot):
        assert bpy.ops.robokin.base_nearer() == {"CANCELLED"}
    bpy.context.view_layer.update()
    assert offered(robot) == {"ROTATION", "AXIS", "TOLERANCE"}  # to ask less is what is left
    assert robot.robokin.solver.status == "OUT_OF_REACH"
    assert (robot.location.x, robot.rotation_euler.z) == (1.0, 7.0)
    moved(robot, target, location=(4.0, 1.0, 0.6))
    assert offered(robot) == {"BASE"}


@pytest.mark.parametrize("hold", ["lock", "key", "target"])
def test_a_base_that_is_held_is_not_asked_to_come_nearer(robot, hold):
    """The task can ask less instead."""
    target = add_target(robot)
    if hold == "lock":
        robot.lock_location[1] = True
    elif hold == "key":
        robot.keyframe_insert("location")
    else:
        target.parent = robot
    moved(robot, target, location=(4.0, 1.0, 0.5))
    assert robot.robokin.solver.status == "OUT_OF_REACH"
    assert "BASE" not in offered(robot) and "TOLERANCE" in offered(robot)


def test_a_task_that_alone_is_missed_is_not_asked_to_come_after_those_that_are_met(scene):
    robot = build(library_robot("gantry"))
    robot.robokin.live = False
    tip = robot.pose.bones[-1].name
    add_target(robot, tip, "POSITION")
    turned = add_target(robot, tip, "AXIS")
    turned.rotation_euler.rotate_axis("X", 0.5)
    moved(robot, turned)
    assert robot.robokin.tasks[0].reached and not robot.robokin.tasks[1].reached
    assert "PRIORITY" not in offered(robot)


@pytest.mark.parametrize("operator", ["task_relax", "base_nearer"])
def test_a_remedy_whose_solve_raises_changes_nothing(robot, monkeypatch, operator):
    target = add_target(robot)
    moved(robot, target, location=(4.0, 1.0, 0.5))
    task = robot.robokin.tasks[0]
    options = {"how": "ROTATION"} if operator == "task_relax" else {}
    was, said, missed = asked(robot), robot.robokin.solver.reason, task.position_residual
    solves = []

    def failing(*arguments):
        solves.append(arguments)
        task.position_residual = 7.0
        raise RobokinError("no more memory")

    monkeypatch.setattr(remedies_module, "solved_now", failing)
    with pytest.raises(RuntimeError, match="no more memory"):
        run(robot, operator, **options)
    assert solves and asked(robot) == was
    assert (robot.robokin.solver.reason, task.position_residual) == (said, missed)


def test_the_base_is_not_tried_at_more_places_when_that_takes_long(scene, monkeypatch):
    robot = add_robot()
    target = add_target(robot)
    moved(robot, target, location=(0.0, 0.0, 40.0))
    now, solves, solve = [0.0], [], remedies_module.solved_now
    monkeypatch.setattr(remedies_module.time, "thread_time", lambda: now[0])

    def slow(*arguments):
        now[0] += 0.3
        solves.append(solve(*arguments))
        return solves[-1]

    monkeypatch.setattr(remedies_module, "solved_now", slow)
    with bpy.context.temp_override(object=robot, active_object=robot):
        bpy.ops.robokin.base_nearer()
    assert len(solves) == 2
