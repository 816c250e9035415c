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
class Aside:
    """Which tasks stand aside. down_to: (frames,) the last priority that is followed; later ones report their
    residuals.   near: (frames, nq) what the robot stays near to meanwhile, NaN where it need not."""

    down_to: Array
    near: Array

    @classmethod
    def none(cls, frames: int, nq: int) -> Aside:
        return cls(np.full(frames, math.inf), np.full((frames, nq), np.nan))

    @property
    def changes(self) -> Array:
        """Frames that are not as the one before."""
        is_near, last = np.isnan(self.near[:, 0]), self.down_to
        return np.flatnonzero((is_near[1:] != is_near[:-1]) | (last[1:] != last[:-1])) + 1

    def of(self, first: int, end: int) -> Aside:
        return Aside(self.down_to[first:end], self.near[first:end])

    def also(self, first: int, end: int, last: float, near: Array | None = None) -> Aside:
        """And from frame `first` to before `end` what comes after a priority."""
        changed = Aside(self.down_to.copy(), self.near.copy())
        changed.down_to[first:end] = np.minimum(changed.down_to[first:end], last)
        changed.near[first:end] = np.nan if near is None else near[first:end]
        return changed


@dataclass(frozen=True, eq=False)
class Segment:
    """Frames in a row with the same tasks. targets: as the tracker's `check_targets` gives them.   influence: (frames,
    tasks) in place of the tasks' own.   without: (nq,) where the robot starts without the tasks that fade, see
    `IKProblem.solve`."""

    tracker: Tracker
    targets: Any
    influence: Array | None = None
    without: Array | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def start(
        self,
        q0: Array | None,
        start_velocity: object | None,
        seed: int,
        origin: Array | None,
        down_to: float = math.inf,
    ) -> TrackResult:
        """The first frame, solved as a pose."""
        influence = None if self.influence is None else self.influence[0]
        return self.tracker.start(self.targets[0], q0, start_velocity, seed, influence, origin, down_to, self.without)

    def run(self, first: int, last: int, backwards: bool = False, aside: Aside | None = None) -> TrackResult:
        """The frames from `first` to before `last`. aside: of these frames, alike in all."""
        order, horizon = slice(None, None, -1 if backwards else 1), self.tracker.horizon
        upcoming = self.targets[max(first - horizon, 0) : first] if backwards else self.targets[last : last + horizon]
        influence = None if self.influence is None else self.influence[first:last][order]
        if aside is None:
            return self.tracker.run(self.targets[first:last][order], influence, upcoming=upcoming[order])
        near = None if np.isnan(aside.near).any() else aside.near
        return self.tracker.run(
            self.targets[first:last][order], influence, float(aside.down_to[0]), near, upcoming[order]
        )

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
    aside: Aside | None = None,
) -> Generator[list[TrackResult], None, list[TrackResult]]:
    """Follow the segments, the first frame solved from `q0` (nq,). Yields the results so far now and then, returns
    them, in order: those until more than `spare` frames are missed. origin: (nq,) where tasks begin that are counted
    from the start; q0 unless given. aside: what is not followed; None: all is.
    Errors: see `track`."""
    results: list[TrackResult] = []
    done = missed = 0
    changes = np.zeros(0, int) if aside is None else aside.changes
    for number, segment in enumerate(segments):
        first = 0
        if number == 0:
            results.append(
                segment.start(q0, start_velocity, seed, origin, math.inf if aside is None else aside.down_to[0])
            )
            first = 1
        else:
            before = segments[number - 1].tracker
            segment.stand(before.q, before.v, before)
        chunks = range(first, len(segment), segment.tracker.chunk)
        starts = sorted(
            {*chunks, *(changes - done)[(changes > done + first) & (changes < done + len(segment))].tolist()}
        )
        for start, end in pairwise([*starts, len(segment)]):
            yield results
            part = segment.run(start, end, aside=None if aside is None else aside.of(done + start, done + end))
            results.append(part)
            missed += int(part.missed.sum())
            if missed > spare:
                return results
        done += len(segment)
    return results
