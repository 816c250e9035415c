"""A robot that keeps the limits of several."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import ModelError
from ..model.limits import PositionLimits
from ..model.robot import RobotModel


def with_narrowest_limits(model: RobotModel, others: Sequence[RobotModel]) -> RobotModel:
    """The robot with the narrowest limits of others, which have the same joints; cones of balls are
    its own. Raises ModelError where nothing is left of a joint's range."""
    made = with_narrowest_rates(model, others)
    lower, upper = (
        function([getattr(each, name) for each in others], axis=0)
        for function, name in ((np.max, "lower"), (np.min, "upper"))
    )
    if (lower > upper).any():
        at = int(np.argmax(lower > upper))
        joint = next(each for each in model.moving_joints if at in range(model.nq)[model.slot(each.name).q])
        raise ModelError(f"joint {joint.name!r} has limits that exclude one another over the frames", joint)
    made.lower, made.upper = lower, upper
    for each in (made.lower, made.upper):
        each.flags.writeable = False
    made.limits = PositionLimits(lower, upper, model.limits.cones)
    made.__dict__["tree"] = replace(model.tree, lower=lower, upper=upper)
    return made


def with_narrowest_rates(model: RobotModel, others: Sequence[RobotModel]) -> RobotModel:
    """The robot with the narrowest limits on velocity, acceleration and effort of others, with the same joints."""
    made = copy.copy(model)
    for name in ("velocity", "acceleration", "effort"):
        narrowest = np.min([getattr(each, name) for each in others], axis=0)
        narrowest.flags.writeable = False
        setattr(made, name, narrowest)
    return made
