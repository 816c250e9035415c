"""The interior-point method for block-banded quadratic programs in NumPy. Twin of kernel/src/qp/banded_qp.c.

A primal-dual method with Mehrotra's predictor and corrector (Nocedal and Wright, "Numerical Optimization", 2006,
section 16.6). Equations are relaxed by a share of the change of their multipliers, as in the proximal method of
multipliers (Schwan et al., "PIQP: A proximal interior-point quadratic programming solver", CDC 2023): so equations may
depend on each other, and Newton's matrix K = H + A'A/delta + C'WC is banded and positive definite. Where the method has
found which sides are active, these as equations give the point to the last digits.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ...robokin.arrays import Array
from .banded_program import (
    DELTA,
    FIRMER,
    LEAST_DELTA,
    REFINEMENTS,
    SLOW,
    STEEP,
    BandedProgram,
    Factor,
    NotConvexError,
    largest,
)
from .banded_qp import BandedQP

OPTIMAL, INFEASIBLE, MAX_ITERATIONS, NOT_CONVEX, STALLED = 0, 1, 2, 3, 5
SOLVED = (1e-9, 1e-13)  # relative: residuals and gap of a solution; the second where the first was not polished
POLISHED, NEAR = 1e-11, 1e-9  # the same after it: of a solution, and where rounding stops the method
ACTIVE = 1e-4  # a side is active whose multiplier is more than this share of its slack
CLOSEST = 0.995  # share of the way to the nearest bound that a step goes
SHORT = 0.1  # a step, or one after which slacks times multipliers are more, is corrected less
UNMOVED, GONE = 0.5, 1e-3  # a residual falls no more that stays, when the gap is this share of what it may be
POLISHES = 12  # steps that settle the active sides, ...
FALLING = 0.9  # ... while one moves x or the multipliers less than this share of the one before, ...
RESTED = 1e-12  # ... and x by more than this
SETS, VAIN = 8, 3  # of active sides that are tried, and in a row that gain next to nothing
FURTHER = 8  # steps to the second tolerance, at most
CERTAIN = 1e-8  # relative: a combination of rows that small is none


def solve(given: BandedQP, iterations: int, guess: Array) -> Generator[None, None, tuple[int, Array, Array, int]]:
    """Yield after each factor; return status, x (F n,) and the last unknown, multipliers (m,) and Newton steps. guess:
    as of `solve_banded_qp`."""
    program = BandedProgram(given)
    point, count = _Point(program), 0
    try:
        x, z, _, is_exact = yield from _polished(program, point.x, program.guessed(guess))
        if is_exact:
            return OPTIMAL, *program.expanded(x, z), 0
    except NotConvexError:
        pass  # the guess was wrong
    try:
        for tolerance, most in zip(SOLVED, (iterations, FURTHER), strict=True):
            until = min(count + most, iterations)
            status, count = yield from _interior(program, point, tolerance, until, count)
            x, z = point.x, point.z
            if status in (INFEASIBLE, NOT_CONVEX):
                break
            x, z, residual, is_exact = yield from _polished(program, x, z)
            is_last = is_exact or residual <= POLISHED or status != OPTIMAL
            status = OPTIMAL if residual <= NEAR else MAX_ITERATIONS
            if is_last:
                break
    except NotConvexError:
        status = NOT_CONVEX
    if status == NOT_CONVEX:
        return NOT_CONVEX, np.zeros(program.size), np.zeros(len(given.rows)), count
    return status, *program.expanded(x, z), count


class _Point:
    """x, multipliers y of equations, slacks s and multipliers z of lower and upper sides, and their residuals."""

    def __init__(self, p: BandedProgram) -> None:
        self.p, low, up = p, p.has_lower, p.has_upper
        # Slacks begin near the rows' own room: a step may use it at once. Where the gradient leads farther than 1, they
        # and their multipliers begin as large as it. These push as hard as the gradient, or as the sides that x is to
        # come to need: else their products with slacks vanish long before x is there, and steps are short.
        pull = max(1e-4, largest(p.g))
        far = max(1.0, pull)
        beyond = np.where(p.equal, abs(p.low), np.maximum(np.where(low, p.low, 0.0), np.where(up, -p.high, 0.0)))
        start = far * max(pull, float(beyond.max(initial=0.0)))
        room = far * np.where(low & up, np.minimum(0.5 * (p.high - p.low), 1.0), 1.0)
        self.x, self.y = np.zeros(p.size), np.zeros(len(low))
        self.sl, self.su = np.where(low, np.maximum(-p.low, room), 1.0), np.where(up, np.maximum(p.high, room), 1.0)
        self.zl = np.where(low, start / np.maximum(self.sl, 1e-3 * far), 0.0)
        self.zu = np.where(up, start / np.maximum(self.su, 1e-3 * far), 0.0)

    @property
    def z(self) -> Array:
        """(m,) multipliers of all, positive at a lower side."""
        return self.y + self.zl - self.zu

    def look(self) -> None:
        """Find the residuals rx, ry, rl, ru in Newton's equations, mu of complementarity."""
        p, Cx = self.p, self.p.along(self.x)
        self.Hx, self.force = p.times(self.x), p.pushed(self.z)
        self.rx = -(self.Hx + p.g - self.force)
        self.ry = np.where(p.equal, p.low - Cx, 0.0)
        self.rl = np.where(p.has_lower, p.low + self.sl - Cx, 0.0)
        self.ru = np.where(p.has_upper, self.su - p.high + Cx, 0.0)
        self.mu = float(self.sl @ self.zl + self.su @ self.zu) / max(p.sides, 1)

    def residuals(self) -> tuple[float, float, float]:
        """The largest of rx, of the sides, and mu, relative."""
        p = self.p
        room_low, room_high = p.rooms(self.x)
        sides = (self.ry, room_low), (self.rl, room_low), (self.ru, room_high)
        forces = max(p.size_g, largest(self.force), largest(self.Hx))  # multipliers that cancel excuse no gap
        return largest(self.rx) / forces, max(largest(each / room) for each, room in sides), self.mu / forces

    @property
    def shows_infeasible(self) -> bool:
        """Multipliers that make a contradiction of the rows (Farkas)."""
        largest = abs(self.z).max(initial=0.0)
        ray = float(self.p.low @ (self.y + self.zl) - self.p.high @ self.zu)
        is_none = abs(self.force).max(initial=0.0) <= CERTAIN * largest
        return bool(ray > CERTAIN * largest and is_none and largest > self.p.size_g / CERTAIN)

    @property
    def weight(self) -> Array:
        """(m,) of the rows in Newton's matrix."""
        return np.where(self.p.equal, 1.0 / self.p.delta, self.zl / self.sl + self.zu / self.su)

    def newton(self, L: Factor, weight: Array, cl: Array, cu: Array, refinements: int) -> tuple[Array, ...]:
        """Changes of x, y, sl, su, zl, zu with zl dsl + sl dzl = cl, and of the upper sides."""
        p, low, up = self.p, self.p.has_lower, self.p.has_upper
        push = np.where(low, (cl + self.zl * self.rl) / self.sl, 0.0)
        push -= np.where(up, (cu + self.zu * self.ru) / self.su, 0.0)
        dx, dy, self.left = p.solved(L, weight, self.rx + p.pushed(push), self.ry, refinements)
        Cdx = p.along(dx)
        dsl, dsu = np.where(low, Cdx - self.rl, 0.0), np.where(up, -Cdx - self.ru, 0.0)
        dzl = np.where(low, (cl - self.zl * dsl) / self.sl, 0.0)
        return dx, dy, dsl, dsu, dzl, np.where(up, (cu - self.zu * dsu) / self.su, 0.0)

    def longest(self, change: tuple[Array, ...]) -> float:
        """Share of a change up to which slacks and multipliers stay positive."""
        values, changes = np.concatenate((self.sl, self.su, self.zl, self.zu)), np.concatenate(change[2:])
        shrinking = changes < 0.0
        return float(min(1.0, np.min(-values[shrinking] / changes[shrinking], initial=np.inf)))

    def _gap(self, change: tuple[Array, ...], t: float) -> float:
        """mu after t of a change."""
        _, _, dsl, dsu, dzl, dzu = change
        lows, highs = (self.sl + t * dsl) @ (self.zl + t * dzl), (self.su + t * dsu) @ (self.zu + t * dzu)
        return float(lows + highs) / max(self.p.sides, 1)

    def step(self, L: Factor, weight: Array) -> None:
        """Mehrotra's predictor and corrector."""
        sl, su, zl, zu = self.sl, self.su, self.zl, self.zu
        change, t = self.newton(L, weight, -sl * zl, -su * zu, 0 if self.p.sides else REFINEMENTS), 1.0
        if self.p.sides:
            t, (_, _, dsl, dsu, dzl, dzu) = self.longest(change), change
            centre = (max(self._gap(change, t), 0.0) / self.mu) ** 3 * self.mu if self.mu > 0.0 else 0.0
            # All of the correction may lead round and round (Cartis, "Some disadvantages of a Mehrotra-type primal-dual
            # corrector interior point algorithm for linear programming", 2009).
            for share in (1.0, t * t):
                low, high = (
                    centre - s * z - share * ds * dz for s, z, ds, dz in ((sl, zl, dsl, dzl), (su, zu, dsu, dzu))
                )
                change = self.newton(L, weight, low, high, REFINEMENTS)
                t = min(1.0, CLOSEST * self.longest(change))
                if t >= SHORT and self._gap(change, t) <= self.mu:
                    break
        for name, by in zip(("x", "y", "sl", "su", "zl", "zu"), change, strict=True):
            setattr(self, name, getattr(self, name) + t * by)
        if self.left > max(SLOW * largest(self.ry), POLISHED):
            self.p.delta = max(self.p.delta * FIRMER, LEAST_DELTA)


