"""The convex hull of points, also of those that lie in a plane, on a line, or on one another."""

from __future__ import annotations

import ctypes

import numpy as np

from ..arrays import Array
from ..backend import get_backend
from ..backend.library import load_library, pointer
from ..errors import ModelError
from .reference.hull import hull

# Points are moved by so much of their extent before they are sorted out, so that no four of them lie in a plane. Only
# which are corners follows from it: their places stay. Where all lie in a plane they are lifted out of it anyhow: the
# edges that they have in it are among those that they then have.
JOGGLE = 1e-11
STEPS = 2.0**47  # whole ones to an extent: which face a point sees is decided by integers
FLAT = 1e-14  # of the largest extent


def hull_triangles(points: Array, backend: str = "auto") -> Array:
    """(m, 3) indices into points (n, 3), counter-clockwise from outside; n >= 4. Flat points have flat triangles.

    They are sorted, so that both backends give the same. Raises ModelError when they cannot be found.
    """
    if (points == points[0]).all():
        raise ModelError("the points of a hull are all the same")
    middle = points.mean(axis=0)  # inside, so that what is thin along an axis is near 0 there
    # Which are corners does not change when the points are stretched: flat and thin ones become thick.
    axes = np.linalg.svd(points - middle, full_matrices=False)[2]
    axes[2] *= np.sign(np.linalg.det(axes))  # a mirror would turn the triangles over
    placed = (points - middle) @ axes.T
    extents = np.ptp(placed, axis=0)
    is_flat = extents <= FLAT * extents.max()
    placed = placed / np.where(is_flat, 1.0, extents)
    rng = np.random.default_rng(len(points))
    moved = placed + np.where(is_flat, 1.0, JOGGLE) * rng.uniform(-1.0, 1.0, points.shape)
    steps = np.rint(STEPS * moved).astype(np.int64)
    found = (hull if get_backend(backend).name == "numpy" else _native)(steps, _tetrahedron(moved))
    if not len(found):
        raise ModelError("the convex hull of these points cannot be found")
    turned = np.take_along_axis(found, (found.argmin(axis=1)[:, None] + (0, 1, 2)) % 3, axis=1)
    return turned[np.lexsort(turned.T[::-1])]


def _native(points: Array, first: Array) -> Array:
    """The kernel's hull; as `reference.hull`."""
    library, count = load_library(), ctypes.c_int32(len(points))
    points, first = np.ascontiguousarray(points), first.astype(np.int32)
    work, triangles = np.empty(library.rk_hull_workspace(count)), np.empty((2 * len(points) - 4, 3), np.int32)
    found = library.rk_hull(count, *(pointer(each) for each in (points, first, work, triangles)))
    return triangles[:found].astype(int)


def distinct(points: Array) -> Array:
    """Points (n, 3), each once, in the order of their coordinates."""
    points = points[np.lexsort(points.T[::-1])]
    return points[np.append(True, (points[1:] != points[:-1]).any(axis=1))]


def hull_edges(triangles: Array) -> tuple[Array, Array]:
    """(k, 2) indices of the ends of each edge of a hull, and (k, 2) those of the two of its triangles (m, 3) there."""
    sides = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    order = np.lexsort(np.sort(sides, axis=1).T)
    return sides[order][::2], (order // 3).reshape(-1, 2)


def bent_edges(points: Array, triangles: Array, same: float) -> Array:
    """(k, 2) indices of the ends of the edges of a hull but for those inside a flat face, between triangles whose unit
    normals differ by at most `same`."""
    a, b, c = points[triangles.T]
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1)
    is_flat = length <= least_area(points)
    units = normals / np.where(is_flat, 1.0, length)[:, None]
    pairs, faces = hull_edges(triangles)
    level = (abs(units[faces[:, 0]] - units[faces[:, 1]]).max(axis=1) <= same) & ~is_flat[faces].any(axis=1)
    return pairs[~level]


def least_area(points: Array) -> float:
    """The area of faces that have no normal."""
    return 1e-12 * float(np.ptp(points, axis=0).max()) ** 2


def _tetrahedron(points: Array) -> Array:
    """(4,) indices of points that span much."""
    first = int(np.argmin(points[:, 0]))
    away = points - points[first]
    second = int(np.argmax(np.einsum("ij,ij->i", away, away)))
    across = np.cross(away, away[second])
    third = int(np.argmax(np.einsum("ij,ij->i", across, across)))
    fourth = int(np.argmax(abs(away @ across[third])))
    return np.array([first, second, third, fourth])
