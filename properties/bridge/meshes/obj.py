"""Wavefront OBJ files with their MTL materials. No unit and no up axis: the numbers are taken as they are."""

from __future__ import annotations

import os

import numpy as np

from ....robokin import FileFormatError
from .mesh_data import FileMaterial, MeshData

Array = np.ndarray


def read_obj(path: str) -> MeshData:
    """Raises FileFormatError naming file and line."""
    vertices: list[list[str]] = []
    texture: list[list[str]] = []
    faces: list[list[str]] = []
    slots: list[int] = []
    slot = 0
    names: list[str] = [""]
    library: dict[str, FileMaterial] = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words:
                continue
            word = words[0]
            if word == "v":
                vertices.append(words[1:4])
            elif word == "f":
                if len(words) < 4:
                    raise FileFormatError(path, number, "a face needs three corners")
                face = words[1:]
                if "-" in line:
                    face = [_counted_from_start(corner, len(vertices), len(texture)) for corner in face]
                faces.append(face)
                slots.append(slot)
            elif word == "vt":
                texture.append([*words[1:3], "0"][:2])
            elif word == "usemtl":
                name = line.split(None, 1)[1].strip() if len(words) > 1 else ""
                if name not in names:
                    names.append(name)
                slot = names.index(name)
            elif word == "mtllib" and len(words) > 1:
                library |= _read_mtl(os.path.join(os.path.dirname(path), line.split(None, 1)[1].strip()))
    points = _numbers(path, vertices, 3, "vertex")
    sizes = np.array([len(face) for face in faces], int)
    corners, uv_index = _corners(path, faces, len(points), len(texture))
    uv = None
    if len(texture) and (uv_index >= 0).all():
        uv = _numbers(path, texture, 2, "texture coordinate")[uv_index]
    materials = tuple(library.get(name, FileMaterial(name)) for name in names)
    return MeshData(points, corners, sizes, np.array(slots, int), uv, materials)


def _numbers(path: str, rows: list[list[str]], width: int, what: str) -> Array:
    try:
        array = np.array(rows, dtype=np.float64).reshape(-1, width)
    except ValueError:
        raise FileFormatError(path, None, f"has a {what} that is not {width} numbers") from None
    if not np.isfinite(array).all():
        raise FileFormatError(path, None, f"has a {what} that is not finite")
    return array


def _counted_from_start(corner: str, n_vertices: int, n_texture: int) -> str:
    """A corner whose negative indices, which count back from the latest vertex, count from 1."""
    parts = corner.split("/")
    for i, count in enumerate((n_vertices, n_texture)[: len(parts)]):
        if parts[i].startswith("-") and parts[i][1:].isdigit():
            parts[i] = str(int(parts[i]) + count + 1)
    return "/".join(parts)


def _corners(path: str, faces: list[list[str]], n_vertices: int, n_texture: int) -> tuple[Array, Array]:
    """Vertex and texture index of every corner; -1 where there is no texture coordinate."""
    flat = [corner for face in faces for corner in face]
    try:
        parts = [corner.split("/") for corner in flat]
        vertex = np.array([int(part[0]) for part in parts], int)
        texture = np.array([int(part[1]) if len(part) > 1 and part[1] else 0 for part in parts], int)
    except ValueError:
        raise FileFormatError(path, None, "has a face whose corners are not numbers") from None
    vertex, texture = vertex - 1, texture - 1
    if len(vertex) and (vertex.min() < 0 or vertex.max() >= n_vertices):
        raise FileFormatError(path, None, "has a face with a corner that is not there")
    texture[texture >= n_texture] = -1
    return vertex, texture


def _read_mtl(path: str) -> dict[str, FileMaterial]:
    """Diffuse colours and textures; nothing when the library is missing, as in every OBJ reader."""
    found: dict[str, FileMaterial] = {}
    if not os.path.isfile(path):
        return found
    name, rgb, alpha, image = "", None, 1.0, None

    def keep() -> None:
        if name:
            found[name] = FileMaterial(name, None if rgb is None else (*rgb, alpha), image)

    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if len(words) < 2:
                continue
            if words[0] == "newmtl":
                keep()
                name, rgb, alpha, image = line.split(None, 1)[1].strip(), None, 1.0, None
            elif words[0] == "map_Kd":
                candidate = os.path.join(os.path.dirname(path), words[-1].replace("\\", "/"))
                image = candidate if os.path.isfile(candidate) else None
            else:
                try:
                    if words[0] == "Kd":
                        rgb = (float(words[1]), float(words[2]), float(words[3]))
                    elif words[0] == "d":
                        alpha = float(words[-1])
                except (ValueError, IndexError):
                    continue  # a colour that cannot be read leaves the default one
    keep()
    return found
