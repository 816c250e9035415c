"""What a diagnosis asks again and again: whether all can be met. It is told at once, and as a whole search tells it."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.solvers import IKProblem, LoopClosureTask, PositionTask
from robokin_addon.solvers.ik.diagnosis import BUDGET, LOOKS
from robokin_addon.solvers.ik.level_ik import ITERATIONS, TRIALS, LevelIK
from robokin_addon.solvers.results import Status
from support.engine.stacks import FRAMES, engine_stack

SEEDS = range(12)


def searches(robot: str, backend: str, seed: int) -> tuple[LevelIK, Any, np.ndarray]:
    """Of a stack of levels at one of its frames: the search, its targets and where it starts (nq,)."""
    stack = engine_stack(robot, seed)
    search = IKProblem(stack.model, stack.tasks, backend=backend).search
    assert isinstance(search, LevelIK)
    return search, search.levels.checked_targets(stack.targets[seed % FRAMES]), search.start(stack.q0)


@pytest.mark.parametrize(("robot", "backend"), [("talos", "native"), ("panda", "native"), ("planar 4R", "numpy")])
def test_a_trial_meets_what_a_search_meets_and_settles_nothing(robot: str, backend: str) -> None:
    """A search that fails brings each level as near as it can be, by hundreds of steps which a trial spares."""
    met = longer = 0
    for seed in SEEDS:
        search, targets, start = searches(robot, backend, seed)
        poses, gaps = search.poses(targets, start), search.excess(targets)
        whole, steps, _ = search._search_from(poses, start, seed, TRIALS, gaps)
        tried, fewer, _ = search._search_from(poses, start, seed, TRIALS, gaps, is_trial=True)
        assert tried.is_met == whole.is_met
        if whole.is_met:
            np.testing.assert_array_equal(tried.q, whole.q)
        assert fewer <= TRIALS * ITERATIONS * search.count and fewer <= steps
        met, longer = met + whole.is_met, longer + (steps > 2 * fewer)
    assert met > 1 and longer > 0


def test_a_diagnosis_of_levels_takes_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a humanoid each is about 0.1 ms."""
    steps: list[int] = []
    search_from = LevelIK._search_from

    def counted(self: LevelIK, *arguments: Any, **options: Any) -> Any:
        found = search_from(self, *arguments, **options)
        steps.append(found[1])
        return found

    monkeypatch.setattr(LevelIK, "_search_from", counted)
    taken = []
    for seed, frame in product(range(6), (3, 12, 20)):
        stack = engine_stack("humanoid", seed)
        result = IKProblem(stack.model, stack.tasks).solve(stack.targets[frame], stack.q0, diagnose=False)
        if not result.converged:
            steps.clear()
            result.diagnose()
            assert len(steps) <= BUDGET + LOOKS
            taken.append(sum(steps))
    assert len(taken) > 4
    assert max(taken) < 1200 and np.mean(taken) < 600, taken


def test_trials_do_not_close_loops_to_the_last_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is only asked whether all can be met; what a solve returns has its loops closed as nearly as can be."""
    model = library_robot("mobile_arm")
    q, closed = model.limits.middle(model.neutral()), []
    T = forward_kinematics(model, q)
    loop = LoopClosureTask("tool", "link_1", other_offset=np.linalg.inv(T["link_1"]) @ T["tool"])
    place = PositionTask("tool", T["tool"][:3, 3] + (0.1, 0.2, -0.1))
    problem = IKProblem(model, [loop, place, PositionTask("link_3", T["link_3"][:3, 3] + 0.1, priority=2)])

    def counted(self: LevelIK, *arguments: Any, of: Any = LevelIK._closed) -> Any:
        closed.append(arguments)
        return of(self, *arguments)

    monkeypatch.setattr(LevelIK, "_closed", counted)
    result = problem.solve(q0=q, diagnose=False)
    assert len(closed) == 1 and not result.converged
    result.diagnose()
    assert len(closed) == 1 and result.status != Status.OUT_OF_REACH
