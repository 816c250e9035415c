"""What the search for an optimum knows at a pose, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...robokin.arrays import Array
from ..criteria.objective import Gradients
from .pose_point import PosePoint
from .subproblem import Multipliers, Subproblem


@dataclass(frozen=True, eq=False)
class Optimum:
    """stationary: what the tasks and limits leave of the gradient, relative to it (KKT residual).   is_optimal: that
    is about 0, and nothing better was found around.   poses: looked at.   why: says why it is not; it takes as long as
    some steps."""

    point: PosePoint
    stationary: float
    is_optimal: bool
    iterations: int
    poses: int
    why: Callable[[], str] = str


@dataclass(frozen=True, eq=False)
class PoseLook:
    """What is known at an iterate: its cost, gradients (of edges the least one), subproblem and what holds it.
    residual: of it all. descent: (nv,) the steepest that tasks and limits leave.   size: of the steepest gradient, at
    least what counts as one."""

    point: PosePoint
    cost: float
    gradients: Gradients
    subproblem: Subproblem
    multipliers: Multipliers
    descent: Array
    residual: float
    size: float
