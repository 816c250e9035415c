"""All postures of the present targets: found, shown as ghosts, and taken."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from robokin_addon.operators import modal
from robokin_addon.operators.posture import all_postures
from robokin_addon.operators.posture.ghosts import Ghosts
from robokin_addon.properties.bridge import binding, read_configuration, write_configuration
from robokin_addon.robokin import forward_kinematics
from robokin_addon.robokin.library import library_robot
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.ghosts import between_links, ghost_lines
from support.blender.scene_robots import add_target, build, placed, world_error
from support.blender.windows import Window
from support.problems.family_robots import family_robot

PUMA = [-0.9, -0.1, -1.8, 2.0, -0.9, -4.2]  # one of eight postures


@pytest.fixture
def puma(scene):
    obj = build(library_robot("puma560"))
    obj.robokin.live = False
    placed(obj, (1.0, 2.0, 0.5), (0.1, 0.2, 0.7), 1.5)
    write_configuration(obj, np.array(PUMA))
    bpy.context.view_layer.update()
    return obj


def postures(robot, how="EXEC_DEFAULT", **options):
    with bpy.context.temp_override(object=robot, active_object=robot):
        return bpy.ops.robokin.postures(how, **options)


def tip_of(robot):
    return robot.pose.bones[-1].name


def test_a_branch_is_taken_by_its_name_or_number(puma):
    target = add_target(puma, tip_of(puma))
    q = read_configuration(puma)
    assert postures(puma) == {"FINISHED"}
    assert read_configuration(puma) == pytest.approx(q, abs=1e-5), "the nearest is the present one"
    seen = []
    for branch in ("elbow up", "elbow down", "shoulder left", "wrist no flip, elbow up"):
        assert postures(puma, branch=branch) == {"FINISHED"}
        assert max(world_error(puma, tip_of(puma), target)) < 1e-4
        seen.append(read_configuration(puma))
    assert abs(seen[0] - seen[1]).max() > 0.1 and abs(seen[1] - seen[2]).max() > 0.1
    assert postures(puma, index=2) == {"FINISHED"}
    assert abs(read_configuration(puma) - seen[-1]).max() > 0.1
    for options, words in (({"branch": "knee"}, "no posture named 'knee'"), ({"index": 99}, "no number 99")):
        with pytest.raises(RuntimeError, match=words):
            postures(puma, **options)


def test_what_no_posture_meets_is_reported(puma):
    with pytest.raises(RuntimeError, match="no task to meet"):
        postures(puma)
    target = add_target(puma, tip_of(puma))
    puma.robokin.tasks[0].influence = 0.5
    with pytest.raises(RuntimeError, match=r"influence 0\.5"):
        postures(puma)
    puma.robokin.tasks[0].influence = 1.0
    target.location.x += 50.0
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="no posture meets the tasks"):
        postures(puma)


def test_the_only_posture_is_said_to_be_the_only_one(scene, capfd):
    robot = build(library_robot("gantry"))
    robot.robokin.live = False
    add_target(robot, tip_of(robot))
    assert postures(robot) == {"FINISHED"}
    assert "The only posture\n" in capfd.readouterr().out


def test_a_continuum_is_told_without_letters(scene, capfd):
    """As of an arm with a spherical shoulder and wrist."""
    robot = build(family_robot("iiwa"))
    robot.robokin.live = False
    add_target(robot, tip_of(robot))
    assert postures(robot) == {"FINISHED"}
    told = capfd.readouterr().out
    assert "continuum" in told and "q0" not in told


def test_ghosts_stand_where_the_robot_would(puma):
    """At the present values every line is where Blender shows the link's mesh."""
    bone = puma.pose.bones[2]
    mesh = bpy.data.meshes.new("cube")
    mesh.from_pydata([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], [], [(0, 1, 3, 2), (4, 5, 7, 6)])
    cube = bpy.data.objects.new("cube", mesh)
    bpy.context.scene.collection.objects.link(cube)
    cube.parent, cube.parent_type, cube.parent_bone = puma, "BONE", bone.name
    cube.matrix_basis = Matrix.LocRotScale((0.1, 0.2, 0.3), None, (0.5, 0.4, 0.3))
    other = np.array(PUMA) + 0.3
    bpy.context.view_layer.update()
    lines = ghost_lines(puma, binding(puma), np.array([PUMA, other]))
    for q, own in zip((PUMA, other), lines, strict=True):
        write_configuration(puma, np.array(q))
        bpy.context.view_layer.update()
        corners = np.array([cube.matrix_world @ vertex.co for vertex in mesh.vertices])
        away = np.linalg.norm(own.reshape(-1, 1, 3) - corners, axis=2).min(axis=0)
        assert away.max() < 1e-4
    assert abs(lines[0] - lines[1]).max() > 0.1


class Views(Window):
    """Stands in for a window with one 3D view."""

    def __init__(self):
        super().__init__()
        self.headers = []
        view = SimpleNamespace(type="VIEW_3D", regions=[], header_text_set=self.headers.append, tag_redraw=lambda: None)
        self.screen = SimpleNamespace(areas=[view])


