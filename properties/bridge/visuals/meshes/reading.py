"""The reader of each mesh format, by the ending of the file's name."""

from __future__ import annotations

import os

import numpy as np

from .....robokin import FileFormatError
from .bounds import checked
from .collada import read_collada
from .gltf import read_gltf
from .mesh_data import MeshData
from .obj import read_obj
from .ply import read_ply
from .stl import read_stl

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


def read_mesh(path: str, y_up: bool = False) -> MeshData:
    """The polygons of a mesh file. y_up: a glTF file is turned from Y up to Z up.

    Raises FileFormatError naming the file; time and memory are bounded.
    """
    try:
        with np.errstate(all="ignore"):  # what is not finite is found by the check, not said by NumPy
            read = FORMATS[_ending(path)]
            return checked(path, read_gltf(path, y_up) if read is read_gltf else read(path))
    except (ValueError, MemoryError) as fault:
        problem = str(fault) or "takes more memory than there is"
        raise FileFormatError(path, None, " ".join(problem.split())[:300]) from None


def _ending(filename: str) -> str:
    return os.path.splitext(filename)[1].lower()
