"""A mesh as convex parts that cover it: concave ones are cut by planes until each part is nearly convex."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..arrays import Array

PARTS = 64  # that a mesh is cut into at most
LOOSE = 1024  # loose parts that count for themselves
SHARE = 0.01  # of the largest extent: by how much a part may reach beyond the mesh, unless told
_SAME = 1e-7  # of the largest extent: points that are one, and on a plane
_SAMPLES = 600  # triangles that choose a plane
_EXTREME = 96  # points of a part that stand for all, where they are many
_FACES_FIRST = 0.6  # what a cut by a face counts beside others, where it leaves a convex side
_CHIP = 0.01  # of the area: smaller sides are chips
_MANY = 100_000  # triangles times points


@dataclass(frozen=True, eq=False)
class ConvexParts:
    """parts: (n, 3) points of each, whose convex hulls cover the mesh. excess [m]: how far they reach beyond it."""

    parts: list[Array]
    excess: float


@dataclass(frozen=True, eq=False)
class _Mesh:
    """A loose part. corners: (m, 3, 3), normals: (m, 3), 0 of wires. is_solid: closed, its faces look outwards; else it
    has two free sides, and its open edges are triangles without area too, whose normals look away from it."""

    corners: Array
    normals: Array
    is_solid: bool


@dataclass(frozen=True, eq=False)
class _Piece:
    """What of a mesh is between planes (n . x <= d). corners: (m, 3, 3), normals: (m, 3), 0 of wires. inner: (k, 3)
    where three planes meet inside a solid: corners of the piece that are not on the mesh."""

    mesh: _Mesh
    corners: Array
    normals: Array
    planes: Array
    inner: Array

    @property
    def points(self) -> Array:
        return np.concatenate((self.corners.reshape(-1, 3), self.inner))

    @property
    def areas(self) -> Array:
        """(m,) twice that of each triangle."""
        a, b, c = self.corners.swapaxes(0, 1)
        return np.linalg.norm(np.cross(b - a, c - a), axis=1)


def convex_parts(points: Array, triangles: Array, share: float = SHARE, most: int = PARTS) -> ConvexParts:
    """Parts of a mesh: points (n, 3), triangles (m, 3); a wire is a triangle with one point twice. A closed mesh whose
    faces look outwards is solid. Any other is a skin, with room on both sides. share: of the largest extent; parts
    reach no farther beyond the mesh, unless `most` are too few.

    Greedy cuts by planes of faces, which are exact for walls with openings, or across the extents (after Mamou and
    Ghorbel 2009). Points without triangles make one part.
    """
    points = np.asarray(points, float)
    triangles = np.asarray(triangles, int).reshape(-1, 3)
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if not len(triangles) or not extent:
        return ConvexParts([points], 0.0)
    meshes = _loose(points, triangles, extent)
    if len(meshes) > LOOSE:
        return ConvexParts([points], extent)
    eps, order = _SAME * extent, itertools.count()
    heap = []
    for mesh in meshes:
        whole = _Piece(mesh, mesh.corners, mesh.normals, np.empty((0, 4)), np.empty((0, 3)))
        heap.append((-_depths(whole).max(), next(order), whole))
    heapq.heapify(heap)
    done: list[tuple[float, _Piece]] = []
    while heap and -heap[0][0] > share * extent and len(heap) + len(done) < most + len(meshes):
        depth, _, piece = heapq.heappop(heap)
        halves = _cut(piece, share * extent, eps)
        if halves is None:
            done.append((-depth, piece))
        for half in halves or ():
            heapq.heappush(heap, (-_depths(half).max(), next(order), half))
    done += [(-depth, piece) for depth, _, piece in heap]
    return ConvexParts([_distinct(piece.points, eps) for _, piece in done], max(0.0, *(depth for depth, _ in done)))


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
    skins: list[tuple[Array, Array]] = []
    solids: list[Array] = []
    hollows: list[Array] = []
    for i in np.unique(own):
        triangles = corners[own == i]
        found = places[triangles]
        if _is_closed(triangles, len(places)):
            (solids if _volume(found) > 0.0 else hollows).append(found)
        else:
            skins.append(_with_rim(triangles, places))
    solids.sort(key=_volume)
    for hollow in hollows:  # of the least solid around it
        around = next((k for k, solid in enumerate(solids) if _winding(solid, hollow[0, 0]) > 0.5), None)
        if around is None:
            skins.append((hollow, _normals(hollow)))
        else:
            solids[around] = np.concatenate((solids[around], hollow))
    return [*(_Mesh(each, _normals(each), True) for each in solids), *(_Mesh(*each, False) for each in skins)]


def _with_rim(triangles: Array, places: Array) -> tuple[Array, Array]:
    """Corners and normals of a skin and of its open edges: a flat one shows by them alone where it is not convex."""
    corners = places[triangles]
    normals = _normals(corners)
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    _, first, uses = np.unique(np.sort(edges, axis=1), axis=0, return_index=True, return_counts=True)
    alone = first[uses == 1]
    ends = places[edges[alone]]
    away = np.cross(ends[:, 1] - ends[:, 0], normals[alone // 3])
    length = np.linalg.norm(away, axis=1, keepdims=True)
    away = np.divide(away, length, out=np.zeros_like(away), where=length > 0.0)
    return np.concatenate((corners, ends[:, [0, 1, 1]])), np.concatenate((normals, away))


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


def _depths(piece: _Piece) -> Array:
    """(m,) [m] how far the piece reaches beyond each face of its mesh: 0 where it is convex."""
    points, n = piece.points, piece.normals
    if len(points) * len(n) > _MANY:
        points = points[np.unique(np.argmax(points @ _directions().T, axis=0))]
    own, along = np.einsum("ij,ij->i", n, piece.corners[:, 0]), n @ points.T
    beyond = along.max(axis=1) - own
    if piece.mesh.is_solid:
        return beyond
    a, b, c = piece.corners.swapaxes(0, 1)
    is_edge = ((b == c) | (a == c)).all(axis=1)  # an edge that was cut too
    return np.where(is_edge, beyond, np.maximum(beyond, own - along.min(axis=1)))


@lru_cache(maxsize=1)
def _directions() -> Array:
    n = np.random.default_rng(0).normal(size=(_EXTREME, 3))
    return n / np.linalg.norm(n, axis=1)[:, None]


def _cut(piece: _Piece, enough: float, eps: float) -> tuple[_Piece, _Piece] | None:
    """Both sides of the plane that leaves least beyond the mesh; None where all take off but chips. enough [m]:
    what reaches no farther is convex."""
    depths = _depths(piece)
    worst = int(depths.argmax())
    centre, n = piece.corners[worst].mean(axis=0), piece.normals[worst]
    low, high = piece.points.min(axis=0), piece.points.max(axis=0)
    planes = [(n, centre)]  # of a face first: exact where there are walls
    if not piece.mesh.is_solid:  # a face in the plane is on its negative side: it may come away alone
        planes.append((-n, centre))
    planes += [(axis, 0.5 * (low + high)) for axis in np.eye(3)]
    beside = (piece.points - centre) @ (np.eye(3) - np.outer(n, n))
    planes += [(axis, centre) for axis in np.linalg.eigh(beside.T @ beside)[1].T[1:]]  # across what is bent
    some = np.random.default_rng(0).permutation(len(depths))[:_SAMPLES]
    few = _Piece(piece.mesh, piece.corners[some], piece.normals[some], piece.planes, piece.inner)
    best, least = None, np.inf
    for plane in planes:
        halves = [_side(few, plane, sign, eps) for sign in (1.0, -1.0)]
        sizes = [half.areas for half in halves]
        if min(map(np.sum, sizes)) <= _CHIP * sum(map(np.sum, sizes)):
            continue
        left = [_depths(half) for half in halves]
        score = sum(float(depths @ size) for depths, size in zip(left, sizes, strict=True))
        if abs(plane[0] @ n) > 1.0 - _SAME and min(map(np.max, left)) <= enough:
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
    away = piece.corners @ n - d
    away[abs(away) <= eps] = 0.0
    is_in, is_out = (away <= 0.0).all(axis=1), (away >= 0.0).all(axis=1)
    is_on = is_in & is_out
    is_in &= ~is_on | (piece.normals @ n >= 0.0 if piece.mesh.is_solid else takes_faces)
    is_cut = ~(is_in | is_out)
    found, normals = [piece.corners[is_in]], [piece.normals[is_in]]
    triangles, far = piece.corners[is_cut], away[is_cut]
    for count in (1, 2):  # corners that are outside
        own = (far > 0.0).sum(axis=1) == count
        alone = (far > 0.0) if count == 1 else ~(far > 0.0)
        first = np.argmax(alone[own], axis=1)
        turned = (first[:, None] + np.arange(3)) % 3
        t, f = np.take_along_axis(triangles[own], turned[..., None], 1), np.take_along_axis(far[own], turned, 1)
        ab, ac = (_between(t[:, 0], t[:, k], f[:, 0], f[:, k]) for k in (1, 2))
        kept = [(ab, t[:, 1], t[:, 2]), (ab, t[:, 2], ac)] if count == 1 else [(t[:, 0], ab, ac)]
        found += [np.stack(each, axis=1) for each in kept]
        normals += [piece.normals[is_cut][own]] * len(kept)
    planes, inner = np.vstack((piece.planes, [*n, d])), piece.inner[piece.inner @ n <= d - eps]
    if corners and piece.mesh.is_solid:
        inner = np.concatenate((inner, _corners_inside(piece.mesh, planes, eps)))
    return _Piece(piece.mesh, np.concatenate(found), np.concatenate(normals), planes, inner)


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
    return found[is_in][[_winding(mesh.corners, point) > 0.5 for point in within[is_in]]]


def _winding(corners: Array, point: Array) -> float:
    """How often a mesh goes around a point (Van Oosterom and Strackee 1983)."""
    a, b, c = (corners - point).swapaxes(0, 1)
    x, y, z = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    top = np.einsum("ij,ij->i", a, np.cross(b, c))
    dot = np.einsum
    below = x * y * z + dot("ij,ij->i", a, b) * z + dot("ij,ij->i", b, c) * x + dot("ij,ij->i", c, a) * y
    return float(np.arctan2(top, below).sum()) / (2.0 * np.pi)
