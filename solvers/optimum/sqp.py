"""The pose that the criteria like best among those that the tasks allow.

Sequential quadratic programming on the poses that meet the tasks: a step along what the tasks leave free, inside the
limits and inequalities, brought back to the tasks and shortened until the cost is less (Nocedal, Wright, "Numerical
Optimization", 2006, chapter 18). The Hessian of the Lagrangian is that of differences, along what can move. Of a
criterion that has an edge, all its gradients there take part (`criteria/largest_eigenvalue.py`). Twin of
kernel/src/optimum/optimum.c.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ...robokin.arrays import Array
from ...robokin.generalized_inverses import null_space
from ..criteria import Criterion
from ..criteria.largest_eigenvalue import LargestEigenvalue
from ..criteria.objective import NEAR, Gradients, Objective
from ..random_numbers import SplitMix64
from .constraint_manifold import ConstraintManifold
from .curvatures import Curvatures
from .curve_pieces import INSIDE
from .pose_look import Optimum, PoseLook
from .pose_point import PosePoint
from .pose_problem import PoseProblem
from .subproblem import Subproblem, rows_at
from .unbounded import unbounded
from .unmet_levels import hold_unmet

# KKT residuals: what is promised, and what is aimed at, since a Newton step squares it anyway.
ACCEPTED, STATIONARY = 1e-6, 1e-9
GROUND = 1e-3  # radians or L: a gradient smaller than the one so far from where it is 0 counts as that
ITERATIONS = 200  # in all; long flat valleys take more than 100
UNMET_ITERATIONS = 80  # where a level is not met, whose poses are known to less: most that find an optimum take 40
# Poses in all, which is what takes time: so many, and as many for each freedom: a step differentiates along all. An arm
# that finds an optimum hardly takes 1500.
MOST_POSES, FEW_POSES, POSES_EACH = 8000, 2000, 125
# So many steps that halve no residual are given up, where they lower the cost by less than this share of its curvature,
# or of what one whole step promises: the steps that are left would not bring it there.
PATIENCE, STALE, JAMMED = 12, 1e-7, 1e-3

# Second derivatives.
STEP = 1e-5  # radians or L, of the differences: rounding and bending then cost 1e-10 each
STRIDE = 1.0  # radians or L: farther along one direction no second derivative says anything

# Steps.
DECREASE = 1e-4  # share of the decrease that the slope promises (Armijo)
SHORTER, STRIDES = 0.25, 5  # of steps along edges: each of the one before, and how many
HALVINGS, CORNERS = 14, 3  # of a step, to 1e-4 of it: smaller is rounding; of one over corners of curves
LONGER = 3  # halvings less than those from which no way led back to the tasks: with so many the next step starts
SHORT = 1e-3  # radians or L: a step that short is held only by bounds that the pose is at
REACHED = 30.0  # times the last step: eigenvalues that close to the largest may be met in the next, which may be longer

# Looking around.
PROBE, PROBES = 0.05, 16  # radians or L, and how many motions beside two for each that is flat
SMALLER = 0.1  # of a probe: negative curvature may end sooner
CLEAR = 0.1  # times the largest curvature: where the cost bends as much, nothing nearer than a probe costs less
TOUCHED, HARDLY = 1e-9, 1e-6  # inequalities nearer than this, and multipliers relative to the slope: they may let go
ROUNDS = 8  # descents, each from what was found around the last
SADDLE = 1e-6  # times the largest curvature: negative curvature that differences show for certain
LESS = 1e-11  # times the largest curvature: a cost that is less by more is better
UNSEEN = 100.0  # times its rounding: a cost that is less by no more is not better


class StaticOptimum:
    """Potentials with weight times gain, minimised where `poses` are met."""

    def __init__(self, poses: PoseProblem, criteria: Sequence[Criterion]) -> None:
        self.poses = poses
        self.objective = Objective(criteria, poses.scale)
        self.iterations, self._most, self._stride = 0, ITERATIONS, STRIDE
        self._curvatures = Curvatures()

    def find(self, start: PosePoint, most: int) -> Generator[float, None, Optimum]:
        """most: poses that it may look at. Yields the share of the steps that it may take after each."""
        if not self.objective.potentials:
            return Optimum(start, 0.0, True, 0, 0)
        before = self.poses.placed
        self._most_placed = before + most
        self._curvatures.note(self.objective.metric(start.state))
        self._surface = ConstraintManifold(self.poses, start)
        point = self._surface.start
        self._most = ITERATIONS if point.is_met else UNMET_ITERATIONS
        found = yield from self._descended(point)
        if self.poses.pieces:
            self.poses.pieces.leave()
            found = replace(found, point=self.poses.point(found.point.q))
        found = replace(found, poses=self.poses.placed - before)
        if found.is_optimal:
            return found
        given = self.poses, self.objective, point, found.point, self._surface.nearest
        return replace(found, why=lambda: unbounded(*given) or found.why())

    def _descended(self, point: PosePoint) -> Generator[float, None, Optimum]:
        random = SplitMix64(0)
        for _ in range(ROUNDS):
            look, reason = yield from self._descend(point)
            better = None if self._is_over else self._better_around(look, random)
            if better is None:
                is_optimal = look.residual <= ACCEPTED
                return Optimum(look.point, look.residual, is_optimal, self.iterations, 0, partial(str, reason))
            point = better
        reason = f"there was something better around each of {ROUNDS} poses"
        return Optimum(point, self._look(point).residual, False, self.iterations, 0, partial(str, reason))

    def _descend(self, point: PosePoint) -> Generator[float, None, tuple[PoseLook, str]]:
        """Where no step leads farther down, and why that is the last one."""
        look, last, promised, first = self._look(point), (np.inf, np.inf), 0.0, 0
        for step in range(self._most):
            if look.residual <= STATIONARY:
                break
            if self._is_over:
                return look, f"after {self.iterations} steps the cost still falls"
            if step % PATIENCE == 0:
                lowered = last[1] - look.cost
                if look.residual > 0.5 * last[0] and lowered < max(STALE * self._curvatures.usual, JAMMED * promised):
                    return look, f"{PATIENCE} steps lowered the cost by {lowered:.1g} only"
                last = look.residual, look.cost
            self.iterations += 1
            yield self.iterations / self._most
            values, E = self._principal_curvatures(look)
            B = self._curvatures.hessian(look.descent, values, E, STRIDE)
            x, change, _ = look.subproblem.best(look.gradients, B)
            if look.residual <= ACCEPTED and -change <= UNSEEN * self.objective.rounding(look.point.state):
                return look, ""
            after = self._step_over_corners(look, values, E) if self.poses.pieces else None
            after = after or self._step_along_edges(look, values, E)
            promised = 0.0 if after else -change
            after = after or self._search_line(look, x, change, first)
            first = max(self._blocked - LONGER, 0) if promised else 0
            after = after or self._search_line(look, SHORT * look.descent, -SHORT * float(look.descent @ look.descent))
            if after is None:
                # Where the best step promises less than the rounding of the cost, the slope is none.
                is_descent = -change > self.objective.rounding(look.point.state)
                return look if is_descent or not look.multipliers.is_known else replace(
                    look, residual=0.0
                ), "no step found lowers the cost"
            look = after
        return look, ""

    @property
    def _is_over(self) -> bool:
        return self.iterations >= self._most or self.poses.placed >= self._most_placed

    def _look(self, point: PosePoint, cost: float | None = None, before: PoseLook | None = None) -> PoseLook:
        if (straight := self.poses.pieces.take(point)) is not point:
            point, cost = straight, None
        cost = self.objective.value(point.state) if cost is None else cost
        # What is farther away than short steps come makes the cost bend, which a Newton step knows better than an edge.
        last = np.inf if before is None else float(np.linalg.norm(self.poses.difference(before.point.q, point.q)))
        gradients = self.objective.gradients(point.state, near=min(NEAR, REACHED * last))
        steepest = gradients.gradient
        if before is not None:
            gradients = gradients.in_frames_of(before.gradients)
        subproblem = Subproblem(self.poses, point)
        hold_unmet(self.poses, point, subproblem)
        size = max(float(np.linalg.norm(steepest)), GROUND * self._curvatures.usual) or 1.0
        nv = len(self.poses.scale)
        x, _, multipliers = subproblem.best(gradients, np.eye(nv) * (size / SHORT))
        residual = float(np.linalg.norm(x)) / SHORT if multipliers.is_known else np.inf
        # A slope that no pose around could show to be one.
        if multipliers.is_known and residual * size * PROBE <= UNSEEN * self.objective.rounding(point.state):
            residual = 0.0
        return PoseLook(
            point,
            cost,
            Gradients(gradients.smooth, gradients.edges, multipliers.chosen),
            subproblem,
            multipliers,
            x * size / SHORT,
            residual,
            size,
        )

    def _moved(self, look: PoseLook, x: Array) -> PosePoint | None:
        q = self.poses.moved(look.point.q, x)
        return self.poses.pieces.brought_back(lambda: self._surface.nearest(q, look.point))

    def _search_line(
        self, look: PoseLook, x: Array, change: float, first: int = 0, last: int = HALVINGS
    ) -> PoseLook | None:
        self._blocked = first
        for halvings in range(first, last):
            share = 0.5**halvings
            after = self._moved(look, share * x)
            if after is None:
                self._blocked = halvings + 1
                continue
            cost = self.objective.value(after.state)
            if self._rise(look, after, cost) < DECREASE * share * min(change, 0.0):
                return self._look(after, cost, look)
        return None

    def _rise(self, look: PoseLook, after: PosePoint, cost: float) -> float:
        """How much more a pose nearby costs, as if both met exactly, to first order, the levels that can be met."""
        multipliers, met = look.subproblem.multipliers_of_levels(look.multipliers, look.point.levels), look.point.met
        here, there = (self._surface.excess_cost(multipliers, met, each) for each in (look.point, after))
        return (cost - there) - (look.cost - here)

    def _step_over_corners(self, look: PoseLook, values: Array, E: Array) -> PoseLook | None:
        """A Newton step that leaves pieces of curves, where it is worth it: what is nearly smooth holds nothing."""
        B = self._curvatures.hessian(look.descent, values, E, STRIDE)
        x, change, _ = look.subproblem.beyond_pieces().best(look.gradients, B)
        if not look.subproblem.leaves_pieces(x):
            return None
        self.poses.pieces.leave()
        after = self._search_line(look, x, change, last=CORNERS)
        if after is None:
            self.poses.pieces.keep()
        return after

    def _step_along_edges(self, look: PoseLook, values: Array, E: Array) -> PoseLook | None:
        """The first step along edges that is worth it, each shorter than the one before: how edges bend is known less
        far than how the rest does, and half a step would leave them."""
        for _ in range(STRIDES if look.gradients.sharp else 0):
            B = self._curvatures.hessian(look.descent, values, E, self._stride)
            x, change, _ = look.subproblem.best(look.gradients, B)
            after = self._bent_step(look, x, change, B)
            if after is not None:
                self._stride = min(self._stride / SHORTER, STRIDE)
                return after
            self._stride *= SHORTER
        self._stride = STRIDE
        return None

    def _bent_step(self, look: PoseLook, x: Array, change: float, B: Array) -> PoseLook | None:
        """The whole step along edges as they bend, where it is worth it: a straight one leaves them, which costs as
        much as it gains (Maratos)."""
        point = self._moved(look, x)
        if point is None:
            return None
        there = self.objective.gradients(point.state, look.gradients)
        pairs = list(zip(look.gradients.edges, there.edges, strict=True))
        if any(own.A.shape != then.A.shape for own, then in pairs):
            return None
        # With x, not with what the way back to the tasks made of it: the edges are those of where x leads.
        bent = [LargestEigenvalue(then.A - own.derivative @ x, own.derivative, own.frames) for own, then in pairs]
        x, _, _ = look.subproblem.best(Gradients(look.gradients.smooth, bent, look.gradients.chosen), B)
        return self._search_line(look, x, change, last=1)

    def _bend(self, look: PoseLook, point: PosePoint) -> Array:
        """(nv,) the gradient of the Lagrangian at a point nearby, with what holds the pose of `look`."""
        gradients = self.objective.gradients(point.state, look.gradients)
        return gradients.gradient + look.subproblem.weighted(look.multipliers, rows_at(self.poses, point))

    def _bending(self, look: PoseLook, Z: Array) -> Array:
        """(d, d) the Hessian of the Lagrangian along the columns of Z (nv, d)."""
        here = self._bend(look, look.point)
        columns = []
        for z in Z.T:
            moved = self.poses.integrated(look.point.q, STEP * z)
            columns.append(Z.T @ (self._bend(look, self.poses.point(moved)) - here) / STEP)
        H = np.array(columns).reshape(Z.shape[1], Z.shape[1])
        return 0.5 * (H + H.T)

    def _principal_curvatures(self, look: PoseLook) -> tuple[Array, Array]:
        """(d,) of the Lagrangian where the pose can move, and (nv, d) along what."""
        face = self._face(look)
        values, E = np.linalg.eigh(self._bending(look, face))
        self._curvatures.note(values)
        return values, face @ E

    def _face(self, look: PoseLook, least: float = 0.0) -> Array:
        """(nv, d) basis of the motions that keep what holds the pose, and presses more than `least`, as it is."""
        Z = look.subproblem.Z
        return Z @ null_space(look.subproblem.pressed(look.gradients, look.multipliers, least).T @ Z)

    def _better_around(self, look: PoseLook, random: SplitMix64) -> PosePoint | None:
        """A pose near a stationary one that costs less: it was a saddle, or there is another valley.

        Along motions that clearly bend the cost upwards there is none so near. Looked for is along the others, along
        all where edges are near or an inequality is touched that hardly presses, and past corners of curves.
        """
        subproblem, directions = look.subproblem, []
        if not subproblem.Z.shape[1]:
            return None
        face = self._face(look, HARDLY * look.size)
        values, E = np.linalg.eigh(self._bending(look, face))
        E = face @ E
        for direction in subproblem.past_pieces(TOUCHED):
            directions += [PROBE * SMALLER**time * _unit(direction) for time in range(4)]
        for direction in E.T[values < -SADDLE * self._curvatures.largest]:
            directions += [size * direction for size in (PROBE, -PROBE, SMALLER * PROBE, -SMALLER * PROBE)]
        flat = E[:, values < CLEAR * self._curvatures.largest]
        for _ in range(flat.shape[1] + PROBES // 2 if flat.shape[1] else 0):
            direction = _unit(flat @ _drawn(random, flat.shape[1]))
            size = PROBE * random.uniform()
            directions += [size * direction, -size * direction]
        for _ in range(PROBES if self._may_turn(look) else 0):
            direction = subproblem.best(Gradients(_drawn(random, len(E)), (), ()), np.eye(len(E)))[0]
            directions.append(PROBE * random.uniform() ** 3 * _unit(direction))
        slack = self._surface.slack(subproblem.multipliers_of_levels(look.multipliers, look.point.levels))
        slack += 2.0 * INSIDE * float(abs(look.multipliers.inequalities[subproblem.pieces]).sum())
        least = look.cost - LESS * self._curvatures.largest - UNSEEN * self.objective.rounding(look.point.state) - slack
        best = None
        self.poses.pieces.leave()
        for direction in filter(np.any, directions):
            after = self._moved(look, direction)
            if after is not None and (cost := self.objective.value(after.state)) < least:
                best, least = after, cost
        if best is None:
            self.poses.pieces.keep()
        return best

    def _may_turn(self, look: PoseLook) -> bool:
        """Whether the slope is not one vector around: edges, or inequalities that are touched and hardly press."""
        subproblem = look.subproblem
        touched = np.minimum(-subproblem.lower, subproblem.upper) < TOUCHED
        weak = abs(look.multipliers.inequalities) <= HARDLY * look.size
        return bool((touched & weak).any()) or bool(look.gradients.sharp)


def most_poses(freedoms: int) -> int:
    """How many a search for an optimum looks at."""
    return min(MOST_POSES, FEW_POSES + POSES_EACH * freedoms)


def _drawn(random: SplitMix64, count: int) -> Array:
    return np.array([2.0 * random.uniform() - 1.0 for _ in range(count)])


def _unit(x: Array) -> Array:
    return x / (np.linalg.norm(x) or 1.0)
