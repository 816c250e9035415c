"""Control points of a ball that would be too fast: only those near by change, and only where it helps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from robokin_addon.robokin import Joint, Link, RobotModel
from robokin_addon.solvers.retiming.calm_points import calmed, spline_path

BALL = Joint("ball", "spherical", "root", "tip", velocity=[9.0] * 3, acceleration=[200.0] * 3)
COUNT, DT = 60, 0.04


def body(**limits: list[float]) -> RobotModel:
    return RobotModel("body", [Link("root"), Link("tip")], [replace(BALL, **limits)])


def turned(angles: np.ndarray) -> np.ndarray:
    """(n, 4) by these angles about x."""
    return np.column_stack((np.cos(0.5 * angles), np.sin(0.5 * angles), np.zeros((len(angles), 2))))


def points_of(q: np.ndarray) -> np.ndarray:
    return np.vstack((2.0 * q[0] - q[1], q, 2.0 * q[-1] - q[-2]))


def test_points_inside_the_limits_stay() -> None:
    q = turned(0.1 * np.arange(COUNT))
    points = points_of(q)
    assert np.array_equal(calmed(body(), [points], q, DT, lambda each: each), points)


def test_only_points_near_what_is_too_fast_change() -> None:
    angles = 0.02 * np.arange(COUNT)
    q = turned(angles)
    angles[30] += 0.1
    points, model = points_of(turned(angles)), body(acceleration=[20.0] * 3)
    found = calmed(model, [points], q, DT, lambda each: each)
    changed = np.flatnonzero(abs(found - points).max(axis=1) > 1e-12)
    assert 31 in changed and changed.min() > 15 and changed.max() < 47
    places = np.linspace(0.0, 1.0, 101)
    interval = np.arange(COUNT - 1)[:, None] + np.zeros(101, int)
    acceleration = spline_path(model, found, DT).at(interval, DT * (interval + places))[2]
    assert abs(acceleration).max() <= 20.0
    assert abs(spline_path(model, points, DT).at(interval, DT * (interval + places))[2]).max() > 40.0


def test_points_that_cannot_be_helped_stay() -> None:
    """An even turn stays one in the middle of what is beside it."""
    q = turned(0.1 * np.arange(COUNT))
    points = points_of(turned(0.2 * np.arange(COUNT)))
    found = calmed(body(velocity=[3.0] * 3), [points], q, DT, lambda each: each)
    assert np.array_equal(found, points)
