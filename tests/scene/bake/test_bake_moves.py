"""A robot's program in a scene: a list of moves that becomes keys."""

from __future__ import annotations

from unittest.mock import Mock

import bpy
import numpy as np
import pytest
from mathutils import Vector
from robokin_addon.operators.handlers import moves_preview, shown_motion
from robokin_addon.operators.solve import moves as operator
from robokin_addon.operators.solve.moves import ROBOKIN_OT_bake_moves, ROBOKIN_OT_move_add
from robokin_addon.panels.overlays.motion import limit_spans
from robokin_addon.panels.overlays.scene_view import PARTS, SceneOverlays
from robokin_addon.properties.bridge import binding, read_configuration, world_from_root, write_configuration
from robokin_addon.properties.results import readouts
from robokin_addon.robokin import RobokinError, forward_kinematics
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.bake.moves import moves_steps
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers.progress import finish
from robokin_addon.solvers.trajectories.motion_limits import MotionLimits
from support.blender.panels import draw
from support.blender.scene_bakes import snapshot
from support.blender.scene_robots import TOOL
from support.blender.windows import called, window


def added(robot, kind):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.move_add(kind=kind) == {"FINISHED"}
    bpy.context.view_layer.update()
    return robot.robokin.moves[-1]


def shifted(target, *way):
    target.location = target.location + type(target.location)(way)
    bpy.context.view_layer.update()


@pytest.fixture
def program(scene, robot):
    """To a posture half as fast as can be, then along a line, a circle and a screw."""
    start = read_configuration(robot)
    there = start.copy()
    there[:2] += 0.3
    write_configuration(robot, there)
    first = added(robot, "JOINT")
    first.speed, first.wait = 50.0, 0.5
    ways = {"LINE": (0.0, 0.05, -0.1), "CIRCLE": (0.0, -0.1, -0.1), "SCREW": (0.0, 0.0, 0.0)}
    for kind, way in ways.items():
        move = added(robot, kind)
        shifted(move.target, *way)
        if kind == "CIRCLE":
            shifted(move.via, 0.05, 0.0, -0.15)
    write_configuration(robot, start)
    bpy.context.view_layer.update()
    return robot


def test_the_limits_that_bind_are_reported_where(scene, program):
    scene.frame_set(11)
    assert called(bpy.ops.robokin.bake_moves, program) == {"FINISHED"}
    spans, last = limit_spans(program), int(program.animation_data.action.frame_range[1])
    told = {frame: kind for first, end, kind in spans for frame in range(first, end + 1)}
    rests = [frame for frame in range(11, last) if frame not in told]
    first = program.robokin.moves[0]
    assert (
        first.first == 11 and set(told) <= set(range(11, last + 1)) and {"acceleration", "jerk"} <= set(told.values())
    )
    assert len(rests) >= 11 and set(rests) >= set(range(first.last - 11, first.last))  # the wait of half a second
    curve = next(iter(fcurves(program).values()))
    curve.keyframe_points[3].co.y += 0.1
    curve.update()
    program.animation_data.action.update_tag()
    bpy.context.view_layer.update()
    assert limit_spans(program) == []


def test_all_moves_become_keys_inside_the_limits(scene, program, capfd):
    scene.frame_set(11)
    scene.frame_end, start = 20, read_configuration(program)
    assert called(bpy.ops.robokin.bake_moves, program) == {"FINISHED"}
    last, said = int(program.animation_data.action.frame_range[1]), capfd.readouterr().out
    name = program.animation_data.action.name
    assert "4 moves from frame 11 on: " in said
    assert f" s, stretches of action {name!r}; playback ends before, at frame 20" in said
    bpy.context.window_manager.robokin_page = "ANIMATE"
    assert f"Stretches of {name}" in draw(object=program)["ROBOKIN_PT_moves"]["labels"]
    seen = finish(sample_motion(scene, program, range(11, last + 1), binding(program)))
    bound = MotionLimits.of(seen.model)
    np.testing.assert_allclose(seen.q[0], start, atol=1e-6)
    assert (abs(seen.v) <= bound.velocity + 1e-4).all() and (abs(seen.a) <= bound.acceleration + 4e-3).all()
    resting = np.flatnonzero(abs(seen.v).max(axis=1) < 1e-5)
    assert (np.diff(resting) == 1).sum() >= 10  # the wait of half a second
    first = seen.q[resting[1] if resting[0] == 0 else resting[0]]
    np.testing.assert_allclose(first[:2], start[:2] + 0.3, atol=1e-5)
    assert abs(seen.v[: resting[1], :2]).max() <= 0.5 * bound.velocity[:2].max() + 1e-4
    link = binding(program).link_of_bone[TOOL]
    ends = np.array([forward_kinematics(seen.model, q)[link][:3, 3] for q in seen.q])
    for move in program.robokin.moves[1:]:
        there = np.array(move.target.matrix_world.translation)
        assert np.linalg.norm(ends - there, axis=1).min() < 2e-2  # passed between two frames
    np.testing.assert_allclose(ends[-1], program.robokin.moves[3].target.matrix_world.translation, atol=1e-5)
    assert called(bpy.ops.robokin.bake_moves, program) == {"FINISHED"}  # from the same pose the same again
    again = finish(sample_motion(scene, program, range(11, last + 1), binding(program)))
    np.testing.assert_allclose(again.q, seen.q, atol=1e-5)


