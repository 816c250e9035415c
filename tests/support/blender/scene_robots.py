"""Robots in a scene, and targets that move, for tests of operators."""

from __future__ import annotations

from functools import cache

import bpy
import numpy as np
from mathutils import Matrix
from robokin_addon.properties.bridge import binding, build_armature, read_configuration, write_configuration
from robokin_addon.robokin import RobotModel, forward_kinematics, load_urdf

from support.robots import robot

TOOL = "panda_hand_tcp_joint"
READY = [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]  # of the arm's seven joints, away from singularities


@cache
def model_of(name: str, root: str = "fixed") -> RobotModel:
    return load_urdf(robot(name), root=root)


def build(model: RobotModel) -> bpy.types.Object:
    return build_armature(bpy.context, bpy.context.scene.collection, model)


def shown(obj: bpy.types.Object, link: str) -> np.ndarray:
    """T_armature_link as Blender's bone says, in Blender units."""
    bpy.context.view_layer.update()
    found = binding(obj)
    bone = found.bone_of_link[link]
    T = np.array(obj.pose.bones[bone].matrix)
    T[:3, :3] = T[:3, :3] @ found.frames[found.bones.index(bone)].T
    return T


def root_from_world(obj: bpy.types.Object, matrix: Matrix) -> np.ndarray:
    """(4, 4) T_root_target [m] of a pose in Blender's world, as Blender's own matrices have it; scales dropped."""
    location, rotation, _ = (obj.matrix_world.inverted() @ matrix).decompose()
    T_armature_target = np.array(Matrix.LocRotScale(location, rotation, None), float)
    T_armature_target[:3, 3] *= binding(obj).metres_per_unit
    return np.linalg.inv(binding(obj).root) @ T_armature_target


def add_robot(name: str = "panda", root: str = "fixed", live: bool = False) -> bpy.types.Object:
    """The armature of a real robot, active and selected; a Panda stands ready, and that is its stored posture. Without
    `live` only what is asked for moves it."""
    obj = build(model_of(name, root))
    obj.robokin.live = live
    if name == "panda":
        q = read_configuration(obj)
        q[: len(READY)] = READY
        write_configuration(obj, q)
        bpy.context.view_layer.update()
        assert bpy.ops.robokin.store_posture() == {"FINISHED"}
    return obj


def placed(obj, location, rotation, scale=1.0):
    """The object, put there as Blender shows it."""
    obj.location, obj.rotation_euler, obj.scale = location, rotation, (scale, scale, scale)
    bpy.context.view_layer.update()
    return obj


def add_empty(name: str, parent: bpy.types.Object | None = None) -> bpy.types.Object:
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = parent
    return obj


def add_target(obj: bpy.types.Object, tip: str = TOOL, kind: str = "POSE") -> bpy.types.Object:
    """An empty at the tip with its task, through the operator."""
    with bpy.context.temp_override(object=obj):
        assert bpy.ops.robokin.target_add(tip=tip, kind=kind) == {"FINISHED"}
    return obj.robokin.tasks[-1].target


def circle(target: bpy.types.Object, frames: int, radius: float = 0.1, keys: int = 20) -> None:
    """Key a horizontal circle that begins where the target is, over frames 1..frames."""
    start = target.location.copy()
    for i in range(keys + 1):
        angle = 2 * np.pi * i / keys
        target.location = start
        target.location.x += radius * (np.cos(angle) - 1)
        target.location.y += radius * np.sin(angle)
        target.keyframe_insert("location", frame=1 + (frames - 1) * i / keys)


def world_error(obj: bpy.types.Object, tip: str, target: bpy.types.Object) -> tuple[float, float]:
    """(distance in Blender units, angle) between the tip as Blender shows its bone, and the target.

    Independent of the solver's own forward kinematics: the bone's matrix, turned into the axes of its link.
    """
    bpy.context.view_layer.update()
    robot_binding = binding(obj)
    frame = robot_binding.frames[robot_binding.bones.index(tip)]
    shown = np.array(obj.matrix_world @ obj.pose.bones[tip].matrix)
    rotation = shown[:3, :3] / np.cbrt(np.linalg.det(shown[:3, :3])) @ frame.T
    wanted = np.array(target.matrix_world.to_quaternion().to_matrix())
    angle = np.linalg.norm(rotation - wanted) / np.sqrt(2.0)
    return float(np.linalg.norm(shown[:3, 3] - np.array(target.matrix_world.translation))), float(angle)


def model_pose(obj: bpy.types.Object, tip: str) -> np.ndarray:
    """(4, 4) T_root_link of a bone's link in the present pose."""
    robot_binding = binding(obj)
    return forward_kinematics(robot_binding.model, read_configuration(obj))[robot_binding.link_of_bone[tip]]


def world(obj: bpy.types.Object, bone: str) -> np.ndarray:
    """(3,) where a bone's link is seen, its head."""
    bpy.context.view_layer.update()
    return np.array(obj.matrix_world @ obj.pose.bones[bone].head)
