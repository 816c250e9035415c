"""What a mesh file may hold and cost: every bound of the readers, and what is checked of every mesh that they made.

The bounds are above what robots have: their largest meshes are some hundred thousand triangles.
"""

from __future__ import annotations

import os
import stat
import warnings
from dataclasses import replace

import numpy as np

from .....robokin import FileFormatError
from .....robokin.arrays import Array
from .mesh_data import MeshData

MAX_BYTES = 128 << 20  # of a file
MAX_SIDE_BYTES = 4 << 20  # of a file of materials
MAX_SIDE_FILES = 16  # files that one mesh file names, each kind
MAX_LINE = 1 << 20  # bytes of a line
MAX_CORNERS = 6_000_000  # of all polygons: two million triangles
MAX_ROBOT_CORNERS = 30_000_000  # of all meshes of a robot
MAX_SIDES = 2048  # of one polygon: the time that Blender takes grows with its square
MAX_VISITS = 200_000  # parts of a scene, each as often as it is shown
MAX_DEPTH = 60  # nodes inside nodes
MAX_MATERIALS = 1024
MAX_ELEMENTS = 1_000_000  # of XML
LARGEST = 1e9  # of a coordinate: what Blender computes from it in single precision stays finite


def read_bytes(path: str, largest: int = MAX_BYTES) -> bytes:
    """The whole file. Raises FileFormatError when it is too large, or no file of bytes at all."""
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise FileFormatError(path, None, "not a regular file")
            data = file.read(largest + 1)
    except (OSError, ValueError) as fault:  # ValueError: a null byte in the path
        reason = getattr(fault, "strerror", None) or str(fault)
        raise FileFormatError(path, None, f"cannot be read: {reason}") from None
    if len(data) > largest:
        raise FileFormatError(path, None, f"the file is larger than {largest >> 20} MB")
    return data


class Cost:
    """Counts what one file makes, before it is made."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._corners = 0
        self._visits = 0

    def add_corners(self, count: int) -> None:
        """Raises FileFormatError when they are too many."""
        self._corners += max(count, 0)
        if self._corners > MAX_CORNERS:
            raise FileFormatError(self._path, None, f"its polygons have more than {MAX_CORNERS} corners")

    def add_visit(self, depth: int) -> None:
        """A part of a scene, so deep inside others. Raises FileFormatError."""
        self._visits += 1
        if self._visits > MAX_VISITS:
            raise FileFormatError(self._path, None, f"shows more than {MAX_VISITS} parts: nodes inside each other?")
        if depth > MAX_DEPTH:
            raise FileFormatError(self._path, None, f"its nodes are nested more than {MAX_DEPTH} deep, or in a circle")


def count_of(value: object, largest: int, least: int = 0) -> int:
    """A whole number that a file states, as a number or text. Raises ValueError."""
    shown = str(value)[:40]
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal() and len(value) <= 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= largest:
        raise ValueError(f"{shown!r} is not a whole number from {least} to {largest}")
    return value


def numbers(text: str | bytes) -> Array:
    """(n,) floats of a text with white space between them. Raises ValueError."""
    if not text or text.isspace():
        return np.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # NumPy's word for what it cannot read
        try:
            return np.fromstring(text, np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            raise ValueError("has something else where numbers should be") from None


def integers(text: str | bytes) -> Array:
    """(n,) whole numbers, as `numbers`. Raises ValueError."""
    return whole(numbers(text))


def whole(found: Array) -> Array:
    """The numbers as integers. Raises ValueError where they are none."""
    if not (np.abs(found) < 2**53).all() or (found != np.floor(found)).any():
        raise ValueError("has a number that is no index")
    return found.astype(np.int64)


def checked(path: str, mesh: MeshData) -> MeshData:
    """The mesh without what shows nothing, if Blender can be given it. Raises FileFormatError naming the file."""
    vertices, corners, sizes = mesh.vertices, mesh.corners, mesh.sizes
    slots = np.zeros(len(sizes), np.int64) if mesh.slots is None else mesh.slots
    if len(corners) != sizes.sum() or (sizes < 0).any() or len(slots) != len(sizes):
        raise FileFormatError(path, None, "its polygons do not fit its corners")
    if max(len(vertices), len(corners)) > MAX_CORNERS:
        raise FileFormatError(path, None, f"its polygons have more than {MAX_CORNERS} corners")
    if len(sizes) and sizes.max() > MAX_SIDES:
        raise FileFormatError(path, None, f"has a polygon with more than {MAX_SIDES} corners")
    if len(corners) and (corners.min() < 0 or corners.max() >= len(vertices)):
        raise FileFormatError(path, None, "has a polygon with a corner that is not there")
    if not (np.abs(vertices) <= LARGEST).all():
        raise FileFormatError(path, None, f"has coordinates that are not finite numbers up to {LARGEST:g}")
    if len(mesh.materials) > MAX_MATERIALS:
        raise FileFormatError(path, None, f"has more than {MAX_MATERIALS} materials")
    if len(slots) and (slots.min() < 0 or slots.max() >= max(len(mesh.materials), 1)):
        raise FileFormatError(path, None, "has a polygon of a material that is not there")
    uv = mesh.uv
    if uv is not None and not (np.abs(uv) <= LARGEST).all():
        uv = None  # a picture in the wrong place is no reason to lose the mesh
    if len(sizes) and sizes.min() < 3:  # points and lines
        kept = sizes >= 3
        within = np.repeat(kept, sizes)
        corners, uv = corners[within], None if uv is None else uv[within]
        sizes, slots = sizes[kept], slots[kept]
    if not len(sizes):
        raise FileFormatError(path, None, "has no polygons: there is nothing to show")
    return replace(mesh, vertices=vertices, corners=corners, sizes=sizes, slots=slots, uv=uv)
