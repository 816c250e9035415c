"""Tasks as people edit them: new ones, what is missing or wrong, bones that are renamed, what the panel reads."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Vector
from robokin_addon.operators.handlers import criterion_readouts
from robokin_addon.properties.bridge import read_configuration
from robokin_addon.properties.results import readouts
from robokin_addon.properties.results.readouts import CriterionReadout
from robokin_addon.properties.task_kinds import KINDS
from robokin_addon.scene.tasks import shown_shapes
from support.blender.drawing import while_blender_draws, writes_refused
from support.blender.scene_robots import add_empty, add_robot, placed
from support.blender.scene_tasks import (
    HAND,
    add,
    angle,
    ball,
    bezier,
    head,
    mesh_object,
    place,
    polyline,
    shown,
    solve,
)

ELBOW, WRIST = "panda_joint4", "panda_joint6"


@pytest.fixture
def robot(scene):
    """A Panda that is turned, moved and shown at twice its size."""
    return placed(add_robot(), (1, -2, 0.5), (0.2, -0.1, 0.7), 2.0)


def test_numbers_stay():
    numbers = [kind.number for kind in KINDS.values()]
    assert len(set(numbers)) == len(numbers)
    saved = ("POSE", "POSITION", "ORIENTATION", "AXIS", "AIM", "PLANE", "LINE", "CURVE", "DISTANCE", "LASER")
    saved += ("RELATIVE", "PIN", "LOOP", "CENTER_OF_MASS", "SUPPORT", "POSTURE", "JOINT", "ALONG_CURVE", "TWIST")
    assert [KINDS[kind].number for kind in (*saved, "JOINT_VELOCITY", "ADVANCE", "LINEAR_VELOCITY")] == list(range(22))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind].is_velocity])
def test_velocities_are_left_out_of_a_pose_and_reported(robot, kind):
    path = bezier(robot, (0.5, 0.1, 0.5)) if kind == "ALONG_CURVE" else None
    add(robot, kind, path)
    name = robot.robokin.tasks[0].name
    with pytest.raises(RuntimeError, match=f"there is no task to solve for.*only a bake can meet velocities: '{name}'"):
        bpy.ops.robokin.solve_pose()
    add(robot, "POSITION")
    solve(robot)
    assert robot.robokin.solver.reason.endswith(f"(left out, since only a bake can meet velocities: '{name}')")
    assert not robot.robokin.tasks[0].solved


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind].target and not KINDS[kind].is_velocity])
def test_a_new_target_is_of_use(robot, kind):
    assert bpy.ops.robokin.target_add(kind=kind, tip=HAND) == {"FINISHED"}
    task = robot.robokin.tasks[-1]
    assert bpy.context.object == task.target and task.target.select_get()
    with bpy.context.temp_override(object=robot):
        solve(robot)
    if kind == "DISTANCE":
        assert task.distance > 0.3
    if kind in ("AIM", "LASER"):
        assert (head(robot) - task.target.location).length > 0.3


def test_kinds_without_target_say_so(robot):
    for kind in (kind for kind in KINDS if not KINDS[kind].target):
        with pytest.raises(RuntimeError, match="has no target: use Add Task"):
            bpy.ops.robokin.target_add(kind=kind, tip=HAND)
    assert not robot.robokin.tasks


def test_what_is_missing_or_wrong_is_one_line_with_the_tasks_name(robot):
    cube = mesh_object("cube", bpy.data.meshes.new("cube"))
    path = bezier(robot, (0.5, 0, 0))
    thick = bezier(robot, (0.5, 0, 0), bevel_depth=0.1)
    thick.name = "thick"
    thick.modifiers.new("more", "ARRAY")
    welded = mesh_object("welded", polyline([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 0, 0), (0, 0, 1), (0, 1, 1)]))
    welded.modifiers.new("one", "WELD")
    dot = mesh_object("dot", polyline([(0, 0, 0)]))
    bpy.context.view_layer.update()
    hung = add_empty("hung", robot)
    hung.parent_type, hung.parent_bone = "BONE", HAND
    cases = [
        ("CURVE", {"target": cube}, "its target 'cube' is of type mesh, not a curve"),
        ("CURVE", {"target": dot}, "its curve 'dot' has no spline of two points or more"),
        ("CURVE", {"target": thick}, "'thick' has faces with its modifiers: give it no bevel, extrusion or fill"),
        (
            "CURVE",
            {"target": welded},
            "'welded' is not made of lines with its modifiers: disable those",
        ),
        ("CURVE", {}, "has no target: choose a curve$"),
        ("SUPPORT", {"target": path}, "its target 'path' is of type curve, not a mesh"),
        ("SUPPORT", {"target": cube}, "has fewer than 3 vertices"),
        ("LASER", {"target": path, "surface": cube}, "its surface 'cube' has no faces"),
        ("AIM", {"target": hung}, "follows a bone of 'panda' itself, a cycle"),
        ("RELATIVE", {}, "has no other bone"),
        ("LOOP", {"other": HAND}, f"'{HAND}' is both of its bones"),
        ("DISTANCE", {"other": "nose"}, "no other bone of task 'the one' named 'nose'"),
        ("POSTURE", {}, "has no posture: choose a stored one"),
        ("POSTURE", {"posture": "sleep"}, "no posture of task 'the one' named 'sleep'"),
        ("AIM", {"position_weight": 0.0, "orientation_weight": 0.0}, "weight must be a positive number"),
        ("LINE", {"target": cube, "position_weight": 0.0}, "weight must be a positive number"),
        ("PIN", {"use_location": (False,) * 3, "use_rotation": (False,) * 3}, "every axis is free"),
    ]
    before = read_configuration(robot)
    for kind, settings, message in cases:
        target = settings.pop("target", None)
        task = add(robot, kind, target)
        task.name = "the one"
        for name, value in settings.items():
            setattr(task, name, value)
        with pytest.raises(RuntimeError, match=message) as caught:
            bpy.ops.robokin.solve_pose()
        line = str(caught.value).strip().removeprefix("Error: ")
        assert "\n" not in line and "the one" in line, line
        assert bpy.ops.robokin.task_remove() == {"FINISHED"}
    np.testing.assert_array_equal(read_configuration(robot), before)


def test_bones_are_followed_when_they_are_renamed(robot):
    task = add(robot, "RELATIVE", other=ELBOW)
    robot.data.bones[ELBOW].name = "elbow"
    robot.data.bones[HAND].name = "hand"
    solve(robot)
    assert (task.tip, task.other) == ("hand", "elbow")


def test_set_from_pose(robot):
    task = add(robot, "POSE")
    bpy.ops.robokin.reset_pose()
    bpy.context.view_layer.update()
    assert bpy.ops.robokin.task_from_pose() == {"FINISHED"}
    assert (task.location - head(robot)).length < 1e-4
    task.use_target, task.target = True, add_empty("goal")
    with pytest.raises(RuntimeError, match="asks for nothing that the pose could say"):
        bpy.ops.robokin.task_from_pose()


@pytest.mark.parametrize("kind", [kind for kind, own in KINDS.items() if own.target == "POSE" and not own.is_velocity])
def test_what_a_new_task_asks_for_is_met_now(robot, kind):
    task = add(robot, kind, **({"axis": "-X"} if kind in ("AXIS", "AIM", "LASER") else {}))
    assert bpy.ops.robokin.task_from_pose() == {"FINISHED"}
    before = read_configuration(robot)
    solve(robot)
    np.testing.assert_allclose(read_configuration(robot), before, atol=1e-5)
    if kind in ("AIM", "LASER"):
        assert (task.location - head(robot)).length > 0.1
        away = np.array(task.location - head(robot))
        assert angle(shown(robot)[:3, 0], -away) < 1e-4


def test_a_laser_asks_for_the_spot_on_its_surface(robot):
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=robot.matrix_world @ Vector((0.9, 0, 0.4)))
    cube = bpy.context.object
    bpy.context.view_layer.objects.active = robot
    task = add(robot, "LASER", axis="X", surface=cube)
    assert bpy.ops.robokin.task_from_pose() == {"FINISHED"}
    T = shown(robot)
    inside = cube.matrix_world.inverted()
    hit, at, *_ = cube.ray_cast(inside @ Vector(T[:3, 3]), inside.to_3x3() @ Vector(T[:3, 0]))
    assert hit and (task.location - cube.matrix_world @ at).length < 1e-4


def test_residuals_are_those_of_the_parts_in_the_scenes_units(robot):
    """A laser that cannot reach its spot, and a posture beside a limit."""
    goal = place(robot, (0.4, 0.2, 0.3))
    task = add(robot, "DISTANCE", goal, distance=50.0)
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert robot.robokin.solver.status != "CONVERGED" and not task.reached
    off = 50.0 - (head(robot) - goal.location).length
    assert task.position_residual == pytest.approx(off, rel=1e-4) and task.orientation_residual == 0.0


def drawn(robot):
    with writes_refused():
        return readouts.criteria(robot)


@pytest.mark.parametrize("kind", list(KINDS))
def test_criteria_are_read_beside_every_kind(robot, kind, monkeypatch):
    """While the panel draws nothing is written and no shape is read; a timer does so, and then there is a cost."""
    goal = bezier(robot, (0.5, 0.1, 0.5)) if KINDS[kind].target == "CURVE" else place(robot, (0.5, 0.1, 0.5))
    if kind == "SUPPORT":
        goal = ball(robot, (0, 0, 0), 0.2)
    tip = WRIST if KINDS[kind].tip == "Bone" else HAND
    task = add(robot, kind, goal, tip, other=ELBOW if KINDS[kind].other else "")
    task.posture = robot.robokin.postures[0].name
    assert bpy.ops.robokin.criterion_add(kind="MANIPULABILITY") == {"FINISHED"}
    while_blender_draws(monkeypatch)
    monkeypatch.setattr(shown_shapes, "_shapes", {})
    (shown_cost,) = drawn(robot)
    assert (shown_cost.cost is None) == (kind in ("SUPPORT", "CURVE", "ALONG_CURVE")) and not shown_cost.problem
    criterion_readouts._compute_waiting()
    assert drawn(robot)[0].cost is not None


def test_a_shape_that_cannot_be_read_is_reported_until_it_can(robot, monkeypatch):
    """Once, by the timer; and no more while nothing changes."""
    mesh = bpy.data.meshes.new("points")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0)], [], [])
    points = mesh_object("points", mesh)
    add(robot, "SUPPORT", points)
    assert bpy.ops.robokin.criterion_add(kind="MANIPULABILITY") == {"FINISHED"}
    while_blender_draws(monkeypatch)
    assert drawn(robot)[0] == CriterionReadout(None)
    criterion_readouts._compute_waiting()
    (told,) = drawn(robot)
    assert told.cost is None and "points" in told.problem
    assert not criterion_readouts._waiting
    mesh.clear_geometry()
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [])
    mesh.update()
    bpy.context.view_layer.update()
    drawn(robot)
    criterion_readouts._compute_waiting()
    assert drawn(robot)[0].cost is not None


def test_nothing_is_written_while_blender_draws(robot, monkeypatch):
    """Which it refuses with an error: also right after a bone of a task was renamed, before anything else is run."""
    task = add(robot, "RELATIVE", other=ELBOW)
    assert bpy.ops.robokin.criterion_add(kind="MANIPULABILITY") == {"FINISHED"}
    robot.data.bones[ELBOW].name = "elbow"
    (told,) = drawn(robot)
    assert task.other == ELBOW and ELBOW in told.problem
    bpy.context.view_layer.update()
    assert task.other == "elbow"
    assert readouts.criteria(robot)[0].cost is not None


def test_one_shape_is_kept_of_an_object_that_grows(robot):
    goal = bezier(robot, (0.5, 0.1, 0.5))
    add(robot, "CURVE", goal)
    assert bpy.ops.robokin.criterion_add(kind="MANIPULABILITY") == {"FINISHED"}
    costs = []
    for scale in (1.0, 1.2, 1.4):
        goal.scale = (scale,) * 3
        bpy.context.view_layer.update()
        costs.append(readouts.criteria(robot)[0].cost)
    assert len(set(costs)) == 3
    assert len(shown_shapes._shapes) == 1
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not shown_shapes._shapes


def test_the_cost_follows_a_target_that_moves(robot):
    goal = place(robot, (0.9, 0.5, 0.3))
    add(robot, "AIM", goal)
    assert bpy.ops.robokin.criterion_add(kind="MANIPULABILITY") == {"FINISHED"}
    before = readouts.criteria(robot)[0].cost
    goal.location += Vector((0.0, 0.0, 0.8))
    bpy.context.view_layer.update()
    assert readouts.criteria(robot)[0].cost != before
