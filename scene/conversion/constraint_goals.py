"""What the constraints of an ordinary rig that are no inverse kinematics ask of a bone, in the words of tasks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import bpy
import numpy as np
from mathutils import Matrix

Axes = tuple[bool, bool, bool]

ALL: Axes = (True, True, True)
RELATIONS = {"LIMITDIST_INSIDE": "INSIDE", "LIMITDIST_OUTSIDE": "OUTSIDE", "LIMITDIST_ONSURFACE": "EQUAL"}
_KINDS = {
    "COPY_LOCATION": "POSITION",
    "COPY_ROTATION": "ORIENTATION",
    "COPY_TRANSFORMS": "POSE",
    "DAMPED_TRACK": "AIM",
    "TRACK_TO": "AIM",
    "LIMIT_DISTANCE": "DISTANCE",
    "FLOOR": "PLANE",
    "FOLLOW_PATH": "POSE",
    "LOCKED_TRACK": "ORIENTATION",
    "CLAMP_TO": "CURVE",
}
_ALIGNED = 1e-4


class ProxyEmpty(Enum):
    """What shows Blender's own answer where no task could find it: an empty with a constraint."""

    COPY = "the constraint itself: what it says does not depend on where the bone is"
    PLACE = "a Copy Location in the spaces of the constraint: where it sees its target"
    FROM_BONE = "the constraint itself, from where the bone is without it"
    RIG = "the bone itself, in a copy of the rig as it was (`rig_copies.py`)"


BOUNDS = ("LIMIT_LOCATION", "LIMIT_ROTATION")
FROM_BONE = ("FOLLOW_PATH", "LOCKED_TRACK")
_COPIES = ("COPY_LOCATION", "COPY_ROTATION", "COPY_TRANSFORMS")
_POINTED = ("DAMPED_TRACK", "TRACK_TO", "LIMIT_DISTANCE")


@dataclass(frozen=True)
class ConstraintGoal:
    """What one constraint asks of the head of a bone, or of its tail: a task of this kind.

    subtarget: bone of the target, "" for the object itself.   head_tail: how far along that bone.
    position, rotation: axes that count.   of_tip: they are the axes of the tip, otherwise those of the robot.
    axis: of the bone, that points; of a floor, of the world or (follows_rotation) of the target.
    relation, distance [Blender units]: of a distance; of a floor along its axis.
    is_held: the target carries the tip as it stands now.
    proxy_empty: followed in place of the target.   unmoved: of the bone in its armature, without constraints.
    rotation_mode: of the bone.   space: object, and bone of it or "", of a custom space.
    priority: its level.   beside: what the constraint asks of other bones.
    """

    kind: str
    bone: str
    constraint: str
    target: bpy.types.Object
    subtarget: str
    influence: float
    at_tail: bool = False
    head_tail: float = 0.0
    position: Axes = ALL
    rotation: Axes = ALL
    of_tip: bool = False
    position_weight: float = 1.0
    orientation_weight: float = 1.0
    axis: str = "Z"
    relation: str = "EQUAL"
    distance: float = 0.0
    follows_rotation: bool = False
    is_held: bool = False
    proxy_empty: ProxyEmpty | None = None
    unmoved: Matrix | None = None
    rotation_mode: str = "XYZ"
    space: tuple[bpy.types.Object, str] | None = None
    priority: int = 1
    beside: tuple[ConstraintGoal, ...] = ()

    @property
    def is_turned(self) -> bool:
        """Whether the axes of the tip count."""
        return self.kind in ("POSE", "ORIENTATION", "AIM") and any(self.rotation) and not self.is_held


def read_constraint(
    bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, problems: list[str]
) -> ConstraintGoal | None:
    """What the constraint asks for, if it can be read for itself (`copied_goals.py`); what no task can say is added to
    `problems`. None: no task can say any of it."""
    if constraint.type == "CHILD_OF":
        return _read_child_of(bone, constraint, problems)
    found = len(problems)
    if not has_target(constraint):
        problems.append("no target")
        return None
    if constraint.type not in _KINDS:
        problems.append("no bound" if constraint.type in BOUNDS else f"{type_label(constraint)} constraints")
        return None
    is_armature = constraint.target.type == "ARMATURE"
    subtarget = getattr(constraint, "subtarget", "")
    proxy_empty = _proxy_empty(constraint, problems)
    axes = tuple(getattr(constraint, f"use_{axis}", True) for axis in "xyz") if constraint.type in _COPIES else ALL
    if not any(axes):
        problems.append("no axis")
    if len(problems) > found:
        return None
    if constraint.type == "TRACK_TO":
        problems.append(f"up axis {constraint.up_axis[-1]} (turning about the aim is free)")
    if constraint.type == "CLAMP_TO":
        problems.append("which place of the curve (any is taken)")
    return ConstraintGoal(
        _KINDS[constraint.type],
        bone.name,
        constraint.name,
        constraint.target,
        subtarget if is_armature else "",
        constraint.influence,
        head_tail=getattr(constraint, "head_tail", 0.0),
        position=axes if constraint.type == "COPY_LOCATION" else ALL,
        rotation=axes if constraint.type == "COPY_ROTATION" else ALL,
        axis=_axis(constraint),
        relation=RELATIONS[constraint.limit_mode] if constraint.type == "LIMIT_DISTANCE" else "EQUAL",
        distance=getattr(constraint, "distance", 0.0 if constraint.type in FROM_BONE else _offset(constraint)),
        follows_rotation=getattr(constraint, "use_rotation", False),
        proxy_empty=proxy_empty,
        unmoved=_unmoved(bone) if proxy_empty is ProxyEmpty.FROM_BONE else None,
        rotation_mode=bone.rotation_mode,
        space=_custom_space(constraint) if proxy_empty else None,
    )


