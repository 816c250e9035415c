"""A target jumps out of reach and stays there, with levels below: the robot comes to rest, whatever leads it round."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, difference, library_robot, load_urdf, random_configuration
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import track
from robokin_addon.solvers.limits.viability import StepLimits
from robokin_addon.solvers.tracking.result import TrackResult
from support.engine.goals import random_goal, size
from support.engine.robots import ROBOTS, engine_robot
from support.engine.stacks import DT
from support.problems.limits import with_rates
from support.robots import robot

QUIET = 1e-6  # [rad or m] in a frame
ARRIVED = 340  # frames: those of the longest way, and 10 s
DRIVEN = 1500  # of bases that roll, whose targets are farther away
KNOWN = [
    ("kinova", 15),
    ("kinova", 27),
    ("puppet", 4),
    ("allegro_right_hand", 14),
    ("panda", 122),
    ("panda", 134),
]
RATES: list[dict[str, float]] = [
    {"velocity": 4.0, "acceleration": np.inf},
    {"velocity": np.inf, "acceleration": np.inf},
    {"velocity": 3.0, "acceleration": 12.0},
    {},
]


@cache
def model_of(name: str) -> RobotModel:
    if name in ROBOTS:
        return engine_robot(name)
    return library_robot(name) if name == "planar_4r" else load_urdf(robot(name))


def jump(name: str, seed: int, frames: int) -> TrackResult:
    """Of two or three levels, the first is out of reach, if it can be."""
    rng, model, rates = np.random.default_rng([seed, 17]), model_of(name), RATES[seed % len(RATES)]
    model = with_rates(model, **rates) if rates else model
    starts = [model.neutral(), model.limits.middle(model.neutral()), random_configuration(model, rng)]
    q0 = model.limits.clamp(starts[seed % 3])
    end = model.limits.clamp(random_configuration(model, rng))
    tasks, first, targets = [], [], []
    for priority in range(1, int(rng.integers(2, 4)) + 1):
        goal = random_goal(rng, model, priority)
        target = goal.at(end)
        first.append(goal.at(q0))
        if goal.beyond and rng.random() < (1 if priority == 1 else 0.4):
            target = goal.beyond(target, rng.normal(size=3) * size(model) * rng.uniform(0.05, 2))
        tasks.append(goal.task)
        targets.append(target)
    return track(model, tasks, [first] * 3 + [targets] * frames, q0, DT)


def steps_of(found: TrackResult) -> Array:
    """(frames - 1, nv)"""
    return np.array([difference(found.problem.model, *pair) for pair in pairwise(found.q)])


def last_steps(name: str, seed: int) -> Array:
    """(frames after it should have arrived,) the farthest that a joint moves in each."""
    arrived = DRIVEN if name == "tiago" else ARRIVED
    return abs(steps_of(jump(name, seed, arrived + 100))[arrived:]).max(axis=1)


HOVERING = [("z1", 30), ("xarm7", 54), ("gripper", 50)]


@pytest.mark.parametrize(("name", "seed"), HOVERING)
def test_a_robot_that_comes_no_nearer_stands(name: str, seed: int) -> None:
    """Though its goal is far, it does not go to and fro for as long as the way there would take twice."""
    found = jump(name, seed, 200)
    steps = abs(steps_of(found)).max(axis=1)
    change = StepLimits.of(found.problem.model, DT).max_step_change.min()
    hovers = (steps > QUIET) & (steps <= 2.0 * change)
    assert hovers.sum() < 24


@pytest.mark.parametrize("seed", [15, 16])
def test_wheels_that_gain_nothing_stand(seed: int) -> None:
    """Goals of a base that moved with it, to one side and to the other, were followed for ever."""
    steps = steps_of(jump("tiago", seed, 300))[250:]
    assert (steps[1:] * steps[:-1] > -1e-12).all(), "a joint still turns to and fro"


def test_what_comes_nearer_goes_on() -> None:
    """However long it takes: all levels are met at last."""
    assert jump("tiago", 22, 450).converged[-1]


@pytest.mark.parametrize(("name", "seed"), KNOWN)
def test_the_robot_comes_to_rest(name: str, seed: int) -> None:
    steps = last_steps(name, seed)
    assert steps.max() <= QUIET, f"a joint still moves {steps.max():.3g} in a frame"


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_robots_come_to_rest(name: str) -> None:
    moving = {seed: steps.max() for seed in range(100, 120) if (steps := last_steps(name, seed)).max() > QUIET}
    assert not moving, f"joints still move, by seed: {moving}"
