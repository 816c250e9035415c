"""Outlines of collision shapes, in their own frames [m]."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.collision import Capsule, Cylinder, Hull, Sphere
from ...robokin.collision.convex_hull import hull_edges, hull_triangles
from ...robokin.errors import ModelError
from ...robokin.model import geometry
from .lines import SPHERE, circle, joined

CREASE = 0.97  # cosine between two faces: flatter, the edge between them is not drawn


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
        case geometry.Box():
            half = 0.5 * np.array(shape.size) + getattr(shape, "radius", 0.0)
            corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
            pairs = [(i, k) for i in range(8) for k in range(i) if abs(corners[i] - corners[k]).sum() == 2]
            return (corners * half)[np.array(pairs)]
    return _edges(shape.points)


def _sides(radius: float, length: float) -> Array:
    angles = np.arange(4) * 0.5 * np.pi
    foot = np.column_stack((radius * np.cos(angles), radius * np.sin(angles), np.full(4, -0.5 * length)))
    return np.stack((foot, foot * (1.0, 1.0, -1.0)), axis=1)


def _edges(points: Array) -> Array:
    """Edges of the convex hull of points (n, 3), without those inside a flat face; none where there is no volume."""
    points = np.unique(points, axis=0)
    try:
        triangles = hull_triangles(points) if len(points) > 3 else np.empty((0, 3), int)
    except ModelError:
        triangles = np.empty((0, 3), int)
    a, b, c = points[triangles.T]
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    pairs, faces = hull_edges(triangles)
    bent = np.einsum("ij,ij->i", normals[faces[:, 0]], normals[faces[:, 1]]) < CREASE
    return points[pairs[bent]]
