"""A motion between its frames, twice continuously differentiable and inside its limits.

A cubic B-spline (de Boor 1978): its positions are means of control points near by, its velocities means of those from
point to point, its accelerations go straight from one of the points' to the next. So it keeps the limits that the
points keep, at all times. It goes through the frames; where that would pass a limit it passes beside them, as near as
can be.
"""

from __future__ import annotations

import numpy as np

from ...robokin.errors import ConfigurationError
from ...robokin.spatial import swing_twist
from ..motion.motion import Motion, check_rate, checked_motion
from ..motion.rolled import rolled, rolling
from ..trajectories.sampled import check_count
from .calm_points import spline_path
from .spline_points import spline_points

EVEN = 1e-6  # relative: frames are evenly spaced


def smooth_motion(motion: Motion, rate: float) -> Motion:
    """The motion every 1/`rate` [s] and at its end, with the velocities and accelerations of the curve itself.

    Its start and its end are those of the motion: at rest where the motion begins or ends so (`spline_points`), else
    without acceleration. Quaternions are normalised. Wheeled bases that roll do so between samples.
    Raises ConfigurationError for samples that are not evenly spaced, and for a rate that is no positive number.
    """
    model, times = checked_motion(motion).model, motion.times
    check_rate(rate)
    if len(motion) < 2:
        return motion
    steps = np.diff(times)
    dt = float(motion.duration / len(steps))
    if (abs(steps - dt) > EVEN * dt).any():
        raise ConfigurationError("a smooth motion needs frames that are evenly spaced in time")
    check_count(motion.duration, rate)
    q = np.array(motion.unwrapped().q)
    path = spline_path(model, spline_points(model, q, dt), dt)
    at = np.arange(np.floor(motion.duration * rate * (1.0 - 1e-12)) + 1.0) / rate
    at = np.append(at, motion.duration) if at[-1] < motion.duration else at
    found, v, acceleration, _ = path.at(np.clip((at / dt).astype(int), 0, len(q) - 2), at)
    for cone in model.limits.cones:
        own = slice(cone.q, cone.q + 4)
        for row in np.flatnonzero(~swing_twist.contains(cone, found[:, own])):
            found[row, own] = swing_twist.project(cone, found[row, own])
    rolls = rolling(model, q)
    result = rolled(Motion.of(model, times[0] + at, found), rolls)
    for base, does_roll in zip(model.rolling_bases, rolls, strict=True):
        if does_roll:
            wheels, own = list(base.wheel_v), slice(base.v, base.v + 3)
            v[:, own], acceleration[:, own] = base.rates(result.q[:, base.q + 2], v[:, wheels], acceleration[:, wheels])
    return Motion(model, result.times, result.q, v, acceleration)
