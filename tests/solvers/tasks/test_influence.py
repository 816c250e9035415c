"""Influence between 0 and 1: a tip is between where it would be and the target, without jumps, as Pinocchio says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, integrate, library_robot
from robokin_addon.solvers import (
    JointTask,
    JointVelocityTask,
    LaserTask,
    OnCurveTask,
    OnPlaneTask,
    OrientationTask,
    Plane,
    PoseTask,
    PositionTask,
    Status,
    Tracker,
    solve_ik,
    track,
    velocity_step,
)
from robokin_addon.solvers.criteria import JointSprings
from robokin_addon.solvers.descent.engine import NOT_CONVERGED
from robokin_addon.solvers.descent.native_stack import NativeStack
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.motion.check import check_motion
from robokin_addon.solvers.motion.motion import Motion
from robokin_addon.solvers.tasks.influence import blended, remaining_of
from robokin_addon.solvers.tracking.starts import Segment, follow
from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot

HAND, ELBOW = "panda_hand", "panda_link4"
READY = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8, 0.0])
DT, FADE = 1 / 24, 25


@pytest.fixture(scope="module")
def oracle(panda):
    return Oracle.from_urdf(panda, robot("panda"))


def followed(model, tasks, targets, influence, criteria=(), q0=READY):
    """The motion, with an influence of its own at every frame (frames, tasks)."""
    tracker = Tracker(model, tasks, DT, criteria=criteria)
    segment = Segment(tracker, tracker.check_targets(targets), np.array(influence, float).reshape(len(targets), -1))
    steps = follow([segment], q0)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            results = done.value
            break
    q = np.concatenate([result.q for result in results])
    statuses = [status for each in results for status in each.status]
    assert not check_motion(Motion.of(model, DT * np.arange(len(q)), q, results[0].start_velocity)).violations
    return q, statuses


def places(oracle, q, link=HAND):
    return np.array([oracle.frames(each)[link][:3, 3] for each in q])


def test_a_lone_task_fades_in_evenly(panda, oracle):
    start = oracle.frames(READY)[HAND]
    goal = start[:3, 3] + (0.1, 0.2, -0.15)
    q, statuses = followed(panda, [PositionTask(HAND, goal)], [[goal]] * FADE, np.linspace(0, 1, FADE))
    wanted = start[:3, 3] + np.linspace(0, 1, FADE)[:, None] * (goal - start[:3, 3])
    np.testing.assert_allclose(places(oracle, q), wanted, atol=1e-5)
    assert statuses == [Status.EMPTY] + [Status.CONVERGED] * (FADE - 1)
    assert abs(np.diff(q, axis=0)).max() < 0.05


def test_half_an_influence_is_half_the_way_also_of_a_moving_target(panda, oracle):
    start = oracle.frames(READY)[HAND][:3, 3]
    goals = start + (0.2, 0.0, 0.0) + np.linspace(0, 1, 40)[:, None] * (0.0, 0.3, 0.1)
    q, _ = followed(panda, [PositionTask(HAND, start)], [[goal] for goal in goals], np.full(40, 0.5))
    np.testing.assert_allclose(places(oracle, q), 0.5 * (start + goals), atol=1e-4)


def test_what_fades_out_stays_and_others_take_over_without_a_jump(panda, oracle):
    """Level 2 waits for level 1 to let go; where it gets its way, it is there evenly."""
    start = oracle.frames(READY)[HAND][:3, 3]
    first, second = start + np.array((0.1, 0.1, 0.0)), start + np.array((-0.1, -0.1, 0.1))
    influence = np.column_stack(
        (np.concatenate((np.ones(5), np.linspace(1, 0, FADE), np.zeros(5))), np.ones(FADE + 10))
    )
    tasks = [PositionTask(HAND, first), PositionTask(HAND, second, priority=2)]
    q, _ = followed(panda, tasks, [[first, second]] * len(influence), influence)
    found = places(oracle, q)
    np.testing.assert_allclose(found[:5], np.tile(first, (5, 1)), atol=1e-5)
    wanted = influence[5:, :1] * first + (1 - influence[5:, :1]) * second
    on_the_way = 6  # frames in which the speed limits let level 2 not get to its target yet
    np.testing.assert_allclose(found[5 + on_the_way :], wanted[on_the_way:], atol=1e-4)
    assert np.linalg.norm(np.diff(found[4:], axis=0), axis=1).max() < 1.5 * np.linalg.norm(second - first) / FADE


@pytest.mark.parametrize("level", [1, 2])
def test_a_fade_that_ends_leaves_no_jump_in_other_levels(panda, oracle, level):
    """An elbow fades in and out again beside a hand that moves: on its own level, above it and below."""
    start = oracle.frames(READY)[HAND]
    elbow = oracle.frames(READY)[ELBOW][:3, 3] + (0.0, 0.12, -0.03)
    goals = np.tile(start, (50, 1, 1))
    goals[:, 1, 3] += 0.002 * np.arange(50)
    ramp = np.concatenate((np.zeros(5), np.linspace(0, 1, 20), np.linspace(1, 0, 20), np.zeros(5)))
    tasks = [PoseTask(HAND, start, priority=3 - level), PositionTask(ELBOW, elbow, (0, 1, 0), priority=level)]
    q, _ = followed(panda, tasks, [[goal, elbow] for goal in goals], np.column_stack((np.ones(50), ramp)))
    change = np.linalg.norm(np.diff(q, axis=0), axis=1)
    assert change.max() < 0.07 and abs(np.diff(change)).max() < 0.06
    if level == 2:  # the hand comes first: it is met at every frame
        np.testing.assert_allclose(places(oracle, q), [goal[:3, 3] for goal in goals], atol=1e-4)


def test_two_fade_into_one_another(panda, oracle):
    start = oracle.frames(READY)[HAND][:3, 3]
    one, other = start + np.array((0.1, 0.1, 0.0)), start + np.array((-0.1, 0.1, 0.1))
    ramp = np.linspace(0, 1, FADE)
    tasks = [PositionTask(HAND, one), PositionTask(HAND, other)]
    q, _ = followed(panda, tasks, [[one, other]] * FADE, np.column_stack((1 - ramp, ramp)))
    found = places(oracle, q)
    np.testing.assert_allclose(found[[0, -1]], [one, other], atol=1e-5)
    assert np.linalg.norm(np.diff(found, axis=0), axis=1).max() < 3.0 * np.linalg.norm(other - one) / FADE


def test_criteria_move_on_in_a_fade(panda, oracle):
    goal = oracle.frames(READY)[HAND][:3, 3] + (0.05, 0.1, -0.05)
    ramp = np.concatenate((np.zeros(10), np.linspace(0, 1, 20)))
    q, _ = followed(panda, [PositionTask(HAND, goal)], [[goal]] * 30, ramp, [JointSprings()])
    steps = np.linalg.norm(np.diff(q, axis=0), axis=1)
    assert steps[8] > 1e-3 and abs(np.diff(steps)).max() < 0.03
    np.testing.assert_allclose(places(oracle, q[-1:]), [goal], atol=1e-5)


def test_a_velocity_is_followed_by_its_share(panda):
    task = JointVelocityTask({"panda_joint1": 0.4}, influence=0.25)
    result = track(panda, [task], [[{"panda_joint1": 0.4}]] * 25, READY, DT)
    assert result.q[-1, 0] - result.q[0, 0] == pytest.approx(0.25 * 0.4 * 24 * DT, abs=1e-9)


def test_a_step_closes_the_share_of_what_is_lacking(panda, oracle):
    goal = oracle.frames(READY)[HAND][:3, 3] + (0.01, 0.02, -0.01)
    for backend in ("native", "numpy"):
        step = velocity_step(panda, READY, [PositionTask(HAND, goal, influence=0.3)], dt=DT, backend=backend)
        moved = oracle.frame_jacobian(READY, HAND, "local_world_aligned")[:3] @ step.v * DT
        np.testing.assert_allclose(moved, 0.3 * (goal - oracle.frames(READY)[HAND][:3, 3]), atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 1e-3, 0.25, 0.5, 1.0 - 1e-6, 1.0])
def test_a_pose_is_solved_for_the_share(panda, oracle, share):
    start = oracle.frames(READY)[HAND]
    goal = start[:3, 3] + (0.1, 0.2, -0.15)
    result = solve_ik(panda, [PositionTask(HAND, goal, influence=share, tolerance=1e-8)], READY)
    assert result.status is (Status.CONVERGED if share else Status.EMPTY)
    wanted = start[:3, 3] + share * (goal - start[:3, 3])
    np.testing.assert_allclose(places(oracle, [result.q])[0], wanted, atol=1e-7)


def test_a_pose_where_others_are_whole(panda, oracle):
    """What fades is counted from the pose that the whole tasks lead to."""
    tasks = [OnPlaneTask(HAND, ((0, 0, 0.5), (0, 0, 1))), JointTask("panda_joint1", 1.0, influence=0.5)]
    result = solve_ik(panda, tasks, READY)
    assert result.status is Status.CONVERGED and result.q[0] == pytest.approx(0.5, abs=0.02)
    assert places(oracle, [result.q])[0][2] == pytest.approx(0.5, abs=2e-5)
    turned = solve_ik(panda, [OrientationTask(HAND, np.eye(3), influence=0.5)], READY).q
    R, there = oracle.frames(READY)[HAND][:3, :3], oracle.frames(turned)[HAND][:3, :3]
    angle = np.arccos((np.trace(R) - 1) / 2)
    assert np.arccos((np.trace(there) - 1) / 2) == pytest.approx(0.5 * angle, abs=1e-4)


def test_levels_that_are_met_do_not_see_several_that_fade_below(panda, oracle):
    """A hand that is led comes first; below it two fade at once, towards what they cannot have."""
    start = oracle.frames(READY)[HAND][:3, 3]
    goals = start + np.linspace(0, 1, 12)[:, None] * (0.05, 0.08, -0.04)
    tasks = [
        PositionTask(HAND, start),
        PositionTask(ELBOW, (0.3, 0.3, 0.6), priority=2),
        PositionTask("panda_link5", (-0.2, 0.5, 0.3), priority=3),
    ]
    ramp = np.linspace(0.1, 0.9, 12)
    influence = np.column_stack((np.ones(12), ramp, 1 - ramp))
    q, _ = followed(panda, tasks, [[goal, *(task.target for task in tasks[1:])] for goal in goals], influence)
    assert abs(places(oracle, q, ELBOW)[-1] - places(oracle, q, ELBOW)[0]).max() > 0.01
    np.testing.assert_allclose(places(oracle, q)[1:], goals[1:], rtol=0, atol=1e-9)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_step_of_several_that_fade_is_strict(panda, oracle, backend):
    rng = np.random.default_rng(4)
    where = oracle.frames(READY)
    links, shares = (HAND, ELBOW, "panda_link5"), (0.3, 0.6, 0.9)
    for far in (0.01, 0.5):
        tasks = [
            PositionTask(link, where[link][:3, 3] + far * rng.normal(size=3), priority=i + 1, influence=share)
            for i, (link, share) in enumerate(zip(links, shares, strict=True))
        ]
        whole = velocity_step(panda, READY, tasks, dt=DT, backend=backend)
        for count in (1, 2):
            alone = velocity_step(panda, READY, tasks[:count], dt=DT, backend=backend)
            for link in links[:count]:
                J = oracle.frame_jacobian(READY, link, "local_world_aligned")[:3]
                np.testing.assert_allclose(J @ alone.v, J @ whole.v, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("away", "status"), [(0.0, Status.MAX_ITERATIONS), (0.3, Status.TASK_CONFLICT)])
def test_what_a_fading_task_keeps_from_a_whole_one_is_a_conflict_with_it(panda, away, status):
    """Of a frame that is not met: when the two could be met together, the fading one is not to blame."""
    place = forward_kinematics(panda, READY)[HAND][:3, 3]
    tasks = [PositionTask(HAND, place, priority=2, name="rail"), PositionTask(HAND, place, name="grasp")]
    tracker = Tracker(panda, tasks, DT)
    targets = tracker.check_targets([[place, place - np.array([0.0, 0.0, away])]] * 2)
    tracker.start(targets[0], READY, influence=np.array([1.0, 0.0]))
    result = tracker.run(targets[1:], [np.array([1.0, 0.5])])
    found = replace(result, codes=np.array([NOT_CONVERGED])).diagnosis(0)
    assert found.status is status
    assert found.reason.endswith("; of partial influence: grasp") == (away > 0.0)


@pytest.mark.parametrize("levels", [(1, 1), (1, 2)])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9])
def test_two_that_fade_at_one_tip_leave_a_still_scene_still(panda, oracle, share, levels):
    """Where they are, a solve for a pose says too; and what hardly counts hardly moves the robot."""
    start = oracle.frames(READY)[HAND][:3, 3]
    goals = [start + np.array((0.1, 0.1, 0.0)), start + np.array((-0.1, 0.1, 0.1))]
    tasks = [PositionTask(HAND, goal, priority=k, influence=share) for goal, k in zip(goals, levels, strict=True)]
    q, _ = followed(panda, tasks, [goals] * 30, np.full((30, 2), share))
    found = places(oracle, q)
    assert np.linalg.norm(found - found[0], axis=1).max() < 2e-4
    np.testing.assert_allclose(places(oracle, [solve_ik(panda, tasks, READY).q]), found[:1], atol=2e-4)
    assert np.linalg.norm(found[0] - start) < 2.0 * share * np.linalg.norm(goals[0] - start) + 2e-4


def test_the_kernel_asks_for_no_rows_of_a_task_that_is_not_there(panda, monkeypatch):
    """Where a task of partial influence is without it, and where one has none."""

    def fill(_stack, _frame):
        raise AssertionError("the kernel asked for rows that it knows")

    monkeypatch.setattr(NativeStack, "_fill", fill)
    q = READY
    hand = PositionTask("panda_hand", (0.3, 0.2, 0.5), influence=0.5)
    beside = PositionTask("panda_link4", (0.0, 0.3, 0.5), priority=2)
    absent = OnCurveTask("panda_hand", [[0.0, 0.0, 0.5], [0.5, 0.0, 0.5]], influence=0.0)
    with_absent = solve_ik(panda, [hand, beside, absent], q, criteria=[JointSprings()], backend="native")
    without = solve_ik(panda, [hand, beside], q, criteria=[JointSprings()], backend="native")
    assert (with_absent.q == without.q).all() and with_absent.status == without.status


@pytest.mark.parametrize("off", [0.0, 0.3])
def test_a_beam_that_fades_is_one_row_along_what_it_misses(panda, oracle, off):
    """Its length is at most the share; a target beside the plane has a part that no motion changes."""
    T, q = oracle.frames(READY)[HAND], READY + 0.1
    wall = Plane(T[:3, 3] - (0, 0, 0.2), (0, 0.2, 1))
    task = LaserTask(HAND, (0, 0, 1), T[:3, 3] + (0.1, 0.2, -0.2 - off), wall)

    def rows(q):
        return task.rows(State(panda, q), task.target)

    def length(q):
        return np.linalg.norm(rows(q).e)

    own = blended(task, rows(q), remaining_of(0.3, rows(READY)))
    assert own.lower[0] == pytest.approx(length(q) - 0.7 * length(READY)) and not own.lower[1:].any()
    assert own.upper[0] == pytest.approx(length(q) + 0.7 * length(READY)) and not own.J[1:].any()
    for k, v in enumerate(1e-6 * np.eye(panda.nv)):
        fell = length(integrate(panda, q, -v)) - length(integrate(panda, q, v))
        assert own.J[0, k] == pytest.approx(fell / 2e-6, abs=1e-6)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_criteria_come_to_their_optimum_beside_a_beam_that_fades(backend):
    """Its target is beside the plane: 200 steps, each hardly longer than what the way back to the task allowed."""
    model, rng = library_robot("panda"), np.random.default_rng(2)
    q = model.limits.middle(model.neutral())
    T = forward_kinematics(model, q)["tool"]
    wall = Plane(T[:3, 3] + 0.5 * T[:3, 2], T[:3, 2] + 0.5 * rng.normal(size=3))
    beam = LaserTask("tool", (0, 0, 1), wall.point + 0.4 * rng.normal(size=3), wall, influence=0.3)
    found = solve_ik(model, [beam], q, criteria=[JointSprings()], backend=backend)
    assert found.status is Status.CONVERGED and found.is_optimal
    assert found.iterations < 40
