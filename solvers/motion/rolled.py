"""Wheeled bases that roll: where their wheels take them, from sample to sample."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from .motion import Motion

ROLLS = 1e-4  # [m] from sample to sample: a base that is farther off slips


def wheel_slip(model: RobotModel, q: Array) -> Array:
    """(F, wheeled bases) [m] between where a base is and where its wheels have rolled it since the row before.

    q: (F, nq). The larger one of what the middle of its axle and what its wheels, by its turn, are off.
    """
    slip = np.zeros((len(q), len(model.rolling_bases)))
    for i, base in enumerate(model.rolling_bases):
        own, wheels = slice(base.q, base.q + 3), list(base.wheel_q)
        rolled = base.roll(q[:-1, own], np.diff(q[:, wheels], axis=0))
        middles = [base.axle(each) for each in (q[1:, own], rolled)]
        turned = abs(q[1:, base.q + 2] - rolled[:, 2])
        slip[1:, i] = np.maximum(np.linalg.norm(middles[0] - middles[1], axis=1), 0.5 * base.separation * turned)
    return slip


def side_slip(motion: Motion) -> Array:
    """(wheeled bases,) [m/s] how fast the middle of an axle moves along it at most, on the mean from sample to sample:
    wheels let it move across alone."""
    most = np.zeros(len(motion.model.rolling_bases))
    steps = np.diff(motion.times)
    for i, base in enumerate(motion.model.rolling_bases):
        own = motion.q[:, base.q : base.q + 3]
        forward = base.heading(0.5 * (own[1:, 2] + own[:-1, 2]))
        moved = np.diff(base.axle(own), axis=0)
        aside = forward[:, 0] * moved[:, 1] - forward[:, 1] * moved[:, 0]
        most[i] = abs(aside / steps).max(initial=0.0)
    return most


def rolling(model: RobotModel, q: Array) -> Array:
    """(wheeled bases,) bool: those that roll from row to row of q (F, nq)."""
    return wheel_slip(model, q).max(axis=0, initial=0.0) <= ROLLS


def rolled(motion: Motion, rolls: Array) -> Motion:
    """The motion with those wheeled bases where their wheels roll them: a curve through rolled poses slips a little
    between them. rolls: (wheeled bases,) bool."""
    if not rolls.any():
        return motion
    q = motion.q.copy()
    for base, does_roll in zip(motion.model.rolling_bases, rolls, strict=True):
        if does_roll:
            own, wheels = slice(base.q, base.q + 3), list(base.wheel_q)
            for row, turned in enumerate(np.diff(q[:, wheels], axis=0)):
                q[row + 1, own] = base.roll(q[row, own], turned)
    return Motion.of(motion.model, motion.times, q, motion.v[0])
