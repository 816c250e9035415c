"""Obstacles that are in no way change no pose."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import forward_kinematics
from robokin_addon.solvers import ClearanceTask, PoseTask, solve_ik
from support.problems.obstructed import random_scene

MARGIN = 0.005


def test_obstacles_that_are_in_no_way_change_no_pose() -> None:
    rng, count = np.random.default_rng(8), 0
    for _ in range(12):
        collisions, q, start = random_scene(rng, 3)
        goal = PoseTask("tool", forward_kinematics(collisions.model, q)["tool"])
        plain = solve_ik(collisions.model, [goal], start)
        if plain.converged and collisions.nearest(plain.q, MARGIN) is None:
            found = solve_ik(collisions.model, [goal, ClearanceTask(collisions, MARGIN)], start)
            assert found.converged
            np.testing.assert_allclose(found.q, plain.q, atol=1e-12)
            assert found.iterations >= plain.iterations > 0
            count += 1
    assert count > 2
