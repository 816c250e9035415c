"""Position limits that mean none, in Blender: said, kept in the file's numbers, and in nobody's way."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from robokin_addon.panels.prepared.robot_panel import joint_summary
from robokin_addon.properties.bridge import binding, export_urdf, read_configuration, robot_model, write_configuration
from robokin_addon.properties.bridge.editing.records import bone_record
from robokin_addon.properties.bridge.record.reading import KEY, read_record
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, load_urdf, urdf_text
from robokin_addon.scene.check.check import check_steps
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_empty, build
from support.oracles.compare import compare_models
from support.problems.carried import PANDA, carried

ENDS = ("12345", "1e6", "1e16", "1e39", "1e155", "1.8e308")


def imported(tmp_path: Path, kind: str, end: str) -> tuple[bpy.types.Object, RobotModel]:
    path = tmp_path / "carried.urdf"
    path.write_text(urdf_text(carried(kind, -8.5e5, 8.5e5)).replace("850000", end))
    assert bpy.ops.robokin.import_urdf(filepath=str(path), meshes=False) == {"FINISHED"}
    return bpy.context.object, load_urdf(path)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_robot_with_them_is_imported_and_exported(scene, tmp_path, capfd, kind, end):
    obj, model = imported(tmp_path, kind, end)
    value = min(float(end), sys.float_info.max)
    said = f"joint 'base': {-value:g}, {value:g} are too far away for position limits: taken as none"
    assert f"Warning: {said}" in capfd.readouterr().out
    assert joint_summary(obj, obj.data.bones["base"]).unheld == said
    assert joint_summary(obj, obj.data.bones["joint_1"]).unheld == ""
    assert (robot_model(obj).lower[0], robot_model(obj).upper[0]) == (-np.inf, np.inf)
    assert not obj.pose.bones["base"].constraints
    assert abs(read_configuration(obj)[0]) == 0.0
    path = str(tmp_path / "far.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["carried"]
    bone = obj.data.bones["base"]
    assert bone.robokin.use_lower and bone.robokin.use_upper
    assert bone_record(bone).joint.upper[0] == read_record(bone[KEY], "base").joint.upper[0] == value
    bone.robokin.damping = 2.0
    assert robot_model(obj).joint("base").upper[0] == value
    bone.robokin.damping = 0.0
    export_urdf(obj, str(tmp_path / "again.urdf"), bpy.context.evaluated_depsgraph_get())
    assert compare_models(load_urdf(tmp_path / "again.urdf"), model, 1e-9) == []


@pytest.mark.parametrize("end", [1e4, 1e5, 1e6, 1e16])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_what_a_bake_meets_a_check_finds_met(scene, kind, end):
    """Single precision holds a pose of the present turn, and near the links."""
    model = carried(kind, -end, end)
    obj = build(model)
    q = np.concatenate(([0.3], PANDA.limits.middle(PANDA.neutral())))
    write_configuration(obj, q)
    bpy.context.view_layer.update()
    target = add_empty("target")
    T = forward_kinematics(model, q)["tool"]
    for frame, way in ((1, (0.0, 0.0, 0.0)), (30, (-0.1, 0.15, -0.1))):
        moved = T.copy()
        moved[:3, 3] += way
        target.matrix_world = Matrix(moved.tolist())
        target.keyframe_insert("location", frame=frame)
    with bpy.context.temp_override(object=obj):
        assert bpy.ops.robokin.target_add(tip=obj.data.bones[-1].name, kind="POSE") == {"FINISHED"}
    obj.robokin.tasks[-1].target = target
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=30) == {"FINISHED"}
    assert obj.robokin.solver.bake_status == "CONVERGED", obj.robokin.solver.bake_reason
    found = finish(check_steps(scene, bpy.context.view_layer, obj, binding(obj), range(1, 31)))
    assert found.passed, found.summary()
    assert abs(found.motion.q[:, 0]).max() < 10.0


def test_a_near_limit_in_the_place_of_a_far_one_counts(scene):
    obj = build(RobotModel("r", [Link("a"), Link("b")], [Joint("j", "revolute", "a", "b", lower=-1e6, upper=1e6)]))
    assert robot_model(obj).far_limits == ("j",)
    fields = obj.data.bones["j"].robokin
    fields.upper = 1.5
    assert robot_model(obj).upper[0] == 1.5 and robot_model(obj).lower[0] == -np.inf
    obj.pose.bones["j"].rotation_euler[1] = 3.0
    bpy.context.view_layer.update()
    assert read_configuration(obj)[0] <= 1.5
