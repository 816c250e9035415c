"""Bakes that end early, cannot be, or are taken back leave nothing half written."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.bridge import binding, robot_model
from robokin_addon.properties.postures import start_configuration
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.scene.bake import retime
from robokin_addon.scene.bake.bake import bake_steps
from robokin_addon.scene.bake.choices import BakeChoices
from support.blender.scene_bakes import bake, slow_road, snapshot
from support.blender.scene_robots import TOOL


def test_a_linked_robot_says_so_and_an_override_bakes_into_its_own_action(scene, robot, target, tmp_path):
    bake(robot, frame_end=3)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robot.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "robot.blend"), link=True) as (_, wanted):
        wanted.objects = ["panda"]
    linked, scene = wanted.objects[0], bpy.context.scene
    scene.collection.objects.link(linked)
    with pytest.raises(RuntimeError, match="'panda' is linked from another file: make a library override first"):
        bake(linked)
    override = linked.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    with pytest.raises(RuntimeError, match="is linked from another file: bake into a new action"):
        bake(override, frame_end=3)
    assert bake(override, frame_end=3, new_action=True).bake_status == "CONVERGED"
    assert override.animation_data.action.library is None


@pytest.mark.parametrize("until", [0.0, 0.3, 0.6, 0.89, 0.97])
def test_an_abandoned_bake_leaves_nothing_behind_however_far_it_has_come(scene, robot, target, until):
    bpy.ops.robokin.criterion_add(kind="JOINT_SPRINGS")
    bake(robot, frame_end=40)
    slow_road(robot, target)
    scene.frame_set(7)
    before = snapshot(scene, robot)
    start = start_configuration(robot, robot_model(robot), "REST")
    choices = BakeChoices(frames=range(1, 40), q0=start)
    steps = bake_steps(scene, bpy.context.view_layer, robot, binding(robot), choices)
    assert any(share >= until for share in steps)
    steps.close()
    assert snapshot(scene, robot) == before


def cycle(robot, target):
    target.parent, target.parent_type, target.parent_bone = robot, "BONE", TOOL
    return "follows a bone of 'panda' itself"


def no_task(robot, target):
    robot.robokin.tasks[0].enabled = False
    return "there is no task to bake"


def driver_on_joint(robot, target):
    path, index = next(iter(own_keys(binding(robot))))
    robot.driver_add(path, index)
    return "joint 'panda_joint1': Y Rotation of bone 'panda_joint1' has a driver: mute or remove it"


def target_turns_into_nothing(robot, target):
    target.scale = (1, 1, 1)
    target.keyframe_insert("scale", frame=1)
    target.scale = (0, 0, 0)
    target.keyframe_insert("scale", frame=20)
    return "its target has a scale of zero"


def stretched_time(robot, target):
    bpy.context.scene.render.frame_map_new = 200
    return "the scene's time is stretched"


def robot_stretches(robot, target):
    robot.keyframe_insert("scale", frame=1)
    robot.scale = (1, 2, 1)
    robot.keyframe_insert("scale", frame=20)
    return "'panda' has a non-uniform scale"


def posture_of_another(robot, target):
    robot.robokin.solver.posture = '{"shoulder": 1}'
    return "no joint named 'shoulder'"


@pytest.mark.parametrize(
    "harm",
    [cycle, no_task, driver_on_joint, target_turns_into_nothing, stretched_time, robot_stretches, posture_of_another],
)
def test_a_bake_that_cannot_be_says_why_and_writes_nothing(scene, robot, target, harm):
    bake(robot)
    words = harm(robot, target)
    scene.frame_set(1)
    before = snapshot(scene, robot)
    with pytest.raises(RuntimeError, match=words):
        bake(robot)
    assert snapshot(scene, robot) == before


def test_one_undo_step_takes_it_all_back(scene, robot, target):
    name = robot.name
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = robot
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.robokin.bake("EXEC_DEFAULT", True)
    assert animation.channelbag(robot) is not None
    bpy.ops.ed.undo()
    assert animation.channelbag(bpy.data.objects[name]) is None


def test_a_retime_can_be_stopped_after_its_timing_is_known_and_before_it_is_written(scene, robot, target, monkeypatch):
    bake(robot, frame_end=20)
    before, timed, real = snapshot(scene, robot), [], retime.timing_steps

    def noted(*arguments, **named):
        timed.append((yield from real(*arguments, **named)))
        return timed[0]

    monkeypatch.setattr(retime, "timing_steps", noted)
    steps = retime.retime_steps(scene, robot, binding(robot), 1, 20)
    assert any(timed for _ in steps)
    steps.close()
    assert snapshot(scene, robot) == before
