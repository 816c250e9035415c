"""Criteria at their optimum inside the tasks' null space: stationary by Pinocchio's Jacobian and central differences,
and nothing better among self-motions around."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import (
    Joint,
    Link,
    RobotModel,
    difference,
    forward_kinematics,
    frame_jacobian,
    in_limits,
    integrate,
    load_urdf,
    random_configuration,
)
from robokin_addon.robokin.backend import ENVIRONMENT_VARIABLE
from robokin_addon.robokin.library import ROBOTS
from robokin_addon.solvers import (
    AimTask,
    AxisTask,
    DistanceTask,
    IKProblem,
    OnPlaneTask,
    PoseTask,
    PositionTask,
    Status,
    Task,
    solve_ik,
    velocity_step,
)
from robokin_addon.solvers.criteria import (
    GravityTorque,
    JointSprings,
    Manipulability,
    MinimumVelocity,
    Potential,
    RestPosture,
    SmallestSingularValue,
)
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.optimum.subproblem import Subproblem
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot

KKT = 1e-6
AROUND, TRIES = 0.05, 1000

CRITERIA = {
    "springs": lambda model, rng: [JointSprings()],
    "rest": lambda model, rng: [RestPosture(model.neutral())],
    "manipulability": lambda model, rng: [Manipulability()],
    "singular value": lambda model, rng: [SmallestSingularValue()],
    "gravity": lambda model, rng: [GravityTorque()],
    "several": lambda model, rng: [JointSprings(weight=0.3), GravityTorque(gain=2.0), Manipulability(weight=0.5)],
}
ARMS = {
    "panda": ("panda", "panda_hand", PoseTask),
    "panda, position": ("panda", "panda_hand", PositionTask),
    "ur10": ("ur10_robot", "tool0", PositionTask),
    "tiago": ("tiago", "arm_7_link", PoseTask),
}


@pytest.fixture(autouse=True, params=rest_slow(["native", "numpy"]))
def _backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, request.param)


def _cost(criteria: list[Potential], state: State) -> float:
    return sum(each.weight * each.gain * each.potential(state) for each in criteria)


def _state(model: RobotModel, q: np.ndarray, task: Task, length: float) -> State:
    return State(model, q, [task], length, "native")


def _null_space(J: np.ndarray) -> np.ndarray:
    _, s, Vt = np.linalg.svd(J)
    return Vt[(s > 1e-8 * s[0]).sum() :].T


@pytest.mark.slow
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", ARMS)
def test_optimum(name: str, criterion: str) -> None:
    urdf, tip, kind = ARMS[name]
    model, rng = load_urdf(robot(urdf)), np.random.default_rng(7)
    oracle = Oracle.from_urdf(model, robot(urdf))
    lower, upper = (np.where(np.isfinite(side), side, side0) for side, side0 in ((model.lower, -1), (model.upper, 1)))
    q = 0.5 * (lower + upper) + 0.15 * rng.uniform(-1, 1, model.nq) * (upper - lower)
    T = forward_kinematics(model, q)[tip]
    task = PoseTask(tip, T) if kind is PoseTask else PositionTask(tip, T[:3, 3])
    criteria = CRITERIA[criterion](model, rng)
    result = solve_ik(model, [task], q, criteria=criteria)
    assert result.converged and result.is_optimal, result.reason
    assert in_limits(model, result.q)
    reached = oracle.frames(result.q)[tip]
    assert np.linalg.norm(reached[:3, 3] - T[:3, 3]) < 1e-5
    length = IKProblem(model, [task]).search.data.length
    best = _cost(criteria, _state(model, result.q, task, length))

    def cost(v: np.ndarray) -> float:
        return _cost(criteria, _state(model, integrate(model, result.q, v), task, length))

    h = 1e-6
    gradient = np.array([(cost(h * unit) - cost(-h * unit)) / (2 * h) for unit in np.eye(model.nv)])
    rows = slice(0, 6 if kind is PoseTask else 3)
    J = oracle.frame_jacobian(result.q, tip, "local_world_aligned")[rows]
    slots = [model.slot(joint.name) for joint in model.moving_joints if joint.nq == 1]
    bounded = {slot.v.start: slot.q.start for slot in slots}
    held = [
        v
        for v, i in bounded.items()
        if (result.q[i] <= model.lower[i] and gradient[v] > 0.0)
        or (result.q[i] >= model.upper[i] and gradient[v] < 0.0)
    ]
    scale = _state(model, result.q, task, length).scale
    Z = _null_space(np.vstack((J * scale, np.eye(model.nv)[held])))
    assert result.is_optimal and result.kkt_residual is not None
    if criterion != "singular value":  # which has an edge where two singular values are equal
        # Or else the gradient vanishes altogether, up to the differences.
        assert np.linalg.norm(Z.T @ (scale * gradient)) <= KKT * max(np.linalg.norm(scale * gradient), 1e-3)

    found = 0
    for _ in range(TRIES):
        if not Z.shape[1]:
            break
        way = scale * (Z @ rng.normal(size=Z.shape[1]))
        away = integrate(model, result.q, AROUND * rng.uniform() * way / abs(way).max())
        away = np.clip(away, model.lower, model.upper)
        back = IKProblem(model, [task], (), "native", 1).solve(q0=away, diagnose=False)
        if not back.converged or abs(difference(model, result.q, back.q)).max() > AROUND:
            continue
        found += 1
        # The other pose is within the task's tolerance only, and may gain by that much.
        slack = np.linalg.norm(gradient) * 1e-4 * np.sqrt(model.nv)
        assert _cost(criteria, _state(model, back.q, task, length)) >= best - min(slack, 1e-4 * max(1.0, abs(best)))
    assert found > 100 or not Z.shape[1]


def test_the_edge_of_equal_singular_values() -> None:
    """There the gradient of neither vanishes, but one of those between theirs does (Clarke), by central differences of
    Pinocchio's Jacobian in the singular vectors of the pose."""
    model, tip = load_urdf(robot("xarm7")), "link_eef"
    oracle = Oracle.from_urdf(model, robot("xarm7"))
    q = random_configuration(model, np.random.default_rng(1))
    task = AxisTask(tip, [0, 0, 1], forward_kinematics(model, q)[tip][:3, 2])
    result = solve_ik(model, [task], q, criteria=[SmallestSingularValue(), RestPosture(q, weight=0.02)])
    assert result.converged and result.is_optimal and result.kkt_residual <= KKT

    def rows(there: np.ndarray) -> np.ndarray:
        return oracle.frame_jacobian(there, tip, "local")[3:5]

    J, h = rows(result.q), 1e-6
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    assert s[0] - s[1] < 1e-8
    sides = [(rows(result.q + h * unit), rows(result.q - h * unit)) for unit in np.eye(model.nv)]
    change = np.array([U.T @ (ahead - back) @ Vt.T for ahead, back in sides]) / (2 * h)
    first, both, second = -change[:, 0, 0], -(change[:, 0, 1] + change[:, 1, 0]), -change[:, 1, 1]
    Z = _null_space(J)
    held = [Z.T @ each for each in (first - second, both, second + 0.02 * (result.q - q))]
    (a, b), *_ = np.linalg.lstsq(np.column_stack(held[:2]), -held[2], rcond=None)
    assert np.linalg.norm(held[0] * a + held[1] * b + held[2]) <= KKT * np.linalg.norm(first)
    assert np.linalg.eigvalsh([[a, b], [b, 1 - a]]).min() >= 0.0
    assert min(np.linalg.norm(Z.T @ each) for each in (first, second)) > 0.1


