"""A wheeled base gets to a place with a heading where no single arc leads: it turns, drives straight, and turns."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics
from robokin_addon.robokin.arrays import Array
from robokin_addon.robokin.collision import CollisionModel, Cylinder, Obstacle
from robokin_addon.solvers import ClearanceTask, PoseTask, PositionTask, Tracker, track
from robokin_addon.solvers.motion.check import check_motion
from robokin_addon.solvers.motion.motion import Motion
from robokin_addon.solvers.tracking.result import TrackResult
from support.problems.limits import with_rates
from support.rolling import BASES, reversals, rolling_robot

DT = 1.0 / 24.0
FRAMES = 330


def place_of(seed: int) -> Array:
    """(3,) x, y, angle."""
    return np.random.default_rng(seed).uniform((-2.0, -2.0, -np.pi), (2.0, 2.0, np.pi))


def parked(name: str, place: Array, frames: int = FRAMES, backend: str = "auto") -> TrackResult:
    """The base's target jumps at once, and stands still."""
    model, q, _ = rolling_robot(name)
    there = q.copy()
    there[:3] = place
    here, target = (forward_kinematics(model, each)[BASES[name]] for each in (q, there))
    return track(model, [PoseTask(BASES[name], here)], [[here]] + [[target]] * frames, q, DT, backend=backend)


@pytest.mark.parametrize("name", BASES)
def test_a_base_gets_to_places_with_a_heading(name: str) -> None:
    for seed in range(12):
        found = parked(name, place_of(seed))
        assert found.converged[-1], seed
        assert reversals(found) <= 4, seed


@pytest.mark.parametrize("name", BASES)
def test_it_rolls_and_keeps_its_limits(name: str) -> None:
    model, _, _ = rolling_robot(name)
    (base,) = model.rolling_bases
    for seed in range(4):
        q = parked(name, place_of(seed)).q
        wheels = np.diff(q[:, list(base.wheel_q)], axis=0)
        at = q[:, base.q : base.q + 3]
        assert np.allclose(base.roll(at[:-1], wheels), at[1:], rtol=0.0, atol=1e-12)
        assert not check_motion(Motion.of(model, np.arange(len(q)) * DT, q)).violations


@pytest.mark.parametrize("name", BASES)
def test_it_turns_no_more_than_it_needs(name: str) -> None:
    """Beside it, as it stands: a quarter of a circle there and a quarter back. Behind it: backwards."""
    for place, turns in (((0.0, 1.0, 0.0), np.pi), ((-1.0, 0.0, 0.0), 0.0), ((-1.0, 0.0, np.pi), np.pi)):
        q = parked(name, np.array(place)).q
        # Before it knows that no single arc leads there, it may begin one.
        assert abs(np.diff(q[:, 2])).sum() == pytest.approx(turns, abs=0.2), place
        assert np.linalg.norm(np.diff(q[:, :2], axis=0), axis=1).sum() < 1.2, place


@pytest.mark.parametrize("name", BASES)
def test_both_backends_take_the_same_arcs(name: str) -> None:
    native, numpy = (parked(name, place_of(1), 60, backend) for backend in ("native", "numpy"))
    assert abs(native.q - numpy.q).max() < 1e-9
    assert native.status == numpy.status


@pytest.mark.parametrize("name", BASES)
def test_frames_one_by_one_are_those_of_one_call(name: str) -> None:
    whole = parked(name, place_of(2), 120)
    model, q, _ = rolling_robot(name)
    task = PoseTask(BASES[name], whole.targets[0][0])
    tracker = Tracker(model, [task], DT)
    tracker.stand(q)
    rows = [tracker.run([frame]).q[-1] for frame in whole.targets]
    assert np.array_equal(rows, whole.q)


def parked_with_hand(place: Array, frames: int, backend: str = "auto", fastest: float = 3.0) -> TrackResult:
    """The base has its place at the first level, the hand its own at the second. fastest: [rad/s, m/s]"""
    model, q, tip = rolling_robot("mobile_arm")
    model = with_rates(model, velocity=fastest)
    there = q.copy()
    there[:3], there[5] = place, q[5] + 0.3
    here, goal = (forward_kinematics(model, each) for each in (q, there))
    tasks = [PoseTask("base_link", here["base_link"]), PositionTask(tip, here[tip][:3, 3], priority=2)]
    first, last = ([each["base_link"], each[tip][:3, 3]] for each in (here, goal))
    return track(model, tasks, [first] + [last] * frames, q, DT, backend=backend)


def test_a_hand_of_a_lower_level_is_met_there() -> None:
    """However long it takes: what it misses is more than at the start for most of the way."""
    assert parked_with_hand(place_of(3), FRAMES).converged[-1]
    assert parked_with_hand(np.array([0.0, 1.0, 0.0]), 500, fastest=1.0).converged[-1]


def test_both_backends_take_the_same_arcs_in_levels() -> None:
    native, numpy = (parked_with_hand(place_of(4), 40, backend) for backend in ("native", "numpy"))
    assert abs(native.q - numpy.q).max() < 1e-6
    assert native.status == numpy.status


def test_it_parks_beside_an_obstacle() -> None:
    model, q, _ = rolling_robot("mobile_arm")
    post = np.eye(4)
    post[:3, 3] = 1.5, 1.5, 0.75
    obstacles = CollisionModel(model, [Obstacle("post", Cylinder(0.1, 1.5), post)])
    there = q.copy()
    there[:3] = 0.3, 0.8, 0.4
    here, target = (forward_kinematics(model, each)["base_link"] for each in (q, there))
    tasks = [PoseTask("base_link", here), ClearanceTask(obstacles, margin=0.02)]
    found = track(model, tasks, [[here, None]] + [[target, None]] * FRAMES, q, DT)
    assert found.converged[-1]


def test_wheels_with_too_short_a_stroke_do_not_park() -> None:
    """They stand where one arc leads nearest, and do not go to and fro."""
    model, q, _ = rolling_robot("mobile_arm")
    model = with_rates(model, ("left_wheel", "right_wheel"), type="revolute", lower=-4.0, upper=4.0)
    there = q.copy()
    there[:3] = 0.4, 1.2, 0.3
    here, target = (forward_kinematics(model, each)["base_link"] for each in (q, there))
    found = track(model, [PoseTask("base_link", here)], [[here]] + [[target]] * 300, q, DT)
    assert abs(np.diff(found.q[-100:], axis=0)).max() < 1e-9
    assert found.residuals[-1, 0, 1] < 1.0
