"""Rolling without slip, as rows of a differential step."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.rolling import RollingBase
from ..qp.level import Level


def rolling_level(base: RollingBase, angle: float, scale: Array) -> Level:
    """Displacements (nv,), counted in `scale`, with which the wheels roll and do not slip; angle: [rad] of the base."""
    J = np.zeros((3, len(scale)))
    J[:, base.columns] = base.rows(angle)
    J *= scale
    return Level(J / np.linalg.norm(J, axis=1, keepdims=True), np.zeros(3), np.zeros(3))
