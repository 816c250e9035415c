"""q <-> channels, and what Blender then shows, against the model's own forward kinematics."""

from __future__ import annotations

import math
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from robokin_addon.properties.bridge import (
    BridgeError,
    binding,
    channel_table,
    clamp_pose,
    curves,
    read_configuration,
    robot_model,
    to_blender,
    world_from_root,
    write_configuration,
)
from robokin_addon.properties.handlers import reported_faults
from robokin_addon.robokin import (
    Joint,
    Link,
    RobotModel,
    forward_kinematics,
    in_limits,
    load_urdf,
    random_configuration,
)
from robokin_addon.robokin.kinematics import rest_placements
from support.blender.scene_robots import build, root_from_world
from support.random_problems.random_trees import random_placement, random_robot
from support.robots import all_urdfs, robot


def moderate(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """q with angles that single precision still resolves: rotors of some files may turn to 1e9 rad."""
    return np.where(abs(q) > 50.0, np.remainder(q, 50.0), q)


def shown_error(obj: bpy.types.Object, q: np.ndarray) -> float:
    """Largest difference of position (per reach) and of rotation between Blender's bones and the model, in the world.

    A bone's pose times its rest pose backwards moves what was in the link's frame at rest, whatever the bone's axes.
    """
    model, unit = robot_model(obj), binding(obj).metres_per_unit
    write_configuration(obj, q)
    bpy.context.view_layer.update()
    placements = forward_kinematics(model, q)
    # Bones rest where every joint is at 0, a mimic joint too, whatever its offset.
    rest = dict(zip(model.link_names, rest_placements(model), strict=True))
    reach = max(np.linalg.norm(T[:3, 3]) for T in rest.values()) or 1.0
    scale = np.cbrt(np.linalg.det(np.array(obj.matrix_world)[:3, :3]))
    worst = 0.0
    for link, bone in binding(obj).bone_of_link.items():
        T_rest = rest[link].copy()
        T_rest[:3, 3] /= unit
        local = np.array(obj.data.bones[bone].matrix_local, float)
        shown = np.array(obj.matrix_world, float) @ np.array(obj.pose.bones[bone].matrix, float)
        shown = shown @ np.linalg.inv(local) @ T_rest
        expected = np.array(obj.matrix_world, float) @ np.block(
            [[placements[link][:3, :3], placements[link][:3, 3:] / unit], [np.zeros((1, 3)), np.ones((1, 1))]]
        )
        worst = max(worst, abs(shown[:3, 3] - expected[:3, 3]).max() * unit / reach / scale)
        worst = max(worst, abs(shown[:3, :3] - expected[:3, :3]).max() / scale)
    return worst


@pytest.mark.parametrize("name", ["panda", "ur5_robot", "talos_full_v2", "tiago_dual", "borinot_flying_arm_2"])
@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_blender_shows_what_the_model_says(scene: bpy.types.Scene, name: str, unit: float) -> None:
    scene.unit_settings.scale_length = unit
    model = load_urdf(robot(name))
    obj = build(model)
    obj.matrix_world = Matrix.LocRotScale(
        Vector((1, -2, 0.5)), Matrix.Rotation(0.7, 3, "X").to_quaternion(), (2.5,) * 3
    )
    rng = np.random.default_rng(1)
    for _ in range(3):
        assert shown_error(obj, random_configuration(model, rng)) < 1e-5


@pytest.mark.slow
def test_every_real_robot_is_shown_as_its_model(scene: bpy.types.Scene) -> None:
    for path in all_urdfs():
        if path.stem == "ur3":  # a file without links
            continue
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        model = load_urdf(path)
        obj = build(model)
        rng = np.random.default_rng(0)
        for _ in range(10):
            q = moderate(model, random_configuration(model, rng))
            assert shown_error(obj, q) < 1e-5, path.stem


@pytest.mark.parametrize("root", ["fixed", "floating", "planar"])
def test_random_trees_of_every_joint_type(scene: bpy.types.Scene, root: str) -> None:
    rng = np.random.default_rng(5)
    for seed in range(6):
        model = random_robot(seed, root=root)
        obj = build(model)
        for _ in range(2):
            q = random_configuration(model, rng)
            assert shown_error(obj, q) < 1e-5, seed
            back = read_configuration(obj)
            np.testing.assert_allclose(back, q, atol=1e-6)
            np.testing.assert_allclose(
                forward_kinematics(model, back).array, forward_kinematics(model, q).array, atol=1e-5
            )


def test_an_axis_near_minus_y_is_not_snapped(scene: bpy.types.Scene) -> None:
    for tilt in (1e-6, 4e-6, 1e-4, 2.4e-4):
        axis = np.array([tilt, -1.0, 0.5 * tilt])
        place = np.eye(4)
        place[:3, 3] = 1.0, 0.0, 0.0
        joints = [Joint("a", "revolute", "base", "l1", axis=axis), Joint("b", "fixed", "l1", "l2", place)]
        model = RobotModel("tilted", [Link("base"), Link("l1"), Link("l2")], joints)
        assert shown_error(build(model), model.configuration({"a": 2.0})) < 2e-6


def test_a_bone_against_its_parents_direction_is_exact(scene: bpy.types.Scene) -> None:
    """Blender loses digits there, and all bones below would inherit the loss."""
    for tilt in (0.02, 0.05, 0.09, 0.2):
        place = np.eye(4)
        place[:3, 3] = 1.0, 0.5, 0.0
        joints = [Joint("a", "revolute", "base", "l1", axis=np.array([0.6, 0.0, 0.8]))]
        joints.append(Joint("b", "revolute", "l1", "l2", place, np.array([tilt - 0.6, 0.3 * tilt, -0.8])))
        joints.append(Joint("c", "floating", "l2", "l3", place))
        model = RobotModel("folded", [Link("base"), Link("l1"), Link("l2"), Link("l3")], joints)
        obj = build(model)
        q = model.configuration({"a": 2.0, "b": 1.0, "c": [0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5]})
        assert shown_error(obj, q) < 1e-6, tilt
        for bone, joint in zip(obj.pose.bones, binding(obj).model.joints, strict=True):
            rest = np.array(bone.bone.matrix_local.to_3x3(), float)
            assert abs(rest.T @ rest - np.eye(3)).max() < 2e-6
            if joint.name in "ab":  # the ring lies about the joint's axis, whichever of the bone's that is
                shape = rest @ np.array(bone.custom_shape_rotation_euler.to_matrix())
                np.testing.assert_allclose(shape[:, 1], joint.axis, atol=1e-6)


def test_an_axis_that_was_turned_round(scene: bpy.types.Scene) -> None:
    model = load_urdf(robot("panda"))
    obj = build(model)
    settings = obj.data.bones["panda_joint1"].robokin
    settings.axis = (0.0, 0.0, -1.0)
    settings.upper = 0.5
    turned = robot_model(obj)
    assert shown_error(obj, turned.configuration({"panda_joint1": 0.4, "panda_joint4": -1.0})) < 1e-6
    obj.pose.bones["panda_joint1"].rotation_euler[1] = -2.0
    bpy.context.view_layer.update()
    assert turned.joint_values(read_configuration(obj))["panda_joint1"] == pytest.approx(0.5)


def test_turns_are_kept(scene: bpy.types.Scene) -> None:
    model = load_urdf(robot("ur5_robot"))
    obj = build(model)
    q = np.clip(np.full(model.nq, 6.2), None, model.upper)
    assert (q > 6.0).sum() == 5
    write_configuration(obj, q)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(read_configuration(obj), q, atol=1e-6)


def test_what_is_written_is_inside_the_limits_as_single_precision(scene: bpy.types.Scene) -> None:
    for seed in range(8):
        scene.unit_settings.scale_length = (1.0, 0.01, 0.0254)[seed % 3]
        model = random_robot(seed, types=("revolute", "prismatic"), mimics=0.0)
        obj = build(model)
        for end in (model.lower, model.upper):
            bounded = np.where(np.isfinite(end), end, 0.0)
            write_configuration(obj, 1.5 * bounded)
            q = read_configuration(obj)
            assert (q >= model.lower).all() and (q <= model.upper).all()
            Q = np.array([bounded, bounded])
            for (_, _, values, _), channel in zip(curves(obj, Q), channel_table(obj), strict=True):
                assert values.dtype == np.float32
                coordinate = channel.factor * values.astype(float)
                assert (coordinate >= model.lower[channel.q]).all() and (coordinate <= model.upper[channel.q]).all()
                np.testing.assert_allclose(coordinate, Q[:, channel.q], rtol=1e-6, atol=1e-9)


def test_quaternion_curves_do_not_change_sign(scene: bpy.types.Scene) -> None:
    model = RobotModel("free", [Link("base")], [], "floating")
    obj = build(model)
    angle = np.linspace(0.0, 12.0, 200)
    Q = np.zeros((200, 7))
    Q[:, 3], Q[:, 5] = np.cos(angle / 2), np.sin(angle / 2)
    Q[1::2, 3:] *= -1.0
    found = {(path.rpartition(".")[2], index): values for path, index, values, _ in curves(obj, Q)}
    quaternions = np.array([found["rotation_quaternion", i] for i in range(4)]).T
    assert (np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1]) > 0.9).all()


