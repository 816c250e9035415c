"""Criteria that have no optimum: they fall for ever as a joint without limits moves away, or ever steeper towards a
pose where what the tasks see grows without bound, as an aim whose target comes near."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ..criteria import criterion_names
from ..criteria.objective import Objective
from .pose_point import PosePoint
from .pose_problem import PoseProblem

FAR = 10.0  # L or radians: joints that have not gone so far have not gone away
FLAT = 10.0  # times its rounding: costs nearer to each other are equal
AGAIN = 2  # how often the path is gone once more, twice as long each time
STEEP = 1e4  # times the slope at the start: an optimum is level


def unbounded(
    poses: PoseProblem,
    objective: Objective,
    start: PosePoint,
    end: PosePoint,
    corrected: Callable[[Array, PosePoint], PosePoint | None],
) -> str:
    """Which criterion falls on and on along the path that joints without limits have gone, and which joints, or which
    one falls ever steeper; empty when none does. corrected: q (nq,) brought back to the tasks, None when that fails."""
    return _farther(poses, objective, start, end, corrected) or _steeper(objective, start, end)


def _farther(
    poses: PoseProblem,
    objective: Objective,
    start: PosePoint,
    end: PosePoint,
    corrected: Callable[[Array, PosePoint], PosePoint | None],
) -> str:
    model, limits = poses.model, poses.limits
    away = end.q - start.q
    gone = abs(away) > FAR * _sizes(poses)
    gone &= np.isinf(np.where(away > 0.0, limits.upper, limits.lower))
    if not gone.any():
        return ""
    first = _parts(objective, end)
    point = end
    for time in range(AGAIN):
        farther = corrected(point.q + np.where(gone, 2.0**time * away, 0.0), end)
        if farther is None:
            return ""
        less = objective.value(point.state) - objective.value(farther.state)
        if not less > FLAT * objective.rounding(point.state):
            return ""
        point = farther
    fallen = int(np.argmin(_parts(objective, point) - first))
    criterion = criterion_names(objective.potentials)[fallen]
    joints = [joint.name for joint in model.moving_joints if gone[model.slot(joint.name).q].any()]
    return f"{criterion} falls without end: no limit stops {', '.join(joints)}"


def _steeper(objective: Objective, start: PosePoint, end: PosePoint) -> str:
    first, last = _gradient_sizes(objective, start), _gradient_sizes(objective, end)
    fallen = _parts(objective, end) < _parts(objective, start)
    steepest = int(np.argmax(np.where(fallen, last, 0.0)))
    if not fallen[steepest] or not last[steepest] > STEEP * first[steepest]:
        return ""
    criterion = criterion_names(objective.potentials)[steepest]
    return f"{criterion} falls ever steeper, {last[steepest] / max(first[steepest], 1e-300):.0e} times as at the start"


def _sizes(poses: PoseProblem) -> Array:
    """(nq,) a radian or L, by which coordinates count; infinite for quaternions."""
    sizes, tree = np.full(poses.model.nq, np.inf), poses.model.tree
    for motion, iq, iv in zip(map(MotionPrimitive, tree.motion), tree.iq.tolist(), tree.iv.tolist(), strict=True):
        count = 1 if motion.has_axis else motion.nv - 3
        sizes[iq : iq + count] = poses.scale[iv : iv + count]
    return sizes


def _parts(objective: Objective, point: PosePoint) -> Array:
    return np.array([each.weight * each.gain * each.potential(point.state) for each in objective.potentials])


def _gradient_sizes(objective: Objective, point: PosePoint) -> Array:
    return np.array([np.linalg.norm(objective.scale * each.gradient(point.state)) for each in objective.potentials])
