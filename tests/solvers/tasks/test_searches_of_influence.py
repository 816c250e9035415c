"""Each partial influence needs a search of its own: they share what is made for them, and how long they may take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, load_urdf, random_configuration
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import (
    AxisTask,
    CenterOfMassTask,
    ClearanceTask,
    DistanceTask,
    IKProblem,
    PoseTask,
    PositionTask,
    Task,
    Tracker,
    solve_ik,
)
from robokin_addon.solvers.criteria import JointSprings, Manipulability, SmallestSingularValue
from robokin_addon.solvers.descent import work
from robokin_addon.solvers.descent.engine import Outcome
from robokin_addon.solvers.descent.native_stack import NativeStack
from robokin_addon.solvers.ik import problem as solving
from robokin_addon.solvers.ik.tip_ik import TipIK
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.optimum import native as optimum
from robokin_addon.solvers.tasks import Rows
from robokin_addon.solvers.velocity.native import NativeStep
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.engine.goals import random_goal
from support.few import rest_slow, these_slow
from support.problems.obstructed import random_scene
from support.random_problems.random_trees import random_robot
from support.robots import robot

BENT = np.array([0.4, -0.5, 0.3, -2.0, 0.2, 1.6, 0.8, 0.0])
BACKENDS = ("native", "numpy")


def fading_stack(model: RobotModel, seed: int) -> tuple[list[Task], list[object], list[float], Array]:
    """Two tasks at each of three levels, that no pose meets together, influences of all kinds, and a start."""
    rng = np.random.default_rng([seed, 31])
    goals = [random_goal(rng, model, level) for level in (1, 1, 2, 2, 3, 3)]
    targets = [goal.at(random_configuration(model, rng)) for goal in goals]
    influence = rng.permutation([0.0, 0.2, 0.5, 0.8, 1.0, 1.0]).tolist()
    return [goal.task for goal in goals], targets, influence, random_configuration(model, rng)


@pytest.mark.parametrize("seed", range(12))
def test_both_backends_see_the_same_at_a_pose(seed: int) -> None:
    model = random_robot(7300 + seed % 4, 7, ("fixed", "floating")[seed % 2])
    tasks, targets, influence, q = fading_stack(model, seed)
    apart = {i: model.limits.clamp(q) for i, share in enumerate(influence) if 0.0 < share < 1.0}
    points = []
    for backend in ("native", "numpy"):
        search = IKProblem(model, tasks, backend=backend).level_search
        aims = search.levels.checked_targets(targets)
        poses = search.poses(aims, q, influence, search.remaining(aims, q, influence, apart))
        points.append(poses.point(random_configuration(model, np.random.default_rng(seed))))
    native, numpy = points
    np.testing.assert_allclose(native.residuals, numpy.residuals, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(native.errors, numpy.errors, rtol=1e-9, atol=1e-12)
    for one, other in zip(native.levels, numpy.levels, strict=True):
        np.testing.assert_allclose(one.J, other.J, rtol=0.0, atol=1e-9)


def test_rows_that_the_kernel_knows_are_not_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(TaskLevels, "rows", lambda *arguments: asked.append(arguments))
    model = load_urdf(robot("panda"))
    tasks, targets, influence, q = fading_stack(model, 1)
    found = IKProblem(model, tasks, [JointSprings()], "native").solve(targets, q, influence=influence, diagnose=False)
    assert not found.converged and not asked


@pytest.mark.parametrize("partial", [1, 5])
def test_searches_share_their_rows(partial: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One set for poses, one for searches, one for the criteria, however many influences are partial."""
    made: list[object] = []

    def init(self: NativeStep, *arguments: object, of: object = NativeStep.__init__, **options: object) -> None:
        made.append(self)
        of(self, *arguments, **options)  # type: ignore[operator]

    monkeypatch.setattr(NativeStep, "__init__", init)
    model = load_urdf(robot("panda"))
    tasks, targets, _, q = fading_stack(model, 1)
    influence = [0.1 + 0.15 * i if i < partial else 1.0 for i in range(len(tasks))]
    IKProblem(model, tasks, [JointSprings()], "native").solve(targets, q, influence=influence, diagnose=False)
    assert len(made) <= 3


