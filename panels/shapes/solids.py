"""Outlines of collision shapes, in their own frames [m]."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.collision import Capsule, Cylinder, Hull, Sphere
from ...robokin.collision.convex_hull import bent_edges, hull_triangles
from ...robokin.errors import ModelError
from ...robokin.model import geometry
from .lines import SPHERE, circle, joined, polyline

CREASE = 0.2  # between the unit normals of two faces: with less, the edge between them is not drawn
NO_LINES = np.empty((0, 2, 3))


def outline(shape: geometry.Box | Capsule | Cylinder | Hull | Sphere) -> Array:
    """(n, 2, 3) segments; of what is rounded those of what the ball goes along, and the ball at its ends."""
    match shape:
        case Sphere(radius):
            return radius * SPHERE
        case Capsule(radius, length):
            ends = [np.array([0.0, 0.0, side * 0.5 * length]) for side in (-1.0, 1.0)]
            return joined(*(radius * SPHERE + end for end in ends), _sides(radius, length))
        case Cylinder(radius, length):
            ends = [np.array([0.0, 0.0, side * 0.5 * length]) for side in (-1.0, 1.0)]
            return joined(*(circle(radius) + end for end in ends), _sides(radius, length))
        case geometry.RoundedBox(radius=radius) if radius:
            return joined(_faces(0.5 * np.array(shape.size), radius), _corners(shape))
        case geometry.Box():
            return _faces(0.5 * np.array(shape.size), 0.0)
    return _edges(shape.points)


_SIGNS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def _faces(half: Array, radius: float) -> Array:
    """Borders of the flat faces of a box, which lie the radius farther out; one of two that are the same."""
    pairs = np.array([(i, k) for i in range(8) for k in range(i) if abs(_SIGNS[i] - _SIGNS[k]).sum() == 2.0])
    edges, outward = (half * _SIGNS)[pairs], _SIGNS[pairs].mean(axis=1)  # 0 along the edge
    if not radius:
        return edges
    apart = [np.where(np.arange(3) == np.flatnonzero(both)[i], both, 0.0) for both in outward for i in (0, 1)]
    return np.repeat(edges, 2, axis=0) + radius * np.array(apart)[:, None]


def _corners(box: geometry.RoundedBox) -> Array:
    """Quarter circles of the balls at the corners."""
    quarter = np.linspace(0.0, 0.5 * np.pi, 5)
    arcs = []
    for sign in _SIGNS:
        for i, k in ((0, 1), (1, 2), (2, 0)):
            bow = np.tile(0.5 * np.array(box.size) * sign, (5, 1))
            bow[:, i] += box.radius * sign[i] * np.cos(quarter)
            bow[:, k] += box.radius * sign[k] * np.sin(quarter)
            arcs.append(polyline(bow))
    return joined(*arcs)


def _sides(radius: float, length: float) -> Array:
    angles = np.arange(4) * 0.5 * np.pi
    foot = np.column_stack((radius * np.cos(angles), radius * np.sin(angles), np.full(4, -0.5 * length)))
    return np.stack((foot, foot * (1.0, 1.0, -1.0)), axis=1)


def _edges(points: Array) -> Array:
    """Edges of the convex hull of points (n, 3), without those inside a flat face; none where there is no volume."""
    points = np.unique(points, axis=0)
    try:
        return points[bent_edges(points, hull_triangles(points), CREASE)] if len(points) > 3 else NO_LINES
    except ModelError:
        return NO_LINES
