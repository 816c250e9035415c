"""Postures of robots and tasks that are no family: many starts, told; and wrong input."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, RobokinError, TaskError, forward_kinematics
from robokin_addon.robokin.library import library_robot
from robokin_addon.solvers import (
    AimTask,
    AxisTask,
    PoseTask,
    PositionTask,
    PostureProblem,
    Task,
    TwistTask,
    all_postures,
)
from support.problems.family_robots import (
    screw_robot,
)
from support.problems.postures import apart, reachable


def test_other_robots_are_searched_from_many_starts() -> None:
    rng = np.random.default_rng(5)
    axis = rng.normal(size=(6, 3))
    model = screw_robot(axis, rng.uniform(-0.4, 0.4, (6, 3)), np.zeros(6, bool), np.eye(4))
    q = rng.uniform(-2, 2, 6)
    target = forward_kinematics(model, q)["tool"]
    found = all_postures(model, [PoseTask("tool", target)], q)
    assert not found.complete
    assert found.family == ""
    assert not found.continuum.any()
    assert "there may be others" in found.remark
    assert found.names == tuple(f"posture {i + 1}" for i in range(len(found)))
    assert found.q[0] == pytest.approx(q, abs=1e-8)
    for i, own in enumerate(found.q):
        assert abs(forward_kinematics(model, own)["tool"] - target).max() < 1e-10
        assert (apart(model, own, found.q[:i]) > 1e-4).all()
    again = all_postures(model, [PoseTask("tool", target)], q)
    assert np.array_equal(found.q, again.q)


def test_a_redundant_robot_of_no_family_is_sampled() -> None:
    model = library_robot("panda")
    _, targets = reachable(model, 3, 13)
    for target in targets:
        found = all_postures(model, [PoseTask("tool", target)])
        assert not found.complete
        assert found.continuum.all()
        assert len(found) > 1
        assert "redundant" in found.remark
        for i, own in enumerate(found.q):
            assert abs(forward_kinematics(model, own)["tool"] - target).max() < 1e-9
            assert (abs(own - found.q[:i]).max(axis=-1) > 0.5).all()


def test_quaternions_are_reported_once() -> None:
    """A ball's value and its negative are the same; of many samples the nearest 32 are told."""
    model = library_robot("puppet")
    q = model.limits.middle(model.neutral())
    target = forward_kinematics(model, q)["left_hand"]
    found = all_postures(model, [PoseTask("left_hand", target)], q)
    assert 1 < len(found) <= 32
    for start in model.tree.quaternions:
        own = found.q[:, start : start + 4]
        assert np.linalg.norm(own, axis=1) == pytest.approx(1.0)
        assert (own @ q[start : start + 4] >= 0.0).all()
    mobile = library_robot("mobile_arm")
    near = mobile.limits.middle(mobile.neutral())
    assert len(all_postures(mobile, [PoseTask("tool", forward_kinematics(mobile, near)["tool"])], near)) == 32


TASKS: dict[str, list[Task]] = {
    "position": [PositionTask("tool", (0.4, 0.1, 0.6))],
    "axis": [AxisTask("tool", (0.0, 0.0, 1.0), (0.0, 0.0, -1.0))],
    "free axis": [
        PoseTask("tool", np.diag([1.0, -1.0, -1.0, 1.0]) + 0.3 * np.eye(4, k=3), orientation_weights=(1, 1, 0))
    ],
    "two": [PositionTask("tool", (0.3, 0.3, 0.5)), AimTask("tool", (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))],
}


@pytest.mark.parametrize("kind", ["position", "axis", "free axis", "two"])
def test_other_tasks_are_searched(kind: str) -> None:
    model = library_robot("puma560")
    found = all_postures(model, TASKS[kind])
    assert not found.complete
    assert found.family == ""
    assert len(found) > 1


def test_a_joint_that_moves_no_task_is_no_freedom() -> None:
    """Puma's last joint turns about the line that aims: its columns are rounding, and it stays where it is."""
    q0 = library_robot("puma560").limits.clamp(np.full(6, 0.3))
    found = all_postures(library_robot("puma560"), TASKS["two"], q0)
    assert not found.continuum.any()
    assert found.q[:, 5] == pytest.approx(0.3, abs=1e-9)


def test_a_task_of_influence_0_does_not_count() -> None:
    model = library_robot("puma560")
    target = forward_kinematics(model, model.configuration())["tool"]
    found = all_postures(model, [PoseTask("tool", target), PositionTask("tool", (0, 0, 0), influence=0.0)])
    assert found.complete


def test_wrong_input_is_one_clear_line() -> None:
    model = library_robot("puma560")
    task = PoseTask("tool", np.eye(4))
    problem = PostureProblem(model, [task])
    bad = np.eye(4)
    bad[0, 0] = 2.0
    cases = {
        "list of tasks": lambda: all_postures(model, task),  # type: ignore[arg-type]
        "at least one task": lambda: all_postures(model, []),
        "one task of influence 1": lambda: PostureProblem(model, [PositionTask("tool", (0, 0, 0), influence=0.0)]),
        "has influence 0.5": lambda: all_postures(model, [PoseTask("tool", np.eye(4), influence=0.5)]),
        "seed must be a whole number": lambda: all_postures(model, [task], seed=1.5),  # type: ignore[arg-type]
        "seed must be": lambda: problem.solve_batch(np.eye(4)[None, None], seed="a"),  # type: ignore[arg-type]
        "threads must be a whole number": lambda: problem.solve_batch(np.eye(4)[None, None], threads=0),
        "threads must be": lambda: problem.solve_batch(np.eye(4)[None, None], threads=2.0),  # type: ignore[arg-type]
        "robot": lambda: all_postures("puma560", [task]),  # type: ignore[arg-type]
        "no link": lambda: all_postures(model, [PoseTask("tol", np.eye(4))]),
        "shape": lambda: all_postures(model, [task], q0=np.zeros(5)),
        "finite": lambda: all_postures(model, [task], q0=np.full(6, np.nan)),
        "velocity": lambda: all_postures(model, [TwistTask("tool", np.zeros(6))]),
        "backend": lambda: all_postures(model, [task], backend="cuda"),
        "1 tasks but 2": lambda: problem.solve([np.eye(4), np.eye(4)]),
        "rotation": lambda: problem.solve([bad]),
        "rotation matrix": lambda: problem.solve_batch(np.array([[np.eye(4)], [bad]])),
        "2 sets of targets but 3": lambda: problem.solve_batch(np.tile(np.eye(4), (2, 1, 1, 1)), np.zeros((3, 6))),
        "list of sets": lambda: problem.solve_batch(3.0),
        "one per task": lambda: problem.solve(3.0),
    }
    for words, run in cases.items():
        with pytest.raises(RobokinError, match=words) as error:
            run()
        assert "\n" not in str(error.value)
    with pytest.raises(TaskError):
        problem.solve_batch(np.full((1, 1, 4, 4), np.nan))
    with pytest.raises(ConfigurationError):
        problem.solve(q0=[1.0])