def test_the_list_is_edited_and_follows_names(scene, program):
    robot = program.robokin
    assert [move.kind for move in robot.moves] == ["JOINT", "LINE", "CIRCLE", "SCREW"]
    robot.postures[robot.moves[0].posture].name = "ready"
    assert robot.moves[0].posture == "ready"
    with bpy.context.temp_override(object=program):
        bpy.ops.robokin.move_move(index=0, direction="DOWN")
        bpy.ops.robokin.move_remove(index=3)
    assert [move.kind for move in robot.moves] == ["LINE", "JOINT", "CIRCLE"] and robot.active_move == 1
    drawn = draw(object=program)["ROBOKIN_PT_moves"]
    assert {"posture", "speed", "wait"} <= set(drawn["props"]) and "robokin.bake_moves" in drawn["operators"]
    robot.active_move = 2
    assert {"tip", "target", "via"} <= set(draw(object=program)["ROBOKIN_PT_moves"]["props"])


def test_the_preview_is_the_way_that_is_baked(scene, program):
    """Each move ends where its target is; the keys of Bake Moves lie on the lines; a change is followed."""
    overlays, moves = SceneOverlays(), program.robokin.moves
    for name in PARTS:
        setattr(scene.robokin.overlays, name, name == "moves")
    moves[1].blend = 0.03

    def shown():
        bpy.context.view_layer.update()
        overlays.look(bpy.context)
        moves_preview.finish_work()
        overlays.look(bpy.context)
        return overlays.lines[0].astype(float), overlays.lines[1]

    points, tints = shown()
    assert [label.text for label in overlays.labels] == [move.name for move in moves]
    ends = np.array([label.point for label in overlays.labels])
    for end, move in zip(ends[2:], list(moves)[2:], strict=True):  # the one before blends
        np.testing.assert_allclose(end, move.target.matrix_world.translation, atol=1e-5)
    assert len({tuple(tint) for tint in tints}) == len(moves)
    assert called(bpy.ops.robokin.bake_moves, program) == {"FINISHED"}
    last = int(program.animation_data.action.frame_range[1])
    seen = finish(sample_motion(scene, program, range(scene.frame_current, last + 1), binding(program)))
    link = binding(program).link_of_bone[TOOL]
    keyed = np.array([forward_kinematics(seen.model, q)[link][:3, 3] for q in seen.q])
    start, way = points[::2], points[1::2] - points[::2]
    for place in keyed:
        share = np.clip(((place - start) * way).sum(1) / np.maximum((way * way).sum(1), 1e-18), 0.0, 1.0)
        assert np.linalg.norm(start + share[:, None] * way - place, axis=1).min() < 5e-4
    scene.robokin.overlays.path = True
    overlays.look(bpy.context)
    shown_motion.finish_work()
    assert tuple(shown()[1][-1]) not in {tuple(tint) for tint in tints}  # over the moves, whose way it is
    scene.robokin.overlays.path = False
    scene.frame_set(last)
    assert len(shown()[0]) == len(points)  # from where it was baked, though the robot stands elsewhere
    np.testing.assert_allclose(shown()[0][0], points[0], atol=1e-5)
    shifted(moves[3].target, 0.0, 0.02, 0.0)
    shown()
    np.testing.assert_allclose(overlays.labels[-1].point, moves[3].target.matrix_world.translation, atol=1e-5)
    shifted(moves[2].target, 5.0, 0.0, 0.0)
    shown()
    assert len(overlays.labels) == 1
    texts = draw(object=program)["ROBOKIN_PT_moves"]["labels"]
    assert any("move 'Circle'" in text for text in texts)
    assert readouts.moves(program).failing == 2 and readouts.moves(program).start == 1


