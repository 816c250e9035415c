"""Duplicate Robot: a robot of its own, with what it wears and the targets made for it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import read_configuration, robot_model
from support.blender.scene_robots import add_empty, add_target, circle
from support.robots import robot


@pytest.fixture
def panda(scene):
    assert bpy.ops.robokin.import_urdf(filepath=str(robot("panda"))) == {"FINISHED"}
    return bpy.context.object


def duplicate(obj):
    with bpy.context.temp_override(object=obj):
        assert bpy.ops.robokin.duplicate_robot() == {"FINISHED"}
    return bpy.context.view_layer.objects.active


def test_meshes_joints_and_pose_are_its_own(panda):
    bpy.context.view_layer.update()
    made = duplicate(panda)
    assert made != panda and made.data != panda.data and len(made.children) == len(panda.children) > 5
    for one, other in zip(panda.children, made.children, strict=True):
        assert one.data == other.data and np.allclose(one.matrix_world, other.matrix_world, atol=1e-6)
    before = read_configuration(panda)
    made.location.x += 2.0
    made.pose.bones["panda_finger_joint1"].location[1] = 0.03
    made.pose.bones["panda_joint1"].rotation_euler[1] = 1.0
    made.data.bones["panda_joint2"].robokin.upper_angle = 0.5
    bpy.context.view_layer.update()
    assert (read_configuration(panda) == before).all() and robot_model(panda).upper[1] > 0.5 > robot_model(made).upper[
        1
    ] - 1e-6
    follower = made.pose.bones["panda_finger_joint2"]
    assert follower.location[1] == pytest.approx(0.03, abs=1e-6)
    assert panda.pose.bones["panda_finger_joint2"].location[1] != pytest.approx(0.03, abs=1e-3)


def test_it_has_targets_and_animation_of_its_own(panda):
    own = add_target(panda)
    circle(own, 10, 0.02)
    lamp = add_empty("lamp")
    with bpy.context.temp_override(object=panda):
        bpy.ops.robokin.task_add()
        panda.robokin.tasks[1].use_target, panda.robokin.tasks[1].target = True, lamp
        panda.robokin.tasks[1].enabled = False
        bpy.ops.robokin.bake(frame_end=10)
    made = duplicate(panda)
    first, second = (task.target for task in made.robokin.tasks)
    assert second == lamp and first != own and first.animation_data.action != own.animation_data.action
    assert made.animation_data.action != panda.animation_data.action
    made.location.x += 2.0
    first.animation_data_clear()
    first.location.x += 2.0
    with bpy.context.temp_override(object=made):
        bpy.ops.robokin.bake(frame_end=10)
    assert made.robokin.solver.bake_status == "CONVERGED" == panda.robokin.solver.bake_status


def test_the_menu_s_moves_the_copy_in_one_step_of_undo(scene):
    macro = bpy.types.ROBOKIN_OT_duplicate_move
    assert "UNDO" in macro.bl_options and bpy.ops.robokin.duplicate_move.get_rna_type() is not None
    parts = [each.identifier for each in bpy.ops.robokin.duplicate_move.get_rna_type().properties]
    assert {"ROBOKIN_OT_duplicate_robot", "TRANSFORM_OT_translate"} <= set(parts)
