"""What the two implementations of the inverse kinematics loop have in common."""

from __future__ import annotations

from typing import Protocol

from ...robokin.arrays import Array
from ..results import Status

# Outcome codes; the values are those of `enum rk_ik_code` in the kernel.
CONVERGED, OUT_OF_REACH, NOT_CONVERGED, BAD_TARGET, BAD_START = 0, 1, 2, 3, 4
CODES = (Status.CONVERGED, Status.OUT_OF_REACH, Status.MAX_ITERATIONS)  # what the first three say

Outcome = tuple[int, Array, Array, int, int]
"""code, q (nq,) of the model, residuals (tasks, 2), iterations, attempts"""

BatchOutcome = tuple[Array, Array, Array, Array, Array]
"""codes (b,), q (b, nq), residuals (b, tasks, 2), iterations (b,), attempts (b,)"""


class Engine(Protocol):
    """Made for one problem: (data, tasks, attempts, iterations). Raises TaskError for targets that
    are not finite and rigid, ConfigurationError for a start that is not finite."""

    name: str

    def solve(self, targets: Array, q0: Array, seed: int, is_trial: bool = False) -> Outcome:
        """targets: (tasks, 4, 4); q0: (nq,) with unit quaternions, in the limits or not.
        is_trial: it is only asked whether all can be met; what cannot be is not brought as near as it can be."""

    def solve_batch(self, targets: Array, q0: Array, seed: int, threads: int | None) -> BatchOutcome:
        """Solve a batch: targets (b, tasks, 4, 4), starts (b, nq)."""
