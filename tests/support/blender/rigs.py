"""Armatures as people make them, without any robot in them, and the comparison of a robot with what its bones show."""

from __future__ import annotations

import bpy
import numpy as np
from robokin_addon.properties.bridge import binding, read_configuration
from robokin_addon.robokin import forward_kinematics

Bone = tuple[str, str | None, tuple[float, float, float], tuple[float, float, float]]

ARM: list[Bone] = [
    ("upper", None, (0.0, 0.0, 0.0), (0.0, 0.05, 1.0)),
    ("lower", "upper", (0.0, 0.05, 1.0), (0.0, -0.1, 2.0)),
    ("hand", "lower", (0.0, -0.1, 2.0), (0.0, -0.1, 2.4)),
]
_LIMBS: list[Bone] = [
    ("shoulder", "chest", (0.02, 0.0, 1.45), (0.15, 0.0, 1.47)),
    ("upper_arm", "shoulder", (0.17, 0.0, 1.45), (0.42, 0.02, 1.42)),
    ("forearm", "upper_arm", (0.42, 0.02, 1.42), (0.66, -0.03, 1.4)),
    ("hand", "forearm", (0.66, -0.03, 1.4), (0.76, -0.03, 1.39)),
    ("thigh", "hips", (0.1, 0.0, 0.95), (0.11, -0.03, 0.5)),
    ("shin", "thigh", (0.11, -0.03, 0.5), (0.11, 0.02, 0.1)),
    ("foot", "shin", (0.11, 0.02, 0.1), (0.11, -0.12, 0.02)),
    ("toe", "foot", (0.11, -0.12, 0.02), (0.11, -0.2, 0.02)),
]
HUMANOID: list[Bone] = [
    ("hips", None, (0.0, 0.0, 1.0), (0.0, 0.0, 1.15)),
    ("spine", "hips", (0.0, 0.0, 1.15), (0.0, 0.01, 1.3)),
    ("chest", "spine", (0.0, 0.01, 1.3), (0.0, 0.0, 1.5)),
    ("neck", "chest", (0.0, 0.0, 1.5), (0.0, -0.01, 1.6)),
    ("head", "neck", (0.0, -0.01, 1.6), (0.0, 0.0, 1.8)),
    *((f"{name}.{side}", parent if parent in ("chest", "hips") else f"{parent}.{side}",
       (sign * head[0], *head[1:]), (sign * tail[0], *tail[1:]))
      for side, sign in (("L", 1.0), ("R", -1.0)) for name, parent, head, tail in _LIMBS),
]  # fmt: skip
QUADRUPED: list[Bone] = [
    ("body", None, (0.0, 0.5, 0.8), (0.0, -0.5, 0.8)),
    ("neck", "body", (0.0, -0.5, 0.8), (0.0, -0.8, 1.1)),
    ("tail", "body", (0.0, 0.5, 0.8), (0.0, 0.9, 0.7)),
    *((f"{name}.{end}.{side}", (parent and f"{parent}.{end}.{side}") or "body",
       (0.15 * sign, y + head[0], head[1]), (0.15 * sign, y + tail[0], tail[1]))
      for side, sign in (("L", 1.0), ("R", -1.0)) for end, y in (("front", -0.4), ("back", 0.4))
      for name, parent, head, tail in (("upperleg", None, (0.0, 0.75), (0.1, 0.4)),
                                       ("lowerleg", "upperleg", (0.1, 0.4), (0.0, 0.1)),
                                       ("paw", "lowerleg", (0.0, 0.1), (-0.1, 0.02)))),
]  # fmt: skip


def add_rig(bones: list[Bone], name: str = "rig") -> bpy.types.Object:
    """An armature object of these bones (name, parent, head, tail), active and selected; connected where they meet."""
    armature = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, armature)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, parent, head, tail in bones:
        bone = armature.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        if parent is not None:
            bone.parent = armature.edit_bones[parent]
            bone.use_connect = (bone.parent.tail - bone.head).length < 1e-6
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    return obj


def select(obj: bpy.types.Object, *names: str) -> None:
    """Pose Mode with these bones selected, the last one active."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="POSE")
    for bone in obj.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    if names:
        obj.data.bones.active = obj.data.bones[names[-1]]


def disagreement(obj: bpy.types.Object) -> float:
    """The greatest difference between where the model has the links (of the pose that its channels say) and where
    Blender shows their bones, in radians and Blender units."""
    bpy.context.view_layer.update()
    robot = binding(obj)
    frames = forward_kinematics(robot.model, read_configuration(obj))
    worst = 0.0
    for bone, frame, link in zip(robot.bones, robot.frames, robot.model.links, strict=True):
        T = robot.root @ frames[link.name]
        T[:3, :3] = T[:3, :3] @ frame
        T[:3, 3] /= robot.metres_per_unit
        worst = max(worst, float(abs(T - np.array(obj.pose.bones[bone].matrix)).max()))
    return worst
