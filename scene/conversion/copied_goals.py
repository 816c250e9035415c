"""Constraints of which only a copy of the rig shows where they put a bone, and what tasks then follow of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import bpy
import numpy as np

from .constraint_goals import BOUNDS, FROM_BONE, ConstraintGoal, ProxyEmpty, has_target, type_label

# Whether a constraint moves a bone, and whether it turns it.
_DOES = {
    "COPY_LOCATION": (True, False),
    "COPY_ROTATION": (False, True),
    "COPY_TRANSFORMS": (True, True),
    "DAMPED_TRACK": (False, True),
    "TRACK_TO": (False, True),
    "LOCKED_TRACK": (False, True),
    "STRETCH_TO": (False, True),
    "LIMIT_DISTANCE": (True, False),
    "LIMIT_LOCATION": (True, False),
    "LIMIT_ROTATION": (False, True),
    "FLOOR": (True, False),
    "CLAMP_TO": (True, False),
    "SHRINKWRAP": (True, True),
    "FOLLOW_PATH": (True, True),
    "CHILD_OF": (True, True),
    "ARMATURE": (True, True),
    "PIVOT": (True, True),
    "TRANSFORM": (True, True),
    "ACTION": (True, True),
}
_ALONE = ("STRETCH_TO", "SHRINKWRAP", "ARMATURE", "PIVOT", "TRANSFORM", "ACTION")
_COPIES = ("COPY_LOCATION", "COPY_ROTATION", "COPY_TRANSFORMS")
_USED = ("use_min_", "use_max_", "use_limit_x", "use_limit_y", "use_limit_z")
_ALIGNED = 1e-4


def copied_goal(
    bone: bpy.types.PoseBone, constraints: Sequence[bpy.types.Constraint], members: Collection[str], problems: list[str]
) -> ConstraintGoal | None:
    """What the bone's constraints, all of them together, ask for; None where each can be read for itself.

    members: the robot's bones.   problems: what cannot be said even so is added.
    """
    working = [each for each in constraints if is_copied(each)]
    needing = [each for each in working if _needs_copy(bone, each, constraints, members)]
    if not needing:
        return None
    problems += [f"stretching ({type_label(each)})" for each in working if each.type == "STRETCH_TO"]
    moves, turns = (any(_DOES[each.type][i] for each in working) for i in (0, 1))
    return ConstraintGoal(
        ("POSE" if turns else "POSITION") if moves else "ORIENTATION",
        bone.name,
        needing[0].name,
        bone.id_data,
        bone.name,
        1.0,
        proxy_empty=ProxyEmpty.RIG,
    )


def is_copied(constraint: bpy.types.Constraint) -> bool:
    """Whether the goal of its bone, where there is one, says what it does."""
    return constraint.type in _DOES and has_target(constraint)


def _needs_copy(
    bone: bpy.types.PoseBone,
    constraint: bpy.types.Constraint,
    constraints: Sequence[bpy.types.Constraint],
    members: Collection[str],
) -> bool:
    kind = constraint.type
    if kind in BOUNDS:
        return any(getattr(constraint, name) for name in dir(constraint) if name.startswith(_USED))
    if kind in _ALONE:
        return True
    target, subtarget = constraint.target, getattr(constraint, "subtarget", "")
    is_between = kind == "LIMIT_DISTANCE" and constraint.owner_space == constraint.target_space == "WORLD"
    if target == bone.id_data and subtarget in members and not is_between:
        return True
    if kind == "CHILD_OF":
        return any(len(set(axes)) > 1 for axes in _child_axes(constraint))
    below = bone.parent is not None and bone.parent.name in members
    if kind in FROM_BONE:
        return below or len(constraints) > 1
    spaces = {constraint.owner_space, constraint.target_space}
    if "CUSTOM" in spaces and constraint.space_object == bone.id_data and constraint.space_subtarget in members:
        return True
    if "LOCAL_OWNER_ORIENT" in spaces or (constraint.owner_space == "LOCAL" and below):
        return True
    if kind in ("FLOOR", "CLAMP_TO"):
        return spaces != {"WORLD"} or (bool(subtarget) and target.type != "ARMATURE")
    return kind in _COPIES and _starts_from_bone(constraint)


def _child_axes(constraint: bpy.types.Constraint) -> list[list[bool]]:
    return [[getattr(constraint, f"use_{what}_{axis}") for axis in "xyz"] for what in ("location", "rotation")]


def _starts_from_bone(constraint: bpy.types.Constraint) -> bool:
    """Whether a copy leaves something of where the bone is without it."""
    if getattr(constraint, "use_offset", False) or getattr(constraint, "mix_mode", "REPLACE") != "REPLACE":
        return True
    axes = [getattr(constraint, f"use_{axis}", True) for axis in "xyz"]
    if all(axes) or not any(axes):
        return False
    return constraint.type == "COPY_ROTATION" or constraint.owner_space != "WORLD" or not _axes_are_world(constraint)


def _axes_are_world(constraint: bpy.types.Constraint) -> bool:
    turn = np.array(constraint.id_data.matrix_world)[:3, :3]
    return bool(abs(turn / np.cbrt(np.linalg.det(turn)) - np.eye(3)).max() < _ALIGNED)
