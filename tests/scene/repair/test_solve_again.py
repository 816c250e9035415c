"""Edited curves: what they break is known without a Check, and solved again where it is, the rest staying as it was."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from robokin_addon.operators.handlers import edited_frames
from robokin_addon.panels.overlays.motion import problem_spans
from robokin_addon.properties.bridge import binding
from robokin_addon.properties.results import readouts
from robokin_addon.robokin import RobokinError
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.animation.stretch_keys import write_stretch
from robokin_addon.scene.check.check import check_steps
from robokin_addon.scene.repair import again, attempts, broken_frames
from robokin_addon.scene.repair.again import repair_steps
from robokin_addon.scene.tasks.solver_tasks import enabled_tasks
from robokin_addon.scene.tasks.targets import targets_over
from robokin_addon.solvers.progress import finish
from robokin_addon.solvers.tracking.segments import Segment
from scipy.interpolate import CubicHermiteSpline
from support.blender.panels import draw_page
from support.blender.scene_tasks import add, place
from support.blender.windows import called
from support.command import run

FRAMES = range(1, 41)


@pytest.fixture
def baked(scene, robot, target):
    assert called(bpy.ops.robokin.bake, robot) == {"FINISHED"}
    return robot


def edited(obj):
    bpy.context.view_layer.update()
    readouts.broken(obj)
    edited_frames.finish_work()
    return readouts.broken(obj)


def checked(obj):
    steps = check_steps(bpy.context.scene, bpy.context.view_layer, obj, binding(obj), FRAMES, with_collisions=False)
    return finish(steps)


def drag(obj, frame, by, joint=1):
    """A key moved as in the Graph Editor."""
    key = sorted(own_keys(binding(obj)))[joint]
    curve = fcurves(obj)[key]
    point = next(point for point in curve.keyframe_points if point.co.x == frame)
    point.co.y += by
    curve.update()
    obj.animation_data.action.update_tag()
    return curve


def own_curves(obj):
    return [fcurves(obj)[key] for key in sorted(own_keys(binding(obj)))]


def values(obj, frames):
    return np.array([[curve.evaluate(f) for f in frames] for curve in own_curves(obj)])


def test_what_an_edit_breaks_is_known_at_once_and_is_what_check_says(baked, monkeypatch):
    monkeypatch.setattr(broken_frames, "PIECE", 11)
    assert problem_spans(baked) == [] and not edited(baked).rows
    drag(baked, 22, 0.3)  # at the border of two pieces
    found, oracle = edited(baked), checked(baked)
    assert [(row.first, row.last, row.reason) for row in found.rows] == [
        (row.first, row.last, row.reason) for row in oracle.rows()
    ]
    assert problem_spans(baked) == [(row.first, row.last) for row in found.rows]
    assert {22, 23} <= {f for first, last in problem_spans(baked) for f in range(first, last + 1)}
    drag(baked, 22, -0.3)
    assert not edited(baked).rows


def test_the_broken_frames_alone_are_solved_again(baked, tmp_path):
    before = values(baked, FRAMES)
    drag(baked, 20, 0.3)
    assert edited(baked).count
    report = tmp_path / "report.json"
    assert called(bpy.ops.robokin.solve_again, baked, report_path=str(report)) == {"FINISHED"}
    told = json.loads(report.read_text("utf-8"))
    assert told["broken_after"] == 0 and checked(baked).passed and not edited(baked).rows
    (stretch,) = told["solved"]
    first, last = stretch["frames"]
    assert 20 in range(first, last + 1) and last - first < 8
    kept = [i for i, frame in enumerate(FRAMES) if not first <= frame <= last]
    assert np.array_equal(values(baked, FRAMES)[:, kept], before[:, kept])


def test_curves_of_few_keys_stay_as_they_were_beside(baked):
    baked.robokin.tasks[0].position_tolerance = baked.robokin.tasks[0].orientation_tolerance = 0.02
    called(bpy.ops.robokin.reduce_keys, baked, position=2e-3)
    curve = drag(baked, 1, 0.0)
    curve.keyframe_points.insert(20.0, curve.evaluate(20.0) + 0.4)
    curve.update()
    bpy.context.view_layer.update()
    before = values(baked, FRAMES)
    assert edited(baked).count
    called(bpy.ops.robokin.solve_again, baked)
    after = values(baked, FRAMES)
    assert checked(baked).limits.violations == ()
    changed = np.flatnonzero((abs(after - before) > 1e-6).any(axis=0))
    assert len(changed) and changed[-1] - changed[0] < 30


def test_without_a_task_the_curves_are_followed_as_near_as_limits_allow(baked):
    baked.robokin.tasks.clear()
    drag(baked, 20, 0.3)
    assert checked(baked).limits.violations
    called(bpy.ops.robokin.solve_again, baked)
    assert checked(baked).limits.violations == ()


def test_the_command_does_the_same(baked, tmp_path, capsys):
    drag(baked, 20, 0.3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    done = run(capsys, "solve-again", tmp_path / "a.blend", "-o", tmp_path / "b.blend", "--json", "-")
    report = json.loads(done.out)
    assert done.code == 0 and report["broken_before"] >= 2 and report["broken_after"] == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "b.blend"))
    assert checked(bpy.data.objects["panda"]).passed
    assert "no frame misses a task" in run(capsys, "solve-again", tmp_path / "b.blend").out
    bpy.data.objects["panda"].robokin.tasks[0].target.delta_location.x = 5.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "far.blend"))
    done = run(capsys, "solve-again", tmp_path / "far.blend", "-o", tmp_path / "b.blend", "--json", "-")
    assert done.code == 1 and json.loads(done.out)["broken_after"] > 0


def test_curves_that_go_on_beyond_their_keys_stay_as_they_were(baked):
    """The stretch reaches the last key; what is beyond it is no key's, but the curve's own going on."""
    baked.robokin.tasks[0].enabled = False
    for key in own_keys(binding(baked)):
        curve = fcurves(baked)[key]
        for point in [*curve.keyframe_points][:19:-1]:
            curve.keyframe_points.remove(point)
        curve.extrapolation = "LINEAR"
    drag(baked, 19, 0.5)
    before, beyond = values(baked, range(1, 61)), slice(32, None)
    assert np.ptp(before[:, beyond], axis=1).max() > 0.05
    frames = range(1, 31)
    assert finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, frames)).solved[-1].last == 30
    np.testing.assert_allclose(values(baked, range(1, 61))[:, beyond], before[:, beyond], atol=1e-4)


def test_what_drives_can_give_and_gravity_count_as_changes(baked):
    baked.robokin.solver.efforts = True
    assert not edited(baked).rows
    assert called(bpy.ops.robokin.check, baked, efforts=True) == {"FINISHED"} and readouts.is_present(baked, "check")
    bpy.context.scene.gravity = (0.0, 0.0, -200.0)
    bpy.context.view_layer.update()  # as Blender does before it draws
    assert not readouts.is_present(baked, "check") and edited(baked).count
    bpy.context.scene.gravity = (0.0, 0.0, -9.81)
    bpy.context.view_layer.update()
    assert readouts.is_present(baked, "check") and not edited(baked).rows
    bone = next(name for name, joint in binding(baked).joint_of_bone.items() if joint.name == "panda_joint4")
    baked.data.bones[bone].robokin.effort = 0.1
    bpy.context.view_layer.update()
    assert not readouts.is_present(baked, "check") and edited(baked).count


def test_a_repair_can_be_stopped_while_it_follows(baked, monkeypatch):
    monkeypatch.setattr(attempts, "CHUNK", 5)
    baked.robokin.tasks[0].target.delta_location.x = 5.0
    bpy.context.view_layer.update()
    steps = repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES)
    tries, tried = [], attempts.Repair._tried
    monkeypatch.setattr(attempts.Repair, "_tried", lambda work, i, j: tries.append((i, j)) or tried(work, i, j))
    shares = [share for share in steps if share >= 0.5]
    assert tries == [(0, len(FRAMES) - 1)]  # there is no more to add
    assert len(shares) > 8 and shares == sorted(shares)


def keyed(owner, name, values):
    """Constant from key to key."""
    for frame, value in values:
        setattr(owner, name, value)
        owner.keyframe_insert(name, frame=frame)
    for curve in fcurves(owner.id_data).values():
        if curve.data_path.endswith(f".{name}"):
            for point in curve.keyframe_points:
                point.interpolation = "CONSTANT"


def test_what_cannot_be_met_is_not_tried_with_ever_more_frames(baked, monkeypatch):
    """From 15 to 22 the elbow is asked for what it cannot do; a key beside was dragged."""
    bpy.context.view_layer.objects.active = baked
    elbow = add(baked, "POSITION", place(baked, (3.0, 0.0, 0.0)), "panda_joint4", priority=2)
    keyed(elbow, "influence", ((1, 0.0), (15, 1.0), (23, 0.0)))
    drag(baked, 13, 0.3)
    tries, tried = [], attempts.Repair._tried
    monkeypatch.setattr(attempts.Repair, "_tried", lambda work, i, j: tries.append((i, j)) or tried(work, i, j))
    found = finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES))
    assert found.before > found.after == 8 and len(tries) > 1 and (0, len(FRAMES) - 1) not in tries
    assert checked(baked).limits.violations == ()


def test_a_stretch_begins_at_the_speed_of_the_frame_before(baked, monkeypatch):
    """Slow drives: from rest it would not get along."""
    needed = abs(checked(baked).motion.a[5:]).max()
    for bone in baked.data.bones:
        bone.robokin.use_acceleration, bone.robokin.acceleration = True, 1.5 * needed
    before = values(baked, FRAMES)
    drag(baked, 20, 0.02)
    stood, checked_before, stand = [], checked(baked).motion, Segment.stand
    monkeypatch.setattr(Segment, "stand", lambda each, q, v, *other: stood.append((q, v)) or stand(each, q, v, *other))
    found = finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES))
    (stretch,) = [each for each in found.solved if each.first <= 20 <= each.last]
    for q, v in stood:
        (frame,) = np.flatnonzero(np.abs(checked_before.q - q).max(axis=1) < 1e-9)
        np.testing.assert_allclose(v, checked_before.v[frame], atol=1e-6)
    assert stretch.after == 0 and 10 < stretch.first and stretch.last < 30
    assert abs(values(baked, FRAMES) - before)[:, 9:].max() < 5e-3


def test_criteria_lead_the_robot_as_in_the_bake(baked):
    """What a key broke becomes what was baked, and what the criteria cost there is told anew."""
    baked.robokin.criteria.add().kind = "JOINT_SPRINGS"
    assert called(bpy.ops.robokin.bake, baked) == {"FINISHED"}
    cost = fcurves(baked)["robokin.criteria[0].cost", 0]
    before, costs = values(baked, FRAMES), np.array([cost.evaluate(f) for f in FRAMES])
    drag(baked, 20, 0.3)
    cost.keyframe_points[19].co.y = 0.0
    found = finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES))
    assert found.after == 0 and 0 < found.before and found.solved[0].last - found.solved[0].first < 8
    np.testing.assert_allclose(values(baked, FRAMES), before, atol=1e-4)
    np.testing.assert_allclose([cost.evaluate(f) for f in FRAMES], costs, atol=1e-4 * costs.max())
    cost.keyframe_points[19].co.y = 0.0
    assert finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES)).before == 0
    assert cost.evaluate(20) == 0.0


def test_where_criteria_do_not_lead_back_it_passes_evenly(baked):
    """Of a bake without the criterion."""
    before = values(baked, FRAMES)
    item = baked.robokin.criteria.add()
    item.kind, item.gain = "JOINT_SPRINGS", 50.0
    drag(baked, 20, 0.3)
    (stretch,) = finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES)).solved
    assert stretch.after == 0 and stretch.last - stretch.first < 8
    np.testing.assert_allclose(values(baked, FRAMES), before, atol=5e-3)


@pytest.fixture
def work(baked):
    """A repair of a motion of which nothing is broken."""
    robot, shown = binding(baked), checked(baked).motion
    tasks, scene = enabled_tasks(baked, robot), bpy.context.scene
    targets = finish(targets_over(scene, bpy.context.view_layer, baked, tasks, FRAMES, robot=robot))
    return attempts.Repair(baked, robot, shown.q, 1.0 / 24.0, tasks, targets, [False] * len(FRAMES), None, None)


def test_what_is_passed_evenly_goes_on_as_it_came_and_went(work):
    """Of a steady motion whose frames from 10 to 15 are lost, the same ones; at an end it rests."""
    steady = work.Q[0] + 0.0004 * np.arange(len(FRAMES))[:, None] * np.sign(
        work.model.limits.middle(work.Q[0]) - work.Q[0]
    )
    work.Q = steady.copy()
    work.Q[10:16] += 0.3
    np.testing.assert_allclose(work._passing(10, 15), steady[10:16], atol=1e-9)
    work.Q[:9] += 0.001  # then it comes from beside
    s, h = np.arange(1, 7) / 7.0, 7.0
    velocity = work.Q[9] - work.Q[8], work.Q[17] - work.Q[16]
    expected = CubicHermiteSpline([0.0, h], work.Q[[9, 16]], velocity)(h * s)
    np.testing.assert_allclose(work._passing(10, 15), np.clip(expected, work.model.lower, work.model.upper), atol=1e-9)
    np.testing.assert_allclose(work._passing(0, 3), np.tile(work.Q[4], (4, 1)))
    np.testing.assert_allclose(work._passing(36, 39), np.tile(work.Q[35], (4, 1)))


def test_criteria_are_preferred_where_they_break_no_more(work, monkeypatch):
    def followed(broken_without):
        def follow(i, j, criteria, near, keeps_wheels):
            return SimpleNamespace(broken=2 if criteria is None else broken_without, is_led=criteria is None)
            yield

        return follow

    work.targets = replace(work.targets, settings=np.zeros((len(FRAMES), 1)))
    for broken, is_led in ((2, True), (1, False), (3, True)):
        monkeypatch.setattr(work, "_followed", followed(broken))
        assert finish(work._tried(3, 5)).is_led == is_led


def test_a_task_of_partial_influence_is_not_missed(baked):
    elbow = add(baked, "POSITION", place(baked, (3.0, 0.0, 0.0)), "panda_joint4", priority=2)
    elbow.influence = 0.5
    assert called(bpy.ops.robokin.bake, baked) == {"FINISHED"}
    drag(baked, 20, 0.3)
    found = finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES))
    assert found.before > 0 and found.after == 0


def test_limits_with_keys_are_those_of_the_frames(baked):
    """At the present frame joint 2 may not move."""
    bone = next(name for name, joint in binding(baked).joint_of_bone.items() if joint.name == "panda_joint2")
    joint, path = baked.data.bones[bone].robokin, f'bones["{bone}"].robokin.velocity'
    for frame, velocity in ((1, 1e-3), (2, 3.0)):
        joint.velocity = velocity
        baked.data.keyframe_insert(path, frame=frame)
    bpy.context.scene.frame_set(1)
    drag(baked, 20, 0.3)
    found = finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, range(10, 31)))
    assert 0 < found.before < 5 and found.after == 0


def test_a_first_frame_is_solved_as_a_pose(baked):
    before = values(baked, FRAMES)
    drag(baked, 1, 0.3)
    found = finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES))
    assert found.after == 0 and found.solved[0].last < 5 and len(found.solved) == 1
    assert abs(values(baked, FRAMES) - before).max() < 5e-3


@pytest.mark.parametrize(("end", "outside"), [(1, 0), (40, 41)])
def test_a_curve_goes_on_holding_its_first_and_its_last_key(baked, end, outside):
    drag(baked, end, 0.3)
    assert finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES)).after == 0
    assert np.array_equal(values(baked, [outside]), values(baked, [end]))
    assert {point.co.x for curve in own_curves(baked) for point in curve.keyframe_points} == set(FRAMES)


def test_what_modifiers_bend_is_solved_again_and_stays_bent_beside(baked):
    noise = own_curves(baked)[1].modifiers.new("NOISE")
    noise.strength, noise.use_restricted_range, noise.frame_start, noise.frame_end = 0.5, True, 15, 25
    own_curves(baked)[2].modifiers.new("NOISE").strength = 1e-3
    before = values(baked, FRAMES)
    found = finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES))
    assert found.before > 0 and found.after == 0 and checked(baked).passed
    kept = [i for i, frame in enumerate(FRAMES) if not any(s.first <= frame <= s.last for s in found.solved)]
    assert len(kept) > 10 and not any(len(curve.modifiers) for curve in own_curves(baked))
    np.testing.assert_array_equal(values(baked, FRAMES)[:, kept], before[:, kept])


@pytest.mark.parametrize("is_bent", [True, False])
def test_curves_without_keys_are_solved_again(baked, is_bent):
    curve = own_curves(baked)[1]
    curve.keyframe_points.clear()
    if is_bent:
        curve.modifiers.new("GENERATOR").coefficients = 0.5, 0.0
    found = finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES))
    assert found.before and found.after == 0 and checked(baked).passed
    assert not len(curve.modifiers) and len(curve.keyframe_points)


def test_soft_tasks_of_a_whole_motion_hold_nothing(baked):
    """Frames are solved again for the hard task alone: none is led to where a soft one would be met."""
    elbow = add(baked, "POSITION", place(baked, (0.2, 0.2, 0.5)), "panda_joint4", priority=2)
    elbow.soft_weight, baked.robokin.solver.bake_mode = 1e-3, "WHOLE"
    before = values(baked, FRAMES)
    drag(baked, 20, 0.3)
    found = finish(repair_steps(bpy.context.scene, bpy.context.view_layer, baked, FRAMES))
    assert found.before > 0 and found.after == 0
    assert abs(values(baked, FRAMES) - before).max() < 0.02


@pytest.mark.parametrize("failure", [RobokinError("full"), KeyboardInterrupt()])
def test_a_failure_while_it_writes_leaves_all_as_it_was(baked, monkeypatch, failure):
    """Modifiers, handles, other users of the action and its name too."""
    for frame in (10, 30):
        drag(baked, frame, 0.3)
    curve = own_curves(baked)[2]
    modifier = curve.modifiers.new("NOISE")
    modifier.strength, modifier.scale = 1e-4, 3.0
    action, twin = baked.animation_data.action, bpy.data.objects.new("twin", None)
    twin.animation_data_create().action = action
    name, actions, before = action.name, len(bpy.data.actions), values(baked, FRAMES)
    handles = [tuple(point.handle_right) for each in own_curves(baked) for point in each.keyframe_points]
    done = []

    def write_once(*args):
        if done:
            raise failure
        done.append(write_stretch(*args))

    monkeypatch.setattr(again, "write_stretch", write_once)
    steps = repair_steps(bpy.context.scene, bpy.context.view_layer, baked, list(FRAMES))
    with pytest.raises(type(failure)):
        finish(steps)
    assert len(done) == 1 and len(bpy.data.actions) == actions
    assert np.array_equal(values(baked, FRAMES), before)
    assert baked.animation_data.action.name == name and twin.animation_data.action == baked.animation_data.action
    assert handles == [tuple(point.handle_right) for each in own_curves(baked) for point in each.keyframe_points]
    (kept,) = own_curves(baked)[2].modifiers
    assert (kept.type, kept.scale) == ("NOISE", 3.0)
    monkeypatch.undo()
    called(bpy.ops.robokin.solve_again, baked)
    assert checked(baked).passed


@pytest.mark.parametrize("name", ["reduce_keys", "retime", "smooth"])
def test_what_reduce_keys_retime_and_smooth_leave_alarms_nobody_until_a_key_is_dragged(baked, name):
    """What follows targets that move is off them afterwards: that is no fault of the curves."""
    bpy.context.window_manager.robokin_page = "ANIMATE"
    bpy.ops.robokin.check(frame_end=40)
    arguments = {"reduce_keys": {"position": 0.02}, "retime": {"mode": "FASTEST"}, "smooth": {"time": 0.5}}[name]
    assert called(getattr(bpy.ops.robokin, name), baked, frame_start=1, frame_end=40, **arguments) == {"FINISHED"}
    assert edited(baked).rows
    panel = draw_page()["ROBOKIN_PT_check"]
    said = " ".join(panel["labels"])
    assert "miss a task since keys were reduced, smoothed or retimed" in said and "break" not in said
    assert "Before the change:" in said and "robokin.solve_again" not in panel["operators"]
    bpy.ops.robokin.check(frame_end=40)
    assert "robokin.solve_again" not in draw_page()["ROBOKIN_PT_check"]["operators"]
    drag(baked, 1, 0.5)
    assert edited(baked).rows
    panel = draw_page()["ROBOKIN_PT_check"]
    assert "break a task or a limit" in " ".join(panel["labels"]) and "robokin.solve_again" in panel["operators"]
