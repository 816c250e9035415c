"""When a robot that something holds up comes to rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ....robokin.collision.model import Near
from ...tasks.native import same_target

TURNS = 4  # back, with which a robot that is held up may gain nothing
GAIN = 0.1  # of the squared error
VISIBLE = 1e-4  # of a step


class Rest:
    """Where targets, influences and obstacles stand still, what leads a robot to its targets and what keeps it away
    from obstacles may lead it to and fro for ever. So it stops when it was held up and turned back some times, and came
    no nearer.

    why: what held it up last, since targets stand still.   scale: (nv,) in which steps are counted.
    """

    def __init__(self, scale: Array) -> None:
        self._scale = scale
        self.forget()

    def forget(self) -> None:
        self.why: Near | None = None
        self._before: tuple[Sequence[Any], Array] | None = None
        self._turns, self._least = 0, np.inf

    def is_due(self, targets: Sequence[Any], shares: Array) -> bool:
        """Whether the next frame, with these targets and influences, is one to stop in."""
        before = self._before
        if before is None or (before[1] != shares).any() or not all(map(same_target, before[0], targets)):
            self.forget()
        self._before = targets, shares
        return self._turns >= TURNS

    def note(self, last: Array, step: Array, residuals: Array, why: Near | None) -> None:
        """A frame was followed. last, step: (nv,) the step before, and its own.   residuals: in tolerances.   why: what
        was in the way."""
        self.why = why or self.why
        error = float((residuals**2).sum())
        if error < self._least * (1.0 - GAIN):
            self._turns, self._least = 0, error
        before, own = last / self._scale, step / self._scale
        is_visible = min(abs(before).max(initial=0.0), abs(own).max(initial=0.0)) > VISIBLE
        self._turns += bool(why is not None and is_visible and before @ own < 0.0)
