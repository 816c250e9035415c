"""What an update has changed of robots."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.live import events
from robokin_addon.properties import handlers
from robokin_addon.properties.bridge import changes, changes_in
from robokin_addon.scene import obstacle_shapes
from support.blender.scene_robots import add_robot, add_target


@pytest.fixture
def read(monkeypatch):
    """What was read in each update."""
    found = []

    def spy(depsgraph):
        found.append(real(depsgraph))
        return found[-1]

    real = changes._read
    monkeypatch.setattr(changes, "_read", spy)
    return found


def test_an_update_is_read_once_for_all_handlers(scene, read):
    robot, other = add_robot(live=True), add_robot()
    add_target(robot)
    bpy.context.view_layer.update()
    read.clear()
    robot.pose.bones["panda_joint4"].rotation_euler[1] += 0.1
    bpy.context.view_layer.update()
    (found,) = read
    assert found.robots == (robot,)
    assert robot.session_uid in found.armatures and other.session_uid not in found.armatures and not found.scene
    other.data.bones["panda_joint4"].robokin.locked = True
    bpy.context.scene.gravity[2] = -1.0
    bpy.context.view_layer.update()
    assert len(read) == 2 and read[1].scene and other.data.session_uid in read[1].armatures


def test_what_is_no_robot_is_none_of_them(scene, read):
    robot = add_robot()
    target = add_target(robot)
    bpy.context.view_layer.update()
    read.clear()
    target.location.x += 0.1
    bpy.context.view_layer.update()
    (found,) = read
    assert not (found.robots or found.armatures or found.actions or found.scene or found.forms)
    assert found.kinds == {bpy.types.Object}


def test_blender_knows_of_one_handler_of_ours(addon):
    """Each costs ten microseconds in a window, where nothing is in the processor's cache."""
    ours = [h for h in bpy.app.handlers.depsgraph_update_post if h.__module__.startswith("robokin_addon")]
    assert len(ours) == 1


def test_nothing_is_read_and_nobody_is_called_where_there_is_no_armature(scene, read, monkeypatch):
    other = bpy.data.objects.new("other", None)
    scene.collection.objects.link(other)
    called = []
    monkeypatch.setattr(changes, "CHANGE_HANDLERS", [lambda *given: called.append(given[2])])
    for _ in range(3):
        other.location.x += 0.1
        bpy.context.view_layer.update()
    assert not read and not called
    add_robot()
    bpy.context.view_layer.update()
    assert called and called[0].is_first and not any(each.is_first for each in called[1:])


def _called_at_a_move(monkeypatch, target):
    """Names of the handlers that are called when a target moves."""
    called = []

    def spied(handler):
        return lambda *given: (called.append(handler.__name__), handler(*given))

    with monkeypatch.context() as patch:
        patch.setattr(changes, "AWAKE", list(map(spied, handlers.AWAKE)))
        patch.setattr(changes, "CHANGE_HANDLERS", list(map(spied, handlers.CHANGE_HANDLERS)))
        target.location.x += 0.1
        bpy.context.view_layer.update()
    return called


def test_live_is_called_at_the_move_of_a_target_only_while_a_robot_is_live(scene, monkeypatch):
    robots = [add_robot() for _ in range(2)]
    target = add_target(robots[0])
    bpy.context.view_layer.update()
    target.location.x += 0.1
    bpy.context.view_layer.update()
    assert _called_at_a_move(monkeypatch, target) == ["mark_change"]
    robots[0].robokin.live = True
    bpy.context.view_layer.update()
    assert _called_at_a_move(monkeypatch, target) == ["mark_change", "follow_changes"]
    other = bpy.data.scenes.new("other")
    events.follow_frame(other, bpy.context.evaluated_depsgraph_get())
    assert "follow_changes" in _called_at_a_move(monkeypatch, target)
    robots[0].robokin.live = False
    bpy.context.view_layer.update()
    assert _called_at_a_move(monkeypatch, target) == ["mark_change"]


def test_a_mesh_that_was_edited_without_any_robot_is_read_anew(scene):
    ball = bpy.data.objects.new("ball", bpy.data.meshes.new("ball"))
    scene.collection.objects.link(ball)
    robot = add_robot()
    bpy.context.view_layer.update()
    obstacle_shapes._read[ball.session_uid] = b"a form"
    bpy.data.armatures.remove(robot.data)
    ball.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    bpy.context.view_layer.update()
    add_robot()
    bpy.context.view_layer.update()
    assert ball.session_uid not in obstacle_shapes._read


def test_nothing_is_followed_where_nothing_is_live_and_something_else_moves(scene, monkeypatch):
    robot = add_robot()
    target = add_target(robot)
    bpy.context.view_layer.update()
    followed = []
    real = events._follow
    monkeypatch.setattr(events, "_follow", lambda *given, **options: (followed.append(1), real(*given, **options)))
    target.location.x += 0.1
    bpy.context.view_layer.update()
    assert not followed
    robot.robokin.live = True
    robot.update_tag()
    bpy.context.view_layer.update()
    assert followed
    followed.clear()
    target.location.x += 0.1
    bpy.context.view_layer.update()
    assert followed


def test_a_graph_is_looked_at_again_at_the_next_update(scene):
    robot, target = add_robot(), bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(target)
    bpy.context.view_layer.update()
    seen = []
    bpy.app.handlers.depsgraph_update_post.append(lambda _, graph: seen.append(changes_in(graph).robots))
    for touched, robots in ((robot, (robot,)), (target, ()), (robot, (robot,))):
        touched.update_tag()
        bpy.context.view_layer.update()
        assert seen.pop() == robots
    bpy.app.handlers.depsgraph_update_post.pop()
