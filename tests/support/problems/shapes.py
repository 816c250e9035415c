"""Random convex shapes beside and in one another, with all that is awkward about them."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin.collision import Box, Capsule, Cylinder, Hull, Sphere
from robokin_addon.robokin.collision.core import Core, core

SCALES = (1.0, 1.0, 1.0, 1e-3, 1e3)


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0, turn: object = None) -> np.ndarray:
    """A placement. turn: "x", by a right angle about x; a generator: at random."""
    T = np.eye(4)
    T[:3, 3] = x, y, z
    if turn == "x":
        T[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    elif turn is not None:
        T[:3, :3] = np.linalg.qr(turn.normal(size=(3, 3)))[0]
        T[:3, 0] *= np.linalg.det(T[:3, :3])
    return T


def random_shape(rng: np.random.Generator, kinds: int = 8, scale: float | None = None, rounded: bool = True) -> object:
    """kinds: 4 without hulls; 8 with plain, flat, collinear and gridded ones."""
    scale = float(rng.choice(SCALES)) if scale is None else scale
    kind, radius = rng.integers(kinds), float(rng.choice([0.0, 0.0, 0.1])) * scale * rounded
    r, length = (scale * rng.uniform(0.1, 1.0, 2)).tolist()
    if kind == 0:
        return Sphere(r)
    if kind == 1:
        return Capsule(r, length)
    if kind == 2:
        return Cylinder(r, length)
    if kind == 3:
        return Box(tuple((scale * rng.uniform(0.1, 1.0, 3)).tolist()), radius)
    points = rng.normal(size=(rng.integers(1, 20), 3))
    if kind == 5:
        points[:, 2] = 0.0
    if kind == 6:
        points = np.outer(points[:, 0], rng.normal(size=3))
    if kind == 7:
        points = np.round(points)
    return Hull(scale * points, radius)


def random_pair(rng: np.random.Generator) -> tuple:
    """Two shapes and their placements: turned at random, alike (parallel faces) or not at all; apart, in one another,
    or with one origin."""
    a, b = random_shape(rng), random_shape(rng)
    size = core(a).bound + core(b).bound
    way, turned = rng.integers(4), rng.integers(3)
    Ta = at(*(size * rng.normal(size=3) * rng.integers(2)), turn=rng if turned else None)
    Tb = at(turn=rng if turned == 2 else None)
    Tb[:3, :3] = Tb[:3, :3] if turned == 2 else Ta[:3, :3]
    spread = [0.0, 0.3 * size, 1.5 * size, 0.1 * size][way]
    Tb[:3, 3] = Ta[:3, 3] + (spread * rng.normal(size=3) if way < 3 else [spread, 0.0, 0.0])
    return a, Ta, b, Tb


def reach(shape: Core, T: np.ndarray, n: np.ndarray) -> float:
    """How far a shape reaches along the unit vector n, from its origin."""
    own = T[:3, :3].T @ n
    return float((shape.points @ own).max() + shape.disc * np.hypot(own[0], own[1]) + shape.radius)
