"""Motions to test with."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import RobotModel, difference, integrate, random_configuration


def wandering(model: RobotModel, frames: int, seed: int = 0, step: float = 0.1) -> np.ndarray:
    """(frames, nq) a walk inside the limits."""
    rng = np.random.default_rng(seed)
    path = [random_configuration(model, rng)]
    for _ in range(frames - 1):
        toward = difference(model, path[-1], random_configuration(model, rng))
        path.append(integrate(model, path[-1], step * toward))
    return np.array(path)
