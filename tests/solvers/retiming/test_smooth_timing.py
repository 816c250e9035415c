"""`retime` with limits on jerk, power and tools: against Ruckig and closed forms, inside all limits between samples."""

from __future__ import annotations

import numpy as np
import pytest
import ruckig
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    RobotModel,
    forward_kinematics,
    integrate,
    library_robot,
    random_configuration,
)
from robokin_addon.solvers import Motion, Retimed, point_to_point, retime
from robokin_addon.solvers.motion.dynamics import motion_efforts
from robokin_addon.solvers.retiming import smooth_timing
from support.few import rest_slow

GRAVITY = (0.0, 0.0, -9.81)
PANDA = library_robot("panda")
TIP = PANDA.link_names[-1]


def slider(**limits: float) -> RobotModel:
    joint = Joint("slide", "prismatic", "base", "cart", axis=[1, 0, 0], lower=-1, upper=3, **limits)
    return RobotModel("slider", [Link("base"), Link("cart", 2.0, inertia=np.eye(3))], [joint])


def panda_way(seed: int, count: int = 4) -> np.ndarray:
    rng, middle = np.random.default_rng(seed), PANDA.limits.middle(PANDA.neutral())
    return np.array([0.5 * random_configuration(PANDA, rng) + 0.5 * middle for _ in range(count)])


def shares(found: Retimed, samples: int = 20_001) -> np.ndarray:
    """The largest share of the limits on velocity, acceleration and jerk."""
    t = np.linspace(0.0, found.duration, samples)
    _, v, a = found.sample(t)
    bound = found.limits
    pairs = ((v, bound.velocity), (a, bound.acceleration), (found.jerk(t), bound.jerk))
    return np.array([(abs(x) / most).max() for x, most in pairs])


@pytest.mark.parametrize(("jerk", "worse"), [(2.0, 1e-3), (10.0, 1e-4), (100.0, 1e-4)])
def test_a_straight_way_takes_as_long_as_with_ruckig(jerk: float, worse: float) -> None:
    asked = ruckig.InputParameter(1)
    asked.current_position, asked.target_position = [-0.5], [0.5]
    asked.max_velocity, asked.max_acceleration, asked.max_jerk = [1.0], [2.0], [jerk]
    path = ruckig.Trajectory(1)
    ruckig.Ruckig(1).calculate(asked, path)
    found = retime(slider(velocity=1.0, acceleration=2.0), np.linspace(-0.5, 0.5, 20)[:, None], {"jerk": jerk})
    assert -1e-6 <= found.duration / path.duration - 1.0 <= worse
    assert (shares(found) <= 1.0 + 1e-6).all()
    ends = found.sample([0.0, found.duration])
    assert abs(ends[1]).max() < 1e-6 and abs(ends[2]).max() < 1e-5


def test_jerk_is_limited_along_splines_and_the_shape_stays() -> None:
    for seed in range(3):
        way = panda_way(seed)
        free = retime(PANDA, way)
        held = retime(PANDA, way, {"jerk": 100.0})
        assert (shares(held) <= 1.0 + 1e-6).all() and shares(held)[2] > 0.99
        assert free.duration < held.duration < 1.2 * free.duration
        assert "jerk" in {binding.kind for binding in held.bindings}
        q = held.sample(held.times)[0]
        assert max(abs(q - each).max(axis=1).min() for each in way) < 1e-9


def test_power_has_the_time_of_the_closed_form() -> None:
    """A mass of 2 kg, 5 m/s², 4 W: at 5 m/s² to 0.4 m/s, then v² grows by 2 P/m t, for half of the way; and back."""
    found = retime(
        slider(velocity=100.0, acceleration=5.0), np.linspace(0.0, 2.0, 20)[:, None], {"power": 4.0}, gravity=GRAVITY
    )
    at = 0.4
    top = (3.0 * 2.0 * (1.0 - at**2 / 10.0) + at**3) ** (1.0 / 3.0)
    assert found.duration == pytest.approx(2.0 * (at / 5.0 + (top**2 - at**2) / 4.0), rel=1e-4)
    t = np.linspace(0.0, found.duration, 20_001)
    _, v, a = found.sample(t)
    assert abs(2.0 * a * v).max() <= 4.0 * (1.0 + 1e-6)
    assert [binding.kind for binding in found.bindings] == ["acceleration", "power", "acceleration"]


