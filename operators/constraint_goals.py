"""What the constraints of an ordinary rig that are no inverse kinematics ask of a bone, in the words of tasks."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

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
}
_ALIGNED = 1e-4


@dataclass(frozen=True)
class Goal:
    """What one constraint asks of the head of a bone, or of its tail: a task of this kind.

    subtarget: bone of the target, "" for the object itself.   head_tail: how far along that bone.
    position, rotation: axes that count.   of_tip: they are the axes of the tip, otherwise those of the robot.
    axis: of the bone, that points; of a floor, of the world or (follows_rotation) of the target.
    relation, distance [Blender units]: of a distance; of a floor along its axis.
    is_held: the target carries the tip as it stands now.
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

    @property
    def is_turned(self) -> bool:
        """Whether the axes of the tip count."""
        return self.kind in ("POSE", "ORIENTATION", "AIM") and any(self.rotation) and not self.is_held


def read_constraint(
    obj: bpy.types.Object, bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, problems: list[str]
) -> Goal | None:
    """What the constraint asks for; what no task can say is added to `problems`. None: no task can say any of it."""
    if constraint.type == "CHILD_OF":
        return _read_child_of(bone, constraint, problems)
    found = len(problems)
    if constraint.type not in _KINDS:
        problems.append(f"{type_label(constraint)} constraints")
        return None
    if constraint.target is None:
        problems.append("no target")
        return None
    is_armature = constraint.target.type == "ARMATURE"
    if constraint.subtarget and not is_armature:
        problems.append(f"vertex group {constraint.subtarget!r}")
    for space in ("owner_space", "target_space"):
        value = getattr(constraint, space)
        if value != "WORLD" and not (value == "POSE" and _pose_is_world(obj if space[0] == "o" else constraint.target)):
            label = constraint.bl_rna.properties[space].enum_items[value].name
            problems.append(f"{space[: -len('_space')]} in {label}")
    if getattr(constraint, "use_offset", False):
        problems.append("offset")
    inverted = [axis.upper() for axis in "xyz" if getattr(constraint, f"invert_{axis}", False)]
    if inverted:
        problems.append(f"inverted {', '.join(inverted)}")
    if getattr(constraint, "mix_mode", "REPLACE") != "REPLACE":
        problems.append(f"mix {constraint.bl_rna.properties['mix_mode'].enum_items[constraint.mix_mode].name}")
    if getattr(constraint, "use_bbone_shape", False):
        problems.append("the shape of a B-bone")
    axes = tuple(getattr(constraint, f"use_{axis}", True) for axis in "xyz")
    if not any(axes):
        problems.append("no axis")
    if len(problems) > found:
        return None
    if constraint.type == "TRACK_TO":
        problems.append(f"up axis {constraint.up_axis[-1]} (turning about the aim is free)")
    if not all(axes) and (constraint.type == "COPY_ROTATION" or not _axes_are_world(obj)):
        problems.append("single axes (taken as the robot's)")
    return Goal(
        _KINDS[constraint.type],
        bone.name,
        constraint.name,
        constraint.target,
        constraint.subtarget if is_armature else "",
        constraint.influence,
        head_tail=getattr(constraint, "head_tail", 0.0),
        position=axes if constraint.type == "COPY_LOCATION" else ALL,
        rotation=axes if constraint.type == "COPY_ROTATION" else ALL,
        axis=_axis(constraint),
        relation=RELATIONS[constraint.limit_mode] if constraint.type == "LIMIT_DISTANCE" else "EQUAL",
        distance=getattr(constraint, "distance", getattr(constraint, "offset", 0.0)),
        follows_rotation=getattr(constraint, "use_rotation", False),
    )


def _axis(constraint: bpy.types.Constraint) -> str:
    if constraint.type == "FLOOR":
        return constraint.floor_location.replace("FLOOR_", "").replace("NEGATIVE_", "-")
    return getattr(constraint, "track_axis", "TRACK_Z").replace("TRACK_", "").replace("NEGATIVE_", "-")


def _read_child_of(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, problems: list[str]) -> Goal | None:
    location, rotation = (
        {getattr(constraint, f"use_{what}_{axis}") for axis in "xyz"} for what in ("location", "rotation")
    )
    if constraint.target is None:
        problems.append("no target")
    elif len(location) > 1 or len(rotation) > 1:
        problems.append("single axes")
    elif not (any(location) or any(rotation)):
        problems.append("neither position nor rotation")
    else:
        return Goal(
            ("POSE" if any(rotation) else "POSITION") if any(location) else "ORIENTATION",
            bone.name,
            constraint.name,
            constraint.target,
            constraint.subtarget if constraint.target.type == "ARMATURE" else "",
            constraint.influence,
            is_held=True,
        )
    return None


def type_label(constraint: bpy.types.Constraint) -> str:
    return constraint.bl_rna.properties["type"].enum_items[constraint.type].name


def _pose_is_world(owner: bpy.types.Object) -> bool:
    """Whether an armature's space is the world's."""
    return bool(abs(np.array(owner.matrix_world) - np.eye(4)).max() < _ALIGNED)


def _axes_are_world(obj: bpy.types.Object) -> bool:
    turn = np.array(obj.matrix_world)[:3, :3]
    return bool(abs(turn / np.cbrt(np.linalg.det(turn)) - np.eye(3)).max() < _ALIGNED)


def link_axis(R_link_bone: np.ndarray, axis: str) -> str | None:
    """The axis of a link that an axis ("X", "-Y" ...) of its bone is; None between them."""
    column = R_link_bone[:, "XYZ".index(axis[-1])] * (-1.0 if axis[0] == "-" else 1.0)
    i = int(np.argmax(abs(column)))
    return ("-" if column[i] < 0 else "") + "XYZ"[i] if abs(abs(column[i]) - 1.0) < _ALIGNED else None