def test_mimic_joints_are_driven_without_scripts(scene: bpy.types.Scene) -> None:
    model = load_urdf(robot("panda"))
    obj = build(model)
    drivers = obj.animation_data.drivers
    assert [d.data_path for d in drivers] == ['pose.bones["panda_finger_joint2"].location']
    assert all(d.driver.is_simple_expression and d.driver.is_valid for d in drivers)
    write_configuration(obj, model.configuration({"panda_finger_joint1": 0.03}))
    bpy.context.view_layer.update()
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert evaluated.pose.bones["panda_finger_joint2"].location[1] == pytest.approx(0.03, abs=1e-7)


def test_a_driver_of_ones_own_stays_as_it_is(scene: bpy.types.Scene) -> None:
    """Whatever is renamed, edited or loaded; and ours comes back where it is removed."""
    obj = build(load_urdf(robot("panda")))
    obj["grip"] = 0.02
    finger = 'pose.bones["panda_finger_joint2"].location'
    obj.driver_remove(finger, 1)
    own = obj.driver_add(finger, 1).driver
    own.type, own.expression = "SCRIPTED", "grip / 2"
    variable = own.variables.new()
    variable.name = "grip"
    variable.targets[0].id, variable.targets[0].data_path = obj, '["grip"]'

    obj.data.bones["panda_finger_joint1"].name = "finger"
    bpy.context.view_layer.update()
    obj.data.bones["panda_joint1"].robokin.upper = 1.0
    bpy.context.view_layer.update()
    found = obj.animation_data.drivers.find(finger, index=1).driver
    assert found.expression == "grip / 2"
    assert [(v.name, v.targets[0].data_path) for v in found.variables] == [("grip", '["grip"]')]

    obj.driver_remove(finger, 1)
    obj.data.bones["panda_joint1"].robokin.upper = 1.1
    obj.pose.bones["finger"].location[1] = 0.03
    bpy.context.view_layer.update()
    assert obj.pose.bones["panda_finger_joint2"].location[1] == pytest.approx(0.03)


