"""Live beside obstacles: with Avoid Collisions the robot keeps its margin at every move of a target."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, read_configuration, robot_model
from robokin_addon.properties.results import readouts
from robokin_addon.robokin import forward_kinematics
from robokin_addon.robokin.collision import CollisionModel, Obstacle, Sphere
from robokin_addon.scene import obstacle_shapes
from robokin_addon.scene.animation.curves import write_curves
from support.blender.scene_robots import add_target, build
from support.problems.obstructed import at, planar_arm

START = np.array([-0.6, 1.2, -1.2, 1.0])
MARGIN, FACETS = 0.02, 2e-3


@pytest.fixture
def arm(scene):
    """A hand that can go along x; a ball on the way of an elbow."""
    obj = build(planar_arm(4))
    write_curves(obj, [1], START[None], False, binding(obj))
    scene.frame_set(1)
    frames = forward_kinematics(robot_model(obj), START)
    bpy.ops.object.empty_add(location=frames["l3"][:3, 3].tolist())
    target = bpy.context.object
    target.name = "target"
    task = obj.robokin.tasks.add()
    task.name, task.kind, task.tip, task.target = "hand", "POSITION", "j3", target
    elbow = frames["l2"][:3, 3]
    bpy.ops.mesh.primitive_uv_sphere_add(
        segments=24, ring_count=12, radius=0.1, location=(elbow[0] - 0.2, elbow[1] + 0.2, 0.0)
    )
    bpy.context.object.name = "ball"
    assert bpy.ops.robokin.obstacle() == {"FINISHED"}
    obj.robokin.solver.avoid_collisions, obj.robokin.solver.collision_margin = True, MARGIN
    bpy.context.view_layer.update()
    return obj


def clearance(obj):
    ball = bpy.data.objects["ball"]
    collisions = CollisionModel(robot_model(obj), [Obstacle("ball", Sphere(0.1), at(*ball.matrix_world.translation))])
    return collisions.distances(read_configuration(obj)[None])[0][..., 0].min()


def drag(obj, name, steps, by, axis="x"):
    """The least clearance on the way of an object that is moved in steps."""
    moved, found = bpy.data.objects[name], []
    for _ in range(steps):
        setattr(moved.location, axis, getattr(moved.location, axis) + by / steps)
        bpy.context.view_layer.update()
        found.append(clearance(obj))
    return min(found)


def test_a_drag_goes_around_an_obstacle(arm):
    start = bpy.data.objects["target"].location.copy()
    assert drag(arm, "target", 20, -0.6) >= MARGIN - FACETS
    assert arm.robokin.solver.status == "CONVERGED" and readouts.live(arm).is_met
    arm.robokin.solver.avoid_collisions = False
    bpy.data.objects["target"].location = start
    write_curves(arm, [1], START[None], False, binding(arm))
    bpy.context.scene.frame_set(1)
    assert drag(arm, "target", 20, -0.6) < 0.0


def test_a_target_inside_an_obstacle_is_not_reached_and_it_says_why(arm):
    target, ball = bpy.data.objects["target"], bpy.data.objects["ball"]
    for share in np.linspace(0.1, 1.0, 10):
        target.location = target.location.lerp(ball.location, share)
        bpy.context.view_layer.update()
        assert clearance(arm) >= MARGIN - FACETS
    assert arm.robokin.solver.status == "COLLISION" and "ball" in readouts.live(arm).text


def test_an_obstacle_that_comes_pushes_the_robot_away(arm, monkeypatch):
    """The mesh is read once, however often it moves, and again when it is edited."""
    read = []
    original = obstacle_shapes.triangles_of
    monkeypatch.setattr(obstacle_shapes, "triangles_of", lambda owner: read.append(owner.name) or original(owner))
    drag(arm, "ball", 1, -0.01, "y")
    read.clear()
    before = read_configuration(arm)
    assert drag(arm, "ball", 12, -0.14, "y") >= MARGIN - FACETS
    assert abs(read_configuration(arm) - before).max() > 0.01 and read == []
    ball = bpy.data.objects["ball"]
    for vertex in ball.data.vertices:
        vertex.co *= 1.3
    ball.data.update()
    bpy.context.view_layer.update()
    assert read == ["ball"] and clearance(arm) >= MARGIN + 0.03 - FACETS


def test_nobody_waits_for_a_mesh_that_takes_long(arm, monkeypatch):
    """The robot stands until its parts are made, a piece at each look, and says so."""
    monkeypatch.setattr(obstacle_shapes, "_patience", lambda: 0.0)
    before, looks = read_configuration(arm), 0
    bpy.ops.mesh.primitive_torus_add(location=(0.0, 9.0, 0.0))
    bpy.context.object.robokin.is_obstacle = True
    bpy.data.objects["target"].location.x -= 0.1
    bpy.context.view_layer.update()
    while "are being made" in readouts.live(arm).text:
        assert np.array_equal(read_configuration(arm), before)
        arm.update_tag()
        bpy.context.view_layer.update()
        looks += 1
    assert looks > 5 and arm.robokin.solver.status == "CONVERGED"
    assert abs(read_configuration(arm) - before).max() > 0.01


def test_what_another_robot_carries_is_where_that_has_brought_it(arm):
    """In the same update, and not in the one after it."""
    ball, target = bpy.data.objects["ball"], bpy.data.objects["target"]
    other = build(planar_arm(2))
    other.location = ball.matrix_world.translation
    other.location.x -= 1.0
    bpy.context.view_layer.update()
    add_target(other, "j1", "POSITION")
    hook = other.robokin.tasks[0].target
    bpy.context.view_layer.update()
    world = ball.matrix_world.copy()
    ball.parent, ball.parent_type, ball.parent_bone = other, "BONE", "j1"
    bpy.context.view_layer.update()
    ball.matrix_world = world
    other.robokin.live = arm.robokin.live = True
    target.location.x += 0.01
    bpy.context.view_layer.update()
    before, at_first = read_configuration(arm), ball.matrix_world.translation.y
    for _ in range(8):
        hook.location.y -= 0.02
        bpy.context.view_layer.update()
        assert clearance(arm) >= MARGIN - FACETS
    assert ball.matrix_world.translation.y < at_first - 0.05
    assert abs(read_configuration(arm) - before).max() > 0.01
