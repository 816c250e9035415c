"""Tasks in levels at a configuration, in NumPy: their residuals, and the step of the hierarchy inside position limits.
Twin of kernel/src/step/stack.c."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import reference
from ..qp.hierarchy import solve_hierarchy
from ..qp.level import Level
from ..tasks.influence import Remaining, blended
from ..tasks.protocols import HistoryTask, VelocityTask
from ..velocity.curved_step import LARGEST_STEP
from ..velocity.task_levels import TaskLevels, stacked, tolerances
from .data import IKData
from .descent import IDLE, Iterate, KeptLevels
from .steps import DAMPING_FLOOR, along_fixed_axes, damping_for, integrate, local_bounds

SPARE = 0.1  # of a tolerance: by how much a residual that is kept may change
ROUNDING = 1e-9  # relative: a residual within its tolerance that is more by less is the same
FARTHEST = 0.1  # [rad or L] of the joints, that one step leads along a path


@dataclass(frozen=True, eq=False)
class Preference:
    """What a step prefers in what freedom the levels leave: the least 1/2 x'Hx + g'x of the displacement x,
    dimensionless, since `start` (nq,)."""

    H: Array
    g: Array
    start: Array


class StackRows:
    """Checked targets of tasks in levels. data: of the whole robot, with the limits that steps keep.

    influence: (tasks,) in place of the tasks' own.   remaining: what is not asked for of some tasks' rows.
    start: (nq,) where the frame begins that velocities are counted from.
    """

    is_exact = True

    def __init__(
        self,
        levels: TaskLevels,
        data: IKData,
        targets: Sequence[Any],
        influence: Sequence[float] | None = None,
        remaining: Mapping[int, Remaining] | None = None,
        dt: float = 1.0,
        start: Array | None = None,
    ) -> None:
        self.tasks, self.data, self.targets = levels, data, targets
        self.influence, self.remaining, self.dt = influence, remaining or {}, dt
        self.levels = len(levels.groups)
        self.are_velocities = levels.are_velocities
        # Residuals of frames add up for a velocity, or for what is counted from another motion.
        self.adds_up = bool(self.remaining) or any(
            isinstance(task, VelocityTask | HistoryTask) for task in levels.tasks
        )
        self.changes = bool(self.remaining) or any(isinstance(task, VelocityTask) for task in levels.tasks)
        self.tolerance = tolerances(levels.tasks)
        self._tolerances = [self.tolerance[group] for group, _ in levels.groups]
        self.scale = levels.scale
        self._start = None if start is None else levels.state(start, targets, dt, None, influence)
        self.preference: Preference | None = None
        self.busy: Array | None = None  # (nv,) bool, columns that a step leaves where they are

    def measure(self, q: Array) -> Iterate:
        levels = self.tasks
        state = levels.state(q, self.targets, self.dt, None, self.influence)
        rows = levels.rows(state, self.targets, self.influence, self._start)
        for i, remaining in self.remaining.items():
            rows[i] = blended(levels.tasks[i], rows[i], remaining)
        residuals = levels.residuals(rows, np.zeros(levels.model.nv), self.dt)
        own = [level for _, level in levels.closures(state, rows)] + levels.levels(state, rows, 0.0)
        errors = np.array([0.5 * float((np.clip(0.0, level.lower, level.upper) ** 2).sum()) for level in own])
        across = [levels.residuals_across(i, own, self.dt) for i, own in enumerate(rows)]
        by_level = [(residuals if is_path else np.array(across))[group] for group, is_path in levels.groups]
        met = [bool((each <= own).all()) for each, own in zip(by_level, self._tolerances, strict=True)]
        return Iterate(q, errors, np.array(met, bool), residuals, (own, by_level))

    def step(
        self, at: Iterate, on: int, damping: float | None, as_one: bool = False, kept: KeptLevels | None = None
    ) -> Array:
        levels = []
        for k, own in enumerate(at.linear[0][:on]):
            is_kept = kept is not None and k < kept.levels and not kept.at.met[k]
            damped = DAMPING_FLOOR if at.met[k] or is_kept else damping_for(float(at.errors[k]))
            damped = damping if damping is not None and k + 1 == on else damped
            own = _leaving(own, kept.at.linear[0][k]) if kept is not None and is_kept else own
            own = _shortened(own) if self.tasks.are_paths[k] else own
            levels.append(Level(own.J, own.lower, own.upper, damped))
        if as_one:
            one = stacked(levels, len(self.scale))
            levels = [Level(one.J, one.lower, one.upper, damping_for(float(at.errors[:on].sum())))]
        return self.moved(at.q, levels)

    def moved(self, q: Array, levels: Sequence[Level]) -> Array:
        """(nq,) q after the step on these levels, inside the limits."""
        data, scale = self.data, self.scale
        B, lo, hi = local_bounds(data, q)
        if self.busy is not None:
            lo, hi = np.where(self.busy, 0.0, lo), np.where(self.busy, 0.0, hi)
        own = [Level(self._local(q, each.J, B), each.lower, each.upper, each.damping) for each in levels]
        lo = np.clip(lo / scale, -LARGEST_STEP, 0.0)
        hi = np.clip(hi / scale, 0.0, LARGEST_STEP)
        H = g = None
        if self.preference is not None:
            wanted = self.preference
            x = reference.difference(data.tree, wanted.start, q) / scale
            H = self._local(q, self._local(q, wanted.H, B).T, B)
            g = self._local(q, (wanted.g + wanted.H @ x)[None], B)[0]
        found = solve_hierarchy(lo, hi, own, H, g, "numpy")
        return integrate(data, q, B @ (scale * found.x))

    def needed(self, at: Iterate, levels: int) -> list[Array]:
        return [(abs(own.J[~own.holding]) > IDLE).any(axis=0) for own in at.linear[0][:levels]]

    def holds(self, kept: KeptLevels, at: Iterate, share: float = SPARE) -> bool:
        pairs = zip(at.linear[1][: kept.levels], kept.at.linear[1], self._tolerances, strict=False)
        return all(_are_as_they_were(*each, share) for each in pairs)

    def _local(self, q: Array, rows: Array, B: Array) -> Array:
        """Rows (m, nv) of displacements v dt in the coordinates of the step: lengths of floating joints along fixed
        axes, limited balls out of their cones and along them, wheels that carry their base."""
        return (along_fixed_axes(self.data.tree, q, rows / self.scale) @ B) * self.scale


def _are_as_they_were(residuals: Array, before: Array, tolerance: Array, share: float) -> bool:
    spare = share * tolerance
    stays = abs(residuals - before) <= spare
    most = np.maximum(spare, np.minimum(before * (1.0 + ROUNDING), tolerance))
    return bool(np.where(before > tolerance, stays, residuals <= most).all())


def _shortened(level: Level) -> Level:
    """One step leads only so far along a path."""
    most = FARTHEST * np.linalg.norm(level.J, axis=1)
    return replace(level, lower=np.clip(level.lower, -most, most), upper=np.clip(level.upper, -most, most))


def _leaving(level: Level, before: Level) -> Level:
    """The rows of a level that keep their residual of before: what was outside a band stays as it was."""
    remaining = np.clip(0.0, before.lower, before.upper)
    if len(remaining) != len(level.J):
        return level
    lower = np.where(remaining > 0.0, level.lower - remaining, level.lower)
    upper = np.where(remaining < 0.0, level.upper - remaining, level.upper)
    return replace(level, lower=np.where(remaining < 0.0, upper, lower), upper=np.where(remaining > 0.0, lower, upper))