@pytest.mark.parametrize("seed", rest_slow(range(8), 4))
def test_what_was_solved_before_has_no_say(seed: int) -> None:
    """Of the searches that share their rows, each has those of its own influences."""
    model = random_robot(7300 + seed % 4, 7, ("fixed", "floating")[seed % 2])
    tasks, targets, influence, q = fading_stack(model, seed)
    used, new = (IKProblem(model, tasks, [SmallestSingularValue()], "native") for _ in range(2))
    for other in ([1.0] * 6, influence[::-1]):
        used.solve(targets, q, influence=other, diagnose=False)
    found, expected = (each.solve(targets, q, influence=influence, diagnose=False) for each in (used, new))
    np.testing.assert_array_equal(found.q, expected.q)
    np.testing.assert_array_equal(found.residual_array, expected.residual_array)


@pytest.mark.parametrize("before", [[1.0, 0.0], [1.0, 0.5]])
def test_a_clearance_that_counted_less_before_is_the_kernels_again(before: list[float]) -> None:
    collisions, q, other = random_scene(np.random.default_rng(0))
    tool = forward_kinematics(collisions.model, other)["tool"][:3, 3]
    tasks = [PositionTask("tool", tool, priority=2), ClearanceTask(collisions, 0.2)]
    used, new = (IKProblem(collisions.model, tasks, backend="native") for _ in range(2))
    used.solve(None, q, influence=before, diagnose=False)
    found, expected = (each.solve(None, q, diagnose=False) for each in (used, new))
    np.testing.assert_array_equal(found.q, expected.q)


class OwnRows(PositionTask):
    """Whose rows the kernel does not know."""

    def rows(self, state: State, target: Array) -> Rows:
        return super().rows(state, target)


