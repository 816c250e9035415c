"""Shapes around points: nothing outside, the gap as told."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin.collision import Hull, Sphere, distance
from robokin_addon.robokin.collision.fitting import KINDS, fitted
from robokin_addon.robokin.errors import ModelError
from support.problems.shapes import at


@pytest.mark.parametrize("kind", [*KINDS, None])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_outside(kind: str | None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, 3)) * [1.0, 0.4, 0.2] @ at(turn=rng)[:3, :3].T + rng.normal(size=3)
    fit = fitted(points, (kind,) if kind else KINDS)
    for point in points:
        assert distance(fit.shape, fit.placement, Sphere(0.0), at(*point)).value <= 1e-9
    assert 0.0 < fit.gap < 3.0
    if kind is None:
        assert fit.volume == min(fitted(points, (each,)).volume for each in KINDS)


def test_what_is_a_box_becomes_that_box() -> None:
    turned = at(1.0, 2.0, 3.0, turn=np.random.default_rng(4))
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-0.5, 0.5) for z in (-0.2, 0.2)])
    fit = fitted(corners @ turned[:3, :3].T + turned[:3, 3])
    assert sorted(fit.shape.size) == pytest.approx([0.4, 1.0, 2.0]) and fit.gap < 1e-9
    assert distance(Hull(corners), turned, fit.shape, fit.placement).value == pytest.approx(-0.4)


def test_the_gap_of_a_ball_around_a_cube() -> None:
    cube = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    fit = fitted(cube, ("sphere",))
    assert fit.shape.radius == pytest.approx(np.sqrt(3.0), rel=1e-2)
    assert fit.gap == pytest.approx(np.sqrt(3.0) - 1.0, rel=3e-2)


def test_bad_input() -> None:
    with pytest.raises(ModelError, match="no points"):
        fitted(np.empty((0, 3)))
    with pytest.raises(ModelError, match="cone"):
        fitted(np.eye(3), ("cone",))
