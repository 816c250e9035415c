"""Prefer poses in which links are far from one another and from obstacles."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...robokin.arrays import Array
from ...robokin.collision import CollisionModel
from ..fixed_arrays import Checks
from ..kinematics.state import State
from ..tasks.checks import positive
from ..tasks.clearance import approach, avoidable, check_robot
from .base import Potential


class FarFromObstacles(Potential):
    """V = 1/2 sum (1 - d / D)^2 of the pairs of a CollisionModel whose distance d is less than D, `distance` [m]; its
    obstacles stand still. It only prefers: that nothing comes too near is what `ClearanceTask` sees to.

    V and its gradient are continuous where shapes are rounded (Escande et al. 2014). Raises TaskError.
    """

    checks: ClassVar[Checks] = {**Potential.checks, "distance": positive}
    collisions: CollisionModel
    distance: float

    def __init__(
        self,
        collisions: CollisionModel,
        distance: float = 0.1,
        weight: float = 1.0,
        gain: float = 1.0,
        name: str = "far from obstacles",
    ) -> None:
        super().__init__(weight, gain, name)
        self._keep(collisions=avoidable(collisions, self.name), distance=positive(distance, f"{self.name}: distance"))

    def check(self, state: State) -> None:
        check_robot(self.collisions, state.model, self.name)

    def potential(self, state: State) -> float:
        closeness, _, _ = self._near(state)
        return 0.5 * float(closeness @ closeness)

    def gradient(self, state: State) -> Array:
        closeness, pairs, found = self._near(state)
        return -(closeness / self.distance) @ approach(self.collisions, state, pairs, found)

    def _near(self, state: State) -> tuple[Array, Array, Array]:
        """1 - d / D (n,) of the pairs (n,) that are near, and what was found of all pairs."""
        out, _ = self.collisions.checked_distances(state.q[None], self.distance, state.backend)
        closeness = np.maximum(1.0 - out[0, :, 0] / self.distance, 0.0)
        pairs = np.flatnonzero(closeness)
        return closeness[pairs], pairs, out[0]
