"""The velocity step on real and random robots: Pinocchio's formula, strict priorities, limits, constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    RobotModel,
    TaskError,
    difference,
    forward_kinematics,
    frame_jacobian,
    integrate,
    load_urdf,
    random_configuration,
)
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers import (
    AxisTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Task,
    VelocityConstraint,
    VelocityProblem,
    velocity_step,
)
from robokin_addon.solvers.criteria import (
    GravityTorque,
    JointSprings,
    KineticEnergy,
    Manipulability,
    MinimumVelocity,
    RestPosture,
)
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_robot
from support.robots import robot

DT = 1e-3


def _target(model: RobotModel, q: np.ndarray, link: str, twist: np.ndarray) -> np.ndarray:
    """The pose that the link has after DT with a twist (linear at its origin, angular; root axes)."""
    T = forward_kinematics(model, q)[link].copy()
    T[:3, :3] = so3.exp(twist[3:] * DT) @ T[:3, :3]
    T[:3, 3] += twist[:3] * DT
    return T


@pytest.mark.parametrize(
    ("name", "root", "link"),
    [
        ("panda", "fixed", "panda_hand"),
        ("talos_full_v2", "floating", "gripper_left_base_link"),
        ("tiago", "fixed", "arm_7_link"),
        ("ur10_robot", "planar", "tool0"),
    ],
)
def test_kinetic_energy_is_pinocchios_weighted_inverse(name: str, root: str, link: str) -> None:
    """v = M^-1 J'(J M^-1 J')^-1 t (main paper, Eq. 14)."""
    model = load_urdf(robot(name), root=root)
    oracle = Oracle.from_urdf(model, robot(name))
    rng = np.random.default_rng(0)
    checked = 0
    for _ in range(30):
        q = random_configuration(model, rng)
        q = integrate(model, q, 1e-3 * rng.normal(size=model.nv))
        q = np.clip(q, model.lower, model.upper)
        twist = rng.normal(size=6) * 0.02
        step = velocity_step(model, q, [PoseTask(link, _target(model, q, link, twist))], [KineticEnergy()], DT)
        J, M = oracle.frame_jacobian(q, link, "local_world_aligned"), oracle.mass_matrix(q)
        back = np.linalg.solve(M, J.T)
        if step.limits_active or np.linalg.svd(J)[1][-1] < 1e-2:
            continue
        expected = back @ np.linalg.solve(J @ back, twist)
        # The target holds DT t beside numbers of size 1: so many digits of t are left.
        np.testing.assert_allclose(step.v, expected, rtol=0, atol=max(1e-9, 1e-12 / DT) * abs(expected).max())
        checked += 1
    assert checked >= 8


def test_least_velocity_is_the_pseudo_inverse() -> None:
    model = load_urdf(robot("panda"))
    rng = np.random.default_rng(1)
    q = 0.5 * (model.lower + model.upper) + 0.1 * rng.normal(size=model.nv) * (model.upper - model.lower)
    twist = rng.normal(size=6) * 0.02
    task = PoseTask("panda_hand", _target(model, q, "panda_hand", twist))
    expected = np.linalg.pinv(frame_jacobian(model, q, "panda_hand")) @ twist
    for criteria in ([], [MinimumVelocity()]):
        step = velocity_step(model, q, [task], criteria, DT)
        np.testing.assert_allclose(step.v, expected, atol=1e-9)


def _prioritised(rng: np.random.Generator, model: RobotModel, q: np.ndarray) -> list[Task]:
    """Tasks of three levels that ask for motions small and large, so that some conflict and bounds are active."""
    tasks = []
    for priority in (1, 2, 3):
        away = random_configuration(model, rng)
        away = integrate(model, q, rng.choice([0.01, 0.5]) * difference(model, q, away))
        task = random_task(rng, model, away)
        task.priority = priority
        tasks.append(task)
    return tasks


def _level_rates(problem: VelocityProblem, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """J_k v of each level, in the weighted rows."""
    levels = problem.levels
    state = levels.state(q, levels.targets, problem.dt)
    return [level.J @ (v / state.scale) for level in levels.levels(state, levels.rows(state, levels.targets), 0.0)]


@pytest.mark.parametrize("damping", [0.0, 1e-3])
@pytest.mark.parametrize("seed", range(12))
def test_levels_do_not_see_those_below(seed: int, damping: float) -> None:
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 14, ("fixed", "floating", "planar")[seed % 3])
    q = random_configuration(model, rng)
    tasks = _prioritised(rng, model, q)
    criteria = [KineticEnergy(), JointSprings(), GravityTorque(), RestPosture(), Manipulability()]
    whole = VelocityProblem(model, tasks, criteria, 0.02, damping)
    step = whole.step(q)
    rates = _level_rates(whole, q, step.v)
    for k in range(3):
        alone = VelocityProblem(model, tasks[: k + 1], [], 0.02, damping)
        own = alone.step(q)
        np.testing.assert_allclose(_level_rates(alone, q, own.v)[k], rates[k], rtol=0, atol=1e-9)
        np.testing.assert_allclose(own.residuals[k], step.residuals[k], rtol=0, atol=1e-10)


def test_priorities_decide_conflicts() -> None:
    """Two targets that one tip cannot both reach: the level decides, in either order."""
    model = load_urdf(robot("panda"))
    q = np.clip(model.neutral(), model.lower, model.upper)
    q[:7] = 0.0, -0.5, 0.0, -2.0, 0.0, 1.7, 0.7
    p = forward_kinematics(model, q)["panda_hand"][:3, 3]
    above = np.array([0.0, 0.0, 1e-4])
    for first, second in ((1, 2), (2, 1), (7, 9)):
        up = PositionTask("panda_hand", p + above, name="up", priority=first)
        down = PositionTask("panda_hand", p - above, name="down", priority=second)
        step = velocity_step(model, q, [up, down], [], 1e-2)
        met, missed = (0, 1) if first < second else (1, 0)
        assert step.residuals[met, 0] < 1e-12
        assert step.residuals[missed, 0] == pytest.approx(2e-4, rel=1e-6)
        assert [level.priority for level in step.levels] == sorted((first, second))
        assert step.levels[0].tasks == (("up",) if first < second else ("down",))
    both = velocity_step(model, q, [up, PositionTask("panda_hand", p, priority=7)], [], 1e-2)
    np.testing.assert_allclose(both.residuals[:, 0], 5e-5, rtol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_limits_hold_from_step_to_step(seed: int) -> None:
    """Random robots with speed and acceleration limits chase targets far away; Tracker's limits are the measure."""
    rng = np.random.default_rng(50 + seed)
    model = random_robot(seed, 10, ("fixed", "floating", "planar")[seed % 3])
    model = _with_acceleration(model)
    q, v, dt = random_configuration(model, rng), np.zeros(model.nv), 0.04
    tasks = [random_task(rng, model, random_configuration(model, rng)) for _ in range(2)]
    tasks[1].priority = 2
    problem = VelocityProblem(model, tasks, [KineticEnergy(), JointSprings(gain=5.0)], dt)
    touched = 0
    for _ in range(40):
        step = problem.step(q, v)
        assert np.isfinite(step.v).all()
        assert (abs(step.v) <= model.velocity).all()
        assert (abs(step.v - v) <= model.acceleration * dt * (1 + 1e-12)).all()
        q, v = integrate(model, q, step.v * dt), step.v
        assert (q >= model.lower).all() and (q <= model.upper).all()
        touched += bool(step.limits_active)
    assert touched > 5


