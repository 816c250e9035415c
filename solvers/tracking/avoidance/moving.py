"""Obstacles that move: where they are half-way to a frame, and where they will be some frames later."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ....robokin.arrays import Array
from ....robokin.spatial import se3

HALFWAY = -0.5  # frames from now
HORIZON = 1.0 / 6.0  # [s] from now, in which an arm gets as fast as what comes


def coming(
    before: Array | None, places: Sequence[Array | None], upcoming: Sequence[Array | None] | None, horizon: int
) -> list[Array | None]:
    """Where obstacles are `horizon` frames after each of some frames, (n, 4, 4), as they come there; None: where they
    are now. before: in the frame before them.   upcoming: in those after; where None, they go on as they do."""
    if upcoming is None:
        return [passed(own, now, horizon) for own, now in pairwise([before, *places])]
    known = [*places, *upcoming]
    later = [known[min(i + horizon, len(known) - 1)] for i in range(len(places))]
    pairs = zip(later, places, strict=True)
    return [None if then is None or now is None or np.array_equal(then, now) else then for then, now in pairs]


def passed(before: Array | None, now: Array | None, frames: float) -> Array | None:
    """(n, 4, 4) where obstacles are so many frames after `now`, which move on as since the frame before; None: they
    stand still, or that is not known. before, now: (n, 4, 4)."""
    if before is None or now is None or before is now or np.array_equal(before, now):
        return None
    return now @ se3.exp(frames * se3.log(se3.inverse(before) @ now))
