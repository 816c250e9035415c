"""Wheeled bases: kinematics against Pinocchio, finding wheels, rolling without slip (integrated here)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from robokin_addon.cli.commands.info import describe
from robokin_addon.robokin import (
    Drive,
    FileFormatError,
    Joint,
    Link,
    ModelError,
    RobotModel,
    forward_kinematics,
    in_limits,
    load_urdf,
    random_configuration,
    rolling_constraints,
)
from robokin_addon.robokin.backend import get_backend
from robokin_addon.robokin.model.geometry import Box, Geometry, Sphere
from robokin_addon.solvers import IKProblem, PoseTask, PositionTask, Tracker, solve_ik, track, velocity_step
from robokin_addon.solvers.motion.check import check_motion
from robokin_addon.solvers.motion.motion import Motion
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.problems.wheeled import at, platform, slip
from support.robots import robot

IDENTITY = np.eye(4)


def follow(model: RobotModel, way: np.ndarray, q0: np.ndarray, **options: object):
    """Tracked positions (n, 3) of the tool."""
    targets = np.tile(np.eye(4), (len(way), 1, 1, 1))
    targets[:, 0, :3, 3] = way
    return track(model, [PositionTask("tool", (0, 0, 0))], targets, q0, **options), targets


def test_kinematics_equal_pinocchio():
    model, rng = platform(), np.random.default_rng(0)
    assert (model.nq, model.nv) == (8, 8)
    oracle = Oracle.from_model(model)
    for _ in range(5):
        q = random_configuration(model, rng)
        np.testing.assert_allclose(forward_kinematics(model, q)["tool"], oracle.frames(q)["tool"], atol=1e-13)
        J = get_backend("native").frame_jacobian(model.tree, q, model.link_index("tool"), 1)
        np.testing.assert_allclose(J, oracle.frame_jacobian(q, "tool", "local"), atol=1e-12)


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("heading", [0.0, 0.7, math.pi])
def test_the_rows_say_that_the_wheels_touch_the_ground_at_rest(heading, flipped):
    """The velocity of each wheel's lowest point, by Pinocchio's Jacobian, is zero."""
    model, rng = platform(centre=(0.15, -0.05), heading=heading, flipped=flipped), np.random.default_rng(1)
    q = random_configuration(model, rng)
    A = rolling_constraints(model, q)
    assert A.shape == (3, 8) and np.linalg.matrix_rank(A) == 3
    oracle = Oracle.from_model(model)
    for v in np.linalg.svd(A)[2][3:]:
        for wheel in ("left_wheel", "right_wheel"):
            twist = oracle.frame_jacobian(q, wheel, "local_world_aligned") @ v
            np.testing.assert_allclose(twist[:3] + np.cross(twist[3:], (0, 0, -0.1)), 0.0, atol=1e-12)


@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_rolling_is_the_integral_of_the_rows(heading):
    model, rng = platform(centre=(0.15, -0.05), heading=heading, flipped=True), np.random.default_rng(2)
    base = model.rolling_bases[0]
    for turned in [*rng.normal(size=(6, 2)), (1.0, -1.0), (1e-9, -1e-9), (3.0, -3.0 + 1e-7), (8.0, 2.0)]:
        q = random_configuration(model, rng)
        after = q.copy()
        after[list(base.wheel_q)] += turned
        after[:3] = base.roll(q[:3], np.array(turned))
        assert slip(model, np.array([q, after]), 400) < 1e-9
        np.testing.assert_allclose(base.turned(q[:3], after[:3]), turned, atol=1e-9)
        numeric = np.column_stack(
            [(base.roll(q[:3], turned + e) - base.roll(q[:3], turned - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
        )
        np.testing.assert_allclose(base.rolled_jacobian(q[:3], np.array(turned)), numeric, atol=1e-8)


# -- finding wheels ----------------------------------------------------------------------------------------------------


NONE, EVERYWHERE = np.full(8, -math.inf), np.full(8, math.inf)


@pytest.mark.parametrize("angles", [math.inf, 5.0])
@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_a_base_drives_to_any_place_on_three_arcs(heading, angles):
    """It turns, drives straight, and turns, within limits of its angle: by rolling each of the arcs to its end."""
    model, rng = platform(centre=(0.15, -0.05), heading=heading, flipped=True), np.random.default_rng(3)
    (base,), lower, upper = model.rolling_bases, NONE.copy(), EVERYWHERE.copy()
    at, wheels = slice(base.q, base.q + 3), list(base.wheel_q)
    lower[base.q + 2], upper[base.q + 2] = -angles, angles
    for _ in range(40):
        here, goal = np.zeros(8), np.zeros(8)
        here[at], goal[at] = (rng.uniform((-3.0, -3.0, -4.0), (3.0, 3.0, 4.0)) for _ in range(2))
        turned, remaining = np.zeros(2), []
        for _ in range(3):
            first, whole = base.drive(here, goal, lower, upper)
            remaining.append(whole)
            here[at], here[wheels] = base.roll(here[at], first), here[wheels] + first
            turned += abs(first)
            assert abs(here[base.q + 2]) <= angles
        np.testing.assert_allclose(here[at], goal[at], atol=1e-9)
        np.testing.assert_allclose(remaining[0], turned, atol=1e-8)
        assert (np.diff(remaining, axis=0) < 1e-12).all()


def test_a_base_does_not_drive_beyond_its_limits():
    """Those of its angle, its place and its wheels, at the end of each arc."""
    (base,), here, goal = platform().rolling_bases, np.zeros(8), np.zeros(8)
    y, angle, left = base.q + 1, base.q + 2, base.wheel_q[0]
    goal[y] = 1.0  # beside it
    for coordinate, least, drives in (
        (angle, -1.5, False),
        (angle, -1.6, True),  # backwards
        (y, 0.2, False),
        (left, -9.0, False),
        (left, -30.0, True),
    ):
        lower, upper = NONE.copy(), EVERYWHERE.copy()
        lower[angle], upper[angle] = -1.6, 1.5
        lower[coordinate] = least
        assert (base.drive(here, goal, lower, upper) is not None) == drives, (coordinate, least)


def test_wheels_of_a_real_robot_are_found():
    model = load_urdf(robot("tiago"), root="wheeled")
    drive = model.drive
    assert (drive.left, drive.right, drive.radius) == ("wheel_left_joint", "wheel_right_joint", 0.0985)
    assert drive.separation == pytest.approx(0.4044, abs=1e-12)
    base = model.rolling_bases[0]
    np.testing.assert_allclose([*base.forward, *base.centre], [1, 0, 0, 0], atol=1e-12)
    assert model.with_root("fixed").nq == model.nq - 3
    assert model.with_root("planar").with_root("wheeled").drive == model.drive
    with pytest.raises(FileFormatError, match=r"several pairs could be its wheels.*name them in its drive"):
        load_urdf(robot("tiago_pro"), root="wheeled")
    chosen = Drive("wheel_front_left_joint", "wheel_front_right_joint", 0.07, 0.5)
    stated = load_urdf(robot("tiago_pro"), root="wheeled", drive=chosen)
    assert stated.drive == chosen and describe(stated)["joints"][0]["drive"]["radius"] == 0.07
    with pytest.raises(FileFormatError, match="a planar base has no drive"):
        load_urdf(robot("tiago_pro"), root="planar", drive=chosen)


@pytest.mark.parametrize("name", ["panda", "ur5_robot", "talos_reduced", "anymal", "solo12"])
def test_robots_without_wheels_get_two(name):
    fixed, model = (load_urdf(robot(name), root=root) for root in ("fixed", "wheeled"))
    assert (model.nq, model.nv) == (fixed.nq + 5, fixed.nv + 5)
    assert model.total_mass == fixed.total_mass
    again = model.with_root("fixed").with_root("wheeled")
    assert (again.drive, again.nq) == (model.drive, model.nq) and model.drive.radius == 0.1
    q = model.configuration({"root_joint": [1.0, 2.0, 0.5]})
    lowest = forward_kinematics(model, q)[model.joint("left_wheel").child][2, 3] - model.drive.radius
    assert lowest == pytest.approx(0.0, abs=1e-12)


def wheels_with(geometry: Geometry | None, floor: Geometry | None = None) -> RobotModel:
    shapes, ground = ((g,) if g else () for g in (geometry, floor))
    links = [Link("body", collisions=ground), Link("l", visuals=shapes), Link("r", visuals=shapes)]
    joints = [
        Joint(name, "revolute", "body", name, at(0.3, side, 0.25), (0, 1, 0), -9, 9)
        for name, side in (("r", -1), ("l", 1))
    ]
    return RobotModel("cart", links, joints, "wheeled")


def test_the_radius_is_reported_by_shapes_or_by_the_height_of_the_axle():
    assert wheels_with(Geometry(Sphere(0.17))).drive == Drive("l", "r", 0.17, 2.0)
    assert wheels_with(None, Geometry(Box((1, 1, 0.5)))).drive.radius == pytest.approx(0.5)
    with pytest.raises(ModelError, match="nothing gives the radius of 'l' and 'r'; state its drive"):
        wheels_with(None)


@pytest.mark.parametrize(
    ("drive", "problem"),
    [
        (("left", "left", 0.1, 0.4), "needs two wheels, not 'left' twice"),
        (("left", "right", 0.0, 0.4), "radius of the wheels 'left', 'right' must be positive, not 0.0"),
        (("left", "right", 0.1, math.nan), "separation .* must be positive"),
        (("left", "nothing", 0.1, 0.4), "wheeled joint 'base': its wheel 'nothing' is not a joint"),
        (("left", "tip", 0.1, 0.4), "its wheel 'tip' is a fixed joint"),
        (("left", "shoulder", 0.1, 0.4), "must turn about axes in the plane of the ground"),
        (("left", "lift", 0.1, 0.4), "must sit on one axle"),
    ],
)
def test_what_is_no_drive_is_refused(drive, problem):
    model = platform()
    with pytest.raises(ModelError, match=problem):
        joints = [
            Joint("base", "wheeled", "world", "platform", drive=Drive(*drive)) if joint.name == "base" else joint
            for joint in model.joints[1:]
        ]
        RobotModel("r", model.links, joints)


# -- solving -----------------------------------------------------------------------------------------------------------


def test_static_solves_move_the_base_freely_and_leave_the_wheels():
    model, rng = platform(), np.random.default_rng(3)
    met = 0
    for _ in range(50):
        target = forward_kinematics(model, random_configuration(model, rng))["tool"]
        start = random_configuration(model, rng)
        for backend in ("native", "numpy"):
            found = solve_ik(model, [PoseTask("tool", target)], start, backend=backend)
            met += found.converged
            np.testing.assert_array_equal(found.q[3:5], start[3:5])
    assert met == 100


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("flipped", [False, True])
def test_tracking_rolls_without_slip_and_arrives(backend, flipped):
    """Two metres away, where only the base can take the arm; and around a corner."""
    model = platform(centre=(-0.12, 0.03), flipped=flipped, rates={"velocity": 8.0})
    q0 = model.configuration({"lift": -0.6, "elbow": 1.0})
    tool = forward_kinematics(model, q0)["tool"][:3, 3]
    share = np.linspace(0.0, 1.0, 120)[:, None]
    way = tool + 2.0 * share * (1, 0, 0) + np.maximum(0.0, share - 0.4) * (0, 1.5, 0)
    result, targets = follow(model, way, q0, backend=backend)
    assert result.converged.all()
    assert slip(model, result.q) < 1e-9 and in_limits(model, result.q[-1])
    assert (abs(result.motion.v) <= model.velocity).all()
    # The chord of every arc points along the heading at half the turn, and the wheels' mean is its length.
    base = model.rolling_bases[0]
    middle = base.axle(result.q[:, :3])
    chord, turn = np.diff(middle, axis=0), np.diff(result.q[:, 2])
    ahead = result.q[:-1, 2] + 0.5 * turn
    np.testing.assert_allclose(chord[:, 0] * np.sin(ahead) - chord[:, 1] * np.cos(ahead), 0.0, atol=1e-12)
    mean = 0.5 * np.diff(result.q[:, list(base.wheel_q)], axis=0) @ base.rolled
    np.testing.assert_allclose(
        chord[:, 0] * np.cos(ahead) + chord[:, 1] * np.sin(ahead), mean * np.sinc(0.5 * turn / np.pi), atol=1e-12
    )
    report = check_motion(result.motion, [PositionTask("tool", (0, 0, 0))], targets)
    assert report.ok and report.slip.max() < 1e-9


@pytest.mark.parametrize("seed", rest_slow(range(6)))
@pytest.mark.parametrize("acceleration", [math.inf, 6.0])
def test_demands_that_cannot_be_rolled_are_late_and_never_slip(seed, acceleration):
    """Fast random ways, sideways too, with rates limited; then the target rests."""
    rates = {"velocity": 3.0, "acceleration": acceleration}
    model, rng = platform(flipped=bool(seed % 2), rates=rates), np.random.default_rng(seed)
    q0 = model.configuration({"lift": -0.6, "elbow": 1.0})
    tool = forward_kinematics(model, q0)["tool"][:3, 3]
    steps = 0.08 * rng.normal(size=(80, 3)) * (1, 1, 0.1)
    way = tool + np.vstack((np.cumsum(steps, axis=0), np.tile(steps.sum(axis=0), (150, 1))))
    result, _ = follow(model, way, q0)
    assert slip(model, result.q) < 1e-9
    assert (abs(result.motion.v) <= model.velocity).all() and (abs(result.motion.a) <= model.acceleration).all()
    assert not check_motion(result.motion).violations
    assert (~result.converged[:80]).any()


@pytest.mark.parametrize(
    ("backend", "direction"),
    rest_slow([("native", (2, 2, 0)), ("native", (3, 0, 0)), ("native", (-2, 0.5, 0)), ("numpy", (3, 0.5, 0))], 2),
)
def test_bounds_of_the_base_hold_while_it_brakes(backend, direction):
    rates = {"velocity": 6.0, "acceleration": 5.0}
    bounds = {"lower": [-0.2, -0.3, -0.5], "upper": [0.6, 0.3, 0.5], "velocity": [0.5, 0.5, 1.0]}
    model = platform(rates=rates, **bounds)
    q0 = model.configuration({"lift": -0.6, "elbow": 1.0})
    tool = forward_kinematics(model, q0)["tool"][:3, 3]
    share = np.linspace(0.0, 1.0, 80)[:, None]
    result, _ = follow(model, (tool + share * direction)[: 80 if backend == "native" else 35], q0, backend=backend)
    assert slip(model, result.q) < 1e-9 and model.limits.contain(result.q).all()
    assert (abs(result.motion.v) <= model.velocity).all()
    assert (abs(result.motion.a) <= model.acceleration).all()
    assert abs(result.q[:, 0]).max() > 0.15


def test_both_trackers_agree():
    model = platform(rates={"velocity": 3.0})
    q0 = model.configuration({"lift": -0.6, "elbow": 1.0})
    tool = forward_kinematics(model, q0)["tool"][:3, 3]
    share = np.linspace(0.0, 1.0, 60)[:, None]
    way = tool + share * (1.2, 0.3, 0.0) + 0.1 * np.sin(9.0 * share) * (0, 1, 0)
    native, numpy = (follow(model, way, q0, backend=backend)[0] for backend in ("native", "numpy"))
    np.testing.assert_array_equal(native.codes, numpy.codes)
    np.testing.assert_allclose(native.q, numpy.q, atol=1e-6)


def test_a_start_is_chosen_and_a_start_velocity_is_braked_on_an_arc():
    model = platform(rates={"velocity": 4.0, "acceleration": 8.0})
    q0 = model.configuration({"lift": -0.6, "elbow": 1.0})
    tool = forward_kinematics(model, q0)["tool"][:3, 3]
    way = tool + np.linspace(0.0, 1.0, 40)[:, None] ** 2 * (0.5, 0, 0)
    result, _ = follow(model, way, None)
    assert result.converged.all() and slip(model, result.q) < 1e-9
    tracker = Tracker(model, [])
    velocity = np.zeros(model.nv)
    velocity[[0, 3, 4]] = 9.0, 2.0, 3.0  # the base's own is what its wheels say
    tracker.stand(q0, velocity)
    coasted = tracker.run(np.zeros((30, 0, 4, 4)))
    q = np.vstack((q0, coasted.q))
    assert slip(model, q) < 1e-9 and q[-1, 0] > 0.02 and (q[-1] == q[-2]).all()
    assert abs(np.diff(q[:, 3:5], n=2, axis=0)).max() <= 8.0 / 24**2


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_differential_step_rolls_whatever_is_asked_for(backend):
    model, rng = platform(centre=(-0.1, 0.05), heading=0.4, rates={"velocity": 5.0}), np.random.default_rng(4)
    for _ in range(10):
        q = random_configuration(model, rng)
        target = forward_kinematics(model, q)["tool"][:3, 3] + rng.normal(size=3)
        step = velocity_step(model, q, [PositionTask("tool", target)], backend=backend)
        np.testing.assert_allclose(rolling_constraints(model, q) @ step.v, 0.0, atol=1e-12)
        assert abs(step.v).max() > 0.1 and not step.unmet
    aside = PositionTask("platform", forward_kinematics(model, q)["platform"][:3, 3] + [0.01, 0.01, 0])
    assert velocity_step(model, q, [aside], backend=backend).residuals[0, 0] > 1e-3


def test_a_check_tells_how_far_wheels_slip():
    model = platform()
    q = np.zeros((4, model.nq))
    q[:, 3] = q[:, 4] = np.arange(4.0)
    q[:, 0] = 0.1 * np.arange(4.0)
    q[2:, 1] += 0.003
    report = check_motion(Motion.of(model, np.arange(4.0), q))
    assert [(v.frame, v.joint, v.kind) for v in report.violations] == [(2, "base", "slip")]
    assert report.violations[0].value == pytest.approx(0.003) and report.to_dict()["slip"] == [pytest.approx(0.003)]
    q[:, 1] = 0.0
    rounded = q.astype(np.float32).astype(float)
    assert check_motion(Motion.of(model, np.arange(4.0), rounded), float32=True).ok


def test_an_inverse_kinematics_problem_has_the_wheels_for_tracking():
    data = IKProblem(platform(), [PoseTask("tool", IDENTITY)]).search.data
    assert len(data.bases) == 1 and data.bases[0].wheel_v == (3, 4) and data.tree.nq == 8
    only_arm = platform()
    fixed = IKProblem(RobotModel("arm", only_arm.links[2:3], []), []).search.data
    assert fixed.bases == ()


def test_wheels_on_a_suspension_are_found():
    """TIAGo's dual version carries its wheels on slides; they roll as if held, wherever the suspension is."""
    model = load_urdf(robot("tiago_dual"), root="wheeled")
    drive = model.drive
    assert (drive.left, drive.right, drive.radius) == ("wheel_left_joint", "wheel_right_joint", 0.0985)
    q = random_configuration(model, np.random.default_rng(0))
    assert q[model.slot("suspension_left_joint").q] != q[model.slot("suspension_right_joint").q]
    held = [model.slot(name).v.start for name in ("suspension_left_joint", "suspension_right_joint")]
    free = np.linalg.svd(np.vstack((rolling_constraints(model, q), np.eye(model.nv)[held])))[2][5:]
    oracle = Oracle.from_model(model)
    for wheel in (drive.left, drive.right):
        twist = oracle.frame_jacobian(q, model.joint(wheel).child, "local_world_aligned") @ free.T
        contact = twist[:3] + np.cross(twist[3:].T, (0, 0, -drive.radius)).T
        np.testing.assert_allclose(contact, 0.0, atol=1e-12)


