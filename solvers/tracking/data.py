"""Outcomes of tracking, as both backends have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import TaskError
from ..tasks import FrameTask
from ..tasks.checks import rigid

LATE = 5  # the targets can be met, but not that fast; continues the codes of ik_engine
COLLIDED = 7  # the targets are not met, as links would come too near to something (6: without tasks)


@dataclass(frozen=True, eq=False)
class TrackOutcome:
    """Arrays over n frames. codes: (n,) int32. q: (n, nq). residuals: (n, tasks, 2). iterations: (n,) int32.
    behind: (n, nv) int8, 1 for the columns that are not at the goal while late."""

    codes: Array
    q: Array
    residuals: Array
    iterations: Array
    behind: Array

    @classmethod
    def empty(cls, frames: int, tasks: int, nq: int, nv: int) -> TrackOutcome:
        return cls(
            np.zeros(frames, np.int32),
            np.zeros((frames, nq)),
            np.zeros((frames, tasks, 2)),
            np.zeros(frames, np.int32),
            np.zeros((frames, nv), np.int8),
        )

    def first(self, count: int) -> TrackOutcome:
        return TrackOutcome(*(each[:count] for each in self._arrays))

    @classmethod
    def joined(cls, parts: Sequence[TrackOutcome]) -> TrackOutcome:
        return cls(*map(np.concatenate, zip(*(each._arrays for each in parts), strict=True)))

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return self.codes, self.q, self.residuals, self.iterations, self.behind


def sets_of(targets: object, tasks: int) -> list[list[Any]]:
    """The targets of so many tasks, frame by frame. Raises TaskError."""
    try:
        frames = [list(frame) for frame in targets]  # type: ignore[attr-defined]
    except TypeError:
        raise TaskError("targets must be one set of targets per frame") from None
    for number, frame in enumerate(frames):
        if len(frame) != tasks:
            raise TaskError(f"there are {tasks} tasks but {len(frame)} targets in frame {number}")
    return frames


def refuse_targets(tasks: Sequence[FrameTask], targets: Array, frame: int) -> None:
    """Raises TaskError for the first of targets (tasks, 4, 4) that is not a finite rigid pose."""
    for task, target in zip(tasks, targets, strict=True):
        rigid(target, f"{task.name}: target of frame {frame}")
