"""Random configurations between which a path is looked for, and how far they are apart."""

from __future__ import annotations

import numpy as np

from ...robokin import random_configuration
from ...robokin.arrays import Array
from ...robokin.configuration import unit_quaternions
from ...robokin.errors import ConfigurationError
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.robot import RobotModel


class Samples:
    """low, high: (nq,) the range of each coordinate: its limits, and around both ends where it has none. A base that is
    at one place in both stays there. weights: (nq,) [m] per unit, of a distance; set them before it is asked for.

    Raises ConfigurationError for a wheeled base that would have to go somewhere.
    """

    def __init__(self, model: RobotModel, start: Array, goal: Array, seed: int) -> None:
        self.model, self.start = model, start
        span = np.ones(model.nq)
        for motion, iq in zip(model.tree.motion, model.tree.iq, strict=True):
            if motion in (MotionPrimitive.ROTATION, MotionPrimitive.HELICAL):
                span[iq] = np.pi
        self.low = np.where(np.isfinite(model.lower), model.lower, np.minimum(start, goal) - span)
        self.high = np.where(np.isfinite(model.upper), model.upper, np.maximum(start, goal) + span)
        for base in model.rolling_bases:
            if (start != goal)[[*range(base.q, base.q + 3), *base.wheel_q]].any():
                raise ConfigurationError(
                    "a wheeled base cannot be planned for: give both ends with the base at one place"
                )
        self.fixed = np.zeros(model.nq, bool)
        for joint, slot in zip(model.joints, model.slots, strict=True):
            if joint.parent is None and (start[slot.q] == goal[slot.q]).all():
                self.fixed[slot.q] = True
        for base in model.rolling_bases:
            self.fixed[list(base.wheel_q)] = True
        self.low = np.where(self.fixed, start, self.low)
        self.high = np.where(self.fixed, start, self.high)
        self.weights = np.ones(model.nq)
        self._rng = np.random.default_rng(seed)
        self._quaternion = np.zeros(model.nq, bool)
        for at in model.tree.quaternions:
            self._quaternion[at : at + 4] = True

    @property
    def diagonal(self) -> float:
        """[m] of the whole range."""
        range_ = np.where(self._quaternion & ~self.fixed, 1.0, self.high - self.low)
        return float(np.linalg.norm(self.weights * range_))

    def draw(self) -> Array:
        """(nq,) uniform."""
        q = random_configuration(self.model, self._rng)
        uniform = self.low + (self.high - self.low) * self._rng.random(self.model.nq)
        q = np.where(self._quaternion, q, uniform)
        return np.where(self.fixed, self.start, q)

    def shares(self) -> Array:
        """(2,) numbers in [0, 1), the lesser first."""
        return np.sort(self._rng.random(2))

    def apart(self, q: Array, other: Array) -> Array:
        """(...) [m] distance of configurations (..., nq) from another one."""
        away = q - other
        for at in self.model.tree.quaternions:
            own = slice(at, at + 4)
            signs = np.where((q[..., own] * other[own]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
            away[..., own] = signs * q[..., own] - other[own]
        return np.linalg.norm(self.weights * away, axis=-1)

    def between(self, q: Array, other: Array, share: float) -> Array:
        """The configuration so far along the straight path."""
        return unit_quaternions(self.model, q + share * (other - q))
