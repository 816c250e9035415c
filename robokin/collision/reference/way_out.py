"""How deep two convex shapes are in each other. A polytope M comes nearest to the origin inside it at one of its faces.
Their normals are those of A, of B, and the cross products of their edges (Gottschalk, Lin, Manocha 1996), so the least
reach among them is the depth, and none can fail. A disc has endless normals: a prism in its place says where to begin,
and descents go on from there."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...spatial import so3
from ..core import Core
from .nearest import look_back
from .pair import Pair, across

SIDES = 12  # of the prism in place of a disc
STARTS = 12
PARALLEL = 1e-12  # edges whose sine is no larger have no normal
APART = 0.97  # cosine of the angle between two starts that are not the same
MOST_ROUNDS = 64
SETTLED = 1e-13  # of the size: what the deepest points may be off their normal
SAME = 1e-14  # of the size: reaches that differ by no more are one
NEAR = 1e-3  # of the size: nearer a descent is faster, but less exact
CLOSE = 1e-6  # of the size: from how near the deepest points are looked for at the end
GOLDEN = 0.6180339887498949

_angles = 2.0 * np.pi / SIDES * np.arange(SIDES // 2)
_CIRCLE = np.column_stack((np.cos(_angles), np.sin(_angles), np.zeros(SIDES // 2)))


def shortest_way_out(p: Pair) -> tuple[float, Array, Array]:
    """Penetration of two that meet: the distance by which B must move to be free, the unit vector along which, and (3,
    3) the deepest point."""
    normals = _normals(p)
    directions = np.concatenate((normals, -normals))
    order = np.argsort(p.reaches(directions), kind="stable")
    found: list[Array] = []
    most = 1 if p.a.disc == p.b.disc == 0.0 else STARTS
    while len(order) and len(found) < most:
        found.append(directions[order[0]])
        order = order[directions[order] @ found[-1] <= APART]
    descents = [descended(p, n) for n in found]
    return min(descents, key=lambda descent: descent[0])


def _normals(p: Pair) -> Array:
    """(n, 3) unit vectors."""
    found = [_across(p)]
    for shape, R in ((p.a, p.Ra), (p.b, p.Rb)):
        found.append(shape.normals @ R.T)
        if shape.disc > 0.0:
            found.append(_CIRCLE @ R.T)
    crossed = so3.cross((_edges(p.a) @ p.Ra.T)[:, None], _edges(p.b) @ p.Rb.T).reshape(-1, 3)
    length = np.linalg.norm(crossed, axis=1)
    skew = length > PARALLEL
    return np.concatenate((*found, crossed[skew] / length[skew, None]))


def _edges(shape: Core) -> Array:
    return np.concatenate((shape.edges, _CIRCLE)) if shape.disc > 0.0 else shape.edges


def _across(p: Pair) -> Array:
    """(2, 3). Points, and lines that are parallel, have no normals: any across them will do."""
    along = np.array([1.0, 0.0, 0.0])
    if len(p.a.edges):
        along = p.Ra @ p.a.edges[0]
    elif len(p.b.edges):
        along = p.Rb @ p.b.edges[0]
    n = across(along)
    return np.stack((n, so3.cross(along, n)))


def descended(p: Pair, n: Array) -> tuple[float, Array, Array]:
    """From n down to where the reach is least around; of two that are apart that is where it is least of all, and minus
    their distance. Returns it, where it is, and (3, 3) the nearest or deepest point. From a point outside M along n the
    nearest point of M shows a way that is not longer (Cameron 1997). Around the least, reaches that differ by rounding
    belong to directions that differ by its root: of those the one is kept whose deepest point is nearest to it."""
    reach, beyond, least = p.reach(n), 0.5, np.inf
    found = reach, n, p.support(n)
    for _ in range(MOST_ROUNDS):
        points, toward = look_back(p, reach + beyond * p.size, n)
        if toward is None:
            break
        aside = np.linalg.norm(points[2] - reach * n)
        if aside < least or reach < found[0] - SAME * p.size:
            least, found = aside, (reach, n, points)
        if least <= SETTLED * p.size:
            break
        better = p.reach(toward)
        if better > reach + SAME * p.size:
            beyond *= 0.1
            if beyond <= CLOSE:
                break
            continue
        if reach - better > 1e-15 * p.size:
            along, line = _along(p, reach, n, toward)
            better, toward = (along, line) if along < better else (better, toward)
        reach, n, beyond = better, toward, max(0.5 * beyond, NEAR)
    return found


def _along(p: Pair, reach: float, n: Array, toward: Array) -> tuple[float, Array]:
    """Least reach on the great circle from n on through `toward`, and where it is."""
    across = toward - (n @ toward) * n
    low, middle, high, best = 0.0, 0.0, float(np.linalg.norm(across)), reach
    if not high > 0.0:
        return reach, n
    across = across / high

    def direction(tangent: float) -> Array:
        turned = n + tangent * across
        return turned / np.linalg.norm(turned)

    for _ in range(40):
        found = p.reach(direction(high))
        if not found < best:
            break
        best, low, middle, high = found, middle, high, 2.0 * high
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = p.reach(direction(left)), p.reach(direction(right))
    while high - low > 1e-9 * (1.0 + high):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = p.reach(direction(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = p.reach(direction(right))
    n_best = direction(0.5 * (low + high))
    least = p.reach(n_best)
    return (least, n_best) if least < reach else (reach, n)
