"""TASK_CONFLICT, EMPTY, and when and of which tasks a reason is sought."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, library_robot, load_urdf
from robokin_addon.robokin.configuration import random_configuration
from robokin_addon.robokin.kinematics import forward_kinematics
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers import (
    AimTask,
    IKProblem,
    JointTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    SolveResult,
    Status,
    solve_ik,
)
from robokin_addon.solvers.criteria import JointSprings
from support.problems.levels import in_levels
from support.problems.planar_arms import FULL, planar_arm
from support.robots import robot

TIP = "panda_link8"


def test_task_conflict_names_those_in_conflict_only(panda: RobotModel) -> None:
    here, there = [0.4, 0.1, 0.5], [0.4, 0.1, 0.6]
    tasks = [
        PositionTask(TIP, here, name="here"),
        PositionTask(TIP, there, name="there"),
        OrientationTask("panda_link1", np.eye(3), name="bystander"),
    ]
    result = solve_ik(panda, tasks)
    assert result.status is Status.TASK_CONFLICT
    assert result.tasks == ("here", "there")
    for task in tasks:
        assert solve_ik(panda, [task]).converged
    halfway = forward_kinematics(panda, result.q)[TIP][:3, 3]
    np.testing.assert_allclose(halfway, [0.4, 0.1, 0.55], atol=1e-3)


def test_a_pose_of_too_few_motions_conflicts_with_itself() -> None:
    """Of five axes: the tool comes to the place, and is turned so, but not both."""
    arm = library_robot("desk_arm")
    rng, found = np.random.default_rng(4), []
    for _ in range(20):
        q, turn = random_configuration(arm, rng), so3.exp(0.1 * rng.normal(size=3))
        target = forward_kinematics(arm, q)["tool"]
        target[:3, :3] = turn @ target[:3, :3]
        result = solve_ik(arm, [PoseTask("tool", target, name="reach")])
        parts = [PositionTask("tool", target[:3, 3]), OrientationTask("tool", target[:3, :3])]
        if result.status is Status.TASK_CONFLICT:
            assert result.tasks == ("reach",) and all(solve_ik(arm, [part], result.q).converged for part in parts)
        found.append(result.status)
    assert found.count(Status.TASK_CONFLICT) > 5


@pytest.mark.parametrize("solver", [IKProblem, in_levels])
def test_tasks_without_influence_are_not_there(panda: RobotModel, solver: Callable[..., IKProblem]) -> None:
    q = 0.5 * (panda.lower + panda.upper)
    tasks = [PositionTask(TIP, [9.0, 0.0, 0.0], influence=0.0), OrientationTask(TIP, np.eye(3), influence=0.0)]
    result = solver(panda, tasks).solve(q0=q)
    assert result.status is Status.EMPTY
    np.testing.assert_array_equal(result.q, q)
    assert result.residual_array.shape == (2, 2) and not result.residual_array.any()
    one = [tasks[0], PositionTask(TIP, forward_kinematics(panda, q)[TIP][:3, 3])]
    assert solver(panda, one).solve(q0=q).converged


def test_criteria_without_tasks_that_count_are_at_their_optimum(panda: RobotModel) -> None:
    tasks = [PositionTask(TIP, [0.4, 0.0, 0.4], influence=0.0)]
    for given in ([], tasks):
        result = solve_ik(panda, given, criteria=[JointSprings()], q0=panda.upper)
        assert result.status is Status.EMPTY and result.costs
        np.testing.assert_allclose(result.q, 0.5 * (panda.lower + panda.upper), atol=1e-6)


@pytest.mark.parametrize("tasks", [[], ["plain"], ["plain", "second level"], ["aim"]])
def test_a_start_outside_the_limits_is_moved_in(panda: RobotModel, tasks: list[str]) -> None:
    """The nearest pose inside is the start."""
    q = 0.5 * (panda.lower + panda.upper)
    known = {
        "plain": PositionTask(TIP, forward_kinematics(panda, q)[TIP][:3, 3]),
        "second level": OrientationTask("panda_link1", np.eye(3), priority=2),
        "aim": AimTask(TIP, (0, 0, 1), (0.5, 0.2, 0.0)),
    }
    outside = np.where(np.arange(panda.nq) % 2 == 0, panda.upper + 5.0, panda.lower - 0.1)
    chosen = [known[name] for name in tasks]
    result = solve_ik(panda, chosen, q0=outside)
    inside = solve_ik(panda, chosen, q0=np.clip(outside, panda.lower, panda.upper))
    assert result.status is (Status.CONVERGED if tasks else Status.EMPTY)
    np.testing.assert_array_equal(result.q, inside.q)
    assert (result.q >= panda.lower).all() and (result.q <= panda.upper).all()


def test_no_task_is_empty(panda: RobotModel) -> None:
    result = solve_ik(panda, [], q0=np.full(panda.nq, 9.0))
    assert result.status is Status.EMPTY
    np.testing.assert_array_equal(result.q, panda.upper)


def test_reason_is_only_sought_when_wanted() -> None:
    problem = IKProblem(planar_arm((-0.5, 0.5), FULL), [PositionTask("tip", [0.0, 1.2, 0.0])])
    plain: SolveResult = problem.solve(diagnose=False)
    assert plain.status is Status.MAX_ITERATIONS
    np.testing.assert_array_equal(plain.q, problem.solve().q)


def test_the_whole_tasks_of_a_solve_are_diagnosed() -> None:
    """An influence given to the solve counts, not that which the tasks have."""
    model = load_urdf(robot("panda"))
    joint = model.moving_joints[0]
    high = float(model.upper[0])
    tasks = [JointTask(joint.name, high + 0.2), JointTask(joint.name, -1.0)]
    found = IKProblem(model, tasks).solve(influence=[1.0, 0.0])
    alone = IKProblem(model, tasks[:1]).solve()
    assert (found.status, found.reason) == (Status.LIMIT, alone.reason)


def test_attempts_that_were_made_are_reported(panda: RobotModel) -> None:
    name = panda.moving_joints[0].name
    for tasks in ([JointTask(name, 1.0), JointTask(name, -1.0)], [PostureTask({name: 1.0}), JointTask(name, -1.0)]):
        found = IKProblem(panda, tasks).solve(diagnose=False)
        assert f"after {found.attempts} attempt" in found.reason
    once = IKProblem(panda, tasks, attempts=1).solve(diagnose=False)
    assert "after 1 attempt;" in once.reason
