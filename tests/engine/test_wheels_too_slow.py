"""A wheeled base that is too slow for a curve or a twist is LIMIT, names its wheels, and stays on the way."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, library_robot
from robokin_addon.solvers import (
    AlongCurveTask,
    PositionTask,
    Status,
    Task,
    TrackResult,
    TwistTask,
    track,
)
from robokin_addon.solvers.criteria import JointSprings
from support.engine.robots import engine_robot
from support.limits import with_rates

Array = np.ndarray

DT = 1.0 / 24.0
FRAMES = 30
BASES = {"mobile arm": "base_link", "tiago": "base_footprint"}
WHEELS = {"mobile arm": ("left_wheel", "right_wheel"), "tiago": ("wheel_left_joint", "wheel_right_joint")}
TURNS = 5.0  # [rad/s] of a wheel, about 0.5 m/s
STRAIGHT = [(0.0, 0.0, 0.0), (9.0, 0.0, 0.0)]


def wheeled(name: str, acceleration: float = np.inf) -> RobotModel:
    model = library_robot("mobile_arm") if name == "mobile arm" else engine_robot(name)
    return with_rates(model, WHEELS[name], velocity=TURNS, acceleration=acceleration)


def followed(model: RobotModel, task: Task, beside: str) -> TrackResult:
    below: list[Task] = []
    if beside == "level":
        tip = model.link_names[-1]
        below = [PositionTask(tip, forward_kinematics(model, model.neutral())[tip][:3, 3], priority=2)]
    targets = [[task.target, *(each.target for each in below)]] * FRAMES
    q0 = model.limits.clamp(model.neutral())
    return track(model, [task, *below], targets, q0, DT, criteria=[JointSprings()] if beside == "springs" else [])


def tasks(base: str, speed: float) -> dict[str, Task]:
    return {
        "curve": AlongCurveTask(base, STRAIGHT, speed),
        "twist": TwistTask(base, (speed, 0, 0, 0, 0, 0), frame="tip"),
        "screw": TwistTask(base, (speed, 0, 0, 0, 0, 0), weights=(1, 1, 0, 0, 0, 1), frame="tip"),
    }


@pytest.mark.parametrize("beside", ["alone", "springs", "level"])
@pytest.mark.parametrize("kind", ["curve", "twist", "screw"])
@pytest.mark.parametrize("name", BASES)
def test_both_wheels_are_named(name: str, kind: str, beside: str) -> None:
    """2 m/s straight ahead: every frame but the first, which stands, is too slow; both wheels turn at full speed."""
    model = wheeled(name)
    result = followed(model, tasks(BASES[name], 2.0)[kind], beside)
    told = [result.diagnosis(frame) for frame in range(1, FRAMES)]
    assert {each.status for each in told} == {Status.LIMIT}
    assert {frozenset(each.joints) for each in told} == {frozenset(WHEELS[name])}
    places = np.array([forward_kinematics(model, q)[BASES[name]][:3, 3] for q in result.q])
    np.testing.assert_allclose(places[:, 1], 0.0, atol=1e-6)
    driven = np.diff(places[:, 0])[1:]
    np.testing.assert_allclose(driven, driven[-1], rtol=1e-6)
    assert driven[-1] > 0.3 * DT


@pytest.mark.parametrize("kind", ["curve", "twist"])
@pytest.mark.parametrize("name", BASES)
def test_wheels_that_speed_up_are_late_until_they_are_fast_enough(name: str, kind: str) -> None:
    """0.3 m/s, which the wheels reach after about half a second."""
    result = followed(wheeled(name, acceleration=6.0), tasks(BASES[name], 0.3)[kind], "alone")
    told = [result.diagnosis(frame) for frame in range(1, FRAMES)]
    late = [each.status is Status.LIMIT for each in told]
    assert 6 <= sum(late) <= 20 and late == sorted(late, reverse=True)
    assert {each.status for each in told} == {Status.LIMIT, Status.CONVERGED}
    assert {frozenset(each.joints) for each, is_late in zip(told, late, strict=True) if is_late} == {
        frozenset(WHEELS[name])
    }


@pytest.mark.parametrize("name", BASES)
def test_the_outer_wheel_of_a_bend_is_named(name: str) -> None:
    """In a bend to the left the right wheel has farther to go: it alone is too slow."""
    model, base = wheeled(name), BASES[name]
    # The wheels, 0.4 m apart, make 0.5 m/s: the outer one needs 0.4 + 0.2 * 1.2, the inner one 0.4 - 0.2 * 1.2.
    twist = (0.4, 0, 0, 0, 0, 1.2)
    result = followed(model, TwistTask(base, twist, frame="tip"), "alone")
    told = [result.diagnosis(frame) for frame in range(1, FRAMES)]
    assert {each.status for each in told} == {Status.LIMIT}
    assert {each.joints for each in told} == {(WHEELS[name][1],)}


def test_what_is_fast_enough_is_met() -> None:
    for name, base in BASES.items():
        for kind, task in tasks(base, 0.3).items():
            result = followed(wheeled(name), task, "alone")
            assert result.converged[1:].all(), (name, kind)
