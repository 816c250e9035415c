"""Motions: differences on the manifold, resampling inside the limits, unwrapping, names."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    Mimic,
    RobotModel,
    difference,
    library_robot,
    load_urdf,
)
from robokin_addon.solvers.motion.check import check_motion
from robokin_addon.solvers.motion.motion import Motion, coordinate_names, velocity_names
from robokin_addon.solvers.motion.rolled import side_slip
from support.problems.motions import wandering
from support.random_problems.random_trees import random_robot
from support.robots import robot


@pytest.mark.parametrize("root", ["fixed", "floating", "planar"])
def test_velocities_are_manifold_differences(root):
    model = random_robot(3, root=root)
    q = wandering(model, 20)
    times = np.cumsum(np.random.default_rng(1).uniform(0.01, 0.1, 20))
    start = np.random.default_rng(2).normal(size=model.nv)
    motion = Motion.of(model, times, q, start)
    assert (motion.v[0] == start).all() and (motion.a[0] == 0).all()
    for k in range(1, 20):
        dt = times[k] - times[k - 1]
        np.testing.assert_allclose(motion.v[k], difference(model, q[k - 1], q[k]) / dt, atol=1e-12)
        span = (times[k] - times[k - 2]) / 2 if k > 1 else dt
        np.testing.assert_allclose(motion.a[k], (motion.v[k] - motion.v[k - 1]) / span, atol=1e-9)
    assert len(motion) == 20 and motion.duration == pytest.approx(times[-1] - times[0])


def test_a_short_last_step_makes_no_acceleration():
    """Derivatives of samples at any times are those of the curve somewhere between them, of a cubic at their mean."""
    slide = Joint("slide", "prismatic", "base", "cart", axis=(1, 0, 0), lower=-9.0, upper=9.0)
    model = RobotModel("cart", [Link("base"), Link("cart")], [slide])
    t = np.append(np.arange(30) * 0.04, 1.1605)
    motion = Motion.of(model, t, (t**3)[:, None])
    means = [np.convolve(t, np.full(n, 1.0 / n), "valid") for n in (3, 4)]
    np.testing.assert_allclose(motion.a[2:, 0], 6.0 * means[0], rtol=1e-9)
    np.testing.assert_allclose(motion.jerk[3:], 6.0, rtol=1e-6)
    limits = {"jerk": 6.1, "tools": {"cart": {"acceleration": 6.97}}}
    told = check_motion(motion, limits=limits).violations
    assert not [each for each in told if each.frame > 2]


@pytest.mark.parametrize("rate", [7.0, 24.0, 100.0, 1000.0])
def test_resampling_stays_inside_position_and_velocity_limits(rate):
    model = random_robot(5, joints=16, root="floating")
    frames = 30
    motion = Motion.of(model, np.arange(frames) / 24.0, wandering(model, frames))
    fine = motion.resample(rate)
    assert len(fine) == int(motion.duration * rate + 1e-9) + 1
    np.testing.assert_allclose(np.diff(fine.times), 1.0 / rate, rtol=1e-9)
    ours = ~np.isin(np.arange(model.nq), [i + k for i in model.tree.quaternions for k in range(-3, 4)])
    assert (fine.q[:, ours] >= motion.q[:, ours].min(axis=0)).all()
    assert (fine.q[:, ours] <= motion.q[:, ours].max(axis=0)).all()
    assert (abs(fine.v) <= abs(motion.v).max(axis=0)).all() and (abs(fine.a) <= abs(motion.a).max(axis=0)).all()
    if rate >= 24.0:  # every sample lies within one interval or on its ends: so does the difference
        again = Motion.of(model, fine.times, fine.q)
        assert (abs(again.v) <= abs(motion.v).max(axis=0) * (1 + 1e-9) + 1e-9).all()


def test_resampling_at_the_frames_gives_them_back_bit_by_bit():
    model = random_robot(5, root="floating")
    motion = Motion.of(model, np.arange(10) / 24.0, wandering(model, 10))
    same = motion.at(motion.times)
    assert (same.q == motion.q).all() and (same.v == motion.v).all() and (same.a == motion.a).all()


def test_half_way_is_half_way_on_the_manifold():
    model = random_robot(6, root="floating")
    q = wandering(model, 2, step=0.5)
    half = Motion.of(model, [0.0, 1.0], q).at([0.5])
    move = difference(model, q[0], q[1])
    np.testing.assert_allclose(difference(model, q[0], half.q[0]), 0.5 * move, atol=1e-12)


def test_outside_the_motion_is_an_error():
    model = random_robot(1)
    motion = Motion.of(model, [0.0, 1.0], [model.neutral()] * 2)
    with pytest.raises(ConfigurationError, match=r"within 0 .. 1 s"):
        motion.at([1.5])
    for rate in (0.0, -1.0, np.nan, np.inf, 1e9):
        with pytest.raises(ConfigurationError, match=r"rate must be above 0 and below 1e\+09 samples per second"):
            motion.resample(rate)


def turner(kind: str = "continuous", follow: bool = False, **limits) -> RobotModel:
    joints = [Joint("turn", kind, "a", "b", **limits), Joint("ball", "floating", "b", "c")]
    if follow:
        joints.append(Joint("follow", "continuous", "c", "d", mimic=Mimic("turn", 0.5)))
    return RobotModel("turner", [Link(n) for n in ("abcd" if follow else "abc")], joints)


def wrapped_turns(model: RobotModel) -> Motion:
    angle = np.linspace(0.0, 15.0, 60)
    q = np.tile(model.neutral(), (60, 1))
    q[:, 0] = (angle + np.pi) % (2 * np.pi) - np.pi
    half = 0.5 * angle
    q[:, 4], q[:, 7] = np.cos(half), np.sin(half)
    q[::3, 4:] *= -1.0
    return Motion.of(model, np.arange(60) / 24.0, q)


def test_unwrapped_angles_and_quaternions_are_continuous():
    motion = wrapped_turns(turner())
    assert abs(np.diff(motion.q[:, 0])).max() > 6.0
    smooth = motion.unwrapped()
    np.testing.assert_allclose(smooth.q[:, 0], np.linspace(0.0, 15.0, 60), atol=1e-12)
    assert (np.einsum("ij,ij->i", smooth.q[1:, 4:], smooth.q[:-1, 4:]) > 0.0).all()
    assert abs(smooth.v[1:, 0] - smooth.v[1, 0]).max() < 1e-9
    assert abs(motion.q[:, 1:4] - smooth.q[:, 1:4]).max() == 0.0


def test_unwrapping_never_leaves_the_limits_nor_moves_a_mimic_joint():
    limited = wrapped_turns(turner("revolute", lower=-np.pi, upper=np.pi)).unwrapped()
    assert abs(limited.q[:, 0]).max() <= np.pi
    followed = wrapped_turns(turner(follow=True))
    assert (followed.unwrapped().q[:, 0] == followed.q[:, 0]).all()


def test_coordinate_names():
    def names(kind):
        joint = Joint("j", kind, "a", "b")
        return coordinate_names(joint), velocity_names(joint)

    assert names("revolute") == (["j"], ["j"])
    assert names("prismatic") == (["j"], ["j"])
    assert names("planar") == (["j/x", "j/y", "j/angle"],) * 2
    assert names("floating") == (
        ["j/x", "j/y", "j/z", "j/qw", "j/qx", "j/qy", "j/qz"],
        ["j/vx", "j/vy", "j/vz", "j/wx", "j/wy", "j/wz"],
    )
    assert names("fixed") == ([], [])


def test_names_cover_q_and_v_of_a_real_robot():
    model = load_urdf(robot("talos_reduced"), root="floating")
    assert sum(len(coordinate_names(j)) for j in model.moving_joints) == model.nq
    assert sum(len(velocity_names(j)) for j in model.moving_joints) == model.nv


@pytest.mark.parametrize(
    ("times", "q", "match"),
    [
        ([0.0, 0.0], [[0.0] * 8] * 2, "increase: sample 1"),
        ([1.0, 0.5], [[0.0] * 8] * 2, "increase"),
        ([0.0], [[0.0] * 7], "shape"),
        ([], np.zeros((0, 8)), "at least one"),
        ([np.nan], [[0.0] * 8], "not finite"),
        ([0.0], [[np.inf] + [0.0] * 7], "not finite"),
        ([0.0], [[0.0] * 8], "zero quaternion"),
        (["x"], [[0.0] * 8], "numbers"),
    ],
)
def test_bad_input_is_named(times, q, match):
    with pytest.raises(ConfigurationError, match=match):
        Motion.of(turner(), times, q)


@pytest.mark.parametrize("turn", [2.5, -2.5])
def test_floating_joints_stay_inside_their_position_limits_between_samples(turn):
    """The screw between two samples may lead out."""
    bounds = [1.0, 1.0, 1.0, np.inf, np.inf, np.inf]
    free = Joint("free", "floating", "ground", "body", lower=[-b for b in bounds], upper=bounds)
    model = RobotModel("flyer", [Link("ground"), Link("body")], [free])
    turned = [np.cos(0.5 * turn), 0.0, 0.0, np.sin(0.5 * turn)]
    motion = Motion.of(model, [0.0, 1.0], [[1.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, *turned]])
    assert check_motion(motion).ok
    fine = motion.resample(50.0)
    assert abs(fine.q[:, :3]).max() <= 1.0
    assert {violation.kind for violation in check_motion(fine).violations} <= {"velocity", "acceleration"}
    assert fine.q[25, 3:] == pytest.approx([np.cos(0.25 * turn), 0.0, 0.0, np.sin(0.25 * turn)])


def test_wheeled_bases_roll_between_samples():
    model = library_robot("mobile_arm")
    (base,) = model.rolling_bases
    wheels, own = list(base.wheel_q), slice(base.q, base.q + 3)
    q = np.array([model.neutral()] * 3)
    for k, turned in enumerate(([2.0, 6.0], [-3.0, 5.0])):
        q[k + 1, wheels] = q[k, wheels] + turned
        q[k + 1, own] = base.roll(q[k, own], np.array(turned))
    fine = Motion.of(model, [0.0, 1.0, 2.0], q).resample(20.0)
    assert abs(check_motion(fine).slip).max() < 1e-12
    np.testing.assert_array_equal(fine.q[20], q[1])
    np.testing.assert_allclose(fine.q[40], q[2], atol=1e-15)
    q[1:, base.q] += 0.5  # poses that no rolling joins
    slid = Motion.of(model, [0.0, 1.0, 2.0], q).resample(20.0)
    assert abs(np.diff(slid.q[:, base.q] - fine.q[:, base.q])[:20] - 0.5 / 20).max() < 1e-12


def test_side_slip_of_a_base_that_goes_straight_where_it_should_turn():
    """Half-way along the chord of an arc the heading is a quarter of its turn off."""
    model = library_robot("mobile_arm")
    (base,) = model.rolling_bases
    ends = np.tile(model.neutral(), (2, 1))
    ends[0, base.q : base.q + 3] = 0.3, -0.2, 0.7
    ends[1, list(base.wheel_q)] = turned = np.array([1.0, 3.0])
    ends[1, base.q : base.q + 3] = base.roll(ends[0, base.q : base.q + 3], turned)
    chord = np.linalg.norm(np.subtract(*base.axle(ends[:, base.q : base.q + 3])))
    quarter = 0.25 * (ends[1, base.q + 2] - 0.7)
    assert side_slip(Motion.of(model, [0.0, 0.5], ends)) == pytest.approx([0.0], abs=1e-12)
    halves = Motion.of(model, [0.0, 0.25, 0.5], [ends[0], ends.mean(axis=0), ends[1]])
    axle = base.axle(halves.q[:, base.q : base.q + 3])
    assert np.linalg.norm(axle[1] - axle[::2].mean(axis=0)) < 1e-3 * chord
    assert side_slip(halves) == pytest.approx([2.0 * chord * abs(np.sin(quarter))], rel=1e-2)
    assert len(side_slip(Motion.of(turner(), [0.0], [turner().neutral()]))) == 0
