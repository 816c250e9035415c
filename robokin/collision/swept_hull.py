"""A sphere-swept hull around points: the hull of a few of them, with a radius by which the others are not outside."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from .convex_hull import distinct, hull_triangles, least_area
from .core import core
from .pairs import distances
from .reference.distances import FAILED
from .shapes import Hull, Sphere

CORNERS = 48  # that a hull has at most
SHARE = 0.005  # of the largest extent: a radius that is little enough
_FIRST = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])  # farthest ones are corners
SURE = 1e-9  # of the size: what is deeper is inside
MANY = 10_000_000  # numbers that are looked at together
_TOGETHER = 4  # corners that are added before distances are found again


def swept_hull(points: Array, corners: int = CORNERS, enough: float | None = None) -> Hull:
    """A hull of at most so many of the points (n, 3), whose radius holds all of them: nothing is outside, and nothing
    of it is farther from their convex hull than the radius. enough [m]: a radius that is little, of the largest extent
    by itself; it is larger only where the corners are too few.

    The points that are farthest outside become corners, until little is outside. Raises ModelError.
    """
    points = distinct(np.asarray(points, float))
    little = SHARE * float(np.ptp(points, axis=0).max()) if enough is None else enough
    chosen = points[farthest(points)]
    while True:
        away = np.maximum(from_hull(points, chosen), 0.0)
        radius = float(away.max(initial=0.0))
        if radius <= little or len(chosen) >= corners:
            return Hull(chosen, radius + 1e-12 * (1.0 + float(abs(chosen).max())) if radius else 0.0)
        points, away = points[away > 0.0], away[away > 0.0]  # what is inside stays inside
        rest = away
        for _ in range(min(_TOGETHER, corners - len(chosen))):
            k = int(rest.argmax())
            if rest[k] <= little:
                break
            chosen = np.vstack((chosen, points[k]))
            near = np.linalg.norm(points - points[k], axis=1)  # others of the same bulge wait
            rest = np.where(near < 4.0 * away[k], 0.0, rest)


def from_hull(points: Array, corners: Array) -> Array:
    """(n,) [m] how far points (n, 3) are from the hull of corners (k, 3), negative inside. Raises ModelError."""
    away = _heights(points, corners)
    beside = away >= -SURE * float(abs(corners - corners[0]).max())  # the nearest face tells how deep the others are
    placements = np.tile(np.eye(4), (int(beside.sum()), 2, 1, 1))
    placements[:, 1, :3, 3] = points[beside]
    found, status = distances((core(Hull(corners)), core(Sphere(0.0))), placements, np.array([[0, 1]]), np.inf)
    if (status == FAILED).any():
        raise ModelError("how far points are outside a hull of some of them cannot be found")
    away[beside] = found[:, 0, 0]
    return away


def _heights(points: Array, corners: Array) -> Array:
    """(n,) [m] how high points (n, 3) are above the planes of the faces of a hull, the most; 0 where it has none."""
    corners = distinct(corners)
    if len(corners) < 4:
        return np.zeros(len(points))
    a, b, c = corners[hull_triangles(corners)].swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    area = np.linalg.norm(normals, axis=1)
    thick = area > least_area(corners)
    if not thick.any():  # all on a line
        return np.zeros(len(points))
    faces = np.column_stack((normals, -(normals * a).sum(axis=1)))[thick] / area[thick, None]
    parts = np.array_split(faces, 1 + faces.size * len(points) // MANY)
    return np.max([(points @ some[:, :3].T + some[:, 3]).max(axis=1) for some in parts if len(some)], axis=0)


def farthest(points: Array) -> list[int]:
    """Indices of points (n, 3) that are farthest along axes, edges and corners of a cube."""
    return [*dict.fromkeys(int(i) for i in (_FIRST @ points.T).argmax(axis=1))]
