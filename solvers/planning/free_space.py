"""Whether a robot keeps its distance, at a place and all along a path."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.collision import CollisionModel
from ...robokin.collision.model import Near
from ...robokin.configuration import unit_quaternions
from ...robokin.spatial import swing_twist
from ..retiming.path import LOOKS, OUTSIDE
from .approach import Approach

_TOGETHER = 64  # places that are looked at in one call


class FreeSpace:
    """Where nothing is nearer than `margin` [m].

    Paths are free at every place, not only at those that are looked at: a look proves as much of the path around it as
    the shapes cannot cross faster than they may approach (conservative advancement). What is nearer than `margin +
    resolution` at a look is taken as not free, so that the looks come to an end.
    """

    def __init__(
        self, collisions: CollisionModel, low: Array, high: Array, margin: float, resolution: float, backend: str
    ) -> None:
        self.model, self.collisions, self.backend = collisions.model, collisions.avoidable(), backend
        self.margin, self.resolution = margin, resolution
        self.approach = Approach(self.collisions, low, high)

    def nearest(self, q: Array) -> Near | None:
        """The nearest two at a configuration (nq,), where they are too near; None: it is free."""
        return self.collisions.nearest(q, self.margin + self.resolution, self.backend)

    def is_free(self, c: Array, h: float) -> bool:
        """A cubic c (4, nq) of powers of its parameter, whose quaternions need not be units, along 0 .. h."""
        if not self._keeps_cones(c, h):
            return False
        rates = self.approach.rates(c, h)
        open_ = np.array([[0.0, h]])
        while len(open_):
            part, rest = open_[:_TOGETHER], open_[_TOGETHER:]
            middle, half = part.mean(axis=1), 0.5 * (part[:, 1] - part[:, 0])
            fastest = float(rates.max(initial=0.0))
            enough = self.margin + max(self.resolution, fastest * float(half.max()))
            values = self._distances(self._at(c, middle), enough)
            if (values < self.margin + self.resolution).any():
                return False
            # what the nearest pair proves around each middle
            with np.errstate(divide="ignore"):
                proven = ((values - self.margin) / np.where(rates > 0.0, rates, np.nan)).T
            reach = np.fmin.reduce(proven, axis=0, initial=np.inf)
            unproven = reach < half
            before = np.column_stack((part[unproven, 0], middle[unproven] - reach[unproven]))
            after = np.column_stack((middle[unproven] + reach[unproven], part[unproven, 1]))
            open_ = np.concatenate((rest, before, after))
        return True

    def is_straight_free(self, a: Array, b: Array) -> bool:
        """The straight path between two configurations, whose quaternions have signs that go together."""
        return self.is_free(line(a, b), 1.0)

    def _distances(self, q: Array, within: float) -> Array:
        """(F, pairs) [m]; lower bounds of what is beyond `within`. Raises ModelError."""
        return self.collisions.checked_distances(q, within, self.backend)[0][..., 0]

    def _at(self, c: Array, t: Array) -> Array:
        t = t[:, None]
        return unit_quaternions(self.model, c[0] + t * (c[1] + t * (c[2] + t * c[3])))

    def _keeps_cones(self, c: Array, h: float) -> bool:
        """Whether cones are kept at the places where `Path` looks."""
        cones = self.model.limits.cones
        if not cones:
            return True
        q = self._at(c, h * np.linspace(0.0, 1.0, LOOKS))
        return all(swing_twist.contains(cone, q[:, cone.q : cone.q + 4], OUTSIDE).all() for cone in cones)


def line(a: Array, b: Array) -> Array:
    """(4, nq) the straight path from a to b as a cubic of 0 .. 1."""
    return np.stack((a, b - a, np.zeros_like(a), np.zeros_like(a)))
