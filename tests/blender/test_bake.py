"""Bake: what is written is a function of the scene, inside all limits, and leaves everything else as it was."""

from __future__ import annotations

import json
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from robokin_addon.operators import animation
from robokin_addon.operators.bake import ROBOKIN_OT_bake, bake_steps
from robokin_addon.operators.curves import own_keys
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.properties.postures import start_configuration
from robokin_addon.robokin import RobokinError, forward_kinematics

from tests.support.scene_robots import TOOL, add_empty, add_robot, add_target, circle, world_error


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 40
    return add_robot()


@pytest.fixture
def target(robot):
    target = add_target(robot)
    circle(target, 40)
    return target


def bake(robot, **options):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake(**options) == {"FINISHED"}
    return robot.robokin.solver


def keys(robot):
    """{(path, index): (n, 2) frames and values} of everything the robot's action holds."""
    found = {}
    for curve in animation.channelbag(robot).fcurves:
        co = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", co)
        found[curve.data_path, curve.array_index] = co.reshape(-1, 2)
    return found


def worst_error(scene, robot, target, frames):
    errors = []
    for frame in frames:
        scene.frame_set(frame)
        errors.append(world_error(robot, TOOL, target)[0])
    return max(errors)


def test_the_tip_follows_the_target_at_every_frame(scene, robot, target):
    settings = bake(robot)
    assert (settings.bake_status, settings.bake_reason) == ("CONVERGED", "all 40 frames are met")
    assert worst_error(scene, robot, target, range(1, 41)) < 1.5e-4


def test_one_linear_curve_per_degree_of_freedom_grouped_by_bone(robot, target):
    bake(robot)
    curves = animation.channelbag(robot).fcurves
    assert {(curve.data_path, curve.array_index) for curve in curves} == set(own_keys(robot))
    for curve in curves:
        assert len(curve.keyframe_points) == 40
        assert {point.interpolation for point in curve.keyframe_points} == {"LINEAR"}
        assert f'"{curve.group.name}"' in curve.data_path


def test_angles_do_not_wrap(robot, target):
    bake(robot)
    for values in keys(robot).values():
        assert abs(np.diff(values[:, 1])).max() < 0.3


@pytest.mark.parametrize("frame", [1, 23, 500])
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


def test_the_start_decides_the_posture(robot, target):
    bake(robot)
    first = keys(robot)
    bake(robot, q0=json.dumps({"panda_joint1": 1.5, "panda_joint4": -1.0}))
    other = keys(robot)
    assert max(abs(first[key] - other[key]).max() for key in first) > 0.3
    with pytest.raises(RuntimeError, match="q0 must be joint values as JSON"):
        bake(robot, q0="1, 2")


def test_keys_outside_and_foreign_channels_stay(scene, robot, target):
    path, index = next(iter(own_keys(robot)))
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
    own = own_keys(robot)
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
    for key, channel in own_keys(robot).items():
        curve = animation.fcurves(robot)[key]
        values = [channel.factor * curve.evaluate(frame) for frame in np.arange(1, 40, 0.13)]
        assert min(values) >= channel.lower and max(values) <= channel.upper
        at_limit += min(values) < channel.lower + 1e-6 or max(values) > channel.upper - 1e-6
    assert at_limit and robot_binding.model.nq == len(own_keys(robot))


@pytest.mark.parametrize(("fps", "base", "step"), [(24, 1.0, 1), (30, 0.5, 1), (60, 1.0, 3)])
def test_velocity_limits_hold_in_the_scenes_time(scene, robot, fps, base, step):
    scene.render.fps, scene.render.fps_base = fps, base
    circle(add_target(robot), 12, radius=0.3)
    settings = bake(robot, frame_end=25, step=step)
    assert settings.bake_status == "LIMIT" and "velocity" in settings.bake_reason
    model = robot_model(robot)
    dt = step * base / fps
    fastest = 0.0
    for (path, index), channel in own_keys(robot).items():
        values = channel.factor * keys(robot)[path, index][:, 1].astype(float)
        share = abs(np.diff(values)).max() / dt / model.velocity[channel.q]
        assert share <= 1.0 + 1e-5
        fastest = max(fastest, share)
    assert fastest > 0.99


def test_a_task_without_influence_lets_go_and_is_taken_up_again(scene, robot, target, tmp_path):
    task = robot.robokin.tasks[0]
    for frame, influence in ((1, 1.0), (14, 1.0), (15, 0.0), (20, 0.0), (21, 1.0)):
        task.influence = influence
        task.keyframe_insert("influence", frame=frame)
    for point in animation.fcurves(robot)[task.path_from_id("influence"), 0].keyframe_points:
        point.interpolation = "CONSTANT"
    bake(robot, report_path=str(tmp_path / "bake.json"))
    frames = {row["frame"]: row for row in json.loads((tmp_path / "bake.json").read_text())["frames"]}
    assert [f for f, row in frames.items() if row["status"] == "EMPTY"] == list(range(15, 21))
    assert frames[16]["residuals"] == [None] and frames[14]["residuals"][0]["position"] < 1.1e-4
    assert frames[15]["q"] == pytest.approx(frames[20]["q"])
    assert frames[40]["status"] == "CONVERGED"
    assert worst_error(scene, robot, target, range(1, 15)) < 1.5e-4


