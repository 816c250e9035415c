"""Random robots, tasks, levels, limits and criteria: every claim of a solve is told again from Pinocchio's frames.

ROBOKIN_SOLVES=100000 pytest -m slow tests/solvers/ik/test_random_solves.py solves so many; 300 unless given.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from robokin_addon.solvers import Status
from support.random_problems.random_solves import faults, random_problem

SOLVES = int(os.environ.get("ROBOKIN_SOLVES", "300"))
CHUNK = 50
REACHED = 0.97  # of the hierarchies that some pose meets, at least; without levels it is all but one in a thousand


def _told(seeds: range) -> tuple[int, int]:
    """How many problems that some pose meets there were, and how many of them converged; nothing that is claimed of any
    is wrong."""
    met = []
    for seed in seeds:
        problem = random_problem(seed)
        result = problem.solve()
        assert faults(problem, result) == [], f"seed {seed}"
        if problem.reference is not None:
            met.append(result.converged)
    return len(met), sum(met)


def test_what_is_said_of_random_solves_is_true() -> None:
    known, converged = _told(range(20))
    assert known >= 5 and converged == known


@pytest.mark.parametrize(("seed", "status"), [(52352, Status.MAX_ITERATIONS), (81003144, Status.SINGULAR)])
def test_a_rank_that_only_some_poses_around_have_is_not_lost(seed: int, status: Status) -> None:
    """Past the end of a curve nothing is lost, though it was said once; where a distance is longest, a motion is."""
    problem = random_problem(seed)
    result = problem.solve()
    assert faults(problem, result) == [] and result.status is status


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SOLVES, CHUNK))
def test_many_random_solves(first: int) -> None:
    known, converged = _told(range(first, min(first + CHUNK, SOLVES)))
    assert converged >= REACHED * known - 1


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1060, 20))
def test_backends_agree_about_random_solves(first: int) -> None:
    """Where one attempt is enough, on the last digits of the pose; else on the status, but where rounding sends a
    restart to another minimum: of some hundred it does so in one."""
    others = []
    for seed in range(first, first + 20):
        problem = random_problem(seed)
        native, reference = (problem.solve(backend=backend, attempts=3) for backend in ("native", "numpy"))
        assert faults(problem, reference) == [], f"seed {seed}"
        if native.converged and native.attempts == 1:
            assert reference.attempts == 1, f"seed {seed}"
            np.testing.assert_allclose(native.q, reference.q, atol=1e-6, err_msg=f"seed {seed}")
        elif native.status != reference.status:
            others.append(seed)
    assert len(others) <= 1
