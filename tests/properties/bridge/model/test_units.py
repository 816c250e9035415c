"""The same robot in metres, millimetres, centimetres and inches; and a unit scale that changes afterwards."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, build_armature, metres_per_unit, robot_model
from robokin_addon.properties.results.result_text import quantity_text
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel
from robokin_addon.scene.animation.frames import fcurves
from support.blender.scene_robots import add_target
from support.oracles.compare import compare_models

UNITS = (1.0, 0.001, 0.01, 0.0254)


def robot() -> RobotModel:
    """Two hinges and a slider, and a slider that follows a hinge."""

    def at(x: float, z: float) -> np.ndarray:
        T = np.eye(4)
        T[:3, 3] = x, 0.0, z
        return T

    inertia = np.diag([0.01, 0.02, 0.02])
    links = [Link(name, 2.0, (0.1, 0.0, 0.05), inertia) for name in ("base", "one", "two", "tip", "grip")]
    rates = {"velocity": 3.0, "acceleration": 40.0}
    joints = [
        Joint("turn", "revolute", "base", "one", at(0.0, 0.25), lower=-2.0, upper=2.0, **rates),
        Joint("lift", "revolute", "one", "two", at(0.25, 0.0), (0, 1, 0), lower=-1.5, upper=1.5, **rates),
        Joint("reach", "prismatic", "two", "tip", at(0.5, 0.0), (1, 0, 0), lower=-0.25, upper=0.5, **rates),
        Joint("grip", "prismatic", "tip", "grip", at(0.0, 0.0), (0, 1, 0), -1, 1, mimic=Mimic("lift", 0.03, 0.01)),
    ]
    return RobotModel("reacher", links, joints)


def in_units(unit: float) -> bpy.types.Object:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.unit_settings.scale_length = unit
    obj = build_armature(bpy.context, scene.collection, robot())
    obj.robokin.live = False  # each solve is to begin where its pose was reset to
    bpy.context.view_layer.update()
    return obj


def moved(obj: bpy.types.Object, folder: object, unit: float) -> tuple[list, dict, dict]:
    """(poses solved for some dyadic points, report of a bake, of a check) with a target that moves along a line."""
    target = add_target(obj, tip="reach", kind="POSITION")
    assert obj.robokin.tasks[0].position_tolerance * unit == pytest.approx(1e-4, rel=1e-6)  # a tenth of a millimetre
    names = folder / "bake.json", folder / "check.json"
    solved = []
    for point in ((1.0, 0.0, 0.25), (0.9375, 0.25, 0.375), (0.5, 0.5, -0.25)):
        target.location = [x / unit for x in point]
        bpy.ops.robokin.reset_pose(start="REST")
        assert bpy.ops.robokin.solve_pose(report_path=str(names[0])) == {"FINISHED"}
        solved.append(json.loads(names[0].read_text()))
    for frame, point in ((1, (1.0, 0.0, 0.25)), (17, (0.875, 0.5, 0.5))):
        target.location = [x / unit for x in point]
        target.keyframe_insert("location", frame=frame)
    for curve in fcurves(target).values():
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=17, report_path=str(names[0])) == {"FINISHED"}
    assert bpy.ops.robokin.check(frame_start=1, frame_end=17, report_path=str(names[1])) == {"FINISHED"}
    return solved, *(json.loads(name.read_text()) for name in names)


@pytest.fixture(scope="module")
def in_metres(addon, tmp_path_factory):
    return moved(in_units(1.0), tmp_path_factory.mktemp("metres"), 1.0)


@pytest.mark.parametrize("unit", UNITS[1:])
def test_the_same_motion_in_any_unit(in_metres, addon, tmp_path, unit):
    obj = in_units(unit)
    solved, baked, checked = moved(obj, tmp_path, unit)
    # Where the points in inches are no numbers of single precision, Blender rounds them.
    double, single = (3e-6, 3e-6) if unit == 0.0254 else (1e-9, 2e-7)
    for mine, theirs in zip(solved, in_metres[0], strict=True):
        assert mine["status"] == theirs["status"] == "CONVERGED"
        assert mine["q"] == pytest.approx(theirs["q"], rel=double, abs=double)
    for mine, theirs in zip(baked["frames"], in_metres[1]["frames"], strict=True):
        assert mine["status"] == theirs["status"] == "CONVERGED"
        assert mine["q"] == pytest.approx(theirs["q"], rel=single, abs=single)
    assert checked["violations"] == in_metres[2]["violations"] == []
    for mine, theirs in zip(checked["frames"], in_metres[2]["frames"], strict=True):
        assert mine["status"] == theirs["status"]
        assert mine["q"] == pytest.approx(theirs["q"], rel=single, abs=single)


@pytest.mark.parametrize("unit", UNITS)
def test_a_robot_is_itself_in_any_unit_and_after_saving(addon, tmp_path, unit):
    in_units(unit)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "units.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "units.blend"))
    obj = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    assert compare_models(robot_model(obj), robot()) == []
    settings = obj.data.bones["reach"].robokin
    assert settings.upper_length == pytest.approx(0.5 / unit, rel=1e-6) and settings.upper == pytest.approx(0.5)
    assert settings.velocity_length == pytest.approx(3.0 / unit, rel=1e-6)
    assert list(settings.com_length) == pytest.approx([0.1 / unit, 0.0, 0.05 / unit], rel=1e-6)
    assert settings.mass_shown * unit**3 == pytest.approx(2.0, rel=1e-6)  # what Blender shows of it


@pytest.mark.parametrize("unit", UNITS)
def test_sliding_by_hand_stops_at_the_limit(addon, unit):
    obj = in_units(unit)
    bone = obj.pose.bones["reach"]
    channel = next(c for c in binding(obj).own_channels if c.bone == "reach")
    for far, limit in ((9.0, 0.5), (-9.0, -0.25)):
        bone.location[channel.index] = channel.sign * far / unit
        bpy.context.view_layer.update()
        metres = channel.sign * bone.location[channel.index] * metres_per_unit()
        assert metres == pytest.approx(limit, rel=1e-6) and -0.25 <= metres <= 0.5


@pytest.mark.parametrize("unit", [0.001, 0.0254])
def test_fields_are_typed_in_the_scenes_units(addon, unit):
    obj = in_units(unit)
    settings = obj.data.bones["reach"].robokin
    settings.upper_length, settings.velocity_length = 0.3 / unit, 2.0 / unit
    settings.mass_shown, settings.com_length = 5.0 / unit**3, (0.01 / unit, 0.0, 0.02 / unit)
    model = robot_model(obj)
    joint, link = model.joint("reach"), model.links[model.link_index("tip")]
    assert (joint.upper[0], joint.velocity[0], link.mass) == pytest.approx((0.3, 2.0, 5.0), rel=1e-6)
    assert link.com == pytest.approx([0.01, 0.0, 0.02], rel=1e-6)
    obj.data.bones["turn"].robokin.velocity_angle = 1.25
    assert robot_model(obj).joint("turn").velocity[0] == 1.25


def test_a_robot_follows_a_change_of_the_unit_scale(addon):
    """As everything in the scene it keeps its size in Blender units."""
    obj = in_units(1.0)
    obj.pose.bones["reach"].location[1] = 0.25
    bpy.context.view_layer.update()
    bpy.ops.robokin.posture_add(name="out")
    before = robot_model(obj)
    shown = {bone.name: np.array(bone.matrix) for bone in obj.pose.bones}
    fields = {name: obj.data.bones["reach"].robokin.path_resolve(name) for name in ("upper_length", "velocity_length")}
    bpy.context.scene.unit_settings.scale_length = 0.001
    at_once = robot_model(obj)
    bpy.context.view_layer.update()
    after = robot_model(obj)
    assert compare_models(after, at_once) == []
    settings = obj.data.bones["reach"].robokin
    assert after.joint("reach").upper[0] == pytest.approx(0.0005, rel=1e-12)
    assert settings.upper == pytest.approx(0.0005, rel=1e-6)
    assert after.joint("turn").upper[0] == before.joint("turn").upper[0]
    assert after.links[1].mass == 2.0 and after.links[1].inertia[0, 0] == pytest.approx(1e-8, rel=1e-12)
    assert {name: settings.path_resolve(name) for name in fields} == pytest.approx(fields, rel=1e-6)
    assert json.loads(obj.robokin.postures["out"].values)["reach"] == pytest.approx(0.00025, rel=1e-6)
    for bone in obj.pose.bones:
        assert np.array(bone.matrix) == pytest.approx(shown[bone.name], abs=1e-6)
    settings.upper_length = 0.3
    assert robot_model(obj).joint("reach").upper[0] == pytest.approx(0.0003, rel=1e-6)
    bpy.context.scene.unit_settings.scale_length = 1.0
    bpy.context.view_layer.update()
    assert robot_model(obj).joint("reach").upper[0] == pytest.approx(0.3, rel=1e-6)


@pytest.mark.parametrize(
    "settings, said",
    [
        ({"length_unit": "MILLIMETERS"}, ("1.5 mm", "2 kg", "28.6\u00b0")),
        (
            {"system": "IMPERIAL", "length_unit": "INCHES", "mass_unit": "POUNDS"},
            ("0.05906 in", "4.409 lb", "28.6\u00b0"),
        ),
        ({"system": "NONE", "system_rotation": "RADIANS"}, ("1.5 mm", "2 kg", "0.5 rad")),
        ({"length_unit": "ADAPTIVE", "mass_unit": "ADAPTIVE"}, ("1.5 mm", "2 kg", "28.6\u00b0")),
    ],
)
def test_numbers_in_panels_have_their_unit(scene, settings, said):
    for name, value in settings.items():
        setattr(scene.unit_settings, name, value)
    quantities = ("LENGTH", 0.0015), ("MASS", 2.0), ("ROTATION", 0.5)
    assert tuple(quantity_text(scene, *quantity) for quantity in quantities) == said


def test_large_angles_are_written_out(scene):
    assert quantity_text(scene, "ROTATION", 60.2) == "3449\u00b0"
