"""Where a configuration may be: bounds of single coordinates, and the cones of ball joints."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..spatial import swing_twist
from ..spatial.swing_twist import Cone

AT_LIMIT = 1e-9  # [rad] nearer than this to a limit of its cone, a ball is at it


@dataclass(frozen=True, eq=False)
class PositionLimits:
    """lower, upper: (nq,), infinite for quaternions.   cones: of the balls that are limited."""

    lower: Array
    upper: Array
    cones: tuple[Cone, ...] = ()

    def ball_axes(self, at: int) -> Array:
        """(3, 3) columns: the axes of a ball whose quaternion begins at `at`, which turn with it: those of its cone."""
        return next((cone.basis for cone in self.cones if cone.q == at), np.eye(3))

    def clamp(self, q: Array) -> Array:
        """(nq,) inside the limits: every coordinate at the nearest value, every ball at the nearest swing and twist."""
        inside = np.minimum(np.maximum(q, self.lower), self.upper)
        for cone in self.cones:
            at = slice(cone.q, cone.q + 4)
            inside[at] = swing_twist.project(cone, inside[at])
        return inside

    def contain(self, q: Array, tolerance: float = 0.0) -> Array:
        """(...) bool of q (..., nq), give or take `tolerance` [rad or m]."""
        inside = ((q >= self.lower - tolerance) & (q <= self.upper + tolerance)).all(axis=-1)
        for cone in self.cones:
            inside &= swing_twist.contains(cone, q[..., cone.q : cone.q + 4], tolerance)
        return inside

    def at_limit(self, q: Array) -> Array:
        """(nq,) bool: the coordinate, or the ball that it belongs to, is at a limit."""
        at = (q <= self.lower) | (q >= self.upper)
        for cone in self.cones:
            own = slice(cone.q, cone.q + 4)
            at[own] = not swing_twist.contains(cone.shrunk(AT_LIMIT), q[own])
        return at

    def beyond(self, q: Array) -> Array:
        """(nq,) bool: the coordinate, or the ball that it belongs to, is outside its limits."""
        outside = (q < self.lower) | (q > self.upper)
        for cone in self.cones:
            own = slice(cone.q, cone.q + 4)
            outside[own] = not swing_twist.contains(cone, q[own])
        return outside

    def middle(self, neutral: Array) -> Array:
        """(nq,) mid-range, the value inside the limits nearest to `neutral` where unbounded."""
        middle = np.minimum(np.maximum(neutral, self.lower), self.upper)
        finite = np.isfinite(self.lower) & np.isfinite(self.upper)
        halves = 0.5 * self.lower[finite] + 0.5 * self.upper[finite]
        middle[finite] = np.minimum(np.maximum(halves, self.lower[finite]), self.upper[finite])
        for cone in self.cones:
            middle[cone.q : cone.q + 4] = swing_twist.middle(cone)
        return middle

    def without(self, coordinates: Collection[int]) -> PositionLimits:
        """These limits without those on the given coordinates."""
        where = list(coordinates)
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[where], upper[where] = -np.inf, np.inf
        return replace(self, lower=lower, upper=upper, cones=tuple(c for c in self.cones if c.q not in where))

    def is_bounded(self, coordinates: Collection[int]) -> bool:
        """Some of these coordinates has a limit."""
        own = list(coordinates)
        finite = np.isfinite(self.lower[own]) | np.isfinite(self.upper[own])
        return bool(finite.any()) or any(cone.q in own for cone in self.cones)
