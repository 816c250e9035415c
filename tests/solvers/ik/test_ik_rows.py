"""The rows of every task against central differences, on every joint motion, root and frame."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, frame_jacobian, load_urdf
from robokin_addon.robokin.configuration import random_configuration
from robokin_addon.solvers import AxisTask, IKProblem, PoseTask, velocity_step
from robokin_addon.solvers.descent.steps import integrate, linearise
from support.random_problems.random_tasks import every_motion, random_task
from support.random_problems.random_trees import random_robot
from support.robots import robot

STEP = 1e-6


def _problem(seed: int) -> tuple[IKProblem, np.ndarray]:
    """Three random tasks, and a configuration of the support away from meeting them, inside the limits."""
    rng = np.random.default_rng(seed)
    with every_motion() as types:
        model = random_robot(seed, 10, ("fixed", "floating", "planar")[seed % 3], types)
        q = random_configuration(model, rng)
        problem = IKProblem(model, [random_task(rng, model, q) for _ in range(3)], backend="numpy")
    start = problem.middle + 0.4 * (random_configuration(model, rng) - problem.middle)
    return problem, model.check_configuration(start)[problem.search.data.q_index]


def _errors(problem: IKProblem, q: np.ndarray) -> np.ndarray:
    return linearise(problem.search.data, problem.tasks, problem.search.goal(None), q)[0]


def _differences(problem: IKProblem, q: np.ndarray) -> np.ndarray:
    """-de/dx by central differences."""
    columns = []
    for direction in np.eye(problem.search.data.tree.nv):
        ahead = _errors(problem, integrate(problem.search.data, q, STEP * direction))
        behind = _errors(problem, integrate(problem.search.data, q, -STEP * direction))
        columns.append((behind - ahead) / (2 * STEP))
    return np.array(columns).T


@pytest.mark.parametrize("seed", range(24))
def test_rows_are_the_derivative_of_the_error(seed: int) -> None:
    problem, q = _problem(seed)
    e, J, _ = linearise(problem.search.data, problem.tasks, problem.search.goal(None), q)
    expected = _differences(problem, q)
    np.testing.assert_allclose(J.T @ e, expected.T @ e, atol=1e-6 * max(1.0, abs(e).max()))
    for index, record in enumerate(problem.search.data.records):
        for part in range(2):
            if record["exact"] >> part & 1:
                rows = slice(6 * index + 3 * part, 6 * index + 3 * part + 3)
                np.testing.assert_allclose(J[rows], expected[rows], atol=1e-6)


def test_errors_of_orientation_near_half_a_turn() -> None:
    """The logarithm's branch: the error's length is the angle on both sides of a half turn."""
    for angle in (0.0, 1e-9, 1e-4, 3.0, np.pi - 1e-9, np.pi):
        R = np.eye(4)
        R[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        e, _ = PoseTask("tip", R).tip_rows(np.eye(4), R)
        assert np.linalg.norm(e) == pytest.approx(angle, abs=1e-12)


@pytest.mark.parametrize("axis", np.vstack((np.eye(3), -np.eye(3), [[0.6, 0.0, 0.8]])))
def test_opposite_and_equal_axes_have_finite_rows(axis: np.ndarray) -> None:
    for sign, angle in ((1.0, 0.0), (-1.0, np.pi)):
        task = AxisTask("tip", axis, sign * axis)
        e, A = task.tip_rows(np.eye(4), task.target)
        assert np.isfinite(A).all()
        assert np.linalg.norm(e) == pytest.approx(angle, abs=1e-12)
        assert abs(e[3:] @ axis) < 1e-12


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("tilt", [1e-8, 1e-10, 1e-13])
def test_axes_that_are_nearly_equal_turn_the_right_way(backend: str, tilt: float) -> None:
    model = load_urdf(robot("panda"))
    q = model.limits.middle(model.neutral())
    axis = forward_kinematics(model, q)["panda_hand"][:3, 2]
    across = np.cross(axis, [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    task = AxisTask("panda_hand", [0, 0, 1], axis + tilt * across)
    v = velocity_step(model, q, [task], dt=0.1, backend=backend).v
    turn = frame_jacobian(model, q, "panda_hand", reference="local_world_aligned")[3:] @ v * 0.1
    np.testing.assert_allclose(turn - axis * (axis @ turn), tilt * np.cross(axis, across), atol=1e-15)
