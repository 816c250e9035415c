"""Live through undo, files, frames, renders, keys, several robots, and the add-on's own end."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
import robokin_addon
from robokin_addon.operators.live import events, rendering
from robokin_addon.properties.bridge import binding, read_configuration
from robokin_addon.properties.results import readouts
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.live.session import ALIKE
from support.blender.scene_robots import TOOL, add_empty, add_robot, add_target, circle, world_error

NEAR = 1e-4


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 40
    return add_robot(live=True)


@pytest.fixture
def target(robot):
    found = add_target(robot)
    update()
    return found


def update() -> None:
    bpy.context.view_layer.update()


def pose(name: str) -> list[float]:
    return read_configuration(bpy.data.objects[name]).tolist()


@pytest.mark.parametrize(("reach", "influence"), [(0.1, 1.0), (3.0, 1.0), (3.0, 0.5)])
def test_undo_and_redo_bring_back_pose_and_target_as_they_were(robot, target, reach, influence):
    names = robot.name, target.name
    robot.robokin.tasks[0].influence = influence
    update()
    bpy.ops.ed.undo_push(message="before")
    before = pose(names[0])
    target.location.x += reach * -1.0
    update()
    bpy.ops.ed.undo_push(message="moved")
    after = pose(names[0])
    assert after != before
    for _ in range(3):
        bpy.ops.ed.undo()
        update()
        assert pose(names[0]) == before
        bpy.ops.ed.redo()
        update()
        assert pose(names[0]) == after
    robot, target = (bpy.data.objects[name] for name in names)
    target.location, robot.robokin.tasks[0].influence = (0.45, 0.1, 0.5), 1.0
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR


def test_a_pose_that_curves_bring_back_is_followed_from_where_the_target_is_out_of_reach(robot, target):
    """Renaming a bone lets Blender evaluate the robot's keys; what Live then finds is not what is shown."""
    for bone in robot.pose.bones:
        bone.keyframe_insert("rotation_euler", frame=bpy.context.scene.frame_current)
    target.location = (1.0, 2.0, 0.5)
    bpy.context.view_layer.update()
    away = world_error(robot, TOOL, target)[0]
    robot.data.bones["panda_joint5"].name = "wrist"
    bpy.context.view_layer.update()
    assert not robot.robokin.tasks[0].reached
    assert world_error(robot, TOOL, target)[0] < 1.01 * away
    assert readouts.tasks(robot)[0].position == pytest.approx(world_error(robot, TOOL, target)[0], rel=ALIKE, abs=ALIKE)


def test_undo_in_the_middle_of_a_fade(robot, target):
    names = robot.name, target.name
    robot.robokin.tasks[0].influence = 0.5
    update()
    for number in range(3):
        target.location.x -= 0.05
        update()
        bpy.ops.ed.undo_push(message=str(number))
        target = bpy.data.objects[names[1]]
    after = pose(names[0])
    for _ in range(2):
        bpy.ops.ed.undo()
        update()
    for _ in range(2):
        bpy.ops.ed.redo()
        update()
    assert pose(names[0]) == after


def test_a_step_that_was_kept_before_the_robot_followed_is_put_right(robot, target):
    """As where the last move of the mouse and the click come at once."""
    names = robot.name, target.name
    bpy.ops.ed.undo_push(message="before")
    target.location.x -= 0.1
    bpy.ops.ed.undo_push(message="moved")
    update()
    bpy.ops.ed.undo()
    update()
    bpy.ops.ed.redo()
    update()
    assert world_error(bpy.data.objects[names[0]], TOOL, bpy.data.objects[names[1]])[0] < NEAR


@pytest.mark.parametrize("reach", [0.1, 3.0])
def test_a_file_comes_back_as_it_was_and_follows(robot, target, tmp_path, reach):
    target.location.x -= reach
    update()
    before, names = pose(robot.name), (robot.name, target.name)
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    update()
    assert pose(names[0]) == before
    robot, target = (bpy.data.objects[name] for name in names)
    target.location = (0.45, 0.1, 0.5)
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR


