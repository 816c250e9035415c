"""The residual of a level over all frames, as a cost: what the start misses is met as nearly as levels above allow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...robokin.arrays import Array
from .costs import MotionCost
from .discretization import DiscreteMotion
from .rows.motion_rows import MotionRows
from .rows.row_blocks import RowBlock

DAMPING = 1e-6  # of the largest entry of the Hessian: what no row of the level asks for stays where it is


class LevelResidual(MotionCost):
    """1/2 of the sum over the frames of each task of r^2 / (1 + r^2 / w^2), r the norm of its residual: the farther
    that is beyond the width w, the less it pulls. Of infinite width, the sum of the squares.

    Geman and McClure's function, of which the width is made smaller step by step (Black and Rangarajan, "On the
    Unification of Line Processes, Outlier Rejection, and Robust Statistics with Applications in Early Vision", 1996).

    width: [rad, L]
    """

    def __init__(self, constraints: MotionRows, level: int, width: float = math.inf) -> None:
        self.constraints, self.level, self.width, self.order = constraints, level, width, constraints.reach

    def value(self, at: DiscreteMotion) -> float:
        squares = (block.lacking_squares(len(at)) for block in self.constraints.of_level(at, self.level))
        return 0.5 * sum(float((each / (1.0 + each / self.width**2)).sum()) for each in squares)

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        frames, n = at.steps.shape
        gradient, H = np.zeros((frames, n)), np.zeros((frames, self.order + 1, n, n))
        for block, residual, weight in self._weighted(at):
            gradient -= block.gradient(weight * residual, frames)
            replace(block, J=block.J * np.sqrt(weight)[:, None, None]).squares(residual != 0.0, H)
        size = float(abs(H).max(initial=0.0)) or 1.0
        H[:, 0] += DAMPING * size * np.eye(n)
        return gradient, H

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        for block, residual, weight in self._weighted(at):
            block.add_bend(H, -weight * residual)

    def _weighted(self, at: DiscreteMotion) -> Iterator[tuple[RowBlock, Array, Array]]:
        """Rows, their residuals, and how much of these pulls."""
        for block in self.constraints.of_level(at, self.level):
            weight = (1.0 + block.lacking_squares(len(at)) / self.width**2) ** -2.0
            yield block, np.where(block.is_whole, block.residual, 0.0), weight[block.frame]
