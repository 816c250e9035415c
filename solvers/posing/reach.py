"""A pose of the tool, or what of it can be reached."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.configuration import random_configuration
from ...robokin.model.robot import RobotModel
from ..ik.solve import solve_ik
from ..results import SolveResult
from ..tasks import OrientationTask, PoseTask, PositionTask

STARTS = 6  # beside where the robot stands: the nearest rotation may be in another posture


def reach(model: RobotModel, tip: str, T: Array, q0: Array, seed: int = 0) -> SolveResult:
    """From q0 (nq,) to where the link `tip` is at T (4, 4), T_root_target [m]. Where that cannot be, its place comes
    first and its rotation is as near to the one asked for as it gets there: two tasks, the rotation's one level below.

    Raises UnknownNameError, ConfigurationError.
    """
    result = solve_ik(model, [PoseTask(tip, T)], q0, seed, diagnose=False)
    if result.converged:
        return result
    tasks = [PositionTask(tip, T[:3, 3]), OrientationTask(tip, T[:3, :3], priority=2)]
    rng = np.random.default_rng(seed)
    starts = [q0, result.q, *(random_configuration(model, rng) for _ in range(STARTS))]
    found = [solve_ik(model, tasks, start, seed, diagnose=False) for start in starts]
    return min(found, key=lambda each: tuple(np.round(each.residual_array.sum(axis=1), 6)))