def test_a_bake_of_frames_without_any_task_says_empty(robot, target):
    robot.robokin.tasks[0].influence = 0.0
    settings = bake(robot)
    assert settings.bake_status == "EMPTY" and "no task has an influence" in settings.bake_reason
    robot.robokin.tasks[0].keyframe_insert("influence", frame=20)
    robot.robokin.tasks[0].influence = 1.0
    robot.robokin.tasks[0].keyframe_insert("influence", frame=1)
    assert bake(robot).bake_status == "CONVERGED"


class FakeBake:
    """The operator as Blender would hold it during a modal run."""

    modal, _work, _slice = ROBOKIN_OT_bake.modal, ROBOKIN_OT_bake._work, 0.0

    def __init__(self, steps):
        self._steps, self.reports, self.ended = steps, [], 0

    def report(self, kind, text):
        self.reports.append((kind, text))

    def _end(self, context):
        self.ended += 1


def press(kind):
    return SimpleNamespace(type=kind, value="PRESS")


def test_esc_ends_a_running_bake_with_nothing_written(scene, robot, target):
    slow_road(robot, target)
    scene.frame_set(7)
    before = snapshot(scene, robot)
    q0 = start_configuration(robot, "POSTURE")
    fake = FakeBake(bake_steps(scene, bpy.context.view_layer, robot, range(1, 200), q0))
    assert fake.modal(bpy.context, press("TIMER")) == {"RUNNING_MODAL"} and fake.ended == 0
    assert fake.modal(bpy.context, press("A")) == {"RUNNING_MODAL"}
    assert fake.modal(bpy.context, press("ESC")) == {"CANCELLED"} and fake.ended == 1
    assert snapshot(scene, robot) == before and "nothing was written" in fake.reports[0][1]


def test_a_running_bake_ends_by_itself_and_after_an_error(scene, robot, target):
    q0 = start_configuration(robot, "POSTURE")
    fake = FakeBake(bake_steps(scene, bpy.context.view_layer, robot, range(1, 5), q0))
    outcome = {"RUNNING_MODAL"}
    for _ in range(10):
        if outcome == {"RUNNING_MODAL"}:
            outcome = fake.modal(bpy.context, press("TIMER"))
    assert outcome == {"FINISHED"} and fake.ended == 1 and len(keys(robot)) == robot_model(robot).nq

    def fails():
        yield 0.0
        raise RobokinError("the target is gone")

    fake = FakeBake(fails())
    assert fake.modal(bpy.context, press("TIMER")) == {"RUNNING_MODAL"}
    assert fake.modal(bpy.context, press("TIMER")) == {"CANCELLED"} and fake.ended == 1
    assert fake.reports == [({"ERROR"}, "the target is gone")]


def test_a_linked_robot_says_so_and_an_override_bakes_into_its_own_action(scene, robot, target, tmp_path):
    bake(robot, frame_end=3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robot.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "robot.blend"), link=True) as (_, wanted):
        wanted.objects = ["panda"]
    linked, scene = wanted.objects[0], bpy.context.scene
    scene.collection.objects.link(linked)
    with pytest.raises(RuntimeError, match="'panda' is linked from another file: make a library override first"):
        bake(linked)
    override = linked.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    with pytest.raises(RuntimeError, match="is linked from another file: bake into a new action"):
        bake(override, frame_end=3)
    assert bake(override, frame_end=3, new_action=True).bake_status == "CONVERGED"
    assert override.animation_data.action.library is None


def fade(robot, task, *keys_of):
    for frame, influence in keys_of:
        task.influence = influence
        task.keyframe_insert("influence", frame=frame)
    for point in animation.fcurves(robot)[task.path_from_id("influence"), 0].keyframe_points:
        point.interpolation = "LINEAR"


def test_a_task_that_fades_leaves_the_others_met(scene, robot, target):
    held = robot.robokin.tasks.add()
    held.name, held.tip, held.kind, held.target = "same", TOOL, "POSITION", target
    fade(robot, robot.robokin.tasks[0], (1, 1.0), (40, 0.0))
    assert bake(robot).bake_status == "CONVERGED"
    assert worst_error(scene, robot, target, (1, 20, 40)) < 1.5e-4
    assert max(abs(np.diff(values[:, 1])).max() for key, values in keys(robot).items() if key in own_keys(robot)) < 0.2


