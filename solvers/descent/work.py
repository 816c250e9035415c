"""How long the searches of one solve may take together: partial influences need several, which share it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import Array
from ..qp.level import Level

STEPS = 8000  # towards tasks, of all searches of a solve, where a step has 8 rows
STEP, ROWS = 0.5, 16  # of that, what it takes whatever the rows; and so many rows take as long as such a step
PRODUCTS = 240  # the same of products of rows, for one degree of freedom
POSE, ALWAYS = 0.5, 4.0  # steps that take as long as a pose on the way to an optimum; more, shared by all freedoms
SQUARES = 400  # of the number of rows at a pose, that take as long as the rest of it
LOOKED = 2  # times that of the rows which criteria look at, in addition
OTHERS = 0.05  # of all steps: a search takes as long before its first one
KEPT = 2  # one of so many poses that an optimum may take, at most, is left to it by the steps
PARTS = 3  # of what is left a search may take one, the last but one a half: most take less, and some much more


class Work:
    """Many searches take place one after another: what one does not need is left to those after it.

    alone: what searches for the first level alone came to, by its tasks and where they began: whether it is met, and a
    pose (nq,)."""

    def __init__(self, searches: int, poses: int, freedoms: int, more: float = 1.0) -> None:
        """poses: that one search for an optimum looks at, at most.   more: times the usual steps."""
        self._searches, self._poses = searches, poses
        self._pose = POSE + ALWAYS / max(freedoms, 1)
        steps = more * STEPS / (1.0 + OTHERS * (searches - 1))
        self._remaining = steps + self._pose * poses / KEPT
        self._share = steps / self._remaining
        self._kept = 0.0  # of the search that has begun, for its optimum
        self.steps = np.zeros(1)  # that it may take, by their costs (`step_costs`), and takes from it
        self.alone: dict[object, tuple[bool, Array]] = {}

    def begin(self) -> None:
        """The next search."""
        every = self._remaining + self._kept + float(self.steps[0])
        own = every / min(self._searches, PARTS)
        self._remaining, self._kept = every - own, (1.0 - self._share) * own
        self.steps[0] = self._share * own
        self._searches = max(self._searches - 1, 1)

    def poses(self, rows: int, looked: int) -> int:
        """How many it may look at for an optimum. rows: of all levels.   looked: of these, that criteria look at."""
        affordable = math.ceil((self._kept + self.steps[0]) / self._cost(rows, looked))
        return min(max(affordable, 1), self._poses)

    def take_poses(self, poses: int, rows: int, looked: int) -> None:
        self.steps[0] -= self._cost(rows, looked) * poses

    def _cost(self, rows: int, looked: int) -> float:
        return self._pose * (1.0 + (rows**2 + LOOKED * looked**2) / SQUARES)


def step_costs(levels: Sequence[Level], freedoms: int) -> Array:
    """(levels,) of a step when so many levels count, in those with 8 rows: the rows of each are made orthogonal."""
    freedom, products = freedoms, []
    for level in levels:
        rank = min(len(level.J), freedom)
        products.append(len(level.J) * rank**2)
        freedom -= rank
    rows = np.cumsum([len(level.J) for level in levels], dtype=float)
    return STEP + rows / ROWS + np.cumsum(products, dtype=float) / (PRODUCTS * max(freedoms, 1))
