"""Breen's goal-oriented animation as the example states it: values by the formulas of the paper, gradients by central
differences."""

from __future__ import annotations

import contextlib
import io
import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from robokin_addon.solvers.methods.arm import ArmTip
from robokin_addon.solvers.methods.goal_oriented import GoalOriented

FOLDER = Path(__file__).resolve().parents[2] / "examples"
H = 1e-6


@pytest.fixture(scope="module")
def breen() -> dict:
    with contextlib.redirect_stdout(io.StringIO()):
        return runpy.run_path(str(FOLDER / "11_goal_oriented_animation.py"))


def end(model: object, q: np.ndarray) -> np.ndarray:
    """(2,) [dm] by the paper's Eq. 1 to 8: part 1 is fixed, each frame is turned and moved along the part before."""
    T = np.eye(3)
    lengths = [joint.placement[1, 3] * 10.0 for joint in model.joints]  # along the y axes
    for length, angle in zip(lengths, [0.0, 0.0, *q, 0.0], strict=True):
        c, s = math.cos(angle), math.sin(angle)
        T = T @ np.array([[c, -s, 0.0], [s, c, length], [0.0, 0.0, 1.0]])
    return T[:2, 2]


def paper_cost(breen: dict, q: np.ndarray, goal: np.ndarray) -> float:
    """Eq. 9, with Eq. 11 and 12 as they are written."""
    model, R = breen["model"], breen["R"] / breen["DM"]
    e, delta = end(model, q), GoalOriented.delta
    total = math.dist(e, goal)
    for obstacle in breen["OBSTACLES"][:, :2] / breen["DM"]:
        d = math.dist(e, obstacle)
        total += math.log(R / d) if 0.0 < d <= R else 0.0
    for angle, low, high in zip(q, model.limits.lower, model.limits.upper, strict=True):
        if low < angle <= low + delta:
            total += math.log(delta / (angle - low))
        elif high - delta <= angle < high:
            total += math.log(delta / (high - angle))
    return total


def test_breens_cost_and_gradient(breen: dict) -> None:
    rng, goal = np.random.default_rng(3), np.array([4.0, 7.5])
    model, delta = breen["model"], GoalOriented.delta
    lower, upper = model.limits.lower, model.limits.upper
    arm, method = ArmTip(model, "end_effector", np.eye(4), "goal_oriented"), GoalOriented(**breen["FIELD"])
    place = np.array([*goal, 0.0]) * breen["DM"]
    near_obstacles = near_limits = 0
    for _ in range(300):
        q = rng.uniform(lower, upper)
        if rng.random() < 0.5:
            q[0] = lower[0] + delta * rng.uniform(0.1, 0.9)
        value, gradient = method.cost(arm, q, place)
        assert value == pytest.approx(paper_cost(breen, q, goal), rel=1e-12, abs=1e-12)
        gaps = np.linalg.norm(end(model, q) - breen["OBSTACLES"][:, :2] / breen["DM"], axis=1)
        margins = np.concatenate((q - lower, upper - q))
        near_obstacles, near_limits = near_obstacles + (gaps < 3.0).any(), near_limits + (margins < delta).any()
        if abs(gaps - 3.0).min() < 1e-3 or abs(margins - delta).min() < 1e-3 or margins.min() < 1e-3:
            continue  # a corner of the logarithms
        for i in range(3):
            step = H * np.eye(3)[i]
            ahead, back = (method.cost(arm, q + sign * step, place)[0] for sign in (1.0, -1.0))
            assert gradient[i] == pytest.approx((ahead - back) / (2.0 * H), rel=1e-5, abs=1e-6)
    assert near_obstacles > 20 and near_limits > 100


def test_breens_arm_goes_from_goal_to_goal_inside_its_limits(breen: dict) -> None:
    path, goals, limits = breen["result"].path, breen["GOALS"][:, :2] * 10.0, breen["model"].limits
    assert len(goals) >= 2 and (limits.lower < path).all() and (path < limits.upper).all()
    ends = np.array([end(breen["model"], q) for q in path])
    for goal in goals:
        assert np.linalg.norm(ends - goal, axis=1).min() < 0.01
    assert min(np.linalg.norm(ends - obstacle * 10.0, axis=1).min() for obstacle in breen["OBSTACLES"][:, :2]) > 1.5
