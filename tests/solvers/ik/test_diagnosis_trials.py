"""What a diagnosis asks again and again: whether all can be met. It is told at once, and as a whole search tells it."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, library_robot, random_configuration
from robokin_addon.solvers import IKProblem, JointTask, LoopClosureTask, PositionTask, PostureTask
from robokin_addon.solvers.descent.work import Work
from robokin_addon.solvers.ik.diagnosis import BUDGET, LOOKS
from robokin_addon.solvers.ik.level_ik import ITERATIONS, TRIALS, LevelIK
from robokin_addon.solvers.results import Status
from support.engine.stacks import FRAMES, engine_stack
from support.few import rest_slow

SEEDS = range(12)


def searches(robot: str, backend: str, seed: int) -> tuple[LevelIK, Any, np.ndarray]:
    """Of a stack of levels at one of its frames: the search, its targets and where it starts (nq,)."""
    stack = engine_stack(robot, seed)
    search = IKProblem(stack.model, stack.tasks, backend=backend).search
    assert isinstance(search, LevelIK)
    return search, search.levels.checked_targets(stack.targets[seed % FRAMES]), search.start(stack.q0)


def begun(search: LevelIK) -> Work:
    work = search.work()
    work.begin()
    return work


@pytest.mark.parametrize(
    ("robot", "backend"), rest_slow([("talos", "native"), ("panda", "native"), ("planar 4R", "numpy")], 2)
)
def test_a_trial_meets_what_a_search_meets_and_settles_nothing(robot: str, backend: str) -> None:
    """A search that fails brings each level as near as it can be, by hundreds of steps which a trial spares."""
    met = longer = 0
    for seed in SEEDS:
        search, targets, start = searches(robot, backend, seed)
        poses, gaps = search.poses(targets, start), search.excess(targets)
        whole, steps, _ = search._search_from(poses, start, seed, TRIALS, gaps, begun(search))
        tried, fewer, _ = search._search_from(poses, start, seed, TRIALS, gaps, begun(search), is_trial=True)
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


def placed_and_postured(model: RobotModel, seed: int) -> tuple[PositionTask, PostureTask, np.ndarray]:
    """A place, below it the posture that has it, and another configuration (nq,)."""
    rng = np.random.default_rng(seed)
    there, start = random_configuration(model, rng), random_configuration(model, rng)
    link = model.link_names[-1]
    place = PositionTask(link, forward_kinematics(model, there)[link][:3, 3])
    return place, PostureTask(there, priority=2), start


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_where_all_joint_values_are_asked_for_one_pose_is_looked_at(panda: RobotModel, backend: str) -> None:
    """Whatever else is asked for, it is met there or nowhere: one attempt tells."""
    for seed in SEEDS:
        place, posture, start = placed_and_postured(panda, seed)
        search = IKProblem(panda, [place, posture], backend=backend).search
        assert isinstance(search, LevelIK)
        targets = [place.target, posture.target]
        found = search.reached(targets, start, seed)
        assert found is not None and abs(found - posture.target).max() < 1e-4
        attempts: list[int] = []

        def counted(*arguments: Any, of: Any = search._search_from, to: list[int] = attempts, **options: Any) -> Any:
            end = of(*arguments, **options)
            to.append(end[2])
            return end

        search._search_from = counted  # type: ignore[method-assign]
        beside = place.target.copy()
        beside[:3, 3] += 0.01
        assert search.reached([beside, posture.target], start, seed) is None
        assert sum(attempts) <= 2  # of each level


def test_joint_values_that_leave_other_poses_are_no_only_one(panda: RobotModel) -> None:
    place, posture, start = placed_and_postured(panda, 0)
    one = JointTask(panda.moving_joints[0].name, 0.1, priority=2)
    names = [joint.name for joint in panda.moving_joints]
    wide = PostureTask(posture.target, angle_tolerance=0.1, length_tolerance=0.1, priority=2)
    banded = PostureTask(posture.target, band=0.1, priority=2)
    loose = PostureTask(posture.target, weights={names[1]: 0.0}, priority=2)
    partial = PostureTask(posture.target, influence=0.5, priority=2)
    for other in (one, wide, banded, loose, partial):
        search = IKProblem(panda, [place, other]).search
        assert search.only_pose([place.target, other.target], start) is None
    # The fingers beyond the wrist move no place of it.
    place = PositionTask("panda_link8", (0.3, 0.1, 0.5))
    arm = PostureTask({name: 0.1 for name in names if "finger" not in name}, priority=2)
    only = IKProblem(panda, [place, arm]).search.only_pose([place.target, arm.target], start)
    assert only is not None
    np.testing.assert_array_equal(only[:7], 0.1)
    np.testing.assert_array_equal(only[7:], start[7:])


def test_what_the_best_pose_meets_is_not_solved_for_again(panda: RobotModel, monkeypatch: pytest.MonkeyPatch) -> None:
    place, _, start = placed_and_postured(panda, 1)
    elbow = forward_kinematics(panda, random_configuration(panda, np.random.default_rng(7)))["panda_link4"]
    other = PositionTask("panda_link4", elbow[:3, 3], priority=2)
    solved: list[list[int]] = []
    some_tasks = IKProblem.some_tasks

    def counted(self: IKProblem, indices: list[int]) -> IKProblem:
        solved.append(list(indices))
        return some_tasks(self, indices)

    monkeypatch.setattr(IKProblem, "some_tasks", counted)
    problem = IKProblem(panda, [place, other, PostureTask(start, priority=3)])
    result = problem.solve(q0=start, diagnose=False)
    assert not result.converged
    solved.clear()
    result.diagnose()
    assert [1] in solved and [0] not in solved
