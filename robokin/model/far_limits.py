"""Position limits that are so far away that they mean none, as descriptions write them that must give a number.

Taken for limits, they would spread solutions over thousands of turns or kilometres, where Blender's single precision
no longer gives a pose: at 1000 turns it is good to 2e-4 rad, at 1000 m to 3e-5 m, in tolerances of 1e-3 rad and 1e-4 m.
A joint keeps its numbers, the model's limits are without them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import MOST, Array
from .joint import Joint
from .joint_types import MotionPrimitive

FAR_STROKE = 1000.0  # [m]; no joint of a robot goes so far ...
FAR_LENGTHS = 100.0  # ... unless the robot is large: so many times the length of its links
FAR_ANGLE = 1000.0 * 2.0 * math.pi  # [rad]; winches have some hundred turns
FAR_SCREW = 10.0 * FAR_ANGLE  # [rad]; a spindle of 10 m with a lead of 1 mm


def links_length(joints: Sequence[Joint]) -> float:
    """[m] from the root along the links to the farthest one, at most: strokes do not count. joints: parents first."""
    lengths: dict[str | None, float] = {}
    for joint in joints:
        lengths[joint.child] = lengths.get(joint.parent, 0.0) + float(np.linalg.norm(joint.placement[:3, 3]))
    return max(lengths.values())


def near_limits(joint: Joint, length: float) -> tuple[Array, Array]:
    """(lower, upper), each (nv,), of a joint in a robot with links of that length; limits that are far away are
    infinite."""
    far = np.where(joint.kind.lengths, max(FAR_STROKE, FAR_LENGTHS * length), FAR_ANGLE)
    if MotionPrimitive.HELICAL in joint.kind.motions:
        far[:] = FAR_SCREW
    with np.errstate(over="ignore"):
        is_wide = joint.upper - joint.lower >= far  # else a range that is counted from far away
    below = (is_wide & (joint.lower <= -far)) | (abs(joint.lower) > MOST)
    above = (is_wide & (joint.upper >= far)) | (abs(joint.upper) > MOST)
    return np.where(below, -np.inf, joint.lower), np.where(above, np.inf, joint.upper)


def far_values(joint: Joint, near: tuple[Array, Array]) -> list[float]:
    """The position limits that a joint has and `near_limits` leaves out."""
    sides = zip((joint.lower, joint.upper), near, strict=True)
    return [value for own, kept in sides for value in own[np.isfinite(own) & np.isinf(kept)].tolist()]
