"""Poses for tasks of every kind and several priorities; what is claimed is checked again with Pinocchio."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    ModelError,
    RobotModel,
    TaskError,
    forward_kinematics,
    in_limits,
    load_urdf,
    random_configuration,
)
from robokin_addon.robokin.spatial.se3 import translation
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    AxisTask,
    CenterOfMassTask,
    DistanceTask,
    IKProblem,
    JointTask,
    JointVelocityTask,
    LaserTask,
    LoopClosureTask,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    PinTask,
    Plane,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    Status,
    SupportTask,
    Task,
    solve_ik,
)
from robokin_addon.solvers.criteria import JointSprings
from robokin_addon.solvers.descent.data import compile_whole
from robokin_addon.solvers.descent.level_rows import StackRows
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.tasks.base import residuals
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.blender.every_task import every_task, sphere
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.problems.levels import in_levels
from support.random_problems.random_trees import random_robot
from support.robots import robot

ROOTS = ("fixed", "floating", "planar")
TIP = "panda_hand"
Q = np.array([0.2, -0.5, 0.1, -2.0, 0.1, 1.7, 0.7])


def _panda() -> tuple[RobotModel, np.ndarray]:
    model = load_urdf(robot("panda"))
    return model, np.concatenate((Q, np.full(model.nq - 7, 0.02)))


def _truth(model: RobotModel, q: np.ndarray) -> dict[str, np.ndarray]:
    return Oracle.from_urdf(model, robot("panda")).frames(q)


def _met(model: RobotModel, task: Task, q: np.ndarray) -> bool:
    rows = task.rows(State(model, q), task.target)
    found = residuals(task, rows, rows.e, 1.0)
    return all(value <= part.tolerance for value, part in zip(found, task.parts, strict=False))


@pytest.mark.parametrize("seed", range(9))
def test_every_task_is_met_where_some_pose_meets_it(seed: int) -> None:
    rng = np.random.default_rng(300 + seed)
    model = random_robot(seed, 9, ROOTS[seed % 3])
    q, away = random_configuration(model, rng), random_configuration(model, rng)
    solved: Counter[bool] = Counter()
    for name, task in every_task(rng, model, q, away).items():
        if not _met(model, task, away):
            continue
        result = solve_ik(model, [task], q)
        assert in_limits(model, result.q), name
        assert _met(model, task, result.q) == result.converged, name
        solved[result.converged] += 1
    assert solved[True] >= 10
    assert solved[False] == 0


def test_aim_and_distance_on_the_panda() -> None:
    model, q = _panda()
    target = np.array([0.8, 0.4, 0.2])
    result = solve_ik(model, [AimTask(TIP, (0, 0, 1), target), DistanceTask(TIP, 0.35, other_point=target)], q)
    assert result.converged
    T = _truth(model, result.q)[TIP]
    away = target - T[:3, 3]
    assert np.linalg.norm(away) == pytest.approx(0.35, abs=1e-5)
    assert np.arccos(np.clip(T[:3, 2] @ away / 0.35, -1, 1)) < 2e-5
    assert result.residuals == [{"direction": pytest.approx(0, abs=1e-5)}, {"distance": pytest.approx(0, abs=1e-5)}]


def test_aim_at_its_own_place_is_met() -> None:
    model, q = _panda()
    here = forward_kinematics(model, q)[TIP][:3, 3]
    result = solve_ik(model, [AimTask(TIP, (0, 0, 1), here)], q)
    assert result.converged
    np.testing.assert_array_equal(result.q, q)


def test_advance_along_the_tips_axis() -> None:
    model, q = _panda()
    before = _truth(model, q)[TIP]
    result = solve_ik(model, [AdvanceTask(TIP, (0, 0, 0.07))], q)
    assert result.converged
    after = _truth(model, result.q)[TIP]
    np.testing.assert_allclose(after[:3, 3], before[:3, 3] + 0.07 * before[:3, 2], atol=2e-5)


def test_plane_line_curve() -> None:
    model, q = _panda()
    p = _truth(model, q)[TIP][:3, 3]
    n = np.array([0.6, 0.0, 0.8])
    result = solve_ik(model, [OnPlaneTask(TIP, (p + 0.1 * n, n))], q)
    assert result.converged and abs(n @ (_truth(model, result.q)[TIP][:3, 3] - p) - 0.1) < 1e-5
    above = solve_ik(model, [OnPlaneTask(TIP, (p - 0.1 * n, n), "above")], q)
    np.testing.assert_array_equal(above.q, q)
    below = solve_ik(model, [OnPlaneTask(TIP, (p - 0.1 * n, n), "below")], q)
    assert below.converged and n @ (_truth(model, below.q)[TIP][:3, 3] - p) <= -0.1 + 1e-5
    line = solve_ik(model, [OnLineTask(TIP, ((0.5, 0.2, 0.0), (0, 0, 1)))], q)
    np.testing.assert_allclose(_truth(model, line.q)[TIP][:2, 3], (0.5, 0.2), atol=1e-5)
    s = np.linspace(0.0, 2 * np.pi, 200)
    helix = np.column_stack((0.4 + 0.1 * np.cos(s), 0.1 * np.sin(s), 0.3 + 0.05 * s))
    curve = solve_ik(model, [OnCurveTask(TIP, helix)], q)
    assert curve.converged
    assert np.linalg.norm(helix - _truth(model, curve.q)[TIP][:3, 3], axis=1).min() < 0.02  # between two samples


def test_laser_on_plane_and_mesh() -> None:
    model, q = _panda()
    floor = Plane((0, 0, 0), (0, 0, 1))
    for spot in ((0.5, 0.1, 0.0), (0.3, -0.4, 0.0), (0.7, 0.3, 0.0)):
        result = solve_ik(model, [LaserTask(TIP, (0, 0, 1), spot, floor)], q)
        assert result.converged
        T = _truth(model, result.q)[TIP]
        hit = T[:3, 3] - T[2, 3] / T[2, 2] * T[:3, 2]
        np.testing.assert_allclose(hit, spot, atol=2e-5)
    # Points away from the floor at first, where the beam misses it.
    up = q.copy()
    up[5] = 3.5
    assert forward_kinematics(model, up)[TIP][2, 2] > 0.0
    assert solve_ik(model, [LaserTask(TIP, (0, 0, 1), (0.5, 0.0, 0.0), floor)], up).converged
    center = np.array([0.6, 0.0, 0.1])
    ball = sphere(center, 0.1, 40)
    start = np.array([0.6, 0.02, 0.4])
    t, _ = ball.hit(start, (center - start) / np.linalg.norm(center - start))
    spot = start + t * (center - start) / np.linalg.norm(center - start)
    result = solve_ik(model, [LaserTask(TIP, (0, 0, 1), spot, ball)], q)
    assert result.converged and set(result.residuals[0]) == {"spot", "beam"}
    T = _truth(model, result.q)[TIP]
    t, _ = ball.hit(T[:3, 3], T[:3, 2])
    np.testing.assert_allclose(T[:3, 3] + t * T[:3, 2], spot, atol=2e-5)


def test_a_laser_that_cannot_hit_has_residuals_with_names() -> None:
    model, q = _panda()
    ceiling = Plane((0, 0, 30.0), (0, 0, 1))
    beside = solve_ik(model, [LaserTask(TIP, (0, 0, 1), (0.0, 0.0, 20.0), ceiling)], q, attempts=2)
    assert not beside.converged
    assert beside.residuals[0]["spot"] >= 10.0 - 1e-6
    parallel = LaserTask("panda_link0", (1, 0, 0), (1.0, 0.0, 1.0), Plane((0, 0, 1.0), (0, 0, 1)))
    missing = solve_ik(model, [parallel], q, attempts=2)
    assert not missing.converged
    assert missing.residuals[0]["beam"] == pytest.approx(np.pi / 4, abs=1e-6)
    assert missing.residuals[0]["spot"] == pytest.approx(np.sqrt(2.0), abs=1e-6)


def test_relative_pose_of_two_arms() -> None:
    model = load_urdf(robot("talos_full_v2"), root="floating")
    oracle = Oracle.from_urdf(model, robot("talos_full_v2"))
    left, right = "gripper_left_base_link", "gripper_right_base_link"
    q = np.clip(model.neutral(), model.lower, model.upper)
    position = np.eye(4)
    position[:3, 3] = 0.1, 0.3, 0.05
    tasks = [
        RelativePoseTask(left, right, position, orientation_weights=0.0),
        PinTask("left_sole_link"),
        PinTask("right_sole_link"),
    ]
    result = solve_ik(model, tasks, q)
    assert result.converged
    there, before = oracle.frames(result.q), oracle.frames(q)
    between = np.linalg.inv(there[right]) @ there[left]
    np.testing.assert_allclose(between[:3, 3], position[:3, 3], atol=2e-5)
    for sole in ("left_sole_link", "right_sole_link"):
        np.testing.assert_allclose(there[sole], before[sole], atol=2e-5)


@pytest.mark.parametrize("crank", [-2.0, 0.5, 2.5])
def test_loops_close_exactly_whatever_their_tolerance(crank: float) -> None:
    """Of a four-bar linkage the rocker's end is where two circles meet."""
    a, b, c, d = 0.2, 0.45, 0.4, 0.5

    def hinge(name: str, parent: str, child: str, x: float) -> Joint:
        placement = np.eye(4)
        placement[0, 3] = x
        return Joint(name, "continuous", parent, child, placement)

    joints = [hinge("crank", "ground", "crank", 0.0), hinge("coupler", "crank", "coupler", a)]
    joints.append(hinge("rocker", "ground", "rocker", d))
    model = RobotModel("four-bar", [Link(name) for name in ("ground", "crank", "coupler", "rocker")], joints)
    ends = np.eye(4), np.eye(4)
    ends[0][0, 3], ends[1][0, 3] = b, c
    loop = LoopClosureTask("coupler", "rocker", *ends, orientation_weights=0, position_tolerance=1e-3)
    result = solve_ik(model, [loop, JointTask("crank", crank)], q0=model.configuration({"crank": crank - 0.1}))
    assert result.converged
    turn, side = model.joint_values(result.q)["crank"], model.joint_values(result.q)["rocker"]
    pin = a * np.array([np.cos(turn), np.sin(turn)])
    end = np.array([d + c * np.cos(side), c * np.sin(side)])
    assert np.linalg.norm(end - pin) == pytest.approx(b, abs=1e-10)
    far = solve_ik(model, [loop, PositionTask("coupler", [3.0, 0.0, 0.0], priority=2)], q0=result.q)
    assert not far.converged and far.residuals[0]["position"] < 1e-10


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
def test_a_loop_that_cannot_be_closed_is_as_nearly_closed_as_can_be(backend: str) -> None:
    """Two limbs of 0.5 m and 0.3 m whose shoulders are 1 m apart point at each other."""
    names = ("ground", "crank", "coupler", "rocker")
    hinges = [("ground", 0.0), ("crank", 0.2), ("ground", 1.0)]
    joints = [
        Joint(link, "continuous", parent, link, translation([x, 0.0, 0.0]), axis=(0, 0, 1))
        for link, (parent, x) in zip(names[1:], hinges, strict=True)
    ]
    model = RobotModel("two limbs", [Link(name) for name in names], joints)
    ends = translation([0.3, 0.0, 0.0]), translation([0.3, 0.0, 0.0])
    loop = LoopClosureTask("coupler", "rocker", *ends, orientation_weights=0)
    problem = IKProblem(model, [loop], backend=backend)
    for seed in range(12 if backend == "native" else 2):
        found = problem.solve(None, random_configuration(model, np.random.default_rng(seed)), seed, diagnose=False)
        assert found.residuals[0]["position"] == pytest.approx(0.2, abs=1e-6)


