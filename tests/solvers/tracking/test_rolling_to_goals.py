"""Wheeled bases stay on the arc to a goal: a robot gets to what is beside it, and does not shake."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, library_robot, random_configuration
from robokin_addon.solvers import PoseTask, PositionTask, track
from robokin_addon.solvers.descent.data import compile_whole
from robokin_addon.solvers.descent.steps import on_shorter_arcs, roll
from robokin_addon.solvers.tracking.result import TrackResult
from support.engine.stacks import engine_stack
from support.rolling import HANDS, reversals, rolling_robot

DT = 1.0 / 24.0
REACHED = 1e-3  # [m]


def jump(name: str, move: tuple[float, float], frames: int, backend: str = "auto") -> TrackResult:
    """The hand's target moves at once, by x, y [m], and stands still."""
    model, q, tip = rolling_robot(name)
    place = forward_kinematics(model, q)[tip][:3, 3]
    targets = [[place]] + [[place + np.array([*move, 0.0])]] * frames
    return track(model, [PositionTask(tip, place)], targets, q, DT, backend=backend)


@pytest.mark.parametrize("angle", [0.0, 0.8, 1.6, 2.4, 3.1, -0.8, -1.6, -2.4])
@pytest.mark.parametrize("name", HANDS)
def test_a_hand_gets_to_a_place_on_any_side(name: str, angle: float) -> None:
    found = jump(name, (2.0 * np.cos(angle), 2.0 * np.sin(angle)), 300)
    assert found.residuals[-1, 0, 0] < REACHED
    assert reversals(found) <= 6


@pytest.mark.parametrize("name", HANDS)
def test_a_hand_gets_to_poses_around_the_robot(name: str) -> None:
    model, q, tip = rolling_robot(name)
    here = forward_kinematics(model, q)[tip]
    for seed in range(12):
        rng = np.random.default_rng(seed)
        there = random_configuration(model, rng)
        there[:3] = rng.uniform((-2.0, -2.0, -np.pi), (2.0, 2.0, np.pi))
        target = forward_kinematics(model, model.limits.clamp(there))[tip]
        found = track(model, [PoseTask(tip, here)], [[here]] + [[target]] * 300, q, DT)
        assert found.converged[-1], seed


@pytest.mark.parametrize("name", HANDS)
def test_what_stops_beside_the_robot_is_caught_up_with(name: str) -> None:
    """After it went round a curve faster than the wheels let the hand go."""
    model, q, tip = rolling_robot(name)
    place = forward_kinematics(model, q)[tip][:3, 3]
    for seed in range(6):
        rng = np.random.default_rng(seed)
        headings = rng.uniform(-np.pi, np.pi) + np.cumsum(np.full(100, 0.02 * rng.normal()))
        moves = rng.uniform(0.01, 0.05) * np.column_stack((np.cos(headings), np.sin(headings), np.zeros(100)))
        places = place + np.cumsum(moves, axis=0)
        targets = [[each] for each in [place, *places, *[places[-1]] * 200]]
        found = track(model, [PositionTask(tip, place)], targets, q, DT)
        assert found.residuals[-1, 0, 0] < REACHED, seed


@pytest.mark.parametrize("name", HANDS)
def test_both_backends_roll_on_the_same_arc(name: str) -> None:
    native, numpy = (jump(name, (-0.5, 1.0), 30, backend) for backend in ("native", "numpy"))
    np.testing.assert_allclose(native.q, numpy.q, rtol=0.0, atol=1e-8)


def test_a_base_backs_up_where_the_arc_forwards_is_more_than_half_a_circle() -> None:
    """The long way, which leads away at first, would take more than 15 s."""
    stack = engine_stack("tiago", 6030)
    targets = [*stack.targets, *[stack.targets[-1]] * 300]
    found = track(stack.model, stack.tasks, targets, stack.q0, DT)
    first = [task.priority == 1 for task in stack.tasks]
    assert found.residuals[-1, first].max() < REACHED
    numpy = track(stack.model, stack.tasks, stack.targets[:8], stack.q0, DT, backend="numpy")
    np.testing.assert_allclose(numpy.q, found.q[:8], rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("least", [-np.inf, -30.0, -1.0])
def test_a_base_gets_to_the_same_place_on_the_shorter_arc_inside_limits(least: float) -> None:
    """least: angle of its wheels."""
    model = library_robot("mobile_arm")
    (base,) = model.rolling_bases
    wheels, angle = list(base.wheel_q), base.q + 2
    start, q = model.neutral(), model.neutral()
    q[wheels] = 20.0, 35.0
    roll([base], start, q)
    assert abs(q[angle]) > np.pi
    data = compile_whole(model, model.limits, np.zeros(model.nq, bool), 1.0)
    lower = data.lower.copy()
    lower[wheels] = least
    other = on_shorter_arcs(replace(data, lower=lower), start, q)
    if least < -20.0:
        assert (other[wheels] < 0.0).all() and abs(other[angle]) < np.pi
        np.testing.assert_allclose(other[[base.q, base.q + 1]], q[[base.q, base.q + 1]], rtol=0.0, atol=1e-12)
        assert abs(abs(other[angle] - q[angle]) - 2.0 * np.pi) < 1e-12
    else:
        assert (other == q).all()
