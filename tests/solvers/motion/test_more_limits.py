"""Limits besides those of joints, against numbers that are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, Joint, Link, RobotModel, UnknownNameError, library_robot
from robokin_addon.solvers import Motion, Move, check_motion, program_motion, retime, run_moves
from robokin_addon.solvers.motion.more_limits import outside
from scipy.spatial import Delaunay
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle

DT, HEIGHT, G = 0.01, 0.5, np.array([0.0, 0.0, -9.81])
T = DT * np.arange(60)


def cart(q) -> Motion:
    """A mass that slides along x, half a metre above the ground."""
    rail = np.eye(4)
    rail[2, 3] = HEIGHT
    slide = Joint("slide", "prismatic", "base", "mass", placement=rail, axis=(1, 0, 0), lower=-9.0, upper=9.0)
    model = RobotModel("cart", [Link("base"), Link("mass", mass=2.0, inertia=0.01 * np.eye(3))], [slide])
    return Motion.of(model, T, np.asarray(q)[:, None])


def broken(motion, kind, **given):
    return [v.frame for v in check_motion(motion, **given).violations if v.kind == kind]


def test_jerk_speed_and_acceleration_of_a_tool() -> None:
    motion = cart(2.0 * T**3)  # jerk 12, acceleration 12 t, speed 6 t²
    assert (
        broken(motion, "jerk", limits={"jerk": 12.1})[2:] == []
        and len(broken(motion, "jerk", limits={"jerk": 11.9})) > 50
    )
    for kind, values in (("speed", motion.v), ("acceleration", motion.a)):
        bound = float(np.median(values))
        found = broken(motion, f"tool {kind}", limits={"tools": {"mass": {kind: bound}}})
        assert found == np.flatnonzero(values[:, 0] > bound).tolist()
    assert "needs" not in check_motion(motion, limits={"jerk": 1.0}).violations[0].sentence()


def test_power_is_that_of_the_drives() -> None:
    """By Pinocchio, of sines whose velocities and accelerations are known."""
    panda = library_robot("panda")
    joints = [replace(joint, damping=2.0, friction=3.0) for joint in panda.joints[1:]]
    model = RobotModel("panda", panda.links, joints)
    wave = 6.0 * T[:, None] + np.arange(model.nq)
    q, v, a = model.limits.middle(model.neutral()) + 0.2 * np.sin(wave), 1.2 * np.cos(wave), -7.2 * np.sin(wave)
    motion, oracle = Motion.of(model, T, q, v[0]), Oracle.from_model(model)
    effort = np.array([oracle.inverse_dynamics(*each) for each in zip(q, v, a, strict=True)])
    power = abs((effort + 2.0 * v + 3.0 * np.sign(v)) * v)
    bound = float(np.quantile(power, 0.9))
    found = check_motion(motion, gravity=G, limits={"power": bound}).violations
    told = {(v.frame - 1, v.joint) for v in found if v.kind == "power"}
    names = [joint.name for joint in model.moving_joints if joint.mimic is None]
    sure = {(int(k), names[i]) for k, i in np.argwhere(power > 1.05 * bound)}
    beside = {(k - step, name) for k, name in told for step in (0, 1)}
    assert len(sure) > 20 and {each for each in sure if 2 < each[0] < len(T) - 3} <= beside
    assert all(power[k, names.index(name)] > 0.99 * bound for k, name in told if k > 2)
    with pytest.raises(ConfigurationError, match="power need gravity"):
        check_motion(motion, limits={"power": bound})
    with pytest.raises(UnknownNameError):
        check_motion(motion, limits={"sound": 1.0})


@pytest.mark.parametrize("watt", rest_slow([40.0, 5.0]))
def test_moves_limited_to_a_power_pass_the_check_at_the_rate_of_a_film(watt) -> None:
    model = library_robot("panda")
    moves = [Move("swing", joints={"joint_1": 1.5, "joint_2": 1.0}), Move("back", joints={"joint_2": -0.5})]
    start = model.limits.middle(model.neutral())
    for limit, is_kept in ((watt, True), (1.1 * watt, False)):
        done = run_moves(model, moves, start, {"power": limit}, G)
        at_frames = program_motion(done, 24.0)
        motion = Motion.of(model, at_frames.times, at_frames.q)
        found = [v for v in check_motion(motion, gravity=G, limits={"power": watt}).violations if v.kind == "power"]
        assert (not found) == is_kept


def test_it_tips_where_the_zero_moment_point_leaves_the_support() -> None:
    """x - h a / g of a mass at height h (Vukobratovic and Borovac 2004)."""
    motion = cart(0.3 * (1.0 - np.cos(8.0 * T)))
    zmp = motion.q[:, 0] - HEIGHT * motion.a[:, 0] / 9.81
    for level in (0.0, 0.2):  # of the ground
        at = motion.q[:, 0] - (HEIGHT - level) * motion.a[:, 0] / 9.81
        square = np.array([[-0.2, -0.2, level], [0.4, -0.2, level], [0.4, 0.2, level], [-0.2, 0.2, level]])
        found = [
            v for v in check_motion(motion, gravity=G, support=[square] * len(T)).violations if v.kind == "tipping"
        ]
        off = np.maximum(at - 0.4, -0.2 - at)
        assert [v.frame for v in found] == np.flatnonzero(off > 1e-6).tolist() and 0 < len(found) < len(T)
        np.testing.assert_allclose([v.value for v in found], off[off > 1e-6], atol=1e-9)
    assert "tips" in found[0].sentence() and abs(zmp).max() > 0.4
    assert broken(motion, "tipping", gravity=G, support=[np.zeros((0, 3))] * len(T)) == []


def test_what_rounding_to_single_precision_makes_of_a_tool_is_no_violation() -> None:
    steady = cart((5.0 + T).astype(np.float32).astype(float))
    limits = {"jerk": 1e-3, "tools": {"mass": {"speed": 1.0, "acceleration": 1e-3}}}
    assert not [v for v in check_motion(steady, limits=limits, float32=True).violations if v.frame > 2]
    faster = cart((5.0 + 1.02 * T).astype(np.float32).astype(float))
    assert {v.kind for v in check_motion(faster, limits=limits, float32=True).violations if v.frame > 2} == {
        "tool speed"
    }


def test_what_falls_faster_than_a_stone_does_not_tip() -> None:
    """A mass beside its support, which ever stronger springs pull down: nothing presses on the ground any more."""
    place = np.eye(4)
    place[0, 3] = 1.0
    slide = Joint("slide", "prismatic", "base", "mass", placement=place, axis=(0, 0, 1), lower=-9.0, upper=9.0)
    model = RobotModel("fall", [Link("base"), Link("mass", mass=2.0, inertia=0.01 * np.eye(3))], [slide])
    motion = Motion.of(model, T, -10.0 * T[:, None] ** 3)
    square = np.array([[-0.2, -0.2, 0.0], [0.2, -0.2, 0.0], [0.2, 0.2, 0.0], [-0.2, 0.2, 0.0]])
    found = broken(motion, "tipping", gravity=G, support=[square] * len(T))
    assert found == np.flatnonzero(motion.a[:, 0] > -9.81).tolist() and 0 < len(found) < len(T)


def test_distance_to_what_is_no_polygon() -> None:
    assert outside(np.array([[0.0, 0.0]]), np.array([3.0, 4.0])) == pytest.approx(5.0)
    assert outside(np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([1.0, 0.5])) == pytest.approx(0.5)


@pytest.mark.parametrize("corners", [3, 4])
def test_inside_a_polygon_is_as_by_triangles(corners) -> None:
    hull = np.array([[-1.0, -0.5], [2.0, 0.0], [3.0, 1.0], [0.5, 2.0]])[-corners:]
    triangles = Delaunay(hull)
    points = np.stack(np.meshgrid(np.linspace(-1.5, 3.5, 12), np.linspace(-1.0, 2.5, 12)), axis=-1).reshape(-1, 2)
    inside = triangles.find_simplex(points) >= 0
    assert 10 < inside.sum() < 100
    assert [outside(hull, point) == 0.0 for point in points] == inside.tolist()


@pytest.mark.parametrize("rate", [24.0, 60.0])
def test_what_is_retimed_inside_efforts_passes_the_check_at_the_rate_of_a_film(rate) -> None:
    panda = library_robot("panda")
    weak = RobotModel("weak", panda.links, [replace(joint, effort=0.5 * joint.effort) for joint in panda.joints[1:]])
    way = np.arange(panda.nq) + np.linspace(0.0, 6.0, 12)[:, None]
    done = retime(weak, panda.limits.middle(panda.neutral()) + 0.5 * np.sin(way), gravity=G)
    assert "effort" in {each.kind for each in done.bindings}
    times = np.arange(0.0, done.duration, 1.0 / rate)
    for share, is_kept in ((1.0, True), (0.95, False)):
        model = RobotModel(
            "own", weak.links, [replace(joint, effort=share * joint.effort) for joint in weak.joints[1:]]
        )
        found = check_motion(Motion.of(model, times, done.sample(times)[0]), gravity=G).violations
        assert (not [each for each in found if each.kind == "effort"]) == is_kept


def test_at_rest_efforts_are_reported_to_the_last_digit() -> None:
    """A mass of 2 kg on a slider is 19.62 N."""
    for bound, is_kept in ((19.6201, True), (19.6199, False)):
        joint = Joint("lift", "prismatic", "base", "mass", axis=(0, 0, 1), lower=-5.0, upper=5.0, effort=bound)
        model = RobotModel("lift", [Link("base", 1.0), Link("mass", 2.0)], [joint])
        found = check_motion(Motion.of(model, T, np.zeros((len(T), 1))), gravity=G).violations
        assert (not found) == is_kept


@pytest.mark.parametrize("speed", [0.0, 1e-12, 1e-3, 1.0])
def test_efforts_of_what_rests_are_reported_while_another_joint_moves(speed: float) -> None:
    """0.9 % more than a slider can hold, with a tip that turns about the vertical on it."""
    lift = Joint("lift", "prismatic", "base", "mass", axis=(0, 0, 1), lower=-5.0, upper=5.0, effort=19.62 / 1.009)
    turn = Joint("turn", "revolute", "mass", "tip", axis=(0, 0, 1), lower=-5.0, upper=5.0)
    model = RobotModel("lift", [Link("base", 1.0), Link("mass", 1.0), Link("tip", 1.0)], [lift, turn])
    motion = Motion.of(model, T, speed * T[:, None] * (0.0, 1.0))
    found = check_motion(motion, gravity=G).violations
    assert {each.kind for each in found} == {"effort"} and len(found) == len(T)
