"""How far postures are from the present one."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import integrate, random_configuration
from robokin_addon.robokin.library import library_robot
from robokin_addon.scene.tasks.present_postures import largest_turn


@pytest.mark.parametrize("name", ["puppet", "panda", "mobile_arm", "gantry"])
def test_the_largest_turn_is_that_of_an_angle_or_a_ball(name: str) -> None:
    """Balls have four coordinates and three turns; lengths do not count."""
    model, rng = library_robot(name), np.random.default_rng(3)
    q = random_configuration(model, rng)
    turns = rng.uniform(-0.5, 0.5, (5, model.nv))
    found = largest_turn(model, q, np.array([integrate(model, q, each) for each in turns]))
    wanted = np.where(model.is_length, 0.0, abs(turns)).max(axis=1)
    assert found == pytest.approx(wanted, abs=1e-9) and largest_turn(model, q, np.zeros((0, model.nq))).shape == (0,)