@pytest.mark.parametrize(
    ("name", "seed"), [("talos_reduced", 1), ("talos_reduced", 26), ("panda", 2), ("panda", 5), ("panda", 16)]
)
def test_a_flat_valley_of_equal_singular_values(name: str, seed: int) -> None:
    """Where a floating robot holds one place, long motions change hardly more than which two values are equal."""
    model, rng = load_urdf(robot(name), root="floating"), np.random.default_rng(seed)
    q = model.limits.clamp(random_configuration(model, rng))
    away = model.limits.clamp(integrate(model, q, 0.3 * rng.normal(size=model.nv)))
    link = model.link_names[-1]
    tasks = [PositionTask(link, forward_kinematics(model, away)[link][:3, 3])]
    result = solve_ik(model, tasks, q, criteria=[SmallestSingularValue()], diagnose=False)
    assert result.converged == (result.kkt_residual <= KKT)
    if os.environ[ENVIRONMENT_VARIABLE] == "native":
        assert result.converged
    else:  # NumPy's rounding is each processor's own: where its steps gain nothing it ends, and does not claim more
        assert result.converged or "steps lowered the cost by" in result.reason
    J = frame_jacobian(model, result.q, link)[:3]
    s = np.linalg.svd(np.where(model.is_length, TaskLevels(model, tasks).length, 1.0) * J, compute_uv=False)
    assert s[-1] == pytest.approx(s[-2], rel=1e-6)


