"""Strict priorities over a whole motion: lower levels stand aside where they would cost those above frames later.

A frame gives each level what it gets without those below it, from where the robot stands. But where it stands, levels
below have had a say in: before a target jumps they may have led joints to their ends, from where no step leads on. So a
motion of levels 1..n is compared with that of levels 1..k alone, for each k, level by level. Where it misses more
frames, the levels below k stand aside from some frames before on, 1, 2, 4 ... of them, at most all. At worst the last
level stands aside all the time: then those above miss what they miss alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ....robokin.arrays import Array
from ...descent.engine import OUT_OF_REACH
from ..avoidance.evading import evaded
from ..result import TrackResult
from ..segments import Aside, Segment, follow

# Of the frames missed alone, and frames: so many more may be missed with levels below. (Promised are 2: rounding may
# shift the frame in which a level is there.)
SHARE, EXTRA = 0.15, 1
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


def in_order(
    segments: Sequence[Segment],
    results: list[TrackResult],
    q0: Array | None,
    start_velocity: object | None,
    seed: int,
    origin: Array | None,
) -> Steps:
    """The results of a motion that was followed from q0; another one's, where lower levels have to stand aside, or what
    moves is evaded in time."""
    priorities = sorted({task.priority for segment in segments for task in segment.tracker.tasks} - {0})
    if not segments[0].tracker.model.nv:
        return results
    again = partial(follow, segments, q0, start_velocity, seed, origin=origin)
    aside = Aside.none(sum(map(len, segments)), segments[0].tracker.model.nq)
    if len(priorities) > 1:
        search = _Precedence(segments, priorities, results, again)
        motion = _Motion(aside, results, missed_frames(segments, priorities, results))
        found = yield from search.mended(motion, len(priorities) - 1)
        results, aside = found.results, found.aside
    return (yield from evaded(segments, results, aside, again, seed))


@dataclass(frozen=True, eq=False)
class _Motion:
    """missed: (priorities, frames followed) bool, where a whole task up to a priority is."""

    aside: Aside
    results: list[TrackResult]
    missed: Array


class _Precedence:
    """The motions of the first levels alone, as they are needed. Levels are numbers of `priorities`, frames count from
    0 over all segments. shown: results for those who watch.   again: follows the segments from their start."""

    def __init__(
        self,
        segments: Sequence[Segment],
        priorities: Sequence[int],
        shown: list[TrackResult],
        again: Callable[..., Steps],
    ) -> None:
        self.segments, self.priorities, self.shown, self.again = segments, priorities, shown, again
        self.frames = sum(map(len, segments))
        self.none = Aside.none(self.frames, segments[0].tracker.model.nq)
        self._kept: dict[int, _Motion] = {}

    def kept(self, level: int) -> Generator[list[TrackResult], None, _Motion]:
        """The motion of the levels down to this one alone, with those of them aside that cost others too much."""
        if level not in self._kept:
            own = yield from self._followed(self.none.also(0, self.frames, self.priorities[level]))
            self._kept[level] = yield from self.mended(own, level)
        return self._kept[level]

    def mended(self, motion: _Motion, level: int) -> Generator[list[TrackResult], None, _Motion]:
        """A motion of the levels down to this one on which those above it miss as few frames as they may."""
        frame = spent = 0
        while (wronged := (yield from self._wronged(motion, level))) is not None:
            upper, last = wronged
            alone = self._kept[last].missed[upper]
            more = frame + np.flatnonzero((motion.missed[upper] & ~alone)[frame:])
            if not len(more) or spent > WORK * self.frames:
                return (yield from self.kept(level - 1))
            first, end = _stretch(motion.missed[upper], int(more[0]))
            better, tries = yield from self._aside_before(motion, upper, last, first, end)
            spent += tries * end + self.frames
            if better is None:
                frame = end
            else:
                motion = better
        return motion

    def _wronged(self, motion: _Motion, level: int) -> Generator[list[TrackResult], None, tuple[int, int] | None]:
        """The first level above that misses too many frames, and the last of those with which it misses fewest."""
        for upper in range(level):
            own = int(motion.missed[upper].sum())
            if own > EXTRA and own > allowed(out_of_reach(motion.results, self.priorities[upper])):
                alone = []
                for last in range(upper, level):
                    alone.append((int((yield from self.kept(last)).missed[upper].sum()), last))
                if own > allowed(min(alone)[0]):
                    return upper, min(alone)[1]
        return None

    def _aside_before(
        self, motion: _Motion, upper: int, last: int, first: int, end: int
    ) -> Generator[list[TrackResult], None, tuple[_Motion | None, int]]:
        """The motion with levels below `last` aside from frames before `first` on, so that `upper` misses fewer of
        those up to `end`; None where that does not help. And how often frames up to there were followed."""
        kept, priority = self._kept[last], self.priorities[last]
        alone, near = kept.missed[upper, :end], np.concatenate([result.q for result in kept.results])
        enough, best, start, tries, back = allowed(int(alone.sum())), motion, first, 0, 1
        while True:
            begin = max(first - back, 0)
            found = yield from self._followed(motion.aside.also(begin, end, priority, near if begin else None), end)
            tries += 1
            if self._is_better(found, best, upper, end):
                best, start = found, begin
            if begin == 0 or int(best.missed[upper, :end].sum()) <= enough:
                break
            back *= 2
        if best is motion:
            return None, tries
        # As soon as it would be there alone, those below may go on.
        arrived = first + 1 + int(np.flatnonzero(alone[first:])[-1:].sum())
        sooner = yield from self._followed(motion.aside.also(start, arrived, priority, near if start else None), end)
        if not self._is_better(best, sooner, upper, end):
            best = sooner
        if best.missed.shape[1] < self.frames:
            best = yield from self._followed(best.aside)
        return best, tries + 1

    def _is_better(self, found: _Motion, other: _Motion, upper: int, end: int) -> bool:
        """Whether, up to a frame, the first levels miss fewer, in the order of their priorities."""
        counts = [each.missed[: upper + 1, :end].sum(axis=1).tolist() for each in (found, other)]
        return counts[0] < counts[1]

    def _followed(self, aside: Aside, frames: int | None = None) -> Generator[list[TrackResult], None, _Motion]:
        """So many frames of a motion at least, all unless given."""
        results: list[TrackResult] = []
        for results in self.again(aside=aside):
            if frames is not None and sum(map(len, results)) >= frames:
                break
            yield self.shown
        return _Motion(aside, results, missed_frames(self.segments, self.priorities, results))


def allowed(alone: int) -> float:
    """How many frames may be missed where so many are without levels below."""
    return (1.0 + SHARE) * alone + EXTRA


def _stretch(missed: Array, frame: int) -> tuple[int, int]:
    """The first of the frames around this one that are all missed, and the one after the last. missed: (frames,)."""
    before, after = np.flatnonzero(~missed[:frame]), np.flatnonzero(~missed[frame:])
    return (int(before[-1]) + 1 if len(before) else 0), (frame + int(after[0]) if len(after) else len(missed))


def out_of_reach(results: Sequence[TrackResult], last: int) -> int:
    """How many frames miss a task of these priorities whatever the motion is."""
    count = 0
    for result in results:
        upper = np.array([task.priority <= last for task in result.problem.tasks], bool)
        for frame in np.flatnonzero(result.codes == OUT_OF_REACH).tolist():
            whole = upper if result.influence is None else upper & (result.influence[frame] >= 1.0)
            count += bool(result.problem.search.excess(result.targets[frame], whole).any())
    return count


def missed_frames(segments: Sequence[Segment], priorities: Sequence[int], results: Sequence[TrackResult]) -> Array:
    """(priorities, frames) bool, where a whole task up to a priority is missed."""
    found, pending = [], iter(results)
    for segment in segments:
        parts: list[Array] = []
        while sum(map(len, parts)) < len(segment) and (part := next(pending, None)) is not None:
            parts.append(part.residuals)
        if not parts:
            break
        tracker, residuals = segment.tracker, np.concatenate(parts)
        missed = tracker.missed(residuals, None if segment.influence is None else segment.influence[: len(residuals)])
        upper = [[task.priority <= last for task in tracker.tasks] for last in priorities]
        found.append([missed[:, np.array(which, bool)].any(axis=1) for which in upper])
    return np.concatenate(found, axis=1)
