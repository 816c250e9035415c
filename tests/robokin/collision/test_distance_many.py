"""10^5 pairs, each distance proven by a slab and two points, or by the planes of the difference of two hulls."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin.collision.core import core
from robokin_addon.robokin.collision.pairs import distances
from robokin_addon.robokin.collision.reference.distances import FOUND
from support.problems.shapes import at, random_shape

pytestmark = pytest.mark.slow

SHAPES, PLACES = 200, 250


def reaches(shape, R, n):
    """How far a shape reaches along each n, turned by each R."""
    own = np.einsum("cji,cj->ci", R, n)
    return (own @ shape.points.T).max(axis=1) + shape.disc * np.hypot(own[:, 0], own[:, 1]) + shape.radius


def test_many_pairs():
    rng, rows, deep = np.random.default_rng(11), 0, 0
    for _ in range(SHAPES):
        a, b = (core(random_shape(rng)) for _ in range(2))
        T = np.stack([[at(*rng.normal(size=3), turn=rng), at(turn=rng)] for _ in range(PLACES)])
        T[::5, 1, :3, :3] = T[::5, 0, :3, :3]
        size = a.bound + b.bound
        T[:, 1, :3, 3] = T[:, 0, :3, 3] + size * rng.choice([0.0, 0.3, 1.0], (PLACES, 1)) * rng.normal(size=(PLACES, 3))
        for touching in (False, True):
            out, status = distances((a, b), T, np.array([[0, 1]]), np.inf)
            value, points, n = out[:, 0, 0], out[:, 0, 1:7].reshape(-1, 2, 3), out[:, 0, 7:]
            shift = T[:, 1, :3, 3] - T[:, 0, :3, 3]
            sizes = size + np.linalg.norm(shift, axis=1) + np.linalg.norm(a.centre) + np.linalg.norm(b.centre)
            assert (status == FOUND).all()
            overlap = reaches(a, T[:, 0, :3, :3], n) + reaches(b, T[:, 1, :3, :3], -n) - (shift * n).sum(axis=1)
            assert (abs(value + overlap) <= 1e-11 * sizes).all()
            apart = points[:, 1] - points[:, 0] - value[:, None] * n
            assert (np.linalg.norm(apart, axis=1) <= 5e-8 * sizes).all()
            if touching:
                assert (abs(value) <= 1e-11 * sizes).all()
            T[:, 1, :3, 3] -= value[:, None] * n
            rows, deep = rows + len(value), deep + (value < -1e-3 * sizes).sum()
    assert rows >= 100_000 and deep >= 20_000
