"""What robots without meshes are drawn with: plain shapes, and links whose inertia is that of their shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import Array
from ..inertia import combined, shape_body
from ..model.geometry import Box, Capsule, Cylinder, Geometry, Material, Sphere
from ..model.robot import Link, RobotModel
from ..model.tree import axis_to_z
from ..spatial import se3

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
    return Geometry(Sphere(radius), se3.translation(center), paint)


def box(center: Point, size: Point, paint: Material = LIGHT) -> Geometry:
    """A box with edges along the axes of its link."""
    return Geometry(Box((float(size[0]), float(size[1]), float(size[2]))), se3.translation(center), paint)


def solid(name: str, mass: float, shapes: Sequence[Geometry]) -> Link:
    """A link of uniform density: mass [kg] over the shapes by their volumes, each counted whole where they overlap."""
    parts = combined([shape_body(g.shape).moved(g.placement) for g in shapes])
    body = parts.of_mass(mass)
    return Link(name, body.mass, body.com, body.inertia, tuple(shapes))


def with_links(model: RobotModel, links: Mapping[str, Link]) -> RobotModel:
    """A robot with some of its links replaced by those of the same name."""
    return RobotModel(
        model.name, [links.get(k.name, k) for k in model.links], model.joints[1:], model.root, model.drive
    )


def with_solids(model: RobotModel, solids: Mapping[str, tuple[float, Sequence[Geometry]]]) -> RobotModel:
    """The robot with mass and shapes. solids: mass [kg] and shapes of each link that has any."""
    return with_links(model, {name: solid(name, mass, shapes) for name, (mass, shapes) in solids.items()})


def _between(start: Point, end: Point) -> tuple[Array, float]:
    a, b = np.array(start, float), np.array(end, float)
    length = float(np.linalg.norm(b - a))
    return se3.placement(axis_to_z((b - a) / length), (a + b) / 2.0), length
