"""The least velocity: the plain pseudo-inverse."""

from __future__ import annotations

import numpy as np

from ..state import State
from .base import Velocity

Array = np.ndarray


class MinimumVelocity(Velocity):
    """1/2 v'v, lengths counted in L."""

    def __init__(self, weight: float = 1.0, name: str = "") -> None:
        super().__init__(weight, name)

    def matrix(self, state: State) -> Array:
        return np.diag(state.scale**-2.0)
