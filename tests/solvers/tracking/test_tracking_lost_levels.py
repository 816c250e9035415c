"""A level that is lost to the speed of joints says so, whatever becomes of the levels below it."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, load_urdf
from robokin_addon.solvers import JointTask, PoseTask, PositionTask, Status, track
from support.robots import robot

DT = 1.0 / 24.0
BACKENDS = ("native", "numpy")


def slides(speed: float) -> RobotModel:
    """A carriage along x, at most so fast [m/s], and one along y on it."""
    joints = [
        Joint("x", "prismatic", "base", "carriage", axis=(1, 0, 0), lower=-5, upper=5, velocity=speed),
        Joint("y", "prismatic", "carriage", "tool", axis=(0, 1, 0), lower=-5, upper=5, velocity=100.0),
    ]
    return RobotModel("slides", [Link("base"), Link("carriage"), Link("tool")], joints)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_level_above_a_conflict_is_lost_to_speed(backend: str) -> None:
    """The target runs along x at 3 m/s from frame 3 to 5 and waits; the carriage makes 1.5 m/s. y is asked to be 0 by
    the first level and 1 by the second, which thus is never met."""
    model = slides(1.5)
    wanted = np.array([0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]) * 3.0 * DT
    tasks = [PositionTask("tool", (0, 0, 0)), JointTask("y", 1.0, priority=2)]
    result = track(model, tasks, [[(x, 0, 0), 1.0] for x in wanted], np.zeros(2), DT, backend=backend)
    reached = [0.0]
    for x in wanted[1:]:
        reached.append(min(x, reached[-1] + 1.5 * DT))
    np.testing.assert_allclose(result.q[:, 0], reached, atol=1e-6)
    late = abs(wanted - reached) > 1e-5
    assert late[3:8].any() and not late[[0, 1, 2, 8]].any()
    for frame, is_late in enumerate(late):
        found = result.diagnosis(frame)
        assert found.status is (Status.LIMIT if is_late else Status.TASK_CONFLICT), (frame, found)
        assert found.joints == (("x",) if is_late else ())


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_level_below_is_lost_to_speed(backend: str) -> None:
    """Of three levels the second runs away, and the third is in conflict with the first."""
    model = slides(1.5)
    tasks = [JointTask("y", 0.0), JointTask("x", 0.0, priority=2), JointTask("y", 1.0, priority=3)]
    targets = [[0.0, x, 1.0] for x in (0.0, 0.0, 0.5, 0.5)]
    result = track(model, tasks, targets, np.zeros(2), DT, backend=backend)
    found = [result.diagnosis(frame) for frame in range(4)]
    assert [each.status for each in found] == [Status.TASK_CONFLICT] * 2 + [Status.LIMIT] * 2
    assert found[2].joints == found[3].joints == ("x",)


def test_a_real_robot_loses_its_first_level_to_speed() -> None:
    panda, tip = load_urdf(robot("panda")), "panda_hand"
    q0 = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8, *np.zeros(panda.nq - 7)])
    T = forward_kinematics(panda, q0)[tip]
    tasks = [PoseTask(tip, T), PositionTask(tip, T[:3, 3] + (0, 0, 0.2), priority=2)]
    targets = []
    for frame in range(30):
        moved = T.copy()
        moved[1, 3] += 0.3 * (frame >= 3)  # at once
        targets.append([moved, moved[:3, 3] + (0, 0, 0.2)])
    result = track(panda, tasks, targets, q0, DT)
    lost = (result.residuals[:, 0] > 1e-4).any(axis=1)
    assert lost[3] and not lost[:3].any() and not lost[-1]
    found = [result.diagnosis(frame) for frame in (2, 3, 29)]
    assert [each.status for each in found] == [Status.TASK_CONFLICT, Status.LIMIT, Status.TASK_CONFLICT]
    assert found[1].joints and set(found[1].joints) <= {joint.name for joint in panda.moving_joints}
    assert {status for status, is_lost in zip(result.status, lost, strict=True) if is_lost} == {Status.LIMIT}
