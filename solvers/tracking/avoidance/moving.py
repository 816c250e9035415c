"""Obstacles that move: where they are half-way to a frame, and where they will be if they go on."""

from __future__ import annotations

import numpy as np

from ....robokin.arrays import Array
from ....robokin.spatial import se3

HALFWAY = -0.5  # frames from now
LATER = 4.0  # frames from now, in which an arm gets as fast as what comes


def passed(before: Array | None, now: Array | None, frames: float) -> Array | None:
    """(n, 4, 4) where obstacles are so many frames after `now`, which move on as since the frame before; None: they
    stand still, or that is not known. before, now: (n, 4, 4)."""
    if before is None or now is None or before is now or np.array_equal(before, now):
        return None
    return now @ se3.exp(frames * se3.log(se3.inverse(before) @ now))