def test_a_task_fades_in_evenly_and_out_where_it_is(scene, robot, tmp_path):
    """The tip goes from where it stands to its target in proportion, as Blender shows it; then it stays."""
    target = add_target(robot, kind="POSITION")
    away = np.array(target.location)
    target.location.x += 0.15
    target.location.z += 0.2
    goal = np.array(target.location)
    fade(robot, robot.robokin.tasks[0], (1, 0.0), (25, 1.0), (30, 1.0), (40, 0.0))
    settings = bake(robot, report_path=str(tmp_path / "bake.json"))
    assert settings.bake_status == "CONVERGED"
    rows = json.loads((tmp_path / "bake.json").read_text())["frames"]
    assert [row["status"] for row in rows].count("EMPTY") == 2
    for frame in range(1, 41):
        scene.frame_set(frame)
        share = min(frame - 1, 24) / 24
        bone = robot.matrix_world @ robot.pose.bones[TOOL].head
        np.testing.assert_allclose(bone, away + share * (goal - away), atol=2e-4)
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.check() == {"FINISHED"}
    assert robot.robokin.solver.check_passed, robot.robokin.solver.check_summary


def test_the_report_has_every_frame_as_written(scene, robot, target, tmp_path):
    bake(robot, frame_end=5, report_path=str(tmp_path / "bake.json"))
    rows = json.loads((tmp_path / "bake.json").read_text())["frames"]
    assert [row["frame"] for row in rows] == [1, 2, 3, 4, 5]
    for row in rows:
        scene.frame_set(row["frame"])
        shown = robot_model(robot).joint_values(read_configuration(robot))
        assert row["q"] == pytest.approx(shown, abs=1e-9) and row["status"] == "CONVERGED"


def slow_road(robot, target):
    """The same motion, by way of a constraint: Blender has to evaluate it."""
    follower = add_empty("follower")
    follower.constraints.new("COPY_TRANSFORMS").target = target
    robot.robokin.tasks[0].target = follower


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


def snapshot(scene, robot):
    action = robot.animation_data.action if robot.animation_data else None
    curves = keys(robot) if animation.channelbag(robot) else {}
    mutes = [curve.mute for curve in animation.channelbag(robot).fcurves] if curves else []
    pose = read_configuration(robot).tolist()
    return action, {key: values.tolist() for key, values in curves.items()}, mutes, pose, scene.frame_current_final


@pytest.mark.parametrize("stops", [1, 2, 3])
def test_an_abandoned_bake_leaves_nothing_behind(scene, robot, target, stops):
    bake(robot)
    slow_road(robot, target)
    scene.frame_set(7)
    before = snapshot(scene, robot)
    q0 = start_configuration(robot, "REST")
    steps = bake_steps(scene, bpy.context.view_layer, robot, range(1, 80), q0)
    for _ in range(stops):
        next(steps)
    steps.close()
    assert snapshot(scene, robot) == before


def cycle(robot, target):
    target.parent, target.parent_type, target.parent_bone = robot, "BONE", TOOL
    return "follows a bone of 'panda' itself"


def no_task(robot, target):
    robot.robokin.tasks[0].enabled = False
    return "EMPTY: there is no task to bake"


def driver_on_joint(robot, target):
    path, index = next(iter(own_keys(robot)))
    robot.driver_add(path, index)
    return "its rotation euler has a driver"


def target_turns_into_nothing(robot, target):
    target.scale = (1, 1, 1)
    target.keyframe_insert("scale", frame=1)
    target.scale = (0, 0, 0)
    target.keyframe_insert("scale", frame=20)
    return "its target has a scale of zero"


def stretched_time(robot, target):
    bpy.context.scene.render.frame_map_new = 200
    return "the scene's time is stretched"


def robot_stretches(robot, target):
    robot.keyframe_insert("scale", frame=1)
    robot.scale = (1, 2, 1)
    robot.keyframe_insert("scale", frame=20)
    return "'panda' has a non-uniform scale"


def posture_of_another(robot, target):
    robot.robokin.solver.posture = '{"shoulder": 1}'
    return "no joint named 'shoulder'"


@pytest.mark.parametrize(
    "harm",
    [cycle, no_task, driver_on_joint, target_turns_into_nothing, stretched_time, robot_stretches, posture_of_another],
)
def test_a_bake_that_cannot_be_says_why_and_writes_nothing(scene, robot, target, harm):
    bake(robot)
    words = harm(robot, target)
    scene.frame_set(1)
    before = snapshot(scene, robot)
    with pytest.raises(RuntimeError, match=words):
        bake(robot)
    assert snapshot(scene, robot) == before


