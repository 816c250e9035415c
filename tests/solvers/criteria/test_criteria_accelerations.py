"""Criteria on accelerations: cost against Pinocchio, optimum against formulas, ten seconds without whips."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import (
    Joint,
    Link,
    ModelError,
    RobotModel,
    TaskError,
    forward_kinematics,
    frame_jacobian,
    integrate,
    load_urdf,
    random_configuration,
)
from robokin_addon.robokin.library import ROBOTS
from robokin_addon.solvers import PoseTask, PositionTask, VelocityProblem, velocity_step
from robokin_addon.solvers.criteria import Criterion, DynamicTorque, MinimumVelocity, Smooth, State
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_arms import random_arm
from support.robots import robot

DT = 1.0 / 240.0
SECONDS = 10.0


def _unlimited(model: RobotModel) -> RobotModel:
    free = {"lower": -np.inf, "upper": np.inf, "velocity": np.inf, "effort": np.inf}
    return RobotModel(model.name, model.links, [replace(joint, **free) for joint in model.joints[1:]])


def test_value_is_the_torque_that_pinocchio_says() -> None:
    model = load_urdf(robot("panda"))
    rng = np.random.default_rng(0)
    q, before, v = random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    a = (v - before) / DT
    torque = Oracle.from_urdf(model, robot("panda")).inverse_dynamics(q, before, a)
    value = DynamicTorque().value(State(model, q, previous=before, dt=DT), v)
    assert value == pytest.approx(0.5 * np.sum((torque / model.effort) ** 2), rel=1e-9)


def test_undamped_step_is_the_least_torque_under_the_task() -> None:
    """Against the weighted pseudo-inverse of the acceleration, from Pinocchio's M, h and J (Hollerbach, Suh, 1985)."""
    path = robot("panda")
    model = _unlimited(load_urdf(path))
    oracle = Oracle.from_urdf(model, path)
    q = 0.5 * (load_urdf(path).lower + load_urdf(path).upper)
    before = 0.2 * np.random.default_rng(1).normal(size=model.nv)
    target = forward_kinematics(model, q)["panda_hand"].copy()
    target[:3, 3] += 0.1 * DT
    found = velocity_step(model, q, [PoseTask("panda_hand", target)], [DynamicTorque(0.0)], DT, before)

    J = frame_jacobian(model, q, "panda_hand", reference="local_world_aligned")
    M = oracle.mass_matrix(q)
    effort = model.total_mass * 9.81 * _length(model, target)
    rest = oracle.inverse_dynamics(q, before, np.zeros(model.nv))
    twist = np.array([0.1, 0.1, 0.1, 0.0, 0.0, 0.0])
    a = (twist - J @ before) / DT  # what J (before + a dt) = twist asks for
    B = M / _effort(model, effort)[:, None]
    b = rest / _effort(model, effort)
    null = np.linalg.svd(J)[2][6:].T
    particular = np.linalg.pinv(J) @ a
    least = particular - null @ np.linalg.lstsq(B @ null, B @ particular + b, rcond=None)[0]
    np.testing.assert_allclose(found.v, before + least * DT, rtol=1e-6, atol=1e-9)
    assert not found.limits_active


def _length(model: RobotModel, target: np.ndarray) -> float:
    return VelocityProblem(model, [PoseTask("panda_hand", target)]).length


def _effort(model: RobotModel, whole: float) -> np.ndarray:
    """The fingers slide: [N] for them."""
    lengths = np.array([joint.type == "prismatic" for joint in model.moving_joints])
    return np.where(lengths, model.total_mass * 9.81, whole)


def _swept(criterion: Criterion) -> np.ndarray:
    """(steps, nv) velocities of a planar arm of three parts whose tool goes to and fro on a line for ten seconds."""
    model = _unlimited(ROBOTS["planar_3r"].make("fixed"))
    q = np.array([0.4, 0.9, 0.8])
    start = forward_kinematics(model, q)["tool"][:3, 3]
    v, all_v = np.zeros(3), []
    for step in range(1, int(SECONDS / DT) + 1):
        target = start.copy()
        target[0] += 0.25 * (np.cos(2.0 * np.pi * step * DT / 2.5) - 1.0)
        task = PositionTask("tool", target, weights=(1, 1, 0))
        v = velocity_step(model, q, [task], [criterion], DT, v).v
        q = integrate(model, q, v * DT)
        all_v.append(v)
    reached = forward_kinematics(model, q)["tool"][:3, 3]
    assert np.linalg.norm(reached[:2] - target[:2]) < 1e-3
    return np.array(all_v)


