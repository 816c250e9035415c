"""Avoid Collisions: Solve and Bake keep links away from obstacles, and say which pair blocks."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from robokin_addon.cli import main
from robokin_addon.properties.bridge import binding, read_configuration, robot_model
from robokin_addon.robokin import forward_kinematics
from robokin_addon.robokin.collision import CollisionModel, Obstacle, Sphere
from robokin_addon.scene.animation.curves import own_keys, write_curves
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_bakes import snapshot
from support.blender.scene_robots import build
from support.blender.windows import called
from support.problems.obstructed import at, planar_arm

START = np.array([-0.6, 1.2, -1.2, 1.0])
LAST = 16
FACETS = 2e-3  # [m] by how much the mesh of the ball is inside a sphere


@pytest.fixture
def arm(scene):
    """A hand that goes along x; a ball on the way of an elbow."""
    scene.frame_start, scene.frame_end = 1, LAST
    obj = build(planar_arm(4))
    obj.robokin.live = False
    write_curves(obj, [1], START[None], False, binding(obj))
    scene.frame_set(1)
    hand = forward_kinematics(robot_model(obj), START)["l3"][:3, 3]
    bpy.ops.object.empty_add(location=hand.tolist())
    target = bpy.context.object
    target.keyframe_insert("location", frame=1)
    target.location.x -= 0.6
    target.keyframe_insert("location", frame=LAST)
    scene.frame_set(1)
    task = obj.robokin.tasks.add()
    task.name, task.kind, task.tip, task.target = "hand", "POSITION", "j3", target
    elbow = forward_kinematics(robot_model(obj), START)["l2"][:3, 3]
    bpy.ops.mesh.primitive_uv_sphere_add(
        segments=24, ring_count=12, radius=0.1, location=(elbow[0] - 0.2, elbow[1] + 0.2, 0.0)
    )
    bpy.context.object.name = "ball"
    assert bpy.ops.robokin.obstacle() == {"FINISHED"}
    bpy.context.view_layer.objects.active = obj
    return obj


def clearances(obj, q):
    ball = bpy.data.objects["ball"]
    collisions = CollisionModel(robot_model(obj), [Obstacle("ball", Sphere(0.1), at(*ball.location))])
    return collisions.distances(q)[0][..., 0].min(axis=1)


def baked(obj, **options):
    assert called(bpy.ops.robokin.bake, obj, **options) == {"FINISHED"}
    return finish(sample_motion(bpy.context.scene, obj, range(1, LAST + 1), binding(obj))).q


def test_a_bake_goes_around_and_is_the_same_as_ever_without(arm):
    plain, before = baked(arm), snapshot(bpy.context.scene, arm)
    assert clearances(arm, plain).min() < 0.0
    arm.robokin.solver.avoid_collisions, arm.robokin.solver.collision_margin = True, 0.02
    avoiding = baked(arm)
    assert clearances(arm, avoiding).min() >= 0.02 - FACETS
    ends = [forward_kinematics(robot_model(arm), q)["l3"][:3, 3] for q in (plain[-1], avoiding[-1])]
    np.testing.assert_allclose(*ends, atol=1e-4)
    assert not arm.robokin.solver.bake_failures or all(not item.status for item in arm.robokin.solver.bake_failures)
    arm.robokin.solver.avoid_collisions = False
    baked(arm)
    assert snapshot(bpy.context.scene, arm)[1] == before[1]


def test_a_target_inside_an_obstacle_is_blocked_by_it(arm):
    ball, target = bpy.data.objects["ball"], arm.robokin.tasks[0].target
    target.animation_data_clear()
    target.location = ball.location
    bpy.context.view_layer.update()
    settings = arm.robokin.solver
    settings.avoid_collisions = True
    assert called(bpy.ops.robokin.solve_pose, arm) == {"FINISHED"}
    assert settings.status == "COLLISION" and "ball" in settings.reason
    assert clearances(arm, read_configuration(arm)[None]).min() >= 0.005 - FACETS
    baked(arm)
    failures = [item for item in settings.bake_failures if item.status]
    assert failures and {item.status for item in failures} <= {"COLLISION", "LIMIT"}
    assert any("ball" in item.reason for item in failures)


def test_a_pose_is_solved_away_from_the_obstacle(arm):
    bpy.context.scene.frame_set(LAST)
    arm.robokin.solver.avoid_collisions = True
    assert called(bpy.ops.robokin.solve_pose, arm) == {"FINISHED"}
    assert arm.robokin.solver.status == "CONVERGED"
    assert clearances(arm, read_configuration(arm)[None]).min() >= 0.005 - FACETS


def test_a_whole_motion_goes_around_at_frames_and_half_frames(arm):
    settings = arm.robokin.solver
    settings.avoid_collisions, settings.bake_mode = True, "WHOLE"
    q = baked(arm)
    assert settings.bake_status == "CONVERGED" and "optimal" in settings.bake_reason, settings.bake_reason
    assert clearances(arm, np.concatenate((q, 0.5 * (q[1:] + q[:-1])))).min() >= 0.005 - FACETS
    target = arm.robokin.tasks[0].target
    target.animation_data_clear()
    target.location = bpy.data.objects["ball"].location
    bpy.context.view_layer.update()
    assert clearances(arm, baked(arm)).min() >= 0.005 - FACETS
    found = [item for item in settings.bake_failures if item.status == "COLLISION"]
    assert found and "ball" in found[0].reason, settings.bake_reason


def test_solve_again_goes_around_too(arm):
    """First a bake that looked at nothing, then keys that were dragged into the ball."""
    plain = baked(arm)
    inside = np.flatnonzero(clearances(arm, plain) < 0.0)
    arm.robokin.solver.avoid_collisions = True
    assert len(inside) and called(bpy.ops.robokin.solve_again, arm) == {"FINISHED"}
    q = finish(sample_motion(bpy.context.scene, arm, range(1, LAST + 1), binding(arm))).q
    assert clearances(arm, q).min() >= 0.0
    curve = fcurves(arm)[sorted(own_keys(binding(arm)))[0]]
    for point in curve.keyframe_points:
        point.co.y += 0.25 * (7 <= point.co.x <= 9)
    curve.update()
    dragged = finish(sample_motion(bpy.context.scene, arm, range(1, LAST + 1), binding(arm))).q
    assert (np.flatnonzero(clearances(arm, dragged) < 0.0) + 1).tolist() == [7, 8, 9]
    assert called(bpy.ops.robokin.solve_again, arm) == {"FINISHED"}
    again = finish(sample_motion(bpy.context.scene, arm, range(1, LAST + 1), binding(arm))).q
    assert clearances(arm, again).min() >= 0.0
    np.testing.assert_allclose(again, q, atol=0.05)


def test_as_commands(arm, tmp_path, capsys):
    path, out, report = tmp_path / "arm.blend", tmp_path / "out.blend", tmp_path / "report.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    arm.robokin.solver.avoid_collisions, own = True, tmp_path / "own.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(own))
    given = ["bake", str(path), "--frames", f"1:{LAST}", "-o", str(out), "--json", str(report)]
    assert main([*given, "--avoid"]) == 0
    assert json.loads(report.read_text())["violations"] == []
    assert main([*given, "--no-avoid"]) == 1
    hits = json.loads(report.read_text())["violations"]
    x, y, z = bpy.data.objects["ball"].location
    inside = f"kind=position,tip=l3,target={x:.4f}:{y:.4f}:{z:.4f}"
    assert main([*given, "--avoid", "--only-given", "--task", inside]) == 1
    stopped = [each for each in json.loads(report.read_text())["failures"] if each["status"] == "COLLISION"]
    for each in (*hits, *stopped):  # a depth is told in the same words of what happened and what would have
        assert "ball" in each["links"] and len(each["links"]) == 2 and isinstance(each["depth"], float)
    assert hits and stopped and min(each["depth"] for each in hits) > 0.0
    task = f"kind=position,tip=l3,target={x:.4f}:{y:.4f}:{z:.4f}"
    assert main(["solve", str(path), "--task", task, "--avoid", "--json", str(report)]) == 1
    assert json.loads(report.read_text())["status"] == "COLLISION"
    assert main(["solve", str(path), "--task", task, "--avoid", "--margin", "0.05", "--json", str(report)]) == 1
    q = [json.loads(report.read_text())["q"][f"j{i}"] for i in range(4)]
    robot = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    assert 0.05 - FACETS <= clearances(robot, np.array([q]))[0] < 0.06
    assert main(["solve", str(own), "--task", task]) == 0  # it avoids where it is asked to
