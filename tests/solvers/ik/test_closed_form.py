"""Solve looks up in closed form what the search misses: poses at the corners of narrow limits."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import RobotModel
from robokin_addon.robokin.backend import get_backend
from robokin_addon.robokin.model.limits import PositionLimits
from robokin_addon.solvers import IKProblem, PoseTask
from robokin_addon.solvers.criteria import JointSprings
from support.problems.family_robots import family_robot
from support.problems.postures import tip_of

ARMS = ("ur5", "kr6", "irb140", "iiwa")


def _cornered(name: str, seed: int) -> tuple[IKProblem, IKProblem, np.ndarray]:
    """A problem with narrow limits, the same with attempts alone, and (200, 1, 4, 4) targets reached within them, many
    at their very ends."""
    model, rng = family_robot(name), np.random.default_rng(seed)
    width, middle = rng.uniform(1.0, 5.0, model.nq), rng.uniform(-1.5, 1.5, model.nq)
    limits = PositionLimits(np.maximum(model.lower, middle - width / 2), np.minimum(model.upper, middle + width / 2))
    q = rng.uniform(limits.lower, limits.upper, (200, model.nq))
    ends = np.where(rng.random(q.shape) < 0.5, limits.lower + 1e-3, limits.upper - 1e-3)
    q = np.where(rng.random(q.shape) < 0.4, ends, q)
    tip = tip_of(model)
    targets = _placed(model, q)[:, None]
    tasks = [PoseTask(tip, np.eye(4))]
    return IKProblem(model, tasks, limits=limits), IKProblem(model, tasks, attempts=50, limits=limits), targets


def _placed(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """(b, 4, 4) of the tip."""
    frames = get_backend("native").frame_placements(model.tree, np.ascontiguousarray(q))
    return np.ascontiguousarray(frames[:, model.link_index(tip_of(model))])


def test_what_the_search_misses_is_found_in_closed_form() -> None:
    missed = 0
    for name in ARMS:
        for seed in range(4):
            problem, searched, targets = _cornered(name, seed)
            found = problem.solve_batch(targets)
            assert found.converged.all()
            assert ((found.q >= problem.limits.lower) & (found.q <= problem.limits.upper)).all()
            off = _placed(problem.model, found.q) - targets[:, 0]
            assert np.linalg.norm(off[:, :3, 3], axis=1).max() < 1.001e-5
            assert np.linalg.norm(off[:, :3, :3], axis=(1, 2)).max() < 1.5e-5
            lost = np.flatnonzero(~searched.solve_batch(targets).converged)
            missed += len(lost)
            for i in lost[:2]:
                one = problem.solve(targets[i])
                assert one.converged and np.array_equal(one.q, found.q[i])
                assert one.attempts == searched.solve(targets[i], diagnose=False).attempts + 1
    assert missed >= 5


def test_attempts_that_are_reported_are_all() -> None:
    problem, searched, targets = _cornered("ur5", 1)
    lost = [target for target in targets if not searched.solve(target, diagnose=False).converged]
    assert lost and all(problem.solve(target).converged for target in lost)
    reference = IKProblem(problem.model, problem.tasks, backend="numpy", limits=problem.limits)
    assert reference.solve(lost[0]).converged


def test_criteria_too() -> None:
    """With criteria the search is another one, in levels: what it misses is then brought to the criteria's optimum."""
    problem, _, targets = _cornered("ur5", 1)
    given = problem.model, problem.tasks, [JointSprings()]
    searched = IKProblem(*given, attempts=30, limits=problem.limits)
    preferring = IKProblem(*given, limits=problem.limits)
    lost = [target for target in targets if searched.solve(target, diagnose=False).residual_array.max() > 1e-3]
    assert lost
    assert all(preferring.solve(target, diagnose=False).residual_array.max() < 1e-5 for target in lost)