@pytest.mark.slow
def test_torque_whips_undamped_and_does_not_damped() -> None:
    gravity = (0.0, 0.0, -9.81)  # the arm turns about z: it lies
    damped = abs(_swept(DynamicTorque(gravity=gravity))).max()
    undamped = abs(_swept(DynamicTorque(0.0, gravity=gravity))).max()
    plain = abs(_swept(MinimumVelocity())).max()
    assert damped < 2.0 * plain
    assert undamped > 5.0 * damped


@pytest.mark.slow
@pytest.mark.parametrize("seed", [901, 905])
def test_arms_under_gravity_do_not_run_away(seed: int) -> None:
    """Random arms of links of 1 kg that nothing limits: with 20 [1/s] the first one's joints go faster and faster."""
    arm = random_arm(seed)
    inertia = np.diag([0.02, 0.02, 0.02])
    links = [Link(name, 1.0, [0.05, 0.0, 0.0], inertia) for name in arm.link_names]
    model = _unlimited(RobotModel(arm.name, links, arm.joints[1:]))
    oracle, tip = Oracle.from_model(model), model.link_names[-1]
    q, v, fastest = arm.limits.middle(arm.neutral()), np.zeros(model.nv), 0.0
    start, gravity = forward_kinematics(model, q)[tip][:3, 3], np.array([0.0, 0.0, -9.81])
    for step in range(1, int(SECONDS / DT) + 1):
        phase = 2.0 * np.pi * step * DT / 2.5
        target = start + 0.08 * np.array([np.cos(phase) - 1.0, 0.5 * (1.0 - np.cos(2.0 * phase)), 0.0])
        problem = VelocityProblem(model, [PositionTask(tip, target)], [DynamicTorque()], DT)
        found = problem.step(q, v)
        if step % 600 == 0:
            torque = oracle.inverse_dynamics(q, v, (found.v - v) / DT, gravity)
            whole = model.total_mass * 9.81 * problem.length / State(model, q, length=problem.length).scale
            assert found.costs["DynamicTorque"] == pytest.approx(0.5 * np.sum((torque / whole) ** 2), rel=1e-9)
        v = found.v
        q = integrate(model, q, v * DT)
        fastest = max(fastest, abs(v).max())
    assert fastest < 10.0
    assert np.linalg.norm(forward_kinematics(model, q)[tip][:3, 3] - target) < 1e-3


def _sliders() -> RobotModel:
    axes = np.eye(3)[[0, 0]]
    links = [Link("base"), Link("first"), Link("second")]
    joints = [Joint(f"j{i}", "prismatic", links[i].name, links[i + 1].name, axis=axes[i]) for i in range(2)]
    return RobotModel("sliders", links, joints)


def test_smooth_alone_keeps_what_is_free_moving() -> None:
    model = _sliders()
    task = PositionTask("second", np.zeros(3), weights=(1, 0, 0))
    v = velocity_step(model, np.zeros(2), [task], [Smooth()], DT, [0.3, -0.3]).v
    np.testing.assert_allclose(v, [0.3, -0.3], rtol=1e-9)


def test_smooth_beside_least_velocity_settles_like_a_lag() -> None:
    """v' = -v / T^2 dt ... the minimum of v^2 + (T (v - u) / dt)^2 is u r / (1 + r), r = (T / dt)^2."""
    model = _sliders()
    task = PositionTask("second", np.zeros(3), weights=(1, 0, 0))
    r = (0.02 / DT) ** 2
    v = velocity_step(model, np.zeros(2), [task], [Smooth(0.02), MinimumVelocity()], DT, [0.3, -0.3]).v
    np.testing.assert_allclose(v, np.array([0.3, -0.3]) * r / (1.0 + r), rtol=1e-9)


def test_smooth_value_is_the_acceleration() -> None:
    model = _sliders()
    state = State(model, np.zeros(2), length=0.5, previous=np.array([0.1, 0.0]), dt=0.1)
    assert Smooth(0.2).value(state, np.array([0.2, 0.3])) == pytest.approx(0.5 * 0.04 * (1.0 + 9.0) / 0.25)


def test_bad_settings_are_reported() -> None:
    with pytest.raises(TaskError, match="damping must be a number >= 0, not -1"):
        DynamicTorque(-1)
    with pytest.raises(TaskError, match="time must be a positive number, not 0"):
        Smooth(0)
    with pytest.raises(ModelError, match="mass"):
        velocity_step(_sliders(), np.zeros(2), [PositionTask("second", np.zeros(3))], [DynamicTorque()])