@pytest.mark.parametrize("name", ["panda", "talos_full_v2", "z1"])
def test_from_outside_the_limits_back_inside_at_full_speed_at_most(name: str) -> None:
    model = load_urdf(robot(name))
    bounded = np.isfinite(model.upper)
    q = np.where(bounded, model.upper + 0.1, 0.0)
    task = PositionTask(model.link_names[-1], [1.0, 0.0, 3.0])
    problem = VelocityProblem(model, [task], [KineticEnergy()], 0.02)
    for _ in range(200):
        step = problem.step(q)
        assert (abs(step.v) <= model.velocity).all()
        q = integrate(model, q, step.v * 0.02)
    assert (q <= model.upper).all() and (q >= model.lower).all()


def _with_acceleration(model: RobotModel) -> RobotModel:
    joints = [replace(joint, acceleration=4.0) for joint in model.joints[1:]]
    return RobotModel(model.name, model.links, joints, model.root, model.drive)


def test_steps_reach_a_pose_that_can_be_reached() -> None:
    model = load_urdf(robot("panda"))
    rng = np.random.default_rng(4)
    goal = 0.5 * (model.lower + model.upper) + 0.2 * rng.normal(size=model.nv) * (model.upper - model.lower)
    q = 0.5 * (model.lower + model.upper)
    task = PoseTask("panda_hand", forward_kinematics(model, goal)["panda_hand"])
    problem, v = VelocityProblem(model, [task], [JointSprings()], 0.05), np.zeros(model.nv)
    for _ in range(100):
        step = problem.step(q, v)
        q, v = integrate(model, q, step.v * 0.05), step.v
    assert step.errors.max() < 1e-8


