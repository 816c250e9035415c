"""SINGULAR is a pose that cannot move towards the target: analytic cases, and what is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel
from robokin_addon.robokin.kinematics import forward_kinematics
from robokin_addon.solvers import (
    AimTask,
    AxisTask,
    IKProblem,
    OrientationTask,
    PositionTask,
    Status,
    solve_ik,
)
from support.problems.levels import in_levels
from support.problems.planar_arms import free_arm, planar_arm

TIP = "panda_link8"


def test_singular_inside_the_hole_of_the_workspace() -> None:
    """Nearer to the base than the links differ in length: folded, the arm can do no better."""
    model = planar_arm((-np.inf, np.inf), (-np.inf, np.inf))
    target = np.array([0.2, 0.1, 0.0])
    result = solve_ik(model, [PositionTask("tip", target)])
    assert result.status is Status.SINGULAR
    assert result.residuals[0]["position"] == pytest.approx(0.5 - np.linalg.norm(target), abs=1e-6)


@pytest.mark.parametrize("solver", [IKProblem, in_levels])
def test_rows_that_nothing_can_move_are_no_singularity(solver: Callable[..., IKProblem]) -> None:
    """In the plane, three joints move two of a point's three rows, everywhere."""
    model = free_arm(0.8, 0.6, 0.5)
    result = solver(model, [PositionTask("end3", [0.9, 0.3, 0.2])]).solve(q0=[0.1, 0.4, 0.7])
    assert result.status is Status.OUT_OF_REACH and result.tasks == ("PositionTask of end3",)
    assert result.residuals[0]["position"] == pytest.approx(0.2, abs=1e-9)
    tilted = solver(model, [AxisTask("end3", (1, 0, 0), (1.0, 0.0, 0.5))]).solve(q0=[0.1, 0.4, 0.7])
    assert tilted.status is Status.MAX_ITERATIONS and "no small motion brings it nearer" in tilted.reason
    assert tilted.residuals[0]["orientation"] == pytest.approx(np.arctan(0.5), abs=1e-6)


@pytest.mark.parametrize("solver", [IKProblem, in_levels])
@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_singular_stretched_with_the_target_inward(solver: Callable[..., IKProblem], backend: str) -> None:
    """Along the stretched arm nothing moves: one attempt from there is caught, restarts are not."""
    model, stretched = free_arm(1.0, 0.5), np.array([0.4, 0.0])
    target = 0.9 * np.array([np.cos(0.4), np.sin(0.4), 0.0])
    caught = solver(model, [PositionTask("end2", target)], attempts=1, backend=backend).solve(q0=stretched)
    assert caught.status is Status.SINGULAR
    np.testing.assert_allclose(caught.q, stretched, atol=1e-9)
    assert caught.residuals[0]["position"] == pytest.approx(0.6, abs=1e-9)
    assert solver(model, [PositionTask("end2", target)], backend=backend).solve(q0=stretched).converged


@pytest.mark.parametrize("solver", [IKProblem, in_levels])
def test_singular_at_gimbal_lock(solver: Callable[..., IKProblem]) -> None:
    """With the pitch at a right angle, yaw and roll turn about one axis, and x about none."""
    joints = [Joint("wrist", "gimbal", "a", "b", order="ZYX", lower=-np.inf, upper=np.inf)]
    model = RobotModel("wrist", [Link("a"), Link("b")], joints)
    locked = np.array([0.0, 0.5 * np.pi, 0.0])
    c, s = np.cos(0.3), np.sin(0.3)
    about_x = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    target = about_x @ forward_kinematics(model, locked)["b"][:3, :3]
    caught = solver(model, [OrientationTask("b", target)], attempts=1).solve(q0=locked)
    assert caught.status is Status.SINGULAR
    assert caught.residuals[0]["orientation"] == pytest.approx(0.3, abs=1e-9)
    assert solver(model, [OrientationTask("b", target)]).solve(q0=locked).converged


class _Place(PositionTask):
    """Of another maker's class: no certificate is known of it."""


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_singular_in_what_the_first_level_leaves(backend: str) -> None:
    """The first level holds the second link's end; the other two links fold, since the target is in the hole that
    they cannot reach (and 0.1 m above the plane, so that no pose meets it). The whole arm's J is not singular there."""
    model = free_arm(0.8, 0.8, 1.0, 0.4)
    elbow = np.array([0.9, 0.6, 0.0])
    away = np.array([0.0, 0.3, 0.1])
    tasks = [PositionTask("end2", elbow), _Place("end4", elbow + away, priority=2)]
    result = solve_ik(model, tasks, [0.9, -0.6, 1.0, 2.5], backend=backend)
    assert result.status is Status.SINGULAR
    assert result.residuals[0]["position"] <= 1e-5
    assert result.residuals[1]["position"] == pytest.approx(np.hypot(0.3, 0.1), abs=1e-4)
    assert abs(np.sin(result.q[3])) < 1e-3 and np.cos(result.q[3]) < 0.0
    e = elbow + away - forward_kinematics(model, result.q)["end4"][:3, 3]
    J = np.array([_along(model, result.q, i) for i in range(4)]).T
    assert np.linalg.norm(J.T @ e) > 0.1  # of all joints; not of the last two
    assert np.linalg.norm(J[:, 2:].T @ e) < 1e-3


def _along(model: RobotModel, q: np.ndarray, joint: int) -> np.ndarray:
    """(3,) velocity of the last end, by central differences."""
    step = 1e-6 * np.eye(4)[joint]
    ahead, back = (forward_kinematics(model, q + side * step)["end4"][:3, 3] for side in (1.0, -1.0))
    return (ahead - back) / 2e-6


def test_a_level_to_which_nothing_is_left_is_not_singular() -> None:
    """Both levels hold one arm of two joints: what the second one lacks is due to the first, not to the pose."""
    model = free_arm(1.0, 0.5)
    tasks = [PositionTask("end2", (0.9, 0.3, 0.0)), PositionTask("end2", (0.9, 0.3, 0.2), priority=2)]
    result = solve_ik(model, tasks)
    assert result.status is Status.OUT_OF_REACH and result.tasks == (tasks[1].name,)
    assert result.residuals[1]["position"] == pytest.approx(0.2, abs=1e-5)


def test_rounding_in_the_rows_of_a_level_takes_no_motion_from_the_next(panda: RobotModel) -> None:
    """An aim holds two motions; off by 1e-9 rad, its rows have a third singular value of that size. The last joint
    turns about the aim: it moves neither."""
    q = 0.4 * panda.lower + 0.6 * panda.upper
    T = forward_kinematics(panda, q)[TIP]
    aim = AimTask(TIP, [0, 0, 1], T[:3, 3] + 0.5 * T[:3, 2] + 5e-10 * T[:3, 0])
    far = PositionTask(TIP, T[:3, 3] + [0.0, 0.0, 2.0], priority=2)
    _, J, _ = IKProblem(panda, [aim, far]).search.linearised([aim.target, far.target], q)
    assert J.shape == (3, 6 - 2)
