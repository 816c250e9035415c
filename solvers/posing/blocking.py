"""Which joints hold a robot up, known without another solve: those at a limit that would lessen what is missed if they
could go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.generalized_inverses import null_space
from ..ik.problem import IKProblem
from ..optimum.pose_problem import PoseProblem, residual
from ..velocity.task_levels import TaskLevels

_PUSHED = 1e-3  # of the product of the norms of J and of what is missed: a coordinate that is pushed by less is not


class Blocking:
    """Asked at poses of a problem. shares: influences, where not all are 1."""

    def __init__(self, problem: IKProblem) -> None:
        self._limits, self._levels = problem.limits, TaskLevels(problem.model, problem.tasks, problem.backend)
        self._depends, self._is_held = problem.search.depends(), self._limits.lower == self._limits.upper
        self._names = [joint.name for joint in problem.model.moving_joints]
        slots = [problem.model.slot(name) for name in self._names]
        widths = [slot.v.stop - slot.v.start for slot in slots]
        self._starts = np.array([slot.q.start for slot in slots], np.intp)
        self._joint = np.repeat(np.arange(len(slots)), widths)  # (nv,)
        is_plain = [slot.q.stop - slot.q.start == width for slot, width in zip(slots, widths, strict=True)]
        self._is_plain = np.repeat(np.array(is_plain, bool), widths)  # (nv,) not of a ball, which has more in q
        at = [slot.q.start + k for slot, width in zip(slots, widths, strict=True) for k in range(width)]
        self._at = np.array(at, np.intp)  # (nv,) in q

    def joints(self, targets: Sequence[Any], q: Array, shares: Sequence[float] | None = None) -> tuple[str, ...]:
        """Names of those at their limits, or locked, that the first level which is missed at q (nq,) pushes on, among
        the motions that leave the levels above as they are. targets: resolved ones."""
        at_limit = self._limits.at_limit(q) & self._depends
        if not at_limit.any():
            return ()
        push, at = self._push(targets, q, shares), self._at
        outward = np.where(q[at] <= self._limits.lower[at], -push, push) > 0.0
        outward |= (self._is_held[at] | ~self._is_plain) & (push != 0.0)
        is_at = np.where(self._is_plain, at_limit[at], np.logical_or.reduceat(at_limit, self._starts)[self._joint])
        return tuple(self._names[i] for i in np.unique(self._joint[is_at & outward]).tolist())

    def _push(self, targets: Sequence[Any], q: Array, shares: Sequence[float] | None) -> Array:
        """(nv,) which way each coordinate would go; 0 of those that are not pushed."""
        here = PoseProblem(self._levels, self._levels.checked_targets(targets), self._limits, shares).point(q)
        if here.met.all():
            return np.zeros(self._levels.model.nv)
        missed = int(np.argmin(here.met))
        level, missing = here.levels[missed], residual(here.levels[missed])
        above = [each.J[each.lower == each.upper] for each in here.levels[:missed]]
        push = level.J.T @ missing
        if above:
            Z = null_space(np.concatenate([J / (np.linalg.norm(J) or 1.0) for J in above]))
            push = Z @ (Z.T @ push)
        least = _PUSHED * np.linalg.norm(level.J) * np.linalg.norm(missing)
        return np.where(abs(push) > least, push, 0.0)
