"""What a mesh file holds, as arrays; no Blender here."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class FileMaterial:
    """A material of a mesh file. `rgba` linear or display values as the file has them; `texture`: path of an image."""

    name: str
    rgba: tuple[float, float, float, float] | None = None
    texture: str | None = None


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
    if len(parts) == 1:
        return parts[0]
    materials: list[FileMaterial] = []
    slots = []
    for part in parts:
        own = np.zeros(len(part.sizes), int) if part.slots is None else part.slots
        places = []
        for material in part.materials or (FileMaterial(""),):
            if material not in materials:
                materials.append(material)
            places.append(materials.index(material))
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


def welded(vertices: Array) -> tuple[Array, Array]:
    """(distinct vertices, index of each given vertex among them): corners at the same point become one vertex."""
    rows = np.ascontiguousarray(vertices, np.float32) + np.float32(0.0)  # -0 and 0 are the same point
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * 3))).ravel()
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], index.ravel()
