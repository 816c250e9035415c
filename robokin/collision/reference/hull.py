"""NumPy's convex hull of points in general position: the readable specification of kernel/src/collision/hull.c."""

from __future__ import annotations

import numpy as np

from ...arrays import Array

SPREAD = 64  # directions whose farthest points come first, so that most others are inside; then ever twice as many
SURE = 1e-15  # of the sum of magnitudes: a height that is larger has the sign that it shows


def hull(points: Array, first: Array) -> Array:
    """Twin of `rk_hull`: (m, 3) triangles of integer points (n, 3); first: (4,) indices of some that span much.

    Points are inserted one by one (beneath-beyond, Preparata and Shamos 1985), each with all that it sees.
    """
    start = np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
    faces = first[start]
    if _sees(points, faces[:1], first[3])[0]:
        faces = faces[:, ::-1]
    todo = np.unique(np.argmax(points @ np.random.default_rng(SPREAD).normal(size=(3, SPREAD)), axis=0))
    todo = np.setdiff1d(todo, first)
    rest, most = np.setdiff1d(np.arange(len(points)), (*first, *todo)), SPREAD
    while len(todo) or len(rest):
        for i in todo:
            visible = _sees(points, faces, i)
            sides = faces[visible][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
            rim = sides[~np.isin(sides @ (len(points), 1), sides @ (1, len(points)))]
            faces = np.concatenate((faces[~visible], np.column_stack((rim, np.full(len(rim), i)))))
        parts = np.array_split(rest, 1 + len(rest) * len(faces) // 4_000_000)
        rest = np.concatenate([k[_may_see(points, faces, k)] for k in parts])
        todo, rest, most = rest[:most], rest[most:], 2 * most
    return faces


def _normals(points: Array, faces: Array) -> tuple[Array, Array]:
    """(m, 3) normals outwards, and the sums of the magnitudes in them, of which they may be wrong by rounding."""
    a, b, c = points[faces.T].astype(float)
    (ux, uy, uz), (vx, vy, vz) = (b - a).T, (c - a).T
    more, less = np.stack((uy * vz, uz * vx, ux * vy), axis=1), np.stack((uz * vy, ux * vz, uy * vx), axis=1)
    return more - less, abs(more) + abs(less)


def _sees(points: Array, faces: Array, i: int) -> Array:
    """(m,) bool: the point i sees the face; exact."""
    normals, magnitudes = _normals(points, faces)
    to = points[i] - points[faces[:, 0]]
    heights = np.einsum("ij,ij->i", normals, to)
    for face in np.flatnonzero(abs(heights) <= SURE * np.einsum("ij,ij->i", magnitudes, abs(to))):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (points[faces[face, [1, 0, 2]]] - points[i]).tolist()
        heights[face] = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return heights > 0.0


def _may_see(points: Array, faces: Array, which: Array) -> Array:
    """(n,) bool: the points may see a face, as far as rounding tells."""
    normals, magnitudes = _normals(points, faces)
    at, lifted = points[faces[:, 0]].astype(float), points[which].astype(float)
    heights = lifted @ normals.T - np.einsum("ij,ij->i", normals, at)
    doubts = abs(lifted) @ magnitudes.T + np.einsum("ij,ij->i", magnitudes, abs(at))
    return (heights > -SURE * doubts).any(axis=1)
