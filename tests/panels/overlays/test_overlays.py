"""What overlays prepare: where it is, when it is prepared, and that it outlives its scene."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
import robokin_addon
from robokin_addon.operators.handlers import shown_motion
from robokin_addon.operators.handlers.scene_marks import motion_mark
from robokin_addon.panels.overlays import drawing, popover, scene_view, timeline
from robokin_addon.panels.overlays.joints import Carried
from robokin_addon.panels.overlays.robot_view import RobotView, forget_views, robot_view
from robokin_addon.panels.overlays.scene_view import PARTS, SceneOverlays, shows_anything
from robokin_addon.panels.shapes import colors
from robokin_addon.panels.shapes.lines import ROUND
from robokin_addon.panels.shapes.solids import outline
from robokin_addon.properties.bridge import binding, read_configuration, world_from_root
from robokin_addon.properties.results import change_marks
from robokin_addon.properties.results.stored_results import store_failures
from robokin_addon.robokin import center_of_mass, frame_jacobian
from robokin_addon.robokin.collision import Box, Capsule, Cylinder, Hull, Sphere
from robokin_addon.robokin.model.geometry import Mesh, RoundedBox
from robokin_addon.solvers import IKProblem
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.blender.panels import FakeLayout
from support.blender.scene_robots import TOOL, add_robot, add_target, build, circle
from support.problems.obstructed import planar_arm
from support.robots import robot as robot_file


@pytest.fixture
def overlays(scene):
    return SceneOverlays()


def show(*names):
    settings = bpy.context.scene.robokin.overlays
    for name in PARTS:
        setattr(settings, name, name in names)
    return settings


def look(overlays):
    bpy.context.view_layer.update()
    overlays.look(bpy.context)
    return overlays


def segments(overlays):
    return overlays.lines[0].reshape(-1, 2, 3).astype(float)


def test_axes_are_those_of_the_bones_as_blender_shows_them(overlays):
    """A joint of one axis turns about the Y of its bone."""
    robot = add_robot()
    robot.location, robot.rotation_euler, robot.scale = (0.3, -0.2, 0.1), (0.2, 0.5, -1.0), (2.0, 2.0, 2.0)
    show("axes")
    shafts = segments(look(overlays))[::5]
    moving = [joint for joint in binding(robot).model.joints if joint.nv]
    assert len(shafts) == len(moving)
    for (start, end), joint in zip(shafts, moving, strict=True):
        bone = robot.pose.bones[binding(robot).bone_of_link[joint.child]]
        world = np.array(robot.matrix_world @ bone.matrix)
        way = (end - start) / np.linalg.norm(end - start)
        turn = "finger" not in joint.name
        assert way == pytest.approx(world[:3, 1] / np.linalg.norm(world[:3, 1]), abs=1e-5)
        if turn:  # a slide has gone on along its axis
            assert np.cross(world[:3, 3] - start, way) == pytest.approx(0.0, abs=1e-5)


def test_the_needle_turns_with_the_joint_and_is_red_at_the_limit(overlays):
    robot = add_robot()
    show("limits")
    bone = robot.pose.bones["panda_joint4"]
    before = segments(look(overlays)).copy()
    bone.rotation_euler[1] += 0.4
    after = segments(look(overlays))
    moved = np.flatnonzero(abs(after - before).max(axis=(1, 2)) > 1e-6)
    assert 0 < len(moved) < len(after)
    joint = binding(robot).joint_of_bone["panda_joint4"]
    bone.rotation_euler[1] = float(joint.upper[0])
    colors = look(overlays).lines[1]
    assert (abs(colors[:, :3] - [1.0, 0.22, 0.16]).max(axis=1) < 0.02).any()


def test_names_stand_at_the_joints(overlays):
    robot = add_robot()
    show("names")
    labels = {label.text: label.point for label in look(overlays).labels}
    head = robot.matrix_world @ robot.pose.bones["panda_joint4"].head
    assert labels["panda_joint4"] == pytest.approx(tuple(head), abs=1e-5)


def test_only_selected_bones(overlays):
    robot = add_robot()
    bpy.context.view_layer.objects.active = robot
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    settings = show("names")
    settings.selected_only = True
    robot.robokin.active_joint = robot.pose.bones.find("panda_joint3")
    assert [label.text for label in look(overlays).labels] == ["panda_joint3"]
    bpy.ops.object.mode_set(mode="OBJECT")


def test_the_center_of_mass_and_the_ellipsoid_are_the_models(overlays):
    robot = add_robot()
    robot.location = (0.0, 0.5, 0.0)
    show("center_of_mass")
    q, model = read_configuration(robot), binding(robot).model
    points = segments(look(overlays)).reshape(-1, 3)
    center = (world_from_root(robot) @ [*center_of_mass(model, q), 1.0])[:3]
    assert points[: 6 * ROUND].mean(axis=0) == pytest.approx(center, abs=1e-6)
    show("manipulability").manipulability_scale = 0.5
    points = segments(look(overlays)).reshape(-1, 3)
    J = frame_jacobian(model, q, "panda_hand_tcp")[:3]
    assert np.ptp(points, axis=0).max() <= 2.0 * 0.5 * np.linalg.svd(J)[1][0] + 1e-6
    longest = points[-2:]
    assert np.linalg.norm(longest[1] - longest[0]) == pytest.approx(np.linalg.svd(J)[1][0], rel=1e-5)


def test_an_arrow_leads_from_the_tip_to_a_target_that_is_missed(overlays):
    robot = add_robot(live=True)
    target = add_target(robot)
    show("task_errors")
    assert look(overlays).lines is None and overlays.labels == []
    target.location.x += 3.0
    start, end = segments(look(overlays))[0]
    assert end == pytest.approx(tuple(target.matrix_world.translation), abs=1e-5)
    assert start == pytest.approx(tuple(robot.matrix_world @ robot.pose.bones[TOOL].head), abs=1e-5)
    first, second = overlays.labels
    assert first.point == pytest.approx(tuple(end), abs=1e-5) and second.point == pytest.approx(tuple(start), abs=1e-5)
    assert "off by" in first.text and robot.robokin.tasks[0].name in first.text and second.text.startswith("Too far")


def test_no_solver_is_made_to_show_what_is_missed(overlays, monkeypatch):
    robot = add_robot(live=True)
    target = add_target(robot)
    show(*PARTS)
    target.location.x += 3.0
    look(overlays)
    for cls in (IKProblem, TaskLevels):
        monkeypatch.setattr(cls, "__init__", lambda *_, **__: pytest.fail("a solver was made"))
    for _ in range(3):
        target.location.x += 0.01
        look(overlays)


def test_nothing_is_prepared_when_nothing_has_changed(overlays, monkeypatch):
    robot = add_robot()
    show("axes", "limits", "center_of_mass")
    count = look(overlays).count
    batch = overlays.version
    for _ in range(3):
        overlays.look(bpy.context)
    assert (overlays.count, overlays.version) == (count, batch)
    robot.pose.bones["panda_joint4"].rotation_euler[1] += 0.1
    assert look(overlays).count == count + 1
    show()
    assert not shows_anything(bpy.context.scene.robokin.overlays)


def test_overlays_outlive_undo_files_scenes_and_robots(overlays):
    robot = add_robot()
    add_target(robot)
    show(*(part for part in PARTS if part != "task_errors"))
    bpy.ops.ed.undo_push(message="before")
    for _ in range(30):  # until the hulls of all meshes are there
        change_marks.MARKS.scene += 1
        before = look(overlays).lines[0].copy()
    robot.pose.bones["panda_joint4"].rotation_euler[1] += 0.3
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="posed")
    after = look(overlays).lines[0].copy()
    assert abs(after - before).max() > 0.01
    bpy.ops.ed.undo()
    assert look(overlays).lines[0] == pytest.approx(before, abs=1e-6)
    bpy.ops.ed.redo()
    assert look(overlays).lines[0] == pytest.approx(after, abs=1e-6)
    first, other = bpy.context.scene, bpy.data.scenes.new("other")
    bpy.context.window.scene = other
    assert look(overlays).lines is None
    bpy.context.window.scene = first
    assert look(overlays).lines is not None
    bpy.data.objects.remove(next(o for o in bpy.data.objects if o.type == "ARMATURE"))
    assert look(overlays).lines is None
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert look(overlays).lines is None


def test_each_scene_shows_a_robot_in_its_own_unit(scene):
    obj, other, view = add_robot(), bpy.data.scenes.new("other"), RobotView()
    other.unit_settings.scale_length = 0.5
    other.collection.objects.link(obj)
    for shown, unit in ((scene, 1.0), (other, 0.5), (scene, 1.0)):
        bpy.context.window.scene = shown
        bpy.context.view_layer.update()
        view.look(obj)
        assert view.structure.robot.metres_per_unit == unit
        assert view.scale() == pytest.approx(1.0 / unit)
    scene.unit_settings.scale_length = 2.0
    bpy.context.view_layer.update()
    view.look(obj)
    assert view.structure.robot.metres_per_unit == 2.0


def test_the_path_is_coloured_by_what_is_chosen_and_ghosts_are_the_keyed_poses(overlays, scene):
    robot = add_robot()
    target = add_target(robot)
    scene.frame_start, scene.frame_end = 1, 20
    circle(target, 20)
    settings = show("path", "ghosts")
    look(overlays)
    shown_motion.finish_work()
    assert look(overlays).lines is None  # no keys, no motion
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    scene.frame_set(10)
    look(overlays)
    shown_motion.finish_work()
    ghosts = 2 * settings.ghost_count * len(binding(robot).model.joints[1:])
    path = segments(look(overlays))
    assert len(path) == ghosts + 19 * ((len(path) - ghosts) // 19) and len(path) > ghosts
    settings.path = False
    points = segments(look(overlays)).reshape(-1, 3)
    settings.path = True
    for frame in (5, 15, 20):
        scene.frame_set(frame)
        tip = robot.matrix_world @ robot.pose.bones[TOOL].head
        assert np.linalg.norm(points - np.array(tip), axis=1).min() < 1e-5
    solver = robot.robokin.solver
    store_failures(solver.retime_limits, [(3, 6, "jerk", "panda_joint1"), (7, 9, "tool speed", "panda_hand_tcp")])
    solver.retime_mark = motion_mark(robot, binding(robot))
    for color in ("LIMIT", "RESIDUAL", "TIMING"):
        settings.path_color = color
        look(overlays)
        shown_motion.finish_work()
        assert len(segments(look(overlays))) == len(path)
    tools = (len(path) - ghosts) // 19
    for kind, frames in (("jerk", 4), ("tool speed", 3)):
        same = abs(overlays.lines[1] - colors.of_limit(kind)).max(axis=1) < 1e-6
        assert same.sum() == 2 * tools * frames


def test_ghosts_are_the_edges_of_the_meshes_of_links(overlays, scene):
    robot = add_robot(live=False)
    bpy.ops.mesh.primitive_cube_add(size=0.1)
    cube = bpy.context.object
    cube.parent, cube.parent_type, cube.parent_bone = robot, "BONE", robot.data.bones[5].name
    bone = robot.pose.bones["panda_joint1"]
    for frame, angle in ((1, 0.0), (10, 1.0)):
        bone.rotation_euler[1] = angle
        bone.keyframe_insert("rotation_euler", index=1, frame=frame)
    settings = show("ghosts")
    settings.ghost_count, settings.ghost_step = 1, 4
    scene.frame_set(5)
    look(overlays)
    shown_motion.finish_work()
    ghosts = segments(look(overlays))
    assert len(ghosts) == 2 * 12
    for frame, own in ((1, ghosts[:12]), (9, ghosts[12:])):
        scene.frame_set(frame)
        corners = np.array([cube.matrix_world @ vertex.co for vertex in cube.data.vertices])
        away = np.linalg.norm(own.reshape(-1, 1, 3) - corners, axis=2)
        assert away.min(axis=1).max() < 1e-5
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.1)
    ball = bpy.context.object
    cube.data = ball.data
    bpy.data.objects.remove(ball)
    assert len(segments(look(overlays))) >= 2 * 7  # what is round has no edges: from joint to joint


def test_shares_of_a_motion(scene):
    model = binding(add_robot()).model
    q = 0.5 * (model.lower + model.upper)
    Q = np.array([q, q, q])
    Q[2, 3] = model.upper[3]
    assert shown_motion.limit_shares(model, Q).tolist() == [0.0, 0.0, 1.0]
    Q[1:, 3] = q[3] + np.array([1.0, 2.0]) * 0.5 * model.velocity[3] * 0.1
    assert shown_motion.speed_shares(model, Q, np.array([0.0, 0.1, 0.2])) == pytest.approx(0.5)
    assert shown_motion.residual_share(np.array([0.5, 1.0, 10.0, 1e6])) == pytest.approx([0.0, 0.0, 5.0 / 6.0, 1.0])


def test_bands_of_problem_frames_are_wide_enough_to_be_seen():
    assert timeline.bands([(10.0, 30.0), (50.0, 50.1)], 5.0)[:, :, 0].max(axis=1).tolist() == [30.0, 30.0, 55.0, 55.0]


def test_the_popover_shows_every_setting_and_the_header_a_switch_where_there_is_a_robot(scene):
    layout = FakeLayout()
    popover.ROBOKIN_PT_overlays.draw(SimpleNamespace(layout=layout), bpy.context)
    settings = scene.robokin.overlays
    own = {name for name in settings.bl_rna.properties.keys() if name not in ("rna_type", "name")}
    header = FakeLayout()
    popover._draw_header(SimpleNamespace(layout=header), bpy.context)
    assert header.drawn["props"] == []
    add_robot()
    popover._draw_header(SimpleNamespace(layout=header), bpy.context)
    assert {*layout.drawn["props"], *header.drawn["props"]} == own


def test_handles_and_overlays_look_at_a_robot_once_for_each_change(overlays, monkeypatch):
    robot = add_robot()
    looks, real = [], RobotView.look
    monkeypatch.setattr(RobotView, "look", lambda view, obj: (looks.append(obj), real(view, obj))[1])
    show("axes")
    bpy.context.view_layer.update()
    look(overlays)
    view, before = robot_view(robot), robot_view(robot).q.copy()
    assert len(looks) == 1
    robot.pose.bones["panda_joint2"].rotation_euler[1] += 0.25
    bpy.context.view_layer.update()
    assert abs(robot_view(robot).q - before).max() == pytest.approx(0.25, abs=1e-6)
    drawn = segments(look(overlays)).copy()
    assert len(looks) == 2 and robot_view(robot) is view
    monkeypatch.undo()
    forget_views()
    fresh = SceneOverlays()
    fresh.look(bpy.context)
    assert abs(drawn - segments(fresh)).max() < 1e-6


def test_settings_are_read_once_for_all_robots(overlays, monkeypatch):
    robots, reads, real = [add_robot(), add_robot()], [], scene_view._READ
    show("axes", "limits")
    look(overlays)
    monkeypatch.setattr(scene_view, "_READ", lambda settings: (reads.append(settings), real(settings))[1])
    for robot in robots:
        robot.pose.bones["panda_joint2"].rotation_euler[1] += 0.25
    look(overlays)
    assert len(reads) == 1


def test_segments_go_with_their_nodes_whichever_are_shown():
    rng = np.random.default_rng(3)
    shapes = {node: rng.normal(size=(count, 2, 3)) for node, count in ((4, 7), (1, 1), (0, 0), (6, 3), (2, 7))}
    carried = Carried(shapes)
    for _ in range(20):
        frames, shown = rng.normal(size=(7, 4, 4)), rng.random(7) < 0.5
        segments, owner = carried.at(frames, shown)
        own = [(node, shape) for node, shape in shapes.items() if shown[node]]
        assert owner.tolist() == [node for node, shape in own for _ in shape]
        plain = [shape @ frames[node, :3, :3].T + frames[node, :3, 3] for node, shape in own]
        assert segments == pytest.approx(np.concatenate([np.zeros((0, 2, 3)), *plain]), abs=1e-12)
    assert Carried({}).at(np.zeros((0, 4, 4)), np.zeros(0, bool))[0].shape == (0, 2, 3)


def test_nothing_is_drawn_without_a_window_and_the_add_on_can_be_loaded_anew(overlays):
    assert drawing._handles == [] and timeline._handles == []
    robot = add_robot()
    show("axes")
    robokin_addon.unregister()
    robokin_addon.register()
    bpy.context.view_layer.update()
    before = change_marks.MARKS.scene
    robot.location.x += 1.0
    assert bpy.context.scene.robokin.overlays.axes and look(overlays).lines is not None
    assert change_marks.MARKS.scene > before


def test_collision_shapes_go_with_their_links_and_meshes_come_one_by_one(overlays):
    assert bpy.ops.robokin.import_urdf(filepath=str(robot_file("panda"))) == {"FINISHED"}
    robot = bpy.context.object
    model = binding(robot).model
    meshes = sum(isinstance(g.shape, Mesh) for link in model.links for g in link.collisions)
    assert meshes > 3
    show("collisions")
    counts = []
    for _ in range(meshes):
        look(overlays)
        counts.append(len(overlays.lines[0]))
        change_marks.MARKS.scene += 1
    assert all(a <= b for a, b in pairwise(counts)) and counts[0] < counts[-1]
    before = segments(look(overlays)).copy()
    assert len(before) == len(overlays.lines[0]) // 2
    bone = robot.pose.bones["panda_joint1"]
    bone.rotation_euler[1] += 0.5
    after = segments(look(overlays))
    still = abs(after - before).max(axis=(1, 2)) < 1e-9
    assert 0 < still.sum() < len(after)  # the base stands
    T = np.array(robot.matrix_world @ bone.matrix)
    hand = after[~still].reshape(-1, 3)
    assert np.isfinite(hand).all() and np.linalg.norm(T[:3, 3]) < abs(hand).max() < 3.0


def test_collision_shapes_are_where_their_links_have_them(overlays):
    """Two capsules along x, their middles half a metre along their links."""
    build(planar_arm(2))
    show("collisions")
    points = segments(look(overlays)).reshape(-1, 3)
    np.testing.assert_allclose(points.min(axis=0), (0.05, -0.05, -0.05), atol=1e-6)
    np.testing.assert_allclose(points.max(axis=0), (1.95, 0.05, 0.05), atol=1e-6)


def test_outlines_of_shapes():
    ball = outline(Sphere(0.2)).reshape(-1, 3)
    assert np.linalg.norm(ball, axis=1) == pytest.approx(0.2)
    capsule = outline(Capsule(0.1, 0.6)).reshape(-1, 3)
    assert abs(capsule[:, 2]).max() == pytest.approx(0.4) and np.hypot(*capsule[:, :2].T).max() == pytest.approx(0.1)
    cylinder = outline(Cylinder(0.1, 0.6)).reshape(-1, 3)
    assert abs(cylinder[:, 2]).max() == pytest.approx(0.3)
    assert len(outline(Box((1.0, 2.0, 3.0)))) == 12
    rounded = outline(RoundedBox((1.0, 2.0, 3.0), 0.1)).reshape(-1, 3)
    beyond = np.maximum(abs(rounded) - (0.5, 1.0, 1.5), 0.0)
    assert np.linalg.norm(beyond, axis=1) == pytest.approx(0.1)
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)], float)
    edges = outline(Hull(np.concatenate((corners, [[0.5, 1.0, 1.0]]))))
    assert (
        len(edges) == 12
        and sorted(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)) == [1.0] * 4 + [2.0] * 4 + [3.0] * 4
    )
    assert len(outline(Hull(np.zeros((5, 3))))) == 0


def test_nothing_is_made_anew_where_only_something_else_moves(overlays):
    robot = add_robot(live=True)
    add_target(robot)
    other = bpy.data.objects.new("other", None)
    bpy.context.scene.collection.objects.link(other)
    show("axes", "limits", "center_of_mass", "manipulability", "task_errors")
    before = look(overlays).version, overlays.lines
    other.location.x += 1.0
    assert (look(overlays).version, overlays.lines) == before
    robot.pose.bones["panda_joint4"].rotation_euler[1] += 0.1
    assert look(overlays).version == before[0] + 1


def test_a_center_of_mass_that_is_shown_again_is_the_present_one(overlays):
    robot = add_robot()
    show("center_of_mass")
    before = segments(look(overlays)).copy()
    show("names")
    robot.location.x += 1.0
    look(overlays)
    show("center_of_mass")
    assert segments(look(overlays)).mean(axis=(0, 1)) - before.mean(axis=(0, 1)) == pytest.approx([1.0, 0.0, 0.0])