def test_balance_above_one_foot() -> None:
    model = load_urdf(robot("talos_full_v2"), root="floating")
    oracle = Oracle.from_urdf(model, robot("talos_full_v2"))
    q = np.clip(model.neutral(), model.lower, model.upper)
    sole = forward_kinematics(model, q)["left_sole_link"]
    foot = sole[:3, 3] + np.array([[0.1, 0.05, 0], [0.1, -0.05, 0], [-0.1, -0.05, 0], [-0.1, 0.05, 0]])
    tasks = [PinTask("left_sole_link"), SupportTask(foot, margin=0.02)]
    assert not _met(model, tasks[1], q)
    result = solve_ik(model, tasks, q)
    assert result.converged
    c = oracle.center_of_mass(result.q) - sole[:3, 3]
    assert (abs(c[:2]) <= (0.08 + 2e-5, 0.03 + 2e-5)).all()
    place = CenterOfMassTask(np.append(sole[:2, 3], 0.0), (1.0, 1.0, 0.0))
    centred = solve_ik(model, [tasks[0], place], q)
    assert centred.converged
    np.testing.assert_allclose(oracle.center_of_mass(centred.q)[:2], sole[:2, 3], atol=2e-5)


def test_posture_and_joints() -> None:
    model, q = _panda()
    result = solve_ik(model, [PostureTask({"panda_joint2": 0.3, "panda_joint4": -1.0})], q)
    assert result.converged and result.residuals == [{"angle": pytest.approx(0, abs=1e-5), "length": 0.0}]
    assert result.q[1] == pytest.approx(0.3, abs=1e-5) and result.q[3] == pytest.approx(-1.0, abs=1e-5)
    np.testing.assert_array_equal(np.delete(result.q, [1, 3]), np.delete(q, [1, 3]))
    beyond = solve_ik(model, [JointTask("panda_joint4", 1.0)], q)
    assert beyond.status is Status.LIMIT and beyond.joints == ("panda_joint4",)
    assert beyond.q[3] == model.upper[3]
    inside = solve_ik(model, [JointTask("panda_joint1", 1.0, band=0.1)], q)
    assert inside.q[0] == pytest.approx(0.9, abs=1e-5)


