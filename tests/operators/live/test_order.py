"""One robot carries the target of another, or what it keeps away from: it is posed first, whatever says so last."""

from __future__ import annotations

import math

import bpy
import pytest
from robokin_addon.operators.live import events
from support.blender.scene_robots import TOOL, add_robot, add_target


def update() -> None:
    bpy.context.view_layer.update()


def on_tip(obj, robot) -> None:
    """It hangs on the tip, and stays where it is."""
    there = obj.matrix_world.copy()
    obj.parent, obj.parent_type, obj.parent_bone = robot, "BONE", TOOL
    update()
    obj.matrix_world = there
    update()


@pytest.fixture
def robots(scene):
    """The second one that is made carries what the first one looks at."""
    follower, carrier = add_robot(live=True), add_robot(live=True)
    carrier.rotation_euler.z, carrier.location.x = math.pi, 1.05
    update()
    return follower, carrier


def test_a_target_that_hangs_on_a_robot_once_its_constraint_is_muted(robots):
    follower, carrier = robots
    target, lead = add_target(follower), add_target(carrier)
    follower.robokin.tasks[0].kind, follower.robokin.live = "POSITION", False
    on_tip(target, carrier)
    constraint = target.constraints.new("LIMIT_SCALE")
    follower.robokin.live = True
    update()
    update()
    constraint.mute = True
    update()
    for _ in range(3):
        lead.location.z -= 0.02
        update()
        tip = (follower.matrix_world @ follower.pose.bones[TOOL].matrix).translation
        assert (tip - target.matrix_world.translation).length < 2e-4


def test_an_obstacle_that_hangs_on_a_robot_once_it_is_marked(robots, monkeypatch):
    follower, carrier = robots
    for robot in robots:
        add_target(robot)
    bpy.ops.mesh.primitive_cube_add(size=0.05, location=(0.5, 0.9, 0.6))
    box = bpy.context.object
    on_tip(box, carrier)
    follower.robokin.solver.avoid_collisions = True
    update()
    orders = []
    follow = events._follow_all
    monkeypatch.setattr(events, "_follow_all", lambda *a: (orders.append([obj.name for obj in a[2]]), follow(*a)))
    box.robokin.is_obstacle = True
    update()
    assert orders[-1] == [carrier.name, follower.name]
