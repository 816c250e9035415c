"""A shape as what distances are computed of: the hull of some points, plus a disc, plus a ball."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ..arrays import Array, check_size, not_negative, shown
from ..errors import ModelError
from ..model import geometry
from .convex_hull import bent_edges, distinct, hull_triangles, least_area
from .shapes import Capsule, CollisionShape, Cylinder, Hull, Sphere

SAME = 1e-12  # directions that differ by no more are one


@dataclass(frozen=True, eq=False)
class Core:
    """The Minkowski sum of the convex hull of `points` (n, 3), a flat disc about z, and a ball; shape's frame, [m].

    normals: (k, 3) unit normals of the hull's faces, one of each two that are parallel. edges: (m, 3) unit directions
    of its edges, likewise. disc, radius: radii of disc and ball. centre: (3,) and bound: of a ball around the shape.
    is_block: a box or cylinder about the origin, along the axes: its last point is half of its sides.
    """

    points: Array
    normals: Array = field(default_factory=lambda: np.empty((0, 3)))
    edges: Array = field(default_factory=lambda: np.empty((0, 3)))
    disc: float = 0.0
    radius: float = 0.0
    is_block: bool = False
    centre: Array = field(init=False)
    bound: float = field(init=False)

    def __post_init__(self) -> None:
        centre = 0.5 * (self.points.min(axis=0) + self.points.max(axis=0))
        reach = float(np.sqrt(((self.points - centre) ** 2).sum(axis=1).max()))
        object.__setattr__(self, "centre", centre)
        # A disc stands on a line along z.
        object.__setattr__(self, "bound", float(np.hypot(reach, self.disc)) + self.radius)


def core(shape: CollisionShape) -> Core:
    """Kept for shapes that are the same. Raises ModelError for what is no such shape, and for sizes that are none."""
    try:
        return _kept(shape)
    except TypeError:  # a size that is a list or an array
        return _checked(shape)


def _checked(shape: CollisionShape) -> Core:
    made = _made(shape)
    check_size(np.append(made.points, (made.disc, made.radius)), f"the size of a {type(shape).__name__}")
    return made


_kept = lru_cache(maxsize=4096)(_checked)


def _made(shape: CollisionShape) -> Core:
    match shape:
        case geometry.Sphere():
            return Core(np.zeros((1, 3)), radius=_size(shape, "radius"))
        case geometry.Capsule():
            return Core(*_line(_size(shape, "length")), radius=_size(shape, "radius"))
        case geometry.Cylinder():
            points, _, edges = _line(_size(shape, "length"))
            return Core(points, np.array([[0.0, 0.0, 1.0]]), edges, disc=_size(shape, "radius"), is_block=True)
        case geometry.Box():
            half = 0.5 * np.array([not_negative(x, "the size of a box") for x in shape.size])
            signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
            radius = not_negative(getattr(shape, "radius", 0.0), "the radius of a box")
            return Core(half * signs, np.eye(3), np.eye(3), radius=radius, is_block=True)
        case Hull(points, radius):
            return Core(*_polytope(points), radius=radius)
    raise ModelError(
        f"{shown(shape)} is no collision shape (valid: {', '.join(c.__name__ for c in (Sphere, Capsule))}, "
        f"Box, {Cylinder.__name__}, {Hull.__name__})"
    )


def _size(shape: object, name: str) -> float:
    return not_negative(getattr(shape, name), f"the {name} of a {type(shape).__name__.lower()}")


def _line(length: float) -> tuple[Array, Array, Array]:
    """Points, normals and edges of a line along z."""
    if length == 0.0:
        return np.zeros((1, 3)), np.empty((0, 3)), np.empty((0, 3))
    return 0.5 * length * np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]), np.empty((0, 3)), np.array([[0.0, 0.0, 1.0]])


def _polytope(points: Array) -> tuple[Array, Array, Array]:
    """Corners, normals and edges of a convex hull."""
    points = distinct(points)
    if len(points) < 4:
        edges = np.roll(points, -1, axis=0) - points
        normal = np.cross(edges[:1], edges[1:2]) if len(points) == 3 else np.empty((0, 3))
        return points, _directions(normal, least_area(points)), _directions(edges, 0.0)
    triangles = hull_triangles(points)
    a, b, c = points[triangles.T]
    normals = np.cross(b - a, c - a)
    corners = points[np.unique(triangles)]
    start, end = points[bent_edges(points, triangles, SAME).T]
    return corners, _directions(normals, least_area(points)), _directions(end - start, 0.0)


def _directions(vectors: Array, least: float) -> Array:
    """Unit vectors of those longer than `least`, one of each two that are parallel."""
    length = np.linalg.norm(vectors, axis=1)
    units = (vectors / np.where(length > 0.0, length, 1.0)[:, None])[length > least]
    largest = np.take_along_axis(units, abs(units).argmax(axis=1)[:, None], axis=1)
    units = units * np.where(largest < 0.0, -1.0, 1.0)
    _, first = np.unique(np.round(units / SAME), axis=0, return_index=True)
    return np.ascontiguousarray(units[np.sort(first)])