def test_constraints_come_before_tasks() -> None:
    model = load_urdf(robot("panda"))
    q = np.clip(model.neutral(), model.lower, model.upper)
    q[:7] = 0.0, -0.5, 0.0, -2.0, 0.0, 1.7, 0.7
    task = PoseTask("panda_hand", _target(model, q, "panda_hand", np.array([0.1, 0.2, 0, 0, 0, 0.3])))
    A = np.zeros((2, 8))
    A[0, [0, 1]], A[1, 3] = (1.0, -2.0), 1.0
    coupled = VelocityConstraint(A, [0.05, -np.inf], [0.05, 0.01], "gears")
    step = velocity_step(model, q, [task], [], DT, constraints=[coupled])
    assert A[0] @ step.v == pytest.approx(0.05, abs=1e-12)
    assert step.v[3] <= 0.01 + 1e-12
    assert step.unmet == ()
    impossible = VelocityConstraint(np.eye(8)[:1], 100.0, 100.0, "too fast")
    step = velocity_step(model, q, [task], [], DT, constraints=[coupled, impossible])
    assert step.unmet == ("too fast",)
    assert (abs(step.v) <= model.velocity).all()
    # Equations win against inequalities, whatever their order.
    low = VelocityConstraint(np.eye(8)[:1], 0.2, np.inf, "at least")
    step = velocity_step(model, q, [task], [], DT, constraints=[low, VelocityConstraint(np.eye(8)[:1], 0.1, 0.1, "c")])
    assert step.v[0] == pytest.approx(0.1, abs=1e-9) and step.unmet == ("at least",)


def test_floating_base_stops_at_its_position_limits() -> None:
    base = Joint(
        "base", "floating", "world", "body", lower=[-0.1, -1, -1, *[-np.inf] * 3], upper=[0.2, 1, 1, *[np.inf] * 3]
    )
    model = RobotModel("box", [Link("world"), Link("body", 1.0)], [base])
    q = integrate(model, model.neutral(), np.array([0.0, 0.0, 0.0, 0.4, -0.8, 1.2]))
    step = velocity_step(model, q, [PositionTask("body", [1.0, 0.3, 0.0])], [], 1.0)
    R = forward_kinematics(model, q)["body"][:3, :3]
    np.testing.assert_allclose(R @ step.v[:3], [0.2, 0.3, 0.0], atol=1e-8)


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
def test_floating_base_that_turns_stays_inside_its_position_limits(backend: str) -> None:
    """Turning bends the way, which the rows of the step do not see."""
    side = np.array([0.1, 0.1, 0.1, *[np.inf] * 3])
    model = RobotModel(
        "box",
        [Link("world"), Link("body", 1.0), Link("arm", 1.0)],
        [Joint("base", "floating", "world", "body", lower=-side, upper=side), Joint("a", "revolute", "body", "arm")],
    )
    rng, stopped = np.random.default_rng(3), 0
    for _ in range(40):
        q = random_configuration(model, rng)
        T = forward_kinematics(model, random_configuration(model, rng))["arm"].copy()
        T[:3, 3] *= 3.0
        problem = VelocityProblem(model, [PoseTask("arm", T)], [KineticEnergy()], 0.5, backend=backend)
        for _ in range(3):
            step = problem.step(q)
            _, J = _rows(problem, q)
            residual = T[:3, 3] - forward_kinematics(model, q)["arm"][:3, 3] - (J @ step.v * 0.5)[:3]
            assert np.linalg.norm(residual) == pytest.approx(step.residuals[0, 0], abs=1e-9)
            q = integrate(model, q, step.v * 0.5)
            assert (q >= model.lower).all() and (q <= model.upper).all()
            stopped += bool((abs(abs(q[:3]) - 0.1) < 1e-6).any())
    assert stopped > 20


