"""Convex hulls of mesh files, kept for as long as the files stay."""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np

from ....robokin.collision import Hull
from ....robokin.errors import RobokinError
from ....robokin.model.geometry import Mesh
from .meshes.reading import is_supported, read_mesh


def mesh_hull(mesh: Mesh) -> Hull | None:
    """The convex hull of a mesh file; None for one that cannot be read."""
    if mesh.path is None or not is_supported(mesh.path):
        return None
    try:
        return _hull(mesh.path, tuple(mesh.scale), os.stat(mesh.path).st_mtime)
    except (OSError, RobokinError):
        return None


@lru_cache(maxsize=256)
def _hull(path: str, scale: tuple[float, float, float], changed: float) -> Hull:
    return Hull(read_mesh(path).vertices * np.array(scale))
