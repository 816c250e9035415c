"""Lower levels stand aside where they would cost those above frames later, and nothing else changes for it.

An arm whose place jumps, and a posture below: the posture leads the arm to where the way is longer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import (
    RobotModel,
    difference,
    forward_kinematics,
    integrate,
    library_robot,
    random_configuration,
)
from robokin_addon.robokin.arrays import Array
from robokin_addon.robokin.collision import CollisionModel, Obstacle, Sphere
from robokin_addon.solvers import (
    ClearanceTask,
    OrientationTask,
    PinTask,
    PositionTask,
    PostureTask,
    Status,
    Task,
    Tracker,
    track,
)
from robokin_addon.solvers.motion.check import check_motion
from robokin_addon.solvers.progress import finish
from robokin_addon.solvers.tracking.precedence import standing_aside
from robokin_addon.solvers.tracking.segments import Segment, follow
from support.engine.goals import random_goal
from support.engine.robots import SLOW, engine_robot
from support.engine.stacks import DT, calm_stack, engine_stack
from support.few import rest_slow
from support.oracles.coal_oracle import least_distances
from support.problems.limits import with_rates
from support.problems.obstructed import at, clothed

FRAMES, JUMP, TOLERANCE = 36, 12, 1e-5
MARGIN = 0.08  # [m]
TIPS = {"planar 4R": "end_effector", "ur5": "tool0", "panda": "panda_hand_tcp"}


def jumping(robot: str, seed: int, is_slow: bool) -> tuple[RobotModel, list[Task], list[list[Any]], Array]:
    """A place that jumps, a random posture below it, and where the arm starts (nq,)."""
    rng, model, tip = np.random.default_rng(seed), engine_robot(robot), TIPS[robot]
    model = with_rates(model, **SLOW) if is_slow else model
    first, last = (model.limits.clamp(random_configuration(model, rng)) for _ in range(2))
    here, there = (forward_kinematics(model, q)[tip][:3, 3] for q in (first, last))
    posture = random_configuration(model, rng)
    tasks: list[Task] = [PositionTask(tip, here), PostureTask(posture, priority=2)]
    return model, tasks, [[here if frame < JUMP else there, posture] for frame in range(FRAMES)], first


def frame_by_frame(model: RobotModel, tasks: list[Task], targets: list[list[Any]], q0: Array) -> list[Any]:
    tracker = Tracker(model, tasks, DT)
    return finish(follow([Segment(tracker, tracker.check_targets(targets))], q0))


def missed(residuals: Array) -> int:
    """Frames that miss the first task."""
    return int((residuals[:, 0] > TOLERANCE).any(axis=1).sum())


@pytest.mark.parametrize("seed", [51, 54, 127])
def test_a_third_level_takes_no_frames_that_the_second_gives_the_first(seed: int) -> None:
    """Two levels that one configuration meets, and a third that does not go with them. The second leads the robot to
    where the first is met longer than alone; so it is with the third below it too."""
    model, rng = library_robot("mobile_arm"), np.random.default_rng([seed, 31])
    first, last = (random_configuration(model, rng) for _ in range(2))
    goals = [random_goal(rng, model, priority) for priority in (1, 2, 3)]
    for goal, there in zip(goals, (last, last, random_configuration(model, rng)), strict=True):
        goal.task.target = goal.at(there)
    q0 = model.limits.clamp(first)
    way = difference(model, q0, last)
    path = [model.limits.clamp(integrate(model, q0, way * frame / 60.0)) for frame in range(40)]
    targets = [[goals[0].at(q), goals[1].at(q), goals[2].task.target] for q in path]
    one, two, three = (
        track(model, [goal.task for goal in goals[:n]], [each[:n] for each in targets], q0, DT) for n in (1, 2, 3)
    )
    assert missed(two.residuals) < missed(one.residuals), "the second level helps the first"
    assert missed(three.residuals) <= 1.15 * missed(two.residuals) + 2


@pytest.mark.parametrize(
    ("robot", "seed", "is_slow", "latest"),
    [
        ("planar 4R", 58, False, 8),
        ("planar 4R", 64, False, 0),
        ("planar 4R", 58, True, 8),
        ("ur5", 14, False, 8),
        ("ur5", 110, True, 4),
    ],
)
def test_a_place_is_there_as_soon_as_without_the_posture(robot: str, seed: int, is_slow: bool, latest: int) -> None:
    """latest: the frame before which the posture need not stand aside."""
    model, tasks, targets, q0 = jumping(robot, seed, is_slow)
    alone = missed(track(model, tasks[:1], [each[:1] for each in targets], q0, DT).residuals)
    at_most = 1.15 * alone + 2
    before = np.concatenate([part.residuals for part in frame_by_frame(model, tasks, targets, q0)])
    assert missed(before) > at_most, "the posture is in the way"
    found = track(model, tasks, targets, q0, DT)
    assert missed(found.residuals) <= at_most
    assert not check_motion(found.motion).violations
    assert found.aside is not None and not found.aside[:, 0].any()
    aside = np.flatnonzero(found.aside[:, 1])
    assert latest <= aside[0] and aside[-1] < FRAMES - 1
    for frame in range(FRAMES):
        lacks = np.linalg.norm(found.q[frame] - targets[frame][1])
        assert found.residuals[frame, 1, 0] == pytest.approx(lacks, rel=1e-6), "what stands aside is told what it lacks"
        assert found.status[frame] is not Status.CONVERGED
    assert "stand aside" in found.diagnosis(int(aside[0])).reason
    assert "stand aside" not in found.diagnosis(FRAMES - 1).reason


@pytest.mark.parametrize("seed", [48, 116])
def test_a_level_alone_is_there_as_soon_as_it_is_among_levels(seed: int) -> None:
    """Past a singular pose: it is looked for around it with the same draws."""
    model, tasks, targets, q0 = jumping("panda", seed, False)
    first = [each[:1] for each in targets]
    alone = track(model, tasks[:1], first, q0, DT)
    tracker = Tracker(model, tasks[:1], DT)
    tracker.let_fade()
    tracker.start(first[0], q0)
    among = tracker.run(tracker.check_targets(first[1:]))
    np.testing.assert_allclose(among.residuals, alone.residuals[1:], rtol=0.0, atol=1e-5)


def jumping_twice() -> tuple[RobotModel, list[Task], list[list[Any]], Array]:
    """The posture is in the way before either jump, at frames 25 and 50 of 75."""
    rng, model = np.random.default_rng(54), engine_robot("planar 4R")
    poses = [model.limits.clamp(random_configuration(model, rng)) for _ in range(3)]
    places = [forward_kinematics(model, q)["end_effector"][:3, 3] for q in poses]
    posture = random_configuration(model, rng)
    tasks: list[Task] = [PositionTask("end_effector", places[0]), PostureTask(posture, priority=2)]
    return model, tasks, [[places[frame // 25], posture] for frame in range(75)], poses[0]


def test_each_jump_has_the_posture_aside_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many frames are followed at once; where the search is given up the posture is aside all the time."""
    model, tasks, targets, q0 = jumping_twice()
    alone = missed(track(model, tasks[:1], [each[:1] for each in targets], q0, DT).residuals)
    assert missed(np.concatenate([part.residuals for part in frame_by_frame(model, tasks, targets, q0)])) > (
        1.15 * alone + 2
    )
    found = track(model, tasks, targets, q0, DT)
    assert missed(found.residuals) <= 1.15 * alone + 2
    assert found.aside is not None and found.aside[:25, 1].any() and found.aside[25:, 1].any()
    assert found.aside[:, 1].sum() < 30
    monkeypatch.setattr(Tracker, "chunk", 7)
    again = track(model, tasks, targets, q0, DT)
    np.testing.assert_allclose(again.q, found.q, atol=0.02)
    assert len(again) == 75 and missed(again.residuals) == missed(found.residuals)
    monkeypatch.setattr(standing_aside, "WORK", -1)
    given_up = track(model, tasks, targets, q0, DT)
    assert missed(given_up.residuals) <= 1.15 * alone + 2
    assert given_up.aside is not None and given_up.aside[:, 1].all()


