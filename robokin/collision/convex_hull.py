"""The convex hull of points, also of those that lie in a plane, on a line, or on one another."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import ModelError

# Points are moved by so much of their extent before they are sorted out, so that no four of them lie in a plane and
# no sign is in doubt. Only which are corners follows from it: their places stay. Where all lie in a plane they are
# lifted out of it anyhow: the edges that they have in it are among those that they then have.
JOGGLES = (1e-11, 1e-9, 1e-7)
FLAT = 1e-14  # of the largest extent
SPREAD = 64  # directions whose farthest points are taken first, so that most of the others are inside at once


def hull_triangles(points: Array) -> Array:
    """(m, 3) indices into points (n, 3), counter-clockwise from outside; n >= 4. Flat points have flat triangles.

    Points are inserted one by one (beneath-beyond, Preparata and Shamos 1985). Raises ModelError when that fails.
    """
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    if not (points - middle).any():
        raise ModelError("the points of a hull are all the same")
    # Which are corners does not change when the points are stretched: flat and thin ones become thick.
    axes = np.linalg.svd(points - middle, full_matrices=False)[2]
    placed = (points - middle) @ axes.T
    extents = np.ptp(placed, axis=0)
    is_flat = extents <= FLAT * extents.max()
    placed = placed / np.where(is_flat, 1.0, extents)
    for joggle in JOGGLES:
        rng = np.random.default_rng(len(points))
        moved = placed + np.where(is_flat, 1.0, joggle) * rng.uniform(-1.0, 1.0, points.shape)
        found = _inserted(moved, rng)
        corners, edges = np.unique(found), np.sort(found[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        if len(found) == 2 * len(corners) - 4 and len(np.unique(edges, axis=0)) * 2 == len(edges):
            return found
    raise ModelError("the convex hull of these points cannot be found")


def _inserted(points: Array, rng: np.random.Generator) -> Array:
    """The hull's triangles, of points in general position."""
    first = _tetrahedron(points)
    faces = np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
    a, b, c, d = points[first]
    if np.dot(np.cross(b - a, c - a), d - a) > 0.0:
        faces = faces[:, ::-1]
    faces = np.array(first)[faces]
    normals = _normals(points, faces)
    directions = rng.normal(size=(SPREAD, 3))
    left = np.unique(np.argmax(points @ directions.T, axis=0))
    rest = np.setdiff1d(np.arange(len(points)), left)
    while len(left) or len(rest):
        for i in left:
            seen = np.einsum("ij,ij->i", normals, points[i] - points[faces[:, 0]]) > 0.0
            if not seen.any() or i in first:
                continue
            edges = faces[seen][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
            codes, back = edges @ (len(points), 1), edges @ (1, len(points))
            rim = edges[~np.isin(codes, back)]
            new = np.column_stack((rim, np.full(len(rim), i)))
            faces = np.concatenate((faces[~seen], new))
            normals = np.concatenate((normals[~seen], _normals(points, new)))
        outside = np.array_split(rest, 1 + len(rest) * len(faces) // 4_000_000)
        offsets = np.einsum("ij,ij->i", normals, points[faces[:, 0]])
        rest = np.concatenate([k[(points[k] @ normals.T > offsets).any(axis=1)] for k in outside])
        left, rest = rest[:SPREAD], rest[SPREAD:]
    return faces


def _normals(points: Array, faces: Array) -> Array:
    a, b, c = points[faces.T]
    return np.cross(b - a, c - a)


def _tetrahedron(points: Array) -> list[int]:
    """Four points that span much."""
    first = int(np.argmin(points[:, 0]))
    second = int(np.argmax(np.linalg.norm(points - points[first], axis=1)))
    away = points - points[first]
    third = int(np.argmax(np.linalg.norm(np.cross(away, away[second]), axis=1)))
    fourth = int(np.argmax(abs(away @ np.cross(away[second], away[third]))))
    return [first, second, third, fourth]
