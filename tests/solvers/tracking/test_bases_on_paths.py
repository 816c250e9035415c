"""A base that is led along a path by a point on its axle turns into it, and does not swing to and fro."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, load_urdf
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import PoseTask, PositionTask, PostureTask, track
from robokin_addon.solvers.tracking.result import TrackResult
from support.robots import robot
from support.rolling import BASES, rolling_robot

DT = 1.0 / 24.0
NAMES = [*BASES, "ur5"]
SEEN = 2e-3  # [rad] of a wheel


def based_robot(name: str) -> tuple[RobotModel, Array, str]:
    """With wheels that have limits on both rates, on speed, and none."""
    if name in BASES:
        model, q, _ = rolling_robot(name)
        return model, q, BASES[name]
    model = load_urdf(robot("ur5_robot"), root="wheeled")
    return model, model.limits.middle(model.neutral()), model.moving_joints[0].child


def led(name: str, move: tuple[float, float], frames: int, backend: str = "auto", below: float = 0.0) -> TrackResult:
    """The base's place goes straight, by x, y [m], slowly at first and at last, and stands still. below: the influence
    of a posture at the second level."""
    model, q, base = based_robot(name)
    here = forward_kinematics(model, q)[base][:3, 3]
    shares = np.linspace(0.0, 1.0, frames)
    path = [[here + np.array([*move, 0.0]) * share] for share in shares**2 * (3.0 - 2.0 * shares)]
    tasks = [PositionTask(base, here)]
    targets = path + path[-1:] * 40
    if below:
        tasks.append(PostureTask({"arm_1_joint": 1.0, "torso_lift_joint": 0.1}, priority=2, influence=below))
        targets = [[*each, tasks[1].target] for each in targets]
    return track(model, tasks, targets, q, DT, backend=backend)


def turns_back(found: TrackResult) -> Array:
    """(frames - 2,) bool, whether a wheel turns back by what can be seen."""
    (base,) = found.problem.model.rolling_bases
    steps = np.diff(found.q[:, list(base.wheel_q)], axis=0)
    least = np.minimum(abs(steps[1:]), abs(steps[:-1]))
    return ((steps[1:] * steps[:-1] < 0.0) & (least > SEEN)).any(axis=1)


@pytest.mark.parametrize("angle", [0.3, 1.2, 1.6, 2.2, -0.8, -2.6])
@pytest.mark.parametrize("name", NAMES)
def test_it_turns_into_a_straight_path(name: str, angle: float) -> None:
    found = led(name, (1.2 * np.cos(angle), 1.2 * np.sin(angle)), 100)
    swings = turns_back(found)
    assert found.converged[-1]
    assert swings.sum() <= 14
    assert swings[40:].sum() <= 3, "it still swings on its way"
    if name != "mobile_arm":  # which is not fast enough
        assert found.residuals[40:].max() < 1e-3


def test_frames_in_which_it_is_calm_say_why() -> None:
    """Its wheels have no limits, so these are not why."""
    found = led("ur5", (0.4, 0.9), 100)
    missed = np.flatnonzero(~found.converged)
    assert len(missed) and not found.behind[missed].any()
    assert all("wheels do not roll aside" in found.diagnosis(frame).reason for frame in missed)


@pytest.mark.parametrize("name", ["tiago", "ur5"])
def test_a_heading_that_is_asked_for_is_met(name: str) -> None:
    """Where it turns back, too: a base is calm only where it is led by a point on its axle."""
    model, q, base = based_robot(name)
    poses = []
    for turn in 0.1 * np.cos(np.arange(60)):
        there = q.copy()
        there[2] += turn
        poses.append([forward_kinematics(model, there)[base]])
    found = track(model, [PoseTask(base, poses[0][0])], poses, q, DT)
    assert found.converged[3:].all()


def test_a_point_before_the_axle_is_met() -> None:
    """Its heading follows from its path."""
    model, q, base = based_robot("ur5")
    here = forward_kinematics(model, q)[base][:3, 3]
    (rolling,) = model.rolling_bases
    ahead = np.append(0.3 * rolling.heading(q[2]), 0.0)
    times = np.arange(96) * DT
    places = [[here + ahead + (0.4 * time, 0.15 * np.sin(3.0 * time), 0.0)] for time in times]
    offset = np.eye(4)
    offset[:3, 3] = forward_kinematics(model, q)[base][:3, :3].T @ ahead
    found = track(model, [PositionTask(base, here, offset=offset)], places, q, DT)
    assert found.converged[2:].all()


def test_a_level_below_takes_nothing_from_its_calm() -> None:
    """That of the wheels, too: what decides is the first level alone."""
    model, _, _ = based_robot("tiago")
    (base,) = model.rolling_bases
    alone, whole = (led("tiago", (-0.5, 0.9), 100, below=share).q for share in (0.0, 1.0))
    assert abs(alone - whole)[:, 5:].max() > 0.05, "the posture leads nothing"
    assert abs(alone - whole)[:, base.q : base.q + 3].max() < 2e-3


@pytest.mark.parametrize("name", NAMES)
def test_both_backends_are_as_calm(name: str) -> None:
    native, numpy = (led(name, (0.3, -0.7), 40, backend) for backend in ("native", "numpy"))
    assert abs(native.q - numpy.q).max() < 1e-7
    assert native.status == numpy.status
