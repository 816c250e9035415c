"""What moves is evaded in time: where a motion comes too near to it, the robot leaves the way some frames before.

A frame leaves the way of what comes in the next sixth of a second by the shortest way there. That may end where joints
are too slow, or in a corner of their limits. So other ways are tried: from 4, 8, 16 or 32 frames before on the robot
goes towards postures drawn by chance, first in what the tasks leave free, then with the last levels aside.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import get_backend
from ....robokin.configuration import random_configuration
from ...descent.engine import CONVERGED, NOT_CONVERGED
from ...progress import mapped
from ...results import Diagnosis
from ...tasks.clearance import TOLERANCE
from ..data import COLLIDED
from ..result import TrackResult
from ..segments import Aside, Segment
from .avoiding import AvoidingTracker

BACKS: tuple[int, ...] = (4, 8, 16, 32)  # frames before
TRIES = 6  # postures for each of them
WORK = 24  # times the frames of the motion: followed so many, the search begins nowhere anew

Steps = Generator[list[TrackResult], None, list[TrackResult]]


def evaded(
    segments: Sequence[Segment], results: list[TrackResult], aside: Aside, again: Callable[..., Steps], seed: int
) -> Steps:
    """The results of a motion; another one's, that evades what these come too near to. Frames stay as they are where no
    other way is found, or it leads into more later, and where the start is too near. aside: what `results` were
    followed with.   again: follows the segments from their start. Yields the results for those who watch."""
    frames, end, spent, why = sum(map(len, segments)), 0, 0, dict[int, Diagnosis | None]()
    best = results
    while (inside := _inside(segments, results, end)) is not None and spent < WORK * frames:
        first, end = inside
        for tried in _tries(segments, results, aside, first, end, seed) if first else ():
            found: list[TrackResult] = []
            for found in again(aside=tried):
                if sum(map(len, found)) >= end:
                    break
                yield results
            spent += end
            most = np.maximum(_too_near(segments, results)[:end], TOLERANCE)
            most[first:] = TOLERANCE
            if (_too_near(segments, found)[:end] <= most).all():
                leaves = np.isnan(aside.near[:end, 0]) & ~np.isnan(tried.near[:end, 0])
                why |= dict.fromkeys(np.flatnonzero(leaves).tolist(), _collisions(results)[first])
                whole = yield from _shown(again(aside=tried), results)
                results, aside = _named(whole, why), tried
                best = min(best, results, key=lambda each: np.maximum(_too_near(segments, each) - TOLERANCE, 0.0).sum())
                break
    return best


def _shown(steps: Steps, results: list[TrackResult]) -> Steps:
    return (yield from mapped(steps, lambda _: results))


def _inside(segments: Sequence[Segment], results: Sequence[TrackResult], start: int) -> tuple[int, int] | None:
    """The next frame that is inside the margin, and the one after the last in a row."""
    inside = _too_near(segments, results)[start:] > TOLERANCE
    if not inside.any():
        return None
    first = int(inside.argmax())
    return start + first, start + first + int(np.append(inside[first:], False).argmin())


def _too_near(segments: Sequence[Segment], results: Sequence[TrackResult]) -> Array:
    """(frames followed,) [m] by which something is nearer than the margin."""
    trackers = [segment.tracker for segment in segments for _ in range(len(segment))]
    residuals = [own for result in results for own in result.residuals]
    return np.array(
        [
            own[tracker.at, 0] if isinstance(tracker, AvoidingTracker) else 0.0
            for own, tracker in zip(residuals, trackers, strict=False)
        ]
    )


def _tries(
    segments: Sequence[Segment], results: Sequence[TrackResult], aside: Aside, first: int, end: int, seed: int
) -> Iterator[Aside]:
    """What may stand aside, and what the robot then stays near to, before frames first to end."""
    tracker, q = segments[0].tracker, np.concatenate([result.q for result in results])
    backend, tree, rng = get_backend(tracker.backend), tracker.model.tree, np.random.default_rng(seed)
    last = sorted({task.priority for segment in segments for task in segment.tracker.tasks} | {0}, reverse=True)
    for priority, back, _ in product(last, BACKS, range(TRIES)):
        begin = max(first - back, 1)
        step = backend.difference(tree, q[begin - 1], random_configuration(tracker.model, rng))
        near = backend.integrate(tree, q[begin - 1], rng.random() * step)
        yield aside.also(begin, end, priority, np.tile(near, (len(q), 1)))


def _named(results: Sequence[TrackResult], why: dict[int, Diagnosis | None]) -> list[TrackResult]:
    """The results with what is evaded at some frames: it holds the robot up until it has caught up."""
    named, names, number, reason = [], _collisions(results), 0, None
    for result in results:
        codes = result.codes.copy()
        for i, code in enumerate(codes.tolist()):
            reason = None if code == CONVERGED else why.get(number, reason)
            if reason is not None:
                names[number] = names[number] or reason
                codes[i] = COLLIDED if code == NOT_CONVERGED else code
            number += 1
        named.append(replace(result, codes=codes, collisions=names[number - len(result) : number]))
    return named


def _collisions(results: Sequence[TrackResult]) -> list[Diagnosis | None]:
    return [found for result in results for found in result.collisions or [None] * len(result)]
