"""Tracking of what is too fast: late robots catch up as soon as the limits allow."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics
from robokin_addon.solvers import PositionTask
from robokin_addon.solvers.results import Status
from robokin_addon.solvers.tracking.track import track
from support.problems.limits import with_rates
from support.problems.tracked import (
    BACKENDS,
    assert_inside,
    assert_residuals_are_true,
    circle,
    panda,
    ur5,
)


def slider(**limits) -> RobotModel:
    return RobotModel("slider", [Link("rail"), Link("cart")], [Joint("slide", "prismatic", "rail", "cart", **limits)])


def along(x: np.ndarray) -> np.ndarray:
    T = np.tile(np.eye(4), (len(x), 1, 1, 1))
    T[:, 0, 2, 3] = x
    return T


SLIDE = [PositionTask("cart", np.zeros(3))]


def fewest_frames(distance: float, largest: float, change: float) -> int:
    """Of all trapezoids of steps that end at rest: how few frames can cover the distance."""
    frames = 0
    while True:
        frames += 1
        ramp = np.minimum(np.arange(1, frames + 1), np.arange(frames, 0, -1)) * change
        if np.minimum(ramp, largest).sum() >= distance - 1e-9:
            return frames


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("velocity", "acceleration"), [(1.0, 2.0), (np.inf, 3.0), (0.7, np.inf), (2.0, 30.0)])
def test_a_step_is_made_in_the_fewest_possible_frames(backend, velocity, acceleration):
    dt = 0.05
    model = slider(lower=-5.0, upper=5.0, velocity=velocity, acceleration=acceleration)
    x = np.zeros(200)
    x[3:] = 1.37
    result = track(model, SLIDE, along(x), model.neutral(), dt=dt, backend=backend)
    assert_inside(result)
    arrived = int(np.argmax(abs(result.q[3:, 0] - 1.37) < 1e-5))
    assert arrived + 1 == fewest_frames(1.37, velocity * dt, acceleration * dt * dt)
    assert result.q.max() <= 1.37 + 1e-12  # no overshoot
    assert (np.diff(result.q[:, 0]) >= -1e-12).all()
    assert result.status[3] is Status.LIMIT and result.converged[3 + arrived :].all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_target_that_runs_away_is_followed_at_full_speed_and_caught(backend):
    dt = 0.05
    model = slider(lower=-50.0, upper=50.0, velocity=1.0, acceleration=4.0)
    x = np.concatenate([2.0 * dt * np.arange(60), np.full(150, 2.0 * dt * 59)])
    result = track(model, SLIDE, along(x), model.neutral(), dt=dt, backend=backend)
    assert_inside(result)
    speed = result.motion.v[:, 0]
    assert (speed[6:110] > 0.999).all()
    assert result.q.max() <= x.max() + 1e-9 and result.converged[-30:].all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_moving_target_is_caught_while_it_moves(backend):
    dt = 0.05
    model = slider(lower=-50.0, upper=50.0, velocity=1.0, acceleration=2.0)
    x = 0.6 * dt * np.arange(80)
    result = track(model, SLIDE, along(x), model.neutral(), dt=dt, backend=backend)
    assert_inside(result)
    assert not result.converged[1] and result.converged[20:].all()
    assert (result.q[:, 0] <= x + 1e-9).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_target_that_stops_dead_is_passed_once_and_returned_to(backend):
    dt = 0.05
    model = slider(lower=-50.0, upper=50.0, velocity=3.0, acceleration=4.0)
    x = np.concatenate([dt * np.arange(30), np.full(60, dt * 29)])
    result = track(model, SLIDE, along(x), model.neutral(), dt=dt, start_velocity=[1.0], backend=backend)
    assert_inside(result)
    assert result.converged[:30].all()
    past = result.q[30:, 0] - x[-1]
    assert past.min() > -1e-6  # it does not swing to the other side
    top = int(np.argmax(past))
    assert past[top] == pytest.approx(0.5 * 1.0**2 / 4.0, rel=0.25)  # braked as hard as allowed
    assert (np.diff(past[:top]) > 0).all() and (np.diff(past[top:]) < 1e-9).all()
    assert result.converged[-30:].all()


@pytest.mark.parametrize("make", [panda, ur5])
@pytest.mark.parametrize("acceleration", [np.inf, 30.0, 8.0, 2.0])
def test_an_arm_goes_to_a_far_target_without_swinging(make, acceleration):
    model, q, tasks = make()
    model = with_rates(model, acceleration=acceleration)
    targets = np.tile(forward_kinematics(model, q)[tasks[0].link], (150, 1, 1, 1))
    targets[5:, 0, :3, 3] += (-0.3, 0.0, 0.1)
    result = track(model, tasks, targets, q)
    assert_inside(result)
    arrived = int(np.argmax(result.converged[5:])) + 5
    assert 5 < arrived < 50 and result.converged[arrived:].all()
    assert (np.diff(result.residuals[6:, 0, 0]) < 1e-5).all()  # nearer in every frame
    assert np.abs(result.motion.v[-1]).max() < 1e-6


@pytest.mark.parametrize("make", [panda, ur5])
@pytest.mark.parametrize("acceleration", [np.inf, 8.0])
def test_a_circle_too_fast_is_caught_up_with(make, acceleration):
    model, q, tasks = make()
    model = with_rates(model, acceleration=acceleration, velocity=1.2)
    fast = circle(model, tasks[0].link, q, 24, turns=1.0)
    slow = circle(model, tasks[0].link, q, 200)
    result = track(model, tasks, np.concatenate([fast, slow]), q)
    assert_inside(result)
    assert_residuals_are_true(result)
    assert not result.converged[5:24].all() and result.converged[60:].all()
    assert result.residuals[:, 0, 0].max() < 0.2  # the diameter


def test_the_singular_wrist_of_a_ur5_is_passed_at_bounded_speed():
    model, _, tasks = ur5()
    q = np.array([0.3, -1.2, 1.5, -1.0, 0.0, 0.2])  # wrist axes parallel
    centre = forward_kinematics(model, q)["tool0"]
    targets = np.tile(centre, (120, 1, 1, 1))
    shift = np.linspace(-0.15, 0.15, 120)
    targets[:, 0, :3, 3] += shift[:, None] * centre[:3, 0] + 0.002 * centre[:3, 1]
    start = np.array([0.3, -1.2, 1.5, -1.0, 0.4, 0.2])
    result = track(model, tasks, targets, start)
    assert_inside(result)
    assert abs(np.diff(result.q, axis=0)).max() <= np.pi / 24 + 1e-9
    assert result.converged[-20:].all()
    assert result.residuals[1:, 0, 0].max() < 0.05
