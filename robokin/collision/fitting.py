"""A simple shape around points: nothing of them outside, as little as may be beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from ..model.geometry import Box as SharpBox
from ..spatial.se3 import placement
from .convex_hull import distinct, hull_triangles
from .core import core
from .shapes import Box, Capsule, CollisionShape, Cylinder, Hull, Sphere
from .swept_hull import from_hull, swept_hull

SIMPLE = ("box", "capsule", "sphere")  # among which the least one is chosen
KINDS = (*SIMPLE, "rounded box", "cylinder", "hull")
_SIDES = 128  # of a polygon around a disc
_HALVINGS = 40  # of the range of a radius
_MOVES = 200  # of a middle


@dataclass(frozen=True, eq=False)
class Fit:
    """placement: (4, 4) of the shape among the points. volume [m^3]; of a hull that of the box around it. gap [m]: how
    far the shape's surface is from the points' convex hull, at most; of a cylinder and of a hull a bound, for the
    cylinder by at most 0.0004 of its radius too high."""

    shape: CollisionShape
    placement: Array
    volume: float
    gap: float


def fitted(points: Array, kinds: tuple[str, ...] = SIMPLE) -> Fit:
    """The shape of least volume around points (n, 3) of these kinds, along the axes or the principal axes of the
    points. Raises ModelError for what are no points, and for a kind that is none."""
    if not len(points):
        raise ModelError("a shape cannot be fitted to no points")
    for kind in kinds:
        if kind not in KINDS:
            raise ModelError(f"no shape is called {kind!r} (valid: {', '.join(KINDS)})")
    points = distinct(Hull(points).points)
    if kinds == ("hull",):  # which has no axes
        return _hull(points)
    corners = points if len(points) < 4 else points[np.unique(hull_triangles(points))]
    axes = _axes(points)
    found = [fit for kind in kinds for R in axes[: 1 if kind == "sphere" else None] for fit in _FITS[kind](corners, R)]
    volume, shape, T = min(found, key=lambda each: each[0])
    return Fit(shape, T, volume, _gap(corners, shape, T))


def _hull(points: Array) -> Fit:
    shape = swept_hull(points)
    size = np.ptp(shape.points, axis=0) + 2.0 * shape.radius
    return Fit(shape, np.eye(4), float(np.prod(size)), shape.radius)


def _axes(points: Array) -> list[Array]:
    """Rotations whose columns are the axes to try."""
    principal = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2].T
    principal = principal * [1.0, 1.0, np.linalg.det(principal)] if principal.shape == (3, 3) else np.eye(3)
    return [np.eye(3), principal]


def _box(points: Array, R: Array) -> list[tuple]:
    own = points @ R
    low, high = own.min(axis=0), own.max(axis=0)
    size = _grown(high - low, own)
    T = placement(R, R @ (0.5 * (low + high)))
    return [(float(np.prod(size)), SharpBox((float(size[0]), float(size[1]), float(size[2]))), T)]


def _rounded_box(points: Array, R: Array) -> list[tuple]:
    """The faces of the box around the points, and the largest radius with which no point is outside."""
    ((_, whole, T),) = _box(points, R)
    half = 0.5 * np.array(whole.size)
    beyond, low, high = abs((points - T[:3, 3]) @ R), 0.0, float(half.min())
    for _ in range(_HALVINGS):
        radius = 0.5 * (low + high)
        away = np.linalg.norm(np.maximum(beyond - (half - radius), 0.0), axis=1)
        low, high = (radius, high) if (away <= radius).all() else (low, radius)
    (a, b, c), r = 2.0 * (half - low), low
    volume = a * b * c + 2.0 * r * (a * b + b * c + c * a) + np.pi * r**2 * (a + b + c) + 4.0 / 3.0 * np.pi * r**3
    return [(float(volume), Box((float(a), float(b), float(c)), r), T)]


def _cylinder(points: Array, R: Array) -> list[tuple]:
    """Along each of the axes."""
    found = []
    for axis in range(3):
        turned = R[:, [(axis + 1) % 3, (axis + 2) % 3, axis]]
        own = points @ turned
        middle = _middle(own[:, :2])
        radius = float(_grown(np.linalg.norm(own[:, :2] - middle, axis=1).max(), own))
        low, high = float(own[:, 2].min()), float(own[:, 2].max())
        length = float(_grown(high - low, own))
        T = placement(turned, turned @ np.array([*middle, 0.5 * (low + high)]))
        found.append((np.pi * radius**2 * length, Cylinder(radius, length), T))
    return found


def _middle(points: Array) -> Array:
    """Nearly the centre of the least ball around points (n, dimensions): moved towards the point farthest off, ever
    less (Badoiu, Clarkson 2003)."""
    centre, best, least = 0.5 * (points.min(axis=0) + points.max(axis=0)), points[0], np.inf
    for i in range(_MOVES):
        away = points - centre
        squares = (away**2).sum(axis=1)
        farthest = int(squares.argmax())
        if squares[farthest] < least:
            best, least = centre, squares[farthest]
        centre = centre + away[farthest] / (i + 2)
    return best


def _capsule(points: Array, R: Array) -> list[tuple]:
    """Along each of the axes."""
    found = []
    for axis in range(3):
        turned = R[:, [(axis + 1) % 3, (axis + 2) % 3, axis]]
        own = points @ turned
        middle = 0.5 * (own[:, :2].min(axis=0) + own[:, :2].max(axis=0))
        away = np.linalg.norm(own[:, :2] - middle, axis=1)
        radius = float(_grown(away.max(), own))
        reach = np.sqrt(np.maximum(radius**2 - away**2, 0.0))
        low, high = float((own[:, 2] + reach).min()), float((own[:, 2] - reach).max())
        length = max(high - low, 0.0)
        T = placement(turned, turned @ np.array([*middle, 0.5 * (low + high)]))
        if high < low:  # a ball about the middle holds them all
            radius = float(_grown(np.linalg.norm(points - T[:3, 3], axis=1).max(), own))
        found.append((np.pi * radius**2 * (length + 4.0 / 3.0 * radius), Capsule(radius, length), T))
    return found


def _sphere(points: Array, R: Array) -> list[tuple]:
    centre = _middle(points)
    radius = float(_grown(np.linalg.norm(points - centre, axis=1).max(), points))
    return [(4.0 / 3.0 * np.pi * radius**3, Sphere(radius), placement(np.eye(3), centre))]


_FITS = {
    "box": _box,
    "capsule": _capsule,
    "sphere": _sphere,
    "rounded box": _rounded_box,
    "cylinder": _cylinder,
}


def _grown(size: Any, points: Array) -> Any:
    """The size, larger by what rounding may hide, and points that are no corners of their hull by so little."""
    return size + 1e-10 * (1.0 + abs(points).max())


def _gap(points: Array, shape: CollisionShape, T: Array) -> float:
    """How far the shape is beyond the points' hull: its corners are farthest from it, as the distance from a convex set
    is convex."""
    around = core(shape)
    corners = _corners(around.points, around.disc) @ T[:3, :3].T + T[:3, 3]
    return max(0.0, float(from_hull(corners, points).max()) + around.radius)


def _corners(points: Array, disc: float) -> Array:
    """(n, 3) of a polytope around points (k, 3) with a disc about z."""
    if not disc:
        return points
    angles = np.arange(_SIDES) * (2.0 * np.pi / _SIDES)
    ring = np.column_stack((np.cos(angles), np.sin(angles), 0.0 * angles)) * (disc / np.cos(np.pi / _SIDES))
    return (points[:, None] + ring).reshape(-1, 3)
