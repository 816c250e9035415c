"""Poses on curves with corners.

The poses that meet a task on a polyline are smooth along each straight piece of it, and end where that ends: most
optima are at a corner or an end. So a look at a pose sees the piece that it is on as a straight line, the ends as
inequalities, and steps are brought back to the piece; a step over a corner is tried first. Twin of the pieces in
kernel/src/optimum/optimum_pose.c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ..qp.level import Level
from ..tasks.base import states_rows_of
from ..tasks.protocols import PiecewiseTask
from ..velocity.task_levels import TaskLevels
from .pose_point import PosePoint

BEYOND = 1.0  # L, by which straight lines are longer than the pieces that they are of
INSIDE, SMALLEST = 1e-8, 0.25  # L, and of a piece: so far from its ends poses stay, where rows are of this piece alone


class CurvePieces:
    """Says at which targets poses are: whole curves, pieces of them, or the straight lines that those are of.
    groups: the tasks of each level.   share: the influence of a task.   point: makes a pose."""

    def __init__(
        self,
        levels: TaskLevels,
        targets: Sequence[Any],
        groups: Sequence[Array],
        share: Callable[[int], float],
        point: Callable[[Array], PosePoint],
    ) -> None:
        self.targets = self._whole = targets
        self._pieces, self._straight = list(targets), list(targets)
        self._groups, self._share, self._point, self._length = groups, share, point, levels.length
        self._beyond, self._inside = BEYOND * levels.length, INSIDE * levels.length
        self._every = levels.tasks

    @cached_property
    def _tasks(self) -> dict[int, PiecewiseTask]:
        return {
            i: task
            for i, task in enumerate(self._every)
            if isinstance(task, PiecewiseTask) and states_rows_of(type(task), "piece")
        }

    def __len__(self) -> int:
        """How many tasks are on curves."""
        return len(self._tasks)

    def levels(self, point: PosePoint) -> list[Level]:
        """One row for each such task: what leaves the piece that the pose is on. All is allowed where its level is not
        met."""
        groups = zip(self._groups, point.met, strict=True)
        return [self._level(point, i, met) for group, met in groups for i in group.tolist() if i in self._tasks]

    def _level(self, point: PosePoint, i: int, met: bool) -> Level:
        state, target = point.state, self.targets[i]
        beyond = self._beyond if target is not self._whole[i] else 0.0
        piece = self._tasks[i].piece(state, target) if met and self._share(i) else None
        if piece is None:
            return Level(np.zeros((1, state.model.nv)), np.array([-np.inf]), np.array([np.inf]))
        ends = beyond + min(self._inside, SMALLEST * (piece.before + piece.after - 2.0 * beyond))
        sides = np.array([min(ends - piece.before, 0.0), max(piece.after - ends, 0.0)]) / self._length
        return Level((piece.J * state.scale / self._length)[None], sides[:1], sides[1:])

    def take(self, point: PosePoint) -> PosePoint:
        """The pose at the straight lines that it is on: at those that are kept to, else, as at first, at its own; from
        now on all are."""
        is_anew = self.targets is self._whole
        if is_anew:
            self._pieces, self._straight = list(self._whole), list(self._whole)
        numbers = [i for group in self._groups for i in group.tolist() if i in self._tasks]
        taken = bool(numbers) and is_anew
        for i, level in zip(numbers, self.levels(point), strict=True):
            if self._straight[i] is self._whole[i] and np.isfinite(level.lower).all():
                self._pieces[i] = self._tasks[i].piece_target(point.state, self._whole[i], -self._inside)
                self._straight[i] = self._tasks[i].piece_target(point.state, self._whole[i], self._beyond)
                taken = True
        if not taken:
            return point
        self.keep()
        return self._point(point.q)

    def leave(self) -> None:
        """From now on poses are at whole curves."""
        self.targets = self._whole

    def keep(self) -> None:
        """From now on they are at the straight lines that were taken last."""
        self.targets = self._straight

    def brought_back(self, back: Callable[[], PosePoint | None]) -> PosePoint | None:
        """What `back` returns, which brings a pose back to the tasks; at straight lines to their pieces."""
        if not self._tasks or self.targets is self._whole:
            return back()
        self.targets = self._pieces
        found = back()
        self.keep()
        return None if found is None else self._point(found.q)
