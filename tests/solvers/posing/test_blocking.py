"""Joints that are blamed for what is missed: going on past their limits would bring the tip nearer to its target."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, load_urdf, random_configuration
from robokin_addon.solvers import IKProblem, PositionTask
from robokin_addon.solvers.posing.follow import TargetFollower
from support.robots import robot

DRAWS, SMALL = 40, 1e-6


@pytest.mark.parametrize(
    ("name", "tip"), [("panda", "panda_hand"), ("ur5_robot", "tool0"), ("talos_reduced", "arm_left_7_link")]
)
def test_those_at_limits_that_would_help_are_blamed(name, tip):
    model, rng, blamed, innocent = load_urdf(robot(name)), np.random.default_rng(7), 0, 0
    follower = TargetFollower(IKProblem(model, [PositionTask(tip, np.zeros(3))], attempts=1))

    def distance(q):
        return float(np.linalg.norm(forward_kinematics(model, q)[tip][:3, 3] - target))

    for _ in range(DRAWS):
        q = model.limits.clamp(random_configuration(model, rng))
        for joint in model.moving_joints:  # some of them at a limit
            at = model.slot(joint.name).q
            if rng.random() < 0.5 and np.isfinite(model.limits.lower[at]).all():
                q[at] = (model.limits.lower if rng.random() < 0.5 else model.limits.upper)[at]
        target = forward_kinematics(model, q)[tip][:3, 3] + 0.1 * rng.normal(size=3)
        follower.solve([target], q)
        names = follower.blocking(q)
        for joint in model.moving_joints:
            at = model.slot(joint.name).q
            outward = np.zeros(model.nq)
            outward[at] = np.where(q[at] <= model.limits.lower[at], -SMALL, SMALL)
            gain = (distance(q) - distance(q + outward)) / SMALL
            if not model.limits.at_limit(q)[at].any():
                assert joint.name not in names
            elif gain > 0.02:
                assert joint.name in names
                blamed += 1
            elif gain < 0.0:
                assert joint.name not in names
                innocent += 1
    assert blamed > DRAWS and innocent > DRAWS