def test_bones_in_another_rotation_mode_are_put_right(scene, robot, target):
    for bone in robot.pose.bones:
        bone.rotation_mode = "QUATERNION"
    bake(robot)
    assert worst_error(scene, robot, target, (1, 20, 40)) < 1.5e-4


def test_a_modifier_does_not_bend_the_bake(scene, robot, target):
    bake(robot)
    curves = animation.fcurves(robot)
    first, second = list(own_keys(robot))[:2]
    curves[first].modifiers.new("NOISE")
    curves[second].modifiers.new("CYCLES")
    bake(robot)
    assert not curves[first].modifiers and curves[second].modifiers
    assert worst_error(scene, robot, target, (1, 20, 40)) < 1.5e-4


def test_one_undo_step_takes_it_all_back(scene, robot, target):
    name = robot.name
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = robot
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.robokin.bake("EXEC_DEFAULT", True)
    assert animation.channelbag(robot) is not None
    bpy.ops.ed.undo()
    assert animation.channelbag(bpy.data.objects[name]) is None


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


@pytest.fixture
def wound_up(scene):
    """A UR5 without a stored posture, and a target that turns its wrist by one and a half turns."""
    scene.frame_start, scene.frame_end = 1, 120
    robot = add_robot("ur5_robot")
    model = robot_model(robot)
    q = np.array([0.3, -1.2, 1.5, -1.0, -1.5, 0.0])
    target = add_target(robot, "wrist_3_joint")
    target.rotation_mode = "QUATERNION"
    for frame in range(1, 121):
        q[5] = -4.0 + 9.4 * (frame - 1) / 119
        target.matrix_world = Matrix(forward_kinematics(model, q)["wrist_3_link"])
        for path in ("location", "rotation_quaternion"):
            target.keyframe_insert(path, frame=frame)
    return robot


def test_without_a_stored_posture_a_start_is_looked_for(scene, wound_up, tmp_path):
    settings = bake(wound_up, report_path=str(tmp_path / "told.json"))
    assert settings.bake_status == "CONVERGED" and ", from " in settings.bake_reason
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["start"] and told["start"] in settings.bake_reason
    assert {row["status"] for row in told["frames"]} == {"CONVERGED"}
    first = keys(wound_up)
    scene.frame_set(77)
    bake(wound_up)
    assert first.keys() == keys(wound_up).keys()
    for channel, points in keys(wound_up).items():
        assert (points == first[channel]).all()


def test_rest_a_stored_posture_and_given_values_are_honoured(wound_up, tmp_path):
    unlucky = {"wrist_3_joint": 3.0}
    for options in ({"start": "REST"}, {"q0": json.dumps(unlucky)}, {}):
        if not options:
            wound_up.robokin.solver.posture = json.dumps(unlucky)
        settings = bake(wound_up, report_path=str(tmp_path / "told.json"), **options)
        assert settings.bake_status != "CONVERGED"
        assert json.loads((tmp_path / "told.json").read_text())["start"] is None


def test_frames_that_fail_alike_are_listed_as_one_with_their_tasks(scene, robot, target, tmp_path):
    """Two goals that part and meet again; then one that is out of reach."""
    robot.robokin.tasks[0].name = "gripper"
    rival = add_target(robot, kind="POSITION")
    robot.robokin.tasks[1].name = "rival"
    place = target.location.copy()
    target.animation_data_clear()
    target.location = place
    for frame, away in ((9, 0.0), (10, 0.02), (15, 0.02), (16, 0.0), (29, 0.0), (30, 2.0), (40, 2.0)):
        rival.location = place
        rival.location.x += away
        rival.keyframe_insert("location", frame=frame)
    for curve in animation.fcurves(rival).values():
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    report = tmp_path / "bake.json"
    settings = bake(robot, report_path=str(report))
    told = json.loads(report.read_text())
    first, *_, last = told["failures"]
    assert first["frames"] == [10, 15] and first["status"] == "TASK_CONFLICT"
    assert sorted(first["tasks"]) == ["task 'gripper'", "task 'rival'"] and first["missed"]
    assert last["frames"] == [30, 40] and last["status"] == "OUT_OF_REACH" and last["tasks"] == ["task 'rival'"]
    failed = [row["frame"] for row in told["frames"] if row["status"] != "CONVERGED"]
    assert failed == [frame for each in told["failures"] for frame in range(each["frames"][0], each["frames"][1] + 1)]
    shown = [(item.first, item.last, item.status) for item in settings.bake_failures]
    assert shown == [(*each["frames"], each["status"]) for each in told["failures"]]
    assert settings.bake_reason.startswith("frames 10-15: each alone can be met, not together")
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.failure_show(index=len(shown) - 1) == {"FINISHED"}
        assert scene.frame_current == 30
        with pytest.raises(RuntimeError, match=f"no number {len(shown)}"):
            bpy.ops.robokin.failure_show(index=len(shown))
