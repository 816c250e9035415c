"""A person's own armature with one joint of every kind: made, posed by hand and by IK, baked, saved, opened again."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, is_robot, read_configuration, robot_model, write_configuration
from robokin_addon.robokin import forward_kinematics, in_limits, random_configuration
from robokin_addon.robokin.model.joint_types import JOINT_TYPES
from robokin_addon.scene.animation.frames import fcurves
from support.blender.every_joint import JOINTS, make_every_joint
from support.blender.scene_robots import add_target

FILES = Path(__file__).resolve().parents[3] / "data" / "every_joint"


def assert_shown(obj: bpy.types.Object) -> None:
    """Every bone stands where the model says."""
    bpy.context.view_layer.update()
    found = binding(obj)
    placements = forward_kinematics(found.model, read_configuration(obj))
    for link, bone, frame in zip(found.model.links, found.bones, found.frames, strict=True):
        T = np.array(obj.pose.bones[bone].matrix)
        T[:3, :3] = T[:3, :3] @ frame.T
        np.testing.assert_allclose(T, found.root @ placements[link.name], atol=3e-6)


def same(model, q: np.ndarray, other: np.ndarray, atol: float) -> None:
    """Equal, quaternions up to their sign."""
    q = q.copy()
    for start in model.tree.quaternions:
        at = slice(start, start + 4)
        q[at] *= np.sign(q[at] @ other[at])
    np.testing.assert_allclose(q, other, atol=atol)


def test_every_kind_is_there(scene):
    obj = make_every_joint()
    model = robot_model(obj)
    assert {joint.type for joint in model.joints} == set(JOINT_TYPES)
    assert model.root == "wheeled" and model.drive.left == "wheel.L"
    assert_shown(obj)


def test_posed_by_hand(scene):
    obj = make_every_joint()
    found = binding(obj)
    rng = np.random.default_rng(0)
    for _ in range(4):
        for channel in found.own_channels:
            getattr(obj.pose.bones[channel.bone], channel.path)[channel.index] = rng.normal() * 2.0
        bpy.context.view_layer.update()
        assert in_limits(found.model, read_configuration(obj))
        assert_shown(obj)
    before = read_configuration(obj)
    for bone in obj.pose.bones:  # what is locked is no joint
        free = {(c.path, c.index) for c in found.own_channels if c.bone == bone.name}
        for i in range(3):
            assert bone.lock_location[i] == (("location", i) not in free)
            if bone.rotation_mode != "QUATERNION":
                assert bone.lock_rotation[i] == (("rotation_euler", i) not in free)
        assert all(bone.lock_scale)
    same(found.model, read_configuration(obj), before, 0.0)


def test_posed_by_ik_baked_saved_and_opened(scene, tmp_path: Path):
    obj = make_every_joint()
    model, rng = robot_model(obj), np.random.default_rng(1)
    start = random_configuration(model, rng)
    start[:3] = 0.0
    write_configuration(obj, start)
    bpy.context.view_layer.update()
    assert bpy.ops.robokin.store_posture() == {"FINISHED"}
    bpy.context.view_layer.objects.active = obj
    found = binding(obj)
    for name in JOINTS:
        target = add_target(obj, f"{name} tip", "POSE")
        target.rotation_mode = "QUATERNION"
        target.keyframe_insert("location", frame=1)
        target.keyframe_insert("rotation_quaternion", frame=1)
    end = model.limits.clamp(start + 0.15 * rng.normal(size=model.nq))
    end[:3] = start[:3]
    for start_of in model.tree.quaternions:
        end[start_of : start_of + 4] /= np.linalg.norm(end[start_of : start_of + 4])
    end = model.limits.clamp(end)
    write_configuration(obj, end)
    bpy.context.view_layer.update()
    placements = forward_kinematics(model, end)
    from robokin_addon.properties.bridge import to_blender

    for name, task in zip(JOINTS, obj.robokin.tasks, strict=True):
        task.target.matrix_world = to_blender(obj, placements[found.link_of_bone[f"{name} tip"]])
        task.target.keyframe_insert("location", frame=20)
        task.target.keyframe_insert("rotation_quaternion", frame=20)
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert obj.robokin.solver.status == "CONVERGED", obj.robokin.solver.reason
    report = tmp_path / "bake.json"
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=20, report_path=str(report)) == {"FINISHED"}
    assert set(fcurves(obj)) >= {(f'pose.bones["{c.bone}"].{c.path}', c.index) for c in found.own_channels}
    path = str(tmp_path / "every.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    again = next(o for o in bpy.data.objects if is_robot(o))
    rows = json.loads(report.read_text())["frames"]
    assert [row["status"] for row in (rows[0], rows[-1])] == ["CONVERGED"] * 2
    for row in rows:
        bpy.context.scene.frame_set(row["frame"])
        solved = model.configuration(row["q"])
        assert in_limits(model, read_configuration(again))
        same(model, read_configuration(again), solved, 1e-6)
        assert_shown(again)


@pytest.mark.parametrize("version", ["4.5", "5.2"])
def test_files_of_both_blenders_open(scene, version):
    """Made by `make_every_joint` with that Blender, posed at the joint values beside it. An
    older Blender loses the fields of the bones, and has the records."""
    bpy.ops.wm.open_mainfile(filepath=str(FILES / f"every-joint-{version}.blend"))
    obj = next(o for o in bpy.data.objects if is_robot(o))
    wanted = json.loads((FILES / f"every-joint-{version}.json").read_text())
    model = robot_model(obj)
    assert {joint.type for joint in model.joints} == set(JOINT_TYPES)
    same(model, read_configuration(obj), model.configuration(wanted), 1e-6)
    assert_shown(obj)
    q = random_configuration(model, np.random.default_rng(3))
    write_configuration(obj, q)
    same(model, read_configuration(obj), q, 2e-6)
    assert_shown(obj)
