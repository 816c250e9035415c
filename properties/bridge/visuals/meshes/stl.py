"""STL files: read binary and ASCII, written binary. STL has no unit and no up axis: its numbers are taken as they
are."""

from __future__ import annotations

import re

import numpy as np

from .....robokin import FileFormatError
from .bounds import LARGEST, MAX_CORNERS, Cost, numbers, read_bytes
from .mesh_data import MeshData, welded

_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER = 84
_VERTEX = re.compile(rb"vertex\s+(\S{1,40})\s+(\S{1,40})\s+(\S{1,40})", re.IGNORECASE)


def read_stl(path: str) -> MeshData:
    """Raises FileFormatError naming the file, ValueError."""
    data = read_bytes(path)
    # Some binary files begin with "solid"; only their size shows it.
    count = int.from_bytes(data[80:_HEADER], "little") if len(data) >= _HEADER else -1
    if count >= 0 and len(data) >= _HEADER + count * _FACET.itemsize and not _is_ascii(data, count):
        Cost(path).add_corners(3 * count)
        points = np.frombuffer(data, _FACET, count, _HEADER)["corners"].reshape(-1, 3)
    elif data[:1024].lstrip()[:5].lower() == b"solid":
        points = _ascii_points(path, data)
    else:
        raise FileFormatError(path, None, "not an STL file, or cut off")
    if not (np.abs(points) <= LARGEST).all():
        raise FileFormatError(path, None, f"has coordinates that are not finite numbers up to {LARGEST:g}")
    vertices, corners = welded(points)
    faces = corners.reshape(-1, 3)
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    return MeshData(vertices, faces.ravel(), np.full(len(faces), 3))


def _is_ascii(data: bytes, count: int) -> bool:
    exact = len(data) == _HEADER + count * _FACET.itemsize
    return not exact and data[:1024].lstrip()[:5].lower() == b"solid" and b"facet" in data[:1024].lower()


def _ascii_points(path: str, data: bytes) -> np.ndarray:
    words: list[bytes] = []
    for match in _VERTEX.finditer(data):
        words.append(b" ".join(match.groups()))
        if len(words) > MAX_CORNERS:
            Cost(path).add_corners(len(words))
    points = numbers(b" ".join(words))
    if len(points) != 3 * len(words) or len(words) % 3:
        raise FileFormatError(path, None, "not a complete ASCII STL file")
    return points.reshape(-1, 3)


def stl_bytes(triangles: np.ndarray) -> bytes:
    """A binary STL file. triangles: (n, 3, 3) corners, counter-clockwise seen from outside."""
    corners = np.asarray(triangles, np.float32)
    exact = corners.astype(np.float64)  # squares of long edges are beyond single precision
    normals = np.cross(exact[:, 1] - exact[:, 0], exact[:, 2] - exact[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    facets = np.zeros(len(corners), _FACET)
    facets["normal"], facets["corners"] = normals / np.where(lengths > 0.0, lengths, 1.0), corners
    return b"binary STL".ljust(_HEADER - 4, b" ") + len(corners).to_bytes(4, "little") + facets.tobytes()
