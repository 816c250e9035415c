"""A level alone, which is followed with the joints of its tips only, is as among levels, with those of the robot."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import difference
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import Task, Tracker, TrackResult
from support.engine.motions import velocities
from support.engine.stacks import DT, Stack, engine_stack

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
