"""Tasks on tips, of one level: their residuals, and the damped step in a box. In NumPy; twin of
kernel/src/ik/ik_search.c and damped_step.c."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import Array
from ..tasks import FrameTask
from .data import IKData
from .descent import IDLE, Iterate, KeptLevels
from .steps import damped_step, damping_for, linearise


class TipRows:
    """See `descent.LevelRows`. targets: (tasks, 4, 4).   is_exact: see `linearise`."""

    levels, preference, are_velocities, adds_up, changes = 1, None, np.zeros(1, bool), False, False
    is_exact = False

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], targets: Array) -> None:
        self.data, self.tasks, self.targets = data, tasks, targets

    def measure(self, q: Array) -> Iterate:
        e, J, residuals = linearise(self.data, self.tasks, self.targets, q, self.is_exact)
        met = bool((residuals <= self.data.records["tolerance"]).all())
        return Iterate(q, np.array([0.5 * float(e @ e)]), np.array([met]), residuals, (e, J))

    def step(
        self, at: Iterate, on: int, damping: float | None, as_one: bool = False, kept: KeptLevels | None = None
    ) -> Array:
        e, J = at.linear
        own = damping_for(float(at.errors[0])) if damping is None else damping
        return damped_step(self.data, at.q, e, J, own, self.is_exact)

    def needed(self, at: Iterate, levels: int) -> list[Array]:
        return [(abs(at.linear[1]) > IDLE).any(axis=0)]

    def holds(self, kept: KeptLevels, at: Iterate, share: float = 0.0) -> bool:
        return True  # there is no level above
