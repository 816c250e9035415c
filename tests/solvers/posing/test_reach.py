"""A pose that an arm of five axes has not: its place, and the nearest rotation that it can have there."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, library_robot, random_configuration
from robokin_addon.robokin.spatial import se3
from robokin_addon.solvers.posing.reach import reach
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation


def least_turn(model, T, rng, starts=12):
    """[rad] the smallest angle to T's rotation among configurations whose tool is at T's place; by least squares in
    which a place off by 1 mm weighs as much as half a turn."""

    def residual(q):
        tool = forward_kinematics(model, q)["tool"]
        return np.concatenate((2e3 * (tool[:3, 3] - T[:3, 3]), (tool[:3, :3] - T[:3, :3]).ravel()))

    bounds = model.limits.lower, model.limits.upper
    found = [least_squares(residual, random_configuration(model, rng), bounds=bounds) for _ in range(starts)]
    best = min(found, key=lambda each: each.cost)
    R = forward_kinematics(model, best.x)["tool"][:3, :3]
    return Rotation.from_matrix(T[:3, :3].T @ R).magnitude()


@pytest.mark.parametrize(("seed", "scale"), [(0, 0.4), (1, 0.4), (2, 0.4), (120, 1.5)])
def test_the_place_is_met_with_the_nearest_rotation(seed, scale):
    """The last one has it in another posture than the one that is near the start."""
    model, rng = library_robot("desk_arm"), np.random.default_rng(seed)
    T = forward_kinematics(model, random_configuration(model, rng))["tool"].copy()
    T[:3, :3] = T[:3, :3] @ se3.exp(np.array([0.0, 0.0, 0.0, *rng.normal(scale=scale, size=3)]))[:3, :3]
    result = reach(model, "tool", T, model.neutral())
    away, turned = result.residual_array.sum(axis=1)
    assert not result.converged and away < 1e-4
    assert turned == pytest.approx(least_turn(model, T, rng), abs=2e-3)


def test_what_can_be_reached_is(seed=7):
    model, rng = library_robot("desk_arm"), np.random.default_rng(seed)
    T = forward_kinematics(model, random_configuration(model, rng))["tool"]
    result = reach(model, "tool", T, model.neutral())
    assert result.converged
    np.testing.assert_allclose(forward_kinematics(model, result.q)["tool"], T, atol=2e-4)
