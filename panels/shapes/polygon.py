"""Convex polygons in a plane, as they are drawn."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array


def inside(polygon: Array, point: Array) -> bool:
    """Whether a point (2,) is in a convex polygon (m, 2), counter-clockwise; never, of less than three corners."""
    if len(polygon) < 3:
        return False
    edges = np.roll(polygon, -1, axis=0) - polygon
    away = point - polygon
    return bool((edges[:, 0] * away[:, 1] - edges[:, 1] * away[:, 0] >= 0.0).all())


def fan(polygon: Array) -> Array:
    """(m - 2, 3, d) triangles of a convex polygon (m, d)."""
    count = max(len(polygon) - 2, 0)
    return np.stack((np.repeat(polygon[:1], count, axis=0), polygon[1 : count + 1], polygon[2 : count + 2]), axis=1)