@pytest.mark.slow
def test_a_curve_blends_and_the_stretches_are_reported(scene, program):
    moves = program.robokin.moves
    data = bpy.data.curves.new("way", "CURVE")
    data.dimensions = "3D"
    line = data.splines.new("POLY")
    line.points.add(2)
    start = moves[1].target.matrix_world.translation
    for point, way in zip(line.points, ((0.0, 0.0, 0.0), (0.0, -0.05, 0.0), (0.0, -0.1, 0.05)), strict=True):
        point.co = (*(start + type(start)(way)), 1.0)
    curve = bpy.data.objects.new("way", data)
    scene.collection.objects.link(curve)
    for _ in range(2):
        with bpy.context.temp_override(object=program):
            bpy.ops.robokin.move_remove(index=2)
    move = added(program, "CURVE")
    move.target, move.tool_speed = curve, 0.05
    moves[1].blend = 0.02
    scene.frame_set(1)
    assert called(bpy.ops.robokin.bake_moves, program) == {"FINISHED"}
    assert [move.kind for move in moves] == ["JOINT", "LINE", "CURVE"]
    assert moves[0].first == 1 and moves[1].last in (moves[2].first, moves[2].first + 1)
    markers = {marker.name: marker.frame for marker in program.animation_data.action.pose_markers}
    assert markers == {move.name: move.first for move in moves}
    seen = finish(sample_motion(scene, program, range(1, moves[2].last + 1), binding(program)))
    link = binding(program).link_of_bone[TOOL]
    ends = np.array([forward_kinematics(seen.model, q)[link][:3, 3] for q in seen.q])
    speeds = np.linalg.norm(np.diff(ends, axis=0), axis=1) * 24.0
    assert 0.04 < speeds[moves[2].first + 2 :].max() <= 0.05 * (1.0 + 1e-3)
    assert speeds[moves[1].last - 2] > 0.005  # it does not rest there
    np.testing.assert_allclose(ends[-1], np.add(start, (0.0, -0.1, 0.05)), atol=1e-5)
    move.target = moves[1].target
    assert "move 'Curve' has no curve object" in called(bpy.ops.robokin.bake_moves, program)


def test_what_cannot_be_made_names_its_move_and_writes_nothing(scene, robot, program):
    moves = program.robokin.moves
    before = snapshot(scene, program)
    shifted(moves[1].target, 5.0, 0.0, 0.0)
    assert "move 'Line': its end is not reached, and its path" in called(bpy.ops.robokin.bake_moves, program)
    moves[1].target = None
    assert "move 'Line' has no object as its target" in called(bpy.ops.robokin.bake_moves, program)
    moves[0].posture = ""
    assert "move 'Move' has no posture" in called(bpy.ops.robokin.bake_moves, program)
    moves.clear()
    assert "'panda' has no moves" in called(bpy.ops.robokin.bake_moves, program)
    assert snapshot(scene, program) == before


def tip_at(robot, move):
    return np.array(forward_kinematics(binding(robot).model, read_configuration(robot))[move.tip])


@pytest.mark.parametrize("kind", ["JOINT", "LINE"])
def test_a_move_ends_at_the_cursor(scene, robot, kind):
    with bpy.context.temp_override(object=robot):
        before = bpy.ops.robokin.move_add(kind="LINE") and tip_at(robot, robot.robokin.moves[0])
        robot.robokin.moves.clear()
        scene.cursor.location = robot.matrix_world @ Vector(before[:3, 3] + (0.05, 0.03, -0.06))
        bpy.ops.robokin.move_add(kind=kind, end="CURSOR")
    move = robot.robokin.moves[0]
    drawn = draw(object=robot)["ROBOKIN_PT_moves"]["props"]
    assert {"tip", "target"} <= set(drawn) and ("tool_speed" in drawn) == (kind == "LINE")
    assert called(bpy.ops.robokin.bake_moves, robot) == {"FINISHED"}
    scene.frame_set(move.last)
    found = tip_at(robot, move)
    np.testing.assert_allclose(found[:3, 3], before[:3, 3] + (0.05, 0.03, -0.06), atol=1e-5)
    np.testing.assert_allclose(found[:3, :3], before[:3, :3], atol=1e-5)
    assert called(bpy.ops.robokin.next_target, robot, direction="ACTIVE") == {"FINISHED"}


