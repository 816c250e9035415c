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
_NOT_FOUND = "the convex hull of these points cannot be found"
SPREAD = 64  # directions whose farthest points come first, so that most others are inside; then ever twice as many


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
        try:
            found = _inserted(moved, rng)
        except ModelError:
            continue
        corners, edges = np.unique(found), np.sort(found[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        if len(found) == 2 * len(corners) - 4 and len(np.unique(edges, axis=0)) * 2 == len(edges):
            return found
    raise ModelError(_NOT_FOUND)


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


def _inserted(points: Array, rng: np.random.Generator) -> Array:
    """The hull's triangles, of points in general position."""
    first = _tetrahedron(points)
    a, b, c, d = points[first]
    start = np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
    hull = _Hull(points, np.array(first)[start[:, ::-1] if np.dot(np.cross(b - a, c - a), d - a) > 0.0 else start])
    directions = rng.normal(size=(SPREAD, 3))
    todo = np.unique(np.argmax(points @ directions.T, axis=0))
    rest, most = np.setdiff1d(np.arange(len(points)), todo), SPREAD
    while len(todo) or len(rest):
        for i in todo:
            if i not in first:
                hull.insert(i)
        outside = np.array_split(rest, 1 + len(rest) * hull.count // 4_000_000)
        rest = np.concatenate([k[hull.has_outside(points[k])] for k in outside])
        todo, rest, most = rest[:most], rest[most:], 2 * most
    return hull.faces[: hull.count]


class _Hull:
    """The hull of some of the points. faces: (count, 3) and places for more; of n corners there are 2 n - 4."""

    def __init__(self, points: Array, faces: Array) -> None:
        self.points, self.count = points, 0
        self.faces = np.empty((2 * len(points), 3), int)
        self._normals = np.empty((2 * len(points), 3))
        self._offsets = np.empty(2 * len(points))
        self._put(np.arange(len(faces)), faces)

    def _put(self, places: Array, faces: Array) -> None:
        self.faces[places] = faces
        self._normals[places] = normals = _normals(self.points, faces)
        self._offsets[places] = np.einsum("ij,ij->i", normals, self.points[faces[:, 0]])
        self.count = max(self.count, int(places[-1]) + 1)

    def insert(self, i: int) -> None:
        """The faces that the point i sees give way to those between it and their rim."""
        visible = np.flatnonzero(self._normals[: self.count] @ self.points[i] > self._offsets[: self.count])
        if not len(visible):
            return
        edges = self.faces[visible][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        codes, back = edges @ (len(self.points), 1), edges @ (1, len(self.points))
        rim = edges[~np.isin(codes, back)]
        if not len(rim):
            raise ModelError(_NOT_FOUND)
        new = np.column_stack((rim, np.full(len(rim), i)))
        more = len(new) - len(visible)
        if self.count + more > len(self.faces):
            raise ModelError(_NOT_FOUND)
        if more >= 0:
            self._put(np.append(visible, np.arange(self.count, self.count + more)), new)
            return
        self._put(visible[:more], new)
        self.count += more  # the last faces move to the places that are left
        free, last = visible[more:], np.arange(self.count, self.count - more)
        moved, free = np.setdiff1d(last, free), free[free < self.count]
        for each in (self.faces, self._normals, self._offsets):
            each[free] = each[moved]

    def has_outside(self, points: Array) -> Array:
        """(n,) bool of points (n, 3)."""
        return (points @ self._normals[: self.count].T > self._offsets[: self.count]).any(axis=1)


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
