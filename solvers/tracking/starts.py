"""Choosing where a motion starts: the one choice that decides whether a path can be followed to its end.

Frames follow from one another without jumps, so the posture (branch) and the turns of the first frame stay. A wrong
one meets a joint limit later, though another start would not have. Following a path costs little, so starts are tried:
the hint, mid-range, other postures of the first frame, and then, since few postures get past the narrowest place of a
path, postures at the first frame that was missed, followed back to the first one.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin import difference
from ...robokin.arrays import Array, within_size
from ..ik.tip_ik import TipIK
from ..progress import mapped
from ..random_numbers import SplitMix64
from .relaxed_segments import relaxed
from .result import TrackResult
from .segments import Segment, follow

ITERATIONS = 50_000  # of plain tasks, that the search may cost; or ...
PATHS = 16  # ... so many times the number of frames, when that is more
STEPS = 500  # of levels, which are dearer, that the search may cost; or ...
AGAIN = 4  # ... so many times what the first path takes, when that is more
TRIES = 100  # at most
POSTURES = 12  # solutions looked for at a frame at once
FEWER = 4  # of them for levels
PROBES = 8  # missed frames of which it is asked whether any posture meets them
SAME = 1e-3  # [rad, m] starts nearer to each other than this are one
HELD_UP = 0.35  # [rad] nearer to its bound than this, a joint is held up by it (braking for it included)
BETTER = 0.99  # of the error: less is better where as many frames are met
TURN = 2.0 * math.pi


@dataclass(frozen=True, eq=False)
class Followed:
    """A path followed from a start. results: in order; of a given up try, not all. origin: what it started from,
    which is q0 (nq,)."""

    results: list[TrackResult]
    origin: str
    q0: Array

    @property
    def missed(self) -> Array:
        """Indices of the frames that have tasks and do not meet them."""
        return np.flatnonzero(np.concatenate([result.missed for result in self.results]))

    @property
    def error(self) -> float:
        """Residuals over tolerances, summed over the missed frames."""
        total = 0.0
        for result in self.results:
            tolerance = result.problem.tolerance if result.tolerances is None else result.tolerances
            scaled = result.residuals / tolerance
            total += float(scaled[result.missed].sum())
        return total

    def q(self, frame: int) -> Array:
        """(nq,)"""
        for result in self.results:
            if frame < len(result):
                break
            frame -= len(result)
        return result.q[frame]


def follow_from_best(
    segments: Sequence[Segment],
    hint: Array,
    name: str,
    start_velocity: object | None = None,
    seed: int = 0,
    iterations: int = ITERATIONS,
) -> Generator[list[TrackResult], None, Followed]:
    """Follow the segments from the first start found from which every frame is met, or else from the best one.

    The best start misses the fewest frames, and has the smallest residuals there. hint: (nq,) the start to try first,
    called `name`; coordinates that no task depends on keep its values, and what tasks count from the start is counted
    from it, whatever start is chosen. The same seed gives the same start. Only the
    hint and mid-range are tried when no posture meets the first frame, and no more than needed to see it when none
    meets the frames that are missed. Yields the results so far of the start being tried, now and then. iterations: of
    plain tasks, that the search may cost. Errors: see `track`.
    """
    search = _StartSearch(segments, hint, start_velocity, seed, iterations)
    yield from search.try_start(hint, name)
    if search.is_over:
        return search.best
    yield from search.try_new_start(np.where(search.used, search.middle, hint), "mid-range")
    for plain in () if search.is_plain else relaxed(segments):
        if search.is_over:
            return search.best
        steps = follow_from_best(plain, hint, name, start_velocity, seed, iterations)
        found = yield from mapped(steps, lambda _: search.best.results)  # of the tasks asked for, not of these
        yield from search.try_new_start(
            found.q(0), f"another posture, the {_ordinal(len(search.tried) + 1)} start tried"
        )
    frame = search.first
    if search.is_over or not search.can_be_met(frame, hint):
        return search.best
    for number in range(TRIES):
        postures = yield from search.postures(frame, hint, seed + number)
        for q in postures:
            yield from search.try_posture(frame, q)
            if search.is_over:
                return search.best
        if search.turns_back:
            frame = search.narrowest
        elif not postures:
            break
    return search.best


class _StartSearch:
    """The starts tried so far, and the best of them. Configurations are (nq,). Frames count from 0, over all
    segments."""

    best: Followed

    def __init__(
        self, segments: Sequence[Segment], hint: Array, start_velocity: object | None, seed: int, iterations: int
    ) -> None:
        self.segments, self.hint, self.start_velocity, self.seed = segments, hint, start_velocity, seed
        self.iterations = iterations  # of plain tasks
        self.model = segments[0].tracker.model
        self.used = np.any([segment.tracker.problem.search.depends() for segment in segments], axis=0)
        self.middle = self.model.limits.middle(self.model.neutral())
        self.turns_back = all(segment.turns_back for segment in segments)
        self.is_plain = all(segment.is_plain for segment in segments)
        self.ends = np.cumsum([len(segment) for segment in segments])
        with_tasks = [segment.tracker.tasks != () for segment in segments]
        self.first = int(([0, *self.ends])[with_tasks.index(True)]) if any(with_tasks) else 0  # frame with tasks
        lower, upper = self.model.lower, self.model.upper  # bounded angles with room for a whole turn
        self.turning = self.model.tree.turning & (upper - lower >= TURN) & np.isfinite(lower) & np.isfinite(upper)
        self.tried: list[Array] = []
        self.spent = self.first_path = 0
        self.met: dict[int, bool] = {}  # whether some posture meets a frame, of those asked for
        self.narrowest = 0  # the missed frame to look for postures at; -1: none, or no posture meets those missed

    @property
    def is_over(self) -> bool:
        """Every frame is met, or enough was tried."""
        return self.narrowest < 0 or self.spent > self.most or len(self.tried) >= TRIES

    @property
    def most(self) -> float:
        """Iterations that the search may cost."""
        return max(self.iterations, PATHS * self.ends[-1]) if self.is_plain else max(STEPS, AGAIN * self.first_path)

    def try_start(self, q0: Array, origin: str) -> Generator[list[TrackResult], None, Followed]:
        """Follow the path from a start. Given up when it is worse than the best."""
        spare = len(self.best.missed) if self.tried else math.inf
        self.tried.append(q0)
        results = yield from follow(self.segments, q0, self.start_velocity, self.seed, spare, self.hint)
        found = Followed(results, origin, q0)
        self.spent += sum(int(result.iterations.sum()) for result in results)
        self.first_path = self.first_path or self.spent
        missed = len(found.missed)
        if missed < spare or (missed == spare and found.error < BETTER * self.best.error):
            self.best = found
            self.narrowest = self._narrowest()
        return found

    def try_new_start(self, q0: Array, origin: str) -> Generator[list[TrackResult], None, Followed | None]:
        """`try_start`; None when it was tried before."""
        if any(np.abs(difference(self.model, q0, other)).max(initial=0.0) < SAME for other in self.tried):
            return None
        return (yield from self.try_start(q0, origin))

    def try_posture(self, frame: int, q: Array) -> Generator[list[TrackResult], None, None]:
        """Follow the path through a posture at a frame; where whole turns leave a joint no room, also a turn away."""
        for _ in range(1 + int(self.turning.sum())):
            start, ends = self._back(frame, q)
            if start is not None:
                name = f"another posture, the {_ordinal(len(self.tried) + 1)} start tried"
                found = yield from self.try_new_start(start, name)
                if found is None or self.is_over:
                    return
                ends = np.array([found.q(frame) for frame in found.missed.tolist()])
            turned = self._with_room(q, ends)
            if turned is None:
                return
            q = turned

    def postures(self, frame: int, hint: Array, seed: int) -> Generator[list[TrackResult], None, list[Array]]:
        """Postures that meet the frame, those with the most room to the limits first."""
        number, index = self._at(frame)
        problem, targets = self.segments[number].pose_problem(index)
        generator, found = SplitMix64(seed), list[Array]()
        is_fast = isinstance(problem.search, TipIK)
        for _ in range(1 if is_fast else FEWER):
            starts = [problem.search.drawn(hint, generator) for _ in range(POSTURES if is_fast else 1)]
            batch = problem.solve_batch([targets] * len(starts), np.array(starts), seed)
            self.spent += int(batch.iterations.sum())
            found += list(batch.q[batch.converged])
            yield self.best.results
        solutions = [self._about_middle(q, self.middle) for q in found]
        lower, upper = self.model.lower, self.model.upper
        bounded = np.isfinite(lower) & np.isfinite(upper) & (upper > lower) & problem.search.depends()
        span = (upper - lower)[bounded]
        room = [np.min(np.minimum(q - lower, upper - q)[bounded] / span, initial=1.0) for q in solutions]
        return [solutions[i] for i in np.argsort(-np.round(room, 6), kind="stable")]

    def can_be_met(self, frame: int, q: Array) -> bool:
        """Whether some posture meets a frame, whatever comes before."""
        if frame not in self.met:
            number, index = self._at(frame)
            problem, targets = self.segments[number].pose_problem(index)
            found = problem.solve(targets, within_size(q), self.seed, diagnose=False)
            self.spent += found.iterations
            self.met[frame] = found.converged
        return self.met[frame]

    def _narrowest(self) -> int:
        missed = self.best.missed.tolist()
        probes = [missed[i * (len(missed) - 1) // (PROBES - 1)] for i in range(PROBES)] if missed else []
        return next((frame for frame in probes if self.can_be_met(frame, self.best.q(frame))), -1)

    def _at(self, frame: int) -> tuple[int, int]:
        """Number of the segment that a frame belongs to, and the frame's index in it."""
        number = int(np.searchsorted(self.ends, frame, side="right"))
        return number, frame - int(self.ends[number]) + len(self.segments[number])

    def _back(self, frame: int, q: Array) -> tuple[Array | None, Array]:
        """The start that leads to a posture at `frame`, None when there is none; and what missed on the way (n, nq)."""
        last, index = self._at(frame)
        velocity = None
        if not self.turns_back:  # postures are those of the first frame
            return q, q[None]
        for number in range(last, -1, -1):
            segment = self.segments[number]
            segment.stand(q, velocity)
            chunk = segment.tracker.chunk
            for start in range(index if number == last else len(segment), 0, -chunk):
                part = segment.run(max(0, start - chunk), start, backwards=True)
                self.spent += int(part.iterations.sum())
                if part.missed.any():
                    return None, part.q[part.missed]
            q, velocity = segment.tracker.q, segment.tracker.v
        return q, q[None]

    def _about_middle(self, q: Array, middle: Array) -> Array:
        """The posture with its whole turns nearest to mid-range."""
        turns = np.where(self.turning, np.rint((q - middle) / TURN), 0.0)
        return self._inside(q - TURN * turns, q)

    def _with_room(self, q: Array, ends: Array) -> Array | None:
        """q a turn away from the bounds that hold joints up in `ends` (n, nq); None when there is no such."""
        lower, upper = self.model.lower, self.model.upper
        turns = (ends < lower + HELD_UP).any(axis=0) * 1.0 - (ends > upper - HELD_UP).any(axis=0)
        turned = self._inside(np.where(self.turning, q + TURN * turns, q), q)
        return turned if (turned != q).any() else None

    def _inside(self, turned: Array, q: Array) -> Array:
        return np.where((turned >= self.model.lower) & (turned <= self.model.upper), turned, q)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
