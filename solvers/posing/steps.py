"""Steps of a frame along and about axes, as a robot's teach pendant makes them."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.spatial import so3


def stepped_frame(T: Array, axis: int, by: float, turn: bool, own_axes: bool) -> Array:
    """(4, 4) the frame T (4, 4) after a step of `by` [m], or [rad] where it is to turn, along or about an axis (0, 1,
    2) of the root, or of its own. It turns about its origin."""
    result = T.copy()
    if turn:
        R = so3.exp(by * np.eye(3)[axis])
        result[:3, :3] = T[:3, :3] @ R if own_axes else R @ T[:3, :3]
    else:
        result[:3, 3] += by * (T[:3, axis] if own_axes else np.eye(3)[axis])
    return result
