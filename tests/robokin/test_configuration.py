"""Configurations as points of a manifold, and their limits."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    Mimic,
    RobotModel,
    UnknownNameError,
    clamp,
    difference,
    forward_kinematics,
    frame_jacobian,
    in_limits,
    integrate,
    random_configuration,
)
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_trees import random_robot

ROOTS = ("fixed", "floating", "planar")


def one_joint(type: str, **fields) -> RobotModel:
    return RobotModel("one", [Link("base"), Link("tip")], [Joint("joint", type, "base", "tip", **fields)])


def two_joints_mimic(lower: float, upper: float) -> RobotModel:
    """A finger that follows another at -2 q + 0.1 and may reach 0.5 only."""
    links = [Link(name) for name in ("palm", "left", "right")]
    left = Joint("left", "revolute", "palm", "left", lower=lower, upper=upper)
    right = Joint("right", "revolute", "palm", "right", lower=-0.5, upper=0.5, mimic=Mimic("left", -2.0, 0.1))
    return RobotModel("hand", links, [left, right])


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("seed", range(6))
def test_integrate_and_difference_are_inverse(seed, root):
    model, rng = random_robot(seed, root=root), np.random.default_rng(seed)
    q0, q1 = random_configuration(model, rng), random_configuration(model, rng)
    reached = integrate(model, q0, difference(model, q0, q1))
    for start in model.tree.quaternions:
        part = slice(start, start + 4)
        assert np.linalg.norm(reached[part]) == pytest.approx(1.0, abs=1e-15)
        reached[part] *= np.sign(reached[part] @ q1[part])
    assert reached == pytest.approx(q1, abs=1e-13)
    v = rng.uniform(-0.9, 0.9, model.nv)
    assert difference(model, q0, integrate(model, q0, v)) == pytest.approx(v, abs=1e-13)
    assert integrate(model, q0, np.zeros(model.nv)) == pytest.approx(q0, abs=1e-15)
    assert difference(model, q0, q0) == pytest.approx(np.zeros(model.nv), abs=1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 0.5, 1.0, math.pi - 1e-9])
def test_floating_joints_move_as_pinocchios(angle):
    model = one_joint("floating")
    oracle, rng = Oracle.from_model(model), np.random.default_rng(0)
    for _ in range(10):
        q, axis = random_configuration(model, rng), rng.normal(size=3)
        v = np.concatenate((rng.normal(size=3), angle * axis / np.linalg.norm(axis)))
        moved = pin.integrate(oracle.pin_model, oracle.q(q), v)
        found = oracle.q(integrate(model, q, v))
        found[3:] *= np.sign(found[3:] @ moved[3:])
        assert found == pytest.approx(moved, abs=1e-13)
        assert difference(model, q, integrate(model, q, v)) == pytest.approx(v, abs=1e-12)


def test_quaternions_are_continuous_in_the_velocity():
    """No sudden change of sign: what is animated with them must not jump."""
    model = one_joint("floating")
    q = model.neutral()
    for _ in range(100):
        moved = integrate(model, q, np.array([0, 0, 0, 0.1, 0.05, 0.0]))
        assert moved[3:] @ q[3:] > 0.99
        q = moved


@pytest.mark.parametrize("root", ROOTS)
def test_random_configurations_are_in_limits_and_reproducible(root):
    model = random_robot(11, joints=20, root=root)
    samples = np.array([random_configuration(model, np.random.default_rng(s)) for s in range(300)])
    assert all(in_limits(model, q) for q in samples)
    assert (samples[7] == random_configuration(model, np.random.default_rng(7))).all()
    bounded = np.isfinite(model.lower)
    assert bounded.sum() > 3
    span = (model.upper - model.lower)[bounded]
    assert (samples.min(axis=0)[bounded] < model.lower[bounded] + 0.05 * span).all()
    assert (samples.max(axis=0)[bounded] > model.upper[bounded] - 0.05 * span).all()


@pytest.mark.parametrize(
    ("type", "limits", "low", "high"),
    [
        ("continuous", {}, -math.pi, math.pi),
        ("prismatic", {}, -1.0, 1.0),
        ("revolute", {"lower": 5.0}, 5.0, 5.0 + 2 * math.pi),
        ("prismatic", {"upper": -4.0}, -6.0, -4.0),
        ("revolute", {"lower": 0.25, "upper": 0.25}, 0.25, 0.25),
    ],
)
def test_range_of_random_values(type, limits, low, high):
    model, rng = one_joint(type, **limits), np.random.default_rng(0)
    samples = np.array([random_configuration(model, rng)[0] for _ in range(400)])
    assert low <= samples.min() <= low + 0.02 * (high - low)
    assert high - 0.02 * (high - low) <= samples.max() <= high


def test_random_rotations_are_uniform():
    """For uniform rotations the mean of |q_i| is 4 / (3 pi) for each component, and every axis is turned anywhere."""
    model, rng = one_joint("floating"), np.random.default_rng(0)
    q = np.array([random_configuration(model, rng) for _ in range(4000)])
    assert np.linalg.norm(q[:, 3:], axis=1) == pytest.approx(1.0)
    assert abs(q[:, 3:]).mean(axis=0) == pytest.approx(4 / (3 * math.pi), abs=0.015)
    assert q[:, 3:].mean(axis=0) == pytest.approx(0.0, abs=0.03)
    assert (abs(q[:, :3]) <= 1.0).all()
    assert abs(q[:, :3]).max() > 0.99


def test_limits_of_mimic_joints_bind_the_joint_they_follow():
    model = two_joints_mimic(-1.0, 1.0)
    assert in_limits(model, [0.3])
    assert model.joint_values([0.3])["right"] == pytest.approx(-0.5)
    assert not in_limits(model, [0.31])
    assert clamp(model, [0.9]) == pytest.approx([0.3])
    assert clamp(model, [-0.9]) == pytest.approx([-0.2])


def test_limits_are_inclusive_and_the_tolerance_widens_them():
    model = one_joint("revolute", lower=-1.0, upper=2.0)
    assert in_limits(model, [-1.0]) and in_limits(model, [2.0])
    assert not in_limits(model, [2.0 + 1e-12])
    assert in_limits(model, [2.0 + 1e-12], tolerance=1e-9)
    assert not in_limits(model, [-1.0 - 1e-12])
    assert in_limits(model, [-1.0 - 1e-12], tolerance=1e-9)


def test_clamp_leaves_what_is_inside_alone_and_moves_the_rest_to_the_bound():
    model = random_robot(2, root="floating")
    q = random_configuration(model, np.random.default_rng(0))
    assert clamp(model, q) == pytest.approx(q, abs=1e-15)
    wild = q + 10.0 * (np.isfinite(model.upper))
    clamped = clamp(model, wild)
    assert in_limits(model, clamped)
    assert (clamped[np.isfinite(model.upper)] == model.upper[np.isfinite(model.upper)]).all()
    assert forward_kinematics(model, clamped).array.shape == (len(model.links), 4, 4)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([0.0, 0.0], r"v of 'one' must have shape \(1,\), not \(2,\)"),
        ([math.nan], "v of 'one' has entries that are not finite"),
        ("fast", "v of 'one' must be 1 numbers, not 'fast'"),
        ([[0.0]], "must have shape"),
    ],
)
def test_bad_velocities_are_refused(value, problem):
    with pytest.raises(ConfigurationError, match=problem):
        integrate(one_joint("revolute"), [0.0], value)


def test_bad_configurations_are_refused():
    model = one_joint("revolute")
    for function in (
        lambda q: integrate(model, q, [0.0]),
        lambda q: difference(model, q, [0.0]),
        lambda q: difference(model, [0.0], q),
        lambda q: in_limits(model, q),
        lambda q: clamp(model, q),
    ):
        for bad in ([0.0, 0.0], [math.inf], None):
            with pytest.raises(ConfigurationError):
                function(bad)


@pytest.mark.parametrize(
    "values", [5, "abc", [1.0], np.zeros(2), {"joint": "0.5"}, {"joint": b"1"}, {"joint": 10**400}, {"joint": 1j}]
)
def test_what_is_no_joint_value_is_refused(values):
    with pytest.raises(ConfigurationError) as caught:
        one_joint("revolute").configuration(values)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("q", [["1"], [10**400], [1j], [None], np.array(["2020-01-01"], "datetime64[D]"), "1"])
def test_what_is_no_number_is_no_configuration(q):
    with pytest.raises(ConfigurationError):
        forward_kinematics(one_joint("revolute"), q)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint64, bool, object])
def test_numbers_of_every_type_are_configurations(dtype):
    model = one_joint("revolute")
    assert model.configuration({"joint": np.ones(1, dtype)[0]}).tolist() == [1.0]
    assert model.joint_values(np.ones(1, dtype)) == {"joint": 1.0}


@pytest.mark.parametrize("size", [0.0, 1e-10, 1.7e308])
def test_quaternions_without_direction_are_refused(size):
    model = one_joint("floating")
    q = [0.0, 0.0, 0.0, size, size, size, size]
    with pytest.raises(ConfigurationError, match="quaternion"):
        model.check_configuration(q)
    with pytest.raises(ConfigurationError, match="quaternion"):
        model.configuration({"joint": q})


def test_large_quaternions_are_scaled_without_overflow():
    model = one_joint("floating")
    q = [0.0, 0.0, 0.0, 0.0, 3e307, 4e307, 0.0]
    assert model.check_configuration(q)[3:] == pytest.approx([0.0, 0.6, 0.8, 0.0], abs=1e-15)
    assert model.configuration({"joint": q})[3:] == pytest.approx([0.0, 0.6, 0.8, 0.0], abs=1e-15)


def test_mimic_joints_that_contradict_each_other_are_refused():
    links = [Link(name) for name in "abcd"]
    joints = [
        Joint("lead", "continuous", "a", "b"),
        Joint("twice", "continuous", "a", "c", mimic=Mimic("lead", 2.0)),
        Joint("back", "continuous", "a", "d", mimic=Mimic("lead", -1.0, 1.0)),
    ]
    model = RobotModel("mimics", links, joints)
    assert model.configuration({"twice": 2.0, "back": 0.0}).tolist() == [1.0]
    assert model.configuration({"back": 1e9}) == pytest.approx([1.0 - 1e9])
    for values in ({"twice": 1.0, "back": 5.0}, {"back": 5.0, "twice": 1.0}, {"twice": 1.0, "lead": 1.0}):
        with pytest.raises(ConfigurationError, match="mimics 'lead' and must be"):
            model.configuration(values)


@pytest.mark.parametrize("name", [5, None, ("joint",), ["joint"]])
def test_names_that_are_no_text_are_unknown(name):
    model = one_joint("revolute")
    for call in (
        lambda: model.joint(name),
        lambda: forward_kinematics(model, [0.0])[name],
        lambda: frame_jacobian(model, [0.0], name),
        lambda: frame_jacobian(model, [0.0], "tip", reference=name),
        lambda: model.with_root(name),
    ):
        with pytest.raises(UnknownNameError, match="valid: "):
            call()
