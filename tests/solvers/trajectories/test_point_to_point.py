"""`point_to_point` of robots: the contract, every joint type, limits between samples, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    RobokinError,
    RobotModel,
    difference,
    integrate,
    library_robot,
    random_configuration,
)
from robokin_addon.solvers import MotionLimits, Trajectory, check_motion, point_to_point
from robokin_addon.solvers.trajectories import quintic
from support.few import rest_slow

PROFILES = ("jerk", "trapezoid", "quintic")


def slider(lower: float = -1.0, upper: float = 1.0) -> RobotModel:
    return RobotModel(
        "slider",
        [Link("base"), Link("cart")],
        [Joint("slide", "prismatic", "base", "cart", lower=lower, upper=upper, velocity=1.0, acceleration=2.0)],
    )


def check_derivatives(trajectory: Trajectory) -> None:
    """v and a are the derivatives of q and v, by central differences on the manifold."""
    model, h = trajectory.model, 1e-5
    times = np.linspace(2.0 * h, trajectory.duration - 2.0 * h, 41)
    before, here, after = (trajectory.sample(times + shift) for shift in (-h, 0.0, h))
    # Accelerations and jerks jump: there differences are between the two.
    v = np.array([difference(model, *ends) for ends in zip(before[0], after[0], strict=True)]) / (2.0 * h)
    assert abs(v - here[1]).max() < 1e-3
    assert np.median(abs(v - here[1])) < 1e-7
    assert np.median(abs((after[1] - before[1]) / (2.0 * h) - here[2])) < 1e-5


@pytest.mark.parametrize("profile", PROFILES)
def test_from_state_to_state(profile: str) -> None:
    model, rng = library_robot("panda"), np.random.default_rng(1)
    for _ in range(5):
        q0, q1 = (0.6 * random_configuration(model, rng) + 0.4 * model.limits.middle(model.neutral()) for _ in "01")
        v0, v1 = 0.1 * model.velocity * rng.uniform(-1.0, 1.0, (2, model.nv))
        found = point_to_point(model, q0, q1, v0, v1, profile)
        for t, q, v in ((0.0, q0, v0), (found.duration, q1, v1)):
            sample = found.sample(t)
            assert np.allclose(sample[0], q, atol=1e-9) and np.allclose(sample[1], v, atol=1e-9)
        check_derivatives(found)
        times = np.linspace(0.0, found.duration, 2001)
        q, v, a = found.sample(times)
        limits = found.limits
        assert (q >= model.lower).all() and (q <= model.upper).all()
        assert (abs(v) <= limits.velocity * (1.0 + 1e-9)).all()
        assert (abs(a) <= limits.acceleration * (1.0 + 1e-9)).all()
        if profile != "trapezoid":
            assert (abs(found.jerk(times)) <= limits.jerk * (1.0 + 1e-9)).all()
        longer = point_to_point(model, q0, q1, v0, v1, profile, duration=3.0 * found.duration + 1.0)
        assert longer.duration >= 3.0 * found.duration + 1.0


def test_from_rest_to_rest_in_closed_form() -> None:
    """Over 1 m at 1 m/s, 2 m/s², 10 m/s³: d/V + V/A + A/J; 0.5 s of ramps with a trapezoid; 15/8 of the mean speed."""
    model, limits = slider(-2.0, 2.0), {"jerk": 10.0}
    durations = [point_to_point(model, [0.0], [1.0], profile=each, limits=limits).duration for each in PROFILES]
    assert durations[0] == pytest.approx(1.0 + 0.5 + 0.2, rel=1e-12)
    assert durations[1] == pytest.approx(1.0 + 0.5, rel=1e-12)
    assert durations[2] == pytest.approx(max(1.875, (60.0 / 10.0) ** (1 / 3), (10.0 / 3.0**0.5 / 2.0) ** 0.5))


def test_a_joint_stops_before_its_limit() -> None:
    """Fast towards the limit, with the end behind: it brakes, and turns round inside."""
    model = slider()
    for profile in ("jerk", "trapezoid"):
        found = point_to_point(model, [0.0], [0.99], [0.9], [-0.1], profile, limits={"jerk": 20.0})
        q = found.sample(np.linspace(0.0, found.duration, 20001))[0]
        assert q.max() <= 1.0 and found.sample(found.duration)[0] == pytest.approx([0.99])
    with pytest.raises(ConfigurationError, match=r"'slide' leaves its limits -1 \.\. 1"):
        point_to_point(model, [0.99], [0.0], [0.9])


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_joint_that_has_no_room_to_stop_before_its_limit_turns_about_before_it(backend: str) -> None:
    """From 0.6 m/s at 1 m/s³, v falls to 0 within 0.4382 m, and comes to rest without acceleration within 0.4648 m."""
    model, limits = slider(), {"velocity": 1.0, "acceleration": 5.0, "jerk": 1.0}
    braking, stopping = 2.0 / 3.0 * 0.6 * np.sqrt(2.0 * 0.6), 0.6**1.5
    for room in (0.5 * (braking + stopping), 1.001 * braking):
        for start, end, v0, v1 in ((1.0 - room, 0.2, 0.6, 0.0), (-0.2, room - 1.0, 0.0, 0.6)):
            for duration in (None, 5.0, 9.0):
                move = point_to_point(
                    model, [start], [end], [v0], [v1], limits=limits, duration=duration, backend=backend
                )
                assert duration is None or move.duration >= duration
                times = np.linspace(0.0, move.duration, 5001)
                q, v, a = move.sample(times)
                assert abs(q).max() <= 1.0 and abs(v).max() <= 1.0 + 1e-12 and abs(move.jerk(times)).max() <= 1.0
                assert abs(q[[0, -1], 0] - (start, end)).max() < 1e-12 and abs(v[[0, -1], 0] - (v0, v1)).max() < 1e-12
                assert abs(np.diff(a, axis=0)).max() <= times[1] * (1.0 + 1e-6)
    with pytest.raises(ConfigurationError, match="cannot brake"):
        point_to_point(model, [1.0 - 0.999 * braking], [0.2], [0.6], limits=limits, backend=backend)


def test_a_start_that_is_too_fast_is_slowed_down() -> None:
    found = point_to_point(slider(-9.0, 9.0), [0.0], [5.0], [3.0], a0=[4.0], limits={"jerk": 10.0})
    q, v, a = found.sample(np.linspace(0.0, found.duration, 2001))
    slow = int(np.argmax(v <= 1.0))
    assert v[0] == 3.0 and a[0] == 4.0 and 0 < slow < 1500 and abs(v[slow:]).max() <= 1.0 + 1e-12 and q[-1] == 5.0


def everything() -> RobotModel:
    """A floating base, a ball with a cone, and a joint that turns without end."""
    joints = [
        Joint("neck", "spherical", "base", "head", lower=[-1.0, -0.6, -1.0], upper=[1.0, 0.6, 1.0]),
        Joint("spin", "continuous", "head", "wheel"),
    ]
    return RobotModel("everything", [Link("base"), Link("head"), Link("wheel")], joints, root="floating")


@pytest.mark.parametrize("profile", PROFILES)
def test_balls_and_floating_joints_go_along_geodesics(profile: str) -> None:
    model, rng = everything(), np.random.default_rng(4)
    q0 = model.neutral()
    q0[-1] = 40.0  # some turns
    q1 = integrate(model, q0, np.array([0.3, -0.2, 0.5, 0.4, 0.8, -0.3, 0.3, 0.2, 0.4, -60.0]))
    found = point_to_point(model, q0, q1, profile=profile)
    assert abs(difference(model, found.sample(found.duration)[0], q1)).max() < 1e-12
    check_derivatives(found)
    _, v, a = found.sample(np.linspace(0.0, found.duration, 501))
    assert (abs(v) <= found.limits.velocity * (1.0 + 1e-9)).all()
    assert (abs(a) <= found.limits.acceleration * (1.0 + 1e-9)).all()
    assert set(found.limits.assumed) == {"velocity", "acceleration", "jerk"}
    assert np.allclose(abs(v).max(axis=0)[-1], np.pi) or profile == "quintic"
    check = check_motion(found.motion(200.0))
    assert check.violations == () or list(check.violations) == []
    way = difference(model, q0, q1)
    along = point_to_point(model, q0, q1, 0.01 * way, profile=profile)
    assert np.allclose(along.sample(0.0)[1], 0.01 * way)
    with pytest.raises(ConfigurationError, match="'neck' goes along the shortest way"):
        point_to_point(model, q0, q1, np.eye(10)[7] * rng.uniform(0.5, 1.0))


def test_what_does_not_move_takes_no_time() -> None:
    for model in (slider(), everything(), RobotModel("stone", [Link("base")], [])):
        for profile in PROFILES:
            found = point_to_point(model, model.neutral(), model.neutral(), profile=profile)
            q, v, a = found.sample(0.0)
            assert found.duration == 0.0 and (q == model.neutral()).all() and not v.any() and not a.any()
            assert len(found.motion()) == 1


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("a", [0.0, 0.4])
def test_from_a_state_at_speed_to_itself_takes_no_time(profile: str, a: float, backend: str) -> None:
    state = {"v0": [0.3], "v1": [0.3], "a0": [a], "a1": [a]}
    found = point_to_point(slider(), [0.1], [0.1], profile=profile, limits={"jerk": 9.0}, backend=backend, **state)
    assert found.duration == 0.0 and found.sample(0.0)[1] == 0.3
    # In a given time it goes back and forth.
    longer = point_to_point(slider(), [0.1], [0.1], duration=0.1, limits={"jerk": 9.0}, backend=backend, **state)
    assert longer.duration > 0.2 and longer.sample(longer.duration)[0] == pytest.approx([0.1])


def test_limits_are_those_of_the_model_and_those_given() -> None:
    model = slider()
    limits = MotionLimits.of(model, {"velocity": 5.0, "acceleration": [0.5]})
    assert limits.velocity == 1.0 and limits.acceleration == 0.5 and limits.jerk == 5.0
    assert set(limits.assumed) == {"jerk"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q1": [2.0]}, "q1: joint 'slide' is at 2, outside its limits -1 .. 1"),
        ({"q1": [0.0, 1.0]}, "must have shape"),
        ({"q1": [0.5], "v1": [2.0]}, "'slide' cannot arrive with the velocity 2"),
        ({"q1": [0.5], "v0": ["fast"]}, "v0 of 'slider' must be 1 numbers"),
        ({"q1": [0.5], "profile": "cubic"}, "no profile named 'cubic'"),
        ({"q1": [0.5], "limits": {"speed": 1.0}}, "no limit named 'speed'"),
        ({"q1": [0.5], "limits": {"jerk": -1.0}}, "jerk limits must be positive"),
        ({"q1": [0.5], "limits": 3.0}, "limits must be a mapping"),
        ({"q1": [0.5], "duration": -1.0}, "duration must be a number of seconds"),
    ],
)
def test_bad_input(arguments: dict, message: str) -> None:
    with pytest.raises(RobokinError, match=message):
        point_to_point(slider(), [0.0], **arguments)
    with pytest.raises(ConfigurationError, match=r"times must be numbers within 0 \.\. "):
        point_to_point(slider(), [0.0], [0.5]).sample(9.0)


def test_a_wheeled_base_is_left_where_it_is() -> None:
    model = slider().with_root("wheeled")
    q1 = model.neutral()
    q1[model.slot("slide").q] = 0.5
    assert point_to_point(model, model.neutral(), q1).duration > 0.0
    q1[0] = 1.0
    with pytest.raises(ConfigurationError, match="wheeled base 'root_joint' rolls"):
        point_to_point(model, model.neutral(), q1)


def test_a_polynomial_that_cannot_be_is_refused_after_few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    model, looks, keeps = slider(), [], quintic.keeps
    monkeypatch.setattr(quintic, "keeps", lambda *given: looks.append(given) or keeps(*given))
    with pytest.raises(ConfigurationError, match="no polynomial of fifth degree keeps the limits"):
        point_to_point(model, [0.9], [0.0], [1.0], profile="quintic")
    assert len(looks) < 20


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("before", "after"), rest_slow([(0.3, -0.3), (0.0, -0.3), (-0.3, 0.0)]))
def test_a_ball_that_goes_beyond_its_ends_stays_in_its_cone(profile: str, before: float, after: float) -> None:
    """At speed it goes past an end and comes back: where its limits let it, or the joint is named."""
    neck = Joint("neck", "spherical", "base", "head", lower=[-1.0, -0.6, -1.0], upper=[1.0, 0.6, 1.0])
    model = RobotModel("bust", [Link("base"), Link("head")], [neck])
    found = {True: 0, False: 0}
    tried = 8 if profile == "quintic" else 40
    for seed in range(tried):
        rng = np.random.default_rng(seed)
        q0, q1 = (random_configuration(model, rng) for _ in range(2))
        way = difference(model, q0, q1)
        try:
            there = point_to_point(model, q0, q1, before * way, after * way, profile)
        except ConfigurationError as problem:
            assert "joint 'neck'" in str(problem) or profile == "quintic"
            found[False] += 1
            continue
        q, v, _ = there.sample(np.linspace(0.0, there.duration, 301))
        assert model.limits.contain(q, 1e-8).all()
        assert abs(difference(model, q[-1], q1)).max() < 1e-9 and abs(v[-1] - after * way).max() < 1e-9
        found[True] += 1
    assert found[True] > tried // 2
