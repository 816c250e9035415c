"""A robot that keeps the limits of several."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from ..model.limits import PositionLimits
from ..model.robot import RobotModel


def with_narrowest_limits(model: RobotModel, others: Sequence[RobotModel]) -> RobotModel:
    """The robot with the narrowest limits of others, which have the same joints; cones of balls are
    its own. Raises ModelError where nothing is left of a joint's range."""
    lower, upper = _narrowest_range(others)
    if (lower > upper).any():
        at = int(np.argmax(lower > upper))
        joint = next(each for each in model.moving_joints if at in range(model.nq)[model.slot(each.name).q])
        raise ModelError(f"joint {joint.name!r} has limits that exclude one another over the frames", joint)
    return _limited(model, others, lower, upper)


def with_limits_around(model: RobotModel, others: Sequence[RobotModel], q: Array) -> RobotModel:
    """The robot with the narrowest limits of others on velocity, acceleration and effort. Its ranges of positions are
    the narrowest that have the configurations q (n, nq), each moved inside the limits of its own one of the others."""
    inside = np.array([other.limits.clamp(each) for other, each in zip(others, q, strict=False)])
    lower, upper = _narrowest_range(others)
    return _limited(model, others, np.minimum(lower, inside.min(axis=0)), np.maximum(upper, inside.max(axis=0)))


def _narrowest_range(others: Sequence[RobotModel]) -> tuple[Array, Array]:
    return np.max([each.lower for each in others], axis=0), np.min([each.upper for each in others], axis=0)


def _limited(model: RobotModel, others: Sequence[RobotModel], lower: Array, upper: Array) -> RobotModel:
    """The robot with these limits on positions (nq,), and the narrowest of others on its rates and efforts."""
    if set(others) == {model}:
        return model
    made = copy.copy(model)
    made.lower, made.upper = lower, upper
    for name in ("velocity", "acceleration", "effort"):
        setattr(made, name, np.min([getattr(each, name) for each in others], axis=0))
    for name in ("lower", "upper", "velocity", "acceleration", "effort"):
        getattr(made, name).flags.writeable = False
    made.limits = PositionLimits(lower, upper, model.limits.cones)
    made.__dict__["tree"] = replace(model.tree, lower=lower, upper=upper)
    return made
