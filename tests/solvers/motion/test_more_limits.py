"""Limits besides those of joints, against numbers that are known."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, Joint, Link, RobotModel, UnknownNameError, library_robot
from robokin_addon.solvers import Motion, MotionDynamics, check_motion
from robokin_addon.solvers.motion.more_limits import outside

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
    model = library_robot("panda")
    q = model.limits.middle(model.neutral()) + 0.2 * np.sin(6.0 * T[:, None] + np.arange(model.nq))
    motion = Motion.of(model, T, q)
    power = abs(MotionDynamics.of(motion, G).power)
    bound = float(np.quantile(power, 0.9))
    found = check_motion(motion, gravity=G, limits={"power": bound}).violations
    count = sum(v.kind == "power" for v in found)
    assert count == (power > bound).sum() > 10
    with pytest.raises(ConfigurationError, match="power need gravity"):
        check_motion(motion, limits={"power": bound})
    with pytest.raises(UnknownNameError):
        check_motion(motion, limits={"sound": 1.0})


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


def test_distance_to_what_is_no_polygon() -> None:
    assert outside(np.array([[0.0, 0.0]]), np.array([3.0, 4.0])) == pytest.approx(5.0)
    assert outside(np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([1.0, 0.5])) == pytest.approx(0.5)
