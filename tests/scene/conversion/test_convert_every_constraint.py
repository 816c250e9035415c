"""Every kind of constraint that Blender has, with a target and without: a task, or named; a copy shows what it did."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from support.blender.rigs import add_rig
from support.blender.scene_robots import add_empty
from support.blender.scene_tasks import mesh_object, polyline
from test_convert_copies import CHAIN, NEAR
from test_convert_spaces import FRAMES, animated, convert, shown

KINDS = [item.identifier for item in bpy.types.Constraint.bl_rna.properties["type"].enum_items]
UNSAID = {
    "CAMERA_SOLVER", "FOLLOW_TRACK", "OBJECT_SOLVER", "COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME", "TRANSFORM_CACHE",
    "SPLINE_IK", "GEOMETRY_ATTRIBUTE",
}  # fmt: skip
BOUNDLESS = {"LIMIT_LOCATION", "LIMIT_ROTATION"}  # as they are made


@pytest.fixture
def arm(scene):
    """Moves, so that its action also has keys that are not of its bones."""
    return animated(add_rig(CHAIN), (1, 0, 0), (0.1, 0.2, 0.3))


def goal_for(kind):
    if kind in ("FOLLOW_PATH", "CLAMP_TO", "SPLINE_IK"):
        curve = polyline([(0, 0, 1), (0.3, 0, 1), (0.6, 0.2, 1.2)])
        curve.use_path = True
        return mesh_object("rail", curve)
    if kind == "SHRINKWRAP":
        mesh = bpy.data.meshes.new("floor")
        mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
        return mesh_object("floor", mesh)
    return animated(add_empty("goal", add_empty("carrier")), (0.4, -1.2, 1.4), (0.9, 0.3, -0.4))


@pytest.mark.parametrize("has_target", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(arm, capfd, kind, has_target):
    constraint = arm.pose.bones["hand"].constraints.new(kind)
    if has_target and hasattr(constraint, "target"):
        constraint.target = goal_for(kind)
    shown(arm, "hand")
    before, world = shown(arm, "hand"), shown(arm)
    tasks = convert(arm)
    told = f"could not be converted: bone 'hand', constraint {constraint.name!r}: "
    found = capfd.readouterr().out
    assert constraint.mute
    assert bool(tasks) == (has_target and kind not in UNSAID | BOUNDLESS | {"ARMATURE"}) or kind == "PIVOT", found
    assert tasks or told in found
    assert (f"{told}no target" in found) == (not tasks and kind not in UNSAID | BOUNDLESS) or kind in UNSAID
    np.testing.assert_array_equal(shown(arm), world)
    for task in tasks:
        if task.target.name == "rig as it was":
            np.testing.assert_allclose(shown(task.target, "hand"), before, atol=NEAR)
            np.testing.assert_allclose(shown(task.target), world, atol=1e-6)
            assert task.target.animation_data.action != arm.animation_data.action


def test_keys_in_nla_strips(arm):
    bone = arm.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    for frame in FRAMES:
        bone.rotation_euler[0] = 0.1 * frame
        bone.keyframe_insert("rotation_euler", frame=frame)
    data = arm.animation_data
    strip = data.nla_tracks.new().strips.new("keys", 1, data.action)
    strip.action_slot = data.action_slot
    data.action = None
    constraint = arm.pose.bones["hand"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.mix_mode = goal_for("COPY_ROTATION"), "ADD"
    before = shown(arm, "hand")
    assert abs(before[2] - before[0]).max() > 0.3
    (task,) = convert(arm)
    np.testing.assert_allclose(shown(task.target, "hand"), before, atol=NEAR)
