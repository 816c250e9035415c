"""Levels that the start of a motion misses: each comes as near as the others allow, before the cost counts."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

import numpy as np

from .discretization import DiscreteMotion
from .level_costs import LevelResidual
from .rows.motion_rows import MotionRows
from .rows.row_blocks import FIRST
from .sqp import MotionOptimum, optimise

WIDTHS = (1e-1, 1e-2, 1e-3)  # [rad, L] of `LevelResidual`: what cannot be had pulls less and less, the rest is met
LEVEL_ITERATIONS = 60  # of a level that the start misses
# Steps in a row that gain, relative, no more than this, or, where the KKT residual falls, than that: what cannot be had
# is not sought long.
STALLED = 3, 0.02, 2e-5
FRAME = 0.1  # ... and while frames are chosen that are to be met, less than this share of what one costs
GAIN = 1e-12  # relative: a cost that is less by no more than this is the same
LEAST = 1e-6  # relative: a level whose residual falls by no more than this stays as it is
# Relative: what tasks, held to rounding, make of a cost, and held to `HELD`: an optimum may cost so much more.
SAME, AS_HELD = 1e-6, 1e-4
POLISHES = 8  # steps to where frames are nearest to what they miss, or trials which of them may be taken
HELD = 1e-8  # [rad, L] by which what is held may be off


def by_levels(constraints: MotionRows, here: DiscreteMotion) -> Iterator[tuple[int, DiscreteMotion]]:
    """Yield the steps of a level, and a trajectory in which nothing has become worse; the last one is that in which
    each level with a residual has come as near as the others allow. Limits and obstacles come before all: where
    tasks do not let them hold, tasks give way, and then come back as near as they can. Frames that a level misses are
    free at first, so that one that cannot be met is in no other's way; where no more are met so, no residual grows."""
    here = settled(constraints, here)
    shown, gives_way = here, False
    for level in constraints.levels:
        if level != FIRST and not constraints.nearest(here, level + 1)[2].any():
            continue  # no frame can come nearer
        lasts = [level] if gives_way else [math.inf, level] if level == FIRST else [math.inf]
        for constraints.last in lasts:
            if not constraints.is_missed(here, level):
                break
            gives_way |= constraints.last == level
            there = here
            for width in WIDTHS if level != FIRST else ():
                for count, found in nearer(constraints, there, level, width, level):
                    there = found
                    yield count, shown
            free = level if constraints.missed(there, level) < constraints.missed(here, level) else None
            for count, found in nearer(constraints, here if free is None else there, level, free=free):
                here = found
                shown = shown if gives_way else here
                yield count, shown
        constraints.last = math.inf
        if level == FIRST and constraints.is_missed(here, level):
            # From far away limits are often not reached. A robot that stands still keeps them, and goes on from there.
            standing = DiscreteMotion(here.grid, np.tile(here.q[0], (len(here), 1)))
            if not constraints.is_missed(standing, level) and standing.excess <= here.excess:
                here, gives_way = standing, True
                yield 0, shown
    yield 0, settled(constraints, here)


def settled(constraints: MotionRows, here: DiscreteMotion) -> DiscreteMotion:
    """The trajectory with frames that can come no nearer to what they miss exactly where they are nearest, but for
    those of which limits or residuals would come to be broken by it."""
    start, stay = here, np.zeros(len(here), bool)
    for _ in range(POLISHES):
        steps = np.where(stay[:, None], 0.0, constraints.nearest(here, math.inf)[1])
        if not steps.any():
            break
        there = here.moved(steps)
        pairs = zip(constraints.blocks(there), constraints.blocks(here), strict=True)
        grown = [own.lacking_squares(len(here)) - old.lacking_squares(len(here)) for own, old in pairs]
        broken = (np.max(grown, axis=0) > HELD**2) | (there.speed_share > np.maximum(here.speed_share, 1.0))
        if not broken.any():
            here = there
        for reach in range(3):  # a limit on accelerations reaches over three frames
            stay[: len(stay) - reach] |= broken[reach:]
    before, after = (
        sum(block.lacking_squares(len(here)).sum() for block in constraints.blocks(at)) for at in (start, here)
    )
    return here if after < (1.0 - LEAST) * before else start


def nearer(
    constraints: MotionRows, here: DiscreteMotion, level: int, width: float = math.inf, free: int | None = None
) -> Iterator[tuple[int, DiscreteMotion]]:
    """Yield steps and a trajectory in which the residual of a level falls, until it is 0 or falls no more. width: of
    `LevelResidual`.   free: the level whose missed frames may get larger residuals; where none may, those that can come
    no nearer stay."""
    if level == FIRST:
        yield from _nearer(constraints, here, level, width, free)
        return
    for own, start, begin in constraints.parts(here, level):
        q = here.q
        for count, found in _nearer(own, start, level, width, free):
            q = here.q.copy()
            q[begin : begin + len(found)] = found.q
            yield count, DiscreteMotion(here.grid, q)
        here = DiscreteMotion(here.grid, q)
    yield 0, here


def _nearer(
    constraints: MotionRows, here: DiscreteMotion, level: int, width: float, free: int | None
) -> Iterator[tuple[int, DiscreteMotion]]:
    constraints.hold(here, free, level if free == level else level + 1)
    cost = LevelResidual(constraints, level, width)
    best = before = MotionOptimum(here, cost.value(here), np.inf, constraints.at(here), 0)
    steps, still, unchanged = STALLED
    if width < math.inf:
        unchanged = max(unchanged, FRAME * 0.5 * width**2 / before.cost)
    for now in with_last(optimise(here, constraints, cost, LEVEL_ITERATIONS, (steps, still, unchanged), True)):
        last, best = best, better(best, now, before)
        yield now.iterations, best.trajectory
        if best is not last and not constraints.is_missed(best.trajectory, level):
            break
    if best.cost > (1.0 - LEAST) * before.cost:  # rounding: it is as near as it can be
        yield best.iterations, here


def with_last(search: Generator[MotionOptimum, None, MotionOptimum]) -> Iterator[MotionOptimum]:
    """What a search yields, and then what it returns."""
    yield (yield from search)


def better(best: MotionOptimum, now: MotionOptimum, before: MotionOptimum) -> MotionOptimum:
    """`now` when it costs less, or as much and is nearer to an optimum, keeps the limits, and misses nothing that was
    met."""
    same = AS_HELD if now.is_optimal else SAME
    is_nearer = now.kkt < best.kkt and now.cost <= min(before.cost, best.cost * (1.0 + same))
    if abs(now.linearised.residual).max(initial=0.0) > HELD or not (is_nearer or now.cost < best.cost * (1.0 - GAIN)):
        return best
    # Limits are never broken, nor more than in a start that breaks them.
    if now.trajectory.excess > before.trajectory.excess:
        return best
    return now
