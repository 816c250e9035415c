"""RobotModel -> one armature object: a bone per joint, at the joint's frame, its Y along the joint's axis."""

from __future__ import annotations

import dataclasses

import bpy
import numpy as np
from mathutils import Matrix

from ....robokin.arrays import Array
from ....robokin.kinematics import rest_placements
from ....robokin.model.robot import RobotModel
from ..belonging import has_object
from ..errors import BridgeError
from ..model.binding import binding
from ..model.joint_bones import allocations
from ..pose.configuration import nearest_within_limits, write_configuration
from ..record.fields import write_fields
from ..record.naming import unique_bone_name
from ..record.snapshot import metres_per_unit
from ..record.stored import KEY, ROBOT_KEY, VERSION, BoneRecord, RobotRecord
from ..record.writing import write_record, write_robot
from ..rig.hand_posing import rig_pose
from ..rig.widgets import assign_shapes
from .helper_bones import fit_helper_bones


def build_armature(context: bpy.types.Context, collection: bpy.types.Collection, model: RobotModel) -> bpy.types.Object:
    """A new armature object for `model` in `collection`, posed at the configuration inside the limits nearest to 0.

    Leaves Blender in Object Mode with the robot active and the only thing selected. `collection` must be in the
    current view layer. Raises BridgeError when it is not.
    """
    unit = metres_per_unit()
    armature = bpy.data.armatures.new(model.name)
    obj = bpy.data.objects.new(model.name, armature)
    collection.objects.link(obj)
    context.view_layer.update()
    if not has_object(context.view_layer, obj):
        bpy.data.armatures.remove(armature)
        raise BridgeError(
            f"collection {collection.name!r} is excluded from the view layer: a robot cannot be built in it"
        )
    _object_mode(context)
    for other in context.view_layer.objects.selected:
        other.select_set(False)
    context.view_layer.objects.active = obj
    obj.select_set(True)

    places = rest_placements(model)
    names = bone_names(model)
    sizes = bone_lengths(model, places)
    frames = bone_frames(model, places)
    bpy.ops.object.mode_set(mode="EDIT")
    _make_bones(armature, model, names, places, frames, sizes / unit, unit)
    bpy.ops.object.mode_set(mode="OBJECT")
    _write_records(armature, model, names, frames, unit)
    context.view_layer.update()  # the pose exists after it
    fit_helper_bones(context, obj)
    rig_pose(obj)
    assign_shapes(obj, binding(obj), sizes / unit)
    write_configuration(obj, nearest_within_limits(model))
    context.view_layer.update()
    return obj


def bone_frames(model: RobotModel, places: list[Array]) -> list[Array]:
    """(3, 3) R_link_bone of each joint's own bone. `places`: those of `rest_placements`."""
    frames: list[Array] = []
    for joint, place in zip(model.joints, places, strict=True):
        i = None if joint.parent is None else model.link_index(joint.parent)
        R_root_parent = np.eye(3) if i is None else places[i][:3, :3] @ frames[i]
        frames.append(allocations(joint, place[:3, :3], R_root_parent)[-1].frame)
    return frames


def bone_names(model: RobotModel) -> list[str]:
    """Unique names of at most 63 bytes: joints keep theirs, the root bone has that of the root link."""
    taken: set[str] = set()
    joints = [unique_bone_name(joint.name, taken) for joint in model.joints[1:]]
    return [unique_bone_name(model.root_link.name, taken), *joints]


def bone_lengths(model: RobotModel, places: list[Array]) -> Array:
    """(joints,) how long a bone is drawn [m]: part of the way to the next joints, within bounds set by the robot's
    size. Bones lie along joint axes, so their length says nothing of the links."""
    heads = np.array([place[:3, 3] for place in places])
    reach = max(np.ptp(heads, axis=0).max(), max((_extent(link) for link in model.links), default=0.0), 1e-3)
    lengths = np.zeros(len(heads))
    for i, joint in enumerate(model.joints):
        if joint.parent is None:
            continue
        parent = model.link_index(joint.parent)
        distance = np.linalg.norm(heads[i] - heads[parent])
        lengths[i] = max(lengths[i], 0.6 * distance)
        lengths[parent] = max(lengths[parent], distance)
    lengths = np.clip(0.3 * lengths, 0.02 * reach, 0.09 * reach)
    lengths[0] = 0.15 * reach
    return lengths


def _extent(link: object) -> float:
    """A rough size [m] of what is known of a link without opening its meshes."""
    return max((float(np.linalg.norm(g.placement[:3, 3])) for g in link.visuals), default=0.0)


def _make_bones(
    armature: bpy.types.Armature,
    model: RobotModel,
    names: list[str],
    places: list[Array],
    frames: list[Array],
    sizes: Array,
    unit: float,
) -> None:
    for i, joint in enumerate(model.joints):
        bone = armature.edit_bones.new(names[i])
        bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, float(sizes[i]), 0.0)
        rest = places[i].copy()
        rest[:3, :3] = rest[:3, :3] @ frames[i]
        rest[:3, 3] /= unit
        bone.matrix = Matrix(rest.tolist())
        if joint.parent is not None:
            bone.parent = armature.edit_bones[names[model.link_index(joint.parent)]]


def _write_records(
    armature: bpy.types.Armature, model: RobotModel, names: list[str], frames: list[Array], unit: float
) -> None:
    armature[ROBOT_KEY] = write_robot(RobotRecord(model.name, unit))
    for i, (joint, link) in enumerate(zip(model.joints, model.links, strict=True)):
        bone = armature.bones[names[i]]
        rest = np.array(bone.matrix_local, float)
        if bone.parent is not None:
            rest = np.linalg.inv(np.array(bone.parent.matrix_local, float)) @ rest
        record = BoneRecord(bone.name, i, joint, link, frames[i], rest)
        bone[KEY] = write_record(record)
        write_fields(bone.robokin, dataclasses.replace(record), VERSION)


def _object_mode(context: bpy.types.Context) -> None:
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