def test_a_third_level_stands_aside_for_the_second() -> None:
    """A place and an orientation that jump at different frames, and a posture; the place alone is not in its way."""
    rng, model = np.random.default_rng(57), engine_robot("ur5")
    first, last = (model.limits.clamp(random_configuration(model, rng)) for _ in range(2))
    here, there = (forward_kinematics(model, q)["tool0"] for q in (first, last))
    posture, jumps = random_configuration(model, rng), rng.integers(6, 20, 2)
    tasks = [
        PositionTask("tool0", here[:3, 3]),
        OrientationTask("tool0", here[:3, :3], priority=2),
        PostureTask(posture, priority=3),
    ]
    targets = [
        [(here if k < jumps[0] else there)[:3, 3], (here if k < jumps[1] else there)[:3, :3], posture]
        for k in range(FRAMES)
    ]

    def misses(residuals: Array) -> int:
        return int((residuals[:, :2] > TOLERANCE).any(axis=(1, 2)).sum())

    alone = misses(track(model, tasks[:2], [each[:2] for each in targets], first, DT).residuals)
    before = np.concatenate([part.residuals for part in frame_by_frame(model, tasks, targets, first)])
    found = track(model, tasks, targets, first, DT)
    assert misses(found.residuals) <= 1.15 * alone + 2 < misses(before)
    assert found.aside is not None and found.aside[:, 2].any() and not found.aside[:, :2].any()


def test_the_posture_stands_aside_from_a_start_that_was_looked_for_too() -> None:
    model, tasks, targets, _ = jumping("planar 4R", 64, False)
    alone = missed(track(model, tasks[:1], [each[:1] for each in targets], None, DT).residuals)
    found = track(model, tasks, targets, None, DT)
    assert found.aside is not None and found.aside[:, 1].any() and missed(found.residuals) <= 1.15 * alone + 2


