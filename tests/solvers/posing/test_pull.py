"""Pulling a link by hand: it comes along, what is held stays, limits are kept."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, in_limits, library_robot, locked_model
from robokin_addon.solvers.posing.pull import Pull, hold
from robokin_addon.solvers.posing.steps import stepped_frame

PANDA = library_robot("panda")
READY = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])


def test_the_tool_follows_and_keeps_its_rotation() -> None:
    pull = Pull(PANDA, READY, "tool")
    for i in range(30):
        T = pull.grip.copy()
        T[1, 3] += 0.01 * i
        before = pull.q
        q = pull.to(T)
        np.testing.assert_allclose(forward_kinematics(PANDA, q)["tool"], T, atol=1e-4)
        assert in_limits(PANDA, q) and abs(q - before).max() < 0.3


def test_beyond_its_reach_it_comes_as_near_as_it_can_and_back() -> None:
    pull, far = Pull(PANDA, READY, "tool", rotation=False), np.eye(4)
    far[:3, 3] = 0.0, 3.0, 0.4
    shares = np.linspace(0.0, 1.0, 20)
    for share in (*shares, *shares[::-1]):
        q = pull.to((1.0 - share) * pull.grip + share * far)
        tool = forward_kinematics(PANDA, q)["tool"][:3, 3]
        assert in_limits(PANDA, q)
        if share == 1.0:
            assert tool[1] > 0.7 and np.linalg.norm(tool[:2]) < 1.2
    np.testing.assert_allclose(tool, pull.grip[:3, 3], atol=1e-4)


def test_self_motion_moves_the_elbow_and_not_the_tool() -> None:
    tool = forward_kinematics(PANDA, READY)["tool"]
    pull = Pull(PANDA, READY, "link_4", None, [hold(PANDA, READY, "tool")], rotation=False)
    assert pull.freedom == 1
    for i in range(20):
        T = pull.grip.copy()
        T[1, 3] += 0.02 * i
        q = pull.to(T)
        np.testing.assert_allclose(forward_kinematics(PANDA, q)["tool"], tool, atol=1e-6)
        assert in_limits(PANDA, q)
    assert forward_kinematics(PANDA, q)["link_4"][1, 3] - pull.grip[1, 3] > 0.1


@pytest.mark.parametrize(("link", "freedom"), [("tool", 0), ("link_7", 0), ("link_4", 1)])
def test_freedom_is_that_of_the_link_and_not_of_the_robot(link: str, freedom: int) -> None:
    assert Pull(PANDA, READY, link, None, [hold(PANDA, READY, "tool")], rotation=False).freedom == freedom


def test_a_padlock_takes_the_self_motion() -> None:
    held = locked_model(PANDA, ["joint_3"], READY)
    assert Pull(held, READY, "link_4", None, [hold(held, READY, "tool")], rotation=False).freedom == 0


def test_a_held_foot_stays_while_the_other_moves() -> None:
    robot = library_robot("humanoid").with_root("floating")
    q = robot.limits.middle(robot.neutral())
    feet = [link.name for link in robot.links if "foot" in link.name][:2]
    assert len(feet) == 2
    before = forward_kinematics(robot, q)[feet[0]]
    pull = Pull(robot, q, feet[1], None, [hold(robot, q, feet[0])])
    T = pull.grip.copy()
    T[:3, 3] += 0.05, 0.0, 0.05
    found = forward_kinematics(robot, pull.to(T))
    np.testing.assert_allclose(found[feet[0]], before, atol=1e-6)
    np.testing.assert_allclose(found[feet[1]], T, atol=1e-4)


@pytest.mark.parametrize("own_axes", [False, True])
def test_a_step_along_an_axis(own_axes: bool) -> None:
    T = forward_kinematics(PANDA, READY)["tool"]
    moved = stepped_frame(T, 2, 0.1, False, own_axes)
    np.testing.assert_allclose(moved[:3, 3] - T[:3, 3], 0.1 * (T[:3, 2] if own_axes else np.eye(3)[2]), atol=1e-15)
    turned = stepped_frame(T, 2, 0.1, True, own_axes)
    axis = T[:3, 2] if own_axes else np.eye(3)[2]
    np.testing.assert_allclose((turned[:3, :3] @ T[:3, :3].T) @ axis, axis, atol=1e-15)
    assert np.trace(turned[:3, :3] @ T[:3, :3].T) == pytest.approx(1.0 + 2.0 * np.cos(0.1))
