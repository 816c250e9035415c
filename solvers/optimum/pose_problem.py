"""Poses that meet tasks of strict priorities: the residuals of a configuration, and steps that lessen them.

A step is that of `velocity_step` without speeds: displacements inside the position limits, loop closures first, then
the levels of tasks, each damped by its own error (Sugihara, "Solvability-unconcerned inverse kinematics by the
Levenberg-Marquardt method", IEEE T-RO 27(5), 2011). Wheels may slip: where a base stands is a pose, not a way there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel
from ...robokin.spatial import quaternion
from ..descent.steps import damping_for
from ..limits.curved import cone_level, held_floats
from ..limits.viability import dof_coordinates
from ..qp.hierarchy import solve_hierarchy
from ..qp.level import Level
from ..tasks import PostureTask
from ..tasks.influence import Remaining, blended, is_partial
from ..velocity.curved_step import LARGEST_STEP
from ..velocity.kernel_rows import KernelRows
from ..velocity.task_levels import TaskLevels
from .curve_pieces import CurvePieces
from .pose_point import PosePoint

ROUNDING = 1e-14  # coordinates nearer to a bound than this, relative to 1 or it, are at it


class PoseProblem:
    """Tasks with their checked targets, inside position limits. scale: (nv,) of displacements (`State.scale`).
    groups: the tasks of each level."""

    def __init__(
        self,
        levels: TaskLevels,
        targets: Sequence[Any],
        limits: PositionLimits,
        influence: Sequence[float] | None = None,
        remaining: Mapping[int, Remaining] | None = None,
    ) -> None:
        """influence: in place of the tasks' own.
        remaining: what is not asked for of tasks of partial influence."""
        self.levels, self.limits = levels, limits
        self.influence, self.remaining = influence, dict(remaining or {})
        self.placed = 0  # poses that were looked at
        self.model: RobotModel = levels.model
        self.scale, self.tolerance = levels.scale, levels.tolerance
        self._backend, self._coordinate = get_backend(levels.backend), dof_coordinates(self.model)
        fading = {i for i, share in enumerate(influence or ()) if is_partial(share)}
        is_known = self._backend.name == "native" and fading == self.remaining.keys()
        self._kernel = KernelRows.kept(levels) if is_known else None
        self.groups = [np.array(group, int) for group, _ in levels.groups]
        self.pieces = CurvePieces(levels, targets, self.groups, self.share, self.point)

    @property
    def targets(self) -> Sequence[Any]:
        """The tasks' own; of tasks on curves the pieces of these that poses are kept to."""
        return self.pieces.targets

    @property
    def is_whole(self) -> bool:
        """Whether every task counts wholly."""
        return self.influence is None or all(share >= 1.0 for share in self.influence)

    def postures(self, q: Array) -> tuple[int, Array] | None:
        """(levels, nq) q with the joint values that tasks of the first level prescribe, of the first two ..., inside
        the limits, those of upper levels before those of lower ones; and the first level that prescribes any. None when
        none does."""
        prescribing: list[list[int]] = [
            [i for i in group.tolist() if isinstance(self.levels.tasks[i], PostureTask) and self.share(i)]
            for group in self.groups
        ]
        first = next((number for number, own in enumerate(prescribing, 1) if own), 0)
        found = []
        for number in range(1, len(prescribing) + 1):
            there = q
            for i in (i for own in reversed(prescribing[:number]) for i in own):
                task = self.levels.tasks[i]
                assert isinstance(task, PostureTask)
                there = task.prescribed(self.model, there, self.targets[i])
            found.append(self.limits.clamp(there))
        return (first, np.array(found)) if first else None

    def share(self, i: int) -> float:
        """The influence of a task."""
        return self.levels.tasks[i].influence if self.influence is None else self.influence[i]

    def levels_without(self, tasks: Array) -> int:
        """How many levels come before the first one that has one of these tasks."""
        having = [bool(np.isin(group, tasks).any()) for group in self.groups]
        return having.index(True) if True in having else len(having)

    def point(self, q: Array) -> PosePoint:
        self.placed += 1
        state = self.levels.state(q, self.targets, 1.0, None, self.influence)
        known = None if self._kernel is None else self._kernel.at(state, self.targets, self.remaining, self.influence)
        if known is None:
            every = self.levels.rows(state, self.targets, self.influence)
            for i, remaining in self.remaining.items():
                every[i] = blended(self.levels.tasks[i], every[i], remaining)
            residuals = self.levels.residuals(every, np.zeros(self.model.nv), 1.0)
            closures = [level for _, level in self.levels.closures(state, every)]
            levels = [*closures, *self.levels.levels(state, every, 0.0)]
        else:
            levels, residuals = [*known.closures, *known.levels], known.residuals
        errors = np.array([0.5 * float((residual(level) ** 2).sum()) for level in levels])
        within = (residuals <= self.tolerance).all(axis=1) if len(residuals) else np.zeros(0, bool)
        met = np.array([within[group].all() for group in self.groups], bool)
        return PosePoint(q, state, levels, errors, met, residuals)

    def step(self, point: PosePoint, damping: float | None = None, levels: int | None = None) -> Array:
        """x (nv,), dimensionless, the shortest towards the tasks. damping: of all levels; None: by each one's error.
        levels: how many count; None: all."""
        damped = [
            replace(level, damping=damping_for(error) if damping is None else damping)
            for level, error in zip(point.levels[:levels], point.errors, strict=False)
        ]
        nv = self.model.nv
        lo, hi, bounds = self.bounds(point.q)
        return solve_hierarchy(lo, hi, [*bounds, *damped], np.eye(nv), np.zeros(nv), self.levels.backend).x

    def bounds(self, q: Array) -> tuple[Array, Array, list[Level]]:
        """What keeps q + x inside the limits: lo <= x <= hi (nv,), and rows of what is bounded otherwise."""
        nv = self.model.nv
        lo, hi = np.full(nv, -LARGEST_STEP), np.full(nv, LARGEST_STEP)
        plain = self._coordinate >= 0
        at = self._coordinate[plain]
        lo[plain] = np.maximum(lo[plain], np.minimum(self.limits.lower[at] - q[at], 0.0) / self.scale[plain])
        hi[plain] = np.minimum(hi[plain], np.maximum(self.limits.upper[at] - q[at], 0.0) / self.scale[plain])
        rows = floating_bounds(self.limits, self.model, q, self.levels.length)
        return lo, hi, rows + [cone_level(cone, q[cone.q : cone.q + 4], nv) for cone in self.limits.cones]

    def moved(self, q: Array, x: Array) -> Array:
        """(nq,) q moved by x, inside the limits."""
        there = self.limits.clamp(self.integrated(q, x))
        for bound in (self.limits.lower, self.limits.upper):
            close = abs(there - bound) <= ROUNDING * np.maximum(abs(there), 1.0)
            there = np.where(close, bound, there)
        return there

    def integrated(self, q: Array, x: Array) -> Array:
        """(nq,) q moved by x, wherever that leads."""
        return self._backend.integrate(self.model.tree, q, self.scale * x)

    def difference(self, q: Array, other: Array) -> Array:
        """x (nv,) that moves q to another configuration."""
        return self._backend.difference(self.model.tree, q, other) / self.scale


def floating_bounds(limits: PositionLimits, model: RobotModel, q: Array, length: float) -> list[Level]:
    """Position bounds of floating joints as levels: they hold along the axes of the parent, not those of v."""
    bounds, tree = [], model.tree
    for node in held_floats(model, limits):
        iq, iv = int(tree.iq[node]), int(tree.iv[node])
        at = slice(iq, iq + 3)
        J = np.zeros((3, model.nv))
        J[:, iv : iv + 3] = quaternion.to_matrix(q[iq + 3 : iq + 7])
        below, above = limits.lower[at] - q[at], limits.upper[at] - q[at]
        bounds.append(Level(J, np.minimum(below, 0.0) / length, np.maximum(above, 0.0) / length))
    return bounds


def residual(level: Level) -> Array:
    """(m,) the residual of a level before it moves."""
    return np.clip(0.0, level.lower, level.upper)
