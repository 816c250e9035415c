"""URDF's <origin>: a translation and fixed-axis roll, pitch, yaw."""

from __future__ import annotations

import numpy as np

from ..spatial import so3
from .xml import Element

ZERO = (0.0, 0.0, 0.0)


def read_placement(origin: Element | None) -> np.ndarray:
    """(4, 4) placement of an <origin> [m, rad]; identity without one."""
    T = np.eye(4)
    if origin is not None:
        T[:3, :3] = so3.from_rpy(origin.numbers("rpy", 3, ZERO))
        T[:3, 3] = origin.numbers("xyz", 3, ZERO)
    return T