def test_what_misses_nothing_is_as_it_was() -> None:
    """To the bit, where only the last level is missed too."""
    stack = calm_stack("panda", 1)
    model, tasks, targets, q0 = jumping("ur5", 14, False)
    still = [targets[0]] * FRAMES
    for own in ((stack.model, stack.tasks, list(stack.targets), stack.q0), (model, tasks, still, q0)):
        found = track(*own, DT)
        q = np.concatenate([part.q for part in frame_by_frame(*own)])
        np.testing.assert_array_equal(found.q, q)
        assert found.aside is None or not found.aside.any()


def test_progress_ends_the_search_with_a_whole_motion() -> None:
    model, tasks, targets, q0 = jumping("ur5", 14, False)
    done: list[int] = []
    found = track(model, tasks, targets, q0, DT, progress=lambda count, _: done.append(count) or count < FRAMES)
    assert done[-1] == FRAMES == len(found) and found.aside is not None and not found.aside.any()
    before = np.concatenate([part.q for part in frame_by_frame(model, tasks, targets, q0)])
    np.testing.assert_array_equal(found.q, before)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_what_stands_aside_is_as_of_influence_0_and_comes_back(backend: str) -> None:
    """But a pin remembers where the motion began."""
    model = engine_robot("panda")
    q = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.7, 0.02])
    places = {name: T[:3, 3] for name, T in forward_kinematics(model, q).items()}
    tasks = [
        PositionTask("panda_hand", places["panda_hand"]),
        PinTask("panda_link4", orientation_weights=0.0, priority=2),
    ]
    targets = [[places["panda_hand"] + np.array([0.0, 0.01 * k, 0.0]), None] for k in range(9)]
    tracker, other = (Tracker(model, tasks, DT, backend) for _ in range(2))
    tracker.start(targets[0], q, down_to=1)
    other.start(targets[0], q, influence=[1.0, 0.0])
    aside = tracker.run(tracker.check_targets(targets[1:5]), down_to=1)
    np.testing.assert_array_equal(aside.q, other.run(other.check_targets(targets[1:5]), [[1.0, 0.0]] * 4).q)
    moved = [forward_kinematics(model, each)["panda_link4"][:3, 3] - places["panda_link4"] for each in aside.q]
    np.testing.assert_allclose(aside.residuals[:, 1, 0], np.linalg.norm(moved, axis=1), rtol=1e-6, atol=1e-9)
    assert aside.residuals[-1, 1, 0] > 1e-3 and aside.status == [Status.MAX_ITERATIONS] * 4
    back = tracker.run(tracker.check_targets([targets[4]] * 24))
    assert back.converged[-1]
    there = forward_kinematics(model, back.q[-1])["panda_link4"][:3, 3]
    np.testing.assert_allclose(there, places["panda_link4"], rtol=0.0, atol=2e-5)


def test_links_keep_away_while_a_level_stands_aside() -> None:
    model, tasks, targets, q0 = jumping("planar 4R", 217, True)
    arm = clothed(model, 0.02)
    collisions = CollisionModel(arm, [Obstacle("ball", Sphere(0.1), at(-0.1, 0.35))])
    tasks = [*tasks, ClearanceTask(collisions, MARGIN)]
    targets = [[*each, None] for each in targets]
    alone = missed(track(arm, tasks[::2], [each[::2] for each in targets], q0, DT).residuals)
    found = track(arm, tasks, targets, q0, DT)
    assert missed(found.residuals) <= 1.15 * alone + 2
    assert found.aside is not None and found.aside[:, 1].any() and not found.aside[:, [0, 2]].any()
    assert MARGIN - 2e-5 <= least_distances(collisions, found.q).min() < MARGIN + 0.005
    assert not check_motion(found.motion, collisions=collisions).violations


def misses_from_starts_looked_for(robot: str, seed: int) -> tuple[int, int]:
    """How many frames miss the first level: with and without those below it."""
    stack = engine_stack(robot, seed)
    counts = []
    for own in (stack, stack.upper(1)):
        found = track(own.model, own.tasks, own.targets, None, DT, criteria=own.criteria)
        first = stack.upper(1)
        off = found.residuals[:, : len(first.tasks)] > first.tolerance
        counts.append(int(off.any(axis=(1, 2)).sum()))
    return counts[0], counts[1]


@pytest.mark.parametrize(("robot", "seed"), rest_slow([("planar 4R", 11), ("gripper", 6), ("tiago", 7)], 2))
def test_a_start_is_looked_for_level_by_level(robot: str, seed: int) -> None:
    """From the start that meets most of all levels together the first one misses more than from its own."""
    own, alone = misses_from_starts_looked_for(robot, seed)
    assert own <= 1.15 * alone + 2
