"""Distances of points, segments, boxes and cylinders that a formula has, beside exact ones by fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from robokin_addon.robokin.collision import Box, Capsule, Cylinder, Hull, Sphere, distance
from robokin_addon.robokin.collision.core import core
from scipy.spatial.transform import Rotation
from support.problems.shapes import at, reach

BACKENDS = ("native", "numpy")


def exactly(x: np.ndarray) -> np.ndarray:
    return np.vectorize(Fraction)(x)


def segments_apart(a: Capsule, Ta: np.ndarray, b: Capsule, Tb: np.ndarray) -> float:
    """Distance of two axes: the least of what each end, or neither, has when the other is free; without rounding."""
    d, e = (exactly(T[:3, 2]) * Fraction(c.length) / 2 for c, T in ((a, Ta), (b, Tb)))
    w = exactly(Tb[:3, 3]) - exactly(Ta[:3, 3])
    dd, ee, de, wd, we = d @ d, e @ e, d @ e, w @ d, w @ e
    ends, found = (Fraction(-1), Fraction(1)), []
    clamped = [(s, max(Fraction(-1), min(Fraction(1), (s * de - we) / ee))) for s in ends]
    clamped += [(max(Fraction(-1), min(Fraction(1), (t * de + wd) / dd)), t) for t in ends]
    if denominator := dd * ee - de * de:
        s, t = (wd * ee - we * de) / denominator, (wd * de - we * dd) / denominator
        clamped += [(s, t)] * (abs(s) <= 1 and abs(t) <= 1)
    for s, t in clamped:
        x = w + t * e - s * d
        found.append(x @ x)
    return math.sqrt(min(found))


def check(a: object, Ta: np.ndarray, b: object, Tb: np.ndarray, found: object) -> None:
    """A slab of the normal is as thick as the distance between two points of the shapes, to rounding."""
    ca, cb = core(a), core(b)
    size = ca.bound + cb.bound + np.linalg.norm(Tb[:3, 3] - Ta[:3, 3])
    n = found.normal
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-15)
    overlap = reach(ca, Ta, n) + reach(cb, Tb, -n) - (Tb[:3, 3] - Ta[:3, 3]) @ n
    assert found.value == pytest.approx(-overlap, abs=2e-14 * size)
    assert np.linalg.norm(found.point_b - found.point_a - found.value * n) <= 2e-11 * size
    assert abs((found.point_a - Ta[:3, 3]) @ n - reach(ca, Ta, n)) <= 2e-11 * size
    assert abs((found.point_b - Tb[:3, 3]) @ n + reach(cb, Tb, -n)) <= 2e-11 * size


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("angle", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1.0])
def test_long_capsules_at_any_angle_are_exact(backend: str, angle: float) -> None:
    """Beside each other, one after the other, and where their axes cross or nearly do."""
    rng = np.random.default_rng(5)
    for _ in range(40 if backend == "numpy" else 200):
        a, b = (Capsule(0.01, length) for length in 10.0 ** rng.uniform(-1, 3, 2))
        Ta = at(*rng.normal(size=3), turn=rng)
        tilt = Rotation.from_rotvec([angle, 0.0, 0.0]).as_matrix()
        Tb = Ta.copy()
        Tb[:3, :3] = Ta[:3, :3] @ Rotation.from_euler("z", rng.uniform(0, 6)).as_matrix() @ tilt
        aside = rng.choice([0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0]) * rng.normal()
        along = rng.uniform(-0.75, 0.75, 2) * (a.length, b.length)
        Tb[:3, 3] += along[0] * Ta[:3, 2] + along[1] * Tb[:3, 2] + aside * Tb[:3, 0]
        found = distance(a, Ta, b, Tb, backend=backend)
        size = core(a).bound + core(b).bound + np.linalg.norm(Tb[:3, 3] - Ta[:3, 3])
        assert found.value + 0.02 == pytest.approx(segments_apart(a, Ta, b, Tb), abs=1e-11 * size)
        check(a, Ta, b, Tb, found)


@pytest.mark.parametrize("backend", BACKENDS)
def test_of_parallel_capsules_the_middle_of_what_is_beside_each_other_is_nearest(backend: str) -> None:
    """All points there are as near: which one is chosen does not hang on rounding, nor on which comes first."""
    rng = np.random.default_rng(2)
    a, b = Capsule(0.1, 4.2), Capsule(0.2, 1.9)
    for turned in range(20):
        Ta = at(turn=rng)
        Tb = Ta.copy()
        Tb[:3, 2] *= (-1.0) ** turned
        Tb[:3, 1] *= (-1.0) ** turned
        Tb[:3, 3] = Ta @ [1.0, 0.0, 2.0, 1.0] @ np.eye(4, 3)
        found, back = distance(a, Ta, b, Tb, backend=backend), distance(b, Tb, a, Ta, backend=backend)
        np.testing.assert_allclose(found.point_a, Ta[:3, :3] @ [0.1, 0.0, 1.575], atol=1e-14)
        np.testing.assert_allclose(back.point_b, found.point_a, atol=1e-14)
        np.testing.assert_allclose(back.point_a, found.point_b, atol=1e-14)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Sphere(0.0), Sphere(0.5)),
        (Sphere(0.5), Capsule(0.1, 0.0)),
        (Capsule(0.1, 2.0), Hull(np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]), 0.2)),
        (Hull(np.ones((1, 3))), Capsule(0.2, 3.0)),
        *((Sphere(0.1), Box(size, radius)) for size in ((1.0, 2.0, 3.0), (0.0, 1.0, 2.0)) for radius in (0.0, 0.2)),
        *((Sphere(0.1), Cylinder(*size)) for size in ((1.0, 2.0), (1.0, 0.0), (1.0, 0.1))),
    ],
)
def test_degenerate_and_special_places(backend: str, a: object, b: object) -> None:
    """On corners, edges, faces and axes, next to them, and within."""
    steps = (0.0, 1e-300, 1e-15, 1e-9, 0.3, 0.5, 1.0, 1.5)
    for place in itertools.product(steps, (0.0, 1e-12, 1.0), (0.0, 1e-15, 0.5, 1.0, 1.5, 4.0)):
        for Tb in (at(), at(turn="x")):
            Ta = at(*place)
            check(a, Ta, b, Tb, distance(a, Ta, b, Tb, backend=backend))
            check(b, Tb, a, Ta, distance(b, Tb, a, Ta, backend=backend))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("length", [1e-150, 1e-160, 1e-170, 1e-310])
def test_capsules_whose_length_has_no_square(backend: str, length: float) -> None:
    """Beside what is far, and across what it crosses."""
    short, turned = Capsule(0.1, length), at(turn=np.random.default_rng(4))
    for other in (Sphere(0.2), Capsule(0.1, 2.0), short):
        for place in (at(), at(1.0, 0.3, 0.0)):
            check(short, turned, other, place, distance(short, turned, other, place, backend=backend))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_point_on_and_in_a_box_or_cylinder(backend: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20 if backend == "numpy" else 200):
        size, y = rng.uniform(0.1, 2.0, 3), rng.normal(size=3)
        T = at(*rng.normal(size=3), turn=rng)
        past = abs(y) - 0.5 * size
        value = np.linalg.norm(np.maximum(past, 0.0)) + min(past.max(), 0.0)
        place = at(*(T @ [*y, 1.0])[:3])
        found = distance(Sphere(0.25), place, Box(tuple(size.tolist()), 0.5), T, backend=backend)
        assert found.value == pytest.approx(value - 0.75, abs=1e-14)
        check(Sphere(0.25), place, Box(tuple(size.tolist()), 0.5), T, found)
        past = np.array([np.hypot(*y[:2]) - size[0], abs(y[2]) - 0.5 * size[1]])
        value = np.linalg.norm(np.maximum(past, 0.0)) + min(past.max(), 0.0)
        found = distance(Cylinder(*size[:2].tolist()), T, Sphere(0.25), place, backend=backend)
        assert found.value == pytest.approx(value - 0.25, abs=1e-14)
        check(Cylinder(*size[:2].tolist()), T, Sphere(0.25), place, found)
