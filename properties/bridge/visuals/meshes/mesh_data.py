"""What a mesh file holds, as arrays; no Blender here."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .....robokin.arrays import Array


@dataclass(frozen=True)
class FileMaterial:
    """A material of a mesh file. `rgba`: display values. `texture`: path of a picture, or the bytes of a PNG or JPEG.
    `metallic`, `roughness`: 0 to 1, where the file knows them."""

    name: str
    rgba: tuple[float, float, float, float] | None = None
    texture: str | bytes | None = None
    metallic: float | None = None
    roughness: float | None = None


@dataclass(frozen=True, eq=False)
class MeshData:
    """Polygons.   vertices: (n, 3).   corners: (k,) vertex of each corner.   sizes: (f,) corners of each polygon.
    slots: (f,) material of each polygon.   uv: (k, 2) or None."""

    vertices: Array
    corners: Array
    sizes: Array
    slots: Array | None = None
    uv: Array | None = None
    materials: tuple[FileMaterial, ...] = field(default_factory=tuple)

    @property
    def starts(self) -> Array:
        """(f,) first corner of each polygon."""
        return np.concatenate(([0], np.cumsum(self.sizes)[:-1])) if len(self.sizes) else np.zeros(0, int)


def joined(parts: list[MeshData]) -> MeshData:
    """Several meshes as one; equal materials are shared."""
    if not parts:
        return MeshData(np.zeros((0, 3)), np.zeros(0, int), np.zeros(0, int))
    if len(parts) == 1:
        return parts[0]
    materials: dict[FileMaterial, int] = {}
    slots = []
    for part in parts:
        own = np.zeros(len(part.sizes), int) if part.slots is None else part.slots
        places = [materials.setdefault(each, len(materials)) for each in part.materials or (FileMaterial(""),)]
        slots.append(np.array(places, int)[own])
    offsets = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    uv = None
    if any(part.uv is not None for part in parts):
        uv = np.concatenate([np.zeros((len(p.corners), 2)) if p.uv is None else p.uv for p in parts])
    return MeshData(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.corners + offset for part, offset in zip(parts, offsets, strict=True)]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate(slots),
        uv,
        tuple(materials),
    )


def placed(mesh: MeshData, T: Array) -> MeshData:
    """The mesh moved by a (4, 4) transform; one that mirrors turns the polygons' order back, so that the outside stays
    outside."""
    corners, uv = mesh.corners, mesh.uv
    if np.linalg.det(T[:3, :3]) < 0.0:
        order = _reversed_polygons(mesh.sizes, mesh.starts)
        corners, uv = corners[order], None if uv is None else uv[order]
    vertices = mesh.vertices @ T[:3, :3].T + T[:3, 3]
    return MeshData(vertices, corners, mesh.sizes, mesh.slots, uv, mesh.materials)


def _reversed_polygons(sizes: Array, starts: Array) -> Array:
    """(corners,) order that goes round every polygon the other way."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(sizes.sum()) - starts[owner]
    return starts[owner] + sizes[owner] - 1 - within


def strips(count: int) -> Array:
    """(count - 2, 3) places of a strip's corners, every other triangle turned round."""
    rows = np.arange(max(count - 2, 0))[:, None] + np.arange(3)
    rows[1::2, :2] = rows[1::2, 1::-1]
    return rows


def fans(count: int) -> Array:
    """(count - 2, 3) places of a fan's corners."""
    first = np.arange(max(count - 2, 0))
    return np.column_stack((np.zeros_like(first), first + 1, first + 2))


def welded(vertices: Array) -> tuple[Array, Array]:
    """(distinct vertices, index of each given vertex among them): corners at the same point become one vertex."""
    rows = np.ascontiguousarray(vertices, np.float32) + np.float32(0.0)  # -0 and 0 are the same point
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * 3))).ravel()
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], index.ravel()