def test_it_follows_from_frame_to_frame(scene, robot, target):
    circle(target, 40)
    scene.frame_set(1)
    before = read_configuration(robot)
    for frame in range(1, 41):
        scene.frame_set(frame)
        assert world_error(robot, TOOL, target)[0] < NEAR
        assert abs(read_configuration(robot) - before).max() < 0.2
        before = read_configuration(robot)
    scene.frame_set(7)
    assert world_error(robot, TOOL, target)[0] < NEAR


def test_live_wins_over_old_keys_and_says_so(scene, robot, target):
    for frame in (1, 20):
        robot.pose.bones["panda_joint2"].rotation_euler[1] += 0.2
        robot.pose.bones["panda_joint2"].keyframe_insert("rotation_euler", frame=frame)
    circle(target, 40)
    for frame in (1, 13, 30):
        scene.frame_set(frame)
        assert world_error(robot, TOOL, target)[0] < NEAR
    assert any("wins over the robot's keys" in note for note in readouts.live(robot).notes)


def test_a_bake_is_shown_as_it_is_until_something_changes(scene, robot, target):
    circle(target, 40)
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=40) == {"FINISHED"}
    curves = fcurves(robot)
    for frame in (1, 10, 33):
        scene.frame_set(frame)
        for (path, index), _ in own_keys(binding(robot)).items():
            assert robot.path_resolve(path)[index] == np.float32(curves[path, index].evaluate(frame))
    assert readouts.live(robot).text.startswith("Shows its bake")
    scene.frame_set(10)
    target.location.z += 0.1
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR  # from the pose that was baked
    scene.frame_set(20)
    assert tuple(robot.robokin.baked_frames) == (1, 0) and world_error(robot, TOOL, target)[0] < NEAR


def test_a_bake_takes_what_live_shows_where_it_starts(scene, robot, target):
    circle(target, 40)
    scene.frame_set(1)
    shown = read_configuration(robot)
    values = {
        joint.name: float(shown[i])
        for i, joint in enumerate(events._sessions[robot.session_uid].robot.model.moving_joints)
    }

    assert bpy.ops.robokin.bake(frame_start=1, frame_end=40, q0=json.dumps(values)) == {"FINISHED"}
    scene.frame_set(1)
    assert abs(read_configuration(robot) - shown).max() < 1e-6


def test_edited_keys_of_a_target_end_the_bake(scene, robot, target):
    circle(target, 40)
    scene.frame_set(1)
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=40) == {"FINISHED"}
    update()
    curve = fcurves(target)["location", 2]
    for point in curve.keyframe_points[3:]:  # not at the present frame
        point.co.y += 0.1
    curve.update()
    target.animation_data.action.update_tag()
    update()
    scene.frame_set(20)
    assert world_error(robot, TOOL, target)[0] < NEAR


def test_bake_check_and_export_read_the_scene_without_it(scene, robot, target, monkeypatch):
    circle(target, 40)
    target.constraints.new("COPY_ROTATION").target = add_empty("lead")  # so that frames are visited
    followed = []
    monkeypatch.setattr(events, "_follow_all", lambda *a: followed.append(a))
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=10) == {"FINISHED"}
    during = len(followed)
    assert bpy.ops.robokin.check(frame_start=1, frame_end=10) == {"FINISHED"}
    assert during <= 4 and len(followed) <= 8  # Blender's own updates before and after operators


def test_no_pose_is_made_in_a_render_and_what_is_not_baked_is_reported(scene, robot, target, capfd, tmp_path):
    circle(target, 40)
    scene.frame_set(1)
    update()
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    told = rendering.unbaked(scene, robot)
    assert "not baked: a render of several frames shows no motion" in told
    rendering._begin(scene)
    assert "is not baked" in capfd.readouterr().err
    before = read_configuration(robot).tolist()
    scene.frame_set(20)
    assert read_configuration(robot).tolist() == before
    rendering._end(scene)
    update()
    scene.frame_set(20)
    assert world_error(robot, TOOL, target)[0] < NEAR
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=40) == {"FINISHED"}
    assert rendering.unbaked(scene, robot) == ""
    target.location.z += 0.1
    update()
    assert "in another pose" in rendering.unbaked(scene, robot)