def test_a_pose_without_an_optimum_says_so() -> None:
    """A slide without limits, and a criterion that falls along it for ever."""
    links = [Link("base"), Link("a"), Link("b"), Link("tip")]
    joints = [
        Joint("turn", "continuous", "base", "a"),
        Joint("slide", "prismatic", "a", "b", axis=[1, 0, 0]),
        Joint("lift", "prismatic", "b", "tip", axis=[0, 0, 1]),
    ]
    model = RobotModel("crane", links, joints)
    result = solve_ik(model, [OnPlaneTask("tip", ((0, 0, 0), (0, 0, 1)))], [0.1, 0.3, 0.2], criteria=[_Downhill()])
    assert result.status == Status.MAX_ITERATIONS and result.is_optimal is False and result.kkt_residual > KKT
    assert "not at their optimum" in result.reason
    assert result.reason.endswith("_Downhill falls without end: no limit stops slide")
    assert solve_ik(model, [PositionTask("tip", [0.3, 0.0, 0.1])]).is_optimal is None


def test_a_real_criterion_that_falls_without_end() -> None:
    """The farther the tip from the hinge, the faster it goes: on a slide without limits no arm is the best."""
    links = [Link("base"), Link("a"), Link("b"), Link("tip")]
    joints = [
        Joint("turn", "revolute", "base", "a", axis=[0, 0, 1], lower=-3, upper=3),
        Joint("out", "prismatic", "a", "b", axis=[1, 0, 0]),
        Joint("lift", "prismatic", "b", "tip", axis=[0, 0, 1]),
    ]
    task = OnPlaneTask("tip", ((0, 0, 0.2), (0, 1, 0)))
    for slide, ends in (({}, False), ({"lower": -2.0, "upper": 2.0}, True)):
        model = RobotModel("crane", links, [joints[0], replace(joints[1], **slide), joints[2]])
        result = solve_ik(model, [task], [0.1, 0.3, 0.2], criteria=[JointSprings(weight=0.01), Manipulability()])
        assert result.is_optimal is ends
        said = result.reason.endswith("Manipulability falls without end: no limit stops out")
        assert said is not ends


def test_a_criterion_that_falls_ever_steeper() -> None:
    """The nearer the tip to what it aims at, the faster the aim turns: manipulability has no bound there."""
    links = [Link("base"), Link("a"), Link("b"), Link("tip")]
    joints = [
        Joint("x", "prismatic", "base", "a", axis=[1, 0, 0], lower=-2, upper=2),
        Joint("y", "prismatic", "a", "b", axis=[0, 1, 0], lower=-2, upper=2),
        Joint("turn", "revolute", "b", "tip", axis=[0, 0, 1], lower=-3, upper=3),
    ]
    model, start = RobotModel("aimer", links, joints), [-0.5, -0.3, 0.5]
    for away, ends in ((0.0, False), (0.3, True)):
        tasks = [AimTask("tip", [1, 0, 0], [0.5, 0.4, 0.0])]
        if away:
            tasks.append(DistanceTask("tip", away, other_point=[0.5, 0.4, 0.0], relation="outside"))
        result = solve_ik(model, tasks, start, criteria=[Manipulability(), JointSprings(weight=0.1)])
        assert result.is_optimal is ends
        assert ("Manipulability falls ever steeper" in result.reason) is not ends


