"""A motion between its frames: against SciPy's spline, inside the limits at all times, near the frames."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import clarabel
import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, Joint, Link, RobotModel, integrate, library_robot
from robokin_addon.robokin.backend import get_backend
from robokin_addon.solvers import Motion, retime, smooth_motion
from robokin_addon.solvers.motion.rolled import wheel_slip
from robokin_addon.solvers.retiming.smooth_motion import smooth_motion_steps
from scipy import sparse
from scipy.interpolate import CubicSpline
from support.few import rest_slow

PANDA = library_robot("panda")
DT, FRAMES = 1.0 / 24.0, 60


def harsh(acceleration: float = 4.0, speed: float = 0.0) -> Motion:
    """Accelerations jump from limit to limit; speed: at both ends [rad/s]."""
    rng, a = np.random.default_rng(0), acceleration
    steps = a * rng.choice([-1.0, 1.0], size=(FRAMES, 7))
    steps -= steps.mean(axis=0)
    way = np.cumsum(np.cumsum(steps, axis=0), axis=0) * DT**2
    q = PANDA.limits.middle(PANDA.neutral()) + 0.1 * way + speed * DT * (np.arange(FRAMES) - 0.5 * FRAMES)[:, None]
    return Motion.of(PANDA, DT * np.arange(FRAMES), np.clip(q, PANDA.lower, PANDA.upper))


def between(model: RobotModel, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """(n, nv) the difference of each two of configurations (n, nq)."""
    return get_backend().difference(model.tree, q0, q1)


def steps_of(model: RobotModel, q: np.ndarray) -> np.ndarray:
    return between(model, q[:-1], q[1:])


def slow(limit: float, velocity: float = 10.0) -> RobotModel:
    """A Panda whose joints accelerate by so much [rad/s2] at most, at so much speed [rad/s] at most."""
    joints = [
        replace(joint, acceleration=limit, velocity=velocity) if joint.nv else joint for joint in PANDA.joints[1:]
    ]
    return RobotModel(PANDA.name, PANDA.links, joints)


def test_it_goes_through_the_frames_where_the_limits_allow_it() -> None:
    motion = harsh()
    fine = smooth_motion(motion, 1000.0)
    spline = CubicSpline(motion.times, motion.q, bc_type="clamped")
    for order, ours in enumerate((fine.q, fine.v, fine.a)):
        assert abs(spline(fine.times, nu=order)[1:-1] - ours[1:-1]).max() < 1e-8
    assert abs(smooth_motion(motion, 24.0).q - motion.q).max() < 1e-12


def test_inside_narrow_limits_it_is_as_near_as_can_be() -> None:
    """Against Clarabel. Without limits the spline through these frames accelerates by more than twice as much."""
    frames = harsh(speed=0.3)
    limit = 1.05 * abs(np.diff(frames.q, 2, axis=0)).max() / DT**2
    model = slow(limit)
    motion = Motion.of(model, frames.times, frames.q)
    fine = smooth_motion(motion, 1000.0)
    through = CubicSpline(motion.times, motion.q, bc_type="natural")
    assert abs(through(fine.times, nu=2)).max() > 2.0 * limit
    assert (abs(fine.a) <= limit * (1.0 + 1e-9)).all()
    assert (fine.q <= model.upper).all() and (fine.q >= model.lower).all()
    jumps = abs(np.diff(fine.a, axis=0)).max()
    assert jumps <= 2.0 * limit / DT * 1e-3 * (1.0 + 1e-6)  # accelerations are continuous
    off = smooth_motion(motion, 24.0).q - motion.q
    assert abs(off[[0, -1]]).max() < 1e-12
    beside = np.diff(motion.q, 2, axis=0) / 6.0  # of the spline whose points are the frames
    assert 0.0 < np.linalg.norm(off) < 0.8 * np.linalg.norm(beside)
    for joint in range(2):
        assert off[:, joint] @ off[:, joint] == pytest.approx(least_squares(motion.q[:, joint], limit), rel=1e-5)


def test_it_begins_and_ends_at_rest_where_the_motion_does() -> None:
    """Retimed without a limit on jerk, at full acceleration from the first frame on."""
    done = retime(PANDA, [PANDA.limits.middle(PANDA.neutral()) + angle for angle in (0.0, 0.2, 0.1)])
    assert abs(done.sample([0.0, done.duration])[1]).max() < 1e-9
    motion = Motion.of(PANDA, *at_frames(done))
    fine = smooth_motion(motion, 1000.0)
    assert abs(fine.v[[0, -1]]).max() < 1e-9 and abs(fine.q[[0, -1]] - motion.q[[0, -1]]).max() < 1e-12
    assert (abs(fine.a) <= PANDA.acceleration * (1.0 + 1e-9)).all()
    assert (abs(fine.v) <= PANDA.velocity * (1.0 + 1e-9)).all()
    part = Motion.of(PANDA, motion.times[5:-5], motion.q[5:-5])
    assert (abs(smooth_motion(part, 1000.0).v[[0, -1]]) > 0.1).any(axis=1).all()


def at_frames(done) -> tuple[np.ndarray, np.ndarray]:
    times = np.linspace(0.0, done.duration, 31)
    return times, done.sample(times)[0]


def test_it_keeps_narrow_limits_on_speed() -> None:
    frames = harsh()
    limit = 1.001 * abs(np.diff(frames.q, axis=0)).max() / DT
    through = CubicSpline(frames.times, frames.q, bc_type="clamped")
    motion = Motion.of(slow(1e3, limit), frames.times, frames.q)
    fine = smooth_motion(motion, 1000.0)
    assert abs(through(fine.times, nu=1)).max() > 1.005 * limit
    assert (abs(fine.v) <= limit * (1.0 + 1e-9)).all()
    assert 0.0 < abs(smooth_motion(motion, 24.0).q - motion.q).max() < DT * limit


def test_a_limit_at_zero_is_one_as_others() -> None:
    """A finger that opens, closes and rests at its limit: the spline through its frames would pass that."""
    t = np.arange(75) / 25.0
    q = 0.02 * np.where((t > 0.5) & (t < 2.5), 1.0 - np.cos(np.pi * (t - 0.5)), 0.0)[:, None]
    off = []
    for lower in (0.0, 0.1):
        finger = Joint("finger", "prismatic", "hand", "pad", lower=lower, upper=lower + 0.04, velocity=1.0)
        model = RobotModel("gripper", [Link("hand"), Link("pad")], [finger])
        motion = Motion.of(model, t, q + lower)
        off.append(smooth_motion(motion, 25.0).q - motion.q)
        assert smooth_motion(motion, 250.0).q.min() >= lower
    assert 0.0 < abs(off[0]).max() < 3e-5
    np.testing.assert_allclose(off[0], off[1], atol=1e-9)


def least_squares(q: np.ndarray, limit: float) -> float:
    """What a spline whose points have at most these second differences is off from the frames, by Clarabel."""
    count = len(q)
    B = sparse.diags_array([1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0], offsets=[0, 1, 2], shape=(count - 2, count))
    second = sparse.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(count - 2, count))
    ends = sparse.csc_array(np.eye(count)[[0, -1]])
    A = sparse.vstack((ends, second, -second)).tocsc()
    b = np.concatenate((q[[0, -1]], np.full(2 * (count - 2), limit * DT * DT)))
    cones = [clarabel.ZeroConeT(2), clarabel.NonnegativeConeT(2 * (count - 2))]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas = False, 1e-12, 1e-12, 1e-12
    P, g = sparse.triu(B.T @ B).tocsc(), -(B.T @ q[1:-1])
    found = clarabel.DefaultSolver(P, g, A, b, cones, settings).solve()
    off = B @ np.array(found.x) - q[1:-1]
    return float(off @ off)


def test_bad_input() -> None:
    with pytest.raises(ConfigurationError, match="evenly spaced"):
        smooth_motion(Motion.of(PANDA, [0.0, 1.0, 3.0], harsh().q[:3]), 10.0)
    with pytest.raises(ConfigurationError, match="rate must be above 0 and below"):
        smooth_motion(harsh(), 0.0)


@pytest.mark.parametrize("speed", [np.inf, 2.0])
def test_a_rolling_base_goes_where_its_wheels_take_it(speed: float) -> None:
    """What it states are the rates of the curve; with a limit of its own the wheels pass beside the frames, not the
    arm."""
    model = copy(library_robot("mobile_arm"))
    (base,) = model.rolling_bases
    model.velocity = np.where(np.arange(model.nv) == base.v, speed, model.velocity)
    own, wheels = slice(base.q, base.q + 3), list(base.wheel_q)
    q = np.tile(model.limits.middle(model.neutral()), (FRAMES, 1))
    q[:, 3:9] += 0.2 * np.sin(0.3 * np.arange(FRAMES))[:, None]
    for row in range(1, FRAMES):
        turned = 0.1 + 0.08 * np.sin(0.1 * row + np.arange(2))
        q[row, wheels] = q[row - 1, wheels] + turned
        q[row, own] = base.roll(q[row - 1, own], turned)
    motion = Motion.of(model, DT * np.arange(FRAMES), q)
    off = abs(smooth_motion(motion, 24.0).q - q).max(axis=0)
    assert off[3:9].max() < 1e-12 and (off[wheels].max() < 1e-12) == np.isinf(speed) and off[wheels].max() < 2e-3
    fine = smooth_motion(motion, 1000.0)
    assert wheel_slip(model, fine.q).max() < 1e-12 and abs(fine.q[-1] - q[-1]).max() < 2e-4
    v, a = (np.gradient(each, fine.times, axis=0)[2:-2, own] for each in (fine.q, fine.v))
    np.testing.assert_allclose(fine.v[2:-2, own], v, atol=2e-5)
    inside = abs(np.diff(np.floor(24.0 * fine.times + 1e-9), 1)[2:-1]) < 0.5  # at knots the acceleration has a corner
    np.testing.assert_allclose(fine.a[2:-2, own][inside], a[inside], atol=2e-2)


@pytest.mark.parametrize("seed", rest_slow(range(2)))
def test_a_ball_along_its_cone_accelerates_without_jumps(seed: int) -> None:
    """Frames on the border: what the spline would leave the cone by between them was cut off, with a jump of speed."""
    model, rng = library_robot("puppet"), np.random.default_rng(seed)
    rate, phase, size = rng.uniform(1.0, 3.0, model.nv), rng.uniform(0.0, 6.0, model.nv), rng.uniform(0.3, 0.6)
    t = np.arange(40) / 25.0
    middle = model.limits.middle(model.neutral())
    steps = size * (np.sin(rate * t[:, None] + phase) - np.sin(phase))
    motion = Motion.of(model, t, [model.limits.clamp(integrate(model, middle, step)) for step in steps])
    jumps = []
    for samples in (1000.0, 4000.0):
        fine = smooth_motion(motion, samples)
        assert model.limits.contain(fine.q, 1e-9).all()
        v = samples * steps_of(model, fine.q)
        a = samples * np.diff(v, axis=0)
        assert abs(0.5 * (fine.v[:-1] + fine.v[1:]) - v).max() < 1e-3
        jumps.append(abs(np.diff(a, axis=0)).max())
    assert jumps[1] < 0.4 * jumps[0]
    beside = between(model, motion.q, smooth_motion(motion, 25.0).q)
    assert abs(beside).max() < 0.02 and abs(beside[[0, -1]]).max() < 1e-6


def with_rates_of(motion: Motion) -> Motion:
    """The motion of a robot that may be as fast as it, and no faster."""
    model, v, a = motion.model, abs(motion.v).max(axis=0) + 1e-3, abs(motion.a[1:]).max(axis=0) + 1e-3
    joints = [
        replace(joint, velocity=v[model.slot(joint.name).v], acceleration=a[model.slot(joint.name).v])
        if joint.nv and joint.mimic is None
        else joint
        for joint in model.joints[1:]
    ]
    return Motion.of(RobotModel(model.name, model.links, joints), motion.times, motion.q)


@pytest.mark.parametrize(("size", "seed"), rest_slow([(0.3, 0), (1.2, 0), (0.3, 1), (1.2, 1)]))
def test_balls_and_floating_joints_keep_their_limits_between_frames(seed: int, size: float) -> None:
    """Beside a cone too. Their axes turn along, so a spline with frames as its points may be too fast."""
    fly = RobotModel("body", [Link("world"), Link("body")], [Joint("fly", "floating", "world", "body")])
    for model in (library_robot("puppet"), fly)[: 2 if size < 1.0 else 1]:
        rng, t = np.random.default_rng(seed), DT * np.arange(FRAMES)
        rate, phase, amplitude = rng.uniform(1.0, 6.0, model.nv), rng.uniform(0.0, 6.0, model.nv), rng.uniform(0.3, 1.0)
        middle = model.limits.middle(model.neutral())
        steps = size * amplitude * np.sin(rate * t[:, None] + phase)
        motion = with_rates_of(
            Motion.of(model, t, [model.limits.clamp(integrate(model, middle, each)) for each in steps])
        )
        model, fine = motion.model, smooth_motion(motion, 4800.0)
        assert model.limits.contain(fine.q, 1e-9).all()
        v = 4800.0 * steps_of(model, fine.q)
        a = 4800.0 * np.diff(fine.v, axis=0)
        assert (abs(v) <= model.velocity * (1.0 + 1e-5)).all()
        assert (abs(a) <= model.acceleration * (1.0 + 1e-5)).all()
        near = smooth_motion(motion, 24.0).q
        assert abs(between(model, motion.q, near)).max() < 0.05


@pytest.mark.parametrize("speed", [1.0, 4.0])
@pytest.mark.parametrize("kind", ["floating", "spherical"])
def test_what_moves_and_turns_evenly_at_its_limits_keeps_them_between_frames(kind: str, speed: float) -> None:
    """At the ends, too: along axes that turn a straight beginning is askew, by up to a quarter of the limit."""
    model = RobotModel("body", [Link("world"), Link("body")], [Joint("moves", kind, "world", "body")])
    rng = np.random.default_rng(0)
    twist = speed * rng.uniform(0.1, 1.0, model.nv) * rng.choice([-1.0, 1.0], model.nv)
    q = [model.neutral()]
    for _ in range(FRAMES - 1):
        q.append(integrate(model, q[-1], twist * DT))
    motion = with_rates_of(Motion.of(model, DT * np.arange(FRAMES), q))
    fine = smooth_motion(motion, 2400.0)
    v = 2400.0 * steps_of(model, fine.q)
    assert (abs(v) <= motion.model.velocity).all() and (abs(fine.v) <= motion.model.velocity).all()
    assert (abs(fine.a) <= motion.model.acceleration).all()
    assert abs(smooth_motion(motion, 24.0).q - motion.q).max() < 1e-4


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["floating", "spherical"])
def test_what_has_all_its_axes_at_their_limits_keeps_them_between_frames(kind: str, seed: int) -> None:
    """Each axis brakes and speeds up as it may, or is at its speed limit; oracle: differences of samples."""
    rng = np.random.default_rng(seed)
    speed, rate = 10.0 ** rng.uniform(0.0, 1.0), 10.0 ** rng.uniform(0.3, 1.8)
    count = 6 if kind == "floating" else 3
    limits = {"velocity": speed * rng.uniform(0.5, 1.5, count), "acceleration": rate * rng.uniform(0.5, 1.5, count)}
    joint = Joint("moves", kind, "world", "body", **limits)
    model = RobotModel("body", [Link("world"), Link("body")], [joint])
    v, sign, q = np.zeros(count), rng.choice([-1.0, 1.0], count), [model.neutral()]
    for _ in range(FRAMES - 1):
        sign = np.where(rng.random(count) < 0.1, -sign, sign)
        v = np.clip(v + sign * DT * model.acceleration, -model.velocity, model.velocity)
        q.append(integrate(model, q[-1], v * DT))
    motion = Motion.of(model, DT * np.arange(FRAMES), q)
    fine = smooth_motion(motion, 2400.0)
    found = 2400.0 * steps_of(model, fine.q)
    bent = 2400.0 * np.diff(found, axis=0)
    assert (abs(found) <= model.velocity * (1.0 + 1e-5)).all() and (abs(fine.v) <= model.velocity * (1.0 + 1e-9)).all()
    assert (abs(bent) <= model.acceleration * (1.0 + 1e-3)).all()  # of differences, along axes that turn
    assert (abs(fine.a) <= model.acceleration * (1.0 + 1e-9)).all()
    assert abs(np.diff(bent, axis=0)).max() < 2.5 * model.acceleration.max() / DT / 2400.0  # it is continuous
    near = smooth_motion(motion, 24.0).q
    off = between(model, motion.q, near)
    assert abs(off[[0, -1]]).max() < 1e-9
    assert (abs(off) < 0.5 * model.acceleration * DT**2).all()


def test_a_floating_joint_along_its_bounds_keeps_them_between_frames() -> None:
    """It turns as it goes along a wall, so its path bends between frames."""
    bounds = np.array([1.0, 0.1, 1.0, np.inf, np.inf, np.inf])
    wall = Joint("moves", "floating", "world", "body", lower=-bounds, upper=bounds)
    model = RobotModel("body", [Link("world"), Link("body")], [wall])
    t = DT * np.arange(FRAMES)
    path = np.column_stack((0.5 * np.sin(2.0 * t), np.clip(0.3 * np.sin(5.0 * t), -0.1, 0.1), 0.2 * t))
    turns = np.column_stack((np.cos(2.0 * t), np.zeros((FRAMES, 2)), np.sin(2.0 * t)))
    motion = Motion.of(model, t, np.hstack((path, turns)))
    fine = smooth_motion(motion, 2400.0)
    assert (abs(fine.q[:, 1]) <= 0.1).all() and abs(fine.q[:, 1]).max() > 0.0999
    v = 2400.0 * steps_of(model, fine.q)
    assert abs(0.5 * (fine.v[:-1] + fine.v[1:]) - v).max() < 1e-3  # nothing was cut off


def test_long_work_is_done_in_steps_that_tell_how_far_it_is() -> None:
    fly = RobotModel("body", [Link("world"), Link("body")], [Joint("fly", "floating", "world", "body")])
    rng, q = np.random.default_rng(0), [fly.neutral()]
    for _ in range(9):
        q.append(integrate(fly, q[-1], 0.2 * rng.normal(size=6)))
    for motion in (with_rates_of(harsh(speed=0.3)), with_rates_of(Motion.of(fly, DT * np.arange(10), q))):
        shares = list(smooth_motion_steps(motion, 24.0))
        assert len(shares) > 5 and shares == sorted(shares) and 0.0 <= shares[0] < shares[-1] <= 1.0
