"""A differential step inside limits whose border is curved, with strict priorities.

A hierarchy with rows linear in the step leads a little outside where a limit is curved. To ask for all of it again with
the limit nearer would let levels below change what those above get. So what each level got is looked at by itself,
first to last. The first one that leads outside is met again, with tangents of the limit where it left it, below the
levels that are done, which keep what they have; and if no tangent will do, it goes as far towards what it wants as is
inside. On that way too the levels above keep what they have, since both of its ends give it to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from ..limits.curved import INSET, BallLimit, CurvedLimit, FloatingLimit, held_floats
from ..limits.viability import StepLimits
from ..qp.hierarchy import HierarchyResult, solve_hierarchy
from ..qp.level import Level, kept_level, residual

LARGEST_STEP = np.pi  # of a degree of freedom, in radians or L: farther, a linear prediction means nothing
TANGENTS = 6  # of a limit for one level
NEARER = 1.5  # times what a step left the limit by, the next tangents lie inside
DIVISIONS, PARTS = 8, 16  # of the way that is left to a level
CLOSE = 1e-3  # [rad or L] steps that leave a limit by more are not near enough for that
NEAR = 1e-7  # [rad or L] tangents that keep x farther than this from its limit are moved
SAME = 1e-12  # a limit's own part of x that changes by no more has not changed
TOUCHED = 1e-9  # [rad or L] what is nearer to a bound is at it


class CurvedLimits:
    """Curved limits of a model, with displacements counted in `scale` (nv,), lengths in `length`."""

    def __init__(self, model: RobotModel, limits: StepLimits, scale: Array, length: float) -> None:
        self.model, self.limits, self.scale, self.length = model, limits, scale, length
        self._floats = list(held_floats(model, model.limits))
        self.is_empty = not limits.cones and not self._floats

    def at(self, q: Array, previous: Array) -> CurvedStep:
        """The limits of one step from q (nq,), reached by the displacement `previous` (nv,)."""
        limits, model = self.limits, self.model
        lo, hi = (np.clip(side, -limits.max_step, limits.max_step) for side in limits.bounds(q, previous))
        step = CurvedStep(lo / self.scale, hi / self.scale)
        for cone in limits.cones:
            own = slice(cone.v, cone.v + 3)
            step.add(BallLimit(cone, model.nv, q[cone.q : cone.q + 4], previous[own], limits))
        for node in self._floats:
            own = slice(int(model.tree.iv[node]), int(model.tree.iv[node]) + 6)
            step.add(FloatingLimit(model, node, q, step.lo[own], step.hi[own], model.limits, self.length))
        return step


@dataclass(eq=False)
class CurvedStep:
    """lo, hi: (nv,) bounds of the step x.   start: (nv,) a step inside them and inside the limits.   levels: rows of
    the limits, before all others.   is_plain: bounds and start are those that they were without the limits.
    stopped: names of the joints that were stopped by their limit."""

    lo: Array
    hi: Array
    limits: list[CurvedLimit] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    is_plain: bool = True
    stopped: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.start = np.clip(0.0, self.lo, self.hi)

    def add(self, limit: CurvedLimit) -> None:
        own = limit.own
        before = self.lo[own], self.hi[own], self.start[own]
        after = limit.lo, limit.hi, limit.start
        self.is_plain &= all((a == b).all() for a, b in zip(before, after, strict=True))
        self.lo[own], self.hi[own], self.start[own] = after
        self.limits.append(limit)
        is_moved = bool(self.start[own].any()) and not limit.is_outside
        rows = _admitting(limit.rows(), self.start) if is_moved else limit.rows()
        self.levels.append(rows if limit.is_outside else _inset(rows))

    def contain(self, points: Array) -> bool:
        """Whether all of points (k, nv) keep the limits."""
        return all(bool(limit.holds(points[:, limit.own]).all()) for limit in self.limits)

    def solve(
        self,
        levels: Sequence[Level],
        H: Array,
        g: Array,
        backend: str,
        start: Array | None = None,
        tangents: int = TANGENTS,
    ) -> HierarchyResult:
        """Solve the hierarchy inside the limits; residuals and freedom of `levels` alone.

        start: (nv,) inside the limits; the tangents found so far are kept as long as they let x be there.
        tangents: that are drawn for one level at most.
        """
        lo, hi = np.clip(-LARGEST_STEP, self.lo, self.hi), np.clip(LARGEST_STEP, self.lo, self.hi)
        x = self.start if start is None else start
        lo, hi = np.minimum(lo, x), np.maximum(hi, x)
        own = [
            level if limit.is_outside or start is None else _admitting(level, x)
            for limit, level in zip(self.limits, self.levels, strict=True)
        ]
        every = [*own, *levels]
        walk = _Walk(self.limits, every, (lo, hi), (H, g), backend, x, tangents)
        walk.run()
        for i, level in walk.tangents.items():
            self.levels[i] = level
            self.stopped.add(self.limits[i].joint)
        before = len(own)
        residuals = [residual(level, walk.x) for level in levels]
        return HierarchyResult(walk.x, residuals, walk.freedom[before:], np.array(walk.points[before:]))

    def at_bounds(self, x: Array) -> Array:
        """Indices of x (nv,) at lo or hi."""
        return np.flatnonzero((x <= self.lo + TOUCHED) | (x >= self.hi - TOUCHED))

    def active(self, x: Array) -> list[str]:
        """Joints that are at one of the limits, or were stopped by it, with the step x (nv,)."""
        return [
            limit.joint
            for limit, level in zip(self.limits, self.levels, strict=True)
            if limit.joint in self.stopped or _is_touched(level, x)
        ]

    def unmet(self, x: Array) -> list[str]:
        """Joints that were outside, and still are after the step x (nv,)."""
        return [limit.joint for limit in self.limits if limit.is_outside and not limit.ends_inside(x[limit.own])]


class _Walk:
    """From level to level. x: (nv,) what those that are done have got.   tangents: of limits that were left, by their
    index.   points, freedom: of the levels that are done, and before them, as in a HierarchyResult."""

    def __init__(
        self,
        limits: Sequence[CurvedLimit],
        levels: Sequence[Level],
        box: tuple[Array, Array],
        objective: tuple[Array, Array],
        backend: str,
        x: Array,
        most: int,
    ) -> None:
        self.limits, self.levels, self.backend, self._most = limits, levels, backend, most
        self._box, self._objective = box, objective
        self.x, self.points = x, [x][:0]
        self.freedom = [int((box[0] < box[1]).sum())]
        self.tangents: dict[int, Level] = {}
        self._pinned: list[int] = []  # those of the tangents that let a limit's own part stay only
        self._tries, self._best = 0, x[:0]

    def run(self) -> None:
        """Solve all levels; the freedom that is left minimises the objective."""
        while len(self.points) <= len(self.levels):
            self._go_on()

    def _go_on(self) -> None:
        done = len(self.points)
        above = [kept_level(level, self.x) for i, level in enumerate(self.levels[:done]) if i not in self.tangents]
        problem = [*above, *self.tangents.values(), *self.levels[done:]]
        found = solve_hierarchy(*self._box, problem, *self._objective, self.backend, self.x)
        first = len(problem) - (len(self.levels) - done)
        points = found.points[first:]
        kept = [limit.holds(points[:, limit.own]) for limit in self.limits]
        for k, point in enumerate(points):
            freedom = found.freedom[min(first + k + 1, len(problem))]
            left = self._left(point, [bool(each[k]) for each in kept])
            loose = self._loose(point) if not left and self._tries < self._most else []
            if loose:
                self._best = point
                self._draw(loose, point)
                return
            if left:
                self._return(left, point, freedom)
                return
            if self._take(point, freedom):
                return

    def _take(self, point: Array, freedom: int) -> bool:
        """The next level is done. True: what follows was asked with more than the limits."""
        self.x, self._tries, self._best = point, 0, point[:0]
        self.points.append(point)
        self.freedom.append(freedom)
        pinned, self._pinned = self._pinned, []
        for i in pinned:
            self.tangents[i] = self.limits[i].tangent(point[self.limits[i].own], INSET)
        return bool(pinned)

    def _left(self, point: Array, kept: Sequence[bool]) -> list[int]:
        """The limits that `point` leaves on the way from x; rounding is taken out of it. kept: whether it is inside."""
        left = []
        for i, (limit, is_kept) in enumerate(zip(self.limits, kept, strict=True)):
            own = limit.own
            same = abs(point[own] - self.x[own]) <= SAME
            if same.all():
                point[own] = self.x[own]
            elif not is_kept:  # what stays where it is may be at the border, where rounding leaves the limit
                point[own] = np.where(same, self.x[own], point[own])
                if not limit.holds(point[own]):
                    left.append(i)
        return left

    def _loose(self, point: Array) -> list[int]:
        """The limits that are farther away from `point` than their tangents, which hold it."""
        return [
            i
            for i, level in self.tangents.items()
            if i not in self._pinned
            and _is_touched(_room(level), point)
            and self.limits[i].holds(point[self.limits[i].own], NEAR)
        ]

    def _return(self, left: Sequence[int], point: Array, freedom: int) -> None:
        """What to do when the next level leads to a `point` that leaves some limits."""
        if any(i in self.tangents and not _is_met(self.tangents[i], point) for i in left):
            self._tries = max(self._tries, self._most + 1)  # the levels above hold it there
        if self._tries >= self._most and len(self._best):
            self._take(self._best, freedom)
        elif self._tries < self._most:
            self._draw(left, point)
        elif self._tries == self._most:
            self._pin({i: self.limits[i].nearest(point[self.limits[i].own], INSET) for i in left})
        elif self._tries == self._most + 1:
            there = self._as_far_as(point)
            self._pin({i: _fixed(self.limits[i].own, there) for i in left})
        else:
            self._take(self._as_far_as(point), freedom)

    def _draw(self, limits: Sequence[int], point: Array) -> None:
        """Tangents where `point` is."""
        for i in limits:
            limit, step = self.limits[i], point[self.limits[i].own]
            beyond = limit.beyond(step) if self._tries else 0.0
            self.tangents[i] = limit.tangent(step, INSET + (NEARER * beyond if beyond < CLOSE else 0.0))
        self._tries += 1

    def _pin(self, levels: dict[int, Level]) -> None:
        self.tangents |= levels
        self._pinned += levels
        self._tries += 1

    def _as_far_as(self, point: Array) -> Array:
        """The farthest place found on the way to `point` that keeps all limits."""
        moved = [limit for limit in self.limits if (point[limit.own] != self.x[limit.own]).any()]
        share, span = 0.0, 1.0
        for _ in range(DIVISIONS):
            shares = share + span * np.arange(1, PARTS + 1) / PARTS
            places = self.x + shares[:, None] * (point - self.x)
            inside = np.all([limit.holds(places[:, limit.own], 0.25 * INSET) for limit in moved], axis=0)
            count = PARTS if inside.all() else int(np.argmin(inside))
            share, span = share + span * count / PARTS, span / PARTS
            if count == PARTS:
                break
        return self.x + share * (point - self.x)


def _fixed(own: slice, x: Array) -> Level:
    """Rows that only x's own part meets."""
    J = np.eye(len(x))[own]
    return Level(J, x[own], x[own])


def _admitting(level: Level, x: Array) -> Level:
    """The rows, as much wider as it takes that x (nv,) meets them."""
    values = level.J @ x
    return Level(level.J, np.minimum(level.lower, values), np.maximum(level.upper, values))


def _inset(level: Level) -> Level:
    """The rows so much narrower that rounding of what follows does not matter, if all let x move."""
    if (level.upper - level.lower <= 4.0 * INSET).any():
        return level
    return Level(level.J, level.lower + INSET, level.upper - INSET)


def _is_touched(level: Level, x: Array) -> bool:
    values = level.J @ x
    return bool(((values <= level.lower + TOUCHED) | (values >= level.upper - TOUCHED)).any())


def _room(level: Level) -> Level:
    """The rows that let x move at all."""
    room = level.lower < level.upper
    return Level(level.J[room], level.lower[room], level.upper[room])


def _is_met(level: Level, x: Array) -> bool:
    return bool((abs(residual(level, x)) <= TOUCHED).all())
