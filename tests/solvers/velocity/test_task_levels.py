"""Tasks as rows: bands, influence, rows against differences, in the velocity step."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import TaskError, forward_kinematics, integrate, load_urdf, random_configuration
from robokin_addon.solvers import (
    AxisTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    VelocityProblem,
    solve_ik,
    velocity_step,
)
from robokin_addon.solvers.kinematics.state import State
from support.robots import robot

TIP = "panda_hand"


def _panda(seed: int = 0):
    model = load_urdf(robot("panda"))
    rng = np.random.default_rng(seed)
    q = 0.5 * (model.lower + model.upper) + 0.2 * rng.uniform(-1, 1, model.nq) * (model.upper - model.lower)
    return model, q, rng


def _run(model, q, tasks, steps=200, dt=0.02, criteria=()):
    problem = VelocityProblem(model, tasks, criteria, dt)
    for _ in range(steps):
        q = integrate(model, q, problem.step(q).v * dt)
    return q


def test_inside_a_band_nothing_moves() -> None:
    model, q, _ = _panda()
    p = forward_kinematics(model, q)[TIP][:3, 3]
    inside = PositionTask(TIP, p + np.array((0.009, -0.009, 0.0)), band=0.01)
    step = velocity_step(model, q, [inside])
    assert not step.v.any()
    assert step.errors[0, 0] == 0.0


def test_from_outside_a_band_to_its_edge() -> None:
    model, q, _ = _panda()
    p = forward_kinematics(model, q)[TIP][:3, 3]
    target = p + np.array((0.05, -0.002, -0.1))
    q = _run(model, q, [PositionTask(TIP, target, band=(0.01, 0.01, 0.03))])
    away = forward_kinematics(model, q)[TIP][:3, 3] - target
    assert away[0] == pytest.approx(-0.01, abs=1e-6)
    assert away[2] == pytest.approx(0.03, abs=1e-6)
    assert abs(away[1]) <= 0.01 + 1e-9


def test_a_band_leaves_the_rest_to_lower_levels() -> None:
    """Inside the band of the first level the second one is met; beyond it, as nearly as the band allows."""
    model, q, _ = _panda()
    p = forward_kinematics(model, q)[TIP][:3, 3]
    for wanted, reached in ((0.008, 0.008), (0.05, 0.02)):
        tasks = [
            PositionTask(TIP, p, band=0.02),
            PositionTask(TIP, p + np.array((0.0, 0.0, wanted)), priority=2),
        ]
        moved = forward_kinematics(model, _run(model, q, tasks))[TIP][:3, 3] - p
        assert moved[2] == pytest.approx(reached, abs=1e-6)


def test_a_cone_about_a_direction() -> None:
    model, q, _ = _panda()
    z = forward_kinematics(model, q)[TIP][:3, 2]
    across = np.cross(z, (1.0, 0.0, 0.0))
    across /= np.linalg.norm(across)
    target = np.cos(0.4) * z + np.sin(0.4) * across
    q = _run(model, q, [AxisTask(TIP, (0, 0, 1), target, band=0.15)])
    angle = np.arccos(forward_kinematics(model, q)[TIP][:3, 2] @ target)
    assert angle == pytest.approx(0.15, abs=1e-6)
    step = velocity_step(model, q, [AxisTask(TIP, (0, 0, 1), target, band=0.2)])
    assert not step.v.any()
    on_axis = AxisTask(TIP, (0, 0, 1), forward_kinematics(model, q)[TIP][:3, 2], band=0.2)
    assert not velocity_step(model, q, [on_axis]).v.any()


def test_influence_weighs_tasks_against_each_other() -> None:
    """And of what such a task lacks, a step closes its share."""
    model, q, _ = _panda()
    p = forward_kinematics(model, q)[TIP][:3, 3]
    up = np.array([0.0, 0.0, 1e-3])
    for influence in (0.0, 0.3, 1.0):
        tasks = [PositionTask(TIP, p), PositionTask(TIP, p + up, influence=influence)]
        step = velocity_step(model, q, tasks)
        share = influence**2 / (1.0 + influence**2)
        np.testing.assert_allclose(step.residuals[0, 0], share * influence * 1e-3, rtol=1e-6, atol=1e-15)


def test_without_influence_a_task_is_not_there() -> None:
    model, q, rng = _panda()
    task = PoseTask(TIP, forward_kinematics(model, random_configuration(model, rng))[TIP])
    gone = OrientationTask(TIP, np.eye(3), influence=0.0)
    np.testing.assert_array_equal(velocity_step(model, q, [task, gone]).v, velocity_step(model, q, [task]).v)


@pytest.mark.parametrize("frame", ["world", "tip"])
def test_rows_of_tip_tasks_are_differences(frame: str) -> None:
    model, q, rng = _panda(3)
    T = forward_kinematics(model, random_configuration(model, rng))[TIP]
    offset = forward_kinematics(model, random_configuration(model, rng))[TIP]
    for task in (
        PoseTask(TIP, T, (1.0, 0.0, 2.0), (0.5, 1.0, 0.0), frame, offset),
        AxisTask(TIP, (0.3, -0.5, 0.2), T[:3, 0], frame=frame, offset=offset),
        AxisTask(TIP, (0.3, -0.5, 0.2), T[:3, 0], frame=frame, band=0.01),
    ):
        rows = task.rows(State(model, q), task.target)
        v, h = rng.normal(size=model.nv), 1e-6
        ahead, back = (task.rows(State(model, integrate(model, q, s * h * v)), task.target) for s in (1, -1))
        np.testing.assert_allclose((ahead.lower - back.lower) / (2 * h), -rows.J @ v, atol=1e-7)


def test_targets_of_a_step() -> None:
    model, q, _ = _panda()
    p = forward_kinematics(model, q)[TIP][:3, 3]
    problem = VelocityProblem(model, [PositionTask(TIP, p)], dt=0.02)
    moved = problem.step(q, targets=[p + np.array((0, 0, 1e-3))])
    own = velocity_step(model, q, [PositionTask(TIP, p + np.array((0, 0, 1e-3)))], dt=0.02)
    np.testing.assert_array_equal(moved.v, own.v)
    with pytest.raises(TaskError, match="1 tasks but 2 targets"):
        problem.step(q, targets=[p, p])
    with pytest.raises(TaskError, match="target position"):
        problem.step(q, targets=[(1.0, 2.0)])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"influence": 1.5}, "influence must be a number from 0 to 1"),
        ({"influence": float("nan")}, "influence is not finite"),
        ({"band": -0.1}, "band must not be negative"),
        ({"band": (1.0, 2.0)}, "band must be 3 numbers"),
    ],
)
def test_bad_settings_are_named(settings: dict, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        PositionTask(TIP, (0, 0, 0), **settings)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_solves_leave_out_tasks_without_influence(backend: str) -> None:
    model, q, rng = _panda()
    task = PoseTask(TIP, forward_kinematics(model, random_configuration(model, rng))[TIP])
    gone = PoseTask("panda_link3", np.eye(4), influence=0.0)
    result = solve_ik(model, [gone, task], q, backend=backend)
    assert result.converged
    np.testing.assert_array_equal(result.residual_array[0], 0.0)
