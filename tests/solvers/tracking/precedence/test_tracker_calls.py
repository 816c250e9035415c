"""Calls of the tracker that users make: arrays that they write to again, influences that come later, pieces."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, load_urdf
from robokin_addon.robokin.errors import TaskError
from robokin_addon.solvers import IKProblem, JointTask, PoseTask, PositionTask, Tracker
from support.robots import robot

MODEL = load_urdf(robot("panda"))
HAND = "panda_hand"
Q = MODEL.limits.middle(MODEL.neutral())
T = forward_kinematics(MODEL, Q)[HAND]
BACKENDS = pytest.mark.parametrize("backend", ["native", "numpy"])


def ahead(distance: float) -> np.ndarray:
    moved = T.copy()
    moved[0, 3] -= distance
    return moved


@BACKENDS
@pytest.mark.parametrize("with_level", [False, True])
def test_an_array_may_be_written_to_again(with_level: bool, backend: str) -> None:
    tasks = [PoseTask(HAND, T), JointTask("panda_joint1", 0.0, priority=2)][: 1 + with_level]
    tracker, given = Tracker(MODEL, tasks, 1.0 / 24.0, backend), T.copy()
    more = [0.0] * with_level
    tracker.start([given, *more], Q)
    for k in range(1, 4):
        given[0, 3] = T[0, 3] - 0.002 * k
        tracker.step(given[None] if not with_level else [given, *more])
        reached = forward_kinematics(MODEL, tracker.q)[HAND]
        np.testing.assert_allclose(reached[:3, 3], given[:3, 3], atol=2e-5)


@BACKENDS
@pytest.mark.parametrize("bad", [np.full((4, 4), np.nan), 2.0 * np.eye(4)])
def test_targets_are_checked_with_influences_too(bad: np.ndarray, backend: str) -> None:
    tracker = Tracker(MODEL, [PoseTask(HAND, T)], 1.0 / 24.0, backend)
    tracker.start([T], Q)
    for share in (1.0, 0.5):
        with pytest.raises(TaskError, match="PoseTask of panda_hand: target"):
            tracker.step(bad[None], [share])
    np.testing.assert_array_equal(tracker.q, Q)
    with pytest.raises(TaskError, match="there are 2 frames but 1 sets of influences"):
        tracker.run([[T]] * 2, [[1.0]])


@BACKENDS
def test_a_fade_goes_on_in_another_tracker(backend: str) -> None:
    task, goal = PoseTask(HAND, T), ahead(0.1)
    whole, first, second = (Tracker(MODEL, [task], 1.0 / 24.0, backend) for _ in range(3))
    shares, frames = [[0.5]] * 12, [[goal]] * 12
    whole.start([T], Q, influence=[0.5])
    expected = whole.run(whole.check_targets(frames), shares).q
    first.start([T], Q, influence=[0.5])
    q = first.run(first.check_targets(frames[:6]), shares[:6]).q
    np.testing.assert_array_equal(q, expected[:6])
    second.stand(first.q, first.v, first.memory)
    q = second.run(second.check_targets(frames[6:]), shares[6:]).q
    reached = [forward_kinematics(MODEL, each)[HAND][0, 3] for each in (q[-1], expected[-1])]
    assert reached[0] == pytest.approx(reached[1], abs=1e-4)


@BACKENDS
def test_all_levels_from_the_first_lost_one_on_are_late(backend: str) -> None:
    far = [PositionTask(HAND, (3.0, 0.0, 0.0)), JointTask("panda_joint1", 0.0, priority=2)]
    tracker = Tracker(MODEL, far, 1.0 / 24.0, backend)
    tracker.start([(3.0, 0.0, 0.0), 0.0], Q)
    assert tracker._state[-2] == 2.0


def test_a_task_of_influence_0_is_not_given_another() -> None:
    task = PositionTask(HAND, (0.5, 0.0, 0.5), influence=0.0)
    with pytest.raises(TaskError, match="PositionTask of panda_hand was made with influence 0"):
        IKProblem(MODEL, [task]).solve(influence=[1.0])
    assert IKProblem(MODEL, [task]).solve(influence=[0.0]).q.shape == (MODEL.nq,)


@BACKENDS
def test_what_nothing_holds_brakes(backend: str) -> None:
    tracker = Tracker(MODEL, [PoseTask(HAND, T, influence=0.0)], 1.0 / 24.0, backend)
    tracker.stand(Q, 0.3 * np.ones(MODEL.nv))
    tracker.run([[T]] * 12)
    assert abs(tracker.v).max() == 0.0
