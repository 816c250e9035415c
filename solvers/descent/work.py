"""How long the searches of one solve may take together: partial influences need several, which share it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import Array
from ..qp.level import Level

STEPS = 8000  # towards tasks, of all searches of a solve, where a step has few rows
OPTIMA = 3  # as many poses on the way to optima as so many of these may look at
PRODUCTS = 240  # that take as long as what a step does for one degree of freedom, whatever the rows
PARTS = 3  # of what is left a search may take one, the last but one a half: most take less, and some much more


class Work:
    """Many searches take place one after another: what one does not need is left to those after it."""

    def __init__(self, searches: int, poses: int, more: float = 1.0) -> None:
        """poses: that one search for an optimum looks at, at most.   more: times the usual steps."""
        self._searches, self._poses = searches, poses
        self._remaining = np.array([more * STEPS, OPTIMA * poses])
        self._own = np.zeros(2)  # of the search that has begun

    def begin(self) -> None:
        """The next search."""
        self._remaining += self._own
        self._own[:] = self._remaining / min(self._searches, PARTS)
        self._remaining -= self._own
        self._searches = max(self._searches - 1, 1)

    @property
    def steps(self) -> Array:
        """(1,) what the search that has begun may take, by the costs of its steps (`step_costs`), and takes from it."""
        return self._own[:1]

    @property
    def poses(self) -> int:
        """How many it may look at for an optimum."""
        return min(math.ceil(self._own[1]), self._poses)

    def take_poses(self, poses: int) -> None:
        self._own[1] -= poses


def step_costs(levels: Sequence[Level], freedoms: int) -> Array:
    """(levels,) of a step when so many levels count, in those with few rows: the rows of each are made orthogonal."""
    freedom, products = freedoms, []
    for level in levels:
        rank = min(len(level.J), freedom)
        products.append(len(level.J) * rank**2)
        freedom -= rank
    return 1.0 + np.cumsum(products, dtype=float) / (PRODUCTS * max(freedoms, 1))
