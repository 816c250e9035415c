"""When a robot that something holds up comes to rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ...tasks.native import same_target

TURNS = 6  # back, with which a robot may gain nothing
GAIN = 0.1  # of the squared error


class Rest:
    """Where targets and obstacles stand still, what leads a robot to its targets and what keeps it away from obstacles
    may lead it to and fro for ever. So it stops when it has turned back some times and come no nearer.

    scale: (nv,) in which steps are counted.
    """

    def __init__(self, scale: Array) -> None:
        self._scale = scale
        self.forget()

    def forget(self) -> None:
        self._targets: Sequence[Any] | None = None
        self._turns, self._least = 0, np.inf

    def is_due(self, targets: Sequence[Any]) -> bool:
        """Whether the next frame, with these targets, is one to stop in."""
        if self._targets is None or not all(map(same_target, self._targets, targets)):
            self._turns, self._least = 0, np.inf
        self._targets = targets
        return self._turns >= TURNS

    def note(self, last: Array, step: Array, residuals: Array) -> None:
        """A frame was followed. last, step: (nv,) the step before, and its own.   residuals: in tolerances."""
        error = float((residuals**2).sum())
        if error < self._least * (1.0 - GAIN):
            self._turns, self._least = 0, error
        self._turns += bool(last / self._scale @ (step / self._scale) < 0.0)
