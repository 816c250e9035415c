"""The nearest points of two convex shapes. Gilbert, Johnson and Keerthi 1988: the simplex in M whose point nearest to
the origin is known takes in the support point that way, until none is nearer. Of a simplex all faces are tried, so that
no sign of a nearly flat one decides."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...arrays import Array
from .pair import Pair

MOST_ROUNDS = 256
MOST_IDLE = 4  # rounds that bring nothing the last digit shows
ROUNDS = 3  # of the shares in a simplex


@dataclass(frozen=True, eq=False)
class Nearest:
    """distance: 0 where they meet. points: (3, 3) the point of M that is nearest to the origin. low: what the distance
    is not less than, as the unit vector n (3,) shows."""

    distance: float
    points: Array
    low: float
    n: Array


def nearest(p: Pair, enough: float = np.inf) -> Nearest:
    """What is nearest; not looked for any more once the distance is shown to be more than `enough`."""
    touching, idle, low, n = 1e-15 * p.size, 0, -np.inf, np.zeros(3)
    simplex = p.support(p.shift if p.shift.any() else np.array([1.0, 0.0, 0.0]))[None]
    simplex, shares, distance = _reduced(simplex)
    for _ in range(MOST_ROUNDS):
        if distance <= touching or len(simplex) == 4:
            break
        back = -(shares @ simplex[:, 2]) / distance
        new = p.support(back)
        shown = -float(new[2] @ back)
        if shown > low:
            low, n = shown, back
        if low > enough or distance - low <= touching:
            break
        fewer, own, nearer = _reduced(np.concatenate((simplex, new[None])))
        if nearer > distance + touching:
            break
        idle = 0 if nearer < distance else idle + 1
        if idle > MOST_IDLE:
            break
        simplex, shares, distance = fewer, own, nearer
    return Nearest(distance if distance > touching else 0.0, np.tensordot(shares, simplex, 1), low, n)


def look_back(p: Pair, away: float, n: Array) -> tuple[Array, Array | None]:
    """The point of M that is nearest to `away` n, a point outside, and the unit vector from one
    to the other; None: they are one. Both are as exact as they get, however near M is to the origin."""
    points = nearest(p.moved(away * n)).points
    length = np.linalg.norm(points[2])
    toward = -points[2] / length if length > 0.0 else None
    points[2] += away * n
    return points, toward


def _reduced(simplex: Array) -> tuple[Array, Array, float]:
    """The face of a simplex (k, 3, 3) that has its point nearest to the origin, the shares of its corners, and how far
    that is. Of the points of all faces the nearest one is v with v (v - corner) least for the worst corner; that tells
    also those apart that are as far to the last digit."""
    best, least = (simplex[:1], np.ones(1), np.inf), np.inf
    for count in range(1, len(simplex) + 1):
        for chosen in combinations(range(len(simplex)), count):
            corners = simplex[list(chosen)]
            shares = _affine_shares(corners)
            if shares is None or (shares < 0.0).any():
                continue
            v = shares @ corners[:, 2]
            worst = max(0.0, float(((v - simplex[:, 2]) @ v).max()))
            if worst < least:
                best, least = (corners, shares, float(np.linalg.norm(v))), worst
    return best


def _affine_shares(corners: Array) -> Array | None:
    """Shares of the corners (k, 3, 3) in the point of their affine hull that is nearest to the origin; None: they have
    no such, as they lie in less than it. Found once more from where it is, as of thin simplices it is not exact."""
    p, apart = corners[:, 2], corners[1:] - corners[0]
    if len(p) == 1:
        return np.ones(1)
    e, shares = apart[:, 0] - apart[:, 1], np.zeros(len(p) - 1)
    for _ in range(ROUNDS):
        x = p[0] + shares @ e
        if len(p) == 2:
            weight, parts = e[0] @ e[0], [-(x @ e[0])]
        elif len(p) == 3:
            n = np.cross(e[0], e[1])
            weight, parts = n @ n, [n @ np.cross(e[1], x), n @ np.cross(x, e[0])]
        else:
            crossed = [np.cross(e[1], e[2]), np.cross(e[2], e[0]), np.cross(e[0], e[1])]
            weight, parts = crossed[2] @ e[2], [-(x @ c) for c in crossed]
        if weight == 0.0:
            return None
        shares = shares + np.array(parts) / weight
    return np.array([1.0 - shares.sum(), *shares])
