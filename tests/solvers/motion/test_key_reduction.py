"""Fewer keys: the tools stay within their bounds, the limits hold, the count follows the bound."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    RobotModel,
    forward_kinematics,
    integrate,
    library_robot,
    load_urdf,
)
from robokin_addon.robokin.structure.tool_links import end_links, tool_links
from robokin_addon.solvers import Motion, check_motion
from robokin_addon.solvers.motion.key_reduction import SPARE, _Fit, even_keys, reduce_keys, tool_errors
from robokin_addon.solvers.motion.rolled import rolled, wheel_slip
from robokin_addon.solvers.progress import finish
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from scipy.spatial.transform import Rotation
from support.few import these_slow
from support.problems.limits import with_rates
from support.robots import robot

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
    wanted = CubicHermiteSpline(found.keys, motion.q[::2][found.keys], found.slopes)
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


def test_no_cubic_accelerates_more_than_the_motion_may() -> None:
    """Not within one frame either, where its slopes are those of its samples. At its limits, with tight bounds."""
    lasting = 0
    for seed in (2, 7, 11, 19):
        rng, dt, frames = np.random.default_rng([seed, 9]), (0.01, 0.04, 0.1)[seed % 3], 24
        times = np.arange(2 * frames - 1) * dt / 2.0
        knots = np.linspace(0.0, times[-1], 9 + seed % 6)
        curve = CubicSpline(knots, 0.05 * rng.normal(size=(len(knots), PANDA.nq)))
        most = 1.001 * abs(curve(np.linspace(0.0, times[-1], 5001), 2)).max(axis=0)
        model = PANDA
        for joint, each in zip(PANDA.moving_joints, most, strict=True):
            model = with_rates(model, (joint.name,), acceleration=float(each))
        q = model.limits.middle(model.neutral()) + curve(times)
        found = finish(reduce_keys(Motion.of(model, times, q), [TOOL], 1e-6 * 10 ** rng.uniform(0.0, 2.0), 1e-5))
        for k, (i, j) in enumerate(pairwise(found.keys)):
            if not found.straight[k]:
                spline = CubicHermiteSpline([i * dt, j * dt], found.q[[2 * i, 2 * j]], found.slopes[k : k + 2] / dt)
                lasting += j == i + 1
                assert (abs(spline([i * dt, j * dt], 2)) <= most * (1.0 + 1e-6)).all()
    assert lasting


def as_baked(model: RobotModel, steps: np.ndarray, dt: float = 0.04) -> Motion:
    """Steps (F, nv) from the middle, straight between frames that are dt [s] apart."""
    at = [model.limits.clamp(integrate(model, model.limits.middle(model.neutral()), v)) for v in steps]
    q = np.repeat(at, 2, axis=0)[:-1]
    q[1::2] = 0.5 * (q[:-1:2] + q[2::2])
    return Motion.of(model, 0.5 * dt * np.arange(len(q)), q)


def fewest_keys(fit: _Fit) -> int:
    """By trying all sets of keys, with the slopes of least squares of each set."""
    for count in range(2, fit.frames + 1):
        for inner in combinations(range(1, fit.frames - 1), count - 2):
            keys = [0, *inner, fit.frames - 1]
            A, B = np.zeros((count, count)), np.zeros((count, fit.q.shape[1]))
            curved = [(at, i, j) for at, (i, j) in enumerate(pairwise(keys)) if j > i + 1]  # others go straight
            for at, i, j in curved:
                columns = CubicHermiteSpline([i, j], np.eye(2), np.zeros((2, 2)))(np.arange(2 * i, 2 * j + 1) / 2.0)
                slopes = CubicHermiteSpline([i, j], np.zeros((2, 2)), np.eye(2))(np.arange(2 * i, 2 * j + 1) / 2.0)
                A[at : at + 2, at : at + 2] += slopes.T @ slopes
                B[at : at + 2] += slopes.T @ (fit.q[2 * i : 2 * j + 1] - columns @ fit.q[[2 * i, 2 * j]])
            S = np.linalg.lstsq(A, B, rcond=None)[0]
            if all(fit.cubic(i, j, S[at], S[at + 1]) is not None for at, i, j in curved):
                return count
    raise AssertionError("every frame a key does")


def kept_and_needed(model: RobotModel, seeds: range, *bounds: float) -> tuple[int, int]:
    """Keys of wandering motions of 11 frames, one of each seed: those that are kept, and those that are needed."""
    ends, counts = end_links(model), []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rate, phase, size = rng.uniform(2.0, 8.0, model.nv), rng.uniform(0.0, 6.0, model.nv), rng.uniform(0.02, 0.1)
        motion = as_baked(model, size * np.sin(np.linspace(0.0, 1.0, 11)[:, None] * rate + phase), dt=0.2)
        found = finish(reduce_keys(motion, ends, *bounds))
        counts.append((len(found.keys), fewest_keys(_Fit(motion, ends, *(SPARE * bound for bound in bounds)))))
    return tuple(np.sum(counts, axis=0).tolist())


@pytest.mark.parametrize("name", these_slow(["panda", "puppet", "gantry", "z1", "solo12"], "gantry", "solo12"))
def test_the_count_is_what_the_bound_needs(name: str) -> None:
    """Against all sets of keys, of arms, balls, slides and a floating base."""
    roots = {"z1": "fixed", "solo12": "floating"}
    model = load_urdf(robot(name), root=roots[name]) if name in roots else library_robot(name)
    kept, needed = kept_and_needed(model, range(2), 1e-3, np.radians(1.0))
    assert kept <= 1.3 * needed


@pytest.mark.parametrize("name", ["panda", "gantry"])
def test_two_keys_become_one_between_them_where_it_does(name: str) -> None:
    kept, needed = kept_and_needed(library_robot(name), range(200, 212), 5e-3, np.radians(5.0))
    assert kept <= 1.05 * needed


def test_keys_are_few_where_a_slope_breaks_a_limit() -> None:
    """A gantry that eases from key to key: one acceleration over its limit made every frame a key."""
    model = library_robot("gantry")
    values = 0.5 * np.random.default_rng(7).uniform(-1.0, 1.0, (5, model.nv))
    values[0] = 0.0
    at = np.linspace(0.0, 4.0, 60)
    i = np.minimum(at.astype(int), 3)
    s = (at - i)[:, None]
    motion = as_baked(model, values[i] + (values[i + 1] - values[i]) * s * s * (3.0 - 2.0 * s))
    found = finish(reduce_keys(motion, end_links(model), 2e-3, np.radians(1.0)))
    assert len(found.keys) < 30
    before, after = (check_motion(of_frames(motion, x)).violations for x in (motion.q, found.q))
    assert {(v.frame, v.joint, v.kind) for v in after} <= {(v.frame, v.joint, v.kind) for v in before}


@pytest.mark.parametrize(
    ("name", "root", "joint"), [("panda", "fixed", "panda_finger_joint1"), ("iris_simple", "floating", "root_joint")]
)
def test_joints_beside_the_tools_keep_their_motion(name: str, root: str, joint: str) -> None:
    """Fingers that open while the arm stands still, a body that flies and carries nothing."""
    model = load_urdf(robot(name), root=root)
    steps = np.zeros((40, model.nv))
    moved = [j.name for j in model.joints if j.nv].index(joint)
    steps[:, moved] = 0.015 * np.sin(np.linspace(0.0, 12.0, 40))
    motion = as_baked(model, steps)
    found = finish(reduce_keys(motion, end_links(model), 1e-3, np.radians(1.0)))
    away = tool_errors(model, model.link_names, found.q, motion.q)[0]
    assert np.ptp(motion.q[:, moved]) > 0.01 and away.max() <= 1e-3


def test_bad_input() -> None:
    with pytest.raises(ConfigurationError, match="bounds must be positive"):
        finish(reduce_keys(waves(), [TOOL], 0.0, 0.1))
    with pytest.raises(ConfigurationError, match="half-way between"):
        finish(reduce_keys(waves().at([0.0]), [TOOL], 1.0, 0.1))


def driven(turned) -> tuple[Motion, list[int]]:
    """The mobile arm whose arm moves as its wheels turn by (2 F - 1, 2) [rad]; the places of base and wheels in q."""
    model = library_robot("mobile_arm")
    (base,) = model.rolling_bases
    own = [*range(base.q, base.q + 3), *base.wheel_q]
    q = np.tile(model.limits.middle(model.neutral()), (len(turned), 1))
    arm = [i for i in range(model.nq) if i not in own]
    q[:, arm] += 0.2 * np.sin(3.0 * np.linspace(0.0, 1.0, len(q))[:, None] + np.arange(len(arm)))
    q[:, base.q + 2], q[:, base.wheel_q] = 0.7, turned
    return rolled(Motion.of(model, 0.02 * np.arange(len(q)), q), np.ones(1, bool)), own


def test_a_base_that_rolls_and_turns_keeps_its_keys() -> None:
    motion, own = driven(np.linspace(0.0, 1.0, 2 * FRAMES - 1)[:, None] * (2.0, 3.0))
    model, tool = motion.model, tool_links(motion.model)[0]
    found = finish(reduce_keys(motion, [tool], 2e-3, 0.01))
    assert sorted(found.unreduced) == sorted(own) and (found.q[:, own] == motion.q[:, own]).all()
    away, _ = tool_errors(model, [tool], found.q, motion.q)
    assert len(found.keys) < FRAMES // 4 and 0.0 < away.max() <= 2e-3 and found.position == away.max()


def test_a_base_that_accelerates_straight_has_few_keys_and_does_not_slip() -> None:
    t = np.linspace(0.0, 1.0, 2 * FRAMES - 1)
    motion, own = driven(3.0 * (t - np.sin(2.0 * np.pi * t) / (2.0 * np.pi))[:, None] * np.ones(2))
    links = end_links(motion.model)
    found = finish(reduce_keys(motion, links, 2e-3, 0.01))
    assert not len(found.unreduced) and len(found.keys) < FRAMES // 4
    assert np.ptp(motion.q[:, own[0]]) > 0.1 and not (found.q[:, own] == motion.q[:, own]).all()
    assert wheel_slip(motion.model, found.q).max() < 1e-9
    away, turned = tool_errors(motion.model, links, found.q, motion.q)
    assert away.max() <= 2e-3 and turned.max() <= 0.01


def test_even_keys_are_those_between_which_values_go_straight_on() -> None:
    t = np.arange(50.0)
    values = np.column_stack((np.interp(t, [0.0, 10.0, 30.0, 49.0], [0.1, 0.1, 7.3, 2.0]), 0.0 * t)).astype(np.float32)
    assert even_keys(values).tolist() == [0, 10, 30, 49]
    values[20, 1] = 1e-3
    assert even_keys(values).tolist() == [0, 10, 19, 20, 21, 30, 49]
    assert even_keys(values[:1]).tolist() == [0] and len(even_keys(np.sin(t)[:, None])) == 50
