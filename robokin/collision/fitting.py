"""A simple shape around points: nothing of them outside, as little as may be beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from ..model.geometry import Box, Capsule, Sphere
from ..spatial.se3 import placement
from .core import core
from .shapes import Hull

KINDS = ("box", "capsule", "sphere")
DIRECTIONS = 400  # in which the gap is measured


@dataclass(frozen=True, eq=False)
class Fit:
    """placement: (4, 4) of the shape among the points. volume [m^3]. gap [m]: how far the shape's surface is from the
    points' convex hull, at most."""

    shape: Box | Capsule | Sphere
    placement: Array
    volume: float
    gap: float


def fitted(points: Array, kinds: tuple[str, ...] = KINDS) -> Fit:
    """The shape of least volume around points (n, 3) of these kinds, along the axes or the principal axes of the
    points. Raises ModelError for what are no points, and for a kind that is none."""
    if not len(points):
        raise ModelError("a shape cannot be fitted to no points")
    for kind in kinds:
        if kind not in KINDS:
            raise ModelError(f"no shape is called {kind!r} (valid: {', '.join(KINDS)})")
    points = np.unique(Hull(points).points, axis=0)
    found = [fit for kind in kinds for R in _axes(points) for fit in _FITS[kind](points, R)]
    volume, shape, T = min(found, key=lambda each: each[0])
    return Fit(shape, T, volume, _gap(points, shape, T))


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
    return [(float(np.prod(size)), Box((float(size[0]), float(size[1]), float(size[2]))), T)]


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
    """The ball is moved towards the point farthest off, ever less (Badoiu, Clarkson 2003)."""
    far = points[np.unique(np.argmax(_directions() @ points.T, axis=1))]  # nearly who is farthest from any place
    centre = far.mean(axis=0)
    for i in range(200):
        away = far - centre
        centre = centre + away[np.argmax((away**2).sum(axis=1))] / (i + 2)
    radius = float(_grown(np.linalg.norm(points - centre, axis=1).max(), points))
    return [(4.0 / 3.0 * np.pi * radius**3, Sphere(radius), placement(np.eye(3), centre))]


_FITS = {"box": _box, "capsule": _capsule, "sphere": _sphere}


def _grown(size: Any, points: Array) -> Any:
    """The size, larger by what rounding may hide."""
    return size + 1e-12 * (1.0 + abs(points).max())


def _gap(points: Array, shape: Box | Capsule | Sphere, T: Array) -> float:
    """How far the shape is beyond the points: of two convex sets, one in the other, the largest difference of how far
    they reach in a direction; in many directions."""
    around = core(shape)
    n = _directions()
    reach = (n @ around.points.T).max(axis=1) + around.radius
    turned = n @ T[:3, :3].T  # in the axes of the points
    return max(0.0, float((reach + turned @ T[:3, 3] - _most(points, turned)).max()))


@lru_cache(maxsize=1)
def _directions() -> Array:
    """(n, 3) unit vectors."""
    n = np.random.default_rng(0).normal(size=(DIRECTIONS, 3))
    return np.concatenate((n / np.linalg.norm(n, axis=1)[:, None], np.eye(3), -np.eye(3)))


def _most(points: Array, directions: Array) -> Array:
    """(n,) how far points reach along directions (n, 3); some at a time, as the cache holds them."""
    parts = np.array_split(points, 1 + len(points) // 4096)
    return np.max([(directions @ part.T).max(axis=1) for part in parts], axis=0)
