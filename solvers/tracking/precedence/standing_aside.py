"""Strict priorities over a whole motion: lower levels stand aside where they would cost those above frames later.

A frame gives each level what it gets without those below it, from where the robot stands. But where it stands, levels
below have had a say in: before a target jumps they may have led joints to their ends, from where no step leads on. So a
motion of levels 1..n is compared with that of levels 1..k alone, for each k. Where it misses more frames, the levels
below k stand aside from some frames before on, 1, 2, 4 ... of them, at most all. At worst the last level stands aside
all the time: then those above miss what they miss alone.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ...descent.engine import OUT_OF_REACH
from ..result import TrackResult
from ..segments import Segment, follow
from ..starts import Followed, follow_from_best

SHARE, EXTRA = 0.15, 2  # of the frames missed alone, and frames: so many more may be missed with levels below
WORK = 24  # times the frames of the motion that the search may follow, for each level

Steps = Generator[list[TrackResult], None, list[TrackResult]]


def follow_in_order(
    segments: Sequence[Segment],
    q0: Array | None,
    start_velocity: object | None = None,
    seed: int = 0,
    origin: Array | None = None,
) -> Steps:
    """`follow`, and lower levels stand aside where that is needed. Yields the results so far, or the best ones."""
    results = yield from follow(segments, q0, start_velocity, seed, origin=origin)
    return (yield from in_order(segments, results, q0, start_velocity, seed, origin))


def follow_in_order_from_best(
    segments: Sequence[Segment], hint: Array, name: str, start_velocity: object | None = None, seed: int = 0
) -> Generator[list[TrackResult], None, Followed]:
    """`follow_from_best`, and lower levels stand aside where that is needed."""
    best = yield from follow_from_best(segments, hint, name, start_velocity, seed)
    results = yield from in_order(segments, best.results, best.q0, start_velocity, seed, hint)
    return Followed(results, best.origin, best.q0)


def in_order(
    segments: Sequence[Segment],
    results: list[TrackResult],
    q0: Array | None,
    start_velocity: object | None,
    seed: int,
    origin: Array | None,
) -> Steps:
    """The results of a motion that was followed from q0; another one's, where lower levels have to stand aside."""
    priorities = sorted({task.priority for segment in segments for task in segment.tracker.tasks} - {0})
    if len(priorities) < 2:
        return results
    search = _Search(segments, priorities, results, (q0, start_velocity, seed, math.inf, origin))
    motion = _Motion(np.full(search.frames, math.inf), results, search.missed(results))
    found = yield from search.mended(motion, len(priorities) - 1)
    return found.results


@dataclass(frozen=True, eq=False)
class _Motion:
    """down_to: (frames,) the last priority that is followed.   missed: (priorities, frames followed) bool, where a whole
    task up to a priority is."""

    down_to: Array
    results: list[TrackResult]
    missed: Array


