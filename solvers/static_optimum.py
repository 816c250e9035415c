"""The pose that the criteria like best among those that the tasks allow.

Sequential quadratic programming on the poses that meet the tasks: a step along what the tasks leave free, inside the
limits and inequalities, brought back to the tasks and shortened until the cost is less (Nocedal, Wright, "Numerical
Optimization", 2006, chapter 18). The Hessian of the Lagrangian is that of differences, renewed the more often the fewer
motions are free, and between by damped BFGS updates (Powell, 1978). Of a criterion that has an edge, all its gradients
there take part (`criteria/edge.py`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..robokin.generalized_inverses import null_space
from .criteria import Criterion
from .criteria.edge import Edge
from .endless import FLAT, endless
from .objective import NEAR, Objective, Slopes
from .posing import Point, Posing
from .tangent import Multipliers, Tangent
from .task_surface import TaskSurface

Array = np.ndarray

# KKT residuals: what is promised, and what is aimed at, since a Newton step squares it anyway.
ACCEPTED, STATIONARY = 1e-6, 1e-9
GROUND = 1e-3  # radians or L: a gradient smaller than the one so far from where it is 0 counts as that
ITERATIONS = 200  # in all; long flat valleys take more than 100
PATIENCE, STALE = 12, 1e-7  # steps that halve no residual and lower the cost by less, of its curvature, are given up

# Second derivatives.
STEP = 1e-5  # radians or L, of the differences: rounding and bending then cost 1e-10 each
SHARE = 16  # gradients for the Hessian that may be taken for each step, which itself costs about as much
ACROSS = 10.0  # times the largest curvature, across what holds the pose: nothing moves that way
LEAST = 1e-10  # times the largest curvature, which differences are known to: any counts as at least that
STRIDE = 1.0  # radians or L: farther along one direction no second derivative tells anything

# Steps.
DECREASE = 1e-4  # share of the decrease that the slope promises (Armijo)
HALVINGS = 14  # of a step, to 1e-4 of it: what has not paid off by then is rounding
SHORT = 1e-3  # radians or L: a step that short is held only by bounds that the pose is at
REACHED = 30.0  # times the last step: eigenvalues that close to the largest may be met in the next, which may be longer

# Looking around.
PROBE, PROBES = 0.05, 16  # radians or L, and how many motions beside one for each that is free
ROUNDS = 8  # descents, each from what was found around the last
SADDLE = 1e-6  # times the largest curvature: negative curvature that differences tell for certain
LESS = 1e-11  # times the largest curvature: a cost that is less by more is better
UNSEEN = 100.0  # times its rounding: a cost that is less by no more is not better


@dataclass(frozen=True, eq=False)
class Optimum:
    """stationary: what the tasks and limits leave of the gradient, relative to it (KKT residual).   is_optimal: that
    is about 0, and nothing better was found around.   reason: why it is not."""

    point: Point
    stationary: float
    is_optimal: bool
    iterations: int
    reason: str = ""


@dataclass(frozen=True, eq=False)
class _Look:
    """At a point: its cost, slopes (of edges the least gradient), tangent and what holds it. residual: of it all, and
    left: (nv,) the way down that is left."""

    point: Point
    cost: float
    slopes: Slopes
    tangent: Tangent
    multipliers: Multipliers
    left: Array
    residual: float


class StaticOptimum:
    """Potentials with weight times gain, minimised where `posing` is met."""

    def __init__(self, posing: Posing, criteria: Sequence[Criterion]) -> None:
        self.posing = posing
        self.objective = Objective(criteria, posing.scale)
        self.iterations = 0
        self._curvature = self._usual = 1.0  # the largest and the usual one where it was looked at last

    def find(self, start: Point) -> Generator[float, None, Optimum]:
        """Yields the share of the steps that it may take after each."""
        if not self.objective.potentials:
            return Optimum(start, 0.0, True, 0)
        self._note_curvatures(self.objective.metric(start.state))
        self._surface = TaskSurface(self.posing, start)
        point = self._surface.start
        found = yield from self._descended(point)
        if found.is_optimal:
            return found
        why = endless(self.posing, self.objective, point, found.point, self._surface.nearest)
        return replace(found, reason=why or found.reason)

    def _descended(self, point: Point) -> Generator[float, None, Optimum]:
        rng = np.random.default_rng(0)
        for _ in range(ROUNDS):
            look, reason = yield from self._descend(point)
            is_over = self.iterations >= ITERATIONS
            better = None if is_over else self._better_around(look, rng)
            if better is None:
                is_optimal = look.residual <= ACCEPTED
                return Optimum(look.point, look.residual, is_optimal, self.iterations, "" if is_optimal else reason)
            point = better
        reason = f"there was something better around each of {ROUNDS} poses"
        return Optimum(point, self._look(point).residual, False, self.iterations, reason)

    def _descend(self, point: Point) -> Generator[float, None, tuple[_Look, str]]:
        """Where no step leads farther down, and why that is the last one."""
        look = self._look(point)
        B, age, last = None, 0, (np.inf, np.inf)
        for step in range(ITERATIONS):
            if look.residual <= STATIONARY:
                break
            if self.iterations >= ITERATIONS:
                return look, f"after {ITERATIONS} steps the cost still falls"
            if step % PATIENCE == 0:
                if look.residual > 0.5 * last[0] and look.cost > last[1] - STALE * self._usual:
                    return look, f"the cost is nearly flat: {PATIENCE} steps lowered it by {last[1] - look.cost:.1g}"
                last = look.residual, look.cost
            self.iterations += 1
            yield self.iterations / ITERATIONS
            if B is None or age * SHARE >= look.tangent.Z.shape[1]:
                B, age = self._hessian(look), 0
            x, change, _ = look.tangent.best(look.slopes, B)
            after = self._bent_step(look, x, change, B) or self._search_line(look, x, change)
            after = after or self._flat_step(look, x)
            if after is None:
                if age:
                    B = None
                    continue
                after = self._search_line(look, SHORT * look.left, -SHORT * float(look.left @ look.left))
                if after is None:
                    return look, "no step found lowers the cost"
            B, age = self._updated(B, look, after), age + 1
            look = after
        return look, ""

    def _look(self, point: Point, cost: float | None = None, before: _Look | None = None) -> _Look:
        cost = self.objective.value(point.state) if cost is None else cost
        # What is farther away than short steps come makes the cost bend, which a Newton step knows better than an edge.
        last = np.inf if before is None else float(np.linalg.norm(self.posing.difference(before.point.q, point.q)))
        slopes = self.objective.slopes(point.state, near=min(NEAR, REACHED * last))
        steepest = slopes.gradient
        if before is not None:
            slopes = slopes.as_seen_from(before.slopes)
        tangent = Tangent(self.posing, point)
        size = max(float(np.linalg.norm(steepest)), GROUND * self._usual)
        if size == 0.0:
            size = 1.0
        nv = len(self.posing.scale)
        x, _, multipliers = tangent.best(slopes, np.eye(nv) * (size / SHORT))
        residual = float(np.linalg.norm(x)) / SHORT if multipliers.is_known else np.inf
        # A slope that no pose around could show to be one.
        if multipliers.is_known and residual * size * PROBE <= UNSEEN * self.objective.rounding(point.state):
            residual = 0.0
        return _Look(
            point,
            cost,
            Slopes(slopes.smooth, slopes.edges, multipliers.chosen),
            tangent,
            multipliers,
            x * size / SHORT,
            residual,
        )

    def _search_line(self, look: _Look, x: Array, change: float, tries: int = HALVINGS) -> _Look | None:
        for halving in range(tries):
            share = 0.5**halving
            after = self._surface.nearest(self.posing.moved(look.point.q, share * x), look.point)
            if after is None:
                continue
            cost = self.objective.value(after.state)
            if cost < look.cost + DECREASE * share * min(change, 0.0):
                return self._look(after, cost, look)
        return None

    def _bent_step(self, look: _Look, x: Array, change: float, B: Array) -> _Look | None:
        """The whole step along edges as they bend, where it is worth it: a straight one leaves them, which costs as
        much as it gains (Maratos)."""
        point = self._surface.nearest(self.posing.moved(look.point.q, x), look.point) if look.slopes.edges else None
        if point is None:
            return None
        there = self.objective.slopes(point.state, look.slopes)
        s = self.posing.difference(look.point.q, point.q)
        pairs = list(zip(look.slopes.edges, there.edges, strict=True))
        if any(own.A.shape != then.A.shape for own, then in pairs):
            return None
        bent = [Edge(then.A - own.slopes @ s, own.slopes, own.frames) for own, then in pairs]
        x, _, _ = look.tangent.best(Slopes(look.slopes.smooth, bent, look.slopes.chosen), B)
        return self._search_line(look, x, change, 1)

    def _flat_step(self, look: _Look, x: Array) -> _Look | None:
        """The whole step, where the cost is flat to its rounding, when it is more nearly stationary there."""
        point = self._surface.nearest(self.posing.moved(look.point.q, x), look.point)
        if point is None:
            return None
        after = self._look(point, None, look)
        if after.cost > look.cost + FLAT * self.objective.rounding(point.state) or after.residual >= look.residual:
            return None
        return after

    def _bend(self, look: _Look, point: Point) -> Array:
        """(nv,) the gradient of the Lagrangian at a point nearby, with what holds the pose of `look`."""
        slopes = self.objective.slopes(point.state, look.slopes)
        return slopes.gradient + look.tangent.weighted(look.multipliers, Tangent(self.posing, point).rows)

    def _bending(self, look: _Look, Z: Array) -> Array:
        """(d, d) the Hessian of the Lagrangian along the columns of Z (nv, d)."""
        here = self._bend(look, look.point)
        columns = []
        for z in Z.T:
            moved = self.posing.integrated(look.point.q, STEP * z)
            columns.append(Z.T @ (self._bend(look, self.posing.point(moved)) - here) / STEP)
        H = np.array(columns).reshape(Z.shape[1], Z.shape[1])
        return 0.5 * (H + H.T)

    def _hessian(self, look: _Look) -> Array:
        """(nv, nv) positive definite. Across what holds the pose, where it cannot move, it is made large, so that
        negative curvature there does not hide what there is along it."""
        Z = look.tangent.Z
        across = Z.T @ look.tangent.pressed(look.slopes, look.multipliers)
        H, face = self._bending(look, Z), null_space(across.T)
        self._note_curvatures(np.linalg.eigvalsh(H))
        values, E = np.linalg.eigh(face.T @ H @ face)
        E = Z @ face @ E
        values = np.maximum(np.maximum(abs(values), abs(E.T @ look.left) / STRIDE), LEAST * self._curvature)
        return E * values @ E.T + ACROSS * self._curvature * (np.eye(len(Z)) - E @ E.T)

    def _note_curvatures(self, values: Array) -> None:
        """What small gradients and costs are compared with."""
        sizes = np.sort(abs(values[values != 0.0])) if values.any() else np.ones(1)
        self._curvature, self._usual = float(sizes[-1]), float(sizes[len(sizes) // 2])

    def _updated(self, B: Array, look: _Look, after: _Look) -> Array:
        s = self.posing.difference(look.point.q, after.point.q)
        y = after.slopes.gradient + after.tangent.weighted(after.multipliers, after.tangent.rows)
        y = y - self._bend(after, look.point)
        Bs = B @ s
        curvature = float(s @ Bs)
        if not curvature > 0.0:
            return B
        if s @ y < 0.2 * curvature:
            theta = 0.8 * curvature / (curvature - float(s @ y))
            y = theta * y + (1.0 - theta) * Bs
        return B - np.outer(Bs, Bs) / curvature + np.outer(y, y) / float(s @ y)

    def _better_around(self, look: _Look, rng: np.random.Generator) -> Point | None:
        """A pose near a stationary one that costs less: it was a saddle, or there is another valley."""
        point, nv = look.point, self.posing.model.nv
        free = look.tangent.Z.shape[1]
        if not free:
            return None
        ways = []
        face = null_space(look.tangent.pressed(look.slopes, look.multipliers).T @ look.tangent.Z)
        values, E = np.linalg.eigh(self._bending(look, look.tangent.Z @ face))
        for i in np.flatnonzero(values < -SADDLE * self._curvature):
            ways += [sign * look.tangent.Z @ face @ E[:, i] for sign in (1.0, -1.0)]
        for _ in range(free + PROBES // 2):
            drawn = Slopes(rng.normal(size=nv) / np.sqrt(nv), (), ())
            way, _, _ = look.tangent.best(drawn, np.eye(nv))
            ways += [way, -way]
        best, least = None, look.cost - LESS * self._curvature - UNSEEN * self.objective.rounding(point.state)
        for way in ways:
            size = np.linalg.norm(way)
            if size == 0.0:
                continue
            after = self._surface.nearest(self.posing.moved(point.q, PROBE * rng.uniform() ** 3 / size * way), point)
            if after is None:
                continue
            cost = self.objective.value(after.state)
            if cost < least:
                best, least = after, cost
        return best
