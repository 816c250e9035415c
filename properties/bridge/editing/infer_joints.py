"""What joint a bone of an ordinary rig is, guessed from its locks, limits and rest pose.

The link of a bone made into a joint has the bone's own axes, so an axis of the bone is the same axis of the joint.
Locks and ranges are those of the transform (`lock_rotation`, `lock_location`), of Blender's inverse kinematics
(`lock_ik_x`, `ik_min_x` ...) and of limit constraints in local space, all together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ....robokin.arrays import Array
from ....robokin.model.joint_types import plane_basis

LIMITS = ("LIMIT_ROTATION", "LIMIT_LOCATION")
# Parent to child: the two swings, then the twist about the bone's length.
_SWING_TWIST = "XZY"
_HINGED = re.compile(r"elbow|knee|fore_?arm|lower_?(arm|leg)|shin|calf", re.IGNORECASE)
_FREE = (-math.inf, math.inf)
_STRAIGHT = math.radians(1.0)


@dataclass(frozen=True)
class Guess:
    """A guessed joint. fields: of `Joint`, beside its name and place.   notes: what the bone's settings say that the
    joint does not."""

    fields: dict[str, Any]
    notes: list[str] = field(default_factory=list)


def convertible_limit(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint says nothing but bounds of the bone's own channels."""
    return (
        constraint.type in LIMITS
        and constraint.owner_space == "LOCAL"
        and constraint.influence == 1.0
        and all(low <= high for _, (low, high) in _limited(constraint))
    )


def guess_joint(bone: bpy.types.PoseBone, members: Collection[str], unlocked: str) -> Guess:
    """The joint of a bone. members: the robot's bones.   unlocked: what a bone that says nothing becomes: "BALL",
    "HINGE", "FIXED", or "GUESS": a hinge if it is an elbow or a knee by its name, else a ball."""
    guess = _guess(bone, members, unlocked)
    resistance = [getattr(bone, f"ik_stiffness_{axis}") for axis in "xyz" if not getattr(bone, f"lock_ik_{axis}")]
    if any(resistance):
        # Blender's solver lets an axis move by 1 - stiffness of what it would.
        guess.fields["stiffness"] = shortest(1.0 / (1.0 - sum(resistance) / len(resistance)))
    return guess


def _guess(bone: bpy.types.PoseBone, members: Collection[str], unlocked: str) -> Guess:
    turns, slides = _ranges(bone)
    mode = _euler_mode(bone)
    turns_said = any(r != _FREE for r in turns)
    if any(r != _FREE for r in slides) and any(map(any, slides)):
        return _sliding(bone, turns, slides, turns_said)
    if turns_said:
        return Guess(_turning(mode, turns))
    if unlocked == "FIXED":
        return Guess({"type": "fixed"})
    if unlocked == "HINGE" or (unlocked == "GUESS" and _HINGED.search(bone.name)):
        axis = bend_axis(bone, members)
        return Guess(_turning(mode, [_FREE if i == axis else (0.0, 0.0) for i in range(3)]))
    return Guess(_turning(mode, turns))


def stands_still(bone: bpy.types.PoseBone) -> bool:
    """Whether the bone's locks leave it nothing."""
    turns, slides = _ranges(bone)
    return not any(map(any, turns)) and not any(map(any, slides))


def says_something(bone: bpy.types.PoseBone) -> bool:
    """Whether the bone has any lock or limit."""
    turns, slides = _ranges(bone)
    return any(r != _FREE for r in (*turns, *slides))


def bend_axis(bone: bpy.types.PoseBone, members: Collection[str]) -> int:
    """0 or 2: the axis of the bone, X or Z, that is nearest to the one about which the rest pose bends there; that of
    the joint below where it does not bend; X where there is nothing to go by."""
    joints = [(bone.parent, bone)] if bone.parent is not None and bone.parent.name in members else []
    joints += [(bone, child) for child in bone.children if child.name in members]
    axes = np.array(bone.bone.matrix_local.to_3x3())
    for above, below in joints:
        first, second = (np.array(b.bone.matrix_local.to_3x3())[:, 1] for b in (above, below))
        normal = np.cross(first, second)
        if np.linalg.norm(normal) > math.sin(_STRAIGHT):
            return 0 if abs(axes[:, 0] @ normal) >= abs(axes[:, 2] @ normal) else 2
    return 0


def _ranges(bone: bpy.types.PoseBone) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """(of the rotations about, of the locations along) X, Y, Z of the bone [rad, Blender units]; (0, 0): locked."""
    turns, slides = [_FREE] * 3, [_FREE] * 3
    for i, axis in enumerate("xyz"):
        if getattr(bone, f"use_ik_limit_{axis}"):
            turns[i] = (angle(getattr(bone, f"ik_min_{axis}")), angle(getattr(bone, f"ik_max_{axis}")))
        if bone.lock_rotation[i] or getattr(bone, f"lock_ik_{axis}"):
            turns[i] = (0.0, 0.0)
        if bone.lock_location[i] or bone.bone.use_connect:
            slides[i] = (0.0, 0.0)
    for constraint in bone.constraints:
        if constraint.enabled and convertible_limit(constraint):
            ranges = turns if constraint.type == "LIMIT_ROTATION" else slides
            for i, (low, high) in _limited(constraint):
                within = max(ranges[i][0], low), min(ranges[i][1], high)
                ranges[i] = within if within[0] <= within[1] else (low, high)
    return turns, slides


