"""Segments: frames in a row with the same tasks, followed one after another."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

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

    def start(self, q0: Array | None, start_velocity: object | None, seed: int, origin: Array | None) -> TrackResult:
        """The first frame, solved as a pose."""
        influence = None if self.influence is None else self.influence[0]
        return self.tracker.start(self.targets[0], q0, start_velocity, seed, influence, origin)

    def run(self, first: int, last: int, backwards: bool = False) -> TrackResult:
        """The frames from `first` to before `last`."""
        order = slice(None, None, -1 if backwards else 1)
        influence = None if self.influence is None else self.influence[first:last][order]
        return self.tracker.run(self.targets[first:last][order], influence)

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
) -> Generator[list[TrackResult], None, list[TrackResult]]:
    """Follow the segments, the first frame solved from `q0` (nq,). Yields the results so far now and then, returns
    them, in order: those until more than `spare` frames are missed. origin: (nq,) where tasks begin that are counted
    from the start; q0 unless given. Errors: see `track`."""
    results: list[TrackResult] = []
    missed = 0
    for number, segment in enumerate(segments):
        first = 0
        if number == 0:
            results.append(segment.start(q0, start_velocity, seed, origin))
            first = 1
        else:
            before = segments[number - 1].tracker
            segment.stand(before.q, before.v, before)
        for start in range(first, len(segment), segment.tracker.chunk):
            yield results
            part = segment.run(start, start + segment.tracker.chunk)
            results.append(part)
            missed += int(part.missed.sum())
            if missed > spare:
                return results
    return results
