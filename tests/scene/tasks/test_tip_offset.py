"""The tip of a task may lie beside its bone: what Blender shows of that place meets the target."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector
from robokin_addon.properties.bridge import binding
from robokin_addon.properties.results.same_tip import tasks_on_same_tip
from robokin_addon.properties.task_kinds import KINDS
from robokin_addon.scene.tasks.solver_tasks import SolverTasks
from robokin_addon.scene.tasks.targets import targets_now
from support.blender.scene_robots import add_robot, placed
from support.blender.scene_tasks import add, angle, place, shown, solve, world

NEAR, TURNED = 3e-4, 2e-3
LOCATION, ROTATION = (0.06, -0.04, 0.1), (0.3, -0.5, 0.8)


@pytest.fixture
def robot(scene):
    """A Panda that is turned, moved and shown at twice its size: offsets are in Blender units, as targets are."""
    return placed(add_robot(), (1, -2, 0.5), (0.2, -0.1, 0.7), 2.0)


def tip(robot, location=LOCATION, rotation=ROTATION):
    """(4, 4) of the offset tip in the world, from the matrices that Blender shows."""
    return shown(robot) @ np.array(Matrix.LocRotScale(Vector(location), Euler(rotation), None))


def test_a_pose(robot):
    goal = place(robot, (0.5, 0.2, 0.4), (0.3, 2.8, 0.1))
    add(robot, "POSE", goal, offset_location=LOCATION, offset_rotation=ROTATION)
    solve(robot)
    found, wanted = tip(robot), world(goal)
    assert np.linalg.norm(found[:3, 3] - wanted[:3, 3]) < NEAR
    assert angle(found[:3, 0], wanted[:3, 0]) < TURNED and angle(found[:3, 1], wanted[:3, 1]) < TURNED


def test_two_beams_of_one_tool(robot):
    """The two lasers of the main paper (section 4): no bone for either beam."""
    goals = place(robot, (0.5, 0.15, 0.0)), place(robot, (0.45, -0.2, 0.0))
    offsets = ((0.05, 0.0, 0.1), (0.2, 0.0, 0.0)), ((-0.05, 0.0, 0.1), (-0.2, 0.1, 0.0))
    for goal, (location, rotation) in zip(goals, offsets, strict=True):
        add(robot, "LASER", goal, axis="Z", offset_location=location, offset_rotation=rotation)
    solve(robot)
    for goal, (location, rotation) in zip(goals, offsets, strict=True):
        T, plane = tip(robot, location, rotation), world(goal)
        t = plane[:3, 2] @ (plane[:3, 3] - T[:3, 3]) / (plane[:3, 2] @ T[:3, 2])
        assert t > 0 and np.linalg.norm(T[:3, 3] + t * T[:3, 2] - plane[:3, 3]) < NEAR


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.offset == ("offset_location",)])
def test_kinds_of_a_point_take_its_place(robot, kind):
    if kind in ("CURVE", "ALONG_CURVE"):
        curve = bpy.data.objects.new("curve", bpy.data.curves.new("curve", "CURVE"))
        curve.data.splines.new("POLY").points.add(1)
        curve.data.splines[0].points[1].co = (1.0, 0.0, 0.0, 1.0)
        bpy.context.scene.collection.objects.link(curve)
        goal = curve
    else:
        goal = place(robot, (0.5, 0.1, 0.3))
    task = add(robot, kind, goal, offset_location=LOCATION)
    _, (made,) = SolverTasks(robot, binding(robot), [task]).at(
        targets_now(bpy.context, robot, [task], robot=binding(robot))
    )
    np.testing.assert_allclose(made.offset[:3, 3], np.array(LOCATION) / 2.0, atol=1e-7)


def test_set_from_pose_and_snap_take_the_offset_tip(robot):
    task = add(robot, "POSE", offset_location=LOCATION, offset_rotation=ROTATION)
    bpy.ops.robokin.task_from_pose()
    np.testing.assert_allclose(np.array(task.location), tip(robot)[:3, 3], atol=1e-5)
    task.use_target, task.target = True, place(robot, (0.5, 0.2, 0.4))
    bpy.ops.robokin.snap_targets()
    np.testing.assert_allclose(world(task.target)[:3, 3], tip(robot)[:3, 3], atol=1e-5)


def test_two_places_of_one_tool_are_no_rivals(robot):
    first, second = add(robot, "POSITION"), add(robot, "POSITION", offset_location=LOCATION)
    assert tasks_on_same_tip(robot, second) == []
    second.offset_location = (0.0, 0.0, 0.0)
    assert tasks_on_same_tip(robot, second) == [first.name]
