"""A tracker that follows frames by others, which stand where it does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ....robokin.arrays import Array
from ....robokin.backend import get_backend
from ..level_engines import state_at
from ..memory import MotionMemory
from ..result import TrackResult
from ..tracker import Tracker

SAME = 1e-14  # [rad, m] of a step


class LeadingTracker(Tracker):
    """Others have the same model, and other tasks."""

    def _led(
        self, tracker: Tracker, aims: Sequence[Any], shares: Array | None, down_to: float, around: Array | None
    ) -> TrackResult:
        """A frame of another tracker from where this one stands."""
        self._lead(tracker)
        return self._follow_with(tracker, [aims], shares, down_to, around)

    def _follow_with(
        self,
        tracker: Tracker,
        frames: Sequence[Sequence[Any]],
        shares: Array | None = None,
        down_to: float = math.inf,
        near: Array | None = None,
    ) -> TrackResult:
        if shares is not None or tracker._is_aside(down_to).any():
            tracker.let_fade()
        checked = tracker.check_targets(frames) if tracker.is_plain else frames
        return tracker.run(checked, None if shares is None else [shares], down_to, near)

    def _lead(self, tracker: Tracker) -> None:
        """Another tracker is to stand where this one does."""
        nq, nv, q, step = self.model.nq, self.model.nv, self.q, self._state[-2 - self.model.nv : -2]
        if (q != tracker.q).any() or abs(step - tracker._state[-2 - nv : -2]).max(initial=0.0) > SAME:
            without = {  # of as many levels as that tracker has
                task: state_at(state[:nq], tracker._count, state[-2 - nv : -2], 0.0)
                for task, state in self.memory.without.items()
            }
            go_on(tracker, q, step, replace(self.memory, without=without))

    def _step(self, q: Array, there: Array) -> Array:
        return get_backend(self.backend).difference(self.model.tree, q, there)


def go_on(tracker: Tracker, q: Array, step: Array, memory: MotionMemory) -> None:
    """A tracker goes on from where a frame of another one ended: q (nq,), after a step (nv,)."""
    tracker.go_back((state_at(q, tracker._count, step, 0.0), q, None, memory))
