"""Shapes around points: nothing outside, the gap as told."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin.collision import Hull, Sphere, distance
from robokin_addon.robokin.collision.core import core
from robokin_addon.robokin.collision.fitting import KINDS, SIMPLE, fitted
from robokin_addon.robokin.collision.polytope import polytope_around
from robokin_addon.robokin.collision.swept_hull import CORNERS, swept_hull
from robokin_addon.robokin.errors import ModelError
from scipy.spatial import ConvexHull
from support.problems.shapes import at


@pytest.mark.parametrize("kind", [*KINDS, None])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_outside(kind: str | None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, 3)) * [1.0, 0.4, 0.2] @ at(turn=rng)[:3, :3].T + rng.normal(size=3)
    fit = fitted(points, (kind,) if kind else SIMPLE)
    for point in points:
        assert distance(fit.shape, fit.placement, Sphere(0.0), at(*point)).value <= 1e-9
    assert 0.0 < fit.gap < 3.0
    if kind is None:
        assert fit.volume == min(fitted(points, (each,)).volume for each in SIMPLE)


def test_few_corners_with_a_radius_hold_all() -> None:
    """And the polytope that stands for it in files holds it too."""
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(3000, 3))
    points = ball / np.linalg.norm(ball, axis=1)[:, None] * [1.0, 0.4, 0.2]
    hull = swept_hull(points)
    assert len(hull.points) <= CORNERS and 0.0 < hull.radius < 0.04
    gap = fitted(points, ("hull",)).gap
    directions = ball[:100] / np.linalg.norm(ball[:100], axis=1)[:, None]
    beside = (directions @ hull.points.T).max(axis=1) + hull.radius - (directions @ points.T).max(axis=1)
    assert 0.7 * gap < beside.max() <= gap <= 0.04
    triangles, beyond = polytope_around(hull)
    assert 0.0 < beyond < 0.26 * hull.radius
    around = Hull(triangles.reshape(-1, 3))
    for point in points[:100]:
        assert distance(hull, np.eye(4), Sphere(0.0), at(*point)).value <= 1e-9
    for direction in ball[:100]:
        reach = (hull.points @ direction).max() + hull.radius * np.linalg.norm(direction)
        assert reach - 1e-9 <= (around.points @ direction).max() <= reach + beyond * np.linalg.norm(direction) + 1e-9


def test_a_rounded_bar_becomes_that_bar() -> None:
    """Corners on a box with a radius; around what is round less is beside a cylinder than beside a box."""
    rng = np.random.default_rng(1)
    ball = rng.normal(size=(4000, 3))
    ball *= 0.1 / np.linalg.norm(ball, axis=1)[:, None]
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-0.5, 0.5) for z in (-0.2, 0.2)])
    fit = fitted((corners[:, None] + ball).reshape(-1, 3), ("rounded box",))
    assert fit.shape.radius == pytest.approx(0.1, abs=0.01) and fit.gap < 0.01
    faces, edges = 2.0 * 0.1 * (2.0 * 1.0 + 1.0 * 0.4 + 0.4 * 2.0), np.pi * 0.01 * (2.0 + 1.0 + 0.4)
    assert fit.volume == pytest.approx(2.0 * 1.0 * 0.4 + faces + edges + 4.0 / 3.0 * np.pi * 1e-3, rel=0.01)
    angles = np.arange(64) * np.pi / 32
    ring = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(64)))
    fit = fitted(np.concatenate((ring, ring + np.array([0.0, 0.0, 3.0]))), ("cylinder",))
    assert (fit.shape.radius, fit.shape.length) == pytest.approx((1.0, 3.0)) and fit.gap < 0.01
    assert fit.volume == pytest.approx(3.0 * np.pi)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 60, 2000])
def test_the_gap_is_never_too_low(kind: str, count: int) -> None:
    """Beside how far the shape reaches beyond the points in many directions, which is at most the gap."""
    rng = np.random.default_rng(count)
    turned = at(turn=rng)[:3, :3]
    points = rng.normal(size=(count, 3)) * [1.0, 0.4, 0.2] @ turned.T + rng.normal(size=3)
    fit = fitted(points, (kind,))
    around = core(fit.shape)
    n = rng.normal(size=(30000, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    own = n @ fit.placement[:3, :3]
    reach = (own @ around.points.T).max(axis=1) + around.disc * np.linalg.norm(own[:, :2], axis=1) + around.radius
    beyond = (reach + n @ fit.placement[:3, 3] - (n @ points.T).max(axis=1)).max()
    little = 2e-3 * np.ptp(points, axis=0).max()
    assert beyond <= fit.gap + 1e-12 <= 1.02 * beyond + 1e-9 + little


@pytest.mark.parametrize("kind", ["sphere", "capsule", "rounded box"])
def test_the_gap_around_a_ball_is_exact(kind: str) -> None:
    """The corners of these shapes are inside: the faces of the hull tell how deep."""
    points = np.random.default_rng(0).normal(size=(1000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    fit, faces = fitted(points, (kind,)), ConvexHull(points).equations
    around = core(fit.shape)
    corners = around.points @ fit.placement[:3, :3].T + fit.placement[:3, 3]
    heights = (corners @ faces[:, :3].T + faces[:, 3]).max(axis=1)
    assert heights.max() < 0.0
    assert fit.gap == pytest.approx(heights.max() + around.radius, rel=1e-9)


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
    assert fit.gap == pytest.approx(np.sqrt(3.0) - 1.0, rel=1e-2)


def test_the_gap_of_a_ball_around_a_line() -> None:
    points = np.outer(np.linspace(0.0, 1.0, 6), [1.0, 2.0, 2.0])
    assert fitted(points, ("sphere",)).gap == pytest.approx(1.5, rel=1e-9)


def test_the_gap_of_a_cylinder_around_a_bar() -> None:
    """Of triangular section: a circle of radius 1 is at most 0.5 off."""
    section = [(np.cos(angle), np.sin(angle)) for angle in np.arange(3) * 2.0 * np.pi / 3.0]
    fit = fitted(np.array([(*each, z) for each in section for z in (0.0, 4.0)]), ("cylinder",))
    assert (fit.shape.radius, fit.shape.length) == pytest.approx((1.0, 4.0), rel=0.01)
    assert fit.gap == pytest.approx(0.5, rel=5e-3)


def test_bad_input() -> None:
    with pytest.raises(ModelError, match="no points"):
        fitted(np.empty((0, 3)))
    with pytest.raises(ModelError, match="cone"):
        fitted(np.eye(3), ("cone",))
