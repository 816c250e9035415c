"""A trajectory: a motion as an exact function of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array, float_array, shown
from ...robokin.errors import ConfigurationError
from ...robokin.model.robot import RobotModel
from ..motion.motion import FASTEST, Motion
from .axes import Axes
from .motion_limits import MotionLimits

_POWERS = 1.0 / np.array([1.0, 1.0, 2.0, 6.0])  # p, v, a, j as coefficients of powers of time
RATE = 100.0  # [1/s] of samples where none is said


@dataclass(frozen=True, eq=False)
class Trajectory:
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

    def sample(self, t: object) -> tuple[Array, Array, Array]:
        """q (nq,), v (nv,) and a (nv,) at a time [s]; with one more axis in front for times (S,).

        Raises ConfigurationError for times outside 0 .. duration.
        """
        p, v, a = self.axis_states(self._checked(t))[:3]
        return self.axes.states(p, v, a)

    def jerk(self, t: object) -> Array:
        """(nv,), or (S, nv): of the axes; where it jumps, what it is after."""
        return self.axis_states(self._checked(t))[3] @ self.axes.directions

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

    def motion(self, rate: float = RATE) -> Motion:
        """Samples at `rate` [1/s] and at the end; velocities and accelerations are by differences. Raises
        ConfigurationError."""
        if not (isinstance(rate, (int, float, np.number)) and 0.0 < rate < FASTEST):
            raise ConfigurationError(f"rate must be a positive number of samples per second, not {shown(rate)}")
        count = int(np.floor(self.duration * rate * (1.0 - 1e-12)))
        times = np.append(np.arange(count + 1) / rate, self.duration)
        times = times[: count + 1] if self.duration <= times[count] else times
        q, v, _ = self.sample(np.minimum(times, self.duration))
        return Motion.of(self.model, times, q, v[0])

    def _checked(self, t: object) -> Array:
        try:
            times = float_array(t)
        except ValueError:
            times = np.full(1, np.nan)
        slack = 1e-9 * max(self.duration, 1.0)
        if times.ndim > 1 or not ((times >= -slack) & (times <= self.duration + slack)).all():
            raise ConfigurationError(f"times must be numbers within 0 .. {self.duration:g} s, not {shown(t)}")
        return np.minimum(np.maximum(times, 0.0), self.duration)
