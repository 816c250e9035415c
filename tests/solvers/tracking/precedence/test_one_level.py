"""A level alone, which is followed with the joints of its tips only, is as among levels, with those of the robot."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel, difference, forward_kinematics, integrate
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import PositionTask, Task, Tracker, TrackResult
from support.engine.motions import velocities
from support.engine.robots import X, Y, Z
from support.engine.stacks import DT, Stack, engine_stack
from support.problems.shapes import at

# Where a place is not had in time, and is looked for around a singular pose.
STACKS = [("ball tree", 28, 12), ("ball tree", 28, 13)]


def among_levels(stack: Stack, q: Array, v: Array, frame: int, as_levels: bool) -> TrackResult:
    tasks: list[Task] = stack.tasks[:1]
    tracker = Tracker(stack.model, tasks, DT)
    assert tracker.is_plain
    if as_levels:
        tracker.let_fade()
    tracker.start([stack.goals[0].at(q)], q, v)
    return tracker.run(tracker.check_targets([stack.targets[frame][:1]]))


@pytest.mark.parametrize(("robot", "seed", "frame"), STACKS)
def test_a_frame_of_one_level_is_as_among_levels(robot: str, seed: int, frame: int) -> None:
    stack = engine_stack(robot, seed)
    q = stack.tracked().q
    start = q[frame - 1], np.concatenate((np.zeros((1, stack.model.nv)), velocities(stack.model, q, DT)))[frame - 1]
    alone, among = (among_levels(stack, *start, frame, as_levels) for as_levels in (False, True))
    assert alone.residuals[0, 0, 0] > 0.1, "it is late"
    np.testing.assert_allclose(among.residuals, alone.residuals, rtol=0.0, atol=1e-6)
    moved = abs(difference(stack.model, start[0], among.q[0])) > 1e-9
    assert not moved[stack.model.nv - 1], "what it does not need stays where it is"


@pytest.mark.parametrize("first", ["revolute", "prismatic"])
def test_a_joint_counts_as_what_it_is_not_as_what_follows_it(first: str) -> None:
    """A turn that a slide follows is weighed as a turn, and a slide that a turn follows as a length: with one level and
    among levels alike."""
    second = "prismatic" if first == "revolute" else "revolute"
    names = ("base", "a", "b", "c", "tool")
    joints = [
        Joint("leading", first, "base", "a", at(0.0, 0.0, 0.1), Z, -3.0, 3.0),
        Joint("bend", "revolute", "a", "b", at(0.4, 0.0, 0.1), Y, -3.0, 3.0),
        Joint("following", second, "b", "c", at(0.3, 0.0, 0.2), X, mimic=Mimic("leading", 0.5)),
        Joint("turn", "revolute", "c", "tool", at(0.2, 0.4, 0.0), Z, -3.0, 3.0),
    ]
    model = RobotModel("led", [Link(name) for name in names], joints)
    q = np.array([0.3, 0.4, -0.5])
    tool = at(0.2, 0.3, 0.1)
    there = (forward_kinematics(model, integrate(model, q, [0.02, -0.03, 0.02]))["tool"] @ tool)[:3, 3]
    task = PositionTask("tool", there, weights=(1.0, 1.0, 0.0), offset=tool)
    found = []
    for as_levels in (False, True):
        tracker = Tracker(model, [task], DT)
        assert tracker.is_plain
        if as_levels:
            tracker.let_fade()
        tracker.stand(q)
        found.append(tracker.run(tracker.check_targets([[there]])).q[0])
    assert abs(found[0] - q).max() > 1e-3
    np.testing.assert_allclose(*found, rtol=0.0, atol=1e-6)
