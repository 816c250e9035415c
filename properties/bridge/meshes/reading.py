"""The reader of each mesh format, by the ending of the file's name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ....robokin import FileFormatError
from .blender_readers import read_gltf, read_ply
from .collada import read_collada
from .mesh_data import MeshData
from .obj import read_obj
from .stl import read_stl

if TYPE_CHECKING:
    import bpy

FORMATS = {
    ".stl": read_stl,
    ".obj": read_obj,
    ".dae": read_collada,
    ".ply": read_ply,
    ".gltf": read_gltf,
    ".glb": read_gltf,
}


def is_supported(filename: str) -> bool:
    return _ending(filename) in FORMATS


def read_mesh(path: str) -> MeshData | bpy.types.Mesh:
    """The polygons of a mesh file. Raises FileFormatError naming the file."""
    try:
        return FORMATS[_ending(path)](path)
    except OSError as fault:
        raise FileFormatError(path, None, f"cannot be read: {fault.strerror or fault}") from None


def _ending(filename: str) -> str:
    return os.path.splitext(filename)[1].lower()
