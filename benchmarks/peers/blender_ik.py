"""Blender's own IK constraint (legacy solver, 500 iterations) on a rig of the same joints; one start.

Blender's solver has no statement of success and no restarts: what its bones show after one evaluation counts.
"""

from __future__ import annotations

from xml.etree import ElementTree

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector


def chain_of(urdf: str, tip: str) -> list[ElementTree.Element]:
    above = {j.find("child").get("link"): j for j in ElementTree.parse(urdf).getroot().findall("joint")}
    chain = []
    while tip in above:
        chain.insert(0, above[tip])
        tip = above[tip].find("parent").get("link")
    return chain


def numbers(element, key, default):
    return (
        [float(x) for x in element.get(key, default).split()]
        if element is not None
        else [float(x) for x in default.split()]
    )


def build(chain):
    """One bone per moving joint along its axis (Y), a last bone for the tip; IK locks and limits on Y."""
    armature = bpy.data.armatures.new("rig")
    rig = bpy.data.objects.new("rig", armature)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    T, parent, bones = Matrix.Identity(4), None, []
    for joint in chain:
        origin = joint.find("origin")
        xyz, rpy = numbers(origin, "xyz", "0 0 0"), numbers(origin, "rpy", "0 0 0")
        T = T @ Matrix.Translation(xyz) @ Euler(rpy, "XYZ").to_matrix().to_4x4()
        if joint.get("type") == "fixed":
            continue
        axis = Vector(numbers(joint.find("axis"), "xyz", "1 0 0"))
        bone = armature.edit_bones.new(joint.get("name"))
        bone.head = T.translation
        bone.tail = T.translation + 0.05 * (T.to_3x3() @ axis)
        bone.parent = parent
        parent = bone
        bones.append(joint)
    tip = armature.edit_bones.new("tip")
    tip.length = 0.05
    tip.matrix = T @ Euler((np.pi / 2, 0, 0)).to_matrix().to_4x4()
    tip.length = 0.05
    tip.parent = parent
    rest_tip = np.array(tip.matrix)
    bpy.ops.object.mode_set(mode="POSE")
    for joint in bones:
        pose = rig.pose.bones[joint.get("name")]
        pose.rotation_mode = "YXZ"
        pose.lock_ik_x = pose.lock_ik_z = True
        limit = joint.find("limit")
        if limit is not None and joint.get("type") == "revolute":
            pose.use_ik_limit_y = True
            pose.ik_min_y, pose.ik_max_y = float(limit.get("lower")), float(limit.get("upper"))
    last = rig.pose.bones["tip"]
    last.lock_ik_x = last.lock_ik_y = last.lock_ik_z = True
    goal = bpy.data.objects.new("goal", None)
    bpy.context.collection.objects.link(goal)
    constraint = last.constraints.new("IK")
    constraint.target = goal
    constraint.iterations = 500
    constraint.use_rotation = True
    # The solver's effector is the tail of the bone.
    tail = np.array(Matrix.Translation((0, last.bone.length, 0)))
    T_link_tip = np.linalg.inv(np.array(T)) @ rest_tip @ tail
    return rig, goal, [j.get("name") for j in bones], T_link_tip


def prepare(problem):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    joints = list(problem["joints"])
    rig, goal, names, T_link_tip = build(chain_of(str(problem["urdf"]), str(problem["tips"][0])))
    index = [joints.index(name) for name in names]
    start = np.array(problem["start"])
    pose = [rig.pose.bones[name] for name in names]
    layer = bpy.context.view_layer

    def read():
        """Joint angles from the evaluated pose: the constraint leaves the channels as they were."""
        row, above = start.copy(), None
        for bone, i in zip(pose, index, strict=True):
            rest = bone.bone.matrix_local
            shown = bone.matrix
            if above is not None:
                rest = above.bone.matrix_local.inverted() @ rest
                shown = above.matrix.inverted() @ shown
            local = rest.inverted() @ shown
            row[i] = np.arctan2(local[0][2], local[0][0])
            above = bone
        return row

    def reset():
        for bone, i in zip(pose, index, strict=True):
            bone.rotation_euler = (0.0, start[i], 0.0)

    def evaluate(targets):
        goal.matrix_world = Matrix(targets[0] @ T_link_tip)
        layer.update()

    def solve(targets):
        evaluate(targets)
        return read()

    reset()
    layer.update()
    return {"solve": solve, "track": solve}
