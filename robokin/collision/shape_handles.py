"""What of a collision shape can be dragged: the handles of each kind, their values, and the shape with another value.

A handle has a point, and a direction in which that goes by as much as the value grows. What it does not concern stays:
the other end of a capsule, the opposite face of a box, the faces of a box whose corners become rounder.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import UnknownNameError
from ..model.geometry import Box, Capsule, Cylinder, Geometry, Hull, Mesh, RoundedBox, Shape, Sphere

LEAST = 1e-4  # [m] of a radius of a ball or a cylinder, and of an edge of a box
RADIUS, TOP, BOTTOM = "RADIUS", "TOP", "BOTTOM"
FACES = ("X_POSITIVE", "X_NEGATIVE", "Y_POSITIVE", "Y_NEGATIVE", "Z_POSITIVE", "Z_NEGATIVE")
MOVES = ("MOVE_X", "MOVE_Y", "MOVE_Z")
NAMES = (RADIUS, TOP, BOTTOM, *FACES, *MOVES)


@dataclass(frozen=True, eq=False)
class ShapeHandle:
    """point, direction: (3,) in the shape's own frame [m]; the direction has length 1."""

    name: str
    point: Array
    direction: Array


def outer_size(box: Box) -> Array:
    """(3,) [m] with the radius of its corners."""
    return np.array(box.size) + 2.0 * corner_radius(box)


def corner_radius(box: Box) -> float:
    return box.radius if isinstance(box, RoundedBox) else 0.0


def box_of(size: Array, radius: float) -> Box:
    """A box of an outer size (3,) [m] with a radius of its corners: at most what the size has room for."""
    size = np.maximum(np.asarray(size, float), LEAST)
    radius = float(np.clip(radius, 0.0, 0.5 * size.min()))
    inner = tuple(np.maximum(size - 2.0 * radius, 0.0).tolist())
    return RoundedBox(inner, radius) if radius else Box(inner)


def shape_handles(shape: Shape) -> tuple[ShapeHandle, ...]:
    """Handles of sizes first, then of moves along the shape's axes. A mesh can be moved only."""
    return (
        *_sizes(shape),
        *(ShapeHandle(name, np.zeros(3), axis) for name, axis in zip(MOVES, np.eye(3), strict=True)),
    )


def _sizes(shape: Shape) -> tuple[ShapeHandle, ...]:
    x, _, z = np.eye(3)
    match shape:
        case Sphere(radius):
            return (ShapeHandle(RADIUS, radius * x, x),)
        case Capsule(radius, length) | Cylinder(radius, length):
            end = 0.5 * length + (radius if isinstance(shape, Capsule) else 0.0)
            return ShapeHandle(RADIUS, radius * x, x), ShapeHandle(TOP, end * z, z), ShapeHandle(BOTTOM, -end * z, -z)
        case Box():
            half, radius = 0.5 * outer_size(shape), corner_radius(shape)
            normals = [side * axis for axis in np.eye(3) for side in (1.0, -1.0)]
            faces = tuple(ShapeHandle(name, n * half, n) for name, n in zip(FACES, normals, strict=True))
            # Where the edge at the top begins to be round.
            return *faces, ShapeHandle(RADIUS, half - radius * x, -x)
        case Hull():
            far = shape.points[np.argmax(shape.points[:, 0])]
            return (ShapeHandle(RADIUS, far + shape.radius * x, x),)
    return ()


def value_of(geometry: Geometry, handle: str) -> float:
    """[m] A radius, the length of a capsule without its caps, the edge of a box with its radius; 0 of what moves it.
    Raises UnknownNameError for a handle that the shape has not."""
    shape = geometry.shape
    known = [each.name for each in shape_handles(shape)]
    if handle not in known:
        raise UnknownNameError("handle of the shape", handle, known)
    if handle in MOVES:
        return 0.0
    if handle in FACES:
        assert isinstance(shape, Box)
        return float(outer_size(shape)[FACES.index(handle) // 2])
    assert not isinstance(shape, Mesh)
    if handle == RADIUS:
        return corner_radius(shape) if isinstance(shape, Box) else shape.radius
    assert isinstance(shape, Capsule | Cylinder)
    return shape.length


def with_value(geometry: Geometry, handle: str, value: float) -> Geometry:
    """The geometry whose handle has a value [m], or the nearest that it can have; what moves it does so by the value.
    Raises UnknownNameError for a handle that the shape has not."""
    before, shape = value_of(geometry, handle), geometry.shape
    if handle in MOVES:
        return _moved(geometry, value * np.eye(3)[MOVES.index(handle)])
    assert not isinstance(shape, Mesh)
    if handle == RADIUS:
        if isinstance(shape, Box):
            return dataclasses.replace(geometry, shape=box_of(outer_size(shape), value))
        least = 0.0 if isinstance(shape, Hull) else LEAST
        return dataclasses.replace(geometry, shape=dataclasses.replace(shape, radius=max(value, least)))
    direction = next(each.direction for each in shape_handles(shape) if each.name == handle)
    if handle in FACES:
        assert isinstance(shape, Box)
        size, radius = outer_size(shape), corner_radius(shape)
        value = max(value, 2.0 * radius, LEAST)
        size[FACES.index(handle) // 2] = value
        shape = box_of(size, radius)
    else:
        assert isinstance(shape, Capsule | Cylinder)
        value = max(value, LEAST if isinstance(shape, Cylinder) else 0.0)
        shape = dataclasses.replace(shape, length=value)
    return _moved(dataclasses.replace(geometry, shape=shape), 0.5 * (value - before) * direction)


def _moved(geometry: Geometry, by: Array) -> Geometry:
    """by: (3,) [m] in its own axes."""
    placement = np.array(geometry.placement)
    placement[:3, 3] += placement[:3, :3] @ by
    return dataclasses.replace(geometry, placement=placement)
