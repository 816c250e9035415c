"""What robots without meshes are drawn with: plain shapes, and links whose inertia is that of their shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from .. import se3
from ..geometry import Box, Capsule, Cylinder, Geometry, Material, Shape, Sphere
from ..model import Link, RobotModel
from ..tree import axis_to_z

Array = np.ndarray
Point = Sequence[float] | Array

LIGHT = Material("Robot Light", (0.85, 0.85, 0.83, 1.0))
DARK = Material("Robot Dark", (0.06, 0.065, 0.075, 1.0))
STEEL = Material("Robot Steel", (0.45, 0.47, 0.5, 1.0))
ORANGE = Material("Robot Orange", (0.9, 0.28, 0.03, 1.0))
BLUE = Material("Robot Blue", (0.06, 0.22, 0.55, 1.0))
YELLOW = Material("Robot Yellow", (0.9, 0.6, 0.04, 1.0))


def rod(start: Point, end: Point, radius: float, paint: Material = LIGHT) -> Geometry:
    """A cylinder from `start` to `end` [m], in the frame of its link, as everything here."""
    T, length = _between(start, end)
    return Geometry(Cylinder(radius, length), T, paint)


def bar(start: Point, end: Point, radius: float, paint: Material = LIGHT) -> Geometry:
    """A rod with round ends, centred on `start` and `end`."""
    T, length = _between(start, end)
    return Geometry(Capsule(radius, length), T, paint)


def drum(center: Point, axis: Point, radius: float, length: float, paint: Material = DARK) -> Geometry:
    """A cylinder about a joint's axis."""
    half = 0.5 * length * np.array(axis, float) / np.linalg.norm(axis)
    return rod(np.array(center) - half, np.array(center) + half, radius, paint)


def ball(center: Point, radius: float, paint: Material = LIGHT) -> Geometry:
    return Geometry(Sphere(radius), _at(np.eye(3), center), paint)


def box(center: Point, size: Point, paint: Material = LIGHT) -> Geometry:
    """A box with edges along the axes of its link."""
    return Geometry(Box((float(size[0]), float(size[1]), float(size[2]))), _at(np.eye(3), center), paint)


def solid(name: str, mass: float, shapes: Sequence[Geometry]) -> Link:
    """A link of uniform density: mass [kg] over the shapes by their volumes, each counted whole where they overlap."""
    volumes = np.array([_volume(g.shape) for g in shapes])
    masses = mass * volumes / volumes.sum()
    com = sum(m * g.placement[:3, 3] for m, g in zip(masses, shapes, strict=True)) / mass
    inertia = np.zeros((3, 3))
    for m, g in zip(masses, shapes, strict=True):
        R, c = g.placement[:3, :3], g.placement[:3, 3] - com
        inertia += R @ np.diag(m * _square_radii(g.shape)) @ R.T + m * ((c @ c) * np.eye(3) - np.outer(c, c))
    return Link(name, mass, com, (inertia + inertia.T) / 2.0, tuple(shapes))


def with_links(model: RobotModel, links: Mapping[str, Link]) -> RobotModel:
    """The same robot with some of its links replaced by those of the same name."""
    return RobotModel(
        model.name, [links.get(k.name, k) for k in model.links], model.joints[1:], model.root, model.drive
    )


def with_solids(model: RobotModel, solids: Mapping[str, tuple[float, Sequence[Geometry]]]) -> RobotModel:
    """The same robot; `solids`: mass [kg] and shapes of each link that has any."""
    return with_links(model, {name: solid(name, mass, shapes) for name, (mass, shapes) in solids.items()})


def _between(start: Point, end: Point) -> tuple[Array, float]:
    a, b = np.array(start, float), np.array(end, float)
    length = float(np.linalg.norm(b - a))
    return _at(axis_to_z((b - a) / length), (a + b) / 2.0), length


def _at(R: Array, center: Point) -> Array:
    return se3.placement(R, np.array(center, float))


def _volume(shape: Shape) -> float:
    if isinstance(shape, Box):
        return math.prod(shape.size)
    if isinstance(shape, Sphere):
        return 4.0 / 3.0 * math.pi * shape.radius**3
    assert isinstance(shape, Cylinder | Capsule)
    caps = 4.0 / 3.0 * shape.radius if isinstance(shape, Capsule) else 0.0
    return math.pi * shape.radius**2 * (shape.length + caps)


def _square_radii(shape: Shape) -> Array:
    """(3,) principal inertias per mass about the centre [m^2]."""
    if isinstance(shape, Box):
        x, y, z = (edge**2 / 12.0 for edge in shape.size)
        return np.array([y + z, x + z, x + y])
    if isinstance(shape, Sphere):
        return np.full(3, 0.4 * shape.radius**2)
    assert isinstance(shape, Cylinder | Capsule)
    r, h = shape.radius, shape.length
    along, across = r**2 / 2.0, r**2 / 4.0 + h**2 / 12.0
    if isinstance(shape, Capsule):  # two half balls beyond the ends, their centres of mass 3/8 r from them
        share = 4.0 * r / (3.0 * h + 4.0 * r)
        along = (1.0 - share) * along + share * 0.4 * r**2
        across = (1.0 - share) * across + share * (0.4 * r**2 + h**2 / 4.0 + 3.0 * h * r / 8.0)
    return np.array([across, across, along])