@pytest.mark.parametrize("power", [2.0, 20.0])
def test_a_timing_that_is_too_fast_is_made_slower_until_power_suffices(power, monkeypatch) -> None:
    """A pendulum that falls needs little power for its motion, and more for the weight alone."""
    links = [Link("base"), Link("bob", 2.0, com=[0.0, 0.0, -1.0], inertia=0.1 * np.eye(3))]
    limits = {"lower": -3.0, "upper": 3.0, "velocity": 100.0, "acceleration": 50.0}
    model = RobotModel("pendulum", links, [Joint("swing", "revolute", "base", "bob", axis=[0, 1, 0], **limits)])
    fastest = smooth_timing.fastest_steps

    def too_fast(*asked):
        return 1.44 * (yield from fastest(*asked))

    monkeypatch.setattr(smooth_timing, "PASSES", 1)
    monkeypatch.setattr(smooth_timing, "fastest_steps", too_fast)
    found = retime(model, np.linspace(-2.0, 2.0, 20)[:, None], {"power": power}, gravity=GRAVITY)
    t = np.linspace(0.0, found.duration, 20_001)
    q, v, a = found.sample(t)
    efforts = motion_efforts(Motion(model, t, q, v, a), np.array(GRAVITY))
    assert 0.99 * power < abs(efforts * v).max() <= power * (1.0 + 1e-6)


@pytest.mark.parametrize("limits", [{}, {"jerk": 1000.0}, {"power": 12.0}])
def test_drives_have_friction_and_damping_too(limits: dict) -> None:
    model = slider(velocity=2.0, acceleration=100.0, effort=20.0, friction=6.0, damping=3.0)
    found = retime(model, np.linspace(-0.5, 2.5, 20)[:, None], limits, gravity=GRAVITY)
    t = np.linspace(0.0, found.duration, 4001)
    q, v, a = found.sample(t)
    effort = motion_efforts(Motion(model, t, q, v, a), np.array(GRAVITY))
    assert 0.6 * 20.0 < abs(effort).max() <= 20.0 * (1.0 + 1e-6)
    assert abs(effort * v).max() <= limits.get("power", np.inf) * (1.0 + 1e-6)


def test_all_limits_at_once() -> None:
    """Tools by differences of forward kinematics, efforts by inverse dynamics of the samples."""
    limits = {"jerk": 200.0, "power": 20.0, "tools": {TIP: {"speed": 0.8, "acceleration": 4.0}}}
    kinds = set()
    for seed in (3, 4):
        found = retime(PANDA, panda_way(seed), limits, gravity=GRAVITY)
        assert (shares(found) <= 1.0 + 1e-6).all()
        t = np.linspace(0.0, found.duration, 4001)
        q, v, a = found.sample(t)
        tips = np.array([forward_kinematics(PANDA, each)[TIP][:3, 3] for each in q])
        rate = 1.0 / t[1]
        assert np.linalg.norm(np.diff(tips, axis=0), axis=1).max() * rate <= 0.8 * (1.0 + 1e-6)
        assert np.linalg.norm(np.diff(tips, 2, axis=0), axis=1).max() * rate**2 <= 4.0 * (1.0 + 1e-5)
        effort = motion_efforts(Motion(PANDA, t, q, v, a), np.array(GRAVITY))
        assert abs(effort * v).max() <= 20.0 * (1.0 + 1e-6)
        kinds |= {binding.kind for binding in found.bindings}
    assert {"tool speed", "tool acceleration", "jerk"} <= kinds


def test_a_tool_speed_alone_is_kept_exactly() -> None:
    found = retime(PANDA, panda_way(5), {"tools": {TIP: {"speed": 0.3}}})
    t = np.linspace(0.0, found.duration, 4001)
    tips = np.array([forward_kinematics(PANDA, each)[TIP][:3, 3] for each in found.sample(t)[0]])
    speeds = np.linalg.norm(np.diff(tips, axis=0), axis=1) / t[1]
    assert 0.3 * 0.999 < speeds.max() <= 0.3 * (1.0 + 1e-6)
    assert found.binding_at(0.5 * found.duration)[0].kind == "tool speed"


def test_balls_and_floating_joints_have_jerks() -> None:
    joints = [Joint("neck", "spherical", "base", "head")]
    model = RobotModel("bird", [Link("base"), Link("head")], joints, root="floating")
    rng, way = np.random.default_rng(6), [model.neutral()]
    for _ in range(4):
        way.append(integrate(model, way[-1], rng.uniform(-0.5, 0.5, model.nv)))
    found = retime(model, np.array(way), {"jerk": 50.0})
    assert (shares(found) <= 1.0 + 1e-6).all()
    t = np.linspace(0.0, found.duration, 20_001)
    by_differences = np.gradient(found.sample(t)[2], t, axis=0)
    assert np.median(abs(by_differences - found.jerk(t))) < 1e-4


