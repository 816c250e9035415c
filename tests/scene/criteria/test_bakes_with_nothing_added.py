"""A task of influence 0 and a criterion of weight 0 change no key of a bake: to the last bit."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding
from robokin_addon.properties.criteria import KINDS
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.scene.animation.frames import channelbag, fcurves
from support.blender.scene_bakes import bake, keys
from support.blender.scene_robots import add_empty, build
from support.engine.robots import engine_robot
from support.few import rest_slow
from support.problems.limits import with_rates
from support.random_problems.random_arms import random_arm

FRAMES = 16
IDLE = ("POSE", "POSITION", "ORIENTATION", "AIM", "PLANE", "DISTANCE", "RELATIVE", "JOINT", "TWIST", "PIN")
CRITERIA = [kind[0] for kind in KINDS if kind[0] != "FAR_FROM_OBSTACLES"]
LIMITS = {"no rates": None, "accelerations": {"velocity": 3.0, "acceleration": 8.0}}


def add(obj, kind, tip, at, away, **settings):
    """A task whose target goes slowly, then jumps `away` from there."""
    other = obj.pose.bones[0].name if kind == "RELATIVE" else ""
    assert bpy.ops.robokin.task_add(kind=kind, tip=tip, other=other) == {"FINISHED"}
    goal, task = add_empty("goal"), obj.robokin.tasks[-1]
    for frame, place in ((1, at), (8, at + np.array([0.05, 0.02, 0.0])), (9, at + away), (FRAMES, at + away)):
        goal.location = place
        goal.keyframe_insert("location", frame=frame)
    if kind in ("POSE", "POSITION", "ORIENTATION", "AIM", "PLANE", "DISTANCE"):
        task.use_target, task.target = True, goal
    for name, value in settings.items():
        setattr(task, name, value)


@pytest.fixture(params=rest_slow(["xarm7", "ball bones", "tiago", "solo12"], 2))
def baked(request, scene):
    """A robot whose two levels follow a target out of reach and back to the side, of each kind of limits."""
    scene.frame_start, scene.frame_end = 1, FRAMES
    found = []
    for rates in LIMITS.values():
        model = engine_robot(request.param)
        obj = build(with_rates(model, **rates) if rates else model)
        obj.robokin.live = False
        bpy.context.view_layer.objects.active = obj
        bones = [bone.name for bone in obj.pose.bones if bone.name in {joint.name for joint in model.moving_joints}]
        size = max(max(obj.dimensions), 0.5)
        at = np.array(obj.pose.bones[bones[-1]].head)
        add(obj, "POSITION", bones[-1], at, np.array([0.3, 0.2, 4.0]) * size)
        add(obj, "POSITION", bones[len(bones) // 2], at, np.array([0.1, -0.1, 0.2]) * size, priority=2)
        found.append((obj, bones, at, size))
    return found


def joint_keys(obj):
    bpy.context.view_layer.objects.active = obj
    bake(obj)
    own = own_keys(binding(obj))
    return {key: values.tolist() for key, values in keys(obj).items() if key in own}


def test_tasks_without_influence(baked):
    """Whatever their kind and level, though their targets jump out of reach; at 0 by a key as well."""
    for (obj, bones, at, size), limits in zip(baked, LIMITS, strict=True):
        expected = joint_keys(obj)
        for number, kind in enumerate(IDLE):
            add(obj, kind, bones[-1 - number % 2], at, np.array([0.0, 9.0, 1.0]) * size, influence=0.0)
            obj.robokin.tasks[-1].priority = 1 + number % 4
        assert joint_keys(obj) == expected, limits
        for task in obj.robokin.tasks[2:]:
            task.keyframe_insert("influence", frame=1)
        assert joint_keys(obj) == expected, f"{limits}, keyed"


def test_criteria_without_weight(baked):
    """Without others, though their gain is keyed and the bake is to be repeatable, then beside one that counts."""
    for (obj, *_), limits in zip(baked, LIMITS, strict=True):
        for mode, counting in (("EXTENDED", ()), ("PRIORITIES", ("JOINT_SPRINGS",))):
            obj.robokin.solver.mode = mode
            for kind in counting:
                assert bpy.ops.robokin.criterion_add(kind=kind) == {"FINISHED"}
            expected = joint_keys(obj)
            for kind in CRITERIA:
                bpy.context.view_layer.objects.active = obj
                assert bpy.ops.robokin.criterion_add(kind=kind) == {"FINISHED"}
                item = obj.robokin.criteria[-1]
                item.weight = 0.0
                for frame, gain in ((1, 1.0), (FRAMES, 2.0)):
                    item.gain = gain
                    item.keyframe_insert("gain", frame=frame)
            assert joint_keys(obj) == expected, f"{limits}, beside {counting}"
            for path, index in [key for key in fcurves(obj) if ".criteria[" in key[0]]:
                channelbag(obj).fcurves.remove(fcurves(obj)[path, index])
            obj.robokin.criteria.clear()


def test_criteria_without_weight_that_the_robot_cannot_have(scene):
    """No link of the arm has a mass."""
    scene.frame_start, scene.frame_end = 1, 4
    obj = build(random_arm(77))
    obj.robokin.live = False
    bpy.context.view_layer.objects.active = obj
    tip = obj.pose.bones[-1].name
    add(obj, "POSITION", tip, np.array(obj.pose.bones[tip].head), np.zeros(3))
    expected = joint_keys(obj)
    for kind in ("KINETIC_ENERGY", "GRAVITY_TORQUE", "DYNAMIC_TORQUE"):
        assert bpy.ops.robokin.criterion_add(kind=kind) == {"FINISHED"}
        obj.robokin.criteria[-1].weight = 0.0
    assert joint_keys(obj) == expected
