"""A motion between its frames, twice continuously differentiable and inside its limits.

A cubic B-spline (de Boor 1978): its positions are means of control points near by, its velocities means of those from
point to point, its accelerations go straight from one of the points' to the next. So it keeps the limits that the
points keep, at all times. It goes through the frames; where that would pass a limit it passes beside them, as near as
can be. Of balls and floating joints with limits the velocities are such a spline (`rate_spline`), as their axes turn.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import ConfigurationError
from ...robokin.model.robot import JointSlot, RobotModel
from ...robokin.spatial import swing_twist
from ..motion.motion import Motion, checked_motion
from ..motion.rolled import rolled, rolling
from ..progress import at_once, scaled
from ..trajectories.sampled import sample_times
from .path import Path
from .rate_points import rate_spline
from .spline_points import at_rest, spline_points

EVEN = 1e-6  # relative: frames are evenly spaced


def smooth_motion_steps(motion: Motion, rate: float) -> Generator[float, None, Motion]:
    """The motion every 1/`rate` [s] and at its end, with the velocities and accelerations of the curve itself.

    Its start and its end are those of the motion: at rest where the motion begins or ends so (`at_rest`), else without
    acceleration. Where limits leave a ball or a floating joint no way to its end, it ends beside it. Quaternions are
    normalised. Wheeled bases that roll do so between samples.
    Raises ConfigurationError for samples that are not evenly spaced, and for a rate that is no positive number.
    """
    model, times = checked_motion(motion).model, motion.times
    at = sample_times(motion.duration, rate)
    if len(motion) < 2:
        return motion
    steps = np.diff(times)
    dt = float(motion.duration / len(steps))
    if (abs(steps - dt) > EVEN * dt).any():
        raise ConfigurationError("a smooth motion needs frames that are evenly spaced in time")
    q = np.array(motion.unwrapped().q)
    rests = at_rest(model, q, dt) if len(q) > 2 else (False, False)
    limited = _limited_turning(model)
    share = 0.1 if limited else 1.0
    path = _spline_path(model, (yield from scaled(spline_points(model, q, dt, rests), 0.0, share)), dt)
    interval = np.clip((at / dt).astype(int), 0, len(q) - 2)
    found, v, acceleration, _ = path.at(interval, at)
    if limited:
        spline = yield from scaled(rate_spline(model, q, dt, rests, limited), share, 1.0)
        turned = spline.at(interval, np.clip(at / dt - interval, 0.0, 1.0))
        for slot in limited:
            found[:, slot.q] = np.clip(turned[0][:, slot.q], model.lower[slot.q], model.upper[slot.q])
            v[:, slot.v], acceleration[:, slot.v] = turned[1][:, slot.v], turned[2][:, slot.v]
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


smooth_motion = at_once(smooth_motion_steps, Motion)


def _spline_path(model: RobotModel, points: Array, dt: float) -> Path:
    """The cubic B-spline of control points (F + 2, nq), with F knots that are dt [s] apart."""
    a, b, c, d = (points[k : len(points) - 3 + k] for k in range(4))
    powers = ((a + 4.0 * b + c) / 6.0, (c - a) / 2.0, (a - 2.0 * b + c) / 2.0, (d - a + 3.0 * (b - c)) / 6.0)
    coefficients = np.stack([x / dt**k for k, x in enumerate(powers)], axis=1)
    count = len(points) - 2
    return Path(model, dt * np.arange(count), coefficients, np.zeros(count, bool))


def _limited_turning(model: RobotModel) -> list[JointSlot]:
    """The balls and floating joints that have a limit of any kind."""
    found = []
    for joint in model.moving_joints:
        slot = model.slot(joint.name)
        if joint.nq == joint.nv:
            continue
        limits = model.lower[slot.q], model.upper[slot.q], model.velocity[slot.v], model.acceleration[slot.v]
        is_swung = any(slot.q.start <= cone.q < slot.q.stop for cone in model.limits.cones)
        if is_swung or np.isfinite(np.concatenate(limits)).any():
            found.append(slot)
    return found
