"""Too fast: what is offered, and that one click of it helps."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding
from robokin_addon.properties.results import readouts
from robokin_addon.scene.animation.frames import channelbag
from robokin_addon.scene.slower_targets import end_of, requested_times
from robokin_addon.scene.target_keys import ScaledRange
from robokin_addon.solvers.progress import finish
from support.blender.panels import draw
from support.blender.scene_bakes import bake
from support.blender.scene_robots import add_empty, add_robot, add_target, circle
from support.blender.windows import called

LAST = 13


@pytest.fixture
def hurried(scene):
    robot = add_robot(live=False)
    target = add_target(robot)
    circle(target, LAST, radius=0.2)
    scene.frame_start, scene.frame_end = 1, LAST
    return robot, target


def times(target):
    return np.array([[point.co.x for point in curve.keyframe_points] for curve in channelbag(target).fcurves])


def test_targets_that_are_too_fast_get_the_time_that_the_joints_need(scene, hurried):
    robot, target = hurried
    settings, before = bake(robot), times(target)
    assert "too fast" in settings.bake_reason
    panel = draw(object=robot)["ROBOKIN_PT_bake"]
    assert "robokin.slow_targets" in panel["operators"]
    assert called(bpy.ops.robokin.slow_targets, robot) == {"FINISHED"}
    factor = (scene.frame_end - 1) / (LAST - 1)
    assert 1.2 < factor < 10.0
    after = times(target)
    own = (after[0, -1] - 1) / (before[0, -1] - 1)
    assert factor == pytest.approx(own, abs=1.0 / (LAST - 1))
    np.testing.assert_allclose(after, 1.0 + own * (before - 1.0), rtol=1e-5)
    settings = bake(robot)
    assert settings.bake_status == "CONVERGED", settings.bake_reason
    assert readouts.is_present(robot, "bake")  # though it was asked just before the keys were written
    assert "robokin.slow_targets" not in draw(object=robot)["ROBOKIN_PT_bake"]["operators"]
    assert "the robot can keep up" in called(bpy.ops.robokin.slow_targets, robot)


def test_frames_that_no_pose_meets_ask_for_no_more_time_and_their_neighbours_say_why(scene, hurried):
    robot, target = hurried
    called(bpy.ops.robokin.slow_targets, robot)
    assert bake(robot).bake_status == "CONVERGED"
    curve = channelbag(target).fcurves.find("location", index=2)
    for point in curve.keyframe_points:  # it goes out of reach, and comes back
        if 0.3 * scene.frame_end < point.co.x < 0.7 * scene.frame_end:
            point.co.y += 3.0
    curve.update()
    settings = bake(robot)
    rows = [item for item in settings.bake_failures if item.status]
    beside = [item for item in rows if "too fast" in item.reason]
    assert {"OUT_OF_REACH"} < {item.status for item in rows} and beside
    assert any(item.reason.endswith("beside frames that are not met at any speed") for item in beside)


def test_a_jump_out_of_reach_and_back_needs_no_more_time(scene, hurried):
    robot, target = hurried
    curves = channelbag(target).fcurves
    for curve in curves:
        for point in curve.keyframe_points:
            high = 3.0 if curve.array_index == 2 and 5 <= point.co.x <= 9 else 0.0
            point.co.y, point.interpolation = curve.keyframe_points[0].co.y + high, "CONSTANT"
        curve.update()
    assert bake(robot).bake_status == "OUT_OF_REACH"
    assert "the robot can keep up" in called(bpy.ops.robokin.slow_targets, robot)


def test_keys_of_another_file_are_left(scene, hurried, tmp_path):
    robot, target = hurried
    before, path, action = times(target), str(tmp_path / "library.blend"), target.animation_data.action
    bpy.data.libraries.write(path, {action})
    name = action.name
    bpy.data.actions.remove(action)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.actions = [name]
    target.animation_data.action = into.actions[0]
    if not target.animation_data.action_slot:
        target.animation_data.action_slot = into.actions[0].slots[0]
    said = called(bpy.ops.robokin.slow_targets, robot, factor=2.0)
    assert f"the keys of {target.name!r} are linked from another file" in said
    np.testing.assert_array_equal(times(target), before)


def test_a_target_that_is_not_keyed_cannot_be_slower(scene, hurried):
    robot, target = hurried
    target.animation_data_clear()
    assert "nothing to slow down" in called(bpy.ops.robokin.slow_targets, robot, factor=2.0)
    assert scene.frame_end == LAST


def test_all_that_leads_the_tasks_is_twice_as_slow_from_the_first_frame_on(scene, hurried):
    """By what Blender shows: a target with free handles on a parent whose keys begin sooner, an
    influence, and what carries the robot."""
    robot, target = hurried
    parent, influence = add_empty("parent"), "robokin.tasks[0].influence"
    parent.location = target.location.copy()
    for point in channelbag(target).fcurves[1].keyframe_points:
        point.handle_left_type = point.handle_right_type = "FREE"
        point.handle_right[1] += 0.03
    target.parent = parent
    for frame, x, turn in ((-9, 0.0, 0.0), (9, 0.4, 1.0), (LAST, 0.1, 0.5)):
        parent.location.x, parent.rotation_euler.z = x, turn
        parent.keyframe_insert("location", index=0, frame=frame)
        parent.keyframe_insert("rotation_euler", index=2, frame=frame)
    for point in channelbag(parent).fcurves[1].keyframe_points:
        point.interpolation = "LINEAR"
    for frame in (1, LAST):
        robot.robokin.tasks[0].influence, robot.location.x = frame / LAST, 0.1 * frame
        robot.keyframe_insert(influence, frame=frame)
        robot.pose.bones["panda_joint1"].keyframe_insert("rotation_euler", index=1, frame=frame)
        robot.keyframe_insert("location", index=0, frame=frame)
    joints = [curve for curve in channelbag(robot).fcurves if curve.data_path.startswith("pose.bones")]
    scene.frame_start, scene.frame_end, scene.use_preview_range = -5, 100, True
    scene.frame_preview_start, scene.frame_preview_end = 1, LAST

    def seen(frames):
        rows = []
        for frame in frames:
            scene.frame_set(int(frame), subframe=frame % 1.0)
            own = np.ravel(target.matrix_world)
            rows.append([*own, *np.ravel(robot.matrix_world), robot.robokin.tasks[0].influence])
        return np.array(rows)

    at = np.linspace(1.0, LAST, 49)
    sooner, before = seen(range(-9, 2)), seen(at)
    assert called(bpy.ops.robokin.slow_targets, robot, factor=2.0) == {"FINISHED"}
    np.testing.assert_allclose(seen(1.0 + 2.0 * (at - 1.0)), before, atol=1e-5)
    np.testing.assert_allclose(seen(range(-9, 2)), sooner, atol=1e-5)
    assert scene.frame_preview_end == 1 + 2 * (LAST - 1) and scene.frame_end == 100
    assert joints and {curve.range()[1] for curve in joints} == {LAST}


def test_in_a_range_of_its_own_what_comes_sooner_stays(scene, hurried):
    robot, target = hurried
    settings, before = robot.robokin.solver, times(target)
    settings.range, settings.frame_start, settings.frame_end = "CUSTOM", 7, LAST
    assert called(bpy.ops.robokin.slow_targets, robot, factor=1.5) == {"FINISHED"}
    after = times(target)
    sooner = before[0] <= 7.0
    np.testing.assert_allclose(after[0, sooner], before[0, sooner])
    np.testing.assert_allclose(after[0, ~sooner][-1], 7.0 + 1.5 * (LAST - 7.0))
    assert settings.frame_end == 16 and scene.frame_end == LAST


@pytest.mark.parametrize("kind", ["velocity", "acceleration"])
def test_the_time_is_what_the_limit_that_binds_needs(scene, hurried, kind):
    """One joint alone has limits: twice as slow needs half the speed, a quarter of the acceleration."""
    robot, _ = hurried
    for bone in robot.data.bones:
        bone.robokin.use_velocity = bone.robokin.use_acceleration = False
    setattr(robot.data.bones["panda_joint1"].robokin, f"use_{kind}", True)
    factors = []
    for limit in (0.5, 0.25):
        setattr(robot.data.bones["panda_joint1"].robokin, kind, limit)
        steps = requested_times(scene, bpy.context.view_layer, robot, binding(robot), range(1, LAST + 1), None)
        factors.append(finish(steps))
    assert factors[0] > 1.0
    assert factors[1] / factors[0] == pytest.approx(2.0 if kind == "velocity" else np.sqrt(2.0), rel=1e-4)


def test_keys_that_are_too_fast_are_slowed_down_from_the_check(scene, hurried):
    robot, _ = hurried
    robot.robokin.tasks.clear()
    bone = robot.pose.bones["panda_joint1"]
    for frame, angle in ((1, 0.0), (5, 1.5), (40, 1.0)):
        bone.rotation_euler[1] = angle
        bone.keyframe_insert("rotation_euler", index=1, frame=frame)
    scene.frame_end = 40
    for is_passed in (False, True):
        assert called(bpy.ops.robokin.check, robot) == {"FINISHED"}
        assert robot.robokin.solver.check_passed == is_passed, robot.robokin.solver.check_summary
        texts = draw(object=robot)["ROBOKIN_PT_check"]["texts"]
        assert ("Slow Down Where Too Fast" in texts) != is_passed
        if not is_passed:
            assert called(bpy.ops.robokin.retime, robot, mode="AS_ANIMATED") == {"FINISHED"}
            scene.frame_end = 60


def test_keys_that_two_targets_share_are_moved_once(scene, hurried):
    robot, target = hurried
    parent = add_empty("parent")
    parent.animation_data_create().action = target.animation_data.action
    parent.animation_data.action_slot = target.animation_data.action_slot
    target.parent, before = parent, times(target)
    assert called(bpy.ops.robokin.slow_targets, robot, factor=2.0) == {"FINISHED"}
    np.testing.assert_allclose(times(target), 1.0 + 2.0 * (before - 1.0), rtol=1e-5)


@pytest.mark.parametrize("on_path", [False, True])
def test_targets_move_along_with_a_motion_in_a_time_of_its_own(scene, hurried, on_path):
    """One click after a bake whose time is free: then Check finds that its frames are met. Also where a
    constraint leads to what is keyed."""
    robot, target = hurried
    followed = target
    if on_path:
        followed = add_empty("leader")
        followed.location = target.location
        circle(followed, LAST, radius=0.2)
        target.animation_data_clear()
        target.constraints.new("COPY_LOCATION").target = followed
    assert called(bpy.ops.robokin.bake, robot, mode="WHOLE", cost="DURATION") == {"FINISHED"}
    settings, (_, last) = robot.robokin.solver, robot.robokin.baked_frames
    assert settings.bake_status == "CONVERGED" and last > LAST and scene.frame_end == LAST
    assert called(bpy.ops.robokin.check, robot, frame_end=last) == {"FINISHED"} and not settings.check_passed
    assert draw(object=robot)["ROBOKIN_PT_bake"]["texts"].count("Move Targets Along") == 1
    button = {"factor": settings.bake_stretch, "frame_start": 1, "frame_end": LAST}
    assert called(bpy.ops.robokin.slow_targets, robot, **button) == {"FINISHED"}
    assert scene.frame_end == last and times(followed)[0, -1] == last
    assert called(bpy.ops.robokin.check, robot) == {"FINISHED"} and settings.check_passed, settings.check_summary
    assert "Move Targets Along" not in draw(object=robot)["ROBOKIN_PT_bake"]["texts"]


def test_what_more_than_keys_moves_keeps_its_time(scene, hurried, capfd):
    robot, target = hurried
    parent = add_empty("parent")
    target.parent = parent
    parent.driver_add("location", 2).driver.expression = "0.001 * frame"
    said = called(bpy.ops.robokin.slow_targets, robot, factor=2.0)
    assert said == {"FINISHED"} and times(target)[0, -1] == 1 + 2 * (LAST - 1)
    assert "Warning: not all that moves parent can be stretched: the rest keeps its time" in capfd.readouterr().out


HANDLES = {  # type, and frames that they reach
    "aligned": ("ALIGNED", 3.0),
    "long": ("FREE", 5.0),
    "automatic": ("AUTO_CLAMPED", 1.0),
}


@pytest.mark.parametrize("factor", [0.4, 2.0])
@pytest.mark.parametrize("handles", HANDLES)
@pytest.mark.parametrize("frames", [(-20, 5, LAST, 30), (1, 7, LAST), (1, 4, 9, 40), (3, 6, 10)])
def test_a_curve_keeps_its_shape_and_what_comes_after_its_range_its_speed(scene, hurried, frames, handles, factor):
    robot, target = hurried
    target.animation_data_clear()
    kind, reach = HANDLES[handles]
    for frame in frames:
        target.location.x = 0.02 * frame * (-1.0) ** frame
        target.keyframe_insert("location", index=0, frame=frame)
    (curve,) = channelbag(target).fcurves
    for point in curve.keyframe_points:
        point.handle_left_type = point.handle_right_type = kind
        point.handle_left = point.co.x - reach, point.co.y - 0.1
        point.handle_right = point.co.x + reach, point.co.y + 0.1
    curve.update()
    at = np.linspace(frames[0], frames[-1], 97)
    before = [curve.evaluate(frame) for frame in at]
    assert called(bpy.ops.robokin.slow_targets, robot, factor=factor) == {"FINISHED"}
    moved = [ScaledRange(1, LAST, factor).at(frame) for frame in at]
    np.testing.assert_allclose([curve.evaluate(frame) for frame in moved], before, atol=2e-5)


def test_a_path_that_a_target_follows_moves_along(scene, hurried):
    robot, target = hurried
    bpy.ops.curve.primitive_bezier_circle_add(location=target.location)
    path = bpy.context.object
    target.animation_data_clear()
    target.constraints.new("FOLLOW_PATH").target = path
    for frame, time in ((1, 0.0), (LAST, 50.0)):
        path.data.eval_time = time
        path.data.keyframe_insert("eval_time", frame=frame)
    assert called(bpy.ops.robokin.slow_targets, robot, factor=2.0) == {"FINISHED"}
    np.testing.assert_allclose(times(path.data), [[1.0, 1.0 + 2.0 * (LAST - 1)]])


def test_frames_of_some_steps_end_where_the_motion_does(scene, hurried):
    """The factor of a button is in single precision."""
    robot, _ = hurried
    robot.robokin.solver.step, scene.frame_end = 5, LAST
    assert called(bpy.ops.robokin.slow_targets, robot, factor=float(np.float32(1.5))) == {"FINISHED"}
    assert scene.frame_end == 1 + 15
    wrong = [n for n in range(250, 500) if end_of((1, 250), float(np.float32((n - 1) / 249.0))) != n]
    assert not wrong


@pytest.mark.parametrize("first", [1, 5])
def test_a_curve_that_repeats_is_named_where_it_begins_sooner(scene, hurried, capfd, first):
    robot, target = hurried
    channelbag(target).fcurves[0].modifiers.new("CYCLES")
    settings = robot.robokin.solver
    settings.range, settings.frame_start, settings.frame_end = "CUSTOM", first, 60
    assert called(bpy.ops.robokin.slow_targets, robot, factor=2.0) == {"FINISHED"}
    assert (f"not all that moves {target.name}" in capfd.readouterr().out) == (first == 5)


def test_obstacles_that_a_robot_avoids_move_along(scene, hurried):
    robot, _ = hurried
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0.0, 0.0, 3.0))
    obstacle = bpy.context.object
    obstacle.robokin.is_obstacle = True
    circle(obstacle, LAST, radius=0.1)
    before = times(obstacle)
    assert called(bpy.ops.robokin.slow_targets, robot, factor=2.0) == {"FINISHED"}
    np.testing.assert_array_equal(times(obstacle), before)
    robot.robokin.solver.avoid_collisions = True
    assert called(bpy.ops.robokin.slow_targets, robot, factor=0.5) == {"FINISHED"}
    np.testing.assert_allclose(times(obstacle), 1.0 + 0.5 * (before - 1.0), rtol=1e-5)


def test_a_wheeled_base_that_parks_is_too_slow_and_no_more(scene):
    """In the frame in which its target jumps no arc of its wheels leads there: later several do."""
    bpy.ops.robokin.add_robot(robot="mobile_arm")
    robot = bpy.context.object
    robot.robokin.live = False
    target = add_target(robot, "base_link")
    scene.frame_start, scene.frame_end = 1, 150
    for frame, move in ((1, 0.0), (2, 1.2)):
        target.location.y += move
        target.keyframe_insert("location", frame=frame)
    rows = [item for item in bake(robot).bake_failures if item.status]
    assert {item.status for item in rows} == {"MAX_ITERATIONS", "LIMIT"}
    for item in rows:
        assert item.reason.endswith("another pose meets the tasks" if item.status == "MAX_ITERATIONS" else "_wheel")
