"""Viability bounds: no sequence of steps inside them ever breaks a limit or runs out of steps."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, Joint, Link, RobotModel
from robokin_addon.solvers.limits.viability import StepLimits, braking_step, frames_to_stand, viable_steps
from support.few import rest_slow

STATES = 100_000
FRAMES = 1000


def braking_distance(step: float, change: float) -> float:
    """Covered by step, step - change, ... while positive: the definition, term by term."""
    total = 0.0
    while step > 0.0:
        total += step
        step -= change
    return total


@pytest.mark.parametrize("gap", [0.0, 1e-9, 0.3, 1.0, 2.9999, 3.0, 3.0001, 123.4])
@pytest.mark.parametrize("change", [0.07, 1.0, 50.0])
def test_braking_step_uses_the_whole_gap_and_not_more(gap, change):
    step = float(braking_step(gap, change))
    assert braking_distance(step, change) == pytest.approx(gap, abs=1e-12)
    assert braking_distance(step * (1 + 1e-6) + 1e-9, change) > gap


@pytest.mark.parametrize("largest", [0.2, 3.0])
@pytest.mark.parametrize("step", [0.0, 0.19, -0.15])
@pytest.mark.parametrize("distance", [0.0, 0.1, 4.0, 50.0])
def test_frames_to_stand_are_those_of_a_joint_that_goes_there(distance: float, step: float, largest: float) -> None:
    """As fast as may be, braking in time. Going there, each frame takes one off what is left."""
    change, frames, left, taken = 0.01, 0, distance, step
    expected = frames_to_stand(*map(np.atleast_1d, (distance, step, largest, change)))
    while abs(left) > 1e-9 or abs(taken) > 1e-9:
        wanted = np.copysign(braking_step(abs(left), change), left)
        taken = float(np.clip(np.clip(wanted, taken - change, taken + change), -largest, largest))
        left, frames = left - taken, frames + 1
    assert abs(frames - expected) < 4.0


def test_frames_to_stand_without_limits_or_motion() -> None:
    ones, none = np.ones(2), np.full(2, np.inf)
    assert frames_to_stand(3.0 * ones, ones, 2.0 * ones, none) == 1.5
    assert frames_to_stand(3.0 * ones, ones, none, none) == 0.0
    assert frames_to_stand(3.0 * ones, ones, 0.0 * ones, ones) == 0.0


def test_braking_step_without_limits():
    assert braking_step(np.inf, 1.0) == np.inf
    assert braking_step(2.0, np.inf) == 2.0
    assert braking_step(np.inf, np.inf) == np.inf
    assert braking_step(-0.5, 1.0) == -0.5


def random_joints(rng: np.random.Generator, n: int) -> tuple:
    """Limits over many orders of magnitude, a fifth of each kind absent, some ranges a point."""
    span = 10.0 ** rng.uniform(-3, 3, n)
    span[rng.random(n) < 0.02] = 0.0
    lower = rng.uniform(-4, 4, n)
    upper = lower + span
    largest = 10.0 ** rng.uniform(-4, 1, n)
    change = 10.0 ** rng.uniform(-6, 1, n)
    q = rng.uniform(lower, upper)
    for array, absent in ((lower, -np.inf), (upper, np.inf), (largest, np.inf), (change, np.inf)):
        array[rng.random(n) < 0.2] = absent
    return lower, upper, largest, change, q


@pytest.mark.parametrize("policy", rest_slow(["bang", "drift", "up", "down", "random"]))
def test_no_limit_is_ever_broken(policy):
    rng = np.random.default_rng(7)
    n = STATES // 5
    lower, upper, largest, change, q = random_joints(rng, n)
    last = np.zeros(n)
    side = np.ones(n)
    for _ in range(FRAMES):
        lo, hi = viable_steps(last, q - lower, upper - q, largest, change)
        assert (lo <= hi).all()
        if policy == "up":
            step = hi
        elif policy == "down":
            step = lo
        elif policy == "bang":  # turn round at random: arrives at both limits with every speed
            side = np.where(rng.random(n) < 0.01, -side, side)
            step = np.where(side > 0, hi, lo)
        elif policy == "random":
            step = lo + np.where(np.isfinite(hi - lo), hi - lo, 0.0) * rng.random(n)
        else:
            step = np.clip(lo + np.where(np.isfinite(hi - lo), hi - lo, 0.0) * (0.9 + 0.2 * rng.random(n)), lo, hi)
        step = np.where(np.isfinite(step), step, np.clip(3.0, lo, hi))
        new = q + step
        rounding = 1e-15 * (1 + abs(q) + abs(step))
        assert (new >= lower - rounding).all() and (new <= upper + rounding).all()
        assert (abs(step) <= largest).all()
        # The last braking step before a limit is short by the rounding of the gap, no more.
        assert (abs(step - last) <= change * (1 + 1e-12) + 1e-14 * (1 + abs(q))).all()
        q, last = np.clip(new, lower, upper), step


def test_full_speed_brakes_exactly_at_the_limit():
    q, last, path = 0.0, 0.0, []
    for _ in range(400):
        _, hi = viable_steps(
            np.array([last]), np.array([q + 1.0]), np.array([1.0 - q]), np.array([0.02]), np.array([1e-3])
        )
        last = float(hi[0])
        q += last
        path.append(q)
    assert abs(path[-1] - 1.0) < 1e-12
    frames = next(i for i, p in enumerate(path) if p > 1.0 - 1e-9)
    # 20 frames up to speed (0.21), 20 down (0.19 + the rest), the remainder at 0.02 a frame.
    assert frames <= 20 + 20 + int(0.6 / 0.02) + 1


def test_outside_the_limits_comes_back_at_full_speed():
    lo, hi = viable_steps(np.array([0.0]), np.array([-0.5]), np.array([2.5]), np.array([0.2]), np.array([0.01]))
    assert lo[0] == hi[0] == 0.2
    lo, hi = viable_steps(np.array([0.3]), np.array([9.0]), np.array([-0.1]), np.array([0.2]), np.array([0.01]))
    assert lo[0] == hi[0] == -0.1


def carriage(**limits) -> RobotModel:
    links = [Link("base"), Link("cart"), Link("arm"), Link("free")]
    joints = [
        Joint("slide", "prismatic", "base", "cart", **limits),
        Joint("turn", "continuous", "cart", "arm", velocity=2.0),
        Joint("fly", "floating", "arm", "free"),
    ]
    return RobotModel("carriage", links, joints)


def test_step_limits_of_a_model():
    model = carriage(lower=-1.0, upper=1.0, velocity=0.5, acceleration=4.0)
    limits = StepLimits.of(model, 0.1)
    np.testing.assert_allclose(limits.max_step, [0.05, 0.2, *[np.inf] * 6], rtol=1e-8)
    np.testing.assert_allclose(limits.max_step_change, [0.04, *[np.inf] * 7], rtol=1e-8)
    assert limits.coordinate.tolist() == [0, 1, *[-1] * 6]
    assert limits.lower[0] == -1.0 and np.isinf(limits.lower[1:]).all()
    q = model.configuration({"slide": 0.99})
    lo, hi = limits.bounds(q, np.zeros(8))
    assert hi[0] == pytest.approx(0.01) and lo[0] == pytest.approx(-0.04)
    assert hi[1] == pytest.approx(0.2) and np.isinf(hi[2:]).all()


def test_start_velocity_that_cannot_be_braked_is_reduced():
    limits = StepLimits.of(carriage(lower=-1.0, upper=1.0, acceleration=4.0), 0.1)
    q = np.array([0.9, 0.0, 0, 0, 0, 1, 0, 0, 0.0])
    step = limits.viable(q, np.full(8, 1.0))
    lo, hi = limits.bounds(q, step)
    assert step[0] < 1.0 and lo[0] == pytest.approx(hi[0])
    assert step[0] - lo[0] == pytest.approx(0.04, rel=1e-6)
    assert step[0] == pytest.approx(0.04 + braking_step(0.1, 0.04))


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf])
def test_bad_dt(dt):
    with pytest.raises(ConfigurationError, match="dt"):
        StepLimits.of(carriage(), dt)
