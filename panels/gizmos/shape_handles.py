"""The handles of one collision shape, and the dots that choose another one: what they look like, in the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...properties.bridge.visuals.mesh_hulls import mesh_hull
from ...robokin.arrays import Array
from ...robokin.collision.shape_handles import MOVES, shape_handles
from ...robokin.model.geometry import Geometry, Hull, Mesh, Shape
from ..overlays.pieces import Pieces
from ..shapes import colors
from ..shapes.joints import KNOB_EDGES, KNOB_FACES
from ..shapes.lines import arrow, moved
from ..shapes.solids import outline
from .handle_gizmo import IDENTITY, Placed

KNOB = 7.0  # [pixels] half the size of one
DOT = 4.0
GAP, ARROW = 16.0, 40.0  # [pixels] from the shape to an arrow that moves it, and its length


@dataclass(eq=False)
class ShapeGrip:
    """What is dragged or clicked, as a `Grip`. pieces: in the world."""

    grip: Array
    pieces: Pieces
    operates: tuple[str, dict[str, Any]] | None = None

    @property
    def parts(self) -> Sequence[Placed]:
        return [Placed(IDENTITY, self.pieces)]


@dataclass(frozen=True)
class Tints:
    """Colours of the user's theme. size: of handles of sizes.   shape: of the shape.   axes: of X, Y and Z.
    others: of dots."""

    size: tuple[float, ...]
    shape: tuple[float, ...]
    axes: tuple[tuple[float, ...], ...]
    others: tuple[float, ...]


def grips_of(geometry: Geometry, link: Array, pixel: float, tints: Tints) -> list[ShapeGrip]:
    """The shape, knobs for its sizes, then arrows that move it. link: (4, 4) from metres in its axes to the world.
    pixel: [Blender units] its size where the shape is."""
    T = link @ geometry.placement
    body = _outlined(geometry.shape)
    found = [] if body is None else [ShapeGrip(np.empty((0, 3)), Pieces([(moved(T, body), tints.shape)]))]
    for handle in shape_handles(geometry.shape):
        point = _at(T, handle.point)
        direction = T[:3, :3] @ handle.direction
        direction = direction / np.linalg.norm(direction)
        if handle.name in MOVES:
            axis = MOVES.index(handle.name)
            start = _at(T, _farthest(geometry.shape, axis)) + GAP * pixel * direction
            end = start + ARROW * pixel * direction
            pieces = Pieces([(arrow(start, end, 0.35), tints.axes[axis])])
            grip = np.array([start, end])
        else:
            pieces = knob(point, KNOB * pixel, tints.size)
            grip = point[None]
        found.append(ShapeGrip(grip, pieces, ("robokin.drag_shape", {"handle": handle.name})))
    return found


def dot_of(bone: str, index: int, geometry: Geometry, link: Array, pixel: float, tints: Tints) -> ShapeGrip:
    """What makes another shape the active one."""
    point = (link @ geometry.placement)[:3, 3] + 0.0
    if isinstance(geometry.shape, Hull):
        point = _at(link @ geometry.placement, geometry.shape.points.mean(axis=0))
    settings = {"bone": bone, "index": index}
    return ShapeGrip(point[None], knob(point, DOT * pixel, tints.others), ("robokin.shape_select", settings))


def knob(point: Array, size: float, tint: tuple[float, ...]) -> Pieces:
    """An octahedron."""
    edges, faces = size * KNOB_EDGES + point, size * KNOB_FACES + point
    return Pieces([(edges, colors.faded(tint, 0.9))], [(faces, colors.faded(tint, 0.8))])


def _outlined(shape: Shape) -> Array | None:
    shown = mesh_hull(shape) if isinstance(shape, Mesh) else shape
    return None if shown is None else outline(shown)


def _farthest(shape: Shape, axis: int) -> Array:
    """(3,) on the axis of the shape's own frame, as far out as the shape is there."""
    body = _outlined(shape)
    out = np.zeros(3)
    out[axis] = max(float(body[..., axis].max()), 0.0) if body is not None and len(body) else 0.0
    return out


def _at(T: Array, point: Array) -> Array:
    return T[:3, :3] @ point + T[:3, 3]