def _interior(
    p: BandedProgram, at: _Point, tolerance: float, iterations: int, count: int
) -> Generator[None, None, tuple[int, int]]:
    """Move the point until it is solved; status and steps so far."""
    before = np.inf
    while True:
        at.look()
        unbalanced, outside, gap = at.residuals()
        if max(unbalanced, outside, gap) <= tolerance:
            return OPTIMAL, count
        if at.shows_infeasible:
            return INFEASIBLE, count
        if count == iterations:
            return MAX_ITERATIONS, count
        if largest(at.rx) >= UNMOVED * before and gap <= GONE * tolerance and outside <= tolerance:
            return STALLED, count
        before = largest(at.rx)
        count, weight = count + 1, at.weight
        try:
            L = p.newton_matrix(weight)
        except NotConvexError:
            return (STALLED if weight.max(initial=0.0) > STEEP else NOT_CONVEX), count
        at.step(L, weight)
        yield


def _polished(p: BandedProgram, x: Array, z: Array) -> Generator[None, None, tuple[Array, Array, float, bool]]:
    """The best point where the sides that are active are equations, or as it was; its residual; and whether that is as
    little as rounding lets it be, so that further steps find nothing better. None is farther outside: what is gained
    elsewhere pays for no side.

    Sides that pull are left, those that are passed are taken, until that is right (a primal-dual active set method:
    Hintermueller, Ito and Kunisch, SIAM J. Optim. 13(3), 2003)."""
    Cx = p.along(x)
    error, outside = _error(p, x, z)
    best, loosest = (x, z, error), max(outside, NEAR)
    at_low, at_high = p.has_lower & (z > ACTIVE * (Cx - p.low)), p.has_upper & (-z > ACTIVE * (p.high - Cx))
    is_exact, vain = False, 0
    for _ in range(SETS):
        active, wanted = p.equal | at_low | at_high, np.where(at_high, p.high, p.low)
        L = p.newton_matrix(np.where(active, 1.0 / DELTA, 0.0))
        x, z = x.copy(), np.where(active, z, 0.0)
        moved = pushed = np.inf
        for _ in range(POLISHES):
            missing = np.where(active, wanted - p.along(x), 0.0)
            residual = -(p.times(x) + p.g) + p.pushed(z + missing / DELTA)
            step = p.substituted(L, residual)
            push = np.where(active, (missing - p.along(step)) / DELTA, 0.0)
            x, z = x + step, z + push
            sizes = float(abs(step).max(initial=0.0)), float(abs(push).max(initial=0.0))
            if sizes[0] <= RESTED or (sizes[0] >= FALLING * moved and sizes[1] >= FALLING * pushed):
                break
            moved, pushed = sizes
        error, outside = _error(p, x, z)
        vain = 0 if error <= FALLING * best[2] else vain + 1
        if error <= best[2] and outside <= loosest:
            best = x, z, error
        Cx, before = p.along(x), (at_low, at_high)
        at_low = p.has_lower & np.where(at_low, z > 0.0, Cx < p.low)
        at_high = p.has_upper & np.where(at_high, z < 0.0, Cx > p.high)
        is_same = (at_low == before[0]).all() and (at_high == before[1]).all()
        is_exact = bool(error <= POLISHED or (is_same and error <= NEAR))
        if is_exact or is_same or vain == VAIN:
            break
        yield
    return *best, is_exact


def _error(p: BandedProgram, x: Array, z: Array) -> tuple[float, float]:
    """The largest residual of a solution, relative: stationarity, feasibility, signs and complementarity; and that of
    feasibility."""
    Cx, Hx, force = p.along(x), p.times(x), p.pushed(z)
    size_g = max(p.size_g, abs(force).max(initial=0.0), abs(Hx).max(initial=0.0))
    size_z = max(p.size_g, abs(z).max(initial=0.0))
    dual = abs(Hx + p.g - force).max(initial=0.0) / size_g
    room_low, room_high = p.rooms(x)
    outside = np.maximum(np.maximum((p.lower - Cx) / room_low, (Cx - p.upper) / room_high), 0.0).max(initial=0.0)
    to_low, to_high = np.where(p.has_lower, Cx - p.lower, np.inf), np.where(p.has_upper, p.upper - Cx, np.inf)
    low = np.where(p.equal, 0.0, np.minimum(abs(to_low) / room_low, np.maximum(z, 0.0) / size_z))
    high = np.where(p.equal, 0.0, np.minimum(abs(to_high) / room_high, np.maximum(-z, 0.0) / size_z))
    return float(max(dual, outside, low.max(initial=0.0), high.max(initial=0.0))), float(outside)
