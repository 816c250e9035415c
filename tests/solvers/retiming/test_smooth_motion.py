"""A motion between its frames: against SciPy's B-spline, inside the limits at all times, near the frames."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, library_robot
from robokin_addon.solvers import Motion, smooth_motion
from scipy.interpolate import BSpline

PANDA = library_robot("panda")
DT, FRAMES = 1.0 / 24.0, 60


def harsh() -> Motion:
    """Accelerations jump from limit to limit."""
    rng, a = np.random.default_rng(0), 4.0
    steps = a * rng.choice([-1.0, 1.0], size=(FRAMES, 7))
    steps -= steps.mean(axis=0)
    way = np.cumsum(np.cumsum(steps, axis=0), axis=0) * DT**2
    q = PANDA.limits.middle(PANDA.neutral()) + 0.1 * way
    return Motion.of(PANDA, DT * np.arange(FRAMES), np.clip(q, PANDA.lower, PANDA.upper))


def test_it_is_the_b_spline_and_keeps_what_the_frames_keep() -> None:
    motion = harsh()
    fine = smooth_motion(motion, 1000.0)
    knots = DT * np.arange(-3, FRAMES + 3)
    points = np.vstack((2 * motion.q[0] - motion.q[1], motion.q, 2 * motion.q[-1] - motion.q[-2]))
    spline = BSpline(knots, points, 3)
    for order, ours in enumerate((fine.q, fine.v, fine.a)):
        assert abs(spline(fine.times, nu=order)[1:-1] - ours[1:-1]).max() < 1e-9
    inside = motion.a[2:]
    assert (abs(fine.a) <= abs(inside).max(axis=0) * (1.0 + 1e-9)).all()
    assert (abs(fine.v) <= abs(motion.v[1:]).max(axis=0) * (1.0 + 1e-9)).all()
    assert (fine.q <= motion.q.max(axis=0)).all() and (fine.q >= motion.q.min(axis=0)).all()
    jumps = abs(np.diff(fine.a, axis=0)).max()
    assert jumps <= 2.0 * abs(inside).max() / DT * 1e-3 * (1.0 + 1e-6)  # accelerations are continuous


def test_it_is_near_the_frames_and_begins_and_ends_there() -> None:
    motion = harsh()
    at_frames = smooth_motion(motion, 24.0)
    assert abs(at_frames.q - motion.q).max() <= abs(motion.a[2:]).max() * DT**2 / 6.0 * (1.0 + 1e-9)
    assert abs(at_frames.q[[0, -1]] - motion.q[[0, -1]]).max() < 1e-12


def test_bad_input() -> None:
    with pytest.raises(ConfigurationError, match="evenly spaced"):
        smooth_motion(Motion.of(PANDA, [0.0, 1.0, 3.0], harsh().q[:3]), 10.0)
    with pytest.raises(ConfigurationError, match="rate must be a positive number"):
        smooth_motion(harsh(), 0.0)
