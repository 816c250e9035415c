"""A mesh as convex parts that cover it: concave ones are cut by planes until each part is nearly convex."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..arrays import Array

PARTS = 64  # that a mesh is cut into at most; loose parts beyond the first count for themselves
LOOSE = 1024  # loose parts at most
SHARE = 0.01  # of the largest extent: by how much a part may reach beyond the mesh, unless another is given
_SAME = 1e-7  # of the largest extent: points that are one, and on a plane
_SAMPLES = 600  # triangles that choose a plane
_EXTREME = 96  # points of a part that stand for all, where they are many
_FACES_FIRST = 0.6  # what a cut by a face counts beside others, where it leaves a convex side that is a wall
_WALL = 0.05  # of the area: smaller convex sides are facets of what is round, and so many cuts would not get around it
_CHIP = 0.01  # of the area: smaller sides are chips
_MANY = 100_000  # triangles times points


@dataclass(frozen=True, eq=False)
class ConvexParts:
    """parts: (n, 3) points of each, whose convex hulls cover the mesh. excess [m]: how far they reach beyond it."""

    parts: list[Array]
    excess: float


@dataclass(frozen=True, eq=False)
class _Mesh:
    """A loose part. places: (k, 3) of its corners, triangles: (m, 3) of their numbers, normals: (m, 3), 0 of wires.
    is_solid: closed, its faces look outwards; else it has two free sides, and its open edges are triangles without area
    too, whose normals look away from it."""

    places: Array
    triangles: Array
    normals: Array
    is_solid: bool


@dataclass(frozen=True, eq=False)
class _Piece:
    """What of a mesh is between planes (n . x <= d). places, triangles, normals: as of the mesh. inner: (k, 3) where
    three planes meet inside a solid: corners of the piece that are not on the mesh."""

    mesh: _Mesh
    places: Array
    triangles: Array
    normals: Array
    planes: Array
    inner: Array

    @property
    def points(self) -> Array:
        return np.concatenate((self.places, self.inner))

    @cached_property
    def depths(self) -> Array:
        """(m,) [m] how far the piece reaches beyond each face of its mesh: 0 where it is convex."""
        points, n = self.points, self.normals
        if len(points) * len(n) > _MANY:
            points = points[np.unique(np.argmax(_directions() @ points.T, axis=1))]
        a, b, c = self.places[self.triangles.T]
        own, along = np.einsum("ij,ij->i", n, a), n @ points.T
        beyond = along.max(axis=1) - own
        if self.mesh.is_solid:
            return beyond
        is_edge = ((b == c) | (a == c)).all(axis=1)  # an edge that was cut too
        return np.where(is_edge, beyond, np.maximum(beyond, own - along.min(axis=1)))

    @property
    def areas(self) -> Array:
        """(m,) twice that of each triangle."""
        a, b, c = self.places[self.triangles.T]
        return np.linalg.norm(np.cross(b - a, c - a), axis=1)

    def some(self, which: Array) -> _Piece:
        """Some of its triangles."""
        places, triangles = _used(self.places, self.triangles[which])
        return _Piece(self.mesh, places, triangles, self.normals[which], self.planes, self.inner)


def _used(places: Array, triangles: Array) -> tuple[Array, Array]:
    """The places that triangles have, and the triangles with their numbers."""
    is_used = np.zeros(len(places), bool)
    is_used[triangles] = True
    return places[is_used], (np.cumsum(is_used) - 1)[triangles]


def convex_parts(
    points: Array, triangles: Array, share: float = SHARE, most: int = PARTS
) -> Generator[float, None, ConvexParts]:
    """Yield the share of the cuts made (0..1) before each, and 1 before each part; return the parts of a mesh: points
    (n, 3), triangles (m, 3); a wire is a triangle with one point twice. A closed mesh whose faces look outwards is
    solid. Any other is a skin, with room on both sides: a box whose faces look inwards is a room. share: of the largest
    extent; parts reach no farther beyond the mesh, unless `most` are too few.

    Greedy cuts by planes of faces, which are exact for walls with openings, or across the extents (after Mamou and
    Ghorbel 2009). A mesh without triangles is one part; beside triangles, points that no triangle has do not count.
    """
    points = np.asarray(points, float)
    triangles = np.asarray(triangles, int).reshape(-1, 3)
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if not len(triangles) or not extent:
        return ConvexParts([points], 0.0)
    yield 0.0
    meshes = _loose(points, triangles, extent)
    if len(meshes) > LOOSE:
        return ConvexParts([points], extent)
    eps, order = _SAME * extent, itertools.count()
    yield 0.0
    heap = []
    for mesh in meshes:
        whole = _Piece(mesh, mesh.places, mesh.triangles, mesh.normals, np.empty((0, 4)), np.empty((0, 3)))
        heap.append((-whole.depths.max(), next(order), whole))
    heapq.heapify(heap)
    done: list[tuple[float, _Piece]] = []
    while heap and -heap[0][0] > share * extent and (cuts := len(heap) + len(done) - len(meshes)) < most - 1:
        yield cuts / most
        depth, _, piece = heapq.heappop(heap)
        halves = _cut(piece, share * extent, eps)
        if halves is None:
            done.append((-depth, piece))
        for half in halves or ():
            heapq.heappush(heap, (-half.depths.max(), next(order), half))
    done += [(-depth, piece) for depth, _, piece in heap]
    parts = []
    for _, piece in done:
        yield 1.0
        parts.append(_distinct(piece.points, eps))
    return ConvexParts(parts, max(0.0, *(depth for depth, _ in done)))


def _distinct(points: Array, eps: float) -> Array:
    """One of those that are together."""
    return points[np.unique(np.round(points / eps), axis=0, return_index=True)[1]]


def _loose(points: Array, triangles: Array, extent: float) -> list[_Mesh]:
    """Loose parts; points at one place are one."""
    _, first, same = np.unique(np.round(points / (_SAME * extent)), axis=0, return_index=True, return_inverse=True)
    corners = same.reshape(-1)[triangles]
    part = np.arange(len(first))
    while True:  # the lowest number of a neighbour, and of that one's, until all have one
        least = part[corners].min(axis=1)
        if (part[corners] == least[:, None]).all():
            break
        np.minimum.at(part, corners, least[:, None])
        part = part[part]
    places, own = points[first], part[corners[:, 0]]
    skins: list[Array] = []
    solids: list[Array] = []
    hollows: list[Array] = []
    for i in np.unique(own):
        triangles = corners[own == i]
        if _is_closed(triangles, len(places)):
            (solids if _volume(places[triangles]) > 0.0 else hollows).append(triangles)
        else:
            skins.append(triangles)
    solids.sort(key=lambda solid: _volume(places[solid]))
    for hollow in hollows:  # of the least solid around it
        inside = places[hollow[0, 0]]
        around = next((k for k, solid in enumerate(solids) if _winding(places[solid], inside) > 0.5), None)
        if around is None:
            skins.append(hollow)
        else:
            solids[around] = np.concatenate((solids[around], hollow))
    found = [_Mesh(*_used(places, each), _normals(places[each]), True) for each in solids]
    return found + [_with_rim(*_used(places, each)) for each in skins]


def _with_rim(places: Array, triangles: Array) -> _Mesh:
    """A skin with its open edges: a flat one shows by them alone where it is not convex."""
    normals = _normals(places[triangles])
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    _, first, uses = np.unique(np.sort(edges, axis=1) @ (len(places), 1), return_index=True, return_counts=True)
    alone = first[uses == 1]
    ends = edges[alone]
    away = np.cross(places[ends[:, 1]] - places[ends[:, 0]], normals[alone // 3])
    length = np.linalg.norm(away, axis=1, keepdims=True)
    away = np.divide(away, length, out=np.zeros_like(away), where=length > 0.0)
    triangles = np.concatenate((triangles, ends[:, [0, 1, 1]]))
    return _Mesh(places, triangles, np.concatenate((normals, away)), False)


def _is_closed(triangles: Array, count: int) -> bool:
    """Whether each edge is passed as often in either direction. count: of points."""
    has_area = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    edges = triangles[has_area][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    forth, back = edges @ (count, 1), edges @ (1, count)
    return bool(len(edges)) and np.array_equal(np.sort(forth), np.sort(back))


def _volume(corners: Array) -> float:
    a, b, c = (corners - corners[0, 0]).swapaxes(0, 1)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def _normals(corners: Array) -> Array:
    """(m, 3) unit normals; 0 of triangles without area."""
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(n, axis=1)
    size = (abs(corners - corners[:, :1]).max(axis=(1, 2))) ** 2
    is_flat = length <= 1e-9 * size
    return np.where(is_flat[:, None], 0.0, n / np.where(is_flat, 1.0, length)[:, None])


@lru_cache(maxsize=1)
def _directions() -> Array:
    n = np.random.default_rng(0).normal(size=(_EXTREME, 3))
    return n / np.linalg.norm(n, axis=1)[:, None]


def _cut(piece: _Piece, enough: float, eps: float) -> tuple[_Piece, _Piece] | None:
    """Both sides of the plane that leaves least beyond the mesh; None where all take off but chips. enough [m]:
    what reaches no farther is convex."""
    depths = piece.depths
    worst = int(depths.argmax())
    centre, n = piece.places[piece.triangles[worst]].mean(axis=0), piece.normals[worst]
    low, high = piece.points.min(axis=0), piece.points.max(axis=0)
    planes = [(n, centre)]  # of a face first: exact where there are walls
    if not piece.mesh.is_solid:  # a face in the plane is on its negative side: it may come away alone
        planes.append((-n, centre))
    planes += [(axis, 0.5 * (low + high)) for axis in np.eye(3)]
    beside = (piece.points - centre) @ (np.eye(3) - np.outer(n, n))
    planes += [(axis, centre) for axis in np.linalg.eigh(beside.T @ beside)[1].T[1:]]  # across what is bent
    some = np.random.default_rng(0).permutation(len(depths))[:_SAMPLES]
    few = piece.some(some)
    are_edges = float(few.depths @ few.areas) <= eps * float(few.areas.sum())  # only edges are not convex
    best, least = None, np.inf
    for plane in planes:
        halves = [_side(few, plane, sign, eps) for sign in (1.0, -1.0)]
        sizes = [half.areas for half in halves]
        is_chip = min(map(np.sum, sizes)) <= _CHIP * sum(map(np.sum, sizes))
        if is_chip and not (are_edges and abs(plane[0] @ n) > 1.0 - _SAME and all(map(len, sizes))):
            continue
        left = [half.depths for half in halves]
        score = sum(float(depths @ size) for depths, size in zip(left, sizes, strict=True))
        is_wall = min(map(np.max, left)) <= enough and min(map(np.sum, sizes)) >= _WALL * sum(map(np.sum, sizes))
        if is_wall and abs(plane[0] @ n) > 1.0 - _SAME:
            score *= _FACES_FIRST
        if score < 0.999 * least:
            best, least = plane, score
    if best is None:
        return None
    one, other = (_side(piece, best, sign, eps, True) for sign in (1.0, -1.0))
    return one, other


def _side(piece: _Piece, plane: tuple[Array, Array], sign: float, eps: float, corners: bool = False) -> _Piece:
    """What of a piece is on the negative (1.0) or positive (-1.0) side of a plane (normal, point). A face of a solid
    that lies in the plane bounds what is behind it, one of a skin is on the negative side. corners: with those inside a
    solid that it gets."""
    n, d, takes_faces = sign * plane[0], sign * float(plane[0] @ plane[1]), sign > 0.0
    away = piece.places @ n - d
    away[abs(away) <= eps] = 0.0
    away = away[piece.triangles]
    is_in, is_out = (away <= 0.0).all(axis=1), (away >= 0.0).all(axis=1)
    is_on = is_in & is_out
    is_in &= ~is_on | (piece.normals @ n >= 0.0 if piece.mesh.is_solid else takes_faces)
    is_cut = ~(is_in | is_out)
    triangles, normals = [piece.triangles[is_in]], [piece.normals[is_in]]
    places, count = [piece.places], len(piece.places)
    cut, far, cut_normals = piece.triangles[is_cut], away[is_cut], piece.normals[is_cut]
    for outside in (1, 2):  # corners
        own = (far > 0.0).sum(axis=1) == outside
        alone = (far > 0.0) if outside == 1 else ~(far > 0.0)
        turned = (np.argmax(alone[own], axis=1)[:, None] + np.arange(3)) % 3
        t, f = np.take_along_axis(cut[own], turned, 1), np.take_along_axis(far[own], turned, 1)
        corner = piece.places[t]
        places += [_between(corner[:, 0], corner[:, k], f[:, 0], f[:, k]) for k in (1, 2)]
        ab, ac = (np.arange(start, start + len(t)) for start in (count, count + len(t)))
        count += 2 * len(t)
        kept = [(ab, t[:, 1], t[:, 2]), (ab, t[:, 2], ac)] if outside == 1 else [(t[:, 0], ab, ac)]
        triangles += [np.stack(each, axis=1) for each in kept]
        normals += [cut_normals[own]] * len(kept)
    found = _used(np.concatenate(places), np.concatenate(triangles))
    planes, inner = np.vstack((piece.planes, [*n, d])), piece.inner[piece.inner @ n <= d - eps]
    if corners and piece.mesh.is_solid:
        inner = np.concatenate((inner, _corners_inside(piece.mesh, planes, eps)))
    return _Piece(piece.mesh, *found, np.concatenate(normals), planes, inner)


def _between(a: Array, b: Array, at_a: Array, at_b: Array) -> Array:
    """(n, 3) where lines from a to b are at 0."""
    share = at_a / (at_a - at_b)
    return a + share[:, None] * (b - a)


def _corners_inside(mesh: _Mesh, planes: Array, eps: float) -> Array:
    """(k, 3) where the last plane and two others meet, between all of them and with some of the mesh there."""
    last = len(planes) - 1
    three = np.array([(*pair, last) for pair in itertools.combinations(range(last), 2)], int).reshape(-1, 3)
    normals, offsets = planes[:, :3], planes[:, 3]
    three = three[abs(np.linalg.det(normals[three])) > 1e-3]
    if not len(three):
        return np.empty((0, 3))
    found = np.linalg.solve(normals[three], offsets[three][..., None])[..., 0]
    within = found + np.linalg.solve(normals[three], np.full((len(three), 3, 1), -10.0 * eps))[..., 0]
    is_in = (within @ normals.T <= offsets - eps).all(axis=1)
    corners = mesh.places[mesh.triangles]
    return found[is_in][[_winding(corners, point) > 0.5 for point in within[is_in]]]


def _winding(corners: Array, point: Array) -> float:
    """How often a mesh goes around a point (Van Oosterom and Strackee 1983)."""
    a, b, c = (corners - point).swapaxes(0, 1)
    x, y, z = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    top = np.einsum("ij,ij->i", a, np.cross(b, c))
    dot = np.einsum
    below = x * y * z + dot("ij,ij->i", a, b) * z + dot("ij,ij->i", b, c) * x + dot("ij,ij->i", c, a) * y
    return float(np.arctan2(top, below).sum()) / (2.0 * np.pi)
