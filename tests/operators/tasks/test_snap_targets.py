"""Targets go where the pose of the robot meets them, and the robot stays."""

from __future__ import annotations

from contextlib import suppress

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from robokin_addon.properties.bridge import read_configuration, robot_model, write_configuration
from robokin_addon.properties.task_kinds import KINDS
from robokin_addon.robokin import random_configuration
from robokin_addon.scene.animation.frames import fcurves
from support.blender.scene_robots import TOOL, add_empty, add_robot, add_target, placed, world_error

SNAPPED = [
    name for name, kind in KINDS.items() if kind.target == "POSE" and not kind.is_velocity and name != "DISTANCE"
]


def snap(robot):
    with bpy.context.temp_override(object=robot, active_object=robot):
        return bpy.ops.robokin.snap_targets()


def posed(robot, seed=3):
    model = robot_model(robot)
    q = model.limits.clamp(random_configuration(model, np.random.default_rng(seed)))
    write_configuration(robot, q)
    bpy.context.view_layer.update()
    return read_configuration(robot)


@pytest.mark.parametrize("kind", SNAPPED)
def test_a_task_is_met_where_the_robot_stands(scene, kind):
    robot = placed(add_robot(), (1.0, -2.0, 0.5), (0.3, 0.2, 0.9), 0.7)
    target = add_target(robot, kind=kind)
    parent = add_empty("parent")
    parent.matrix_world = Matrix.LocRotScale((3.0, 1.0, 2.0), None, (2.0, 2.0, 2.0))
    target.parent = parent
    bpy.context.view_layer.update()
    scale = tuple(target.matrix_world.decompose()[2])
    q = posed(robot)
    assert snap(robot) == {"FINISHED"}
    assert tuple(target.matrix_world.decompose()[2]) == pytest.approx(scale, rel=1e-5)
    with bpy.context.temp_override(object=robot, active_object=robot):
        bpy.ops.robokin.solve_pose()
    assert robot.robokin.solver.status == "CONVERGED"
    assert read_configuration(robot) == pytest.approx(q, abs=2e-4)  # it was met before: single precision alone


def test_what_cannot_be_moved_is_reported_and_stays(scene, capfd):
    robot = add_robot()
    good, held = add_target(robot), add_target(robot, "panda_joint5")
    constraint = held.constraints.new("COPY_LOCATION")
    constraint.target = add_empty("elsewhere")
    basis = held.matrix_basis.copy()
    posed(robot)
    assert snap(robot) == {"FINISHED"}
    assert world_error(robot, TOOL, good)[0] < 1e-5
    assert held.matrix_basis == basis
    assert "a constraint or a driver moves it" in capfd.readouterr().out
    robot.robokin.tasks[0].enabled = False
    with pytest.raises(RuntimeError, match="a constraint or a driver moves it"):
        snap(robot)
    robot.robokin.tasks.clear()
    with pytest.raises(RuntimeError, match="follows an object"):
        snap(robot)


def test_automatic_keying_keys_the_target(scene, auto_keying):
    robot = add_robot()
    target = add_target(robot)
    target.rotation_mode = "QUATERNION"
    posed(robot)
    scene.frame_set(12)
    auto_keying.use_keyframe_insert_available = True
    snap(robot)
    assert target.animation_data is None or target.animation_data.action is None
    auto_keying.use_keyframe_insert_available = False
    snap(robot)
    place = target.matrix_world.copy()
    scene.frame_set(12)
    assert np.allclose(target.matrix_world, place, atol=1e-6)
    bag = target.animation_data.action.layers[0].strips[0].channelbags[0]
    assert {curve.data_path for curve in bag.fcurves} == {"location", "rotation_quaternion"}


@pytest.mark.parametrize(
    "made",
    ["Location", "Rotation", "Scaling", "BUILTIN_KSI_LocRot", "Available", "WholeCharacter"],
)
def test_a_keying_set_keys_the_channels_of_the_target_that_blender_keys_with_it(scene, auto_keying, made):
    robot = add_robot()
    target = add_target(robot)
    bpy.ops.object.select_all(action="DESELECT")
    target.select_set(True)
    bpy.context.view_layer.objects.active = target
    target.keyframe_insert("location", index=2, frame=1)
    area = next(each for each in bpy.context.window.screen.areas if each.type == "VIEW_3D")
    region = next(each for each in area.regions if each.type == "WINDOW")
    scene.frame_set(9)
    with bpy.context.temp_override(area=area, region=region), suppress(RuntimeError):  # of a set of bones alone
        bpy.ops.anim.keyframe_insert_by_name(type=made)

    def keyed_at(frame):
        return {key for key, curve in fcurves(target).items() if curve.keyframe_points[-1].co.x == frame}

    wanted = {key for key in keyed_at(9.0) if key[0] != "scale"}
    target.animation_data_clear()
    target.keyframe_insert("location", index=2, frame=1)
    posed(robot)
    scene.tool_settings.use_keyframe_insert_keyingset = True
    scene.keying_sets_all.active = next(each for each in scene.keying_sets_all if each.bl_idname == made)
    scene.frame_set(9)
    with bpy.context.temp_override(area=area, region=region):
        snap(robot)
    assert keyed_at(9.0) == wanted
    assert bool(wanted) == (made not in ("Scaling", "WholeCharacter"))


def test_a_keying_set_of_ones_own_keys_its_axes_of_the_target(scene, auto_keying):
    robot = add_robot()
    target = add_target(robot)
    own = scene.keying_sets.new(idname="own", name="own")
    own.paths.add(target, "location", index=1)
    own.paths.add(robot, "rotation_euler")
    scene.keying_sets.active = own
    scene.tool_settings.use_keyframe_insert_keyingset = True
    posed(robot)
    snap(robot)
    assert fcurves(target).keys() == {("location", 1)}