def test_a_new_robot_rests_at_zero_and_stands_within_its_limits(scene: bpy.types.Scene) -> None:
    model = load_urdf(robot("panda"))
    obj = build(model)
    q = read_configuration(obj)
    assert in_limits(model, q)
    np.testing.assert_allclose(q, np.clip(model.neutral(), model.lower, model.upper), atol=1e-6)


def test_hand_posing_moves_nothing_but_the_joint(scene: bpy.types.Scene) -> None:
    obj = build(load_urdf(robot("panda"), root="planar"))
    free = {(c.bone, c.path, c.index) for c in channel_table(obj) if c.role == "own"}
    for bone in obj.pose.bones:
        assert all(bone.lock_scale) and bone.lock_rotation_w
        for path, locks in (("location", bone.lock_location), ("rotation_euler", bone.lock_rotation)):
            assert [not lock for lock in locks] == [(bone.name, path, i) in free for i in range(3)], bone.name


def test_edits_stop_at_limits_at_once(scene: bpy.types.Scene) -> None:
    model = load_urdf(robot("panda"))
    obj = build(model)
    obj.pose.bones["panda_joint2"].rotation_euler[1] = 7.0
    obj.pose.bones["panda_joint4"].rotation_euler[1] = -7.0
    bpy.context.view_layer.update()
    values = model.joint_values(read_configuration(obj))
    assert values["panda_joint2"] == pytest.approx(model.joint("panda_joint2").upper[0], abs=1e-6)
    assert values["panda_joint4"] == pytest.approx(model.joint("panda_joint4").lower[0], abs=1e-6)
    assert in_limits(model, read_configuration(obj))
    assert clamp_pose(obj) == []


