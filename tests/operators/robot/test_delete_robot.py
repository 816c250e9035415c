"""Delete Robot: all that belongs to a robot goes with it, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace as Of

import bpy
from robokin_addon.operators.robot.delete_robot import ROBOKIN_OT_delete_robot
from support.blender.scene_robots import add_empty, add_target
from support.robots import robot


def test_a_robot_goes_with_its_meshes_targets_and_markers(scene):
    kept = set(scene.objects.keys())
    for _ in range(2):
        assert bpy.ops.robokin.import_urdf(filepath=str(robot("panda"))) == {"FINISHED"}
    first, second = (obj for obj in scene.objects if obj.type == "ARMATURE")
    target, lamp = add_target(first), add_empty("lamp")
    lamp.parent, lamp.parent_type, lamp.parent_bone = first, "BONE", "panda_joint4"
    target.location.z += 5.0
    with bpy.context.temp_override(object=first):
        bpy.ops.robokin.check()
    assert scene.timeline_markers
    for obj in scene.objects:
        obj.select_set(obj in (first, lamp))
    bpy.context.view_layer.objects.active = first
    stays = {second.name, *(mesh.name for mesh in second.children)} | kept
    assert bpy.ops.robokin.delete_robot() == {"FINISHED"}
    assert set(scene.objects.keys()) == stays and len(second.children) > 5
    assert not scene.timeline_markers
    second.select_set(True)
    assert bpy.ops.robokin.delete_robot() == {"FINISHED"}
    assert set(scene.objects.keys()) == kept
    assert not ROBOKIN_OT_delete_robot.poll(bpy.context)


def test_a_target_that_another_robot_follows_stays(scene):
    for _ in range(2):
        assert bpy.ops.robokin.add_robot(robot="puma560") == {"FINISHED"}
    first, second = (obj for obj in scene.objects if obj.type == "ARMATURE")
    target = add_target(first, tip="tool_joint")
    second.robokin.tasks.add().target = target
    for obj in scene.objects:
        obj.select_set(obj == first)
    assert bpy.ops.robokin.delete_robot() == {"FINISHED"}
    assert second.robokin.tasks[0].target == target and target.name in scene.objects


def test_x_asks_and_another_key_is_blenders(scene, monkeypatch):
    from robokin_addon.operators.robot import delete_robot

    asked = []
    manager = Of(invoke_confirm=lambda *_, **__: asked.append(True) or {"RUNNING_MODAL"})
    operator = Of(execute=lambda context: {"FINISHED"})
    for known, key, outcome in ((True, "X", "RUNNING_MODAL"), (True, "DEL", "FINISHED"), (False, "X", "PASS_THROUGH")):
        monkeypatch.setattr(delete_robot, "has_key", lambda *_, known=known: known)
        found = ROBOKIN_OT_delete_robot.invoke(operator, Of(window_manager=manager), Of(type=key, shift=False))
        assert found == {outcome}
    assert asked == [True]