def _limited(constraint: bpy.types.Constraint) -> Iterator[tuple[int, tuple[float, float]]]:
    for i, axis in enumerate("xyz"):
        low, high = getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")
        if constraint.type == "LIMIT_ROTATION":
            if getattr(constraint, f"use_limit_{axis}"):
                yield i, (angle(low), angle(high))
            continue
        uses = getattr(constraint, f"use_min_{axis}"), getattr(constraint, f"use_max_{axis}")
        if any(uses):
            yield i, (shortest(low) if uses[0] else -math.inf, shortest(high) if uses[1] else math.inf)


def shortest(value: float) -> float:
    """The number that was typed: the shortest decimal that rounds to this single precision value."""
    return float(str(np.float32(value)))


def angle(value: float) -> float:
    """The angle that was typed: one of few digits in degrees, when that rounds to this single precision value."""
    typed = math.radians(round(math.degrees(value), 3))
    return typed if np.float32(typed) == np.float32(value) else shortest(value)


def _euler_mode(bone: bpy.types.PoseBone) -> str:
    """In which order the bone's angles are meant; "" where nothing says."""
    for constraint in bone.constraints:
        if constraint.enabled and constraint.type == "LIMIT_ROTATION" and convertible_limit(constraint):
            if constraint.euler_order != "AUTO":
                return constraint.euler_order
            return bone.rotation_mode if set(bone.rotation_mode) == set("XYZ") else "XYZ"
    return bone.rotation_mode if set(bone.rotation_mode) == set("XYZ") else ""


def _turning(mode: str, ranges: list[tuple[float, float]]) -> dict[str, Any]:
    """The type, axis or order and bounds of a joint that turns about the axes whose range is not (0, 0)."""
    free = [i for i in range(3) if any(ranges[i])]
    if not free:
        return {"type": "fixed"}
    if len(free) == 1:
        limited = ranges[free[0]] != _FREE
        kind = {"type": "revolute" if limited else "continuous", "axis": np.eye(3)[free[0]]}
        return kind | {"lower": ranges[free[0]][0], "upper": ranges[free[0]][1]}
    if len(free) == 3 and not mode and _cone(ranges):
        half_x, half_z = ranges[0][1], ranges[2][1]
        bounds = np.array([(-half_x, half_x), (-half_z, half_z), ranges[1]])
        return {"type": "spherical", "axis": np.eye(3)[1], "lower": bounds[:, 0], "upper": bounds[:, 1]}
    # Blender names first the axis that turns last.
    letters = mode[::-1] or _SWING_TWIST
    order = "".join(letter for letter in letters if "XYZ".index(letter) in free)
    bounds = np.array([ranges["XYZ".index(letter)] for letter in order])
    kind = {"type": "universal" if len(free) == 2 else "gimbal", "order": order}
    return kind | {"lower": bounds[:, 0], "upper": bounds[:, 1]}


def _cone(ranges: list[tuple[float, float]]) -> bool:
    """Whether the swings, about X and Z, are those of an elliptic cone."""
    swings = [ranges[0], ranges[2]]
    return all(low == -high for low, high in swings) and len({math.isinf(high) for _, high in swings}) == 1


def _sliding(
    bone: bpy.types.PoseBone, turns: list[tuple[float, float]], slides: list[tuple[float, float]], turns_said: bool
) -> Guess:
    """A joint that slides along some axes; a bone whose rotation says nothing is not taken to turn."""
    along = [i for i in range(3) if any(slides[i])]
    about = [i for i in range(3) if turns_said and any(turns[i])]
    if len(along) == 1 and about in ([], along):
        bounds = np.array([turns[along[0]], slides[along[0]]] if about else [slides[along[0]]])
        kind = {"type": "cylindrical" if about else "prismatic", "axis": np.eye(3)[along[0]]}
        return Guess(kind | {"lower": bounds[:, 0], "upper": bounds[:, 1]})
    if len(along) == 2 and about in ([], [3 - sum(along)]):
        normal = 3 - sum(along)
        bounds = np.array(
            [*(_directed(slides, direction) for direction in plane_basis(np.eye(3)[normal])), turns[normal]]
        )
        kind = {"type": "planar", "axis": np.eye(3)[normal], "lower": bounds[:, 0], "upper": bounds[:, 1]}
        return Guess(kind)
    names = ", ".join("XYZ"[i] for i in along)
    note = f"bone {bone.name!r}: sliding along {names} with its rotations is no joint type; only the rotations are kept"
    return Guess(_turning(_euler_mode(bone), turns), [note])


def _directed(ranges: list[tuple[float, float]], direction: Array) -> tuple[float, float]:
    """The range along `direction`, an axis or the opposite of one."""
    i = int(np.argmax(abs(direction)))
    low, high = ranges[i]
    return (low, high) if direction[i] > 0 else (-high, -low)
