"""A person's own armature, made a robot with one joint of every kind."""

from __future__ import annotations

import atexit
import shutil
import tempfile

import bpy
import numpy as np
from mathutils import Vector
from robokin_addon.robokin.model.joint_types import JOINT_TYPES

WHEELS = ("wheel.L", "wheel.R")
MADE: list[str] = []  # the folder with its file
# bone: its fields; each points somewhere else
JOINTS: dict[str, dict] = {
    "hinge": {"joint_type": "revolute", "axis": (1, 0, 0)},
    "endless": {"joint_type": "continuous", "axis": (0, 1, 0)},
    "slide": {"joint_type": "prismatic", "axis": (0, 1, 0)},
    "thread": {"joint_type": "screw", "axis": (0, 1, 0), "pitch": 0.02},
    "piston": {"joint_type": "cylindrical", "axis": (0, 1, 0)},
    "cross": {"joint_type": "universal", "universal_order": "ZX"},
    "gimbal": {"joint_type": "gimbal", "gimbal_order": "YXZ"},
    "euler": {"joint_type": "gimbal", "gimbal_order": "ZXZ"},
    "skew": {"joint_type": "universal", "use_axes": True, "axis_1": (0, 0, 1), "axis_2": (0.6, 0, 0.8)},
    "askew": {"joint_type": "revolute", "axis": (0.36, 0.48, 0.8)},
    "ball": {"joint_type": "spherical", "axis": (0, 1, 0)},
    "table": {"joint_type": "planar", "axis": (0, 0, 1)},
    "kite": {"joint_type": "floating"},
}


def draw_armature() -> bpy.types.Object:
    """Bones beside each other on a base, pointing anywhere, each with a tip; two wheels."""
    armature = bpy.data.armatures.new("Mine")
    obj = bpy.data.objects.new("Mine", armature)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.edit_bones
    base = bones.new("base")
    base.head, base.tail = (0, 0, 0), (0, 1, 0)
    rng = np.random.default_rng(8)
    for i, name in enumerate(JOINTS):
        bone, tip = bones.new(name), bones.new(f"{name} tip")
        bone.parent, tip.parent = base, bone
        bone.head = (0.7 * (i % 5 - 2), 0.7 * (i // 5 - 1), 0.4)
        bone.tail = bone.head + 0.3 * Vector(rng.normal(size=3)).normalized()
        bone.roll = rng.uniform(-3, 3)
        tip.head, tip.tail = bone.tail, bone.tail + Vector((0, 0, 0.1))
    for name, y in zip(WHEELS, (1.0, -1.0), strict=True):
        wheel = bones.new(name)
        wheel.parent = base
        wheel.head, wheel.tail = (0, y, 0.2), (0, y + 0.1, 0.2)
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


def make_every_joint() -> bpy.types.Object:
    """Active and selected. Made once; then it is appended, for each field that is set has the robot computed anew."""
    if not MADE:
        obj = _make()
        MADE.append(tempfile.mkdtemp(prefix="robokin-tests-"))
        atexit.register(shutil.rmtree, MADE[0], ignore_errors=True)
        bpy.data.libraries.write(f"{MADE[0]}/every.blend", {obj}, fake_user=False)
        return obj
    with bpy.data.libraries.load(f"{MADE[0]}/every.blend") as (found, wanted):
        wanted.objects = [name for name in found.objects if name == "Mine"]
    (obj,) = wanted.objects
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    bpy.context.view_layer.update()
    return obj


def _make() -> bpy.types.Object:
    obj = draw_armature()
    obj.select_set(True)
    assert bpy.ops.robokin.make_robot() == {"FINISHED"}
    for bone in obj.data.bones:
        bone.robokin.joint_type = "fixed"
    for name in WHEELS:
        obj.data.bones[name].robokin.axis = (0, 1, 0)
        obj.data.bones[name].robokin.joint_type = "continuous"
    for name, fields in JOINTS.items():
        settings = obj.data.bones[name].robokin
        for field, value in fields.items():
            setattr(settings, field, value)
        for freedom in range(JOINT_TYPES[fields["joint_type"]].nv if fields["joint_type"] != "floating" else 0):
            end = "" if freedom == 0 else f"_{freedom + 1}"
            for bound, value in ((f"lower{end}", -0.7), (f"upper{end}", 0.9)):
                setattr(settings, bound, value)
                setattr(settings, f"use_{bound}", fields["joint_type"] != "continuous")
    assert bpy.ops.robokin.helper_bones() == {"FINISHED"}
    base = obj.data.bones["base"].robokin
    base.joint_type, base.axis = "wheeled", obj.data.bones["base"].matrix_local.inverted().to_3x3() @ Vector((0, 0, 1))
    base.wheel_left, base.wheel_right, base.wheel_radius, base.wheel_separation = (*WHEELS, 0.2, 2.0)
    return obj
