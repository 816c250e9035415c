"""Mesh files of links. All readers are ours, and bounded: Blender's own trust what a file says of itself."""

from .bounds import LARGEST, MAX_ROBOT_CORNERS
from .mesh_data import FileMaterial, MeshData
from .reading import FORMATS, is_supported, read_mesh
from .stl import stl_bytes

__all__ = [
    "FORMATS",
    "LARGEST",
    "MAX_ROBOT_CORNERS",
    "FileMaterial",
    "MeshData",
    "is_supported",
    "read_mesh",
    "stl_bytes",
]
