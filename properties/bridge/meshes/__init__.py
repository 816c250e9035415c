"""Mesh files of links. The readers of STL, OBJ and COLLADA are ours; PLY and glTF go through Blender's importers."""

from .mesh_data import FileMaterial, MeshData
from .reading import FORMATS, is_supported, read_mesh
from .stl import stl_bytes

__all__ = ["FORMATS", "FileMaterial", "MeshData", "is_supported", "read_mesh", "stl_bytes"]
