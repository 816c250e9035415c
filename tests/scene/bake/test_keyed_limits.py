"""Limits with keys: Check compares each frame with its own, Bake keeps the narrowest of its frames."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, robot_model
from robokin_addon.properties.frame_rate import frame_seconds
from robokin_addon.robokin import forward_kinematics
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import build
from support.blender.windows import called
from support.problems.obstructed import planar_arm

LAST, SPEED = 20, 0.8


@pytest.fixture
def arm(scene):
    """Its first joint may turn at 1 rad/s, from frame 11 on at half of that."""
    scene.frame_start, scene.frame_end = 1, LAST
    obj = build(planar_arm(3))
    obj.robokin.live = False
    joint = obj.data.bones["j0"].robokin
    for frame, limit in ((1, 1.0), (11, 0.5)):
        joint.velocity = limit
        obj.data.keyframe_insert('bones["j0"].robokin.velocity', frame=frame)
    action = obj.data.animation_data.action
    for key in action.layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points:
        key.interpolation = "CONSTANT"
    scene.frame_set(1)
    assert robot_model(obj).velocity[0] == pytest.approx(1.0)
    return obj


def test_check_compares_each_frame_with_its_own_limits(arm, tmp_path):
    frames, path = range(1, LAST + 1), tmp_path / "check.json"
    q = np.zeros((LAST, 3))
    q[:, 0] = SPEED * frame_seconds(bpy.context.scene) * np.arange(LAST)
    write_curves(arm, frames, q, False, binding(arm))
    for present in (1, LAST):
        bpy.context.scene.frame_set(present)
        assert called(bpy.ops.robokin.check, arm, report_path=str(path)) == {"FINISHED"}
        found = [v for v in json.loads(path.read_text())["violations"] if v["kind"] == "velocity"]
        assert sorted(v["frame"] for v in found) == [*range(11, LAST + 1)]


def test_a_bake_keeps_the_narrowest_and_says_so(arm):
    start = forward_kinematics(robot_model(arm), np.array([0.2, 0.5, 0.5]))["l2"][:3, 3]
    bpy.ops.object.empty_add(location=start.tolist())
    target = bpy.context.object
    task = arm.robokin.tasks.add()
    task.name, task.kind, task.tip, task.target = "hand", "POSITION", "j2", target
    target.keyframe_insert("location", frame=1)
    target.location = forward_kinematics(robot_model(arm), np.array([0.5, 0.5, 0.5]))["l2"][:3, 3]
    target.keyframe_insert("location", frame=LAST)
    assert called(bpy.ops.robokin.bake, arm) == {"FINISHED"}
    motion = finish(sample_motion(bpy.context.scene, arm, range(1, LAST + 1), binding(arm)))
    assert abs(motion.v[:, 0]).max() <= 0.5 + 1e-5
    assert arm.robokin.solver.bake_status == "LIMIT" or "narrowest" in arm.robokin.solver.bake_reason
