"""Bake: what is written is a function of the scene, inside all limits, and leaves everything else as it was."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.animation.curves import own_keys
from support.blender.scene_bakes import bake, keys, slow_road, worst_error
from support.blender.scene_robots import add_empty, add_robot, add_target, circle, world_error


def test_the_tip_follows_the_target_at_every_frame(scene, robot, target):
    settings = bake(robot)
    assert (settings.bake_status, settings.bake_reason) == ("CONVERGED", "all 40 frames are met")
    assert worst_error(scene, robot, target, range(1, 41)) < 1.5e-4


def test_one_linear_curve_per_degree_of_freedom_grouped_by_bone(robot, target):
    bake(robot)
    curves = animation.channelbag(robot).fcurves
    assert {(curve.data_path, curve.array_index) for curve in curves} == set(own_keys(binding(robot)))
    for curve in curves:
        assert len(curve.keyframe_points) == 40
        assert {point.interpolation for point in curve.keyframe_points} == {"LINEAR"}
        assert f'"{curve.group.name}"' in curve.data_path


def test_angles_do_not_wrap(robot, target):
    bake(robot)
    for values in keys(robot).values():
        assert abs(np.diff(values[:, 1])).max() < 0.3


@pytest.mark.parametrize("frame", [23])
def test_the_present_frame_and_pose_play_no_part_and_the_frame_comes_back(scene, robot, target, frame):
    bake(robot)
    first = keys(robot)
    animation.set_frame(scene, frame + 0.25)
    q = read_configuration(robot)
    q[:7] += 0.3
    write_configuration(robot, q)
    bake(robot)
    assert (scene.frame_current, scene.frame_subframe) == (frame, 0.25)
    second = keys(robot)
    assert all(np.array_equal(first[key], second[key]) for key in first)


@pytest.mark.parametrize("frame", [0.0, 12.5, 55.0])
def test_the_pose_shows_the_bake_at_the_present_frame_and_targets_moved_by_hand_stay(scene, robot, target, frame):
    animation.set_frame(scene, frame)
    target.location.z = 9.0
    bake(robot)
    assert target.location.z == 9.0
    shown = read_configuration(robot)
    animation.set_frame(scene, frame)
    assert shown == pytest.approx(read_configuration(robot), abs=1e-7)


def test_the_curves_it_replaces_play_no_part(robot, target):
    bake(robot)
    clean = keys(robot)
    for curve in animation.channelbag(robot).fcurves:
        for point in curve.keyframe_points:
            point.co[1] += 0.5
        curve.update()
    bake(robot)
    again = keys(robot)
    assert all(np.array_equal(clean[key], again[key]) for key in clean)


def test_keys_outside_and_foreign_channels_stay(scene, robot, target):
    path, index = next(iter(own_keys(binding(robot))))
    robot.keyframe_insert("location", frame=5)
    robot.robokin.tasks[0].keyframe_insert("influence", frame=1)
    curve = animation.channelbag(robot).fcurves.new(path, index=index)
    for frame, value in ((-5, 0.1), (0, 0.2), (7, 9.0), (10, 9.0), (41, 0.3), (60, 0.4)):
        curve.keyframe_points.insert(frame, value)
    curve.keyframe_points[0].interpolation = "CONSTANT"
    bake(robot)
    found = keys(robot)
    values = found[path, index]
    outside = values[(values[:, 0] < 1) | (values[:, 0] > 40)]
    np.testing.assert_allclose(outside, [(-5, 0.1), (0, 0.2), (41, 0.3), (60, 0.4)])
    assert values[(values[:, 0] >= 1) & (values[:, 0] <= 40), 0].tolist() == list(range(1, 41))
    assert abs(values[:, 1]).max() < 4.0
    interpolation = [point.interpolation for point in animation.fcurves(robot)[path, index].keyframe_points]
    assert interpolation[:2] == ["CONSTANT", "BEZIER"] and set(interpolation[2:-2]) == {"LINEAR"}
    assert ("location", 0) in found and ("robokin.tasks[0].influence", 0) in found
    assert worst_error(scene, robot, target, range(1, 41)) < 1.5e-4


def test_a_new_action_keeps_the_old_one_and_what_else_it_held(robot, target):
    robot.keyframe_insert("location", frame=5)
    bake(robot)
    old, before = robot.animation_data.action, keys(robot)
    bake(robot, frame_start=10, frame_end=12, new_action=True)
    new, after = robot.animation_data.action, keys(robot)
    assert new != old and old.use_fake_user and not new.use_fake_user
    own = own_keys(binding(robot))
    assert {len(after[key]) for key in own} == {3} and np.array_equal(after["location", 0], before["location", 0])
    robot.animation_data.action = old
    restored = keys(robot)
    assert all(np.array_equal(restored[key], before[key]) for key in before)


def test_step_and_range(scene, robot, target):
    bake(robot, frame_start=4, frame_end=20, step=5)
    assert {tuple(values[:, 0]) for values in keys(robot).values()} == {(4.0, 9.0, 14.0, 19.0)}
    with pytest.raises(RuntimeError, match="the range ends before it begins: frames 10 to 9"):
        bake(robot, frame_start=10, frame_end=9)
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 30, 31
    bake(robot, new_action=True)
    assert {tuple(values[:, 0]) for values in keys(robot).values()} == {(30.0, 31.0)}


def test_every_value_is_inside_its_limits_between_frames_too(scene, robot):
    add_target(robot, kind="POSITION")
    circle(robot.robokin.tasks[0].target, 40, radius=1.5)
    settings = bake(robot)
    assert settings.bake_status != "CONVERGED" and settings.bake_reason.startswith("frames 2-")
    robot_binding = binding(robot)
    at_limit = 0
    for key, channel in own_keys(binding(robot)).items():
        curve = animation.fcurves(robot)[key]
        values = [channel.factor * curve.evaluate(frame) for frame in np.arange(1, 40, 0.13)]
        assert min(values) >= channel.lower and max(values) <= channel.upper
        at_limit += min(values) < channel.lower + 1e-6 or max(values) > channel.upper - 1e-6
    assert at_limit and robot_binding.model.nq == len(own_keys(binding(robot)))


@pytest.mark.parametrize(("fps", "base", "step"), [(24, 1.0, 1), (30, 0.5, 1), (60, 1.0, 3)])
def test_velocity_limits_hold_in_the_scenes_time(scene, robot, fps, base, step):
    scene.render.fps, scene.render.fps_base = fps, base
    circle(add_target(robot), 12, radius=0.3)
    settings = bake(robot, frame_end=25, step=step)
    assert settings.bake_status == "LIMIT" and "velocity" in settings.bake_reason
    model = robot_model(robot)
    dt = step * base / fps
    fastest = 0.0
    for (path, index), channel in own_keys(binding(robot)).items():
        values = channel.factor * keys(robot)[path, index][:, 1].astype(float)
        share = abs(np.diff(values)).max() / dt / model.velocity[channel.q]
        assert share <= 1.0 + 1e-5
        fastest = max(fastest, share)
    assert fastest > 0.99


def driven_influence(robot, target):
    robot.robokin.tasks[0].driver_add("influence").driver.expression = "1.0"


def frame_handler(robot, target):
    bpy.app.handlers.frame_change_pre.append(_handler)


def _handler(*_):
    pass


@pytest.mark.parametrize("change", [slow_road, driven_influence, frame_handler])
def test_both_roads_give_the_same_motion(scene, robot, target, change):
    robot.parent = add_empty("cart")
    robot.parent.keyframe_insert("location", frame=1)
    robot.parent.location = (0.1, 0.2, 0.0)
    robot.parent.keyframe_insert("location", frame=40)
    bake(robot)
    fast = keys(robot)
    change(robot, target)
    try:
        scene.frame_set(13)
        bake(robot)
    finally:
        if _handler in bpy.app.handlers.frame_change_pre:
            bpy.app.handlers.frame_change_pre.remove(_handler)
    slow = keys(robot)
    assert scene.frame_current == 13
    assert max(abs(fast[key] - slow[key]).max() for key in fast) < 2e-5


def test_while_the_scene_is_visited_the_robots_own_curves_are_out_of_the_way(scene, robot, target):
    """A tie that no one can see beforehand (an expression) must not make the bake depend on what it replaces."""
    slow_road(robot, target)
    follower = robot.robokin.tasks[0].target
    bpy.app.driver_namespace["hidden"] = lambda: bpy.data.objects["panda"].pose.bones["panda_joint1"].rotation_euler[1]
    follower.constraints[0].mute = True
    follower.location = target.location
    follower.driver_add("location", 1).driver.expression = "0.3 * hidden()"
    bake(robot)
    first = keys(robot)
    bake(robot)
    second = keys(robot)
    assert max(abs(first[key] - second[key]).max() for key in first) == 0.0


def test_bones_in_another_rotation_mode_are_put_right(scene, robot, target):
    for bone in robot.pose.bones:
        bone.rotation_mode = "QUATERNION"
    bake(robot)
    assert worst_error(scene, robot, target, (1, 20, 40)) < 1.5e-4


def test_a_modifier_does_not_bend_the_bake(scene, robot, target):
    bake(robot)
    curves = animation.fcurves(robot)
    first, second = list(own_keys(binding(robot)))[:2]
    curves[first].modifiers.new("NOISE")
    curves[second].modifiers.new("CYCLES")
    bake(robot)
    assert not curves[first].modifiers and curves[second].modifiers
    assert worst_error(scene, robot, target, (1, 20, 40)) < 1.5e-4


def test_a_floating_robot_is_baked_with_its_base(scene):
    robot = add_robot("ur5_robot", root="floating")
    robot.location = (0, 0, 1)
    bpy.context.view_layer.update()
    tip = binding(robot).bone_of_link["tool0"]
    target = add_target(robot, tip=tip)
    scene.frame_end = 20
    circle(target, 20, radius=3.0)
    assert bake(robot).bake_status == "CONVERGED"
    for frame in (1, 7, 20):
        scene.frame_set(frame)
        assert world_error(robot, tip, target)[0] < 1.5e-4
    quaternion = [values for (path, _), values in keys(robot).items() if path.endswith("rotation_quaternion")]
    assert len(quaternion) == 4 and min(np.sum([v[1:, 1] * v[:-1, 1] for v in quaternion], axis=0)) > 0.0