@pytest.mark.slow
def test_a_duration_and_an_animation() -> None:
    way = panda_way(7)
    fast = retime(PANDA, way, {"jerk": 100.0})
    slow = retime(PANDA, way, {"jerk": 100.0}, duration=2.0 * fast.duration)
    assert slow.sample(fast.duration)[0] == pytest.approx(fast.sample(0.5 * fast.duration)[0], abs=1e-9)
    with pytest.raises(ConfigurationError, match="takes at least"):
        retime(PANDA, way, {"jerk": 100.0}, duration=0.5 * fast.duration)
    legal = retime(PANDA, slow.motion(50.0), {"jerk": 100.0}, as_animated=True)
    assert legal.duration == pytest.approx(slow.duration, rel=0.03)
    assert (shares(legal) <= 1.0 + 1e-6).all()


@pytest.mark.slow
def test_it_rests_where_accelerations_would_jump() -> None:
    """At a position limit the path is no spline: what a jerk limit forbids at speed, it does at rest."""
    q = np.tile(PANDA.limits.middle(PANDA.neutral()), (120, 1))
    q += 0.3 * np.sin(np.linspace(0.0, 6.0, 120))[:, None]
    q[:, 3] = np.minimum(PANDA.upper[3] + 0.2 * np.sin(np.linspace(0.0, 6.0, 120)), PANDA.upper[3])
    along = retime(PANDA, q, {"jerk": 200.0})
    assert 2 < len(along.warp.borders) <= 10  # at the limit, not at every sample
    assert (shares(along) <= 1.0 + 1e-6).all()
    assert along.sample(np.linspace(0.0, along.duration, 2001))[0][:, 3].max() <= PANDA.upper[3]
    model = slider(velocity=1.0, acceleration=2.0)
    s = np.linspace(0.0, 1.0, 30)
    way = np.minimum(3.0 * s, 1.0 + 2.0 * s)[:, None]
    way[-3:] = 3.0
    found = retime(model, way, {"jerk": 20.0})
    assert (shares(found) <= 1.0 + 1e-6).all()
    assert found.sample(np.linspace(0.0, found.duration, 999))[0].max() <= 3.0


def test_a_drive_without_a_limit_on_its_power() -> None:
    panda, way = library_robot("panda"), panda_way(1)
    g = np.array([0.0, 0.0, -9.81])
    large, none = (retime(panda, way, {"power": power}, gravity=g).duration for power in (1e9, np.inf))
    assert none == pytest.approx(large, rel=1e-6)


def test_a_path_that_touches_a_position_limit_does_not_rest_at_every_sample() -> None:
    x = np.linspace(0.0, 1.0, 40)
    way = np.column_stack((1.0 - (x - 0.5) ** 2, 2.0 * x))
    free = RobotModel("free", [Link("a"), Link("b"), Link("c")], _two(np.inf))
    near = RobotModel("near", [Link("a"), Link("b"), Link("c")], _two(1.0 - (x[1] - x[0]) ** 2 / 8.0))
    limits = {"velocity": 5.0, "acceleration": 20.0, "jerk": 100.0}
    durations = [retime(model, way, limits).duration for model in (free, near)]
    assert durations[1] < 2.5 * durations[0]


def _two(upper: float) -> list[Joint]:
    return [
        Joint("p", "revolute", "a", "b", lower=-3.0, upper=min(upper, 3.0)),
        Joint("q", "revolute", "b", "c", lower=-3.0, upper=3.0),
    ]


@pytest.mark.parametrize("jerk", rest_slow([1e3, 1e6]))
def test_jerks_that_last_for_less_than_a_cell_hardly_cost_time(jerk: float) -> None:
    model = library_robot("puma560")
    start = model.limits.middle(model.neutral())
    end = 0.5 * (start + random_configuration(model, np.random.default_rng(3)))
    limits = {"velocity": 1.0, "acceleration": 5.0, "jerk": jerk}
    fastest = point_to_point(model, start, end, limits=limits).duration
    found = retime(model, [start, end], limits)
    assert found.duration <= fastest * (1.0 + 5e-4)
    times = np.linspace(0.0, found.duration, 50_001)
    assert abs(found.sample(times)[2]).max() <= 5.0 * (1.0 + 1e-6) and abs(found.jerk(times)).max() <= jerk * (
        1.0 + 1e-6
    )
