"""Criteria in Blender: the list, its animation, what the solvers take, and live costs."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest
from robokin_addon.operators.handlers import criterion_readouts
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.properties.criteria import KINDS, POTENTIALS
from robokin_addon.properties.results import readouts
from robokin_addon.robokin import RobokinError, forward_kinematics, gravity_torque
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.criteria.solver_criteria import enabled_criteria
from robokin_addon.solvers import criteria as solver_criteria
from robokin_addon.solvers.criteria import Potential, State
from support.blender.drawing import while_blender_draws
from support.blender.scene_robots import READY, TOOL, add_robot, build
from support.oracles.pinocchio_oracle import Oracle
from support.problems.obstructed import planar_arm


@pytest.fixture
def robot(scene):
    return add_robot()


def add(robot, kind, **settings):
    assert bpy.ops.robokin.criterion_add(kind=kind) == {"FINISHED"}
    item = robot.robokin.criteria[-1]
    for name, value in settings.items():
        setattr(item, name, value)
    return item


def test_kinds_are_those_of_the_solvers():
    assert {kind.lower() for kind, *_ in KINDS} == set(solver_criteria.KINDS)
    assert {kind.upper() for kind, cls in solver_criteria.KINDS.items() if issubclass(cls, Potential)} == set(
        POTENTIALS
    )


def test_add_remove_and_move_with_animation(robot):
    for kind in ("KINETIC_ENERGY", "SMOOTH", "SMOOTH"):
        add(robot, kind)
    items = robot.robokin.criteria
    assert [item.name for item in items] == ["Least Kinetic Energy", "Smooth", "Smooth.001"]
    assert robot.robokin.active_criterion == 2
    items[2].weight = 7.0
    items[2].keyframe_insert("weight", frame=1)
    bpy.ops.robokin.task_add(tip=TOOL)
    robot.robokin.tasks[0].keyframe_insert("influence", frame=1)

    assert bpy.ops.robokin.criterion_move(direction="UP") == {"FINISHED"}
    assert [item.name for item in items] == ["Least Kinetic Energy", "Smooth.001", "Smooth"]
    assert bpy.ops.robokin.criterion_remove(index=0) == {"FINISHED"}
    assert items[0].weight == 7.0
    assert {path for path, _ in fcurves(robot)} == {"robokin.criteria[0].weight", "robokin.tasks[0].influence"}
    assert bpy.ops.robokin.criterion_move(index=1, direction="DOWN") == {"CANCELLED"}
    with pytest.raises(RuntimeError, match="no criterion number 9"):
        bpy.ops.robokin.criterion_remove(index=9)


def test_solver_form_has_the_settings(robot):
    add(robot, "SMOOTH", time=0.4, weight=3.0)
    add(robot, "MANIPULABILITY", gain=2.5)
    add(robot, "KINETIC_ENERGY", enabled=False)
    add(robot, "DYNAMIC_TORQUE", damping=4.0)
    bpy.context.scene.gravity = (0.0, 1.0, -9.0)
    robot.rotation_euler = (np.pi / 2, 0.0, 0.0)  # the robot's y is the world's z
    bpy.context.view_layer.update()
    smooth, manipulability, torque = enabled_criteria(robot)
    assert (smooth.time, smooth.weight) == (pytest.approx(0.4), 3.0)
    assert manipulability.gain == 2.5
    assert manipulability.name == "criterion 'Manipulability'"
    assert torque.damping == 4.0
    np.testing.assert_allclose(torque.gravity, [0.0, -9.0, -1.0], atol=1e-6)


def test_rest_posture_keeps_near_a_stored_one(robot):
    stored = robot.robokin.postures[0].name
    item = add(robot, "REST_POSTURE", posture=stored)
    np.testing.assert_allclose(enabled_criteria(robot)[0].posture[: len(READY)], READY, atol=1e-6)
    robot.robokin.postures[stored].name = "ready to go"
    assert item.posture == "ready to go"
    item.posture = "nowhere"
    with pytest.raises(RobokinError, match="no stored posture named 'nowhere'"):
        enabled_criteria(robot)
    assert readouts.criteria(robot)[0].cost is None
    assert "nowhere" in readouts.criteria(robot)[0].problem


def test_live_cost_and_slopes_follow_the_pose(robot):
    add(robot, "GRAVITY_TORQUE")
    model = robot_model(robot)
    for turned in (0.0, 0.7):
        q = read_configuration(robot)
        q[1] += turned
        write_configuration(robot, q)
        q = read_configuration(robot)
        state = State(model, q)
        expected = 0.5 * np.sum((gravity_torque(model, q) / model.effort) ** 2)
        shown = readouts.criteria(robot)[0]
        assert shown.cost == pytest.approx(expected, rel=1e-6)
        slope = enabled_criteria(robot)[0].gradient(state)
        assert shown.pulls[0][0] == model.moving_joints[int(np.argmax(abs(slope)))].name
        assert shown.pulls[0][1] == pytest.approx(max(slope, key=abs), rel=1e-6)


def test_manipulability_without_a_task_says_nothing(robot):
    add(robot, "MANIPULABILITY")
    assert readouts.criteria(robot)[0].cost == 0.0
    bpy.ops.robokin.task_add(tip=TOOL)
    assert readouts.criteria(robot)[0].cost != 0.0


def test_criteria_are_saved(robot, tmp_path):
    add(robot, "REST_POSTURE", posture="ready", weight=0.25)
    path = str(tmp_path / "criteria.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    name = robot.name
    bpy.ops.wm.open_mainfile(filepath=path)
    item = bpy.data.objects[name].robokin.criteria[0]
    assert (item.kind, item.posture, item.weight) == ("REST_POSTURE", "ready", 0.25)


def test_solve_pose_serves_the_criteria(robot):
    """A hand held in place leaves the elbow free: it goes where gravity pulls least."""
    bpy.ops.robokin.task_add(tip=TOOL)
    add(robot, "GRAVITY_TORQUE")
    before = readouts.criteria(robot)[0].cost
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert robot.robokin.solver.status == "CONVERGED"
    assert robot.robokin.tasks[0].reached
    assert readouts.criteria(robot)[0].cost < 0.98 * before


def test_levels_decide_unless_the_mode_is_weighted(robot):
    """Two places for one hand: the first level gets its own, both at once share the difference."""
    for number, x in enumerate((0.4, 0.5), start=1):
        bpy.ops.robokin.task_add(tip=TOOL, kind="POSITION")
        task = robot.robokin.tasks[-1]
        task.location, task.priority = (x, 0.0, 0.5), number
    settings = robot.robokin.solver
    bpy.ops.robokin.solve_pose()
    first, second = robot.robokin.tasks
    assert first.reached and not second.reached
    assert second.position_residual == pytest.approx(0.1, abs=1e-4)
    assert settings.status == "TASK_CONFLICT"
    settings.mode = "WEIGHTED"
    bpy.ops.robokin.solve_pose()
    assert first.position_residual == pytest.approx(0.05, abs=1e-4)
    assert second.position_residual == pytest.approx(0.05, abs=1e-4)


def moving_target(robot, frames=40):
    """A target that goes once round a circle and comes back."""
    bpy.ops.robokin.target_add(tip=TOOL)
    target = bpy.context.object
    start = np.array(target.location)
    for frame in range(1, frames + 1):
        angle = 2.0 * np.pi * (frame - 1) / (frames - 1)
        target.location = start + 0.08 * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.0])
        target.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.objects.active = robot
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    return frames


def baked(robot, frames):
    """(frames, nq)"""
    found = []
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        found.append(read_configuration(robot))
    return np.array(found)


def test_a_bake_serves_criteria_and_keys_their_costs(robot):
    frames = moving_target(robot)
    item = add(robot, "GRAVITY_TORQUE", gain=5.0)
    add(robot, "MANIPULABILITY", enabled=False)
    bpy.context.scene.frame_set(7)
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert robot.robokin.solver.bake_status == "CONVERGED"
    q, curves = baked(robot, frames), fcurves(robot)
    assert [path for path, _ in curves if "cost" in path] == [f"{item.path_from_id()}.cost"]
    model = robot_model(robot)
    for frame in (1, frames):
        torque = gravity_torque(model, q[frame - 1])
        shown = curves[f"{item.path_from_id()}.cost", 0].evaluate(frame)
        assert shown == pytest.approx(0.5 * np.sum((torque / model.effort) ** 2), rel=1e-4)
    bpy.context.scene.frame_set(3)
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    np.testing.assert_array_equal(baked(robot, frames), q)


def cut(robot, frames):
    """A link on a curve with thickness, a laser on a mesh whose spot and surface move, a second level."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=1.2, location=(0.5, 0.0, 0.1))
    surface = bpy.context.object
    bpy.context.view_layer.objects.active = robot
    bpy.ops.robokin.target_add(kind="CURVE", tip="panda_joint4")
    bpy.context.object.data.bevel_depth = 0.05
    bpy.context.view_layer.objects.active = robot
    bpy.ops.robokin.target_add(kind="LASER", tip=TOOL)
    spot = bpy.context.object
    bpy.context.view_layer.objects.active = robot
    bpy.ops.robokin.task_add(kind="POSITION", tip="panda_joint6")
    _, laser, wrist = robot.robokin.tasks
    laser.surface, wrist.priority = surface, 2
    for frame in range(1, frames + 1, 4):
        surface.location.z = 0.1 + 0.004 * frame
        surface.keyframe_insert("location", frame=frame)
        spot.location = (0.45 + 0.1 * np.sin(frame / 5.0), 0.1 * np.cos(frame / 5.0), surface.location.z)
        spot.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    return laser