# -- priorities --------------------------------------------------------------------------------------------------------


def test_lower_levels_have_what_is_left() -> None:
    """The hand's position first; then a direction that it can have too; then one that nothing is left for."""
    model, q = _panda()
    p = _truth(model, q)[TIP][:3, 3] + np.array([0.05, 0.1, -0.05])
    tasks = [
        PositionTask(TIP, p),
        AxisTask(TIP, (0, 0, 1), (0.3, 0.0, -1.0), priority=2),
        OrientationTask(TIP, np.eye(3), priority=3),
    ]
    both = solve_ik(model, tasks[:2], q)
    assert both.converged
    result = solve_ik(model, tasks, q)
    assert result.status is Status.TASK_CONFLICT
    assert result.tasks == (tasks[1].name, tasks[2].name)
    T = _truth(model, result.q)[TIP]
    np.testing.assert_allclose(T[:3, 3], p, atol=2e-5)
    wanted = np.array([0.3, 0.0, -1.0]) / np.hypot(0.3, 1.0)
    assert np.arccos(np.clip(T[:3, 2] @ wanted, -1, 1)) < 2e-5


@pytest.mark.parametrize("first", [1, 2])
def test_the_first_level_wins(first: int) -> None:
    model, q = _panda()
    p = _truth(model, q)[TIP][:3, 3]
    up = PositionTask(TIP, p + np.array([0, 0, 0.1]), name="up", priority=first)
    down = PositionTask(TIP, p - np.array([0, 0, 0.1]), name="down", priority=3 - first)
    result = solve_ik(model, [up, down], q)
    assert result.status is Status.TASK_CONFLICT
    assert set(result.tasks) == {"up", "down"}
    height = _truth(model, result.q)[TIP][2, 3] - p[2]
    assert height == pytest.approx(0.1 if first == 1 else -0.1, abs=2e-5)


