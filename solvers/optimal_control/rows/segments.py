"""Frames of a motion with the same tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ....robokin.arrays import Array
from ...kinematics.state import State
from ...velocity.task_levels import TaskLevels
from ..discretization import DiscreteMotion


@dataclass(frozen=True, eq=False)
class TaskSegment:
    """Frames first .. first + len(targets) with the same tasks. targets: per frame, checked and resolved.
    influence: (frames, tasks)."""

    first: int
    levels: TaskLevels
    targets: Sequence[Sequence[Any]]
    influence: Array

    @property
    def frames(self) -> slice:
        return slice(self.first, self.first + len(self.targets))

    def part(self, begin: int, end: int) -> TaskSegment:
        """Its frames among begin .. end, counted from the first of these."""
        own = slice(max(begin - self.first, 0), max(end - self.first, 0))
        return TaskSegment(max(self.first - begin, 0), self.levels, self.targets[own], self.influence[own])

    def states(self, here: DiscreteMotion) -> Callable[[int], State]:
        """The robot at the k-th of the frames."""
        known: dict[int, State] = here.known.setdefault(self, {})

        def state(k: int) -> State:
            if k not in known:
                q = here.q[self.first + k]
                known[k] = self.levels.state(q, self.targets[k], here.grid.dt, influence=self.influence[k])
            return known[k]

        return state
