"""Which way is up in a robot's glTF files. glTF says Y. RViz and others take the file's axes for the link's, and robots
are made for them, unless what else is known of the links says that glTF is right."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from ....robokin.arrays import Array
from ....robokin.collision.core import core
from ....robokin.errors import RobokinError
from ....robokin.model.geometry import Geometry, Mesh
from ....robokin.model.link import Link
from .meshes import read_mesh

_GLTF = (".gltf", ".glb")
_ENOUGH = 12  # links that are compared: their files are read for it
_CLEARLY = 0.7  # how much nearer Y up must bring the meshes to be taken


def with_gltf_axes(links: Sequence[Link]) -> list[Link]:
    """The links, with `y_up` where that brings their glTF visuals nearer to collision shapes and centres of mass."""
    apart = np.zeros(2)
    compared = 0
    for link in links:
        if compared < _ENOUGH and any(_is_gltf(each) for each in link.visuals):
            found = _distances(link)
            if found is not None:
                apart += found
                compared += 1
    z_up, y_up = apart
    if not y_up < _CLEARLY * z_up:
        return list(links)
    return [
        dataclasses.replace(link, visuals=_turned(link.visuals), collisions=_turned(link.collisions)) for link in links
    ]


def _distances(link: Link) -> Array | None:
    """(2,) [m] how far the box of the visuals is from that of the collision shapes, or its middle from the centre of
    mass, with Z up and with Y up; None when nothing tells."""
    shown = [_box(link.visuals, y_up) for y_up in (False, True)]
    hit = _box([each for each in link.collisions if not _is_gltf(each)], False)
    if any(box is None for box in shown) or (hit is None and not link.com.any()):
        return None
    if hit is not None:
        return np.array([np.abs(box - hit).sum() for box in shown])
    return np.array([np.linalg.norm(box.mean(axis=0) - link.com) for box in shown])


def _box(shapes: Sequence[Geometry], y_up: bool) -> Array | None:
    """(2, 3) [m] the least and the largest coordinates of shapes in the link; None without a shape that can be read."""
    ends = [end for each in shapes for end in _ends(each, y_up)]
    return np.array([np.min(ends, axis=0), np.max(ends, axis=0)]) if ends else None


def _ends(geometry: Geometry, y_up: bool) -> Iterator[Array]:
    shape, around = geometry.shape, 0.0
    try:
        if isinstance(shape, Mesh):
            if shape.path is None:
                return
            points = read_mesh(shape.path, y_up).vertices * np.array(shape.scale)
        else:
            made = core(shape)
            points, around = made.points, made.radius + made.disc
    except RobokinError:
        return
    if len(points):
        placed = points @ geometry.placement[:3, :3].T + geometry.placement[:3, 3]
        yield placed.min(axis=0) - around
        yield placed.max(axis=0) + around


def _is_gltf(geometry: Geometry) -> bool:
    return isinstance(geometry.shape, Mesh) and geometry.shape.filename.lower().endswith(_GLTF)


def _turned(shapes: Sequence[Geometry]) -> tuple[Geometry, ...]:
    return tuple(
        dataclasses.replace(each, shape=dataclasses.replace(each.shape, y_up=True)) if _is_gltf(each) else each
        for each in shapes
    )
