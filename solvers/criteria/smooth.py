"""The least change of the velocity."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ..fixed_arrays import cached_settings
from ..kinematics.state import State
from ..tasks.checks import positive
from .base import Criterion, CriterionKind, CriterionRecord


class Smooth(Criterion):
    """1/2 |T a|^2 with a = (v - v of the last step) / dt, lengths counted in L.

    time: T [s]. Beside the least velocity, both of weight 1, the freedom that is left settles like a first-order
    lag of about T. Alone, what is left keeps moving as it did. Raises TaskError.
    """

    @cached_settings
    def __init__(self, time: float = 0.1, weight: float = 1.0, name: str = "") -> None:
        super().__init__(weight, name)
        self.time = positive(time, f"{self.name}: time")

    def record(self, state: State) -> CriterionRecord:
        return CriterionRecord(CriterionKind.LEAST_VELOCITY, 1.0, self._stiffness(state))

    def quadratic(self, state: State) -> tuple[Array, Array]:
        stiffness = self._stiffness(state)
        return np.diag(stiffness), -stiffness * state.previous

    def value(self, state: State, v: Array) -> float:
        change = self.time * (v - state.previous) / state.dt / state.scale
        return 0.5 * float(change @ change)

    def _stiffness(self, state: State) -> Array:
        """(nv,)"""
        return (self.time / state.dt) ** 2 / state.scale**2
