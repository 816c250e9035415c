"""Following targets without coming nearer to anything than a margin: beside obstacles a robot stops, or goes around."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.collision.approach import Reaches
from ...robokin.collision.free_path import is_free_along, line
from ...robokin.configuration import beside
from ..ik.problem import IKProblem
from ..results import Diagnosis, SolveResult, Status
from ..tasks.clearance import ClearanceTask
from .follow import TargetFollower, between

RESOLUTION, FINEST = 0.1, 1e-4  # of the margin, and [m] at least: by how much more is asked for at looks at a way
LOOKS = 4096  # at a way, at most
PIECES = 8  # that the way of the targets is cut into where it is blocked
_ROUNDING = 1e-5  # [m] by which a pose may be short of the margin


class ClearFollower(TargetFollower):
    """A `TargetFollower` whose poses keep the margin of a clearance, and whose straight ways from pose to pose keep
    half the margin at every place, not only where it is looked at (`is_free_along`).

    Followed is what would be without the clearance, where its way is free; else with the clearance before all tasks,
    at once, or as far as the way of the targets is free in pieces. What is nearer than the margin at the start may stay
    so, and comes out where it can; two that are in each other then, by more than rounding, may be anywhere.
    obstacles: (n, 4, 4) where they are; None: as in the model.
    """

    def __init__(self, problem: IKProblem, clearance: ClearanceTask, attempts: int, iterations: int) -> None:
        super().__init__(problem)
        self.clearance, self.obstacles = clearance, clearance.target
        tasks = [*problem.tasks, clearance]
        self._near = IKProblem(
            problem.model, tasks, problem.criteria, problem.backend, attempts, iterations, problem.limits
        )
        self._reaches = Reaches(clearance.collisions)
        self._before: list[Any] | None = None

    def solve(
        self, targets: list[Any], q: Array, shares: Sequence[float] | None = None, without: Array | None = None
    ) -> SolveResult:
        before, self._before = self._before, targets
        needed = self._kept(q[None])[0]
        margin = self.clearance.margin
        free = super().solve(targets, q, shares, without)
        if not (needed < margin - _ROUNDING).any() and self._is_way(q, free.q, needed):
            return free
        found = self._solved(targets, q, shares, without)
        if not self._is_way(q, found.q, needed):
            there = q
            if before is not None:
                for piece in range(1, PIECES):
                    aims = [between(a, b, piece / PIECES) for a, b in zip(before, targets, strict=True)]
                    part = self._solved(aims, there, shares, without)
                    if not self._is_way(there, part.q, needed):
                        break
                    there, needed = part.q, self._kept(part.q[None])[0]
            found = self._at(there, targets, shares, without)
        near = self.clearance.nearest(found.q, self.obstacles)
        if found.converged and near is not None and near.distance < margin - 2.0 * _ROUNDING:
            found.diagnosis = Diagnosis.collision(near)
        elif not found.converged and free.converged:
            blocked = near or self.clearance.nearest(free.q, self.obstacles)
            if blocked is None:
                found.diagnosis = Diagnosis(Status.COLLISION, "something is in the way")
            else:
                found.diagnosis = Diagnosis.collision(blocked, f"at the target {blocked.sentence()}")
        return found

    def _solved(
        self, targets: Sequence[Any], q: Array, shares: Sequence[float] | None, without: Array | None
    ) -> SolveResult:
        own = None if shares is None else [*shares, 1.0]
        return self._near.solve([*targets, self.obstacles], q, 0, False, own, without).first(len(targets))

    def _at(
        self, q: Array, targets: Sequence[Any], shares: Sequence[float] | None, without: Array | None
    ) -> SolveResult:
        """The residual of a pose."""
        found, own = self._solved(targets, q, shares, without), None if shares is None else [*shares, 1.0]
        found.q = q
        found.residual_array = self._near.residuals([*targets, self.obstacles], q, own, without)[: len(targets)]
        found.diagnosis = Diagnosis(Status.MAX_ITERATIONS, found.reason)
        return found

    def _kept(self, q: Array) -> Array:
        """(n, pairs) [m] what each pair has at poses (n, nq), the margin at most."""
        margin = self.clearance.margin
        found, _ = self.clearance.collisions.checked_distances(q, margin, self.problem.backend, self.obstacles)
        return np.minimum(found[..., 0], margin)

    def _is_way(self, q: Array, there: Array, needed: Array) -> bool:
        """Whether a pose keeps what it needs (pairs,), and the straight way to it half of the margin."""
        is_out, margin = needed >= -_ROUNDING, self.clearance.margin
        needed = np.where(is_out, np.maximum(needed, 0.0), needed)
        if not (self._kept(there[None])[0] >= needed - _ROUNDING)[is_out].all():
            return False
        resolution = np.maximum(np.minimum(needed, RESOLUTION * margin), FINEST)
        least = np.where(is_out, np.minimum(needed - resolution, 0.5 * margin), -np.inf)
        approach = self._reaches.approach(np.minimum(q, there), np.maximum(q, there))
        path = line(q, beside(self.problem.model, q, there))
        return is_free_along(
            *(self.clearance.collisions, approach, path, 1.0, least, resolution - _ROUNDING),
            *(self.problem.backend, self.obstacles, LOOKS),
        )
