"""The kernel and its NumPy twin, field by field; batches, threads and seeds."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel, center_of_mass
from robokin_addon.robokin.configuration import random_configuration
from robokin_addon.robokin.kinematics import forward_kinematics
from robokin_addon.solvers import CenterOfMassTask, IKProblem, OrientationTask, PoseTask, SolveResult, Status, Task
from support.engine.robots import engine_robot
from support.few import rest_slow
from support.random_problems.random_arms import random_arm
from support.random_problems.random_tasks import every_motion, random_task
from support.random_problems.random_trees import random_robot


def _case(seed: int) -> tuple[RobotModel, list[Task], np.ndarray]:
    """A random tree and start; in every third case the tasks are wanted of different configurations."""
    rng = np.random.default_rng(seed)
    with every_motion() as types:
        if seed % 2:  # without free joints it is harder to meet
            types = tuple(kind for kind in types if kind not in ("floating", "test_ball", "planar"))
        model = random_robot(seed, int(rng.integers(2, 14)), str(rng.choice(["fixed", "floating", "planar"])), types)
        _ = model.tree, model.is_length  # found while the types exist
    q = random_configuration(model, rng)
    tasks = []
    for _ in range(rng.integers(1, 4)):
        tasks.append(random_task(rng, model, q))
        if seed % 3 == 0:
            q = random_configuration(model, rng)
    start = random_configuration(model, rng) + 0.3 * rng.normal(size=model.nq)
    return model, tasks, model.check_configuration(start)


def _both(
    model: RobotModel, tasks: list[Task], start: np.ndarray | None, attempts: int, seed: int
) -> list[SolveResult]:
    return [
        IKProblem(model, tasks, backend=backend, attempts=attempts).solve(q0=start, seed=seed, diagnose=False)
        for backend in ("native", "numpy")
    ]


@pytest.mark.parametrize("seed", rest_slow(range(60), 20))
def test_kernel_equals_reference(seed: int) -> None:
    model, tasks, start = _case(seed)
    native, numpy = _both(model, tasks, None if seed % 2 else start, 4, seed)
    assert native.status is numpy.status
    if native.converged:
        assert (native.iterations, native.attempts) == (numpy.iterations, numpy.attempts)
        np.testing.assert_allclose(native.q, numpy.q, atol=1e-6)
        np.testing.assert_allclose(native.residual_array, numpy.residual_array, atol=1e-7)
    # A failed search ends in a flat minimum, where rounding decides how far the last steps go.
    np.testing.assert_allclose(native.residual_array, numpy.residual_array, atol=2e-3)


def test_kernel_equals_reference_through_many_restarts() -> None:
    """An arm of six joints with narrow ranges: about every second target needs restarts."""
    model = random_arm(46)
    tip = model.links[-1].name
    rng = np.random.default_rng(0)
    attempts = []
    for _ in range(12):
        T = forward_kinematics(model, random_configuration(model, rng))[tip]
        native, numpy = _both(model, [PoseTask(tip, T)], None, 20, 7)
        assert (native.status, native.attempts) == (numpy.status, numpy.attempts)
        assert native.iterations == numpy.iterations or not native.converged
        attempts.append(native.attempts)
    assert max(attempts) > 3


@pytest.mark.parametrize("seed", rest_slow([1, 7, 0, 2, 5, 6]))
def test_rounding_at_limits_draws_no_other_restarts(seed: int) -> None:
    """Attempts that end at limits, of a centre of mass that is out of reach."""
    model = engine_robot("icub")
    q = model.limits.clamp(model.neutral())
    target = center_of_mass(model, q) + 0.5 * np.random.default_rng(seed).normal(size=3)
    native, numpy = _both(model, [CenterOfMassTask(target)], q, 30, seed)
    assert (native.attempts, native.iterations) == (numpy.attempts, numpy.iterations)
    np.testing.assert_allclose(native.q, numpy.q, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("seed", rest_slow(range(60), 20))
def test_best_effort_is_inside_the_limits_and_is_what_the_residuals_say(seed: int, backend: str) -> None:
    model, tasks, start = _case(seed + 100)
    problem = IKProblem(model, tasks, backend=backend, attempts=4)
    result = problem.solve(q0=start, seed=seed, diagnose=False)
    assert (result.q >= model.lower).all() and (result.q <= model.upper).all()
    frames = forward_kinematics(model, result.q, backend="numpy")
    for task, residual in zip(tasks, result.residual_array, strict=True):
        T = frames[task.link] @ task.offset
        e, _ = task.tip_rows(T, task.target)
        if task.frame == "tip":
            e = np.concatenate((T[:3, :3].T @ e[:3], T[:3, :3].T @ e[3:]))
        e *= task.weights != 0.0
        np.testing.assert_allclose([np.linalg.norm(e[:3]), np.linalg.norm(e[3:])], residual, atol=1e-9)
    tolerances = [(task.position_tolerance, task.orientation_tolerance) for task in tasks]
    assert result.converged == (result.residual_array <= tolerances).all()


def _batch(count: int = 60) -> tuple[IKProblem, np.ndarray, np.ndarray]:
    model = random_robot(1, 12, types=("revolute", "revolute", "prismatic"), mimics=0.1)
    rng = np.random.default_rng(0)
    links = model.link_names[7], model.link_names[10]
    problem = IKProblem(model, [PoseTask(link, np.eye(4)) for link in links], backend="native", attempts=10)
    targets = []
    for _ in range(count):
        frames = forward_kinematics(model, random_configuration(model, rng))
        targets.append([frames[link] for link in links])
    starts = np.array([random_configuration(model, rng) for _ in range(count)])
    return problem, np.array(targets), starts


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_batch_is_bit_equal_to_single_solves_for_any_number_of_threads(backend: str) -> None:
    problem, targets, starts = _batch(60 if backend == "native" else 4)
    problem = IKProblem(problem.model, problem.tasks, backend=backend, attempts=10)
    for q0 in (None, starts[0], starts):
        one, two = (problem.solve_batch(targets, q0, seed=3, threads=threads) for threads in (1, 2))
        for name in ("q", "residuals", "iterations", "attempts"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        for i, target in enumerate(targets):
            own = starts[i] if q0 is starts else q0
            single = problem.solve(target, own, seed=3, diagnose=False)
            np.testing.assert_array_equal(single.q, one.q[i])
            np.testing.assert_array_equal(single.residual_array, one.residuals[i])
            assert (single.status, single.iterations) == (one.status[i], one.iterations[i])


def test_seeds_choose_the_restarts() -> None:
    problem, targets, _ = _batch()
    first, again, other = (problem.solve_batch(targets, seed=seed).q for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_a_seed_counts_only_when_the_first_attempt_fails() -> None:
    """What the guide says of Seed: from the same start another seed is no other posture, but where restarts are."""
    problem, targets, _ = _batch()
    first, other = (problem.solve_batch(targets, seed=seed) for seed in (1, 2))
    at_once = first.attempts == 1
    assert 0 < at_once.sum() < len(targets)
    np.testing.assert_array_equal(first.q[at_once], other.q[at_once])
    again = ~at_once & first.converged & other.converged
    assert (first.q[again] != other.q[again]).any()


def test_prepared_problem_equals_a_new_one_and_keeps_its_own_targets() -> None:
    problem, targets, _ = _batch(3)
    results = [problem.solve(target) for target in targets]
    for target, result in zip(targets, results, strict=True):
        tasks = [PoseTask(t.link, T) for t, T in zip(problem.tasks, target, strict=True)]
        np.testing.assert_array_equal(
            IKProblem(problem.model, tasks, backend="native", attempts=10).solve().q, result.q
        )
    np.testing.assert_array_equal(problem.search.goal(None), [np.eye(4)] * 2)


def test_coordinates_that_no_task_needs_keep_their_start() -> None:
    problem, targets, starts = _batch(5)
    needed = problem.search.data.q_index
    others = np.setdiff1d(np.arange(problem.model.nq), needed)
    assert len(others)
    result = problem.solve_batch(targets, starts)
    kept = np.clip(starts, problem.model.lower, problem.model.upper)[:, others]
    np.testing.assert_array_equal(result.q[:, others], kept)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_angles_without_bounds_stay_within_half_a_turn_of_the_start(backend: str) -> None:
    model = random_robot(3, 7, types=("continuous",), branching=0.0, mimics=0.0)
    tip = model.link_names[-1]
    problem = IKProblem(model, [PoseTask(tip, np.eye(4))], backend=backend)
    rng = np.random.default_rng(0)
    for _ in range(60 if backend == "native" else 8):
        q0 = random_configuration(model, rng) + 20.0
        T = forward_kinematics(model, random_configuration(model, rng))[tip]
        result = problem.solve(T[None], q0=q0)
        assert result.converged
        assert abs(result.q - q0).max() <= np.pi + 1e-9
        np.testing.assert_allclose(forward_kinematics(model, result.q)[tip], T, atol=3e-5)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_turns_matter_where_another_joint_follows_by_a_fraction(backend: str) -> None:
    half = Mimic("joint1", 0.5)
    model = RobotModel("pair", [Link("a"), Link("b"), Link("c")], [
        Joint("joint1", "continuous", "a", "b"),
        Joint("joint2", "continuous", "b", "c", mimic=half),
    ])  # fmt: skip
    for q in (3.5, -6.0):
        R = forward_kinematics(model, np.array([q]))["c"][:3, :3]
        result = IKProblem(model, [OrientationTask("c", R)], backend=backend).solve(q0=np.array([q + 0.3]))
        assert result.q[0] == pytest.approx(q, abs=1e-5)
        assert not IKProblem(model, [OrientationTask("c", R)], backend=backend).search.data.periodic.any()


def test_empty_batch() -> None:
    problem, targets, _ = _batch(1)
    result = problem.solve_batch(targets[:0])
    assert len(result) == 0 and result.q.shape == (0, problem.model.nq)


def test_batch_without_tasks_is_empty_of_claims() -> None:
    model = random_robot(5, 4)
    result = IKProblem(model, []).solve_batch(np.zeros((2, 0, 4, 4)))
    assert result.status == [Status.EMPTY] * 2
