"""Tracking in NumPy: the readable twin of kernel/src/track.c, and the fallback.

Every frame moves inside a box around the last configuration: the viability bounds of solvers/viability.py. The bounded
damped steps of the static solver (ik_steps.py) run inside that box, so all limits hold at every frame.

When the targets cannot be met inside the box, the robot is late. Then the goal is the configuration that meets them
inside the position limits alone, found from the last goal, and the robot follows the goal joint by joint: each joint as
fast as its limits allow, braking in time to meet the goal's position and velocity. That is the time-optimal way for a
single joint, so what is late catches up and does not swing about its target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..robokin.backend import reference
from ..robokin.joint_types import Motion
from .coupled_limits import ball_within, base_within
from .ik_data import IKData
from .ik_engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH
from .ik_steps import linearise, reachable, roll, take_step
from .tasks import FrameTask
from .tasks.checks import rigid
from .viability import braking_step, viable_steps

Array = np.ndarray

LATE = 5  # the targets can be met, but not that fast; continues the codes of ik_engine

FRAME_STEPS = 10  # steps within a frame, at most
GOAL_STEPS = 30
PATIENCE, PROGRESS = 3, 0.5  # steps after which the error must have shrunk to this fraction
AT_GOAL = 1e-9  # [rad, m]


@dataclass(frozen=True, eq=False)
class TrackLimits:
    """Limits per frame of the support's columns. largest: (nv,) step. change: (nv,) of the step between frames.

    coordinate: (nv,) index in q that a column moves one to one, -1 for the columns of ball and floating joints.
    lower, upper: (nv,) position bounds where `coordinate` is not -1, infinite elsewhere.
    The lengths of a floating joint are bounded along the axes of its parent, its rates along its own: at such a
    position bound it stops, whatever its acceleration limit.
    """

    largest: Array
    change: Array
    coordinate: Array
    lower: Array
    upper: Array

    @property
    def braked(self) -> bool:
        """Some acceleration is limited."""
        return bool(np.isfinite(self.change).any())

    @property
    def curved(self) -> bool:
        """Some rate of a ball or floating joint is limited."""
        finite = np.isfinite(self.largest) | np.isfinite(self.change)
        return bool((finite & (self.coordinate < 0)).any())


@dataclass(frozen=True, eq=False)
class TrackOutcome:
    """Arrays over n frames. codes: (n,) int32. q: (n, nq). residuals: (n, tasks, 2). iterations: (n,) int32.
    behind: (n, nv) int8, 1 for the columns that are not at the goal while late."""

    codes: Array
    q: Array
    residuals: Array
    iterations: Array
    behind: Array

    @classmethod
    def empty(cls, frames: int, data: IKData) -> TrackOutcome:
        return cls(
            np.zeros(frames, np.int32),
            np.zeros((frames, data.tree.nq)),
            np.zeros((frames, len(data.records), 2)),
            np.zeros(frames, np.int32),
            np.zeros((frames, data.tree.nv), np.int8),
        )


class ReferenceTracking:
    """Tracks targets frame by frame, each call from where the last one ended. All in coordinates of the support.

    step: (nv,) that led to the last configuration.
    """

    name = "numpy"

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], limits: TrackLimits) -> None:
        self.data, self.tasks, self.limits = data, tasks, limits
        self.stand(data.tree.neutral(), np.zeros(data.tree.nv), late=False)

    def stand(self, q: Array, step: Array, late: bool) -> None:
        """Continue from q (nq,), inside the limits, reached by `step` (nv,); `late`: its targets were not met."""
        self._q, self._goal, self.step, self._late = q.copy(), q.copy(), step.copy(), late

    def run_one(self, targets: Array) -> TrackOutcome:
        """One frame; targets: (tasks, 4, 4). The outcome's arrays are valid until the next call."""
        return self.run(targets[None])

    def run(self, targets: Array) -> TrackOutcome:
        """targets: (n, tasks, 4, 4). Raises TaskError for one that is not a rigid pose, having done nothing."""
        for frame, wanted in enumerate(targets):
            refuse_targets(self.tasks, wanted, frame)
        outcome = TrackOutcome.empty(len(targets), self.data)
        for frame, wanted in enumerate(targets):
            code, residuals, iterations, behind = self._frame(wanted)
            outcome.codes[frame], outcome.q[frame] = code, self._q
            outcome.residuals[frame], outcome.iterations[frame], outcome.behind[frame] = residuals, iterations, behind
        return outcome

    def _frame(self, targets: Array) -> tuple[int, Array, int, Array]:
        data, limits, tree = self.data, self.limits, self.data.tree
        nearest = _Descent(data, self.tasks, targets)
        behind = np.zeros(tree.nv, np.int8)
        last = self._q
        lo, hi = self._bounds()
        if not (self._late and limits.braked) and nearest.inside(self, last, lo, hi):
            self._advance(nearest.q, nearest.q, late=False)
            return CONVERGED, nearest.residuals, nearest.iterations, behind

        aim = _Descent(data, self.tasks, targets)
        possible = aim.run(self._goal_to_be(), GOAL_STEPS, replace(data, rolled_from=last))
        iterations = nearest.iterations + aim.iterations
        nearest.q = self._follow(aim.q, lo, hi)
        _, _, nearest.residuals = linearise(data, self.tasks, targets, nearest.q)
        met = bool((nearest.residuals <= data.records["tolerance"]).all())
        self._advance(nearest.q, nearest.q if met else aim.q, late=not met)
        if met:
            return CONVERGED, nearest.residuals, iterations, behind
        if possible:
            behind[abs(reference.difference(tree, nearest.q, aim.q)) > AT_GOAL] = 1
            for base in data.bases:
                behind[base.v : base.v + 3] = 0
            return LATE, nearest.residuals, iterations, behind
        code = NOT_CONVERGED if reachable(data, targets) else OUT_OF_REACH
        return code, nearest.residuals, iterations, behind

    def _goal_to_be(self) -> Array:
        """The last goal, with the bases where they are: only from there they can roll."""
        goal = self._goal.copy()
        for base in self.data.bases:
            own = [*range(base.q, base.q + 3), *base.wheel_q]
            goal[own] = self._q[own]
        return goal

    def _advance(self, q: Array, goal: Array, late: bool) -> None:
        self.step = reference.difference(self.data.tree, self._q, q)
        self._q, self._goal, self._late = q, goal, late

    def _bounds(self) -> tuple[Array, Array]:
        limits = self.limits
        position = np.where(limits.coordinate >= 0, self._q[limits.coordinate], 0.0)
        return viable_steps(self.step, position - limits.lower, limits.upper - position, limits.largest, limits.change)

    def box(self, last: Array, lo: Array, hi: Array) -> IKData:
        """The problem with the frame's bounds in place of the position limits."""
        data, limits = self.data, self.limits
        lower, upper = data.lower.copy(), data.upper.copy()
        plain = limits.coordinate >= 0
        at = limits.coordinate[plain]
        lower[at] = np.maximum(lower[at], last[at] + lo[plain])
        upper[at] = np.maximum(lower[at], np.minimum(upper[at], last[at] + hi[plain]))
        return replace(data, lower=lower, upper=upper, rolled_from=last)

    def within(self, box: IKData, last: Array, lo: Array, hi: Array, q: Array) -> Array:
        """q moved into the box, and its step from `last` into [lo, hi] where ball and floating joints have limits.

        Balls are in their cones then, and bases where their wheels have rolled them.
        """
        if self.limits.curved:
            step = np.minimum(np.maximum(reference.difference(box.tree, last, q), lo), hi)
            moved = reference.integrate(box.tree, last, step)
            self._stop_at_bounds(last, moved)
            plain = self.limits.coordinate[self.limits.coordinate >= 0]
            moved[plain] = q[plain]
            q = moved
        q = np.minimum(np.maximum(q, box.lower), box.upper)
        self._couple(last, lo, hi, q)
        return q

    def _couple(self, last: Array, lo: Array, hi: Array, q: Array) -> None:
        limits, data = self.limits, self.data
        for cone in data.cones:
            own, at = slice(cone.v, cone.v + 3), slice(cone.q, cone.q + 4)
            if np.isfinite([limits.largest[own], limits.change[own]]).any():
                q[at] = ball_within(cone, last[at], self.step[own], lo[own], hi[own], limits.change[own], q[at])
        for base in data.bases:
            own, at = slice(base.v, base.v + 3), slice(base.q, base.q + 3)
            wheel_q, wheel_v = list(base.wheel_q), list(base.wheel_v)
            turned = base_within(
                base,
                last[at],
                self.step[wheel_v],
                q[wheel_q] - last[wheel_q],
                limits.change[wheel_v],
                data.lower[at],
                data.upper[at],
                limits.largest[own],
            )
            q[wheel_q] = last[wheel_q] + turned
        roll(data.bases, last, q)

    def _stop_at_bounds(self, last: Array, moved: Array) -> None:
        """Shorten the way of floating joints that leads out of their position bounds: slower, in the same direction."""
        tree = self.data.tree
        for iq in tree.iq[tree.motion == Motion.FREE]:
            at = slice(iq, iq + 3)
            way = moved[at] - last[at]
            room = np.where(way < 0.0, self.data.lower[at], self.data.upper[at]) - last[at]
            share = min([1.0, *(room[way != 0.0] / way[way != 0.0])])
            if share < 1.0:
                moved[at] = last[at] + share * way

    def _follow(self, goal: Array, lo: Array, hi: Array) -> Array:
        """The configuration one frame on when every joint follows its goal time-optimally."""
        limits, tree = self.limits, self.data.tree
        pace = reference.difference(tree, self._goal, goal)
        pace = np.minimum(np.maximum(pace, -limits.largest), limits.largest)
        gap = reference.difference(tree, self._q, goal) - pace
        step = pace + np.copysign(braking_step(abs(gap), limits.change), gap)
        step = np.minimum(np.maximum(step, lo), hi)
        moved = reference.integrate(tree, self._q, step)
        return self.within(self.box(self._q, lo, hi), self._q, lo, hi, moved)


