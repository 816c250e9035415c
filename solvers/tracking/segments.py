"""Segments: frames in a row with the same tasks, followed one after another."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ..tasks.protocols import VelocityTask, is_counted_from_start
from .result import TrackResult
from .tracker import Tracker


@dataclass(frozen=True, eq=False)
class Segment:
    """Frames in a row with the same tasks. targets: as the tracker's `check_targets` gives them.   influence: (frames,
    tasks) in place of the tasks' own."""

    tracker: Tracker
    targets: Any
    influence: Array | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def start(
        self, q0: Array | None, start_velocity: object | None, seed: int, origin: Array | None, down_to: float
    ) -> TrackResult:
        """The first frame, solved as a pose."""
        influence = None if self.influence is None else self.influence[0]
        return self.tracker.start(self.targets[0], q0, start_velocity, seed, influence, origin, down_to)

    def run(self, first: int, last: int, backwards: bool = False, down_to: float = math.inf) -> TrackResult:
        """The frames from `first` to before `last`. down_to: tasks of priorities after this one stand aside."""
        order = slice(None, None, -1 if backwards else 1)
        influence = None if self.influence is None else self.influence[first:last][order]
        return self.tracker.run(self.targets[first:last][order], influence, down_to)

    def stand(self, q: Array, velocity: Array | None, before: Tracker | None = None) -> None:
        """Stand there; with what a tracker `before` remembers of the same tasks."""
        self.tracker.stand(q, velocity, None if before is None else before.memory)

    def pose_problem(self, frame: int) -> tuple[Any, Any]:
        """The problem of a frame as a pose, and its targets."""
        return self.tracker.pose_problem(self.targets[frame], None if self.influence is None else self.influence[frame])

    @property
    def is_plain(self) -> bool:
        """Whether its tasks are plain, and whole."""
        return self.tracker.is_plain and self.influence is None

    @property
    def turns_back(self) -> bool:
        """Whether its frames followed backwards lead to where they come from."""
        return not any(isinstance(task, VelocityTask) or is_counted_from_start(task) for task in self.tracker.tasks)


def follow(
    segments: Sequence[Segment],
    q0: Array | None,
    start_velocity: object | None = None,
    seed: int = 0,
    spare: float = math.inf,
    origin: Array | None = None,
    down_to: Array | None = None,
) -> Generator[list[TrackResult], None, list[TrackResult]]:
    """Follow the segments, the first frame solved from `q0` (nq,). Yields the results so far now and then, returns
    them, in order: those until more than `spare` frames are missed. origin: (nq,) where tasks begin that are counted
    from the start; q0 unless given. down_to: (frames,) of each the last priority that is followed, those after it stand
    aside; None: all are. Errors: see `track`."""
    results: list[TrackResult] = []
    done = missed = 0
    lasts = np.full(sum(map(len, segments)), math.inf) if down_to is None else down_to
    changes = np.flatnonzero(lasts[1:] != lasts[:-1]) + 1
    for number, segment in enumerate(segments):
        first = 0
        if number == 0:
            results.append(segment.start(q0, start_velocity, seed, origin, lasts[0]))
            first = 1
        else:
            before = segments[number - 1].tracker
            segment.stand(before.q, before.v, before)
        chunks = range(first, len(segment), segment.tracker.chunk)
        starts = sorted({*chunks, *(changes - done)[(changes > done + first) & (changes < done + len(segment))].tolist()})
        for start, end in pairwise([*starts, len(segment)]):
            yield results
            part = segment.run(start, end, down_to=lasts[done + start])
            results.append(part)
            missed += int(part.missed.sum())
            if missed > spare:
                return results
        done += len(segment)
    return results
