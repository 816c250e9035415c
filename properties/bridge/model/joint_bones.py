"""The bones that carry a joint: its own bone and, where that cannot do it alone, helper bones above it.

A pose bone slides along its axes, then turns about each of its axes once, in an order, or freely. Most joints do no
more than that; the bone is turned so that its axes are those of the joint: a single axis is the bone's Y; of a planar
joint Y is the normal, and Z, X the two lengths; of a spherical one Y is the axis of twist. What no bone can do alone
(turns about Z, X and Z again, about skew axes, or about axes that a given bone does not have) is carried by a row of
bones at the same place, each the parent of the next, the joint's own bone last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....robokin.arrays import Array
from ....robokin.model.joint_types import Elementary, MotionPrimitive, plane_basis
from ....robokin.model.robot import Joint
from ....robokin.spatial import so3

_ALONG = 1e-6  # between two unit vectors, entry by entry, that count as the same
# Cosine and sine between a bone and -Y, between which Blender keeps it less exactly.
_BACKWARD, _EXACT = -0.8, 2e-7


@dataclass(frozen=True, eq=False)
class JointBone:
    """A bone that carries `count` of a joint's elementary motions. frame: (3, 3) R_link_bone at rest."""

    bone: str
    frame: Array
    count: int


@dataclass(frozen=True, eq=False)
class BoneAllocation:
    """How a bone that carries `count` motions of a joint is to be turned. frame: (3, 3) R_link_bone."""

    frame: Array
    count: int


def allocations(joint: Joint, rest: Array, parent: Array, own: Array | None = None) -> list[BoneAllocation]:
    """What each bone of a joint carries, from parent to child; the last one is the joint's own bone.

    rest: (3, 3) R_root_link.   parent: (3, 3) R_root_bone of the parent bone, the identity for the root bone.
    own: (3, 3) R_link_bone of the joint's own bone, when that is there already.
    Where Blender would not keep the Y of a new bone exactly (see `_kept`), the joint's axis is its Z or X instead.
    """
    steps = joint.kind.decompose(joint)
    whole = _whole_frame(joint, steps)
    if native(steps, whole if own is None else own):
        return [BoneAllocation(_best_roll(whole, rest, parent) if own is None else own, len(steps))]
    if native(steps, whole):
        return [BoneAllocation(_best_roll(whole, rest, parent), len(steps)), BoneAllocation(own, 0)]
    found: list[BoneAllocation] = []
    last = 1 if own is None or native(steps[-1:], own) else 0
    for i in range(len(steps) - last):
        found.append(BoneAllocation(_best_roll(_step_frame(steps, i), rest, parent), 1))
        parent = rest @ found[-1].frame
    frame = _best_roll(_step_frame(steps, len(steps) - 1), rest, parent) if own is None else own
    return [*found, BoneAllocation(frame, last)]


def native(steps: Sequence[Elementary], frame: Array) -> bool:
    """Whether a bone of this frame, (3, 3) R_link_bone, shows these motions by its own channels."""
    if any(not step.motion.has_axis for step in steps):
        return len(steps) == 1 and abs(np.sort(abs(frame), axis=0) - [[0.0], [0.0], [1.0]]).max() <= _ALONG
    turns: list[int] = []
    slides: list[int] = []
    for step in steps:
        index, sign = bone_axis(step.axis, frame)
        if abs(sign * frame[:, index] - step.axis).max() > _ALONG:
            return False
        if step.motion is not MotionPrimitive.TRANSLATION:
            turns.append(index)
        # A bone slides before it turns; along the axis of a turn that makes no difference.
        if step.motion is not MotionPrimitive.ROTATION:
            if any(turn != index for turn in turns):
                return False
            slides.append(index)
    return len(set(turns)) == len(turns) and len(set(slides)) == len(slides)


def bone_axis(axis: Array, frame: Array) -> tuple[int, float]:
    """(index, sign) of the bone's axis nearest to an axis (3,) of the link."""
    along = frame.T @ axis
    index = int(np.argmax(abs(along)))
    return index, 1.0 if along[index] > 0 else -1.0


def _whole_frame(joint: Joint, steps: Sequence[Elementary]) -> Array:
    """The frame of a bone that carries the whole joint, if one can."""
    if joint.kind.has_axis:
        across = [step.axis for step in steps if abs(step.axis @ joint.axis) < 0.5]
        if joint.kind.has_cone:
            across = [plane_basis(joint.axis)[0]]
        frame = _frame_along(joint.axis, across[0] if across else None)
        # A quaternion has its entries along the link's axes, wherever the axis of twist is.
        return frame if native(steps, frame) else np.eye(3)
    frame = np.eye(3)
    if not native(steps, frame) and len(steps) > 1:
        frame = _frame_along(steps[0].axis, steps[1].axis)
    return frame


def _step_frame(steps: Sequence[Elementary], i: int) -> Array:
    """The frame of a bone that carries one motion: Y along its axis."""
    others = [step.axis for step in steps if abs(step.axis @ steps[i].axis) < 0.9]
    return _frame_along(steps[i].axis, others[0] if others else None)


def _frame_along(main: Array, second: Array | None) -> Array:
    """(3, 3) rotation whose Y is `main` and whose Z is `second`, as far as that is across it."""
    if second is None:
        # The link axis most across the joint axis keeps one more axis of the bone where the link has it.
        across = np.eye(3)[[2, 0, 1]]
        second = across[np.argmin(abs(across @ main).round(6))]
    second = second - main * (main @ second)
    second /= np.linalg.norm(second)
    return np.column_stack((so3.cross(main, second), main, second))


def _best_roll(frame: Array, rest: Array, parent: Array) -> Array:
    choices = [np.roll(frame, turn, axis=1) for turn in range(3)]
    return next((f for f in choices if _kept(rest @ f[:, 1], parent[:, 1])), frame)


def _kept(direction: Array, parent: Array) -> bool:
    """Whether Blender keeps a bone of this direction (in the armature's axes) exactly.

    Direction and roll, which it stores, become a matrix by a formula that loses digits around -Y of the parent bone
    and, in Edit Mode, of the armature: up to 3e-5, which all bones below inherit. At -Y itself it is exact.
    """
    for y in (np.array([0.0, 1.0, 0.0]), parent):
        if direction @ y < _BACKWARD and np.linalg.norm(so3.cross(direction, y)) > _EXACT:
            return False
    return True
