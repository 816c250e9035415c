"""The nearest points of two convex shapes. Gilbert, Johnson and Keerthi 1988: the simplex in M whose point nearest to
the origin is known takes in the support point that way, until none is nearer. Of a simplex all faces are tried, so that
no sign of a nearly flat one decides. A disc would only be neared by halves: there Newton's method turns the simplex."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...arrays import Array
from ...spatial import so3
from .pair import Pair

MOST_ROUNDS = 256
MOST_IDLE = 4  # rounds that bring nothing the last digit shows
ROUNDS = 3  # of the shares in a simplex
LEAST = 1e-150  # length of a vector that has a direction
FLAT = 1e-20  # square of the sine of an angle that is none
COAXIAL = 1e-8  # sine of the angle to a disc's axis along which it is flat


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
    first = p.shift if p.shift.any() else np.array([1.0, 0.0, 0.0])
    # of the corners what is on their hulls, and what is on their discs
    simplex, shares, distance = _reduced(np.stack((p.corner(first), p.rim(first)))[None])
    for _ in range(MOST_ROUNDS):
        if distance <= touching or len(simplex) == 4:
            break
        back = -(shares @ simplex.sum(axis=1)[:, 2]) / distance
        new = np.stack((p.corner(back), p.rim(back)))
        shown = -float(new.sum(axis=0)[2] @ back)
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
        if len(simplex) < 4 and (turned := _turned(p, simplex, -(shares @ simplex.sum(axis=1)[:, 2]))) is not None:
            fewer, own, nearer = _reduced(turned)
            if nearer < distance:
                simplex, shares, distance = fewer, own, nearer
    points = np.tensordot(shares, simplex.sum(axis=1), 1)
    return Nearest(distance if distance > touching else 0.0, points, low, n)


def _turned(p: Pair, simplex: Array, n: Array) -> Array | None:
    """The corners turned on their discs to where M ends along n, the direction of least reach across their points on
    hulls, after one step of Newton's method from this n. The reach of a unit vector has the gradient x, the point
    there, and the Hessian distance + radius / sine t t' with the tangent t of each rim. None: there is no such step."""
    discs = [(shape.disc, R[:, 2]) for shape, R in ((p.a, p.Ra), (p.b, p.Rb)) if shape.disc > 0.0]
    if not discs:
        return None
    corners = np.unique(simplex[:, 0], axis=0)
    axes = np.empty((0, 3))
    for edge in corners[1:, 2] - corners[0, 2]:
        axes = _with_axis(axes, edge, FLAT * float(edge @ edge))
    n = n - axes.T @ (axes @ n)
    length = np.linalg.norm(n)
    if not length > LEAST:
        return None
    n = n / length
    axes = np.concatenate((axes, n[None]))
    across = np.eye(3) - axes.T @ axes
    x = corners[0, 2] + p.rim(n)[2]
    H = -float(x @ n) * np.eye(3)
    if not H[0, 0] > 0.0:
        return None
    for disc, z in discs:
        t = so3.cross(z, n)
        sine = np.linalg.norm(t)
        if sine < COAXIAL:
            return None
        t = across @ t / sine
        H += disc / sine * np.outer(t, t)
    rim = p.rim(n - np.linalg.solve(H, across @ x))
    return np.stack((corners, np.broadcast_to(rim, corners.shape)), axis=1)


def _with_axis(axes: Array, x: Array, least: float) -> Array:
    """Unit vectors (k, 3), and across them one more along x, if the square of what x has there is more than `least`."""
    own = x - axes.T @ (axes @ x)
    length = np.linalg.norm(own)
    return np.concatenate((axes, own[None] / length)) if own @ own > least and length > LEAST else axes


def look_back(p: Pair, away: float, n: Array) -> tuple[Array, Array | None]:
    """The point of M that is nearest to `away` n, a point outside, and the unit vector from one
    to the other; None: they are one. Both are as exact as they get, however near M is to the origin."""
    points = nearest(p.moved(away * n)).points
    length = np.linalg.norm(points[2])
    toward = -points[2] / length if length > LEAST else None
    points[2] += away * n
    return points, toward


def _reduced(simplex: Array) -> tuple[Array, Array, float]:
    """The face of a simplex (k, 2, 3, 3) that has its point nearest to the origin, the shares of its corners, how far
    it is. Of the points of all faces the nearest one is v with v (v - corner) least for the worst corner; that tells
    also those apart that are as far to the last digit."""
    points = simplex.sum(axis=1)
    best, least = (simplex[:1], np.ones(1), np.inf), np.inf
    for count in range(1, len(simplex) + 1):
        for chosen in combinations(range(len(simplex)), count):
            shares = _affine_shares(points[list(chosen)])
            if shares is None or (shares < 0.0).any():
                continue
            v = shares @ points[list(chosen), 2]
            worst = max(0.0, float(((v - points[:, 2]) @ v).max()))
            if worst < least:
                best, least = (simplex[list(chosen)], shares, float(np.linalg.norm(v))), worst
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
            n = so3.cross(e[0], e[1])
            weight, parts = n @ n, [n @ so3.cross(e[1], x), n @ so3.cross(x, e[0])]
        else:
            crossed = [so3.cross(e[1], e[2]), so3.cross(e[2], e[0]), so3.cross(e[0], e[1])]
            weight, parts = crossed[2] @ e[2], [-(x @ c) for c in crossed]
        if weight == 0.0:
            return None
        shares = shares + np.array(parts) / weight
    return np.array([1.0 - shares.sum(), *shares])