def test_a_step_for_all_levels_as_one_is_that_of_tasks_without_priorities() -> None:
    model, q = _panda()

    def step(priority: int, as_one: bool) -> np.ndarray:
        tasks = [PositionTask(TIP, (0.4, 0.2, 0.3)), PositionTask(TIP, (0.1, 0.3, 0.6), priority=priority)]
        levels = TaskLevels(model, tasks)
        data = compile_whole(model, model.limits, np.ones(model.nq, bool), levels.length)
        rows = StackRows(levels, data, levels.targets)
        return rows.step(rows.measure(q), rows.levels, None, as_one)

    np.testing.assert_allclose(step(2, True), step(1, False), atol=1e-12)
    assert abs(step(2, False) - step(1, False)).max() > 1e-3


def test_a_lower_level_may_decide_how_often_a_joint_turns() -> None:
    """The first level is met in every turn: once it is, nothing leads out of the wrong one."""
    model = RobotModel("wheel", [Link("base"), Link("rim")], [Joint("axle", "continuous", "base", "rim")])
    value = 0.5 * np.pi + 4.0 * np.pi
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    result = solve_ik(model, [OrientationTask("rim", turned), JointTask("axle", value, priority=2)])
    assert result.converged
    np.testing.assert_allclose(result.q, [value], atol=1e-5)


