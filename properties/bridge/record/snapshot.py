"""All that an armature says about its robot, as plain values that can be compared."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ..belonging import has_object
from ..errors import BridgeError
from .fields import stored_fields
from .reading import record_text
from .stored import HELPER_KEY, KEY, ROBOT_KEY

# Names of the constraints that Robokin itself puts on bones begin with this.
OWN_CONSTRAINT = "Robokin"
_AT_REST = Matrix()


class HelperContent(NamedTuple):
    """A helper bone: name, place among the bones, text of its record."""

    name: str
    place: int
    record: str


class BoneContent(NamedTuple):
    """All that a bone says about its joint. parent: the bone of the joint above.
    helpers: those of this joint, from the parent on."""

    name: str
    place: int
    parent: str | None
    helpers: tuple[HelperContent, ...]
    record: str
    fields: dict
    connected: bool


class ArmatureContent(NamedTuple):
    """Equal content gives an equal model. rests: bytes of the bones' (n, 4, 4) float32 rest matrices, by columns."""

    robot: str
    metres_per_unit: float
    rests: bytes
    bones: tuple[BoneContent, ...]


def is_robot(obj: bpy.types.Object | None) -> bool:
    """Whether `obj` is an armature that carries a robot."""
    return obj is not None and obj.type == "ARMATURE" and ROBOT_KEY in obj.data


def refuse_linked_bones(obj: bpy.types.Object) -> None:
    """Raise BridgeError for bones of another file: what is changed on them is not saved, also in an override."""
    if obj.data.library is not None or obj.data.override_library is not None:
        raise BridgeError(
            f"the joints of {obj.name!r} are in {obj.data.name!r}, linked from another file: edit them there"
        )


def metres_per_unit(obj: bpy.types.Object | None = None) -> float:
    """Metres in one Blender unit, of the current scene (or of the one that holds `obj`, when the current does not)."""
    scene = bpy.context.scene
    if obj is not None and not has_object(scene, obj) and obj.users_scene:
        scene = obj.users_scene[0]
    return float(str(np.float32(scene.unit_settings.scale_length)))


def armature_content(obj: bpy.types.Object) -> ArmatureContent:
    """Raises BridgeError when `obj` is no robot, or has settings under which Blender would not show what it says."""
    if not is_robot(obj):
        name = obj.name if obj else "nothing"
        raise BridgeError(f"{name!r} is not a robot: make it one (Make Robot), or import a URDF")
    arm = obj.data
    if arm.is_editmode:  # whose bones are others, until it ends
        raise BridgeError(f"armature {arm.name!r} is in Edit Mode: leave it first")
    if obj.pose is None:
        raise BridgeError(f"{obj.name!r} has no pose yet: update the view layer first")
    _refuse_what_bends_kinematics(obj)
    rests = np.empty(16 * len(arm.bones), np.float32)
    arm.bones.foreach_get("matrix_local", rests)
    try:
        bones = tuple(_bone_content(bone, i) for i, bone in enumerate(arm.bones) if KEY in bone)
    except (UnicodeDecodeError, SystemError) as error:  # Blender's own, of bytes that are no text
        reason = error.__cause__ or error
        raise BridgeError(f"armature {arm.name!r}: a bone's name or record is damaged ({reason})") from None
    if any(bone.helpers for bone in bones):
        bones = _placed(arm, bones)
    return ArmatureContent(record_text(arm, ROBOT_KEY), metres_per_unit(obj), rests.tobytes(), bones)


def _bone_content(bone: bpy.types.Bone, place: int) -> BoneContent:
    parent, helpers, own = bone.parent, [], True
    while parent is not None and KEY not in parent:
        own = own and HELPER_KEY in parent
        if own:
            helpers.append(HelperContent(parent.name, 0, record_text(parent, HELPER_KEY)))
        parent = parent.parent
    name = parent.name if parent else None
    return BoneContent(
        bone.name, place, name, tuple(reversed(helpers)), record_text(bone, KEY), stored_fields(bone), bone.use_connect
    )


def _placed(arm: bpy.types.Armature, bones: tuple[BoneContent, ...]) -> tuple[BoneContent, ...]:
    """The bones with the places of their helpers."""
    places = {bone.name: i for i, bone in enumerate(arm.bones)}
    return tuple(b._replace(helpers=tuple(h._replace(place=places[h.name]) for h in b.helpers)) for b in bones)


def foreign_constraint(bone: bpy.types.PoseBone) -> bpy.types.Constraint | None:
    """The first constraint that moves the bone and is none of Robokin's."""
    for constraint in bone.constraints:
        if constraint.enabled and constraint.influence > 0.0 and not constraint.name.startswith(OWN_CONSTRAINT):
            return constraint
    return None


def _refuse_what_bends_kinematics(obj: bpy.types.Object) -> None:
    """Raise BridgeError for settings under which Blender would not show what the model says."""
    for bone in obj.data.bones:
        plain = bone.use_inherit_rotation and bone.inherit_scale == "FULL" and bone.use_local_location
        if not plain and (KEY in bone or HELPER_KEY in bone):
            raise BridgeError(
                f"bone {bone.name!r}: a robot needs Inherit Rotation, Local Location, Inherit Scale: Full"
            )
    for bone in obj.pose.bones:
        own = bone.bone
        if own is None:
            raise BridgeError(f"{obj.name!r} is not posed as its bones are yet: update the view layer first")
        if KEY not in own and HELPER_KEY not in own:
            if bone.matrix_basis != _AT_REST and any(KEY in below for below in own.children_recursive):
                raise BridgeError(
                    f"bone {bone.name!r} carries the robot but is none of its joints: clear its pose (to move the "
                    "whole robot, move the object)"
                )
            continue
        constraint = foreign_constraint(bone)
        if constraint is not None:
            raise BridgeError(
                f"bone {bone.name!r} has the constraint {constraint.name!r}, but a robot's joints move by their "
                "own values: remove or disable it, or make it a task with Convert Rig"
            )
