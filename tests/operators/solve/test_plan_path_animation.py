"""Plan Path: from pose to pose of the timeline around obstacles."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from robokin_addon.cli import main
from robokin_addon.operators.solve import plan_path
from robokin_addon.operators.solve.plan_path import ROBOKIN_OT_plan_path
from robokin_addon.properties.bridge import binding
from robokin_addon.properties.results.stored_results import store_bake_result
from robokin_addon.properties.results.why import remedies
from robokin_addon.robokin import RobokinError, forward_kinematics
from robokin_addon.robokin.collision import CollisionModel, Hull, Obstacle
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.scene.collisions import clearance_of, collisions_over
from robokin_addon.solvers.motion.check import check_motion
from robokin_addon.solvers.progress import finish
from support.blender.panels import draw, draw_popover
from support.blender.scene_bakes import snapshot
from support.blender.scene_robots import add_target, build, world_error
from support.blender.windows import called, window
from support.problems.obstructed import around_a_post, at, planar_arm

LAST = 60


@pytest.fixture
def arm(scene):
    scene.frame_start, scene.frame_end = 1, LAST
    obj = build(planar_arm(3))
    obj.robokin.live = False
    _, q0, q1 = around_a_post()
    write_curves(obj, range(1, LAST + 1, LAST - 1), np.stack((q0, q1)), False, binding(obj))
    bpy.ops.mesh.primitive_cylinder_add(radius=0.1, depth=1.0, location=(1.2, 0.9, 0.0))
    bpy.context.object.name = "post"
    assert bpy.ops.robokin.obstacle() == {"FINISHED"}
    return obj


def seen():
    robot = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    return finish(sample_motion(bpy.context.scene, robot, range(1, LAST + 1), binding(robot)))


def test_the_poses_stay_and_the_way_between_is_free_and_legal(arm):
    post = bpy.data.objects["post"]
    before = seen()
    hull = Hull([tuple(v.co) for v in post.data.vertices])
    collisions = CollisionModel(before.model, [Obstacle("post", hull, at(1.2, 0.9))])
    assert check_motion(before, collisions=collisions).violations
    assert called(bpy.ops.robokin.plan_path, arm) == {"FINISHED"}
    after = seen()
    np.testing.assert_allclose(after.q[[0, -1]], before.q[[0, -1]], atol=1e-6)
    assert check_motion(after, float32=True, collisions=collisions).violations == ()
    assert collisions.distances(after.q)[0][..., 0].min() >= 0.005 - 1e-5
    arm.robokin.solver.collision_margin = 0.05
    assert called(bpy.ops.robokin.plan_path, arm) == {"FINISHED"}
    assert collisions.distances(seen().q)[0][..., 0].min() >= 0.05 - 1e-5
    assert called(bpy.ops.robokin.plan_path, arm, margin=0.07) == {"FINISHED"}
    assert collisions.distances(seen().q)[0][..., 0].min() >= 0.07 - 1e-5


def test_limits_that_are_animated_are_kept_whatever_frame_is_shown(arm):
    joint = arm.data.bones["j0"].robokin
    for name, ends in (("velocity", (4.0, 1.5)), ("upper", (3.0, 1.0))):
        for frame, limit in zip((1, LAST), ends, strict=True):
            setattr(joint, name, limit)
            arm.data.keyframe_insert(f'bones["j0"].robokin.{name}', frame=frame)
        bpy.context.scene.frame_set(1)
        said = called(bpy.ops.robokin.plan_path, arm)
        if name == "velocity":
            assert said == {"FINISHED"} and 0.5 < abs(seen().v[:, 0]).max() <= 1.5 + 1e-5
    assert "frame 60: 'j0' is outside its position limits in frames 1 to 60" in said


def test_the_margin_is_a_length_of_the_world_that_a_scaled_robot_stands_in(arm, monkeypatch):
    arm.scale = (2.0, 2.0, 2.0)
    arm.robokin.solver.collision_margin = 0.05
    bpy.context.view_layer.update()
    collisions = CollisionModel(binding(arm).model)
    assert clearance_of(arm, binding(arm), collisions).margin == pytest.approx(0.025)

    def planned(scene, view_layer, obj, robot, first, last, margin, *others):
        raise RobokinError(f"asked for {margin:g}")

    monkeypatch.setattr(plan_path, "plan_steps", planned)
    assert "asked for 0.025" in called(bpy.ops.robokin.plan_path, arm)


def test_where_there_is_none_nothing_is_written(arm, capfd):
    before = snapshot(bpy.context.scene, arm)
    assert called(bpy.ops.robokin.plan_path, arm, budget=1) == {"FINISHED"}
    assert "no path between frames 1 and 60" in capfd.readouterr().out
    post = bpy.data.objects["post"]
    post.keyframe_insert("location", frame=1)
    post.location.x = 3.0
    post.keyframe_insert("location", frame=30)
    assert "'post' moves" in called(bpy.ops.robokin.plan_path, arm)
    assert snapshot(bpy.context.scene, arm)[1] == before[1]


def test_too_few_frames_are_refused_with_how_many_are_needed(arm):
    _, q0, q1 = around_a_post()
    write_curves(arm, range(1, 4, 2), np.stack((q0, q1)), False, binding(arm))
    before = snapshot(bpy.context.scene, arm)
    assert "move the later pose to frame" in called(bpy.ops.robokin.plan_path, arm, frame_start=1, frame_end=3)
    assert snapshot(bpy.context.scene, arm) == before


def test_from_the_window_it_goes_in_slices_until_esc(scene, arm, monkeypatch):
    before = snapshot(scene, arm)
    with window(monkeypatch, ROBOKIN_OT_plan_path, "", "ESC") as looked:
        assert called(bpy.ops.robokin.plan_path, arm) == {"CANCELLED"}
    assert looked.slices == 2 and snapshot(scene, arm) == before
    with window(monkeypatch, ROBOKIN_OT_plan_path) as looked:
        assert called(bpy.ops.robokin.plan_path, arm) == {"FINISHED"}
    assert looked.shares == sorted(looked.shares) and snapshot(scene, arm) != before


def test_as_a_command(arm, tmp_path):
    path, out, report = tmp_path / "arm.blend", tmp_path / "out.blend", tmp_path / "plan.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert main(["plan", str(path), "--frames", f"1:{LAST}", "-o", str(out), "--json", str(report)]) == 0
    assert out.exists() and json.loads(report.read_text())["found"]
    assert main(["plan", str(path), "--frames", f"1:{LAST}", "--budget", "0", "-o", str(tmp_path / "no.blend")]) == 1
    assert not (tmp_path / "no.blend").exists()
    assert main(["plan", str(path), "--rate", "5"]) == 2
    assert main(["check", str(out)]) == 0
    post = bpy.data.objects["post"]
    hull = Hull([tuple(v.co) for v in post.data.vertices])
    assert main(["plan", str(path), "--frames", f"1:{LAST}", "--margin", "0.06", "-o", str(out)]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    found = seen()
    collisions = CollisionModel(found.model, [Obstacle("post", hull, at(1.2, 0.9))])
    assert collisions.distances(found.q)[0][..., 0].min() >= 0.06 - 1e-5


def test_a_bake_that_is_stuck_offers_a_way_to_the_targets(arm):
    """The hand is to go through the post: what Why? offers leads around it."""
    scene = bpy.context.scene
    scene.frame_set(1)
    tip = arm.pose.bones[-1].name
    target = add_target(arm, tip)
    T = forward_kinematics(around_a_post()[0].model, around_a_post()[2])["l2"]
    for frame, x, y, turn in ((1, 2.0, 0.0, 0.0), (LAST, *T[:2, 3], 1.7)):
        target.matrix_basis = Matrix.Rotation(turn, 4, "Z") @ target.matrix_basis if turn else target.matrix_basis
        target.location[:2] = x, y
        for channel in ("location", "rotation_euler"):
            target.keyframe_insert(channel, frame=frame)
    arm.robokin.solver.avoid_collisions = True
    assert called(bpy.ops.robokin.bake, arm) == {"FINISHED"}
    assert draw(object=arm)["ROBOKIN_PT_bake"]["given"]["robokin.plan_path"] == {"to_targets": True}
    store_bake_result(arm, next(each.first for each in arm.robokin.solver.bake_failures))
    assert arm.robokin.solver.status == "COLLISION" and remedies(arm)[0].how == "PATH"
    given = draw_popover("ROBOKIN_PT_why", object=arm, active_object=arm)["given"]["robokin.plan_path"]
    assert given == {"to_targets": True}
    with bpy.context.temp_override(object=arm):
        bpy.ops.robokin.task_add(tip=tip, kind="TWIST")  # says nothing of where the way ends
        bpy.ops.robokin.target_add(tip=tip, kind="POSE")  # nor does one that does not count there
    arm.robokin.tasks[-1].influence = 0.0
    assert called(bpy.ops.robokin.plan_path, arm, **given) == {"FINISHED"}
    assert "robokin.plan_path" not in draw(object=arm)["ROBOKIN_PT_bake"]["operators"]  # the bake is of before
    scene.frame_set(LAST)
    assert world_error(arm, tip, target)[0] < 1e-4
    collisions = finish(collisions_over(scene, bpy.context.view_layer, arm, range(1, LAST + 1), binding(arm)))
    assert collisions.distances(seen().q)[0][..., 0].min() >= 0.005 - 1e-5
    across = target.matrix_world.to_3x3() @ Vector((0.5, 0.18, 0.0))  # 3 cm beside the last link
    bpy.data.objects["post"].location = target.location + across
    bpy.context.view_layer.update()
    assert "no pose meets the tasks" in called(bpy.ops.robokin.plan_path, arm, to_targets=True, margin=0.04)
    bpy.data.objects["post"].location = target.location
    bpy.context.view_layer.update()
    assert "no pose meets the tasks" in called(bpy.ops.robokin.plan_path, arm, to_targets=True)
    arm.robokin.tasks[0].enabled = arm.robokin.tasks[2].enabled = False
    assert "no task that says where" in called(bpy.ops.robokin.plan_path, arm, to_targets=True)
