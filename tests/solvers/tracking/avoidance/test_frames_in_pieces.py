"""Frames that are followed together beside obstacles are those that are followed one by one, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin.kinematics import forward_kinematics
from robokin_addon.solvers import AlongCurveTask, ClearanceTask, PinTask, PoseTask, PositionTask, Task
from robokin_addon.solvers.tracking.avoidance.avoiding import tracker_of
from robokin_addon.solvers.tracking.tracker import Tracker
from support.problems.obstructed import around_a_post, random_scene


def test_frames_in_pieces_are_those_at_once() -> None:
    """Frames that are free are followed together; which together must not be seen."""
    collisions, q0, q1 = around_a_post()
    arm = collisions.model
    a, b = (forward_kinematics(arm, q)["l2"][:3, 3] for q in (q0, q1))
    line = [a + 0.5 * (1.0 - np.cos(k / 6.0)) * (b - a) for k in range(60)]

    def tracker() -> Tracker:
        made = tracker_of(arm, [PositionTask("l2", a), PinTask("l0", priority=2), ClearanceTask(collisions)])
        made.start([line[0], None, None], q0)
        return made

    targets = [[point, None, None] for point in line]
    whole = tracker()
    whole = whole.run(whole.check_targets(targets))
    pieces = tracker()
    single = [pieces.step(each) for each in targets]
    np.testing.assert_array_equal(whole.q, [each.q for each in single])
    np.testing.assert_array_equal(whole.residuals, [each.residual_array for each in single])
    assert 7 in whole.codes and 0 in whole.codes


@pytest.mark.parametrize(("seed", "is_path"), [(11, False), (17, False), (0, True), (7, True)])
def test_frames_before_one_that_is_blocked_are_those_in_pieces(seed: int, is_path: bool) -> None:
    """Towards what is beside obstacles, or in them, and along a curve that moves: how far that led is remembered."""
    collisions, q, other = random_scene(np.random.default_rng(seed))
    start, end = (forward_kinematics(collisions.model, each)["tool"] for each in (q, other))
    task: Task = PoseTask("tool", start)
    targets: list[list[object]] = []
    for share in np.linspace(0.0, 1.0, 50):
        pose = start.copy()
        pose[:3, 3] += share * (end - start)[:3, 3]
        targets.append([pose, None])
    if is_path:
        line = np.array([start[:3, 3], end[:3, 3], start[:3, 3] + [0.3, 0.0, 0.2]])
        task = AlongCurveTask("tool", line, 0.4)
        targets = [[(0.4, line + 0.003 * k * np.array([1.0, -1.0, 0.5])), None] for k in range(50)]
    tracker = tracker_of(collisions.model, [task, ClearanceTask(collisions)])
    checked = tracker.check_targets(targets)
    tracker.stand(q)
    together = tracker.run(checked)
    tracker.stand(q)
    np.testing.assert_array_equal(together.q, [tracker.run(checked[k : k + 1]).q[0] for k in range(50)])
    assert 7 in together.codes and 0 in together.codes
