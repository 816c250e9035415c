"""Which way is up in a robot's glTF files. glTF says Y. RViz and others take the file's axes for the link's, and robots
are made for them, unless what else is known of the links says that glTF is right."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from ....robokin.arrays import Array
from ....robokin.collision.core import core
from ....robokin.errors import RobokinError
from ....robokin.model.geometry import Geometry, Mesh
from ....robokin.model.link import Link
from .meshes import is_supported, read_mesh
from .meshes.gltf import Y_UP

_GLTF = (".gltf", ".glb")
_ENOUGH = 12  # links that are compared: their files are read for it
_CLEARLY = 0.7  # how much nearer one way up must bring the meshes than the other


def gltf_is_y_up(links: Sequence[Link]) -> bool | None:
    """Whether it is Y that is up in the glTF files of visuals, by the links' collision shapes and centres of mass; None
    where these do not tell."""
    telling = [
        link
        for link in links
        if any(map(is_gltf, link.visuals))
        and (link.com.any() or not all(map(is_gltf, link.collisions)))
        and all(each.shape.path for each in link.visuals if isinstance(each.shape, Mesh))
    ]
    z_up, y_up = sum((_distances(link) for link in telling[:_ENOUGH]), np.zeros(2))
    return True if y_up < _CLEARLY * z_up else False if z_up < _CLEARLY * y_up else None


def turned(shapes: Sequence[Geometry]) -> tuple[Geometry, ...]:
    """The shapes, with glTF files whose Y is up."""
    return tuple(
        dataclasses.replace(each, shape=dataclasses.replace(each.shape, y_up=True))
        if isinstance(each.shape, Mesh) and is_gltf(each)
        else each
        for each in shapes
    )


def is_gltf(geometry: Geometry) -> bool:
    return isinstance(geometry.shape, Mesh) and geometry.shape.filename.lower().endswith(_GLTF)


def _distances(link: Link) -> Array:
    """(2,) [m] how far the box of the visuals is from that of the collision shapes, or its middle from the centre of
    mass, with Z up and with Y up; zeros where files cannot be read."""
    read = [(each, *_points(each)) for each in link.visuals]
    shown = [_box([_ends(*each, y_up) for each in read]) for y_up in (False, True)]
    solid = [each for each in link.collisions if not is_gltf(each)]
    hit = _box([_ends(each, *_points(each), False) for each in solid])
    if any(box is None for box in shown) or (hit is None and not link.com.any()):
        return np.zeros(2)
    if hit is not None:
        return np.array([np.abs(box - hit).sum() for box in shown])
    return np.array([np.linalg.norm(box.mean(axis=0) - link.com) for box in shown])


def _box(ends: Sequence[Array]) -> Array | None:
    """(2, 3) [m] the least and the largest coordinates of points (n, 3); None without any."""
    points = np.concatenate([np.empty((0, 3)), *ends])
    return np.array([points.min(axis=0), points.max(axis=0)]) if len(points) else None


def _ends(geometry: Geometry, points: Array, radius: float, y_up: bool) -> Array:
    """(2 n, 3) [m] the ends of the boxes of balls about points of a shape, in the link; of a glTF file turned from Y up
    where `y_up` is."""
    if y_up and is_gltf(geometry):
        points = points @ Y_UP[:3, :3].T
    scale = geometry.shape.scale if isinstance(geometry.shape, Mesh) else (1.0, 1.0, 1.0)
    placed = points * np.array(scale) @ geometry.placement[:3, :3].T + geometry.placement[:3, 3]
    return np.concatenate((placed - radius, placed + radius))


def _points(geometry: Geometry) -> tuple[Array, float]:
    """(n, 3) points of a shape in its own frame, and the radius of balls about them; none of a file that cannot be
    read."""
    shape = geometry.shape
    try:
        if isinstance(shape, Mesh):
            can_be_read = shape.path is not None and is_supported(shape.path)
            return (read_mesh(str(shape.path)).vertices if can_be_read else np.empty((0, 3))), 0.0
        made = core(shape)
    except RobokinError:
        return np.empty((0, 3)), 0.0
    rims = [made.points + made.disc * np.array([x, y, 0.0]) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    return np.concatenate(rims), made.radius