def _proxy_empty(constraint: bpy.types.Constraint, problems: list[str]) -> ProxyEmpty | None:
    """What has to stand for the target; what cannot is added to `problems`."""
    own_space, target_space = constraint.owner_space, constraint.target_space
    is_armature = constraint.target.type == "ARMATURE"
    is_group = bool(getattr(constraint, "subtarget", "")) and not is_armature
    if constraint.type in FROM_BONE:
        return ProxyEmpty.FROM_BONE
    if constraint.type not in (*_COPIES, *_POINTED):  # a floor, a curve
        return None
    if constraint.type == "LIMIT_DISTANCE" and own_space != "WORLD" and not _has_scale_of_world(constraint):
        problems.append(f"a scale of the {_space(constraint, 'owner_space')}")
    is_foreign = own_space != "WORLD" or target_space != "WORLD" or is_group
    if constraint.type in _POINTED:
        return ProxyEmpty.PLACE if is_foreign or getattr(constraint, "use_bbone_shape", False) else None
    is_inverted = any(getattr(constraint, f"invert_{axis}", False) for axis in "xyz")
    return ProxyEmpty.COPY if is_foreign or is_inverted or getattr(constraint, "use_bbone_shape", False) else None


def _custom_space(constraint: bpy.types.Constraint) -> tuple[bpy.types.Object, str] | None:
    owner = constraint.space_object
    if owner is None or "CUSTOM" not in (constraint.owner_space, constraint.target_space):
        return None
    return owner, constraint.space_subtarget if owner.type == "ARMATURE" else ""


def _space(constraint: bpy.types.Constraint, name: str) -> str:
    label = constraint.bl_rna.properties[name].enum_items[getattr(constraint, name)].name
    return f"{name[: -len('_space')]} in {label}"


def _has_scale_of_world(constraint: bpy.types.Constraint) -> bool:
    """Whether lengths in the owner's space are those of the world."""
    owner = constraint.space_object if constraint.owner_space == "CUSTOM" else constraint.id_data
    return owner is None or bool(abs(np.array(owner.matrix_world.to_scale()) - 1.0).max() < _ALIGNED)


def _unmoved(bone: bpy.types.PoseBone) -> Matrix:
    """In the armature, as it is without its constraints; those above count."""
    above = bone.parent
    parent = {} if above is None else {"parent_matrix": above.matrix, "parent_matrix_local": above.bone.matrix_local}
    return bone.bone.convert_local_to_pose(bone.matrix_basis, bone.bone.matrix_local, **parent)


def _offset(constraint: bpy.types.Constraint) -> float:
    """Offset of a floor."""
    return getattr(constraint, "offset", 0.0)


def _axis(constraint: bpy.types.Constraint) -> str:
    if constraint.type == "FLOOR":
        return constraint.floor_location.replace("FLOOR_", "").replace("NEGATIVE_", "-")
    return getattr(constraint, "track_axis", "TRACK_Z").replace("TRACK_", "").replace("NEGATIVE_", "-")


def _read_child_of(
    bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, problems: list[str]
) -> ConstraintGoal | None:
    location, rotation = (
        {getattr(constraint, f"use_{what}_{axis}") for axis in "xyz"} for what in ("location", "rotation")
    )
    if constraint.target is None:
        problems.append("no target")
    elif not (any(location) or any(rotation)):
        problems.append("neither position nor rotation")
    else:
        return ConstraintGoal(
            ("POSE" if any(rotation) else "POSITION") if any(location) else "ORIENTATION",
            bone.name,
            constraint.name,
            constraint.target,
            constraint.subtarget if constraint.target.type == "ARMATURE" else "",
            constraint.influence,
            is_held=True,
        )
    return None


def has_target(constraint: bpy.types.Constraint) -> bool:
    """Where it needs one."""
    if constraint.type == "ARMATURE":
        return any(each.target is not None for each in constraint.targets)
    return constraint.type == "PIVOT" or getattr(constraint, "target", constraint) is not None


def type_label(constraint: bpy.types.Constraint) -> str:
    return constraint.bl_rna.properties["type"].enum_items[constraint.type].name


def link_axis(R_link_bone: np.ndarray, axis: str) -> str | None:
    """The axis of a link that an axis ("X", "-Y" ...) of its bone is; None between them."""
    column = R_link_bone[:, "XYZ".index(axis[-1])] * (-1.0 if axis[0] == "-" else 1.0)
    i = int(np.argmax(abs(column)))
    return ("-" if column[i] < 0 else "") + "XYZ"[i] if abs(abs(column[i]) - 1.0) < _ALIGNED else None
