"""A base on two wheels in Blender: channels of a planar base, its wheels' own, and the fields of the drive."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from robokin_addon.cli.main import main
from robokin_addon.panels import joint as joint_panel
from robokin_addon.properties.bridge import (
    binding,
    channel_table,
    is_robot,
    read_configuration,
    robot_model,
    write_configuration,
)
from robokin_addon.robokin import ModelError, RobotModel, forward_kinematics, library_robot, load_urdf
from robokin_addon.robokin.model.drive import Drive
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.check.check import check_steps
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import build
from support.robots import robot


def cart() -> RobotModel:
    return library_robot("mobile_arm")


def drives(obj: bpy.types.Object) -> Drive:
    found = robot_model(obj).drive
    assert found is not None
    return found


@pytest.mark.parametrize("unit", [1.0, 0.001])
def test_base_and_wheels_have_their_channels(scene, unit):
    scene.unit_settings.scale_length = unit
    model = cart()
    obj = build(model)
    assert robot_model(obj).root == "wheeled" and drives(obj) == model.drive
    own = [c for c in channel_table(obj) if c.role == "own"]
    base = obj.data.bones[model.root_link.name].name
    assert [c.path for c in own if c.bone == base] == ["location", "location", "rotation_euler"]
    for wheel in (model.drive.left, model.drive.right):
        assert [c.path for c in own if c.bone == wheel] == ["rotation_euler"]
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, model.nq)
    q[model.slot(model.drive.left).q] = 31.5  # rolled far
    write_configuration(obj, q)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(read_configuration(obj), q, atol=1e-5)
    placements, found = forward_kinematics(model, q), binding(obj)
    for link, bone in found.bone_of_link.items():
        np.testing.assert_allclose(
            np.array(obj.pose.bones[bone].matrix)[:3, 3] * unit, placements[link][:3, 3], atol=3e-6
        )


def test_the_drive_is_edited_by_fields_in_scene_units(scene):
    scene.unit_settings.scale_length = 0.01
    obj = build(cart())
    root = robot_model(obj).root_link.name
    fields = obj.data.bones[root].robokin
    before = drives(obj)
    assert (fields.wheel_left, fields.wheel_right) == (before.left, before.right)
    assert fields.wheel_radius_length == pytest.approx(100 * before.radius)
    fields.wheel_radius_length = 12.5
    fields.wheel_separation = 0.75
    assert drives(obj) == Drive(before.left, before.right, 0.125, 0.75)
    fields.wheel_radius = before.radius
    assert drives(obj).radius == before.radius  # not its single precision
    fields.wheel_left = "nowhere"
    with pytest.raises(ModelError, match="'nowhere' is not a joint"):
        binding(obj)
    fields.wheel_left = fields.wheel_right = ""  # the wheels are looked for
    found = drives(obj)
    assert {found.left, found.right} == {before.left, before.right}


def test_check_tells_what_slips_sideways_between_frames(scene):
    """Keys are joined by straight lines, though the base rolls along arcs."""
    obj = build(cart())
    robot, frames = binding(obj), range(1, 26)
    (base,) = robot.model.rolling_bases
    Q = np.tile(robot.model.neutral(), (len(frames), 1))
    for turn in (0.0, 1.0):
        own = np.array([0.1, 0.1 + 0.1 * turn])  # [m] that wheels roll in a frame
        for k in range(1, len(frames)):
            Q[k, list(base.wheel_q)] = Q[k - 1, list(base.wheel_q)] + own / base.rolled
            Q[k, base.q : base.q + 3] = base.roll(Q[k - 1, base.q : base.q + 3], own / base.rolled)
        write_curves(obj, frames, Q, False, robot)
        found = finish(check_steps(scene, bpy.context.view_layer, obj, binding(obj), frames))
        step = Q[1, base.q + 2]
        speed = 24.0 * own.mean() * np.sin(0.25 * step)
        assert found.side_slip == pytest.approx([speed], rel=0.02, abs=1e-5)
        assert ("sideways" in found.summary()) == bool(turn)
        assert found.to_dict()["side_slip"] == found.side_slip.tolist() and max(found.to_dict()["slip"]) < 1e-5


def test_renamed_wheels_and_another_unit(scene):
    obj = build(cart())
    before = drives(obj)
    obj.data.bones[before.left].name = "Port"
    assert drives(obj) == Drive("Port", before.right, before.radius, before.separation)
    scene.unit_settings.scale_length = 0.5
    after = drives(obj)
    assert (after.radius, after.separation) == pytest.approx((0.5 * before.radius, 0.5 * before.separation))


def test_saved_and_opened(scene, tmp_path: Path):
    obj = build(cart())
    before = drives(obj)
    path = str(tmp_path / "cart.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert drives(next(o for o in bpy.data.objects if is_robot(o))) == before


def test_a_base_is_locked_to_the_ground(scene):
    obj = build(cart())
    root = robot_model(obj).root_link.name
    bone = obj.pose.bones[root]
    assert sum(bone.lock_location) == 1 and sum(bone.lock_rotation) == 2
    assert bone.custom_shape.name == "Robokin Wheels"
    summary = joint_panel.joint_summary(obj, obj.data.bones[root])
    assert summary.wheels and len(summary.freedoms) == 3


def test_import_puts_a_robot_on_wheels(scene):
    path = str(robot("ur5_robot"))
    assert bpy.ops.robokin.import_urdf(filepath=path, root="wheeled", meshes=False) == {"FINISHED"}
    model = robot_model(bpy.context.object)
    assert model.root == "wheeled" and model.nv == 11
    assert model.drive == load_urdf(path, root="wheeled").drive


def test_the_command_line_imports_on_wheels(scene, tmp_path: Path):
    out = tmp_path / "cart.blend"
    assert main(["import", str(robot("ur5_robot")), "--root", "wheeled", "--no-meshes", "-o", str(out)]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert robot_model(next(o for o in bpy.data.objects if is_robot(o))).root == "wheeled"


def test_a_root_retyped_to_wheels_says_what_it_lacks(scene):
    obj = build(load_urdf(robot("ur5_robot")))
    root = robot_model(obj).root_link.name
    obj.data.bones[root].robokin.joint_type = "wheeled"
    with pytest.raises(ModelError, match="no two wheels"):
        binding(obj)
    obj = build(cart())
    fields = obj.data.bones[robot_model(obj).root_link.name].robokin
    before = drives(obj)
    fields.joint_type = "planar"
    assert robot_model(obj).drive is None
    fields.joint_type = "wheeled"
    assert drives(obj) == before
