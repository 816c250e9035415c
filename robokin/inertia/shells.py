"""Closed surfaces of triangles: whether they are closed, and which side is out."""

from __future__ import annotations

import numpy as np

from ..arrays import Array

_CHUNK = 200_000  # solid angles computed at once


class NoInside(Exception):
    """A mesh that has no inside; the text says why."""


def outward(triangles: Array) -> tuple[Array, list[str]]:
    """(m, 3, 3) the triangles turned to face out, and notes on what was put right. Raises NoInside.

    Vertices at equal places are one. Closed: an even number of triangles at every edge. Each connected shell is
    turned as a whole: all of a mesh that is inside out, and a shell that is inside out alone unless it lies inside
    another, where it is a cavity.
    """
    corners = _corners(triangles)
    kept = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    triangles, corners = triangles[kept], corners[kept]
    if not len(corners):
        raise NoInside("all its faces are without area")
    flipped, shells = _oriented(corners)
    notes = [f"of its {len(flipped)} faces {flipped.sum()} faced the other way"] if flipped.any() else []
    triangles = np.where(flipped[:, None, None], triangles[:, ::-1], triangles)
    corners = np.where(flipped[:, None], corners[:, ::-1], corners)
    inverted, notes_of_shells = _inverted_shells(triangles, shells)
    turned = inverted[shells]
    corners = np.where(turned[:, None], corners[:, ::-1], corners)
    if not _balanced(corners):
        raise NoInside("its faces cannot be made to face one way")
    return np.where(turned[:, None, None], triangles[:, ::-1], triangles), notes + notes_of_shells


def _corners(triangles: Array) -> Array:
    """(n, 3) numbers of the vertices, equal where their places are."""
    points = triangles.reshape(-1, 3) + 0.0  # no negative zeros, which are other bytes
    _, numbers = np.unique(points.view([("", points.dtype)] * 3).ravel(), return_inverse=True)
    return numbers.reshape(-1, 3)


def _edges(corners: Array) -> tuple[Array, Array]:
    """(3n, 2) ends of the edges, and (3n,) the triangle of each, all first edges before all second ones."""
    ends = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    return ends, np.tile(np.arange(len(corners)), 3)


def _balanced(corners: Array) -> bool:
    """Whether every edge is run through as often one way as the other: then the surface has no border."""
    ends, _ = _edges(corners)
    count = int(corners.max()) + 1
    there, back = ends[:, 0] * count + ends[:, 1], ends[:, 1] * count + ends[:, 0]
    return np.array_equal(np.sort(there), np.sort(back))


def _oriented(corners: Array) -> tuple[Array, Array]:
    """(n,) bool: triangles to be turned so that each shell faces one way; (n,) the shell of each. Raises NoInside."""
    ends, owner = _edges(corners)
    count = int(corners.max()) + 1
    low, high = ends.min(axis=1), ends.max(axis=1)
    code = low * count + high
    order = np.argsort(code, kind="stable")
    _, first, uses = np.unique(code[order], return_index=True, return_counts=True)
    odd = int((uses % 2).sum())
    if odd:
        raise NoInside(f"{odd} of {len(uses)} edges {'is' if odd == 1 else 'are'} open")
    # Shells that touch along an edge stay two: only what exactly two triangles share connects them.
    pairs = first[uses == 2]
    one, other = order[pairs], order[pairs + 1]
    a, b = owner[one], owner[other]
    same_way = (ends[one, 0] < ends[one, 1]) == (ends[other, 0] < ends[other, 1])
    # Every triangle twice, as it is and turned; what faces one way is connected.
    n = len(corners)
    labels = _components(
        2 * n, np.concatenate([a, a + n]), np.concatenate([np.where(same_way, b + n, b), np.where(same_way, b, b + n)])
    )
    as_is, turned = labels[:n], labels[n:]
    if (as_is == turned).any():
        raise NoInside("it has only one side")
    _, shells = np.unique(np.minimum(as_is, turned), return_inverse=True)
    return turned < as_is, shells


def _components(count: int, a: Array, b: Array) -> Array:
    """(count,) the least number among those that each is connected with, over the pairs (a, b)."""
    labels = np.arange(count)
    while True:
        la, lb = labels[a], labels[b]
        least = np.minimum(la, lb)
        if np.array_equal(la, lb):
            return labels
        np.minimum.at(labels, la, least)
        np.minimum.at(labels, lb, least)
        while True:
            further = labels[labels]
            if np.array_equal(further, labels):
                break
            labels = further


def _inverted_shells(triangles: Array, shells: Array) -> tuple[Array, list[str]]:
    """(shells,) bool: those to be turned, and notes."""
    count = int(shells.max()) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, shells, triangles.min(axis=1))
    np.maximum.at(high, shells, triangles.max(axis=1))
    local = triangles - ((low + high) / 2.0)[shells][:, None]
    normals = np.cross(local[:, 1] - local[:, 0], local[:, 2] - local[:, 0])
    volumes = np.bincount(shells, np.einsum("ni,ni->n", local[:, 0], normals) / 6.0, count)
    signs = np.ones(count)
    notes = []
    if volumes.sum() < 0.0:
        signs[:] = -1.0
        notes.append("it was inside out")
    nested = 0
    # The largest first: what lies around a shell is then settled.
    for shell in np.argsort(-abs(volumes), kind="stable") if count > 1 else ():
        larger = (abs(volumes) > abs(volumes[shell])) & (low <= low[shell]).all(axis=1)
        around = np.flatnonzero(larger & (high >= high[shell]).all(axis=1))
        point = triangles[np.argmax(shells == shell)].mean(axis=0)
        windings = sum(signs[other] * _winding(point, triangles[shells == other]) for other in around)
        if signs[shell] * volumes[shell] < 0.0 and windings < 0.5:
            signs[shell] *= -1.0
            notes.append("a part of it was inside out")
        nested += bool(signs[shell] * volumes[shell] > 0.0 and windings > 0.5)
    if nested:
        lie = "lies" if nested == 1 else "lie"
        notes.append(f"{nested} of its {count} parts {lie} inside others, where the mass is added")
    return signs < 0.0, list(dict.fromkeys(notes))


def _winding(point: Array, triangles: Array) -> int:
    """How often a closed surface winds round `point` (solid angles by Van Oosterom and Strackee 1983)."""
    angle = 0.0
    for start in range(0, len(triangles), _CHUNK):
        a, b, c = np.moveaxis(triangles[start : start + _CHUNK] - point, 1, 0)
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        triple = np.einsum("ni,ni->n", a, np.cross(b, c))
        dots = [np.einsum("ni,ni->n", x, y) for x, y in ((a, b), (b, c), (c, a))]
        angle += 2.0 * float(np.arctan2(triple, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb).sum())
    return round(angle / (4.0 * np.pi))
