"""The poses that meet tasks as well as a first one does, along which a cost may be made small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .posing import Point, Posing

Array = np.ndarray

CORRECTIONS = 8  # steps back to the tasks: Newton's, which need two or three
MET = 1e-20  # error of a level that is as good as 0: 1e-10 L
WORSE = 1e-9  # relative: the error of a level that cannot be met may grow by that in all


class TaskSurface:
    """start: the first pose, with the levels that are met to their tolerance met as exactly as they can be."""

    def __init__(self, posing: Posing, start: Point) -> None:
        self.posing = posing
        self.start = self._met_exactly(start)
        errors = self.start.errors
        self._allowed = np.where(self.start.met, np.maximum(errors, MET), errors * (1.0 + WORSE))

    def slack(self, multipliers: Sequence[Array]) -> float:
        """By how much a pose may cost less only because it is as far from its tasks as it may be. multipliers: of the
        rows of each level."""
        off = np.sqrt(2.0 * self._allowed * np.where(self.start.met, 1.0, WORSE))
        return 2.0 * float(sum(away * np.linalg.norm(own) for away, own in zip(off, multipliers, strict=True)))

    def nearest(self, q: Array, before: Point) -> Point | None:
        """q (nq,) brought back to the tasks, as well met as they were at `before`; None when that fails."""
        point = self.posing.point(q)
        for _ in range(CORRECTIONS):
            if self._is_as_good(point, before):
                return point
            x, _ = self.posing.step(point)
            after = self.posing.point(self.posing.moved(point.q, x))
            if not (after.errors < point.errors).any():
                break
            point = after
        return point if self._is_as_good(point, before) else None

    def _met_exactly(self, start: Point) -> Point:
        """None worse than at the start."""
        best = point = start
        for _ in range(CORRECTIONS):
            if (best.errors[start.met] <= MET).all():
                break
            x, _ = self.posing.step(point)
            point = self.posing.point(self.posing.moved(point.q, x))
            if (point.met >= start.met).all() and _is_lower(point.errors, best.errors):
                best = point
        return best

    def _is_as_good(self, point: Point, before: Point) -> bool:
        return bool((point.met >= before.met).all() and (point.errors <= self._allowed).all())


def _is_lower(errors: Array, others: Array) -> bool:
    """The first level that differs decides."""
    differ = np.flatnonzero(abs(errors - others) > WORSE * others)
    return bool(len(differ) and errors[differ[0]] < others[differ[0]])
