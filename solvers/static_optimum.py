"""The pose that the criteria like best among those that the tasks allow.

Sequential quadratic programming on the poses that meet the tasks: a step of the hierarchy with the Hessian of the
Lagrangian as estimated by damped BFGS updates (Powell, "A fast algorithm for nonlinearly constrained optimization
calculations", 1978), brought back to the tasks, and shortened until the cost is less. All inside the limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .criteria import Criterion, Potential
from .posing import Point, Posing
from .state import State

Array = np.ndarray

STATIONARY = 1e-8  # what of the gradient no task, constraint or limit holds, relative to the gradient: aimed at, and
ACCEPTED = 1e-6  # taken where rounding allows no less
ITERATIONS = 100
HALVINGS = 14  # of a step
DECREASE = 1e-4  # share of the decrease that the slope promises
CORRECTIONS = 8  # steps back to the tasks
MET = 1e-22  # error of a level that is as good as 0
WORSE = 1e-6  # relative: an error of a level that cannot be met may grow by less than this
PROBES = 16
PROBE, ROUNDS = 0.05, 8  # radians or L that are looked around; how often it may go on from what was found there
AT = 1e-7  # an inequality is held that has less room than this
FLAT = 1e-12  # relative: costs nearer to each other than this are equal
LESS = 1e-9  # relative: a cost that is really less


@dataclass(frozen=True, eq=False)
class Optimum:
    """stationary: what the tasks and limits leave of the gradient, relative to it (KKT residual).   is_optimal: that
    is about 0, and nothing better was found around."""

    point: Point
    stationary: float
    is_optimal: bool
    iterations: int


class StaticOptimum:
    """Potentials with weight times gain, minimised where `posing` is met. Criteria on velocities have no say."""

    def __init__(self, posing: Posing, criteria: Sequence[Criterion]) -> None:
        self.posing = posing
        self.potentials = [criterion for criterion in criteria if isinstance(criterion, Potential)]
        self.iterations = 0

    def cost(self, state: State) -> float:
        return sum(each.weight * each.gain * each.potential(state) for each in self.potentials)

    def gradient(self, state: State) -> Array:
        """(nv,) dimensionless, as x."""
        total = np.zeros(self.posing.model.nv)
        for each in self.potentials:
            total += each.weight * each.gain * each.gradient(state)
        return self.posing.scale * total

    def metric(self, state: State) -> Array:
        """(nv,) the diagonal that the Hessian is first taken for."""
        total = np.zeros(self.posing.model.nv)
        for each in self.potentials:
            total += each.weight * each.gain * each.metric(state)
        return self.posing.scale**2 * total

    def find(self, start: Point) -> Optimum:
        point = self._corrected(start.q, start) or start
        rng = np.random.default_rng(0)
        for _ in range(ROUNDS):
            point, residual = self._descend(point)
            better = self._better_around(point, rng)
            if better is None:
                # On the edge of a criterion that has one, no gradient vanishes.
                has_edge = any(not each.is_smooth for each in self.potentials)
                return Optimum(point, residual, residual <= ACCEPTED or has_edge, self.iterations)
            point = better
        return Optimum(point, residual, False, self.iterations)

    def _descend(self, point: Point) -> tuple[Point, float]:
        cost, g = self.cost(point.state), self.gradient(point.state)
        B = np.diag(self.metric(point.state))
        for _ in range(ITERATIONS):
            residual = self._stationarity(point, g)
            if residual <= STATIONARY:
                break
            self.iterations += 1
            x, _ = self.posing.step(point, 0.0, B, g)
            found = self._search_line(point, cost, g, x) or self._flat_step(point, cost, x, residual)
            if found is None:
                steepest, _ = self.posing.held(point, None, g / np.linalg.norm(g))
                found = self._search_line(point, cost, g, steepest)
                B = np.diag(self.metric(point.state))
                if found is None:
                    break
            after, cost_after = found
            g_after = self.gradient(after.state)
            B = self._updated(B, point, after, g, g_after)
            point, cost, g = after, cost_after, g_after
        return point, residual

    def _stationarity(self, point: Point, g: Array) -> float:
        size = float(np.linalg.norm(g))
        if size == 0.0:
            return 0.0
        # A small step, so that only those bounds hold it that the pose is at.
        short = 1e-3
        x, _ = self.posing.held(point, None, short / size * g)
        return float(np.linalg.norm(x)) / short

    def _search_line(self, point: Point, cost: float, g: Array, x: Array) -> tuple[Point, float] | None:
        slope = min(float(g @ x), 0.0)
        for halving in range(HALVINGS):
            share = 0.5**halving
            after = self._corrected(self.posing.moved(point.q, share * x), point)
            if after is None:
                continue
            cost_after = self.cost(after.state)
            if cost_after < cost + DECREASE * share * slope:
                return after, cost_after
        return None

    def _flat_step(self, point: Point, cost: float, x: Array, residual: float) -> tuple[Point, float] | None:
        """The whole step, where the cost is flat to its rounding, when it is more nearly stationary there."""
        after = self._corrected(self.posing.moved(point.q, x), point)
        if after is None:
            return None
        cost_after = self.cost(after.state)
        if cost_after > cost + FLAT * max(1.0, abs(cost)):
            return None
        return (after, cost_after) if self._stationarity(after, self.gradient(after.state)) < residual else None

    def _corrected(self, q: Array, before: Point) -> Point | None:
        """Back to the tasks, as well met as `before`; None when that fails."""
        point = self.posing.point(q)
        for _ in range(CORRECTIONS):
            if (point.errors[before.met] <= MET).all() and self._is_as_good(point, before):
                return point
            x, _ = self.posing.step(point)
            after = self.posing.point(self.posing.moved(point.q, x))
            if not (after.errors < point.errors).any():
                break
            point = after
        return point if self._is_as_good(point, before) else None

    def _is_as_good(self, point: Point, before: Point) -> bool:
        allowed = np.where(before.met, np.inf, before.errors * (1.0 + WORSE))
        return bool((point.met >= before.met).all() and (point.errors <= allowed).all())

    def _updated(self, B: Array, point: Point, after: Point, g: Array, g_after: Array) -> Array:
        posing = self.posing
        s = posing.difference(point.q, after.q)
        y = g_after - g
        J, J_after = _holding(point), _holding(after)
        if J.shape == J_after.shape and len(J):
            multipliers = np.linalg.lstsq(J_after.T, -g_after, rcond=1e-9)[0]
            y = y + (J_after - J).T @ multipliers
        Bs = B @ s
        curvature = float(s @ Bs)
        if curvature <= 0.0:
            return B
        if s @ y < 0.2 * curvature:
            theta = 0.8 * curvature / (curvature - float(s @ y))
            y = theta * y + (1.0 - theta) * Bs
        return B - np.outer(Bs, Bs) / curvature + np.outer(y, y) / float(s @ y)

    def _better_around(self, point: Point, rng: np.random.Generator) -> Point | None:
        """A pose near a stationary one that costs less: it was a saddle, or its criterion has an edge there."""
        cost, nv = self.cost(point.state), self.posing.model.nv
        _, free = self.posing.held(point, None, np.zeros(nv))
        if not free:
            return None
        best, least = None, cost - LESS * max(1.0, abs(cost))
        for probe in range(2 * free + PROBES):
            if probe % 2 == 0:
                way, _ = self.posing.held(point, None, rng.normal(size=nv) / np.sqrt(nv))
            x = (1.0 if probe % 2 else -1.0) * way
            size = np.linalg.norm(x)
            if size == 0.0:
                continue
            after = self._corrected(self.posing.moved(point.q, PROBE * rng.uniform() ** 3 / size * x), point)
            if after is not None and self.cost(after.state) < least:
                best, least = after, self.cost(after.state)
        return best


def _holding(point: Point) -> Array:
    """(m, nv) the equations, and the inequalities that the pose is at."""
    return np.vstack(
        [x.J[(x.lower == x.upper) | (abs(x.lower) < AT) | (abs(x.upper) < AT)] for x in point.levels]
        or [np.zeros((0, 0))]
    )
