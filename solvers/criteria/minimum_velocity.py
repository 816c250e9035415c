"""The least velocity: the plain pseudo-inverse."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ..fixed_arrays import cached_settings
from ..kinematics.state import State
from .base import CriterionKind, CriterionRecord, Velocity


class MinimumVelocity(Velocity):
    """1/2 v'v, lengths counted in L."""

    @cached_settings
    def __init__(self, weight: float = 1.0, name: str = "") -> None:
        super().__init__(weight, name)

    def record(self, state: State) -> CriterionRecord:
        return CriterionRecord(CriterionKind.LEAST_VELOCITY, 0.0, state.scale**-2.0)

    def matrix(self, state: State) -> Array:
        return np.diag(state.scale**-2.0)
