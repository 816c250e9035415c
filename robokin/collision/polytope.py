"""A rounded hull as a polytope around it, for formats that know no rounding."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..arrays import Array
from .convex_hull import distinct, hull_triangles
from .shapes import Hull

ROUNDING = 1e-9  # of the size: a radius that is none


def polytope_around(hull: Hull) -> tuple[Array, float]:
    """(n, 3, 3) triangles of a polytope that holds the hull, and how far it reaches beyond it at most [m]. Raises
    ModelError for a hull of less than four points without a radius."""
    points, beyond = hull.points, 0.0
    if hull.radius > ROUNDING * (1.0 + float(abs(points).max())):
        ball, farthest = _around_a_ball()
        points = (points[:, None] + hull.radius * ball).reshape(-1, 3)
        beyond = (farthest - 1.0) * hull.radius
    points = distinct(points)
    if len(points) < 4:
        points = np.concatenate((points, np.repeat(points[-1:], 4 - len(points), axis=0)))
    return points[hull_triangles(points)], beyond


@lru_cache(maxsize=1)
def _around_a_ball() -> tuple[Array, float]:
    """(12, 3) corners of an icosahedron around the unit ball, and how far they are from its centre."""
    golden = 0.5 + 0.5 * np.sqrt(5.0)
    sides = np.array([[0.0, x, y * golden] for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
    corners = np.concatenate([np.roll(sides, k, axis=1) for k in range(3)]) / np.hypot(1.0, golden)
    a, b, c = corners[hull_triangles(corners)].swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    inside = np.einsum("ij,ij->i", normals, a) / np.linalg.norm(normals, axis=1)
    farthest = 1.0 / float(abs(inside).min())
    return farthest * corners, farthest
