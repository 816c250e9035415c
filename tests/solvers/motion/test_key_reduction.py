"""Fewer keys: the tools stay within their bounds, the limits hold, the count follows the bound."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, forward_kinematics, library_robot
from robokin_addon.robokin.structure.tool_links import tool_links
from robokin_addon.solvers import Motion, check_motion
from robokin_addon.solvers.motion.key_reduction import reduce_keys, tool_errors
from robokin_addon.solvers.motion.rolled import rolled
from robokin_addon.solvers.progress import finish
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

PANDA = library_robot("panda")
TOOL = tool_links(PANDA)[0]
FRAMES = 120


def waves(scale: float = 0.3) -> Motion:
    t = np.arange(2 * FRAMES - 1) / 48.0
    q = PANDA.limits.middle(PANDA.neutral()) + scale * (1.0 - np.cos(np.arange(1, 8) * 0.4 * t[:, None]))
    return Motion.of(PANDA, t, np.clip(q, PANDA.lower, PANDA.upper))


def of_frames(motion: Motion, q: np.ndarray) -> Motion:
    return Motion.of(motion.model, motion.times[::2], q[::2])


def test_the_tool_stays_within_its_bounds_and_the_count_follows_them() -> None:
    motion, counts = waves(), []
    for millimetres in (0.01, 0.1, 1.0, 10.0):
        bounds = 1e-3 * millimetres, 1e-2 * millimetres
        found = finish(reduce_keys(motion, [TOOL], *bounds))
        counts.append(len(found.keys))
        here, there = (np.array([forward_kinematics(PANDA, x)[TOOL] for x in q]) for q in (found.q, motion.q))
        off = np.linalg.norm(here[:, :3, 3] - there[:, :3, 3], axis=1).max()
        turns = [Rotation.from_matrix(T[:, :3, :3]) for T in (here, there)]
        turned = (turns[0].inv() * turns[1]).magnitude().max()
        assert (off, turned) == pytest.approx((found.position, found.rotation), abs=1e-7)
        assert off <= bounds[0] and turned <= bounds[1]
        assert not check_motion(of_frames(motion, found.q)).violations
    assert counts == sorted(counts, reverse=True) and counts[2] < FRAMES // 6


def test_between_keys_it_is_the_hermite_spline() -> None:
    motion = waves()
    found = finish(reduce_keys(motion, [TOOL], 1e-3, 1e-2))
    assert not found.straight.any()
    slopes = np.gradient(motion.q[::2], axis=0, edge_order=2)
    wanted = CubicHermiteSpline(found.keys, motion.q[::2][found.keys], slopes[found.keys])
    assert abs(wanted(np.arange(2 * FRAMES - 1) / 2.0) - found.q).max() < 1e-12


def test_limits_are_kept_where_the_motion_is_at_them() -> None:
    """At its limits on speed and acceleration, and along a position limit."""
    dt, a = 1.0 / 24.0, PANDA.acceleration[0] if np.isfinite(PANDA.acceleration[0]) else 15.0
    model = PANDA
    times = np.arange(2 * FRAMES - 1) * 0.5 * dt
    q = np.tile(PANDA.limits.middle(PANDA.neutral()), (len(times), 1))
    rise = np.minimum(0.5 * a * times**2, 1.0)
    q[:, 0] = np.where(rise < 1.0, rise, 1.0) - 1.0
    q[:, 3] = np.minimum(PANDA.upper[3], PANDA.upper[3] - 0.3 * np.cos(times))
    motion = Motion.of(model, times, np.clip(q, model.lower, model.upper))
    found = finish(reduce_keys(motion, [TOOL], 5e-3, 0.05))
    before, after = (check_motion(of_frames(motion, x)).violations for x in (motion.q, found.q))
    assert {(v.frame, v.joint, v.kind) for v in after} <= {(v.frame, v.joint, v.kind) for v in before}
    assert (found.q <= model.upper).all() and (found.q >= model.lower).all() and len(found.keys) < FRAMES


def test_bad_input() -> None:
    with pytest.raises(ConfigurationError, match="bounds must be positive"):
        finish(reduce_keys(waves(), [TOOL], 0.0, 0.1))
    with pytest.raises(ConfigurationError, match="half-way between"):
        finish(reduce_keys(waves().at([0.0]), [TOOL], 1.0, 0.1))


def test_a_base_that_rolls_keeps_its_keys() -> None:
    model = library_robot("mobile_arm")
    (base,) = model.rolling_bases
    q = np.tile(model.limits.middle(model.neutral()), (2 * FRAMES - 1, 1))
    t = np.linspace(0.0, 1.0, len(q))
    arm = [i for i in range(model.nq) if i not in (*range(base.q, base.q + 3), *base.wheel_q)]
    q[:, arm] += 0.2 * np.sin(3.0 * t[:, None] + np.arange(len(arm)))
    q[:, base.wheel_q] = np.column_stack((2.0 * t, 3.0 * t))
    motion = rolled(Motion.of(model, 0.02 * np.arange(len(q)), q), np.ones(1, bool))
    tool = tool_links(model)[0]
    found = finish(reduce_keys(motion, [tool], 2e-3, 0.01))
    own = [*range(base.q, base.q + 3), *base.wheel_q]
    assert sorted(found.unreduced) == sorted(own) and (found.q[:, own] == motion.q[:, own]).all()
    away, _ = tool_errors(model, [tool], found.q, motion.q)
    assert len(found.keys) < FRAMES // 4 and 0.0 < away.max() <= 2e-3 and found.position == away.max()
