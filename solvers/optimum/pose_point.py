"""A pose, and what tasks are off there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...robokin.arrays import Array
from ..kinematics.state import State
from ..qp.level import Level


@dataclass(frozen=True, eq=False)
class PosePoint:
    """Residuals of the tasks at q (nq,). levels: loop closures, then priorities.   errors: |e|^2 / 2 of each level.
    met: whether each level is within its tasks' tolerances.   residuals: (tasks, 2)."""

    q: Array
    state: State
    levels: Sequence[Level]
    errors: Array
    met: Array
    residuals: Array

    @property
    def is_met(self) -> bool:
        return bool(self.met.all())
