"""Robots on wheeled bases, and how often they turn back."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import RobotModel, library_robot
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers.tracking.result import TrackResult

from .engine.robots import engine_robot

BASES = {"mobile_arm": "base_link", "tiago": "base_footprint"}
HANDS = {"mobile_arm": "tool", "tiago": "arm_7_link"}


def rolling_robot(name: str) -> tuple[RobotModel, Array, str]:
    model = engine_robot("tiago") if name == "tiago" else library_robot(name)
    return model, model.limits.middle(model.neutral()), HANDS[name]


def reversals(found: TrackResult) -> int:
    """How often the joint that does so the most turns back from one frame to the next."""
    steps = np.diff(found.q, axis=0)
    return int((steps[1:] * steps[:-1] < -1e-8).sum(axis=0).max())
