"""Mesh files as collision shapes: their convex hulls, kept for as long as the files stay; their triangles."""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np

from ....robokin.arrays import Array
from ....robokin.collision import Hull
from ....robokin.errors import RobokinError
from ....robokin.model.geometry import Mesh
from .meshes.reading import is_supported, read_mesh


def mesh_hull(mesh: Mesh) -> Hull | None:
    """The convex hull of a mesh file; None for one that cannot be read."""
    if mesh.path is None or not is_supported(mesh.path):
        return None
    try:
        return _hull(mesh.path, tuple(mesh.scale), mesh.y_up, os.stat(mesh.path).st_mtime)
    except (OSError, RobokinError):
        return None


def mesh_triangles(mesh: Mesh) -> Array | None:
    """(n, 3, 3) [m] the triangles of a mesh file; None for one that cannot be read."""
    if mesh.path is None or not is_supported(mesh.path):
        return None
    try:
        data = read_mesh(mesh.path, mesh.y_up)
    except (OSError, RobokinError):
        return None
    # a polygon is a fan around its first corner
    first, at = np.repeat(data.starts, data.sizes), np.arange(len(data.corners))
    inner = (at > first) & (at + 1 < np.repeat(data.starts + data.sizes, data.sizes))
    triangles = data.corners[np.column_stack((first[inner], at[inner], at[inner] + 1))]
    is_mirrored = np.prod(mesh.scale) < 0.0
    return (data.vertices * np.array(mesh.scale))[triangles[:, ::-1] if is_mirrored else triangles]


@lru_cache(maxsize=256)
def _hull(path: str, scale: tuple[float, float, float], y_up: bool, changed: float) -> Hull:
    return Hull(read_mesh(path, y_up).vertices * np.array(scale))
