"""Bad input raises one clear line that names the task and the value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, RobokinError, RobotModel, TaskError, UnknownNameError
from robokin_addon.solvers import AxisTask, IKProblem, OrientationTask, PoseTask, PositionTask, solve_ik

TIP = "panda_link8"
BROKEN = {
    "nan": np.where(np.eye(4) == 1, np.nan, 0.0),
    "infinite": np.diag([1.0, 1.0, 1.0, 1.0]) + np.array([[0, 0, 0, np.inf]] + [[0] * 4] * 3),
    "scaled": np.diag([2.0, 2.0, 2.0, 1.0]),
    "mirrored": np.diag([-1.0, 1.0, 1.0, 1.0]),
    "projective": np.vstack((np.eye(4)[:3], [0.0, 0.0, 0.1, 1.0])),
}


@pytest.mark.parametrize("target", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_targets_that_are_no_pose(panda: RobotModel, target: np.ndarray, backend: str) -> None:
    with pytest.raises(TaskError, match=TIP):
        PoseTask(TIP, target)
    problem = IKProblem(panda, [PoseTask(TIP, np.eye(4))], backend=backend)
    with pytest.raises(TaskError, match=TIP):
        problem.solve(target[None])
    with pytest.raises(TaskError, match=TIP):
        problem.solve_batch(np.array([[np.eye(4)], [target]]))
    assert problem.solve(np.eye(4)[None], diagnose=False).attempts > 0  # and the problem is still good


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PoseTask(TIP, "here"), "must be numbers"),
        (lambda: PoseTask(TIP, np.eye(3)), r"\(4, 4\)"),
        (lambda: PoseTask(7, np.eye(4)), "name of a link"),
        (lambda: PositionTask(TIP, [1, 2]), "3 numbers"),
        (lambda: PositionTask(TIP, [1, 2, None]), "must be numbers|not finite"),
        (lambda: OrientationTask(TIP, np.ones((3, 3))), "not a rotation"),
        (lambda: AxisTask(TIP, [0, 0, 0], [0, 0, 1]), "no direction"),
        (lambda: AxisTask(TIP, [0, 0, 1], [0, 0, 0]), "no direction"),
        (lambda: PoseTask(TIP, np.eye(4), position_weights=[1, 1]), "3 numbers"),
        (lambda: PoseTask(TIP, np.eye(4), position_weights=[1, 1, -1]), "negative"),
        (lambda: PoseTask(TIP, np.eye(4), 0.0, [0, 0, 0]), "every axis is free"),
        (lambda: PositionTask(TIP, [0, 0, 0], frame="tool"), "world, tip"),
        (lambda: PositionTask(TIP, [0, 0, 0], tolerance=0.0), "positive"),
        (lambda: PositionTask(TIP, [0, 0, 0], offset=2.0 * np.eye(4)), "offset"),
    ],
)
def test_tasks_that_cannot_be_posed(make: Callable[[], object], words: str) -> None:
    with pytest.raises(TaskError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_problems_that_cannot_be_posed(panda: RobotModel) -> None:
    task = PoseTask(TIP, np.eye(4))
    with pytest.raises(UnknownNameError, match="panda_link8"):
        IKProblem(panda, [PoseTask("panda_lnik8", np.eye(4))])
    for tasks, words in ((task, "list"), (None, "list"), ([task, "x"], "not a task")):
        with pytest.raises(TaskError, match=words):
            IKProblem(panda, tasks)  # type: ignore[arg-type]
    for attempts in (0, -1, 2.5, True):
        with pytest.raises(TaskError, match="attempts"):
            IKProblem(panda, [task], attempts=attempts)  # type: ignore[arg-type]
    with pytest.raises(RobokinError, match="backend"):
        IKProblem(panda, [task], backend="fortran")


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_starts_and_targets_of_the_wrong_kind(panda: RobotModel, backend: str) -> None:
    problem = IKProblem(panda, [PoseTask(TIP, np.eye(4))], backend=backend)
    for start in (np.full(panda.nq, np.nan), np.full(panda.nq, np.inf), np.zeros(3), "zero"):
        with pytest.raises(ConfigurationError):
            problem.solve(q0=start)  # type: ignore[arg-type]
        with pytest.raises(ConfigurationError):
            problem.solve_batch(np.eye(4)[None, None], q0=start)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="2 starts"):
        problem.solve_batch(np.eye(4)[None, None], q0=np.zeros((2, panda.nq)))
    for targets in (
        np.zeros((2, 4, 4)),
        [np.eye(4), np.eye(4)],
        3,
        [[1, 2, 3]],
        ["x"],
        [None],
        [[[1, 2], [3]]],
        [np.full((4, 4), "x")],
        np.full((1, 4, 4), "x"),
    ):
        with pytest.raises(TaskError):
            problem.solve(targets)
        with pytest.raises(TaskError):
            problem.solve_batch([targets])
    with pytest.raises(TaskError):
        problem.solve_batch(3)
    for seed in (1.5, "a", None):
        with pytest.raises(TaskError, match="seed"):
            problem.solve(seed=seed)  # type: ignore[arg-type]


def test_targets_in_each_tasks_own_terms(panda: RobotModel) -> None:
    tasks = [PositionTask(TIP, [0, 0, 1]), AxisTask(TIP, [0, 0, 1], [1, 0, 0])]
    problem = IKProblem(panda, tasks)
    wanted = [[0.4, 0.1, 0.5], [0.0, 0.0, -1.0]]
    result = problem.solve(wanted)
    expected = solve_ik(panda, [PositionTask(TIP, wanted[0]), AxisTask(TIP, [0, 0, 1], wanted[1])])
    assert result.converged
    np.testing.assert_array_equal(result.q, expected.q)
    np.testing.assert_array_equal(problem.solve_batch([wanted]).q[0], expected.q)