def test_automatic_keys_are_those_of_the_solved_pose(scene, robot, target, auto_keying):
    circle(target, 40)
    scene.frame_set(5)
    assert not fcurves(robot)  # no frame is keyed by going there
    robot.robokin.live = False
    update()
    target.location.x -= 0.02
    robot.robokin.live = True
    update()
    assert not fcurves(robot)  # nor by switching it on
    target.location.x -= 0.03
    update()
    curves = fcurves(robot)
    assert curves.keys() == own_keys(binding(robot)).keys()
    for (path, index), curve in curves.items():
        assert curve.evaluate(5) == robot.path_resolve(path)[index]
    count = len(curves['pose.bones["panda_joint2"].rotation_euler', 1].keyframe_points)
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo_push(message="more")
    bpy.ops.ed.undo()
    update()
    curves = fcurves(bpy.data.objects["panda"])
    assert len(curves['pose.bones["panda_joint2"].rotation_euler', 1].keyframe_points) == count


@pytest.mark.parametrize("reach", [0.05, 0.5])
def test_a_cancelled_drag_leaves_no_trace(robot, target, monkeypatch, auto_keying, reach):
    dragging = [True]
    monkeypatch.setattr(events, "transform_running", lambda: dragging[0])
    start, before = target.location.copy(), read_configuration(robot).tolist()
    settings, task = robot.robokin.solver, robot.robokin.tasks[0]
    said = settings.status, settings.reason, task.position_residual, task.reached
    for i in range(1, 6):
        target.location = start
        target.location.y += reach * i
        update()
    assert fcurves(robot)
    assert (settings.status == "CONVERGED") == (reach < 0.1)
    target.location, dragging[0] = start, False
    update()
    assert not fcurves(robot) and read_configuration(robot).tolist() == before
    assert (settings.status, settings.reason, task.position_residual, task.reached) == said


def test_two_robots_that_hold_each_others_targets_come_to_an_end(scene, robot):
    other = add_robot(live=True)
    other.location.x = 1.2
    other.rotation_euler.z = np.pi
    update()
    for one, its in ((robot, other), (other, robot)):
        task = one.robokin.tasks.add()
        task.name, task.kind, task.tip, task.target, task.subtarget = "hold", "POSITION", TOOL, its, TOOL
        one.update_tag()
    for _ in range(5):
        robot.location.y += 0.02
        update()
    assert np.isfinite(read_configuration(robot)).all() and np.isfinite(read_configuration(other)).all()
    assert other.robokin.solver.status and robot.robokin.solver.status


@pytest.mark.parametrize("held", ["bone", "child"])
@pytest.mark.parametrize("order", [0, 1])
def test_what_another_robot_carries_is_followed_in_the_same_update(scene, robot, held, order):
    other = add_robot(live=True)
    first, second = (robot, other) if order else (other, robot)
    second.location = (0.9, 0.3, 0.0)
    update()
    lead = add_target(first)
    task = second.robokin.tasks.add()
    task.name, task.kind, task.tip, task.target = "carried", "POSITION", TOOL, first
    task.subtarget = TOOL
    if held == "child":
        child = add_empty("child", first)
        child.parent_type, child.parent_bone, child.location = "BONE", TOOL, (0.0, 0.05, 0.02)
        task.target = child
    update()
    for y in (0.05, 0.1, 0.15):
        lead.location.y = y
        update()
        assert world_error(first, TOOL, lead)[0] < NEAR
        there = child.matrix_world if held == "child" else first.matrix_world @ first.pose.bones[TOOL].matrix
        tip = second.matrix_world @ second.pose.bones[TOOL].matrix
        assert (tip.translation - there.translation).length < 2e-4


