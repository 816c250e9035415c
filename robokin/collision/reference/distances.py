"""NumPy's distances of convex shapes: the readable specification of kernel/src/collision/. One pair after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import MOST, Array
from ..core import Core
from .closed_forms import closed_form
from .nearest import nearest
from .pair import TOUCHING, Pair
from .way_out import descended, shortest_way_out

SURE = 1e-13  # of the size: a normal that shows the distance to be as large
SHORT = 1e-6  # of the size: a shorter way from point to point says less of its direction than what shows the distance
TOLERANCE = 1e-9  # of the size: what a distance may be wrong by
FOUND, FAR, FAILED = range(3)  # rk_distance_status


def distances(cores: Sequence[Core], placements: Array, pairs: Array, within: float) -> tuple[Array, Array]:
    """Twin of `rk_distances`: placements (count, shapes, 12), pairs (p, 2); (count, p, 10) and (count, p)."""
    out, status = np.zeros((len(placements), len(pairs), 10)), np.empty((len(placements), len(pairs)), np.int32)
    for row, T in enumerate(placements):
        for i, (a, b) in enumerate(pairs):
            status[row, i] = _one(cores[a], T[a], cores[b], T[b], within, out[row, i])
    return out, status


def _one(a: Core, Ta: Array, b: Core, Tb: Array, within: float, out: Array) -> int:
    out[0] = -np.inf
    if not (abs(Ta) <= MOST).all() or not (abs(Tb) <= MOST).all():
        return FAILED
    p = Pair.of(a, Ta, b, Tb)
    between = p.shift + p.Rb @ b.centre - p.Ra @ a.centre
    far = np.linalg.norm(between) - a.bound - b.bound
    if far > within:
        out[0] = far
        return FAR
    radii = a.radius + b.radius
    value, n, points = closed_form(p) or _distance(p, within + radii)
    if not value <= MOST:
        return FAILED
    if value > within + radii:
        out[0] = max(value - radii, within)
        return FAR
    out[0] = value - radii
    out[1:4] = Ta[9:] + points[0] + a.radius * n
    out[4:7] = Tb[9:] + points[1] - b.radius * n
    out[7:] = n
    return FOUND


def _distance(p: Pair, enough: float) -> tuple[float, Array, Array]:
    """Distance of a pair without balls, negative where they meet, infinite where it is not found; the unit normal; the
    point of M. One that is shown to be more than `enough` is not looked for: it is at least what is returned."""
    found = nearest(p, enough)
    value, points = found.distance, found.points
    if found.low > enough:
        return found.low, found.n, points
    if value > TOUCHING * p.size:
        n = -points[2] / np.linalg.norm(points[2])
        if value - found.low <= SURE * p.size:
            return value, found.n if value <= SHORT * p.size else n, points
        reach, n, points = descended(p, n)
        value = min(value, float(np.linalg.norm(points[2])))
        if value + reach <= TOLERANCE * p.size and value + reach < 0.5 * value:
            return -reach, n, points
    depth, n, points = shortest_way_out(p)
    value = min(value, float(np.linalg.norm(points[2])))
    if -depth <= TOUCHING * p.size or value + depth <= TOLERANCE * p.size:
        return -depth, n, points
    return np.inf, n, points