def test_a_joint_move_of_five_joints_ends_at_the_cursor_and_turns_as_it_can(scene):
    with bpy.context.temp_override():
        bpy.ops.robokin.add_robot(robot="desk_arm")
    robot = bpy.context.object
    robot.robokin.live = False
    scene.cursor.location = robot.location + Vector((0.2, 0.1, 0.2))
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.move_add(kind="JOINT", end="CURSOR")
    move = robot.robokin.moves[0]
    assert called(bpy.ops.robokin.bake_moves, robot) == {"FINISHED"}
    scene.frame_set(move.last)
    there = (world_from_root(robot) @ tip_at(robot, move))[:3, 3]
    np.testing.assert_allclose(there, scene.cursor.location, atol=1e-4)


@pytest.mark.parametrize("kind", ["LINE", "SCREW"])
def test_a_line_of_five_joints_leads_the_place_of_the_tip(scene, kind):
    with bpy.context.temp_override():
        bpy.ops.robokin.add_robot(robot="desk_arm")
    robot = bpy.context.object
    robot.robokin.live = False
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.move_add(kind=kind)
    move = robot.robokin.moves[0]
    shifted(move.target, -0.03, 0.05, -0.02)
    assert called(bpy.ops.robokin.bake_moves, robot) == {"FINISHED"}
    scene.frame_set(move.last)
    there = (world_from_root(robot) @ tip_at(robot, move))[:3, 3]
    np.testing.assert_allclose(there, move.target.matrix_world.translation, atol=1e-4)


def test_a_new_circle_is_an_arc_at_once(scene, robot):
    """From where the last move ends, also to the cursor; without one it is as soon as its end is moved."""
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.move_add(kind="CIRCLE")
        shifted(robot.robokin.moves[0].target, 0.05, 0.1, -0.05)
        scene.cursor.location = (0.4, -0.1, 0.4)
        bpy.context.view_layer.update()
        bpy.ops.robokin.move_add(kind="CIRCLE", end="CURSOR")
        bpy.ops.robokin.move_add(kind="CIRCLE")  # back to the present pose
    assert called(bpy.ops.robokin.bake_moves, robot) == {"FINISHED"}
    _, second, third = (move.target.matrix_world.translation for move in robot.robokin.moves)
    assert (second - scene.cursor.location).length < 1e-6
    assert (robot.robokin.moves[2].via.location - (second + third) / 2).length > 0.05


def test_a_circle_whose_end_is_where_it_begins_is_refused(robot):
    """Also where single precision puts its object beside the tip by a hair: that is no plane to go round in."""
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.move_add(kind="CIRCLE")
        with pytest.raises(RuntimeError, match="take two halves"):
            bpy.ops.robokin.bake_moves()


def test_a_curve_has_its_own_end_and_a_circle_asks_for_one(scene):
    for kind, names in {"CIRCLE": ["kind", "end"], "CURVE": ["kind"]}.items():
        settings = Mock(kind=kind)
        ROBOKIN_OT_move_add.draw(settings, None)
        settings.draw_properties.assert_called_once_with(*names)


@pytest.mark.parametrize("active", [4, -1, -2])
def test_no_active_move_says_so(scene, program, active):
    program.robokin.active_move = active
    said = called(bpy.ops.robokin.bake_moves, program, which="ACTIVE")
    assert "no move is active; choose one of 4" in said


def test_one_move_is_baked_from_the_present_pose(scene, program):
    assert called(bpy.ops.robokin.bake_moves, program) == {"FINISHED"}
    moves = program.robokin.moves
    line, others = moves[1], [(move.first, move.last) for move in (moves[0], *moves[2:])]
    keys = {key: [tuple(point.co) for point in curve.keyframe_points] for key, curve in fcurves(program).items()}
    scene.frame_set(line.first)
    line.speed, program.robokin.active_move = 50.0, 1
    first, last = line.first, line.last
    assert called(bpy.ops.robokin.bake_moves, program, which="ACTIVE") == {"FINISHED"}
    assert line.first == first and line.last - first == pytest.approx(2 * (last - first), abs=3)
    assert [(move.first, move.last) for move in (moves[0], *moves[2:])] == others
    markers = [marker.name for marker in program.animation_data.action.pose_markers]
    assert sorted(markers) == sorted(moves.keys())
    for key, curve in fcurves(program).items():
        kept = [tuple(point.co) for point in curve.keyframe_points if not first <= point.co.x <= line.last]
        assert kept == [co for co in keys[key] if not first <= co[0] <= line.last]
    scene.frame_set(line.last)
    there = np.array(line.target.matrix_world.translation)
    np.testing.assert_allclose(tip_at(program, line)[:3, 3], there, atol=1e-4)
    assert {"robokin.bake_moves"} <= set(draw(object=program)["ROBOKIN_PT_moves"]["operators"])