def _rows(problem: VelocityProblem, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    state = problem.levels.state(q, problem.levels.targets, problem.dt)
    rows = problem.levels.rows(state, problem.levels.targets)[0]
    return rows.e, rows.J


def test_arguments_are_checked() -> None:
    model = load_urdf(robot("panda"))
    q = np.clip(model.neutral(), model.lower, model.upper)
    task = PositionTask("panda_hand", [0.3, 0.0, 0.5])
    with pytest.raises(ConfigurationError, match="dt"):
        velocity_step(model, q, [task], [], 0.0)
    with pytest.raises(ConfigurationError, match=r"dt must be a number of seconds from 1e-15 to 1e\+09, not 'fast'"):
        velocity_step(model, q, [task], dt="fast")
    with pytest.raises(ConfigurationError, match="previous velocity"):
        velocity_step(model, q, [task], previous=[1.0])
    with pytest.raises(TaskError, match="damping"):
        velocity_step(model, q, [task], damping=-1.0)
    with pytest.raises(TaskError, match="8 columns"):
        velocity_step(model, q, [task], constraints=[VelocityConstraint([[1.0]], 0.0, 0.0)])
    with pytest.raises(TaskError, match="above upper"):
        VelocityConstraint([[1.0]], 1.0, 0.0)
    with pytest.raises(TaskError, match="lower must be 1 numbers"):
        VelocityConstraint([[1.0]], "slow", 0.0)
    for priority in (0, 1.5, True, "first"):
        with pytest.raises(TaskError, match="priority"):
            PositionTask("panda_hand", [0.3, 0.0, 0.5], priority=priority)


def test_nothing_to_do_is_no_motion() -> None:
    model = load_urdf(robot("panda"))
    q = np.clip(model.neutral(), model.lower, model.upper)
    step = velocity_step(model, q, [])
    assert not step.v.any() and step.levels == () and step.residuals.shape == (0, 2)
    fixed = RobotModel("stone", [Link("stone", 1.0)], [])
    step = velocity_step(fixed, [], [PositionTask("stone", [1.0, 0.0, 0.0])], [KineticEnergy(), GravityTorque()])
    assert step.v.shape == (0,) and step.residuals[0, 0] == pytest.approx(1.0)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_an_axis_that_turns_about_itself_holds_no_motion(backend: str) -> None:
    """Its rows are rounding: the level below gets what it gets alone."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        joint = Joint("turn", "continuous", "base", "arm", axis=axis)
        model = RobotModel("turning", (Link("base"), Link("arm")), (joint,))
        q = rng.uniform(-1.0, 1.0, 1)
        T = forward_kinematics(model, q)["arm"]
        upper = AxisTask("arm", axis, T[:3, :3] @ axis)
        lower = PostureTask(q + 0.01, priority=2)
        both, alone = (velocity_step(model, q, tasks, dt=0.04, backend=backend) for tasks in ([upper, lower], [lower]))
        np.testing.assert_allclose(both.v, alone.v, atol=1e-9)
        assert both.residuals[1, 0] < 1e-9
