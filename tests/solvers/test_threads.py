"""Threads that solve one problem at a time, or look for reasons of its failures, do not disturb each other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, library_robot, random_configuration
from robokin_addon.solvers import IKProblem, PoseTask, PositionTask, PostureTask, SolveResult
from robokin_addon.solvers.criteria import JointSprings

THREADS, TARGETS, ROUNDS = 4, 12, 5


@pytest.fixture(autouse=True)
def _many_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def said(result: SolveResult) -> tuple[object, ...]:
    return result.status, result.reason, result.q.tobytes(), result.residual_array.tobytes(), result.iterations


@pytest.mark.parametrize("which", ["one task", "levels and a criterion"])
def test_threads_take_turns(which: str) -> None:
    model = library_robot("panda")
    rng, q = np.random.default_rng(5), model.limits.middle(model.neutral())
    places = [forward_kinematics(model, random_configuration(model, rng)) for _ in range(TARGETS)]
    if which == "one task":
        problem = IKProblem(model, [PoseTask("tool", np.eye(4))])
        targets: list[list[object]] = [[T["tool"]] for T in places]
    else:
        tasks = [PositionTask("tool", (0, 0, 0)), PositionTask("link_4", (0, 0, 0)), PostureTask(q, priority=2)]
        problem = IKProblem(model, tasks, [JointSprings()], attempts=4)
        targets = [[T["tool"][:3, 3], T["link_4"][:3, 3] + 0.1 * (i % 2), q] for i, T in enumerate(places)]
    alone = [said(problem.solve(target, q)) for target in targets]
    order = [i for seed in range(ROUNDS) for i in np.random.default_rng(seed).permutation(TARGETS).tolist()]
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda i: said(problem.solve(targets[i], q)), order * THREADS))
        later = [problem.solve(target, q, diagnose=False) for target in targets]
        reasons = list(pool.map(SolveResult.diagnose, later))
    assert found == [alone[i] for i in order * THREADS]
    assert [(each.status, each.reason) for each in reasons] == [each[:2] for each in alone]