def test_live_costs_are_those_of_the_bake_and_of_python(robot):
    laser = cut(robot, 30)
    for kind, *_ in KINDS:
        add(robot, kind)
    laser.influence = 1.0
    laser.keyframe_insert("influence", frame=18)
    laser.influence = 0.0
    laser.keyframe_insert("influence", frame=19)
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    curves, model = fcurves(robot), robot_model(robot)
    q, seen = baked(robot, 30), {}
    for frame in (20, 1, 2, 13, 18, 19):
        bpy.context.scene.frame_set(frame)
        for item, shown in zip(robot.robokin.criteria, readouts.criteria(robot), strict=True):
            paths = [f"{item.path_from_id()}.{name}" for name in ("cost", "slope")]
            at_frame = [curves[path, 0].evaluate(frame) for path in paths]
            assert [shown.cost, shown.slope] == pytest.approx(at_frame, rel=2e-5, abs=1e-9), (frame, item.name)
            assert [item.cost, item.slope] == pytest.approx(at_frame, rel=1e-6)
            seen[frame, item.kind] = shown
    dt = 1.0 / 24.0
    v, before = ((q[i] - q[i - 1]) / dt for i in (12, 11))
    smooth = seen[13, "SMOOTH"]
    assert seen[13, "MINIMUM_VELOCITY"].cost == pytest.approx(0.5 * v @ v, rel=1e-4)
    assert smooth.cost == pytest.approx(0.5 * np.sum((0.1 * (v - before) / dt) ** 2), rel=1e-4)
    assert smooth.slope == pytest.approx(np.linalg.norm(0.1**2 * (v - before) / dt**2), rel=1e-4)
    assert seen[18, "MANIPULABILITY"].cost != pytest.approx(seen[19, "MANIPULABILITY"].cost, rel=1e-2)
    torque = Oracle.from_model(model).inverse_dynamics(q[12], v, (v - before) / dt)
    assert seen[13, "DYNAMIC_TORQUE"].cost == pytest.approx(0.5 * np.sum((torque / model.effort) ** 2), rel=1e-3)


