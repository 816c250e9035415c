"""Spherical joints: kinematics against Pinocchio, and limits that hold in every solver; judged by an oracle."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from robokin_addon.robokin import (
    Joint,
    Link,
    ModelError,
    RobotModel,
    clamp,
    difference,
    forward_kinematics,
    in_limits,
    integrate,
    random_configuration,
)
from robokin_addon.robokin.backend import get_backend
from robokin_addon.robokin.spatial import swing_twist
from robokin_addon.solvers import IKProblem, PoseTask, PositionTask, Status, solve_ik, track, velocity_step
from robokin_addon.solvers.motion.check import check_motion
from robokin_addon.solvers.motion.motion import Motion
from support.few import rest_slow
from support.oracles.cone_oracle import excess
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_trees import random_placement

IDENTITY = np.eye(4)
INSIDE = 1e-12  # shares of the cone, or radians


def arm(seed: int, velocity: float = np.inf, acceleration: float = np.inf) -> RobotModel:
    """Two balls with cones and ranges of every kind among three revolute joints."""
    rng = np.random.default_rng(seed)
    kinds = ["spherical"] * 2 + ["revolute"] * 3
    rng.shuffle(kinds)
    joints = []
    for i, kind in enumerate(kinds):
        lower, upper = np.array([-2.0]), np.array([2.0])
        if kind == "spherical":
            axes = 10.0 ** rng.uniform(-1.5, 0.45, 2)
            axes[0] = math.inf if rng.random() < 0.2 else axes[0]
            axes[1] = 0.0 if rng.random() < 0.1 else axes[1]
            middle, half = rng.uniform(-1.5, 1.5), rng.uniform(0.05, 1.6)
            twist = (-math.inf, math.inf) if rng.random() < 0.2 else (middle - half, middle + half)
            lower, upper = np.array([*-axes, twist[0]]), np.array([*axes, twist[1]])
        joints.append(
            Joint(
                f"joint{i}",
                kind,
                f"link{i}",
                f"link{i + 1}",
                random_placement(rng, 0.3),
                rng.normal(size=3),
                lower,
                upper,
                velocity=velocity,
                acceleration=acceleration,
            )
        )
    return RobotModel(f"balls{seed}", [Link(f"link{i}", 1.0) for i in range(len(kinds) + 1)], joints)


def farthest_outside(model: RobotModel, q: np.ndarray) -> float:
    balls = [joint for joint in model.joints if joint.type == "spherical"]
    return max(excess(joint, row[model.slot(joint.name).q]) for joint in balls for row in q)


def test_kinematics_and_dynamics_equal_pinocchio():
    for seed in range(5):
        model, rng = arm(seed), np.random.default_rng(seed)
        oracle, q, tip = Oracle.from_model(model), random_configuration(model, rng), model.links[-1].name
        np.testing.assert_allclose(forward_kinematics(model, q)[tip], oracle.frames(q)[tip], atol=1e-13)
        for backend in ("numpy", "native"):
            J = get_backend(backend).frame_jacobian(model.tree, q, model.link_index(tip), 1)
            np.testing.assert_allclose(J, oracle.frame_jacobian(q, tip, "local"), atol=1e-12)


def test_limits_that_make_no_cone_are_refused():
    for lower, upper, words in (
        ([-1, -1, -1], [1, 2, 1], r"the lower swing limits .*-1\.0, -1\.0.* must be the upper ones .*1\.0, 2\.0"),
        ([-1, -1, -4], [1, 1, 1], "twist limits .* must lie within -pi .. pi"),
        ([1, 1, 0], [-1, -1, 0], "lower limit .* is above"),
    ):
        with pytest.raises(ModelError, match=f"joint 'j': {words}"):
            Joint("j", "spherical", "a", "b", lower=lower, upper=upper)
    assert Joint("j", "spherical", "a", "b", lower=-1, upper=1).upper.tolist() == [1, 1, 1]
    model = RobotModel("r", [Link("a"), Link("b")], [Joint("j", "spherical", "a", "b")])
    assert model.limits.cones == () and in_limits(model, [0, 1, 0, 0])


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_clamped_and_random_configurations_are_inside(seed):
    model, rng = arm(seed), np.random.default_rng(seed)
    for _ in range(100):
        inside = random_configuration(model, rng)
        assert in_limits(model, inside) and farthest_outside(model, inside[None]) < INSIDE
        np.testing.assert_allclose(clamp(model, inside), inside, rtol=0.0, atol=3e-16)
        q = inside + rng.normal(size=model.nq)
        moved = clamp(model, q)
        assert in_limits(model, moved) and farthest_outside(model, moved[None]) < INSIDE
        assert in_limits(model, q, 9.0)


def test_reachable_targets_are_met_inside_the_cones():
    met = count = 0
    for seed in range(16):
        model, rng = arm(seed), np.random.default_rng(seed)
        tip, q = model.links[-1].name, np.array([random_configuration(model, rng) for _ in range(64)])
        targets = get_backend("native").frame_placements(model.tree, q)[:, [model.link_index(tip)]]
        result = IKProblem(model, [PoseTask(tip, IDENTITY)]).solve_batch(np.ascontiguousarray(targets))
        assert model.limits.contain(result.q).all() and farthest_outside(model, result.q[::4]) < INSIDE
        met, count = met + result.converged.sum(), count + len(q)
        oracle = Oracle.from_model(model)
        for goal, found in zip(targets[result.converged][:3, 0], result.q[result.converged][:3], strict=True):
            np.testing.assert_allclose(oracle.frames(found)[tip], goal, atol=3e-5)
    assert met >= 0.999 * count


@pytest.mark.parametrize("seed", rest_slow([2, 1, 0, 3, 4, 5]))
def test_both_backends_take_the_same_steps(seed):
    model, rng = arm(seed), np.random.default_rng(seed + 50)
    tip = model.links[-1].name
    tasks = [PoseTask(tip, forward_kinematics(model, random_configuration(model, rng))[tip])]
    far = [PositionTask(tip, (0.9, 0.9, 0.9))]
    for wanted in (tasks, far):
        native, numpy = (IKProblem(model, wanted, backend=name, attempts=5) for name in ("native", "numpy"))
        a, b = (problem.solve(diagnose=False) for problem in (native, numpy))
        assert (a.status, a.attempts) == (b.status, b.attempts)
        assert in_limits(model, b.q) and in_limits(model, a.q)
        if a.converged:
            assert a.iterations == b.iterations
            assert abs(difference(model, a.q, b.q)).max() < 1e-6


def test_a_limit_that_is_in_the_way_is_named():
    joints = [
        Joint("ball", "spherical", "a", "b", lower=[-0.3, -0.6, -1], upper=[0.3, 0.6, 1]),
        Joint("tip", "fixed", "b", "c", placement=np.block([[np.eye(3), np.array([[0], [0], [1.0]])], [0, 0, 0, 1]])),
    ]
    model = RobotModel("r", [Link("a"), Link("b"), Link("c")], joints)
    # A swing about u takes the tip along -w, one about w along u.
    for swing, reached in ((0.5, True), (0.7, False)):
        found = solve_ik(model, [PositionTask("c", (math.sin(swing), 0.0, math.cos(swing)))])
        assert found.converged == reached
    assert found.status is Status.LIMIT and found.diagnosis.joints == ("ball",)
    assert found.limits_active == ("ball",)
    # The best effort is the nearest point of the cone.
    np.testing.assert_allclose(forward_kinematics(model, found.q)["c"][:2, 3], (math.sin(0.6), 0.0), atol=1e-6)


@pytest.mark.parametrize("acceleration", [math.inf, 4.0])
@pytest.mark.parametrize(
    ("backend", "seed"),
    [*(("native", seed) for seed in range(8)), pytest.param("numpy", 1, marks=pytest.mark.slow)],
)
def test_tracking_keeps_all_limits_at_every_frame(seed, acceleration, backend):
    model, rng = arm(seed, velocity=1.5, acceleration=acceleration), np.random.default_rng(seed)
    tip = model.links[-1].name
    corners = [random_configuration(model, rng) for _ in range(3)]
    way = [
        integrate(model, start, share * difference(model, start, end))
        for start, end in pairwise(corners)
        for share in np.linspace(0.0, 1.0, 50)
    ]
    way += [corners[-1]] * 60
    targets = np.array([[forward_kinematics(model, q)[tip]] for q in way])
    result = track(model, [PoseTask(tip, IDENTITY)], targets, corners[0], dt=1 / 24, backend=backend)
    assert model.limits.contain(result.q).all() and farthest_outside(model, result.q) < INSIDE
    assert abs(result.motion.v).max() <= 1.5 and abs(result.motion.a).max() <= acceleration
    assert abs(np.diff(result.q, axis=0)).max() > 1e-3
    report = check_motion(result.motion, [PoseTask(tip, IDENTITY)], targets)
    assert not report.violations


@pytest.mark.slow
def test_both_trackers_agree():
    for seed in range(2):
        model, rng = arm(seed, velocity=2.0), np.random.default_rng(seed)
        tip = model.links[-1].name
        start, end = (random_configuration(model, rng) for _ in range(2))
        way = [integrate(model, start, s * difference(model, start, end)) for s in np.linspace(0.0, 1.0, 15)[:8]]
        targets = np.array([[forward_kinematics(model, q)[tip]] for q in way])
        results = [track(model, [PoseTask(tip, IDENTITY)], targets, start, backend=b) for b in ("native", "numpy")]
        np.testing.assert_array_equal(results[0].codes, results[1].codes)
        met = results[0].converged
        for a, b in zip(results[0].q[met], results[1].q[met], strict=True):
            assert abs(difference(model, a, b)).max() < 1e-6


@pytest.mark.parametrize("acceleration", rest_slow([math.inf, 4.0]))
@pytest.mark.parametrize("backend", ["native", pytest.param("numpy", marks=pytest.mark.slow)])
def test_differential_steps_stay_in_the_cones(acceleration, backend):
    for seed in (0, 1, 4):
        model, rng = arm(seed, 1.5, acceleration), np.random.default_rng(seed)
        tip, q, v = model.links[-1].name, random_configuration(model, rng), np.zeros(model.nv)
        task = PoseTask(tip, forward_kinematics(model, random_configuration(model, rng))[tip])
        for _ in range(30):
            step = velocity_step(model, q, [task], dt=1 / 24, previous=v, damping=1e-3, backend=backend)
            assert (abs(step.v) <= 1.5).all() and (abs(step.v - v) * 24 <= acceleration).all()
            v, q = step.v, integrate(model, q, step.v / 24)
            assert in_limits(model, q) and farthest_outside(model, q[None]) < INSIDE


def test_a_motion_is_inside_between_its_samples_and_a_check_names_what_is_not():
    model = RobotModel(
        "r",
        [Link("a"), Link("b")],
        [Joint("ball", "spherical", "a", "b", lower=[-2, -2, -0.5], upper=[2, 2, 0.5])],
    )
    cone = model.limits.cones[0]
    angles = np.linspace(0.0, 6.0, 7)
    swings = 2.0 * np.column_stack((np.cos(angles), np.sin(angles)))
    q = np.array([clamp(model, swing_twist.from_swing_and_twist(swing, 0.5, cone.basis)) for swing in swings])
    motion = Motion.of(model, np.arange(7.0), q)
    assert model.limits.contain(motion.at(np.linspace(0.0, 6.0, 241)).q).all()
    outside = swing_twist.from_swing_and_twist(np.array([0.0, 2.5]), -0.7, cone.basis)
    report = check_motion(Motion.of(model, [0.0, 1.0], [q[0], outside]))
    found = {violation.joint: violation for violation in report.violations}
    assert set(found) == {"ball/swing", "ball/twist"} and report.violations[0].frame == 1
    assert (found["ball/swing"].kind, found["ball/swing"].value) == ("upper", pytest.approx(1.25))
    assert (found["ball/twist"].kind, found["ball/twist"].value) == ("lower", pytest.approx(-0.7))
