"""Whether a robot keeps its distance, at a place and all along a path."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.collision import CollisionModel
from ...robokin.collision.approach import Reaches
from ...robokin.collision.free_path import is_free_along, line, places
from ...robokin.collision.model import Near
from ...robokin.spatial import swing_twist
from ..retiming.path import LOOKS, OUTSIDE


class FreeSpace:
    """Where nothing is nearer than `margin` [m].

    Paths are free at every place, not only at those that are looked at (`is_free_along`). What is nearer than `margin +
    resolution` at a look is taken as not free.
    """

    def __init__(
        self, collisions: CollisionModel, low: Array, high: Array, margin: float, resolution: float, backend: str
    ) -> None:
        self.model, self.collisions, self.backend = collisions.model, collisions.avoidable(), backend
        self.margin, self.resolution = margin, resolution
        self.approach = Reaches(self.collisions).approach(low, high)

    def nearest(self, q: Array) -> Near | None:
        """The nearest two at a configuration (nq,), where they are too near; None: it is free."""
        return self.collisions.nearest(q, self.margin + self.resolution, self.backend)

    def is_free(self, c: Array, h: float) -> bool:
        """A cubic c (4, nq) of powers of its parameter, whose quaternions need not be units, along 0 .. h."""
        return self._keeps_cones(c, h) and is_free_along(
            self.collisions, self.approach, c, h, self.margin, self.resolution, self.backend
        )

    def is_straight_free(self, a: Array, b: Array) -> bool:
        """The straight path between two configurations, whose quaternions have signs that go together."""
        return self.is_free(line(a, b), 1.0)

    def _keeps_cones(self, c: Array, h: float) -> bool:
        """Whether cones are kept at the places where `Path` looks."""
        cones = self.model.limits.cones
        if not cones:
            return True
        q = places(self.model, c, h * np.linspace(0.0, 1.0, LOOKS))
        return all(swing_twist.contains(cone, q[:, cone.q : cone.q + 4], OUTSIDE).all() for cone in cones)
