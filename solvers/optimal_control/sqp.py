"""Sequential quadratic programming over all frames of a motion.

Each step solves a block-banded quadratic program: the cost's Hessian, how rows bend times their multipliers, the tasks
as equations, limits and obstacles as inequalities (Nocedal and Wright, "Numerical Optimization", 2006, chapter 18).
Where that is no minimum, how rows bend is left out; then what bends upwards is kept, and more is added to its diagonal
(section 3.4). A step is shortened until a filter takes it: it betters all before it in the cost or in the residual
(section 15.4). A whole step that the filter does not take is corrected to second order first: else it would stop steps
that lead on (section 15.6).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...robokin.arrays import Array
from ..qp.banded import BandedQPResult
from ..qp.banded_qp import LastUnknown
from ..qp.dense import QPStatus
from .costs import MotionCost
from .discretization import DiscreteMotion
from .free_time import LONGEST as LONGEST_IN_TIME
from .free_time import both_sides, parted
from .program import FLAT, LocalProgram, all_rows, solve_moving, total_residual
from .rows.motion_rows import LinearisedRows, MotionRows

SOLVED = 1e-6  # relative: the KKT residual of an optimum
ITERATIONS = 200
DECREASE = 1e-4  # share of what the derivative promises that a step has to gain
SHORTEST = 1e-4  # share of a step
MARGIN = 1e-5  # by which a step has to better those before in cost or in the residual of tasks
LARGEST_RESIDUAL = 0.1  # [rad, L] of all frames, that steps may lead to from less
HELD = 1e-9  # [rad, L] by which what is held may be off
RESTORATIONS = 2  # steps that take back the residual of tasks that bend
CORRECTIONS = 4  # the same of a whole step ...
PATIENCE = 8  # ... and factors of one: with more, other sides hold it than held the step, and a shorter one costs less
AGAIN = 4.0  # times the share of the step before that is tried after a whole one
ROUGH = 1e-9  # relative, to the diagonal of their measure: that of jerk over many frames is singular to rounding
NOTHING = 1e-9  # [rad, L] of all frames: residual of rounding
ROUNDING = 1e-11  # relative: a gain smaller than this cannot be measured
ADDED = (0.0, 1e-9, 1e-6, 1e-4, 1e-2, 1.0)  # relative, to the diagonal of the Hessian
MEASURED = 1e-9  # relative: a gain that says how much of a promise is kept
STALLED = 10, 1e-8, -np.inf  # steps in a row that gain, relative, no more than this
POOR, GOOD = 0.3, 0.75  # share of a step, or of its promise: the next one is damped more below, less above ...
LEAST_DAMPING, STIFFER = 1e-9, 10.0  # ... by so much at first, relative, as `ADDED`, then by so many times more
BENT = 3.0  # times what multipliers say that it costs: what taking back a residual may gain at most
HUGE = 1e8  # multipliers over the gradient: rows contradict one another, and are not asked to be met at once
LONGEST = 0.5  # [rad, L] of a frame in one step


@dataclass(frozen=True, eq=False)
class MotionOptimum:
    """trajectory: the best one.   cost: its value.   kkt: its residual, relative.   linearised: its residuals.
    iterations: of the method.   multipliers: (m,) of its rows."""

    trajectory: DiscreteMotion
    cost: float
    kkt: float
    linearised: LinearisedRows
    iterations: int
    multipliers: Array | None = None

    @property
    def is_optimal(self) -> bool:
        return self.kkt <= SOLVED


def optimise(
    start: DiscreteMotion,
    constraints: MotionRows,
    cost: MotionCost,
    iterations: int = ITERATIONS,
    stalled: tuple[int, float, float] = STALLED,
    is_held: bool = False,
    largest: float = LARGEST_RESIDUAL,
    guess: Array | None = None,
) -> Generator[MotionOptimum, None, MotionOptimum]:
    """Yield the best so far after each step, and while one is sought; return the optimum, or what was reached.
    stalled: so many steps in a row that gain, relative, no more than so much end it, and where the KKT residual falls,
    no more than the second share. is_held: each step is taken back to the rows, as in a free time. largest: [rad, L]
    how large the residual of all frames may become, or stay. guess: (m,) multipliers to begin with."""
    here = LocalProgram.of(start, constraints.at(start), cost)
    z, eased = np.zeros(len(here.rows)) if guess is None else guess, here.begun()
    passed = [(max(largest, here.residual), -np.inf)]
    history: list[tuple[float, float, float]] = []
    kkt, count, damping, before = np.inf, 0, 0.0, 1.0
    for count in range(iterations):
        if len(z) != len(here.rows):  # a task has other rows here
            z, eased = np.zeros(len(here.rows)), here.begun()
        kkt = here.kkt(z)
        if kkt <= SOLVED and here.largest_residual <= HELD:
            break
        history.append((here.value, kkt, here.residual))
        if len(history) > stalled[0] and _has_stalled(history, *stalled):
            break
        now = MotionOptimum(here.at, here.value, kkt, here.linearised, count, z)
        yield now
        moved = None
        for found in _directions(here, z, eased, damping):
            yield now
            if found is None:
                continue
            newest = found[0].multipliers
            last = None if is_held or here.time is not None else before
            search = _line_search(here, *found, passed, constraints, cost, last)
            for moved in search:  # noqa: B007 - the last one counts
                yield now
            is_solved = here.kkt(newest) <= SOLVED
            if is_solved and moved is not None and here.largest_residual <= HELD and moved[0].value >= here.value:
                moved = None  # what rounding makes of no step at all may cost more than where it is
            if moved is not None or is_solved:
                z, eased = newest, here.linearised.eased(newest, eased)
                break
        if moved is None:
            kkt = min(kkt, here.kkt(z))  # of the newest multipliers
            break
        here, before, share = moved
        if share < POOR:  # the program says little about what is so far away
            damping = max(STIFFER * damping, LEAST_DAMPING)
        elif share > GOOD:
            damping = damping / STIFFER if damping > LEAST_DAMPING else 0.0
    return MotionOptimum(here.at, here.value, kkt, here.linearised, count, z)


def _has_stalled(history: list[tuple[float, float, float]], steps: int, still: float, unchanged: float) -> bool:
    """Whether the last steps brought neither less cost nor smaller residuals. history: of each step its cost, KKT
    residual, and the residual of tasks."""
    last, before = np.array(history[-steps:]), np.array(history[:-steps])
    gained, size = before[-1, 0] - last[:, 0].min(), float(abs(before[-1, 0]))
    is_nearer = last[:, 1].min() <= 0.9 * before[:, 1].min() or last[-1, 2] < 0.9 * _beyond_rounding(before[-1, 2])
    return bool(gained <= (unchanged if is_nearer else still) * size)


def _directions(
    here: LocalProgram, z: Array, eased: Array, damping: float
) -> Iterator[tuple[BandedQPResult, Array] | None]:
    """Steps, and the multipliers after them, one after the other until one leads on, and the Hessian of each; None
    while one is sought.

    First with how rows bend, by multipliers `eased`, and with the damping that steps before have asked for, relative,
    on the diagonal; where that leaves no minimum, or leads nowhere, without how rows bend; then with how norms of
    missed parts bend upwards, and with more and more damping: shorter steps."""
    bent, n = here.H.copy(), here.H.shape[-1]
    here.linearised.bend(bent, eased[: here.count])
    here.at.bend_limits(bent, eased[here.count :])
    yield None
    if here.linearised.tells_bending:
        here.cost.bend(here.at, bent)
        yield None
    size = float(abs(here.H).max(initial=0.0))
    bent[:, 0] += damping * size * np.eye(n)
    found = yield from _solved(here, bent, z)
    if found is not None:
        yield found, bent
    for more in (each for each in ADDED if each >= damping):
        H = here.H.copy()
        if more:
            here.linearised.bend_upwards(H, eased)
        H[:, 0] += more * size * np.eye(n)
        found = yield from _solved(here, H, z, more)
        if found is not None:
            yield found, H


def _solved(
    here: LocalProgram, H: Array, z: Array, more: float | None = None
) -> Generator[None, None, BandedQPResult | None]:
    """more: share of the cost that is added to the second derivative by time, where only a convex guess is wanted."""
    sides = here.lower, here.upper
    most = HUGE * max(float(abs(here.gradient).max(initial=0.0)), FLAT * float(abs(H).max(initial=0.0)))
    found = yield from _solved_with(here, H, z, sides, more)
    if found is None or abs(found.multipliers).max(initial=0.0) <= most:
        return found
    # There is no such step: rows are not asked to be met at once.
    loose = np.minimum(sides[0], 0.0), np.maximum(sides[1], 0.0)
    return (yield from _solved_with(here, H, np.zeros(len(z)), loose, more))


def _solved_with(
    here: LocalProgram, H: Array, z: Array, sides: tuple[Array, Array], more: float | None
) -> Generator[None, None, BandedQPResult | None]:
    backend, still = here.at.grid.backend_name, here.linearised.constraints.still
    if here.time is None:
        return (yield from solve_moving(H, here.gradient, here.rows, *sides, backend, z, still))
    mixed, bend = here.time.coupling(z)
    mixed = mixed if still is None else np.where(still, 0.0, mixed)
    if more is not None:
        mixed, bend = np.zeros_like(mixed), max(bend, 0.0) + (1.0 + more) * here.time.size
    rows, lower, upper, across = both_sides(here.rows, *sides, here.time)
    last = LastUnknown(mixed, bend, here.time.slope, across)
    found = yield from solve_moving(H, here.gradient, rows, lower, upper, backend, parted(z, *sides), still, last)
    return found and replace(found, multipliers=found.multipliers.reshape(2, -1).sum(axis=0))


def _line_search(
    here: LocalProgram,
    found: BandedQPResult,
    H: Array,
    passed: list[tuple[float, float]],
    constraints: MotionRows,
    cost: MotionCost,
    before: float | None,
) -> Generator[tuple[LocalProgram, float, float] | None, None, None]:
    """Yield None after each trial, last the program after as much of the step as the filter takes, when it takes some,
    the share that this is of what `LONGEST` leaves of it, and that of the gain that the program promises, if less.
    H: of the step.   passed: the residual and the cost of trajectories that later ones have to better in one of the
    two.   before: the share of the step before; None where each step is taken back to the rows."""
    step, force = found.x, float(abs(found.multipliers).max(initial=0.0))
    residual, slope = _beyond_rounding(here.residual), float((here.gradient * step).sum())
    slope += 0.0 if here.time is None else here.time.slope * found.last
    most = float(abs(step[:, here.at.grid.bends]).max(initial=0.0))
    t = first = min(1.0, LONGEST / max(most, 1e-300), LONGEST_IN_TIME / max(abs(found.last), 1e-300))

    def rounding(residual_there: float) -> float:
        """What little residuals may cost, and what cannot be measured."""
        return ROUNDING * abs(here.value) + force * (residual_there + here.residual)

    def takes(remaining: float, value: float, unmeasured: float) -> bool:
        """Whether the filter takes a trajectory, and as a step of descent it gains enough."""
        if not all(
            remaining < (1.0 - MARGIN) * other or value <= its - MARGIN * other + unmeasured
            for other, its in [*passed, (residual, here.value)]
        ):
            return False
        return not is_descent() or value <= here.value + DECREASE * t * slope + unmeasured

    def is_descent() -> bool:
        return slope < 0.0 and -t * slope > residual

    def is_taken(at: DiscreteMotion, own: LinearisedRows) -> bool:
        off = total_residual(at, own)
        remaining = _beyond_rounding(off)
        unmeasured = ROUNDING * abs(here.value) if remaining or residual else rounding(off)
        return takes(remaining, cost.value(at), unmeasured)

    while t > SHORTEST:
        at = here.at.moved(t * step, t * found.last)
        own = constraints.at(at)
        # Else it would not be taken restored either.
        if takes(0.0, cost.value(at) - BENT * force * total_residual(at, own), rounding(0.0)):
            if before is None:
                at, own = yield from _restored(here, at, constraints, found.multipliers)
            elif t == first:
                back = yield from _corrected(here, at, constraints, found.multipliers, H)
                if not is_taken(*back):
                    back = yield from _restored(here, at, constraints, found.multipliers, PATIENCE)
                at, own = back if is_taken(*back) else (at, own)
            if is_taken(at, own):
                if not is_descent():  # what is of rounding may have cost less for it
                    passed.append((residual, here.value if residual else here.value + force * here.residual))
                yield None
                gain, promise = here.value - cost.value(at), -t * (1.0 - 0.5 * t) * slope
                is_measured = is_descent() and gain > MEASURED * abs(here.value)
                share = gain / promise if is_measured else 1.0
                yield LocalProgram.of(at, own, cost), t / first, min(t / first, share)
                return
        yield None
        t *= 0.5 if before is None or t < first else min(0.5, AGAIN * before)


def _beyond_rounding(residual: float) -> float:
    return residual if residual > NOTHING else 0.0


def _restored(
    here: LocalProgram, at: DiscreteMotion, constraints: MotionRows, guess: Array, most: float = math.inf
) -> Generator[None, None, tuple[DiscreteMotion, LinearisedRows]]:
    """Yield after each trial; return the trajectory moved back to where the residual is zero, near where it is in the
    measure of the cost. guess: multipliers, whose sides are tried first.   most: factors of one move."""
    H = here.H.copy()
    H[:, 0] += ROUGH * float(abs(H).max(initial=0.0)) * np.eye(H.shape[-1])
    return (yield from _moved_back(here, at, constraints, guess, H, RESTORATIONS, 0.0, most))


def _corrected(
    here: LocalProgram, at: DiscreteMotion, constraints: MotionRows, guess: Array, H: Array
) -> Generator[None, None, tuple[DiscreteMotion, LinearisedRows]]:
    """Yield and return what `_restored` does, in the measure H of the step, which knows how rows bend, while the sides
    that held the step push as they did: so they are the same, and are known."""
    return (yield from _moved_back(here, at, constraints, guess, H, CORRECTIONS, 1.0, PATIENCE))


def _moved_back(
    here: LocalProgram,
    at: DiscreteMotion,
    constraints: MotionRows,
    guess: Array,
    H: Array,
    times: int,
    push: float,
    most: float,
) -> Generator[None, None, tuple[DiscreteMotion, LinearisedRows]]:
    """push: share of their multipliers with which the sides push."""
    own = constraints.at(at)
    residual, still = total_residual(at, own), own.constraints.still
    for _ in range(times):
        if residual <= NOTHING:
            break
        rows, lower, upper, _ = all_rows(at, own)
        known = guess if len(guess) == len(rows) else np.zeros(len(rows))
        g = -push * rows.transposed(known, here.gradient.size).reshape(here.gradient.shape)
        back = yield from _given_up(solve_moving(H, g, rows, lower, upper, at.grid.backend_name, known, still), most)
        if back is None or back.status is not QPStatus.OPTIMAL:
            break  # what is no solution may pass limits
        moved = at.moved(back.x)
        there = constraints.at(moved)
        remaining = total_residual(moved, there)
        yield
        if remaining >= residual:
            break
        at, own, residual, guess = moved, there, remaining, back.multipliers
    return at, own


def _given_up(
    search: Generator[None, None, BandedQPResult | None], most: float
) -> Generator[None, None, BandedQPResult | None]:
    """What a search finds; None where it takes more steps."""
    for count in itertools.count():
        try:
            next(search)
        except StopIteration as ended:
            return ended.value
        if count >= most:
            search.close()
            return None
        yield
    return None
