"""The potential that grows towards obstacles: its gradient, and what a robot makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import TaskError, forward_kinematics, integrate, library_robot
from robokin_addon.robokin.collision import CollisionModel, Obstacle, Sphere
from robokin_addon.solvers import PositionTask, solve_ik, velocity_step
from robokin_addon.solvers.criteria import FarFromObstacles
from robokin_addon.solvers.kinematics.state import State
from support.problems.obstructed import at, planar_arm, random_scene


def test_the_gradient_is_that_of_central_differences() -> None:
    seen = 0
    for seed in range(5):
        collisions, q, _ = random_scene(np.random.default_rng(seed))
        model, criterion = collisions.model, FarFromObstacles(collisions, 0.3)
        gradient = criterion.gradient(State(model, q, length=1.0))
        ends = [[integrate(model, q, side * 1e-6 * axis) for side in (1, -1)] for axis in np.eye(model.nv)]
        values = [[criterion.potential(State(model, each, length=1.0)) for each in pair] for pair in ends]
        np.testing.assert_allclose(gradient, np.subtract(*np.transpose(values)) / 2e-6, atol=1e-6)
        seen += gradient.any()
    assert seen >= 3


def test_an_arm_makes_room_for_a_ball_while_its_hand_stays() -> None:
    arm = planar_arm(4)
    q = np.array([0.3, 0.6, -1.2, 0.6])
    hand = PositionTask("l3", forward_kinematics(arm, q)["l3"][:3, 3])
    collisions = CollisionModel(arm, [Obstacle("ball", Sphere(0.2), at(1.5, 0.35))])
    criterion = FarFromObstacles(collisions, 0.5)
    found = solve_ik(arm, [hand], q, criteria=[criterion])
    assert found.converged
    nearest = [collisions.distances(each[None])[0].min() for each in (q, found.q)]
    costs = [criterion.potential(State(arm, each)) for each in (q, found.q)]
    assert costs[1] < 0.5 * costs[0] and nearest[1] > nearest[0]
    step = velocity_step(arm, q, [hand], criteria=[criterion])
    assert criterion.gradient(State(arm, q)) @ step.v < 0.0


def test_what_is_no_criterion_is_refused() -> None:
    with pytest.raises(TaskError, match="must be a CollisionModel"):
        FarFromObstacles(None)
    collisions = CollisionModel(planar_arm(2))
    with pytest.raises(TaskError, match="distance"):
        FarFromObstacles(collisions, -1.0)
    with pytest.raises(TaskError, match="not of"):
        solve_ik(
            library_robot("panda"), [PositionTask("tool", [0.5, 0.0, 0.5])], criteria=[FarFromObstacles(collisions)]
        )
