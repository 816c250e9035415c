"""A trajectory: a motion as an exact function of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from .axes import Axes
from .motion_limits import MotionLimits
from .sampled import Sampled

_POWERS = 1.0 / np.array([1.0, 1.0, 2.0, 6.0])  # p, v, a, j as coefficients of powers of time


@dataclass(frozen=True, eq=False)
class Trajectory(Sampled):
    """Axes that are polynomials of time, piece by piece.

    duration [s].   limits: those that it keeps.   times: (n, k) where the pieces of each axis begin; those that have
    come last no time.   coefficients: (n, k, c) of powers of the time since then.
    """

    model: RobotModel
    duration: float
    limits: MotionLimits
    axes: Axes
    times: Array
    coefficients: Array

    @classmethod
    def of_knots(cls, limits: MotionLimits, axes: Axes, duration: float, knots: Array) -> Trajectory:
        """knots: (n, k, 5) t, p, v, a, jerk."""
        return cls(axes.model, duration, limits, axes, knots[..., 0], knots[..., 1:] * _POWERS)

    def states(self, t: Array) -> tuple[Array, Array, Array]:
        return self.axes.states(*self.axis_states(t)[:3])

    def jerk(self, t: object) -> Array:
        """(nv,), or (S, nv): of the axes; where it jumps, what it is after."""
        return self.axis_states(self.checked(t))[3] @ self.axes.directions

    def axis_states(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """p, v, a, jerk of each axis, (..., n), at the times t (...)."""
        piece = (self.times <= t[..., None, None]).sum(axis=-1) - 1
        axis = np.arange(len(self.times))
        own, c = t[..., None] - self.times[axis, piece], self.coefficients[axis, piece]
        found = []
        for _ in range(4):
            value = np.zeros_like(own)
            for k in range(c.shape[-1] - 1, -1, -1):
                value = value * own + c[..., k]
            found.append(value)
            c = c[..., 1:] * np.arange(1, c.shape[-1])
        return tuple(found)
