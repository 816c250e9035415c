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

    def joints(self, targets: Sequence[Any], q: Array, shares: Sequence[float] | None = None) -> tuple[str, ...]:
        """Names of those at their limits, or locked, that the first level which is missed at q (nq,) pushes on, among
        the motions that leave the levels above as they are. targets: resolved ones."""
        model, at_limit = self._levels.model, self._limits.at_limit(q)
        push, is_held = self._push(targets, q, shares), self._limits.lower == self._limits.upper

        def is_pushed(name: str) -> bool:
            slot = model.slot(name)
            if not at_limit[slot.q].any():
                return False
            if at_limit[slot.q].shape != push[slot.v].shape:  # a ball at the edge of its cone
                return bool(push[slot.v].any())
            outward = np.where(q[slot.q] <= self._limits.lower[slot.q], -push[slot.v], push[slot.v])
            outward = np.where(is_held[slot.q], abs(outward), outward)
            return bool((at_limit[slot.q] & (outward > 0.0)).any())

        return tuple(joint.name for joint in model.moving_joints if is_pushed(joint.name))

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