def test_pinned_and_advanced_are_counted_from_where_they_began(robot):
    for kind in ("PIN", "ADVANCE"):
        with bpy.context.temp_override(object=robot):
            bpy.ops.robokin.task_add(kind=kind, tip=TOOL)
    robot.robokin.tasks[0].enabled = False
    update()
    start = robot.pose.bones[TOOL].matrix.translation.copy()
    task = robot.robokin.tasks[1]
    for x in (0.02, 0.05, 0.05, 0.0):
        task.location = (-x, 0.0, 0.0)
        robot.update_tag()
        update()
        moved = robot.pose.bones[TOOL].matrix.translation - start
        assert abs(moved.x + x) < 2e-4 and abs(moved.y) < 2e-4
    task.enabled = False
    robot.robokin.tasks[0].enabled = True
    update()
    q = read_configuration(robot)
    robot.pose.bones["panda_joint1"].rotation_euler[1] += 0.3
    update()
    assert (robot.pose.bones[TOOL].matrix.translation - start).length < 1e-3
    assert q.shape == read_configuration(robot).shape


def test_other_scenes_are_left_alone(scene, robot, target):
    other = bpy.data.scenes.new("other")
    assert events.live_robots(other) == [] and events.live_robots(scene) == [robot]
    bpy.context.window.scene = other
    bpy.context.view_layer.update()
    bpy.context.window.scene = scene
    target.location.x -= 0.05
    update()
    assert world_error(robot, TOOL, target)[0] < NEAR


@pytest.mark.parametrize("source_stays", [False, True])
def test_a_linked_robot_stands_and_an_overridden_one_follows(robot, target, scene, tmp_path, source_stays):
    """The source of an override has its name; it may be in the same scene."""
    collection = bpy.data.collections.new("Robots")
    scene.collection.children.link(collection)
    for obj in (robot, target):
        scene.collection.objects.unlink(obj)
        collection.objects.link(obj)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.collections = ["Robots"]
    linked = into.collections[0]
    bpy.context.scene.collection.children.link(linked)
    update()
    assert events.live_robots(bpy.context.scene) == []
    if not source_stays:
        bpy.context.scene.collection.children.unlink(linked)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    update()
    robot = next(o for o in bpy.data.objects if o.type == "ARMATURE" and o.override_library)
    target = robot.robokin.tasks[0].target
    assert target.override_library is not None
    assert [obj.library for obj in events.live_robots(bpy.context.scene)] == [None]
    for other in (bpy.data.scenes.new("other"), None):
        target.location.x -= 0.05
        update()
        assert world_error(robot, TOOL, target)[0] < NEAR
        if other is not None:
            shown, bpy.context.window.scene = bpy.context.scene, other
            update()
            bpy.context.window.scene = shown


def test_a_robot_of_a_system_override_stands_and_says_nothing(robot, target, scene, tmp_path):
    """Blender lets nobody pose it."""
    collection = bpy.data.collections.new("Robots")
    for obj in (robot, target):
        collection.objects.link(obj)
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {collection})
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.collections = ["Robots"]
    into.collections[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    update()
    robot = next(o for o in bpy.data.objects if o.type == "ARMATURE" and o.override_library)
    assert robot.override_library.is_system_override
    assert events.live_robots(bpy.context.scene) == [] and readouts.live(robot) is None
    bpy.context.view_layer.objects.active = robot
    assert not bpy.ops.robokin.home.poll()
    bone = robot.pose.bones["panda_joint4"]
    bone.rotation_euler[1] = 9.0
    update()
    assert bone.rotation_euler[1] == 9.0  # no handler writes into it
    robot.override_library.is_system_override = False
    robot.update_tag()
    update()
    assert bpy.ops.robokin.home.poll() and bone.rotation_euler[1] < 0.0
    assert events.live_robots(bpy.context.scene) == [robot] and readouts.live(robot) is not None


def test_a_reload_of_the_add_on_goes_on(robot, target):
    robokin_addon.unregister()
    assert not any("robokin" in h.__module__ for h in bpy.app.handlers.frame_change_post)
    robokin_addon.register()
    target = bpy.data.objects[target.name]
    target.location.x -= 0.05
    update()
    assert world_error(bpy.data.objects[robot.name], TOOL, target)[0] < NEAR


def test_without_a_live_robot_nothing_is_looked_at(scene, robot, target, monkeypatch):
    robot.robokin.live = False
    update()
    assert not events._sessions
    monkeypatch.setattr(events, "_follow_all", lambda *a: pytest.fail("looked at"))
    target.location.x -= 0.05
    update()
    scene.frame_set(3)
