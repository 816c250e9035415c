"""Descents of one frame of a motion, inside its bounds or inside the position limits alone, in NumPy. Twin of
kernel/src/track/track_descent.c.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...robokin.arrays import Array
from .descent import Descent, Iterate, LevelRows

PATIENCE, PROGRESS = 3, 0.5  # steps after which the error must have shrunk to this fraction
FINE = 1e-18  # error to which frames with criteria are met: 1e-9 radians or L
EXACT = 1e-24  # and frames of which errors add up


class FrameDescent(Descent):
    """Damped steps; `within` brings each into the bounds of the frame."""

    best: Iterate
    rows: Any

    def __init__(self, rows: LevelRows, within: Callable[[Array], Array] = lambda q: q) -> None:
        super().__init__(rows)
        self.within = within

    @property
    def enough(self) -> float:
        """The error that is met."""
        if self.rows.adds_up:
            return EXACT
        return math.inf if self.rows.preference is None else FINE

    def residual(self, at: Iterate) -> float:
        """The error that is to become less."""
        return float(at.errors[: self.on].sum()) if self.rows.adds_up else self.error(at)

    def step(self, at: Iterate, damping: float | None = None, as_one: bool = False) -> Array:
        return self.within(super().step(at, damping, as_one))

    def look(self, q: Array) -> Iterate:
        return self.rows.measure(q)

    def run(self, start: Array, on: int, steps: int, as_one: bool = False) -> bool:
        """True when the first `on` levels are met. One step at least, so that slow targets are followed smoothly and
        not in jerks of the size of the tolerance."""
        self.on = on
        self.best = at = self.look(self.within(start))
        history: list[float] = []
        for count in range(steps):
            history.append(self.residual(at))
            at = self.look(self.step(at, as_one=as_one))
            self.offer(at)
            if self.is_met(at) and at.errors[:on].sum() <= self.enough:
                return True  # what criteria ask for bends the path
            stalls = count + 1 >= PATIENCE and not self.residual(at) < PROGRESS * history[count + 1 - PATIENCE]
            # A path's level gains no more while the point is still led back to the path.
            if stalls and not (self.rows.are_velocities[on - 1 : on].any() and not at.met[: on - 1].all()):
                break
        return self.is_met(self.best)