class _Coupled(Potential):
    """-10 x + 30 x y + (y + 1/2)^2 / 200 of two slides: where x cannot grow, y is to be -1/2."""

    def __init__(self) -> None:
        super().__init__(1.0, 1.0, "")

    def potential(self, state: State) -> float:
        x, y = state.q[:2]
        return float(-10.0 * x + 30.0 * x * y + 0.005 * (y + 0.5) ** 2)

    def gradient(self, state: State) -> np.ndarray:
        x, y = state.q[:2]
        return np.array([-10.0 + 30.0 * y, 30.0 * x + 0.01 * (y + 0.5), 0.0])


def test_walls_that_hold_hide_no_curvature() -> None:
    """A limit presses on x, which is coupled to y much more than y bends: y is free, and bends as it does."""
    links = [Link("base"), Link("a"), Link("b"), Link("tip")]
    joints = [
        Joint("x", "prismatic", "base", "a", axis=[1, 0, 0], lower=-1, upper=0),
        Joint("y", "prismatic", "a", "b", axis=[0, 1, 0], lower=-3, upper=3),
        Joint("z", "prismatic", "b", "tip", axis=[0, 0, 1], lower=-3, upper=3),
    ]
    model = RobotModel("slides", links, joints)
    tasks = [OnPlaneTask("tip", ((0, 0, 0.5), (0, 0, 1)))]
    result = solve_ik(model, tasks, [0.0, -2.0, 0.5], criteria=[_Coupled()])
    assert result.is_optimal and result.iterations < 10
    np.testing.assert_allclose(result.q, [0.0, -0.5, 0.5], atol=1e-6)


@pytest.mark.parametrize("seed", [1, 4, 5, 15, 25])
def test_a_slope_that_is_only_rounding_is_none(seed: int) -> None:
    """A floating arm can hang so that no joint bears anything: what is left is its weight, and a slope of 1e-11."""
    model, rng = load_urdf(robot("ur5_robot"), root="floating"), np.random.default_rng(seed)
    start, other = random_configuration(model, rng), random_configuration(model, rng)
    T = forward_kinematics(model, other)["tool0"]
    result = solve_ik(model, [OnPlaneTask("tool0", (T[:3, 3], T[:3, 2]))], start, criteria=[GravityTorque()])
    assert result.is_optimal and result.kkt_residual <= KKT
    assert result.costs["GravityTorque"] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("fold", [[0.4, 0.0, np.pi], [0.4, np.pi, np.pi]])
@pytest.mark.parametrize("criterion", [SmallestSingularValue, Manipulability])
def test_a_singular_start_is_left(criterion: type, fold: list[float]) -> None:
    """A singular value that vanishes here counts, unless it does so everywhere: a planar arm that is folded flat."""
    known = ROBOTS["planar_3r"].make("fixed")
    joints = [replace(joint, lower=-np.inf, upper=np.inf) for joint in known.joints[1:]]
    model = RobotModel("folding", known.links, joints)
    task = PositionTask("tool", forward_kinematics(model, fold)["tool"][:3, 3])  # of which z never moves
    before = [velocity_step(model, fold, [task], [criterion()], backend=each).costs for each in ("native", "numpy")]
    assert before[0][criterion.__name__] == pytest.approx(before[1][criterion.__name__], abs=1e-12)
    result = solve_ik(model, [task], fold, criteria=[criterion()])
    assert result.converged and result.is_optimal
    J = frame_jacobian(model, result.q, "tool", reference="local_world_aligned")[:2]
    assert np.linalg.svd(J, compute_uv=False)[1] > 0.1
    assert result.costs[criterion.__name__] < before[0][criterion.__name__] - 0.1


class _Downhill(Potential):
    def __init__(self) -> None:
        super().__init__(1.0, 1.0, "")

    def potential(self, state: State) -> float:
        return -float(state.q[1])

    def gradient(self, state: State) -> np.ndarray:
        return np.array([0.0, -1.0, 0.0])