def test_room_for_rows_that_the_kernel_does_not_know_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while the task has no influence: a search that is short of it is made twice."""
    ended: list[bool] = []

    def is_done(self: NativeStack, of: Callable[[NativeStack], bool] = NativeStack.is_done) -> bool:
        ended.append(of(self))
        return ended[-1]

    monkeypatch.setattr(NativeStack, "is_done", is_done)
    model = load_urdf(robot("panda"))
    tasks: list[Task] = [OwnRows("panda_link8", (2, 0, 0)), PositionTask("panda_link4", (1, 1, 1), priority=2)]
    IKProblem(model, tasks, backend="native").solve(None, BENT, influence=[0.5, 0.7], diagnose=False)
    assert ended and all(ended)


@pytest.mark.parametrize("own", rest_slow([0.5, 1.0]))
def test_frames_that_are_given_an_influence_have_it_all(own: float) -> None:
    """Of a task on the whole robot, whose targets change the rows in each frame."""
    model = load_urdf(robot("panda"))
    hand = forward_kinematics(model, BENT)["panda_link8"][:3, 3]
    tasks = [PositionTask("panda_link8", hand), CenterOfMassTask((0.0, 0.0, 0.4), influence=own)]
    aims = [[hand + 0.01 * k, np.array([0.005 * k, 0.005 * k, 0.4 + 0.002 * k])] for k in range(10)]
    found = []
    for backend, frames in (("native", 10), ("native", 1), ("numpy", 10)):
        tracker = Tracker(model, tasks, 0.04, backend)
        tracker.stand(BENT)
        targets, shares = tracker.check_targets(aims), np.ones((10, 2))
        parts = [slice(k, k + frames) for k in range(0, 10, frames)]
        found.append(np.concatenate([tracker.run(targets[part], shares[part]).q for part in parts]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], found[2], rtol=0.0, atol=1e-8)


def test_frames_that_the_kernel_refuses_have_the_influence_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """From one of them on the rows of its task are made here, and what is aimed at is begun anew."""
    known = DistanceTask.tip_target

    def tip_target(self: DistanceTask, target: Any, numbers: Array) -> bool | None:
        return None if target[0] > 9.0 else known(self, target, numbers)

    monkeypatch.setattr(DistanceTask, "tip_target", tip_target)
    model = load_urdf(robot("panda"))
    place = forward_kinematics(model, BENT)["panda_link8"][:3, 3]
    tasks = [PositionTask("panda_link8", place), DistanceTask("panda_link5", 0.5, None, (0, 0, 0), influence=0.5)]
    aims: list[list[Any]] = [[place, 10.0 if k == 2 else 0.5 + 0.01 * k] for k in range(6)]
    found = []
    for frames in (6, 1):
        tracker = Tracker(model, tasks, 0.04, "native")
        tracker.stand(BENT)
        targets, shares = tracker.check_targets(aims), np.ones((6, 2))
        parts = [slice(k, k + frames) for k in range(0, 6, frames)]
        found.append(np.concatenate([tracker.run(targets[part], shares[part]).q for part in parts]))
    np.testing.assert_allclose(*found, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_a_task_that_is_given_influence_0_is_as_if_it_were_not_there(seed: int) -> None:
    """To the last bit, whatever was asked for before."""
    model = random_robot(7300 + seed % 4, 7, ("fixed", "floating")[seed % 2])
    tasks, targets, influence, q = fading_stack(model, seed)
    criteria = [[], [JointSprings()], [SmallestSingularValue()]][seed % 3]
    problem, counting = IKProblem(model, tasks, criteria, "native"), np.flatnonzero(influence)
    problem.solve(targets, q, influence=influence[::-1], diagnose=False)
    found = problem.solve(targets, q, influence=influence, diagnose=False)
    alone = IKProblem(model, [tasks[i] for i in counting], criteria, "native")
    wanted = alone.solve([targets[i] for i in counting], q, influence=[influence[i] for i in counting], diagnose=False)
    np.testing.assert_array_equal(found.q, wanted.q)
    np.testing.assert_array_equal(found.residual_array[counting], wanted.residual_array)
    assert found.diagnosis.status is wanted.diagnosis.status and not np.delete(found.residual_array, counting, 0).any()


@pytest.mark.parametrize("seed", these_slow(range(6), 3, 5))
def test_searches_share_their_steps(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few steps, as of robots with many degrees of freedom, which take long: on both backends the same are taken, and
    no more than the first attempt at each level and what brings it as near as it can be."""
    model = random_robot(7300 + seed % 4, 7, ("fixed", "floating")[seed % 2])
    tasks, targets, _, q = fading_stack(model, seed)
    influence = [0.3, 0.5, 0.7, 0.9, 0.4, 0.6]
    found = {}
    for backend, steps in (("native", 7000), ("native", 40), ("numpy", 40)):
        monkeypatch.setattr(work, "STEPS", steps)
        problem = IKProblem(model, tasks, backend=backend)
        found[backend, steps] = problem.solve(targets, q, influence=influence, diagnose=False)
    few, twin = found["native", 40], found["numpy", 40]
    assert few.attempts == twin.attempts <= 3 and found["native", 7000].attempts > 3
    assert few.status == twin.status and model.limits.contain(few.q).all()
    np.testing.assert_allclose(few.q, twin.q, rtol=0.0, atol=1e-6)


def test_a_search_takes_a_part_of_what_is_left() -> None:
    """The last one all of it, and of one search everything is its own."""
    shared = work.Work(4, 0, 7)
    parts, total = [], work.STEPS / (1.0 + 3.0 * work.OTHERS)
    for used in (0.0, 1.0, 1.0, 1.0):
        shared.begin()
        parts.append(float(shared.steps[0]) / total)
        shared.steps[0] *= 1.0 - used
    np.testing.assert_allclose(parts, [1 / 3, 1 / 3, 1 / 3, 1 / 3])
    alone = work.Work(1, 1000, 7)
    alone.begin()
    np.testing.assert_allclose(alone.steps, work.STEPS, rtol=1e-12)
    assert alone.poses(0, 0) == 1000


def test_steps_leave_some_poses_to_an_optimum() -> None:
    """Fewer where criteria look at many rows; searches without criteria have as many steps in all, and no poses."""
    left = []
    for poses, rows, looked in ((1000, 0, 0), (1000, 40, 0), (1000, 40, 40), (0, 0, 0)):
        spent = work.Work(1, poses, 7)
        spent.begin()
        np.testing.assert_allclose(spent.steps, work.STEPS, rtol=1e-12)
        spent.steps[0] = 0.0
        left.append(spent.poses(rows, looked))
    assert abs(left[0] - 1000 / work.KEPT) <= 1 and left[0] > 4 * left[1] > 8 * left[2] > 0 and left[3] == 0


