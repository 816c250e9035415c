"""A sphere-swept hull around points: the hull of a few of them, with a radius by which the others are not outside."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from .convex_hull import distinct
from .core import core
from .pairs import distances
from .reference.distances import FAILED
from .shapes import Hull, Sphere

CORNERS = 48  # that a hull has at most
SHARE = 0.005  # of the largest extent: a radius that is little enough
_FIRST = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])  # farthest ones are corners
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
        away = np.maximum(from_hull(points, chosen)[0], 0.0)
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


def from_hull(points: Array, corners: Array) -> tuple[Array, Array]:
    """(n,) [m] how far points (n, 3) are from the hull of corners (k, 3), negative inside; and (n, 3) unit vectors out
    of it, along which they are. Raises ModelError."""
    placements = np.tile(np.eye(4), (len(points), 2, 1, 1))
    placements[:, 1, :3, 3] = points
    found, status = distances((core(Hull(corners)), core(Sphere(0.0))), placements, np.array([[0, 1]]), np.inf)
    if (status == FAILED).any():
        raise ModelError("how far points are outside a hull of some of them cannot be found")
    return found[:, 0, 0], found[:, 0, 7:]


def farthest(points: Array) -> list[int]:
    """Indices of points (n, 3) that are farthest along axes, edges and corners of a cube."""
    return [*dict.fromkeys(int(i) for i in (_FIRST @ points.T).argmax(axis=1))]