@pytest.fixture
def choosing(monkeypatch, puma):
    """The operator with a stand-in for the window: send it events."""
    drawn = []
    monkeypatch.setattr(modal, "has_events", lambda _: True)
    monkeypatch.setattr(all_postures, "has_events", lambda _: True)
    monkeypatch.setattr(Ghosts, "show", lambda self: drawn.append(self))
    monkeypatch.setattr(Ghosts, "hide", lambda self: drawn.remove(self))
    views, outcome = Views(), []

    def run(*events):
        from support.blender.windows import Context

        def execute(operator, context):
            here = Context(context, views)
            outcome[:] = [all_postures.ROBOKIN_OT_postures.invoke(operator, here, None)]
            for event in events:
                assert outcome[0] == {"RUNNING_MODAL"} and drawn
                sent = SimpleNamespace(type=event, value="PRESS", ctrl=False, shift=False, mouse_x=0, mouse_y=0)
                outcome[0] = operator.modal(here, sent)
            return outcome[0]

        with monkeypatch.context() as patch:
            patch.setattr(all_postures.ROBOKIN_OT_postures, "execute", execute)
            postures(puma)
        return outcome[0]

    return SimpleNamespace(run=run, views=views, drawn=drawn)


def test_one_is_chosen_by_the_wheel_and_kept(puma, choosing, auto_keying):
    target = add_target(puma, tip_of(puma))
    q = read_configuration(puma)
    assert choosing.run("WHEELDOWNMOUSE", "RIGHT_ARROW", "WHEELUPMOUSE", "RET") == {"FINISHED"}
    assert not choosing.drawn and choosing.views.headers[-1] is None and choosing.views.texts[-1] is None
    assert any("Posture 2 of" in text and "elbow" in text for text in choosing.views.headers if text)
    assert abs(read_configuration(puma) - q).max() > 0.1
    assert max(world_error(puma, tip_of(puma), target)) < 1e-4
    assert fcurves(puma), "auto keying keys the choice"


@pytest.mark.parametrize("leave", ["ESC", "RIGHTMOUSE"])
def test_leaving_changes_nothing(puma, choosing, leave):
    add_target(puma, tip_of(puma))
    q = read_configuration(puma)
    assert choosing.run("WHEELDOWNMOUSE", leave) == {"CANCELLED"}
    assert not choosing.drawn and choosing.views.headers[-1] is None
    np.testing.assert_array_equal(read_configuration(puma), q)


def test_a_robot_that_is_removed_meanwhile_is_reported(puma, choosing, monkeypatch):
    add_target(puma, tip_of(puma))
    kept = all_postures.take_pose

    def take(*_):
        raise ReferenceError

    monkeypatch.setattr(all_postures, "take_pose", take)
    with pytest.raises(RuntimeError, match="removed meanwhile"):
        choosing.run("RET")
    assert not choosing.drawn and kept


def test_the_mouse_finds_the_ghost_under_it():
    lines = np.zeros((2, 1, 2, 3))
    lines[1, :, :, 0] = 0.5  # to the right
    ghosts = Ghosts(lines, 0)
    for x, found in ((100, 0), (149, 1), (110, 0)):
        assert ghosts.nearest(np.eye(4), (200, 200), (x, 100), 0.5) == found
    ghosts.index = 1
    assert ghosts.nearest(np.eye(4), (200, 200), (100, 10), 1.0) == 1, "far from all the chosen one stays"


def test_many_ghosts_are_lines_from_joint_to_joint_but_for_the_chosen_one(puma):
    bpy.context.view_layer.update()
    for each in range(4):  # link by link a mesh of many edges
        mesh = bpy.data.meshes.new("part")
        grid = np.random.default_rng(each).normal(size=(3000, 3))
        mesh.from_pydata(grid.tolist(), [(i, i + 1) for i in range(2999)], [])
        part = bpy.data.objects.new("part", mesh)
        bpy.context.scene.collection.objects.link(part)
        part.parent, part.parent_type, part.parent_bone = puma, "BONE", puma.pose.bones[each + 1].name
    bpy.context.view_layer.update()
    robot = binding(puma)
    few = Ghosts(ghost_lines(puma, robot, np.array([PUMA])), len(between_links(robot)))
    many = Ghosts(ghost_lines(puma, robot, np.tile(PUMA, (32, 1))), len(between_links(robot)))
    assert many.points.shape[1:] == few.points.shape[1:] and few.points.shape[1] > 20000  # the chosen one is whole
    assert many.faint.shape == (32, 2 * len(between_links(robot)), 3)
    places = forward_kinematics(robot.model, np.array(PUMA))
    for joint, (start, end) in zip(between_links(robot), many.faint[0].reshape(-1, 2, 3), strict=True):
        length = np.linalg.norm(places[joint.parent][:3, 3] - places[joint.child][:3, 3])
        assert abs(np.linalg.norm(end - start) - 1.5 * length) < 1e-5
