"""Ellipsoids of symmetric matrices."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array


def semi_axes(A: Array) -> Array:
    """(..., 3, 3) whose columns are the semi-axes of {A x : |x| <= 1}, longest last; A: (..., 3, n).

    With the linear rows of a Jacobian this is the ellipsoid of velocity manipulability, v' (J J')^-1 v <= 1 (Yoshikawa,
    "Manipulability of robotic mechanisms", 1985)."""
    squares, axes = np.linalg.eigh(A @ A.swapaxes(-1, -2))
    return axes * np.sqrt(np.maximum(squares, 0.0))[..., None, :]
