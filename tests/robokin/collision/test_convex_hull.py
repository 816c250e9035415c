"""Convex hulls against Qhull's, which is another program's, and on both backends."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin.collision.convex_hull import hull_triangles
from scipy.spatial import ConvexHull


def points_of(kind: str, rng: np.random.Generator) -> np.ndarray:
    ball = rng.normal(size=(400, 3))
    match kind:
        case "tetrahedron":
            return ball[:4]
        case "ball":
            return ball
        case "sphere":
            return ball / np.linalg.norm(ball, axis=1)[:, None]
        case "thin":
            return ball * [1.0, 1e-6, 1e-3]
        case "grid":
            return np.stack(np.meshgrid(*3 * [np.arange(6.0)]), axis=-1).reshape(-1, 3)
        case "prism":
            angle = 2.0 * np.pi * np.arange(40) / 40
            return np.concatenate([np.column_stack((np.cos(angle), np.sin(angle), 0 * angle + z)) for z in (0.0, 2.0)])
    return ball @ np.diag([1.0, 1.0, -1.0]) + 1e3  # "far"


@pytest.mark.parametrize("kind", ["tetrahedron", "ball", "sphere", "thin", "grid", "prism", "far"])
@pytest.mark.parametrize("seed", range(3))
def test_hull(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = points_of(kind, rng) @ np.linalg.qr(rng.normal(size=(3, 3)))[0]  # some of them mirrored
    triangles = hull_triangles(points, "native")
    a, b, c = points[triangles.T] - points.mean(axis=0)
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0  # negative where triangles look inwards
    other = ConvexHull(points)
    assert volume == pytest.approx(other.volume, rel=1e-9)
    assert {*other.vertices} <= {*triangles.ravel()}  # points on flat faces may be corners too
    np.testing.assert_array_equal(triangles, hull_triangles(points, "numpy"))


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_thin_prism_beside_the_middle_of_its_bounding_box(backend: str) -> None:
    sheet, up = np.eye(3), np.ones(3) / np.sqrt(3.0)
    points = np.concatenate((sheet, sheet + 1e-8 * up))
    a, b, c = points[hull_triangles(points, backend).T] - points.mean(axis=0)
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
    assert volume == pytest.approx(1e-8 * np.sqrt(3.0) / 2.0, rel=1e-6)
