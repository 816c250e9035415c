"""The criteria's optimum of the kernel and of NumPy: the same claims and the same cost. The kernel's is stationary as
Pinocchio's frames, central differences and quadprog tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import quadprog
from robokin_addon.robokin import (
    Joint,
    Link,
    RobotModel,
    center_of_mass,
    forward_kinematics,
    in_limits,
    integrate,
    random_configuration,
)
from robokin_addon.robokin.arrays import Array
from robokin_addon.robokin.backend import ENVIRONMENT_VARIABLE
from robokin_addon.robokin.collision import CollisionModel, Obstacle, Sphere
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    CenterOfMassTask,
    ClearanceTask,
    DistanceTask,
    IKProblem,
    JointTask,
    LaserTask,
    MeshSurface,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    Plane,
    PoseTask,
    PositionTask,
    RelativePoseTask,
    SolveResult,
    Task,
    solve_ik,
)
from robokin_addon.solvers.criteria import (
    JointSprings,
    Manipulability,
    MinimumVelocity,
    Potential,
    RestPosture,
    SmallestSingularValue,
)
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.optimum.native import NativeOptimum, optimum_of
from robokin_addon.solvers.optimum.pose_problem import PoseProblem
from robokin_addon.solvers.optimum.sqp import UNMET_ITERATIONS, StaticOptimum, most_poses
from robokin_addon.solvers.progress import finish
from robokin_addon.solvers.tasks.tips.advance import Advance
from support.blender.every_task import every_task
from support.few import rest_slow
from support.oracles.task_oracle import TaskOracle
from support.problems.optimum_problems import OptimumProblem, optimum_problem, real

KKT, STEP = 1e-6, 1e-6


def _solved(problem: OptimumProblem, q0: Array, backend: str) -> SolveResult:
    solver = IKProblem(problem.model, problem.tasks, problem.criteria, backend)
    return solver.solve(q0=q0, diagnose=False)


def _posing(problem: OptimumProblem, backend: str = "auto") -> PoseProblem:
    solver = IKProblem(problem.model, problem.tasks, problem.criteria, backend)
    return PoseProblem(solver.search.levels, solver.search.levels.targets, problem.model.limits)


def _cost(problem: OptimumProblem, posing: PoseProblem, q: Array) -> float:
    state = posing.levels.state(q, posing.targets, 1.0)
    return sum(each.weight * each.gain * each.potential(state) for each in problem.criteria)


def _agree(kind: str, seeds: range) -> tuple[int, int, int]:
    """Of problems that start where the tasks are met: how many, how many end in the same optimum, and how many
    statuses differ. None breaks its promises."""
    count = same = others = 0
    for seed in seeds:
        problem = optimum_problem(seed, kind)
        posing = _posing(problem)
        native, numpy = (_solved(problem, problem.away, backend) for backend in ("native", "numpy"))
        costs = [_cost(problem, posing, result.q) for result in (native, numpy)]
        for result, cost in zip((native, numpy), costs, strict=True):
            assert (result.residual_array <= posing.tolerance).all(), f"seed {seed}"
            assert in_limits(problem.model, result.q), f"seed {seed}"
            assert cost <= _cost(problem, posing, problem.away) + 1e-9 * max(1.0, abs(cost)), f"seed {seed}"
            assert result.is_optimal is result.converged is (result.reason == "every task is met"), f"seed {seed}"
            assert not result.is_optimal or result.kkt_residual <= KKT, f"seed {seed}"
        count += 1
        same += abs(costs[0] - costs[1]) <= 1e-9 * max(1.0, abs(costs[1]))
        others += native.is_optimal is not numpy.is_optimal
    return count, same, others


@pytest.mark.parametrize("kind", rest_slow(["arm", "tree"]))
def test_kernel_and_numpy_find_the_same(kind: str) -> None:
    count, same, others = _agree(kind, range(6))
    assert same >= count - 1 and others == 0


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "first"), [("arm", 100), ("tree", 100), ("legged", 100), ("talos", 100)])
def test_kernel_and_numpy_find_the_same_of_many(kind: str, first: int) -> None:
    """Where a valley has several ends, or a cost falls without one, rounding chooses."""
    count, same, others = _agree(kind, range(first, first + (20 if kind == "arm" else 8)))
    assert same >= 0.85 * count and others <= 1


def _stationary(problem: OptimumProblem, posing: PoseProblem, q: Array) -> tuple[float, float]:
    """The least change of the slope that tasks and bounds hold back, and its size; all by differences."""
    model = problem.model
    oracle = TaskOracle(model, problem.away)

    def residual(there: Array) -> Array:
        own = [
            weight * e / (posing.levels.length if part.is_length else 1.0)
            for task in problem.tasks
            for e, weight, part in zip(oracle.errors(task, there), oracle.weights(task), task.parts, strict=True)
        ]
        return np.concatenate([np.atleast_1d(each).ravel() for each in own])

    sides = [[posing.integrated(q, side * STEP * unit) for side in (1.0, -1.0)] for unit in np.eye(model.nv)]
    slope = np.array([_cost(problem, posing, ahead) - _cost(problem, posing, back) for ahead, back in sides])
    J = np.array([residual(ahead) - residual(back) for ahead, back in sides]).T / (2.0 * STEP)
    slope /= 2.0 * STEP
    _, s, Vt = np.linalg.svd(J)
    Z = Vt[int((s > 1e-7 * s[0]).sum()) :].T
    if not Z.shape[1]:
        return 0.0, 1.0
    lo, hi, _ = posing.bounds(q)
    rows = np.vstack((Z[lo == 0.0], -Z[hi == 0.0]))
    wanted = -Z.T @ slope
    x = quadprog.solve_qp(np.eye(len(wanted)), wanted, rows.T, np.zeros(len(rows)))[0] if len(rows) else wanted
    return float(np.linalg.norm(x)), max(float(np.linalg.norm(slope)), 1e-3)


def _has_cones(model: RobotModel) -> bool:
    return bool(model.limits.cones) or any(
        joint.nq == 7 and np.isfinite(joint.lower).any() for joint in model.moving_joints
    )


@pytest.mark.parametrize("kind", rest_slow(["arm", "tree", "legged"], 2))
def test_optima_of_the_kernel_are_stationary(kind: str) -> None:
    checked = 0
    for seed in range(200, 220):
        problem = optimum_problem(seed, kind, bands=False, edges=False)
        if _has_cones(problem.model):
            continue
        result = _solved(problem, problem.away, "native")
        if not result.is_optimal:
            continue
        posing = _posing(problem)
        left, size = _stationary(problem, posing, result.q)
        rounding = 1e-15 * max(1.0, abs(_cost(problem, posing, result.q))) / STEP * np.sqrt(problem.model.nv)
        assert left <= KKT * size + rounding, f"seed {seed}"
        checked += 1
    assert checked >= 8


@pytest.mark.parametrize("kind", ["arm", "tree"])
def test_numpy_finds_the_optima_of_the_kernel_stationary(kind: str) -> None:
    """Edges, bands and cones included: by matrices of other making, and LAPACK. Where it moves along a flat valley or a
    nearly dependent task, that costs the same."""
    for seed in range(300, 315):
        problem = optimum_problem(seed, kind)
        result = _solved(problem, problem.start, "native")
        if not result.is_optimal:
            continue
        found, posing = _solved(problem, result.q, "numpy"), _posing(problem, "numpy")
        assert found.is_optimal, f"seed {seed}"
        assert abs(_cost(problem, posing, found.q) - _cost(problem, posing, result.q)) <= 1e-12, f"seed {seed}"


def _straight_arm() -> RobotModel:
    """Two links of 1 m that turn in the plane z = 0, and a tip that rolls about the second."""
    links = [Link("base"), Link("a"), Link("b"), Link("tip")]
    joints = [
        Joint("first", "revolute", "base", "a", axis=[0, 0, 1], lower=-3, upper=3),
        Joint("second", "revolute", "a", "b", placement=_shifted(1.0), axis=[0, 0, 1], lower=-3, upper=3),
        Joint("roll", "revolute", "b", "tip", placement=_shifted(1.0), axis=[1, 0, 0], lower=-3, upper=3),
    ]
    return RobotModel("straight", links, joints)


def _shifted(x: float) -> Array:
    T = np.eye(4)
    T[0, 3] = x
    return T


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_level_out_of_reach_leaves_what_does_not_move_it(backend: str) -> None:
    """The arm is stretched towards a target too far, which leaves its elbow no motion and its roll all."""
    tasks: list[Task] = [
        PositionTask("tip", [0, 0, 0], (0, 0, 1)),
        PositionTask("tip", [5, 0, 0], (1, 1, 0), priority=2),
    ]
    criteria = [RestPosture({"first": 0.4, "second": -0.7, "roll": 0.6})]
    solver = IKProblem(_straight_arm(), tasks, criteria, backend)
    result = solver.solve(q0=[0.3, 0.4, -1.0], diagnose=False)
    np.testing.assert_allclose(result.q, [0.0, 0.0, 0.6], atol=1e-3)
    assert result.is_optimal and result.kkt_residual <= KKT


def _conflict(robot: tuple[str, str], seed: int) -> OptimumProblem:
    """A link that a tip does not let where it should be, and the mass below both; `away`: the best pose for that."""
    rng = np.random.default_rng(seed)
    model = real(*robot)
    q = model.limits.clamp(random_configuration(model, rng))

    def place(link: str, spread: float) -> Array:
        there = model.limits.clamp(integrate(model, q, spread * rng.normal(size=model.nv)))
        return forward_kinematics(model, there)[link][:3, 3]

    parents = {joint.parent for joint in model.joints}
    tip = str(rng.choice([link for link in model.link_names if link not in parents]))
    link = str(rng.choice(model.link_names[2:]))
    tasks = [
        PositionTask(tip, place(tip, 0.3)),
        PositionTask(link, place(link, 0.8), priority=2),
        CenterOfMassTask(center_of_mass(model, q), (1, 0, 0), priority=3),
    ]
    best = IKProblem(model, tasks).solve(q0=q, diagnose=False).q
    return OptimumProblem(model, tasks, [JointSprings(), Manipulability()], q, best)


@pytest.mark.parametrize(
    ("robot", "seeds", "count", "backends"),
    [
        (("panda", "fixed"), range(16), 13, ("native",)),
        pytest.param(("panda", "fixed"), range(5), 4, ("native", "numpy"), marks=pytest.mark.slow),
        (("solo12", "fixed"), range(12), 4, ("native",)),
        (("solo12", "fixed"), range(5), 1, ("native", "numpy")),
        (("talos_reduced", "fixed"), range(12), 3, ("native",)),
    ],
)
def test_criteria_among_conflicting_levels(
    robot: tuple[str, str], seeds: range, count: int, backends: tuple[str, ...]
) -> None:
    """The levels are met as before; what they leave free is brought to an optimum all the same, or given up soon."""
    found = 0
    for seed in seeds:
        problem, costs = _conflict(robot, seed), []
        for backend in backends:
            posing = _posing(problem, backend)
            start = posing.point(problem.away)
            if start.is_met or not start.met[0]:
                break
            optimum = finish(optimum_of(posing, problem.criteria).find(start, most_poses(problem.model.nv)))
            assert (optimum.point.met >= start.met).all(), f"seed {seed}"
            unmet = int(np.argmin(start.met))  # those above it may be met more exactly, which costs a little
            lacks = np.sqrt(2.0 * np.array([optimum.point.errors, start.errors]))[:, unmet]
            assert lacks[0] <= lacks[1] + 1e-5, f"seed {seed}"
            assert optimum.iterations <= UNMET_ITERATIONS
            found += optimum.is_optimal
            costs.append(_cost(problem, posing, optimum.point.q))
        assert np.ptp(costs or [0.0]) <= 1e-4, f"seed {seed}"
    assert found >= count * len(backends)


class _Own(RestPosture):
    """Of another maker."""


class _OwnEdge(SmallestSingularValue):
    """The same, of which the kernel would need more than a gradient."""


class _Broken(RestPosture):
    def potential(self, state: State) -> float:
        raise ZeroDivisionError("of another maker")


FLOOR = Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))


class _OwnSurface(Plane):
    """Of another maker."""


OWN = _OwnSurface((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
LINE = [[0.0, 0.0, 0.5], [0.5, 0.0, 0.5]]
TRIANGLE = MeshSurface([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, -1.0, 0.0]], [[0, 1, 2]])


@pytest.mark.parametrize(
    ("tasks", "criteria", "influence", "is_native"),
    [
        ([PoseTask("panda_hand", np.eye(4))], [JointSprings(), Manipulability(), MinimumVelocity()], None, True),
        ([PositionTask("panda_hand", (0, 0, 1))], [_Own(), JointSprings()], None, True),
        ([PositionTask("panda_hand", (0, 0, 1))], [_OwnEdge()], None, False),
        ([PositionTask("panda_hand", (0, 0, 1))], [JointSprings()], [0.5], True),
        ([PositionTask("panda_hand", (0, 0, 1))], [Manipulability()], [0.5], True),
        ([OnCurveTask("panda_hand", LINE)], [JointSprings()], None, True),
        ([CenterOfMassTask([0, 0, 0.3], (1, 0, 0))], [Manipulability()], None, True),
        ([DistanceTask("panda_hand", 0.3)], [SmallestSingularValue()], None, True),
        ([CenterOfMassTask([0, 0, 0.3], (1, 0, 0))], [SmallestSingularValue()], None, True),
        ([JointTask("panda_joint3", 0.3)], [SmallestSingularValue()], None, True),
        ([LaserTask("panda_hand", (0, 0, 1), (0, 0, 0), FLOOR)], [SmallestSingularValue()], None, True),
        ([LaserTask("panda_hand", (0, 0, 1), ((0, 0, 0), TRIANGLE), FLOOR)], [SmallestSingularValue()], None, True),
        ([LaserTask("panda_hand", (0, 0, 1), ((0, 0, 0), OWN), FLOOR)], [SmallestSingularValue()], None, False),
        ([OnCurveTask("panda_hand", LINE)], [SmallestSingularValue()], None, True),
        ([OnCurveTask("panda_hand", LINE, direction=(0, 0, 1), surface=FLOOR)], [SmallestSingularValue()], None, True),
        ([OnCurveTask("panda_hand", LINE, direction=(0, 0, 1), surface=OWN)], [JointSprings()], None, True),
        ([OnCurveTask("panda_hand", LINE, direction=(0, 0, 1), surface=OWN)], [SmallestSingularValue()], None, False),
    ],
)
def test_what_the_kernel_can_minimise(
    tasks: Sequence[Task], criteria: Sequence[Potential], influence: Sequence[float] | None, is_native: bool
) -> None:
    solver = IKProblem(real("panda", "fixed"), tasks, criteria, "native")
    posing = PoseProblem(solver.search.levels, solver.search.levels.targets, solver.limits, influence)
    assert isinstance(optimum_of(posing, solver.criteria), NativeOptimum if is_native else StaticOptimum)


@pytest.mark.parametrize("kind", ["curve", "near a line", "relative pose", "posture"])
def test_tasks_and_criteria_of_others(kind: str) -> None:
    """Python says what the kernel does not know."""
    model, rng = real("ur5_robot", "planar"), np.random.default_rng(5)
    q, away = (random_configuration(model, rng) for _ in range(2))
    tasks = [every_task(rng, model, q, away)[kind]]
    criteria = [_Own(away, weight=0.5), JointSprings(), Manipulability(weight=0.05)]
    results = [
        IKProblem(model, tasks, criteria, backend).solve(q0=q, diagnose=False) for backend in ("native", "numpy")
    ]
    assert all(result.converged and result.is_optimal for result in results)
    costs = [sum(each.weight * result.costs[each.name] for each in criteria) for result in results]
    assert costs[0] == pytest.approx(costs[1], rel=1e-7)


OF_ROWS = ["plane", "line", "curve", "relative", "distance", "no distance", "aim", "advance", "laser"]
OF_ROWS += ["center of mass", "joint"]


@pytest.mark.parametrize("kind", OF_ROWS)
@pytest.mark.parametrize("criterion", [Manipulability, SmallestSingularValue])
def test_criteria_on_the_rows_of_each_kind(kind: str, criterion: type[Potential]) -> None:
    """The same cost, and an optimum of the kernel that NumPy finds stationary."""
    model, hand = real("panda", "fixed"), "panda_hand"
    q = integrate(model, model.limits.middle(model.neutral()), 0.3 * np.random.default_rng(2).normal(size=model.nv))
    q = model.limits.clamp(q)
    T = forward_kinematics(model, q)
    p, along = T[hand][:3, 3], np.array((0.6, 0.0, 0.8))
    other = T["panda_link3"]
    tasks: dict[str, Task] = {
        "plane": OnPlaneTask(hand, (p, along)),
        "line": OnLineTask(hand, (p, along)),
        "curve": OnCurveTask(hand, [p - along, p + along, p + np.array((0.0, 3.0, 0.0))], closed=True),
        "relative": RelativePoseTask(hand, "panda_link3", np.linalg.inv(other) @ T[hand], 1.0, (0.0, 0.0, 1.0)),
        "distance": DistanceTask(hand, 0.4, "panda_link3", (0.1, 0.2, 0.0)),
        "no distance": DistanceTask(hand, 0.0, other_point=p),
        "aim": AimTask(hand, (0, 0, 1), p + 3.0 * T[hand][:3, 2]),
        "laser": LaserTask(hand, (0, 0, 1), p + T[hand][:3, 2], Plane(p + T[hand][:3, 2], (0, 0, 1))),
        "center of mass": CenterOfMassTask(center_of_mass(model, q), (1.0, 1.0, 0.0)),
        "joint": JointTask("panda_joint2", q[1]),
        "advance": AdvanceTask(hand, Advance(np.array((0.0, 0.05, 0.1)), T[hand]), (1.0, 0.0, 1.0)),
    }
    problem = OptimumProblem(model, [tasks[kind]], [criterion(), JointSprings(weight=0.1)], q, q)
    results = [_solved(problem, q, backend) for backend in ("native", "numpy")]
    assert [result.is_optimal for result in results] == [True, True]
    assert np.linalg.norm(results[0].q - q) > 0.01
    costs = [_cost(problem, _posing(problem), result.q) for result in results]
    assert costs[0] == pytest.approx(costs[1], rel=1e-8)
    solver = StaticOptimum(_posing(problem, "numpy"), problem.criteria)
    assert solver._look(_posing(problem, "numpy").point(results[0].q)).residual <= 2.0 * KKT


@pytest.mark.parametrize(
    ("influence", "criterion"),
    [
        *(((0.6, 0.4), each) for each in (JointSprings, Manipulability, SmallestSingularValue)),
        ((1.0, 0.4), Manipulability),
        ((0.6, 0.0), SmallestSingularValue),
    ],
)
def test_tasks_of_partial_influence(influence: Sequence[float], criterion: type[Potential]) -> None:
    model = real("panda", "fixed")
    tasks = [PositionTask("panda_hand", (0.4, 0.1, 0.5)), PositionTask("panda_link4", (0, 0.2, 0.6), priority=2)]
    criteria = [criterion(), JointSprings(weight=0.1)]
    solvers = [IKProblem(model, tasks, criteria, backend) for backend in ("native", "numpy")]
    results = [solver.solve(influence=influence, diagnose=False) for solver in solvers]
    assert [result.is_optimal for result in results] == [True, True]
    np.testing.assert_allclose(results[0].q, results[1].q, atol=1e-6)
    levels = solvers[0].search.levels
    poses = PoseProblem(levels, levels.targets, model.limits, influence)
    assert isinstance(optimum_of(poses, solvers[0].criteria), NativeOptimum)


@pytest.mark.parametrize("criterion", [Manipulability, SmallestSingularValue])
def test_criteria_among_obstacles(criterion: type[Potential]) -> None:
    """They look at the rows of the first level, which comes after what keeps apart."""
    model, far = real("panda", "fixed"), np.eye(4)
    far[:3, 3] = 9.0
    clearance = ClearanceTask(CollisionModel(model, [Obstacle("ball", Sphere(0.1), far)]))
    place = PositionTask("panda_hand", (0.4, 0.1, 0.5))
    q = 0.1 + model.limits.middle(model.neutral())
    without = IKProblem(model, [place], [criterion()]).solve(q0=q)
    for backend in ("native", "numpy"):
        beside = IKProblem(model, [clearance, place], [criterion()], backend).solve(q0=q)
        assert beside.is_optimal and beside.costs == pytest.approx(without.costs, rel=1e-8)


def test_what_a_criterion_raises_is_raised() -> None:
    solver = IKProblem(real("panda", "fixed"), [PositionTask("panda_hand", (0.4, 0.1, 0.5))], [_Broken()], "native")
    with pytest.raises(ZeroDivisionError, match="another maker"):
        solver.solve(diagnose=False)


def test_the_same_again_bit_for_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "native")
    problem = optimum_problem(3, "arm")
    one, other = (solve_ik(problem.model, problem.tasks, problem.start, criteria=problem.criteria) for _ in range(2))
    assert (one.q == other.q).all() and one.kkt_residual == other.kkt_residual
