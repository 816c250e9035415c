"""The nearest points of two shapes: how soon they are known, and how surely."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin.collision import Box, Cylinder, distance
from robokin_addon.robokin.collision.core import core
from robokin_addon.robokin.collision.reference.distances import SURE
from robokin_addon.robokin.collision.reference.nearest import nearest
from robokin_addon.robokin.collision.reference.pair import Pair
from robokin_addon.robokin.spatial.se3 import pack
from support.few import rest_slow
from support.problems.shapes import at, random_shape


def test_a_disc_takes_few_steps_and_leaves_no_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simplex of points of a rim that only grows halves what is left; then rounding ends it before it is sure."""
    rng, looks, corner = np.random.default_rng(0), [], Pair.corner
    monkeypatch.setattr(Pair, "corner", lambda p, n: looks.append(p) or corner(p, n))
    for _ in range(60):
        a, b = core(Cylinder(*rng.uniform(0.05, 1.0, 2).tolist())), core(random_shape(rng, 8, 1.0))
        direction = rng.normal(size=3)
        away = (a.bound + b.bound) * rng.uniform(1.0, 1.5) * direction / np.linalg.norm(direction)
        p = Pair.of(a, pack(at(turn=rng)), b, pack(at(*away, turn=rng)))
        found = nearest(p)
        assert found.distance - found.low <= SURE * p.size
    assert np.median([looks.count(p) for p in set(looks)]) <= 6


@pytest.mark.parametrize("other", [Cylinder(1.0, 1.0), Cylinder(0.5, 1.0), Box((1.0, 1.0, 1.0))])
@pytest.mark.parametrize("z", rest_slow([0.5, 0.0, 1.0]))
def test_a_corner_at_the_very_origin_is_no_step_for_either_backend(other: object, z: float) -> None:
    """Points that coincide have no direction to turn discs by: shapes that touch, or are deep in one another."""
    for x, y in ((0.0, 0.0), (0.5, 0.0), (0.25, -0.25), (1.0, 0.0), (1.0, 1.0), (2.0, 0.0)):
        pair = Cylinder(1.0, 1.0), at(), other, at(x, y, z)
        native, numpy = (distance(*pair, backend=name).value for name in ("native", "numpy"))
        assert numpy == pytest.approx(native, abs=1e-12), (x, y)
