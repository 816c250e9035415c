"""Following tasks on tips, of one level: only the degrees of freedom that they depend on are followed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend, reference
from ..descent.data import IKData, robot_columns
from ..descent.steps import roll
from ..ik.tip_ik import TipIK
from ..limits.viability import StepLimits
from .data import TrackOutcome
from .native import NativeTracking
from .reference.tracking import ReferenceTracking
from .result import EMPTY


class SupportTracking:
    """Tracks targets (frames, tasks, 4, 4) with the joints that the tips depend on. What no task moves brakes to a
    stand."""

    def __init__(self, problem: TipIK, limits: StepLimits, backend: str) -> None:
        data = problem.data
        self.problem, self.limits, self._columns = problem, limits, robot_columns(problem.model, data)
        kind: Any = NativeTracking if get_backend(backend).name == "native" else ReferenceTracking
        self._engine = kind(data, problem.tasks, _support_limits(limits, data, self._columns))
        self._is_empty = not any(task.influence for task in problem.tasks)
        self._free = ~np.isin(np.arange(problem.model.nv), self._columns) | self._is_empty

    @property
    def state(self) -> Array:
        nq, support, data = self.problem.model.nq, self._engine.state, self.problem.data
        state = np.concatenate((self._q, self._q, support[2 * data.tree.nq :][:3], self._coasting, support[-2:]))
        state[nq + data.q_index] = support[data.tree.nq : 2 * data.tree.nq]
        if not self._is_empty:
            state[2 * nq + 3 + self._columns] = support[2 * data.tree.nq + 3 : -2]
        return state

    @state.setter
    def state(self, state: Array) -> None:
        nq, at = self.problem.model.nq, self.problem.data.q_index
        self._q, step = state[:nq].copy(), state[2 * nq + 3 : -2]
        self._coasting = np.where(self._free, step, 0.0)  # the last step of what no task moves
        self._coasts = bool(self._coasting.any())
        self._engine.state = np.concatenate(
            (state[at], state[nq + at], state[2 * nq :][:3], step[self._columns], state[-2:])
        )

    def note(self, targets: Any) -> None:
        self._engine.note(targets)

    def run(self, targets: Array) -> TrackOutcome:
        """Raises TaskError for a target that is not a rigid pose, having done nothing."""
        model, data = self.problem.model, self.problem.data
        q = np.empty((len(targets), model.nq))
        q[:] = self._q
        if self._is_empty:
            whole = TrackOutcome.empty(len(targets), len(self.problem.tasks), model.nq, model.nv)
            whole = replace(whole, q=q, codes=np.full(len(targets), EMPTY, np.int32))
        else:
            found, behind = self._engine.run(targets), np.zeros((len(targets), model.nv), np.int8)
            q[:, data.q_index], behind[:, self._columns] = found.q, found.behind
            whole = TrackOutcome(found.codes.copy(), q, found.residuals.copy(), found.iterations.copy(), behind)
        if self._coasts:
            self._coast(q)
            self._coasts = bool(self._coasting.any())
        self._q = whole.q[-1].copy()
        return whole

    def _coast(self, q: Array) -> None:
        """Brake what no task moves, in q (frames, nq): only a start velocity can have set it in motion."""
        model, here = self.problem.model, self._q
        needed = () if self._is_empty else self.problem.data.q_index
        idle = np.setdiff1d(np.arange(model.nq), needed)
        for row in q:
            self._coasting = np.where(self._free, self.limits.coasting(here, self._coasting), 0.0)
            moved = model.limits.clamp(reference.integrate(model.tree, here, self._coasting))
            roll(model.rolling_bases, here, moved)
            row[idle] = moved[idle]
            here = row


def _support_limits(limits: StepLimits, data: IKData, columns: Array) -> StepLimits:
    """The limits of these columns, whose coordinates are those of the support."""
    where = {int(q): i for i, q in enumerate(data.q_index)}
    own = {name: getattr(limits, name)[columns] for name in ("max_step", "max_step_change", "lower", "upper")}
    coordinate = np.array([where.get(int(i), -1) for i in limits.coordinate[columns]], np.int32)
    return replace(limits, coordinate=coordinate, cones=data.cones, bases=data.bases, **own)