def test_the_least_of_two_springs_in_a_plane() -> None:
    """Two equal springs on two joints that turn about one axis: a sum of angles is shared out evenly."""
    model = load_urdf(robot("panda"))
    q = np.zeros(model.nq)
    q[:7] = 0.0, 0.3, 0.0, -2.0, 0.0, 1.7, 0.7
    free = solve_ik(model, [OnPlaneTask("panda_hand", ((0, 0, 0.5), (0, 0, 1)))], q, criteria=[RestPosture(q)])
    moved = free.q - q
    J = Oracle.from_urdf(model, robot("panda")).frame_jacobian(free.q, "panda_hand", "local_world_aligned")[2]
    assert free.converged
    # The nearest pose on a surface: the way there is along the surface's normal.
    assert np.linalg.norm(moved - J * (J @ moved) / (J @ J)) < 1e-6 * np.linalg.norm(moved)
    assert np.linalg.norm(moved) > 0.05


@pytest.mark.parametrize("seed", [3, 6, 11, 15])
def test_two_places_at_once_are_as_well_met_as_their_middle(seed: int) -> None:
    """The poses that are nearest to both are those that meet the place between them: the best is the same."""
    model, rng = ROBOTS["panda"].make("fixed"), np.random.default_rng(seed)
    start, tip = (
        model.limits.clamp(model.limits.middle(model.neutral()) + 0.3 * rng.normal(size=7)),
        model.link_names[-1],
    )
    T = forward_kinematics(model, model.limits.clamp(start + 0.3 * rng.normal(size=7)))[tip]
    place, apart = T[:3, 3], 0.2 * rng.normal(size=3)
    best = []
    for places in ([place], [place + apart, place - apart]):
        tasks = [AxisTask(tip, (0.0, 0.0, 1.0), T[:3, 2]), *(PositionTask(tip, each, priority=2) for each in places)]
        best.append(solve_ik(model, tasks, start, criteria=[RestPosture(start)], diagnose=False))
    assert all(found.is_optimal for found in best) and not best[1].converged
    between, both = (found.costs["RestPosture"] for found in best)
    assert abs(both - between) < 1e-4 * between


def test_an_inequality_holds_at_the_optimum() -> None:
    model = load_urdf(robot("panda"))
    q = np.zeros(model.nq)
    q[:7] = 0.0, 0.3, 0.0, -2.0, 0.0, 1.7, 0.7
    p = forward_kinematics(model, q)["panda_hand"][:3, 3]
    near = DistanceTask("panda_hand", 0.05, other_point=p, relation="inside")
    result = solve_ik(model, [near], q, criteria=[JointSprings()])
    assert result.converged
    away = np.linalg.norm(forward_kinematics(model, result.q)["panda_hand"][:3, 3] - p)
    assert away == pytest.approx(0.05, abs=1e-6)
    free = solve_ik(model, [], q, criteria=[JointSprings()])
    assert free.costs["JointSprings"] < result.costs["JointSprings"]


def test_a_program_that_fails_proves_nothing(monkeypatch) -> None:
    model = load_urdf(robot("panda"))
    target = forward_kinematics(model, model.limits.middle(model.neutral()))["panda_hand"]
    tasks = [PoseTask("panda_hand", target)]
    whole = solve_ik(model, tasks, criteria=[JointSprings()])
    assert whole.is_optimal
    monkeypatch.setattr(Subproblem, "_program", lambda *_: None)
    result = solve_ik(model, tasks, criteria=[JointSprings()], backend="numpy")
    assert not result.is_optimal and result.status is Status.MAX_ITERATIONS
    assert result.kkt_residual == np.inf


def test_criteria_that_a_pose_does_not_tell_make_no_claim() -> None:
    model = load_urdf(robot("panda"))
    target = forward_kinematics(model, model.limits.middle(model.neutral()))["panda_hand"]
    result = solve_ik(model, [PoseTask("panda_hand", target)], criteria=[MinimumVelocity()])
    assert result.converged and result.is_optimal is None and result.kkt_residual is None
