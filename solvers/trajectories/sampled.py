"""What every motion has that is an exact function of time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ...robokin.arrays import Array, float_array, shown
from ...robokin.errors import ConfigurationError
from ..motion.motion import Motion, check_rate

if TYPE_CHECKING:
    from ...robokin.model.robot import RobotModel

MOST_SAMPLES = 1e7  # of one motion: memory has room for these
RATE = 100.0  # [1/s] of samples where none is said


class Sampled(ABC):
    """A motion of `duration` [s]: `sample` and `motion` of what `states` gives."""

    model: RobotModel
    duration: float

    @abstractmethod
    def states(self, t: Array) -> tuple[Array, Array, Array]:
        """q (..., nq), v (..., nv) and a (..., nv) at times (...) within 0 .. duration."""

    def sample(self, t: object) -> tuple[Array, Array, Array]:
        """q (nq,), v (nv,) and a (nv,) at a time [s]; with one more axis in front for times (S,).

        Raises ConfigurationError for times outside 0 .. duration.
        """
        return self.states(self.checked(t))

    def motion(self, rate: float = RATE) -> Motion:
        """Samples at `rate` [1/s] and at the end; velocities and accelerations are by differences. Raises
        ConfigurationError."""
        times = sample_times(self.duration, rate)
        q, v, _ = self.sample(np.minimum(times, self.duration))
        return Motion.of(self.model, times, q, v[0])

    def checked(self, t: object) -> Array:
        """Times within 0 .. duration. Raises ConfigurationError."""
        try:
            times = float_array(t)
        except ValueError:
            times = np.full(1, np.nan)
        slack = 1e-9 * max(self.duration, 1.0)
        if times.ndim > 1 or not ((times >= -slack) & (times <= self.duration + slack)).all():
            raise ConfigurationError(f"times must be numbers within 0 .. {self.duration:g} s, not {shown(t)}")
        return np.minimum(np.maximum(times, 0.0), self.duration)


def sample_times(duration: float, rate: float) -> Array:
    """(S,) from 0 on every 1/`rate` [s], and the duration. Raises ConfigurationError for what is no rate, and for more
    samples than memory has room for."""
    check_rate(rate)
    if not duration * rate <= MOST_SAMPLES:
        raise ConfigurationError(f"{duration:g} s at {rate:g} samples per second are too many samples")
    count = int(np.floor(duration * rate * (1.0 - 1e-12)))
    times = np.append(np.arange(count + 1) / rate, duration)
    return times[: count + 1] if duration <= times[count] else times


def checked_duration(value: object) -> float:
    """[s]. Raises ConfigurationError."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0.0 <= value < 1e9:
        raise ConfigurationError(f"duration must be a number of seconds, not {shown(value)}")
    return float(value)
