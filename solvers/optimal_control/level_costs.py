"""What a level lacks over all frames, as a cost: what the start misses is met as nearly as levels above allow."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from .costs import MotionCost
from .discretization import DiscreteMotion
from .rows.motion_rows import MotionRows

DAMPING = 1e-6  # of the largest entry of the Hessian: what no row of the level asks for stays where it is


class LevelResidual(MotionCost):
    """1/2 of the sum of the squares of what the rows of a level lack."""

    def __init__(self, constraints: MotionRows, level: int) -> None:
        self.constraints, self.level, self.order = constraints, level, constraints.reach

    def value(self, at: DiscreteMotion) -> float:
        own = (block.residual[block.is_whole] for block in self.constraints.of_level(at, self.level))
        return 0.5 * sum(float(each @ each) for each in own)

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        frames, n = at.steps.shape
        gradient, H = np.zeros((frames, n)), np.zeros((frames, self.order + 1, n, n))
        for block in self.constraints.of_level(at, self.level):
            residual = np.where(block.is_whole, block.residual, 0.0)
            gradient -= block.gradient(residual, frames)
            block.squares(residual != 0.0, H)
        size = float(abs(H).max(initial=0.0)) or 1.0
        H[:, 0] += DAMPING * size * np.eye(n)
        return gradient, H