def test_the_rotate_tool_stops_at_limits(scene: bpy.types.Scene) -> None:
    model = load_urdf(robot("panda"))
    obj = build(model)
    bpy.ops.object.mode_set(mode="POSE")
    area = next(a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    for bone in obj.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "panda_joint2"
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], area=area, region=region):
        bpy.ops.transform.rotate(value=-3.0, orient_axis="Y", orient_type="LOCAL")
    bpy.context.view_layer.update()
    turned = obj.pose.bones["panda_joint2"].rotation_euler
    assert abs(turned[1]) == pytest.approx(model.joint("panda_joint2").upper[0], abs=1e-6)
    assert (turned[0], turned[2]) == (0.0, 0.0)


def test_a_drag_past_a_limit_stays_there(scene: bpy.types.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transform hands over angles that begin again after a whole turn."""
    model = load_urdf(robot("panda"))
    obj = build(model)
    bone = obj.pose.bones["panda_joint2"]
    monkeypatch.setattr("robokin_addon.operators.handlers.hand_limits.transform_running", lambda: True)
    for angle in [*np.linspace(0.0, -9.0, 30), *np.linspace(-9.0, -0.4, 30)]:
        bone.rotation_euler[1] = (angle + np.pi) % (2 * np.pi) - np.pi
        bpy.context.view_layer.update()
        assert bone.rotation_euler[1] == pytest.approx(max(angle, model.lower[1]), abs=1e-5)
    for value in (math.nan, -0.5):
        bone.rotation_euler[1] = value
        bpy.context.view_layer.update()
    assert bone.rotation_euler[1] == pytest.approx(-0.5) and reported_faults() == []
    monkeypatch.undo()
    bpy.context.view_layer.update()


def test_limits_hold_where_robokin_is_not_installed(scene: bpy.types.Scene) -> None:
    model = load_urdf(robot("panda"))
    obj = build(model)
    constraint = obj.pose.bones["panda_joint2"].constraints["Robokin Rotation Limit"]
    assert model.lower[1] <= constraint.min_y and constraint.max_y <= model.upper[1]
    obj.data.bones["panda_joint2"].robokin.upper = 0.5
    assert obj.pose.bones["panda_joint2"].constraints["Robokin Rotation Limit"].max_y == pytest.approx(0.5)


def test_not_a_number_is_named(scene: bpy.types.Scene) -> None:
    obj = build(load_urdf(robot("panda")))
    obj.pose.bones["panda_joint3"].rotation_euler[1] = float("nan")
    with pytest.raises(BridgeError, match=r"panda_joint3.*not a number"):
        read_configuration(obj)


@pytest.mark.parametrize("unit", [1.0, 0.01, 0.001])
def test_world_and_root(scene: bpy.types.Scene, unit: float) -> None:
    scene.unit_settings.scale_length = unit
    model = load_urdf(robot("panda"))
    obj = build(model)
    obj.matrix_world = Matrix.LocRotScale(Vector((3, 1, -2)), Matrix.Rotation(1.1, 3, "Z").to_quaternion(), (0.5,) * 3)
    rng = np.random.default_rng(2)
    for _ in range(5):
        T_root_x = random_placement(rng)
        matrix = to_blender(obj, T_root_x)
        np.testing.assert_allclose(root_from_world(obj, matrix), T_root_x, atol=2e-6)
        # A point of the model is where its bone is seen.
        position = world_from_root(obj) @ T_root_x[:, 3]
        np.testing.assert_allclose(position[:3] / unit, matrix.translation, rtol=1e-5)
    bone = obj.pose.bones["panda_joint7"]
    q = read_configuration(obj)
    T_root_link = forward_kinematics(model, q)["panda_link7"]
    np.testing.assert_allclose(
        to_blender(obj, T_root_link).translation, (obj.matrix_world @ bone.matrix).translation, rtol=1e-5
    )


@pytest.mark.parametrize(
    ("scale", "words"),
    [((1, 2, 1), "non-uniform"), ((-1, -1, -1), "negative"), ((0, 0, 0), "scale 0"), ((1e30,) * 3, "too large")],
)
def test_scales_that_no_robot_has(scene: bpy.types.Scene, scale: tuple, words: str) -> None:
    obj = build(load_urdf(robot("panda")))
    obj.scale = scale
    bpy.context.view_layer.update()
    with pytest.raises(BridgeError, match=words):
        world_from_root(obj)


def test_poses_survive_saving(scene: bpy.types.Scene, tmp_path: Path) -> None:
    model = load_urdf(robot("talos_full_v2"), root="floating")
    obj = build(model)
    q = random_configuration(model, np.random.default_rng(0))
    write_configuration(obj, q)
    path = str(tmp_path / "talos.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    np.testing.assert_allclose(read_configuration(bpy.context.object), q, atol=1e-6)
