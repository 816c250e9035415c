"""All postures of families: the same set as brute force finds, meeting the pose inside the limits, in order."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics
from robokin_addon.robokin.model.limits import PositionLimits
from robokin_addon.solvers import (
    IKProblem,
    PoseTask,
    PostureProblem,
    all_postures,
)
from support.problems.family_robots import (
    LIBRARY,
    RANDOM_FAMILIES,
    TABLES,
    family_robot,
    random_family,
)
from support.problems.postures import apart, check, reachable, tip_of

ARMS = ("ur5", "kr6", "irb140", "puma560")
OTHERS = ("scara", "gantry", "planar_3r")


def agree_with_brute_force(model: RobotModel, poses: int, starts: int) -> None:
    """Every posture that the iterative solver finds from many starts is there, and the one that the pose is made of."""
    rng = np.random.default_rng(3)
    link = tip_of(model)
    used, targets = reachable(model, poses, 1)
    problem = PostureProblem(model, [PoseTask(link, np.eye(4))])
    task = PoseTask(link, np.eye(4), position_tolerance=1e-10, orientation_tolerance=1e-10)
    brute = IKProblem(model, [task], attempts=1, iterations=60)
    found = problem.solve_batch(targets[:, None])
    total = most = 0
    for i, target in enumerate(targets):
        own = found[i]
        assert own.complete
        check(model, target, own.q, problem.middle)
        if own.continuum.any():
            continue
        assert apart(model, own.q, used[i]).min() < 1e-6
        begin = rng.uniform(np.maximum(model.lower, -np.pi), np.minimum(model.upper, np.pi), (starts, model.nq))
        result = brute.solve_batch(np.broadcast_to(target, (starts, 1, 4, 4)), begin)
        seen: set[int] = set()
        for q in result.q[(result.residuals <= 1e-10).all(axis=(1, 2))]:
            distance = apart(model, own.q, q)
            assert distance.min() < 1e-4
            seen.add(int(distance.argmin()))
        total, most = total + len(seen), most + len(own)
    assert total > 0.8 * most  # of so many starts: brute force sees most of them


@pytest.mark.parametrize("name", [*ARMS, *OTHERS])
def test_the_same_set_as_brute_force(name: str) -> None:
    agree_with_brute_force(family_robot(name), 12, 200)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ARMS, *OTHERS])
def test_the_same_set_as_brute_force_for_many_poses(name: str) -> None:
    agree_with_brute_force(family_robot(name), 1000, 150)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RANDOM_FAMILIES if name != "shoulder and wrist"])
def test_the_same_set_as_brute_force_for_random_families(name: str) -> None:
    for seed in range(3):
        agree_with_brute_force(random_family(name, np.random.default_rng(seed)), 40, 300)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TABLES, *LIBRARY])
def test_ten_thousand_poses(name: str) -> None:
    model = family_robot(name)
    used, targets = reachable(model, 10_000, 5)
    problem = PostureProblem(model, [PoseTask(tip_of(model), np.eye(4))])
    found = problem.solve_batch(targets[:, None])
    assert found.complete.all()
    assert found.count.min() >= 1
    for i in range(0, 10_000, 10):
        check(model, targets[i], found[i].q, problem.middle)
    if model.nq < 7:
        nearest = apart(model, np.nan_to_num(found.q, nan=1e3), used[:, None]).min(axis=1)
        assert (nearest < 1e-5).all()


def test_redundant_branches_are_found_wherever_they_are_inside_the_limits() -> None:
    """Of a 7-axis arm with narrow limits: a branch is told if and only if the iterative solver gets to one of its
    poses."""
    rng = np.random.default_rng(2)
    wide = family_robot("iiwa")
    limits = PositionLimits(wide.lower * 0.6, wide.upper * 0.6)
    link = tip_of(wide)
    problem = PostureProblem(wide, [PoseTask(link, np.eye(4))], limits=limits)
    brute = IKProblem(wide, [PoseTask(link, np.eye(4))], attempts=1, limits=limits)
    seen = 0
    for _ in range(25):
        q = rng.uniform(limits.lower, limits.upper)
        target = forward_kinematics(wide, q)[link]
        found = problem.solve([target], rng.uniform(limits.lower, limits.upper))
        assert found.complete
        assert found.continuum.all()
        signs = {tuple(each) for each in np.sign(found.q[:, [1, 3, 5]])}
        assert len(signs) == len(found) >= 1
        assert ((found.q >= limits.lower) & (found.q <= limits.upper)).all()
        for own in found.q:
            assert abs(forward_kinematics(wide, own)[link] - target).max() < 1e-12
        result = brute.solve_batch(
            np.broadcast_to(target, (100, 1, 4, 4)), rng.uniform(limits.lower, limits.upper, (100, 7))
        )
        met = np.array([status.name == "CONVERGED" for status in result.status])
        away = (abs(result.q[:, [1, 3, 5]]) > 1e-3).all(axis=1)
        others = {tuple(each) for each in np.sign(result.q[met & away][:, [1, 3, 5]])}
        assert others <= signs
        seen += len(others)
    assert seen > 40


def test_the_redundancy_angle_is_q0s() -> None:
    model = family_robot("iiwa")
    q, targets = reachable(model, 20, 4)
    for own, target in zip(q, targets, strict=True):
        found = all_postures(model, [PoseTask(tip_of(model), target)], own)
        assert found.q[0] == pytest.approx(own, abs=1e-8)