@pytest.mark.parametrize("seed", range(4))
def test_a_first_level_out_of_reach_is_searched_for_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All searches have it whole, and what is as good as it can be for one is for all: as it is alone."""
    asked: list[object] = []

    def solve(self: TipIK, *arguments: object, of: Callable[..., Outcome] = TipIK.solve, **options: object) -> Outcome:
        asked.append(arguments)
        return of(self, *arguments, **options)

    monkeypatch.setattr(TipIK, "solve", solve)
    model, rng = load_urdf(robot("panda")), np.random.default_rng(seed)
    q = model.limits.clamp(BENT)
    goal = PositionTask("panda_link8", rng.normal(size=3) + np.array([0.0, 0.0, 4.0]))
    others = ((link, rng.normal(size=3), 0.3 * i) for i, link in enumerate(("panda_link4", "panda_link6"), 1))
    tasks = [goal, *(PositionTask(link, place, influence=share, priority=2) for link, place, share in others)]
    found = IKProblem(model, tasks, backend="native").solve(None, q, seed, diagnose=False)
    assert len(asked) == 1
    alone = IKProblem(model, [goal], backend="native").solve(None, q, seed, diagnose=False)
    np.testing.assert_allclose(found.residual_array[0], alone.residual_array[0], rtol=0.0, atol=1e-6)


def test_only_the_pose_that_is_answered_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a solve says of its pose, and why criteria did not come to their optimum there."""
    model, counts = load_urdf(robot("panda")), {"described": 0, "explained": 0}

    def counting(name: str, function: object) -> object:
        def counted(*arguments: object) -> object:
            counts[name] += 1
            return function(*arguments)  # type: ignore[operator]

        return counted

    monkeypatch.setattr(solving, "describe", counting("described", solving.describe))
    monkeypatch.setattr(optimum, "unbounded", counting("explained", optimum.unbounded))
    monkeypatch.setattr(optimum.KernelOptimum, "find", stopping_early(optimum.KernelOptimum.find))
    for seed in (1, 2, 3):
        tasks, targets, influence, q = fading_stack(model, seed)
        problem = IKProblem(model, tasks, [Manipulability()], "native")
        assert not problem.solve(targets, q, influence=influence, diagnose=False).converged
    assert counts == {"described": 3, "explained": 0}


def stopping_early(find: object) -> object:
    def found(*arguments: object) -> object:
        q, outcome = find(*arguments)  # type: ignore[operator]
        outcome.code = 1
        return q, outcome

    return found


@pytest.mark.parametrize("criterion", [SmallestSingularValue, Manipulability])
@pytest.mark.parametrize("fading", [PositionTask, AxisTask])
def test_criteria_see_the_first_level_of_each_search(panda: RobotModel, fading: type[Task], criterion: type) -> None:
    """Without the rows of a task that is not there. Of the others some depend on each other: how many singular values
    count is told anew."""
    T = forward_kinematics(panda, BENT)
    hand, elbow = T["panda_link8"], T["panda_link4"]
    target = (elbow[:3, 3] + (0.05, 0.05, 0.0),) if fading is PositionTask else ((0, 0, 1), elbow[:3, 0])
    tasks = [
        PoseTask("panda_link8", hand),
        PoseTask("panda_link8", hand),
        fading("panda_link4", *target, influence=0.5),
    ]
    found = [IKProblem(panda, tasks, [criterion()], each).solve(q0=BENT, diagnose=False) for each in BACKENDS]
    np.testing.assert_allclose(found[0].q, found[1].q, rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_robot_without_moving_joints_has_its_pose(backend: str) -> None:
    model = RobotModel("still", [Link("a"), Link("b")], [Joint("joint", "fixed", "a", "b")])
    near, far = (PositionTask("b", (x, 0, 0), influence=0.5) for x in (0.0, 1.0))
    assert solve_ik(model, [near], backend=backend).converged
    assert not solve_ik(model, [near, far], backend=backend).converged