@pytest.mark.parametrize("backend", ["native", pytest.param("numpy", marks=pytest.mark.slow)])
def test_a_base_cruises_below_its_limit_however_long_it_takes_to_stop(backend):
    """More frames of braking than are looked at one by one."""
    dt, speed, wheel = 0.001, 0.8, 0.1
    braking, count = ((200, 300, 700), 20) if backend == "native" else ((300,), 5)  # NumPy is slow
    for frames in braking:
        rates = {"acceleration": speed / wheel / (frames * dt)}
        model = platform(rates=rates, velocity=(1.0, 1.0, 3.0))
        (base,) = model.rolling_bases
        v = np.zeros(model.nv)
        v[list(base.wheel_v)] = speed / wheel
        v[base.v] = speed
        start = model.neutral()
        tracker = Tracker(model, [PositionTask("platform", (0, 0, 0), weights=(1, 0, 0))], dt, backend)
        tracker.stand(start, v)
        targets = np.tile(np.eye(4), (count, 1, 1, 1))
        targets[:, 0, 0, 3] = speed * dt * np.arange(1, count + 1)
        result = tracker.run(targets)
        np.testing.assert_allclose(np.diff(result.q[:, base.q]) / dt, speed, rtol=1e-6)
        targets[:, 0, 0, 3] += 5.0  # as fast as it may
        tracker.stand(start, 1.24 * v)
        moved = np.diff(tracker.run(targets).q[:, base.q], prepend=0.0) / dt
        assert moved.max() <= 1.0 + 1e-12 and moved.min() > 0.9
