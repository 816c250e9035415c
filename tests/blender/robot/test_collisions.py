"""Collisions in the scene: obstacles, shapes made from meshes, what Check and Bake say."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import robot_model
from support.blender.scene_robots import build
from support.problems.obstructed import planar_arm


@pytest.fixture
def arm(scene):
    scene.frame_start, scene.frame_end = 1, 5
    obj = build(planar_arm(2))
    obj.robokin.live = False
    bone = obj.pose.bones["j0"]
    for frame, angle in ((1, 0.0), (5, 1.5)):
        bone.rotation_euler = [angle if not locked else 0.0 for locked in bone.lock_rotation]
        bone.keyframe_insert("rotation_euler", frame=frame)
    return obj


def block(location, size=0.2, name="post"):
    bpy.ops.mesh.primitive_cube_add(size=size, location=location)
    obj = bpy.context.object
    obj.name = name
    return obj


def check(robot, path):
    with bpy.context.temp_override(object=robot, active_object=robot):
        assert bpy.ops.robokin.check(report_path=str(path)) == {"FINISHED"}
    return json.loads(path.read_text())["violations"]


def test_an_obstacle_in_the_way_is_told(arm, tmp_path):
    post = block((0.0, 1.5, 0.0))
    path = tmp_path / "check.json"
    assert check(arm, path) == []
    assert bpy.ops.robokin.obstacle() == {"FINISHED"} and post.robokin.is_obstacle
    found = check(arm, path)
    assert found and {v["kind"] for v in found} == {"collision"}
    assert {tuple(v["links"]) for v in found} == {("l1", "post")}
    assert max(v["depth"] for v in found) <= 0.15 + 1e-6
    summary = arm.robokin.solver.check_summary
    assert "post" in summary and not arm.robokin.solver.check_passed
    assert any("post" in item.reason for item in arm.robokin.solver.check_failures)
    post.location.z = 0.3
    bpy.context.view_layer.update()
    assert check(arm, path) == []


def test_an_obstacle_that_moves_is_met_where_it_is(arm, tmp_path):
    arm.animation_data_clear()
    arm.pose.bones["j0"].rotation_euler = (0.0, 0.0, 0.0)
    ball = block((0.5, 2.0, 0.0), name="ball")
    ball.keyframe_insert("location", frame=1)
    ball.location.y = -2.0
    ball.keyframe_insert("location", frame=5)
    for curve in ball.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    assert bpy.ops.robokin.obstacle() == {"FINISHED"}
    found = check(arm, tmp_path / "check.json")
    assert [(v["frame"], v["half_frame"]) for v in found] == [(3, False)]
    assert found[0]["depth"] == pytest.approx(0.15, abs=1e-6)


def test_shapes_are_made_from_meshes(arm):
    mesh = block((0.5, 0.0, 0.0), 1.0, "hull")
    mesh.scale = (1.0, 0.1, 0.1)
    bpy.context.view_layer.update()
    mesh.parent, mesh.parent_type, mesh.parent_bone = arm, "BONE", "j0"
    bpy.context.view_layer.update()
    mesh.matrix_world = np.diag([1.0, 0.1, 0.1, 1.0]).T
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.fit_collisions(shape="BOX") == {"FINISHED"}
    (shape,) = robot_model(arm).links[1].collisions
    assert sorted(shape.shape.size) == pytest.approx([0.1, 0.1, 1.0], abs=1e-5)
    kept = robot_model(arm).links[2].collisions
    assert len(kept) == 1 and kept[0].shape.radius == 0.05