class _Descent:
    """Damped steps towards targets; keeps the configuration of least error."""

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], targets: Array) -> None:
        self.data, self.tasks, self.targets = data, tasks, targets
        self.q = np.zeros(data.tree.nq)
        self.residuals = np.zeros((len(tasks), 2))
        self.iterations = 0

    def inside(self, tracking: ReferenceTracking, last: Array, lo: Array, hi: Array) -> bool:
        """From the last configuration, inside the frame's bounds."""
        box = tracking.box(last, lo, hi)
        return self.run(last, FRAME_STEPS, box, lambda q: tracking.within(box, last, lo, hi, q))

    def run(self, start: Array, steps: int, box: IKData | None = None, within=lambda q: q) -> bool:
        """True when the targets are met. One step at least, so that slow targets are followed smoothly and not
        in jerks of the size of the tolerance."""
        box = box or self.data
        q = within(start)
        history: list[float] = []
        e, J, self.residuals = linearise(self.data, self.tasks, self.targets, q)
        self.q, least = q, 0.5 * float(e @ e)
        error = least
        for count in range(steps):
            history.append(error)
            q = within(take_step(box, q, e, J, error))
            self.iterations += 1
            e, J, residuals = linearise(self.data, self.tasks, self.targets, q)
            error = 0.5 * float(e @ e)
            met = bool((residuals <= self.data.records["tolerance"]).all())
            if met or error < least:
                self.q, self.residuals, least = q, residuals, error
            if met:
                return True
            if count + 1 >= PATIENCE and error > PROGRESS * history[count + 1 - PATIENCE]:
                return False
        return False


def refuse_targets(tasks: Sequence[FrameTask], targets: Array, frame: int) -> None:
    """Raises TaskError for the first of targets (tasks, 4, 4) that is not a finite rigid pose."""
    for task, target in zip(tasks, targets, strict=True):
        rigid(target, f"{task.name}: target of frame {frame}")