def test_esc_writes_nothing(scene, program, monkeypatch):
    before = snapshot(scene, program)
    with window(monkeypatch, ROBOKIN_OT_bake_moves, *[""] * 4, "ESC") as seen:
        assert called(bpy.ops.robokin.bake_moves, program) == {"CANCELLED"}
    assert seen.slices == 5 and snapshot(scene, program) == before


def test_a_move_is_timed_by_its_keyed_progress(scene, robot):
    move = added(robot, "LINE")
    shifted(move.target, 0.0, 0.05, -0.1)
    for frame, share in ((10, 0.0), (30, 0.2), (70, 1.0)):
        move.progress = share
        assert move.keyframe_insert("progress", frame=frame)
    start = np.array(forward_kinematics(binding(robot).model, read_configuration(robot))[move.tip])[:3, 3]
    curve = animation.fcurves(robot)["robokin.moves[0].progress", 0]
    shares = np.array([curve.evaluate(10 + frame) for frame in range(61)])
    scene.frame_set(1)
    called(bpy.ops.robokin.bake_moves, robot)
    assert (move.first, move.last) == (1, 61)
    motion = finish(sample_motion(scene, robot, range(1, 62), binding(robot)))
    tips = np.array([forward_kinematics(motion.model, q)[move.tip][:3, 3] for q in motion.q])
    np.testing.assert_allclose(tips, start + shares[:, None] * (tips[-1] - start), atol=3e-4)
    for point in curve.keyframe_points:
        point.co.x = 10 + (point.co.x - 10) / 10
    curve.update()
    with pytest.raises(RobokinError, match=r"progress is too fast: .* times more time"):
        finish(moves_steps(scene, robot, binding(robot), 1))


def test_the_preview_of_a_move_timed_by_hand_follows_its_limits(scene, robot):
    move = added(robot, "LINE")
    shifted(move.target, 0.0, 0.0, -0.1)
    for frame, share in ((1, 0.0), (201, 1.0)):
        move.progress = share
        robot.keyframe_insert("robokin.moves[0].progress", frame=frame)

    def problem():
        readouts.moves(robot)
        moves_preview.finish_work()
        return readouts.moves(robot).problem

    move.tool_speed = 0.001
    assert "too fast" in problem()
    move.tool_speed = 1.0
    assert problem() == ""
    move.speed = 0.1
    assert "too fast" in problem()
    move.speed, robot.robokin.solver.retime_tool_speed = 1.0, 0.001  # [m/s]
    assert "allowed 0.001 m/s" in problem()
    robot.robokin.solver.retime_tool_speed = 0.0
    robot.keyframe_insert("robokin.moves[0].progress", frame=200_001)
    assert "keyed over more than" in problem()


def test_limits_that_are_set_are_kept_and_reported_so_by_check(scene, robot, monkeypatch):
    """What is baked inside the limits of tools breaks none that Check compares it with."""
    for way in ((0.1, 0.1, -0.2), (0.2, -0.1, -0.1)):
        shifted(added(robot, "LINE").target, *way)
    settings = robot.robokin.solver
    settings.retime_tool_speed, settings.retime_tool_acceleration = 0.4, 1.5
    assert called(bpy.ops.robokin.bake_moves, robot) == {"FINISHED"}
    last = robot.robokin.moves[-1].last
    assert called(bpy.ops.robokin.check, robot, frame_start=1, frame_end=last) == {"FINISHED"}
    assert settings.check_passed, settings.check_summary
    settings.retime_tool_acceleration = 1.2
    called(bpy.ops.robokin.check, robot, frame_start=1, frame_end=last)
    assert "tool acceleration" in settings.check_summary
    taken = []

    def without_work(scene, obj, robot, first, efforts=False, limits=None, which=None):
        taken.append((efforts, limits))
        yield 1.0
        return 0.0

    monkeypatch.setattr(operator, "moves_steps", without_work)
    for settings.efforts in (False, True):
        called(bpy.ops.robokin.bake_moves, robot)
    assert [efforts for efforts, _ in taken] == [False, True] and "tools" in taken[0][1]