def test_a_pose_by_hand_is_at_rest(robot):
    frames = moving_target(robot, 8)
    add(robot, "KINETIC_ENERGY")
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(frames // 2)
    shown = readouts.criteria(robot)[0]
    assert shown.cost > 0.0 and shown.pulls
    q = read_configuration(robot)
    q[0] += 0.3
    write_configuration(robot, q)
    assert readouts.criteria(robot)[0].cost == 0.0


def test_live_costs_follow_shapes(robot):
    cut(robot, 4).enabled = False
    add(robot, "MANIPULABILITY")
    bpy.context.view_layer.update()
    before = readouts.criteria(robot)[0].cost
    curve = robot.robokin.tasks[0].target
    for point in curve.data.splines[0].bezier_points:
        point.co.x = 2.0 * point.co.y
        point.handle_left_type = point.handle_right_type = "AUTO"
    bpy.context.view_layer.update()
    assert readouts.criteria(robot)[0].cost != pytest.approx(before, rel=1e-4)


def test_a_repeatable_bake_closes(robot):
    frames = moving_target(robot)
    add(robot, "JOINT_SPRINGS")
    robot.robokin.solver.mode = "EXTENDED"
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert robot.robokin.solver.bake_status == "CONVERGED"
    q = baked(robot, frames)
    np.testing.assert_allclose(q[-1], q[0], atol=1e-5)
    robot.robokin.criteria[0].kind = "KINETIC_ENERGY"
    with pytest.raises(RuntimeError, match="has no potential"):
        bpy.ops.robokin.bake()


def test_weights_can_be_keyed(robot):
    frames = moving_target(robot)
    item = add(robot, "JOINT_SPRINGS", gain=4.0)
    add(robot, "MINIMUM_VELOCITY")
    for frame, weight in ((1, 1e-6), (20, 1e-6), (21, 5.0)):
        item.weight = weight
        item.keyframe_insert("weight", frame=frame)
    for curve in fcurves(robot).values():
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    cost = fcurves(robot)[f"{item.path_from_id()}.cost", 0]
    early, late = cost.evaluate(20) - cost.evaluate(2), cost.evaluate(frames) - cost.evaluate(22)
    assert late < early


def by_handler(robot, item):
    """Any other add-on's."""
    bpy.app.handlers.frame_change_post.append(lambda *_: None)


def by_driver(robot, item):
    driver = item.id_data.driver_add(f"{item.path_from_id()}.gain").driver
    driver.type, driver.expression = "SCRIPTED", "4 + 0 * frame"


def by_strip(robot, item):
    robot.animation_data.nla_tracks.new()


@pytest.mark.parametrize("also_moved", [by_handler, by_driver, by_strip])
def test_keyed_weights_count_whatever_else_moves(robot, also_moved):
    """And whatever frame the scene is at: the motion is that of the keys alone."""
    frames = moving_target(robot, 12)
    item = add(robot, "JOINT_SPRINGS", gain=4.0)
    add(robot, "MINIMUM_VELOCITY")
    for frame, weight in ((1, 0.0), (12, 5.0)):
        item.weight = weight
        item.keyframe_insert("weight", frame=frame)
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    wanted = baked(robot, frames)
    also_moved(robot, item)
    for frame in (1, 12):
        bpy.context.scene.frame_set(frame)
        assert bpy.ops.robokin.bake() == {"FINISHED"}
        np.testing.assert_allclose(baked(robot, frames), wanted, rtol=0.0, atol=1e-5)


def test_slow_costs_do_not_make_a_redraw_wait(robot, monkeypatch):
    """They are shown as they were, and computed by a timer."""
    timers = []
    monkeypatch.setattr(criterion_readouts, "_start_timer", timers.append)
    add(robot, "JOINT_SPRINGS")
    (before,) = readouts.criteria(robot)
    criterion_readouts._last[robot.session_uid]["seconds"] = 1.0
    q = read_configuration(robot)
    q[0] += 0.3
    write_configuration(robot, q)
    (shown,) = criterion_readouts._shown(robot, binding(robot), may_wait=True)
    assert shown == replace(before, is_present=False) and before.is_present
    assert timers == [criterion_readouts.PAUSE]
    criterion_readouts._compute_waiting()
    monkeypatch.setattr(criterion_readouts, "SLOW", 0.5)
    (after,) = criterion_readouts._shown(robot, binding(robot), may_wait=True)
    assert after.cost != pytest.approx(before.cost, rel=1e-3)
    assert [after] == readouts.criteria(robot)
    criterion_readouts._last[robot.session_uid]["seconds"] = 1.0
    add(robot, "GRAVITY_TORQUE")
    assert [shown.cost for shown in criterion_readouts._shown(robot, binding(robot), may_wait=True)] == [None, None]
    criterion_readouts._compute_waiting()
    assert None not in [shown.cost for shown in criterion_readouts._shown(robot, binding(robot), may_wait=True)]
    other = robot.copy()
    bpy.context.scene.collection.objects.link(other)
    other.robokin.criteria[0].weight = 3.0
    criterion_readouts._last[robot.session_uid]["seconds"] = 1.0
    assert [shown.cost for shown in criterion_readouts._shown(other, binding(other), may_wait=True)] == [None, None]


def test_slow_costs_of_several_robots_are_computed_once(robot, monkeypatch):
    """In two windows, one drawn after the other; what is removed is forgotten."""
    while_blender_draws(monkeypatch)
    monkeypatch.setattr(criterion_readouts, "_start_timer", lambda seconds: None)
    monkeypatch.setattr(criterion_readouts, "SLOW", 0.0)
    add(robot, "JOINT_SPRINGS")
    other = robot.copy()
    bpy.context.scene.collection.objects.link(other)
    other.robokin.criteria[0].weight = 2.0
    bpy.context.view_layer.update()
    for _ in range(2):
        each = [readouts.criteria(obj) for obj in (robot, other)]
        criterion_readouts._compute_waiting()
    each = [readouts.criteria(obj) for obj in (robot, other)]
    assert all(shown.is_present for (shown,) in each) and not criterion_readouts._waiting
    uid = other.session_uid
    bpy.data.objects.remove(other)
    readouts.criteria(robot.copy())
    assert uid not in criterion_readouts._last


def test_a_redraw_in_which_nothing_has_changed_reads_nothing(robot, monkeypatch):
    """Every field of all tasks and criteria was compared at each redraw of the panel."""
    while_blender_draws(monkeypatch)
    add(robot, "JOINT_SPRINGS")
    contents, reads = criterion_readouts._contents, []
    monkeypatch.setattr(criterion_readouts, "_contents", lambda *given: reads.append(1) or contents(*given))
    bpy.context.view_layer.update()
    (before,) = readouts.criteria(robot)
    for _ in range(3):
        assert readouts.criteria(robot) == [before]
    assert len(reads) == 1
    q = read_configuration(robot)
    q[0] += 0.3
    write_configuration(robot, q)
    bpy.context.view_layer.update()
    (after,) = readouts.criteria(robot)
    assert len(reads) == 2 and after.cost != pytest.approx(before.cost, rel=1e-3)


def test_away_from_obstacles_makes_room_where_they_stand(scene):
    """The hand stays where it is; what is animated does not count."""
    arm, start = build(planar_arm(4)), np.array([0.3, 0.6, -1.2, 0.6])
    arm.robokin.live = False
    write_curves(arm, [1], start[None], False, binding(arm))
    scene.frame_set(1)
    hand = forward_kinematics(robot_model(arm), start)["l3"][:3, 3]
    bpy.ops.object.empty_add(location=hand.tolist())
    task = arm.robokin.tasks.add()
    task.name, task.kind, task.tip, task.target = "hand", "POSITION", "j3", bpy.context.object
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.2, location=(1.5, 0.35, 0.0))
    ball = bpy.context.object
    assert bpy.ops.robokin.obstacle() == {"FINISHED"}
    bpy.context.view_layer.objects.active = arm
    add(arm, "FAR_FROM_OBSTACLES", distance=0.5)
    (room,) = enabled_criteria(arm)
    assert enabled_criteria(arm)[0].collisions.obstacles[0].name == ball.name and room.distance == pytest.approx(0.5)
    before = readouts.criteria(arm)[0].cost
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"} and arm.robokin.solver.status == "CONVERGED"
    bpy.context.view_layer.update()
    assert readouts.criteria(arm)[0].cost < 0.5 * before
    ball.keyframe_insert("location", frame=1)
    bpy.context.view_layer.update()
    assert not enabled_criteria(arm)[0].collisions.obstacles
