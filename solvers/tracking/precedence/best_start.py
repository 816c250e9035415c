"""Strict priorities of where a motion starts: upper levels never miss more for a start that lower ones had a say in.

One search counts the frames that miss a task of any level. Where the motion that it finds misses more of the first k
levels than the motion of these alone, which has a start of its own, the whole motion starts where that of all levels
but the last one does. The upper levels are asked only where more frames miss them than are out of reach.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from ....robokin.arrays import Array
from ...progress import mapped
from ..avoidance.avoiding import tracker_of
from ..result import TrackResult
from ..segments import Segment
from ..starts import ITERATIONS, Followed, follow_from_best
from .standing_aside import EXTRA, allowed, follow_in_order, in_order, missed_frames, out_of_reach

ITERATIONS_OF_LEVELS = 5_000  # of plain tasks, that each search for a start may cost where there are several levels

Search = Generator[list[TrackResult], None, Followed]


def follow_in_order_from_best(
    segments: Sequence[Segment], hint: Array, name: str, start_velocity: object | None = None, seed: int = 0
) -> Search:
    """`follow_from_best`, level by level, and lower levels stand aside where that is needed."""
    priorities = sorted({task.priority for segment in segments for task in segment.tracker.tasks} - {0})
    search = _LevelStarts(segments, priorities, hint, name, start_velocity, seed)
    return (yield from search.found(max(len(priorities) - 1, 0)))


class _LevelStarts:
    """The motions of the first levels alone, each from its own start, as they are needed. Levels are numbers of
    `priorities`."""

    def __init__(
        self,
        segments: Sequence[Segment],
        priorities: Sequence[int],
        hint: Array,
        name: str,
        start_velocity: object | None,
        seed: int,
    ) -> None:
        self.segments, self.priorities = segments, priorities
        self.hint, self.name, self.start_velocity, self.seed = hint, name, start_velocity, seed
        self.iterations = ITERATIONS if len(priorities) < 2 else ITERATIONS_OF_LEVELS
        self._missed: dict[int, int] = {}  # frames, of the motion of the levels down to one
        self._found: dict[int, Followed] = {}

    def found(self, level: int) -> Search:
        """The motion of the levels down to this one."""
        if level not in self._found:
            is_whole = level >= len(self.priorities) - 1
            own = self.segments if is_whole else [_upper(each, self.priorities[level]) for each in self.segments]
            motion = yield from self._searched(own, level)
            self._found[level] = motion
            if not is_whole:
                self._missed[level] = int(missed_frames(own, self.priorities, motion.results)[level].sum())
        return self._found[level]

    def _searched(self, segments: Sequence[Segment], level: int) -> Search:
        best = yield from follow_from_best(
            segments, self.hint, self.name, self.start_velocity, self.seed, self.iterations
        )
        results = yield from in_order(segments, best.results, best.q0, self.start_velocity, self.seed, self.hint)
        if level and (yield from self._is_worse(segments, results, level)):
            best = yield from mapped(self.found(level - 1), lambda _: results)  # of the tasks asked for, not of these
            again = follow_in_order(segments, best.q0, self.start_velocity, self.seed, self.hint)
            results = yield from mapped(again, lambda _: results)
        return Followed(results, best.origin, best.q0)

    def _is_worse(
        self, segments: Sequence[Segment], results: list[TrackResult], level: int
    ) -> Generator[list[TrackResult], None, bool]:
        """Whether levels above this one miss more frames than from starts of their own."""
        missed = missed_frames(segments, self.priorities, results).sum(axis=1)
        for upper, count in enumerate(missed[:level].tolist()):
            if count > EXTRA and count > allowed(out_of_reach(results, self.priorities[upper])):
                yield from mapped(self.found(upper), lambda _: results)
                if count > allowed(self._missed[upper]):
                    return True
        return False


def _upper(segment: Segment, last: int) -> Segment:
    """A segment without the tasks after a priority."""
    tracker, influence = segment.tracker, segment.influence
    kept = [i for i, task in enumerate(tracker.tasks) if task.priority <= last]
    own = tracker_of(tracker.model, [tracker.tasks[i] for i in kept], tracker.dt, tracker.backend, tracker.criteria)
    targets = own.check_targets([[frame[i] for i in kept] for frame in segment.targets])
    return Segment(own, targets, None if influence is None else influence[:, kept])
