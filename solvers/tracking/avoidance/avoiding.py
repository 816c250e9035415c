"""Following targets while links keep away from one another and from obstacles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import get_backend
from ....robokin.collision.model import Near
from ....robokin.model.robot import RobotModel
from ...criteria import Criterion
from ...descent.engine import CONVERGED
from ...tasks import Task
from ...tasks.clearance import ClearanceTask
from ...tasks.protocols import VelocityTask
from ..data import COLLIDED, TrackOutcome
from ..level_engines import state_at
from ..memory import MotionMemory
from ..result import EMPTY, TrackResult, joined
from ..tracker import Tracker
from .safe_stop import SafeStop

SPARE = 2e-3  # of L: what is asked for beyond the margin, for what is between frames
SHARES = (0.5, 0.25, 0.1)  # of a step that is too near, before the robot only brakes


def tracker_of(
    model: RobotModel,
    tasks: Sequence[Task],
    dt: float = 1.0 / 24.0,
    backend: str = "auto",
    criteria: Sequence[Criterion] = (),
) -> Tracker:
    """An `AvoidingTracker` where a task is a clearance."""
    kind = AvoidingTracker if any(isinstance(task, ClearanceTask) for task in tasks) else Tracker
    return kind(model, tasks, dt, backend, criteria)


class AvoidingTracker(Tracker):
    """A `Tracker` whose tasks have a clearance.

    A frame is followed without it first. Where the robot could not stop any more before it is too near to something, it
    is followed with the clearance before all other tasks, then by a part of that step; else the robot brakes, which the
    frame before has shown to be free. So where obstacles stand still, and the start is free, every frame is, and the
    places half-way between are.
    """

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        dt: float = 1.0 / 24.0,
        backend: str = "auto",
        criteria: Sequence[Criterion] = (),
    ) -> None:
        self._obstacles: Array | None = None  # where they were in the frame before
        super().__init__(model, tasks, dt, backend, criteria)
        self._at = next(i for i, task in enumerate(self.tasks) if isinstance(task, ClearanceTask))
        clearance = self.tasks[self._at]
        assert isinstance(clearance, ClearanceTask)
        self._clearance = clearance
        others = [task for i, task in enumerate(self.tasks) if i != self._at]
        wider = ClearanceTask(clearance.collisions, clearance.margin + SPARE * self.levels.length, clearance.target)
        self._free = Tracker(model, others, dt, backend, criteria)
        self._near = Tracker(model, [*others, wider], dt, backend, criteria)
        self._stop = SafeStop(model, clearance, self.limits, backend)

    def start(
        self,
        targets: Any,
        q0: Array | None = None,
        start_velocity: object | None = None,
        seed: int = 0,
        influence: Array | None = None,
        origin: Array | None = None,
    ) -> TrackResult:
        self._obstacles = None
        return super().start(targets, q0, start_velocity, seed, influence, origin)

    def stand(self, q: object, velocity: object | None = None, memory: MotionMemory | None = None) -> None:
        self._obstacles = None
        super().stand(q, velocity, memory)

    def run(self, targets: Any, influence: Sequence[Array] | Array | None = None) -> TrackResult:
        shares = [None] * len(targets) if influence is None else influence
        return joined([self._frame(own, share) for own, share in zip(targets, shares, strict=True)])

    def _frame(self, wanted: Sequence[Any], influence: Array | None) -> TrackResult:
        shares = self._shares(influence)
        q, before, memory, obstacles = self.q, self.v, self.memory, wanted[self._at]
        others = [target for i, target in enumerate(wanted) if i != self._at]
        own = np.delete(shares, self._at)
        needed = self._stop.needed(q, obstacles if self._obstacles is None else self._obstacles)
        is_whole = (own == self._free._own).all()
        found = self._led(self._free, others, None if is_whole else own, q, before, memory)
        step = self._step(q, found.q[0])
        blocked, memory_after = self._stop.blocked(q, step, needed, obstacles), self._free.memory
        blocked = why = blocked or self._stop.nearest(q, obstacles)
        if blocked is not None:
            aims, weights = [*others, obstacles], np.append(own, 1.0)
            found = self._led(self._near, aims, None if is_whole else weights, q, before, memory)
            step, memory_after = self._step(q, found.q[0]), self._near.memory
            blocked = self._stop.blocked(q, step, needed, obstacles)
        residuals, code = np.zeros((1, len(self.tasks), 2)), int(found.codes[0])
        residuals[0, np.arange(len(self.tasks)) != self._at] = found.residuals[0, : len(others)]
        if blocked is not None:
            step = self._slower(q, before * self.dt, step, needed, obstacles)
        there = get_backend(self.backend).integrate(self.model.tree, q, step) if blocked else found.q[0]
        there = self.model.limits.clamp(there)
        if blocked is not None:
            residuals[0] = self._lacking(q, there, wanted, shares)
        near = self._stop.nearest(there, obstacles)
        lack = 0.0 if near is None else self._clearance.margin - near.distance
        residuals[0, self._at] = lack, 0.0
        remark = found.remarks[0] if found.remarks else ""
        if why is not None or lack > self.tolerance[self._at, 0]:
            missed = ((residuals[0] > self.tolerance).any(axis=1) & (shares >= 1.0)).any()
            code = COLLIDED if missed else CONVERGED if own.any() else EMPTY
            remark = _sentence(near, why) if missed else ""
        self._stand(there, step / self.dt, late=0)
        self.memory, self._obstacles = memory_after, obstacles
        outcome = TrackOutcome.empty(1, len(self.tasks), self.model.nq, self.model.nv)
        outcome.codes[0], outcome.q[0], outcome.iterations[0] = code, there, found.iterations[0]
        outcome.behind[0] = found.behind[0]
        return self._result(before, [wanted], outcome, residuals, [remark], shares)

    def _led(
        self, tracker: Tracker, aims: Sequence[Any], shares: Array | None, q: Array, v: Array, memory: MotionMemory
    ) -> TrackResult:
        """A frame of another tracker from where this one stands."""
        if not np.array_equal(tracker.q, q) or not np.allclose(tracker.v, v, rtol=0.0, atol=1e-12):
            nq, nv = self.model.nq, self.model.nv
            without = {  # of as many levels as that tracker has
                task: state_at(state[:nq], tracker._count, state[-1 - nv : -1], 0.0)
                for task, state in memory.without.items()
            }
            tracker.stand(q, v, replace(memory, without=without))
        if shares is not None:
            tracker.let_fade()
        checked = tracker.check_targets([aims]) if tracker.is_plain else [aims]
        return tracker.run(checked, None if shares is None else [shares])

    def _step(self, q: Array, there: Array) -> Array:
        return get_backend(self.backend).difference(self.model.tree, q, there)

    def _slower(self, q: Array, last: Array, step: Array, needed: Array, obstacles: Array | None) -> Array:
        """A part of a step that is free, or the step of braking. last: (nv,) the step before."""
        braking = self.limits.coasting(q, last)
        parts = [braking + share * (step - braking) for share in SHARES]
        if self.limits.cones or self.limits.bases:  # steps between two that are viable may not be
            parts = []
        worst = []
        for less in (*parts, braking, step):
            near = self._stop.blocked(q, less, needed, obstacles)
            if near is None:
                return less
            worst.append(near.distance)
        # An obstacle comes too fast, or the start was too near.
        return (*parts, braking, step)[int(np.argmax(worst))]

    def _lacking(self, before: Array, q: Array, wanted: Sequence[Any], shares: Array) -> Array:
        """(tasks, 2) what the tasks lack at q (nq,)."""
        here = self.levels.state(q, wanted, self.dt)
        moved = self.levels.moved(self.levels.state(before, wanted, self.dt), here)
        found = np.zeros((len(self.tasks), 2))
        for i, task in enumerate(self.tasks):
            if shares[i] and i != self._at:
                rows = self.levels.rows_of(i, moved if isinstance(task, VelocityTask) else here, wanted[i])
                found[i] = self.levels.residuals_of(i, rows, np.zeros(self.model.nv), self.dt)
        return found


def _sentence(near: Near | None, why: Near | None) -> str:
    """What is too near, or would be."""
    if near is not None:
        return near.sentence()
    return "" if why is None else f"a frame that meets it leads to where {why.sentence()}"
