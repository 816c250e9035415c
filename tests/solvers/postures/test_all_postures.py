"""All postures at edges: limits, whole turns, reach, precision, offsets, batches, threads."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics
from robokin_addon.robokin.library import library_robot
from robokin_addon.robokin.model.limits import PositionLimits
from robokin_addon.solvers import (
    PoseTask,
    PositionTask,
    PostureProblem,
    all_postures,
)
from support.problems.family_robots import (
    LIBRARY,
    TABLES,
    family_robot,
    screw_robot,
    screws_of,
)
from support.problems.postures import apart, reachable, tip_of

ARMS = ("ur5", "kr6", "irb140", "puma560")


@pytest.mark.parametrize("name", [*TABLES, *LIBRARY])
def test_a_batch_is_its_items(name: str) -> None:
    model = family_robot(name)
    _, targets = reachable(model, 30, 6)
    starts, _ = reachable(model, 30, 7)
    problem = PostureProblem(model, [PoseTask(tip_of(model), np.eye(4))])
    found = problem.solve_batch(targets[:, None], starts, threads=2)
    listed = problem.solve_batch([[target] for target in targets], starts)
    assert np.array_equal(found.q, listed.q, equal_nan=True)
    for i in range(30):
        own = problem.solve([targets[i]], starts[i])
        assert np.array_equal(found[i].q, own.q)
        assert np.isnan(found.q[i, len(own) :]).all()
        assert (found[i].names, found[i].complete) == (own.names, own.complete)
        assert found.count[i] == len(own)
    assert np.array_equal(found[-1].q, found[29].q)
    with pytest.raises(IndexError):
        found[30]


def test_whole_turns() -> None:
    """One posture a branch, the one nearest to q0 inside the limits, however many turns those are wide."""
    model = family_robot("ur5")
    target = reachable(model, 1, 8)[1][0]
    tasks = [PoseTask(tip_of(model), target)]
    middle = all_postures(model, tasks)
    assert (abs(middle.q) <= np.pi).all()
    q0 = np.full(6, 2.0)
    near = all_postures(model, tasks, q0)
    assert len(near) == len(middle)
    assert sorted(near.names) == sorted(middle.names)
    assert (abs(near.q - q0) <= np.pi + 1e-9).all()
    ends = PositionLimits(np.full(6, 2.0), np.full(6, 2.0 + 2.0 * np.pi))
    beyond = PostureProblem(model, tasks, limits=ends).solve()
    assert sorted(beyond.names) == sorted(middle.names)
    assert ((beyond.q >= ends.lower) & (beyond.q <= ends.upper)).all()


def test_limits_choose() -> None:
    model = family_robot("puma560")
    _, targets = reachable(model, 200, 9)
    free = PostureProblem(
        model,
        [PoseTask(tip_of(model), np.eye(4))],
        limits=PositionLimits(np.full(6, -np.inf), np.full(6, np.inf)),
    ).solve_batch(targets[:, None])
    limited = PostureProblem(model, [PoseTask(tip_of(model), np.eye(4))]).solve_batch(targets[:, None])
    assert (free.count == 8).mean() > 0.95
    for i in range(200):
        inside = 0
        for own in free[i].q:
            turns = 2.0 * np.pi * np.arange(-2, 3)
            copies = own + turns[:, None]
            inside += ((copies >= model.lower) & (copies <= model.upper)).any(axis=0).all()
        assert limited.count[i] == inside


def test_out_of_reach_is_none_and_complete() -> None:
    model = family_robot("kr6")
    target = np.eye(4)
    target[0, 3] = 5.0
    found = all_postures(model, [PoseTask(tip_of(model), target)])
    assert len(found) == 0
    assert found.q.shape == (0, 6)
    assert found.names == ()
    assert found.complete


def test_a_little_out_of_reach_is_met_within_the_tolerance() -> None:
    """As of a target that single precision has rounded."""
    model = library_robot("planar_2r")
    q = np.array([0.3, 0.0])
    target = forward_kinematics(model, q)["tool"][:3, 3]
    far = target * (1.0 + 3e-6 / np.linalg.norm(target))
    for tolerance, count in ((1e-5, 1), (1e-6, 0)):
        found = all_postures(model, [PositionTask("tool", far, tolerance=tolerance)])
        assert len(found) == count
    assert all_postures(model, [PositionTask("tool", far)]).q[0] == pytest.approx(q, abs=1e-5)


@pytest.mark.parametrize("name", ["gantry", "scara", "puma560", "iiwa"])
def test_a_little_beyond_the_limits_is_met_within_the_tolerance(name: str) -> None:
    """As of a target, made where joints are at their limits, that single precision has rounded."""
    model = family_robot(name)
    task = PoseTask(tip_of(model), np.eye(4))
    problem = PostureProblem(model, [task])
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = np.nan_to_num(np.where(rng.random(model.nq) < 0.5, model.upper, model.lower), posinf=1.0, neginf=1.0)
        target = forward_kinematics(model, q)[task.link].astype(np.float32).astype(float)
        found = problem.solve([target], q)
        assert len(found)
        for own in found.q:
            assert ((own >= model.lower) & (own <= model.upper)).all()
            there = forward_kinematics(model, own)[task.link]
            assert np.linalg.norm((there - target)[:3, 3]) <= task.position_tolerance


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_stretched_arm_out_of_reach(backend: str) -> None:
    """Both postures of the wrist are told, the elbow straight; exact ones go before those within the tolerance."""
    model = family_robot("irb140")
    tasks = [PoseTask("tool", np.eye(4))]
    problem = PostureProblem(model, tasks, backend)
    axis, point, _, home = screws_of(model, "tool")
    shoulder, elbow, wrist = point[1], point[2], point[4]
    # The elbow that makes the arm straight.
    y = np.cross(elbow - shoulder, axis[2])
    q = np.array([0.2, -0.4, 0.0, 0.3, 0.8, 0.1])
    out, off = elbow - shoulder, wrist - elbow
    q[2] = np.arctan2(axis[2] @ np.cross(off, out), off @ out)
    assert abs(y).max() > 0.1
    target = forward_kinematics(model, q)["tool"]
    arm = forward_kinematics(model, np.array([*q[:3], 0, 0, 0]))["tool"] @ np.linalg.inv(home)
    base = forward_kinematics(model, np.array([q[0], 0, 0, 0, 0, 0]))["tool"] @ np.linalg.inv(home)
    reach = (arm[:3, :3] @ wrist + arm[:3, 3]) - (base[:3, :3] @ shoulder + base[:3, 3])
    target[:3, 3] += 2e-6 * reach / np.linalg.norm(reach)
    found = problem.solve([target])
    assert len(found) == 2
    assert apart(model, found.q, q).min() < 1e-3
    for own in found.q:
        assert 1e-6 < abs(forward_kinematics(model, own)["tool"] - target).max() < 1e-5
    target[:3, 3] += 2e-5 * reach
    assert len(problem.solve([target])) == 0


@pytest.mark.parametrize("name", ARMS)
def test_targets_in_single_precision(name: str) -> None:
    model = family_robot(name)
    _, targets = reachable(model, 50, 10)
    problem = PostureProblem(model, [PoseTask(tip_of(model), np.eye(4))])
    exact = problem.solve_batch(targets[:, None])
    rounded = problem.solve_batch(targets.astype(np.float32)[:, None])
    same = exact.count == rounded.count
    assert same.mean() > 0.95
    assert np.nanmax(abs(exact.q[same] - rounded.q[same])) < 1e-2
    for i in np.flatnonzero(same):
        for own in rounded[i].q:
            assert abs(forward_kinematics(model, own)[tip_of(model)] - targets[i]).max() < 1e-6


def test_an_offset_is_the_tips() -> None:
    model = family_robot("irb140")
    offset = np.eye(4)
    offset[:3, 3] = 0.1, -0.2, 0.3
    q, targets = reachable(model, 5, 11)
    for own, target in zip(q, targets, strict=True):
        found = all_postures(model, [PoseTask(tip_of(model), target @ offset, offset=offset)])
        assert apart(model, found.q, own).min() < 1e-8


def test_far_bases() -> None:
    """The base a kilometre away."""
    model = family_robot("ur5")
    base = np.eye(4)
    base[:3, 3] = 1000.0, -500.0, 200.0
    axis, point, slides, home = screws_of(model, tip_of(model))
    home[:3, 3] += base[:3, 3]
    far = screw_robot(axis, point + base[:3, 3], slides, home, -7.0, 7.0)
    q, _ = reachable(far, 20, 12)
    for own in q:
        target = forward_kinematics(far, own)["tool"]
        found = all_postures(far, [PoseTask("tool", target)])
        assert apart(far, found.q, own).min() < 1e-6
        assert len(found) in (2, 4, 6, 8)


def test_huge_targets_have_no_postures() -> None:
    model = library_robot("puma560")
    for size in (1e10, 1e29):
        target = np.eye(4)
        target[:3, 3] = size, -size / 2, size / 3
        found = all_postures(model, [PoseTask("tool", target)])
        assert len(found) == 0


@pytest.mark.parametrize("far", [1e3, 1e7, 1e20])
def test_starts_many_turns_away(far: float) -> None:
    """Joints without limits: the nearest turns as far as they can be told."""
    axis, point, slides, home = screws_of(family_robot("ur5"), "tool")
    model = screw_robot(axis, point, slides, home, -np.inf, np.inf)
    target = reachable(family_robot("ur5"), 1, 14)[1][0]
    found = all_postures(model, [PoseTask("tool", target)], np.full(6, far))
    assert len(found) >= 2
    for own in found.q:
        assert abs(forward_kinematics(model, own)["tool"] - target).max() < 1e-9
    assert (abs(found.q - far) < 4.0).all() == (far < 1e5)


def test_a_tolerance_finer_than_rounding() -> None:
    model = family_robot("ur5")
    _, targets = reachable(model, 5, 15)
    for target in targets:
        usual = all_postures(model, [PoseTask("tool", target)])
        fine = all_postures(model, [PoseTask("tool", target, position_tolerance=1e-25, orientation_tolerance=1e-25)])
        assert np.array_equal(usual.q, fine.q)


def test_one_problem_on_several_threads() -> None:
    model = family_robot("kr6")
    _, targets = reachable(model, 4000, 16)
    problem = PostureProblem(model, [PoseTask("tool", np.eye(4))])
    one, two = (problem.solve_batch(targets[:, None], threads=threads) for threads in (1, 4))
    assert np.array_equal(one.q, two.q, equal_nan=True)
