"""Robots that cannot move, no tasks, and numbers at the edges of double precision: a result, or one clear error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, Joint, Link, RobokinError, RobotModel, TaskError, library_robot
from robokin_addon.solvers import (
    AimTask,
    AlongCurveTask,
    DistanceTask,
    IKProblem,
    JointVelocityTask,
    LinearVelocityTask,
    OnPlaneTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Status,
    Task,
    TwistTask,
    solve_ik,
    track,
    velocity_step,
)
from support.hostile.extreme_numbers import faults
from support.problems.levels import in_levels

BACKENDS = ("native", "numpy")
STEPS = r"^dt must be a number of seconds from 1e-15 to 1e\+09, not "
PANDA = library_robot("panda")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("share", [0.02, 0.1])
def test_every_call_ends_well(backend: str, share: float) -> None:
    """share: of numbers that are extreme. 138: a loop of fixed links, nearly closed. 234: levels of fixed links."""
    assert [fault for seed in (*range(30), 138, 234) if (fault := faults(seed, backend, share))] == []


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_many_more_calls_end_well(backend: str) -> None:
    last = 2000 if backend == "native" else 800
    assert [fault for seed in range(30, last) if (fault := faults(seed, backend, 0.02))] == []


def rigid_robot() -> RobotModel:
    step = np.eye(4)
    step[2, 3] = 0.5
    return RobotModel("post", [Link("foot", 1.0), Link("head", 1.0)], [Joint("up", "fixed", "foot", "head", step)])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("tasks", "status"),
    [
        ([], Status.EMPTY),
        ([PositionTask("head", (0, 0, 0.5))], Status.CONVERGED),
        ([PositionTask("head", (0, 0, 0.6))], Status.OUT_OF_REACH),
        ([AimTask("head", (0, 0, 1), (1, 0, 0.5))], Status.SINGULAR),
        ([OnPlaneTask("head", ((0, 0, 0.5), (0, 0, 1))), AimTask("head", (0, 0, 1), (0, 0, 2))], Status.CONVERGED),
        ([PositionTask("head", (0, 0, 0.5)), PositionTask("foot", (1, 0, 0), priority=2)], Status.OUT_OF_REACH),
        ([PostureTask(np.zeros(0))], Status.CONVERGED),
    ],
)
def test_a_robot_without_moving_joints(tasks: list[Task], status: Status, backend: str) -> None:
    model, targets = rigid_robot(), [task.target for task in tasks]
    for result in (solve_ik(model, tasks, backend=backend), in_levels(model, tasks, backend=backend).solve()):
        assert result.status is status and result.q.shape == (0,)
    followed = track(model, tasks, [targets] * 3, dt=0.04, backend=backend)
    assert followed.q.shape == (3, 0) and {followed.diagnosis(i).status for i in range(3)} == {status}
    step = velocity_step(model, np.zeros(0), tasks, backend=backend)
    met = status in (Status.CONVERGED, Status.EMPTY)
    assert step.v.shape == (0,) and (step.residuals.max(initial=0.0) < 1e-5) == met


def test_batches_without_tasks() -> None:
    for model in (rigid_robot(), PANDA):
        batch = IKProblem(model, []).solve_batch([[], []])
        assert batch.status == [Status.EMPTY] * 2 and batch.q.shape == (2, model.nq)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("far", [1.0001e30, 1e150, 1.7e308])
def test_what_is_too_far_to_calculate_with(far: float, backend: str) -> None:
    T = np.eye(4)
    T[0, 3] = far
    problem = IKProblem(PANDA, [PoseTask("tool", np.eye(4))], backend=backend)
    for call in (
        lambda: PoseTask("tool", T),
        lambda: problem.solve(T[None]),
        lambda: problem.solve_batch(T[None, None]),
        lambda: in_levels(PANDA, problem.tasks, backend=backend).solve([T]),
        lambda: track(PANDA, problem.tasks, T[None, None], backend=backend),
    ):
        with pytest.raises(TaskError, match=r"^PoseTask of tool: target must be at most 1e\+30, not 1"):
            call()
    q = np.full(PANDA.nq, far)
    for model in (PANDA, library_robot("gantry")):
        with pytest.raises(ConfigurationError, match=r"1e\+30"):
            IKProblem(model, [PositionTask("tool", (0, 0, 0))], backend=backend).solve(q0=np.full(model.nq, far))
    with pytest.raises(ConfigurationError, match=r"^q of 'Panda' must be at most 1e\+30, not 1"):
        velocity_step(PANDA, q, problem.tasks, backend=backend)
    with pytest.raises(ConfigurationError, match=r"^previous velocity of 'Panda' must be at most 1e\+30, not 1"):
        velocity_step(PANDA, PANDA.neutral(), problem.tasks, previous=q, backend=backend)


@pytest.mark.parametrize("far", [1e30, 1e29, 1e12])
def test_what_is_far_is_out_of_reach(far: float) -> None:
    for task in (
        PositionTask("tool", (far, 0, 0)),
        OnPlaneTask("tool", ((0, 0, far), (0, 0, 1))),
        DistanceTask("tool", far, other_point=(0, 0, -far)),
        DistanceTask("tool", 0.1, other_point=(far, far, far)),
    ):
        result = solve_ik(PANDA, [task])
        if isinstance(task, DistanceTask) and task.target[0] == far:  # a sphere as good as a plane through the robot
            assert result.status is Status.OUT_OF_REACH or result.residual_array.max() < 1e-9 * far
            continue
        assert result.status is Status.OUT_OF_REACH and result.reason.startswith("at least 1"), result.reason
        assert f"e+{round(np.log10(far))} m" in result.reason


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: velocity_step(PANDA, PANDA.neutral(), [], dt=1e-16),
            STEPS,
        ),
        (
            lambda: velocity_step(PANDA, PANDA.neutral(), [], dt=5e-324),
            STEPS,
        ),
        (
            lambda: velocity_step(PANDA, PANDA.neutral(), [], dt=1e300),
            STEPS,
        ),
        (lambda: track(PANDA, [], [[]], dt=1e-300), STEPS),
        (lambda: velocity_step(PANDA, PANDA.neutral(), [], damping=1e300), "damping must be at most 1e.30, not 1e.300"),
        (lambda: PositionTask("tool", (0, 0, 0), weights=1e31), "weights must be at most 1e.30, not 1e.31"),
        (lambda: PositionTask("tool", (0, 0, 0), weights=1e-31), "every axis is free"),
        (lambda: PositionTask("tool", (0, 0, 0), tolerance=1e-31), "tolerance must be from 1e-30 to 1e.30, not 1e-31"),
        (lambda: PositionTask("tool", (0, 0, 0), tolerance=5e-324), "tolerance must be from 1e-30 to 1e.30"),
    ],
)
def test_numbers_that_are_no_sizes(make: Callable[[], object], words: str) -> None:
    with pytest.raises(RobokinError, match=words):
        make()


@pytest.mark.parametrize("backend", BACKENDS)
def test_speeds_up_to_the_fastest_move_the_joints_and_faster_ones_are_refused(backend: str) -> None:
    tasks: dict[str, Callable[[float], Task]] = {
        "twist": lambda speed: TwistTask("tool", (0, 0, speed, 0, 0, 0)),
        "joint": lambda speed: JointVelocityTask({PANDA.moving_joints[0].name: speed}),
        "rate": lambda speed: LinearVelocityTask({PANDA.moving_joints[0].name: 1.0}, speed),
        "curve": lambda speed: AlongCurveTask("tool", [(0.3, 0.0, 0.5), (0.3, 0.2, 0.5)], speed),
    }
    for name, make in tasks.items():
        with pytest.raises(TaskError, match=r"must be at most 1e\+08 m/s or rad/s, not 1e\+29"):
            make(1e29)
        task = make(1e8)
        found = track(PANDA, [task], [[task.target]] * 3, PANDA.limits.clamp(np.full(PANDA.nq, 0.3)), backend=backend)
        assert name == "curve" or abs(found.q[2] - found.q[0]).max() > 1e-3, name


def test_the_least_influence_is_none() -> None:
    """A fade that ends in the smallest numbers is over."""
    task = PositionTask("tool", (9, 0, 0), influence=5e-324)
    assert task.influence == 0.0 and solve_ik(PANDA, [task]).status is Status.EMPTY