def test_out_of_reach_and_unreachable_heights() -> None:
    model, q = _panda()
    far = solve_ik(model, [PositionTask(TIP, (3.0, 0, 0)), JointTask("panda_joint1", 0.5, priority=2)], q)
    assert far.status is Status.OUT_OF_REACH and far.tasks == (f"PositionTask of {TIP}",)
    same = solve_ik(model, [PositionTask(TIP, (3.0, 0, 0))], q)
    assert same.status is Status.OUT_OF_REACH


def test_plain_tasks_stay_with_the_kernel() -> None:
    model, q = _panda()
    task = PoseTask(TIP, _truth(model, q + np.append(np.full(7, 0.1), np.zeros(model.nq - 7)))[TIP])
    mine, kernels = solve_ik(model, [task], q), IKProblem(model, [task]).solve(q0=q)
    np.testing.assert_array_equal(mine.q, kernels.q)
    assert mine.residuals == kernels.residuals
    general = in_levels(model, [task]).solve(q0=q)
    assert general.converged and set(general.residuals[0]) == {"position", "orientation"}


@pytest.mark.parametrize(
    ("tasks", "options", "error", "message"),
    [
        ([JointVelocityTask({"panda_joint1": 1.0})], {}, TaskError, "can be stepped or tracked, not solved"),
        ([PinTask(TIP)], {"q0": [np.nan] * 8}, ConfigurationError, "finite"),
        ([PinTask(TIP)], {"criteria": [1]}, TaskError, "1 is not a criterion"),
        ([PinTask(TIP)], {"criteria": 3}, TaskError, "criteria must be a list"),
        ([PinTask(TIP)], {"attempts": 0}, TaskError, "attempts must be"),
        ([PinTask(TIP), 7], {}, TaskError, "7 is not a task"),
    ],
)
def test_bad_input_is_named(tasks: list, options: dict, error: type, message: str) -> None:
    model, _ = _panda()
    with pytest.raises(error, match=message):
        solve_ik(model, tasks, **options)


def test_no_mass_no_centre() -> None:
    light = RobotModel("light", list(random_robot(1, 3).links[:1]), random_robot(1, 3).joints[:0])
    with pytest.raises(ModelError):
        solve_ik(light, [CenterOfMassTask((0, 0, 0))])


def test_without_tasks_criteria_alone() -> None:
    model, q = _panda()
    result = solve_ik(model, [], q, criteria=[JointSprings()])
    assert result.status is Status.EMPTY
    np.testing.assert_allclose(result.q, 0.5 * (model.lower + model.upper), atol=1e-6)
    assert result.to_dict()["costs"] == result.costs


@pytest.mark.parametrize("backend", ["native", pytest.param("numpy", marks=pytest.mark.slow)])
def test_solves_are_repeatable(backend: str) -> None:
    rng = np.random.default_rng(5)
    model = random_robot(2, 8)
    tasks = list(every_task(rng, model, model.neutral(), random_configuration(model, rng)).values())[:4]
    for priority, task in enumerate(tasks, 1):
        task.priority = priority
    first, second = (solve_ik(model, tasks, seed=3, backend=backend, attempts=2) for _ in range(2))
    np.testing.assert_array_equal(first.q, second.q)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_random_problems(seed: int) -> None:
    """No NaN, inside the limits, and statuses that are true."""
    rng = np.random.default_rng(seed)
    model = random_robot(seed, int(rng.integers(3, 12)), ROOTS[seed % 3])
    q, away = random_configuration(model, rng), random_configuration(model, rng)
    tasks = list(every_task(rng, model, q, away).values())
    chosen = [tasks[i] for i in rng.choice(len(tasks), 3, replace=False)]
    for task in chosen:
        if task.priority:
            task.priority = int(rng.integers(1, 4))
    result = solve_ik(model, chosen, q, criteria=[JointSprings()] if seed % 2 else [], attempts=6)
    assert np.isfinite(result.q).all() and np.isfinite(result.residual_array).all()
    assert in_limits(model, result.q)
    met = all(_met(model, task, result.q) for task in chosen)
    assert met or not result.converged
    if result.status is Status.TASK_CONFLICT:
        for task in chosen:
            if task.name in result.tasks:
                assert solve_ik(model, [task], result.q).converged