class _Search:
    """The motions of the first levels alone, as they are needed. Levels are numbers of `priorities`, frames count from 0
    over all segments. shown: results for those who watch."""

    def __init__(
        self, segments: Sequence[Segment], priorities: Sequence[int], shown: list[TrackResult], start: tuple[Any, ...]
    ) -> None:
        self.segments, self.priorities, self.shown, self.start = segments, priorities, shown, start
        self.frames = sum(map(len, segments))
        self._kept: dict[int, _Motion] = {}

    def kept(self, level: int) -> Generator[list[TrackResult], None, _Motion]:
        """The motion of the levels down to this one alone, with those of them aside that cost others too much."""
        if level not in self._kept:
            own = yield from self._followed(np.full(self.frames, float(self.priorities[level])))
            self._kept[level] = yield from self.mended(own, level)
        return self._kept[level]

    def mended(self, motion: _Motion, level: int) -> Generator[list[TrackResult], None, _Motion]:
        """A motion of the levels down to this one on which those above it miss as few frames as they may."""
        frame = spent = 0
        while (upper := (yield from self._wronged(motion, level))) is not None:
            alone = self._kept[upper].missed[upper]
            more = frame + np.flatnonzero((motion.missed[upper] & ~alone)[frame:])
            if not len(more) or spent > WORK * self.frames:
                return (yield from self.kept(level - 1))
            first, end = _stretch(motion.missed[upper], int(more[0]))
            better, tries = yield from self._aside_before(motion, upper, first, end)
            spent += tries * end + self.frames
            if better is None:
                frame = end
            else:
                motion = better
        return motion

    def _wronged(self, motion: _Motion, level: int) -> Generator[list[TrackResult], None, int | None]:
        """The first level above that misses too many frames."""
        for upper in range(level):
            own = int(motion.missed[upper].sum())
            if own > EXTRA and own > _allowed(self._out_of_reach(motion.results, self.priorities[upper])):
                alone = yield from self.kept(upper)
                if own > _allowed(int(alone.missed[upper].sum())):
                    return upper
        return None

    def _out_of_reach(self, results: Sequence[TrackResult], last: int) -> int:
        """How many frames miss a task of these priorities whatever the motion is."""
        count = 0
        for result in results:
            asked = np.array([task.priority <= last for task in result.problem.tasks], bool)
            for frame in np.flatnonzero(result.codes == OUT_OF_REACH).tolist():
                whole = asked if result.influence is None else asked & (result.influence[frame] >= 1.0)
                count += bool(result.problem.search.excess(result.targets[frame], whole).any())
        return count

    def _aside_before(
        self, motion: _Motion, upper: int, first: int, end: int
    ) -> Generator[list[TrackResult], None, tuple[_Motion | None, int]]:
        """The motion with levels below `upper` aside from frames before `first` on, so that fewer of those up to `end`
        are missed; None where that does not help. And how often frames up to there were followed."""
        alone = self._kept[upper].missed[upper, :end]
        enough, best, tries, back = int(alone.sum()), motion, 0, 1
        while True:
            begin = max(first - back, 0)
            found = yield from self._followed(self._with_aside(motion, upper, begin, end), end)
            tries += 1
            if self._is_better(found, best, upper, end):
                best = found
            if begin == 0 or int(best.missed[upper, :end].sum()) <= enough:
                break
            back *= 2
        if best is motion:
            return None, tries
        # As soon as it would be there alone, those below may go on.
        arrived = first + 1 + int(np.flatnonzero(alone[first:])[-1:].sum())
        begin = int(np.flatnonzero(best.down_to != motion.down_to)[0])
        sooner = yield from self._followed(self._with_aside(motion, upper, begin, arrived), end)
        if not self._is_better(best, sooner, upper, end):
            best = sooner
        if best.missed.shape[1] < self.frames:
            best = yield from self._followed(best.down_to)
        return best, tries + 1

    def _with_aside(self, motion: _Motion, upper: int, begin: int, end: int) -> Array:
        down_to = motion.down_to.copy()
        down_to[begin:end] = np.minimum(down_to[begin:end], self.priorities[upper])
        return down_to

    def _is_better(self, found: _Motion, other: _Motion, upper: int, end: int) -> bool:
        """Whether, up to a frame, the first levels miss fewer, in the order of their priorities."""
        counts = [each.missed[: upper + 1, :end].sum(axis=1).tolist() for each in (found, other)]
        return counts[0] < counts[1]

    def _followed(self, down_to: Array, frames: int | None = None) -> Generator[list[TrackResult], None, _Motion]:
        """So many frames of a motion at least, all unless told."""
        results: list[TrackResult] = []
        for results in follow(self.segments, *self.start, down_to):  # noqa: B007
            if frames is not None and sum(map(len, results)) >= frames:
                break
            yield self.shown
        return _Motion(down_to, results, self.missed(results))

    def missed(self, results: Sequence[TrackResult]) -> Array:
        """(priorities, frames) bool, where a whole task up to a priority is missed."""
        found, pending = [], iter(results)
        for segment in self.segments:
            parts: list[Array] = []
            while sum(map(len, parts)) < len(segment) and (part := next(pending, None)) is not None:
                parts.append(part.residuals)
            if not parts:
                break
            tracker, residuals = segment.tracker, np.concatenate(parts)
            missed = tracker.missed(residuals, None if segment.influence is None else segment.influence[: len(residuals)])
            upper = [[task.priority <= last for task in tracker.tasks] for last in self.priorities]
            found.append([missed[:, np.array(which, bool)].any(axis=1) for which in upper])
        return np.concatenate(found, axis=1)


def _allowed(alone: int) -> float:
    """How many frames may be missed where so many are without levels below."""
    return (1.0 + SHARE) * alone + EXTRA


def _stretch(missed: Array, frame: int) -> tuple[int, int]:
    """The first of the frames around this one that are all missed, and the one after the last. missed: (frames,) bool."""
    before, after = np.flatnonzero(~missed[:frame]), np.flatnonzero(~missed[frame:])
    return (int(before[-1]) + 1 if len(before) else 0), (frame + int(after[0]) if len(after) else len(missed))
