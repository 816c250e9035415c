"""Distinct postures from many starts: for what has no closed form. An honest count, and never all for certain."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel
from ...robokin.units import counted
from ..ik.problem import IKProblem
from ..ik.tip_ik import TipIK
from ..random_numbers import SplitMix64
from ..tasks import FrameTask, Task
from ..tasks.protocols import resolve_target
from ..velocity.task_levels import TaskLevels, tolerances

STARTS, STARTS_OF_LEVELS = 200, 40
PIECE = 20  # starts between two reports of progress
EXACT = 1e-11  # [m], [rad] tolerance of tasks on tips while postures are searched
SAME = 1e-4  # [rad], [lengths] postures nearer to each other are one
APART = 0.5  # [rad], [lengths] of those of a continuum, which are as many as one likes
MOST = 32  # samples of a continuum that are returned, the nearest ones
FREE = 1e-6  # relative: singular values of tasks that are 0
TURN = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class FoundPosture:
    """q: (n, nq), nearest to the start first.   is_continuum: the tasks leave the robot free to move on."""

    q: Array
    is_continuum: bool
    remark: str


class Multistart:
    """Search for postures that meet tasks, from many starts inside the limits. Raises TaskError, UnknownNameError,
    ModelError."""

    def __init__(self, model: RobotModel, tasks: Sequence[Task], backend: str, limits: PositionLimits) -> None:
        self.model, self.limits, self.tasks = model, limits, tasks
        self._problem = IKProblem(model, [_exact(task) for task in tasks], (), backend, attempts=1, limits=limits)
        self._is_on_tips = isinstance(self._problem.search, TipIK)
        self._levels = TaskLevels(model, tasks, backend)
        self._unit = np.where(_lengths(model), 1.0 / self._levels.length, 1.0)
        self._turning = model.tree.turning if self._is_on_tips else np.zeros(model.nq, bool)

    def search(self, targets: list[Any], q0: Array, seed: int) -> Generator[float, None, FoundPosture]:
        """From q0 (nq,) inside the limits, and random starts. Yields the share of them that is done (0..1)."""
        generator = SplitMix64(seed)
        count, piece = (STARTS, PIECE) if self._is_on_tips else (STARTS_OF_LEVELS, 1)
        starts = np.array([q0, *(self._problem.search.drawn(q0, generator) for _ in range(count - 1))])
        allowed, reached = tolerances(self.tasks), list[Array]()
        for first in range(0, count, piece):
            own = starts[first : first + piece]
            found = self._problem.solve_batch([targets] * len(own), own, seed)
            reached += list(found.q[(found.residuals <= allowed).all(axis=(1, 2))])
            yield min(first + piece, count) / count
        near = [self._nearest_turns(q, q0) for q in reached]
        near.sort(key=lambda q: float(np.linalg.norm(self._unit * (q - q0))))
        is_continuum = bool(near) and self._freedom(near[0], targets) > 0
        distinct: list[Array] = []
        for q in near:
            least = APART if is_continuum else SAME
            if all(abs(self._unit * (q - other)).max(initial=0.0) > least for other in distinct):
                distinct.append(q)
        remark = f"found from {counted(count, 'start')}, of which {len(near)} reached the target: there may be others"
        if is_continuum:
            remark += f"; the robot is redundant there: the nearest samples at least {APART:g} rad apart in a joint"
            distinct = distinct[:MOST]
        return FoundPosture(np.array(distinct).reshape(len(distinct), self.model.nq), is_continuum, remark)

    def _nearest_turns(self, q: Array, q0: Array) -> Array:
        """q with every angle, of which whole turns do not matter, at the one nearest to q0 inside the limits, and every
        quaternion, of which the sign does not, on q0's side."""
        lower, upper = self.limits.lower, self.limits.upper
        turned = q + TURN * np.round((q0 - q) / TURN)
        turned = turned - TURN * np.ceil(np.maximum(turned - upper, 0.0) / TURN)
        turned = turned + TURN * np.ceil(np.maximum(lower - turned, 0.0) / TURN)
        inside = self._turning & (turned >= lower) & (turned <= upper)
        found = np.where(inside, turned, q)
        for start in self.model.tree.quaternions:
            own = slice(start, start + 4)
            found[own] *= 1.0 if found[own] @ q0[own] >= 0.0 else -1.0
        return found

    def _freedom(self, q: Array, targets: list[Any]) -> int:
        """Degrees of freedom, of those that the tasks depend on, that their equations leave."""
        state = self._levels.state(q, targets, 1.0)
        levels = [
            self._levels.level_of(i, state, task.rows(state, resolve_target(task, state, target)))
            for i, (task, target) in enumerate(zip(self.tasks, targets, strict=True))
        ]
        J = np.vstack([level.J[level.lower == level.upper] for level in levels])
        used = np.vstack([level.J for level in levels]).any(axis=0)
        values = np.linalg.svd(J[:, used], compute_uv=False) if J.size and used.any() else np.zeros(0)
        return int(used.sum()) - int((values > FREE * values.max(initial=0.0)).sum())


def _exact(task: Task) -> Task:
    """A copy of the task, to be met better."""
    if not isinstance(task, FrameTask) or not task.is_in_kernel:
        return task
    same = copy(task)
    same.position_tolerance = min(EXACT, task.position_tolerance)
    same.orientation_tolerance = min(EXACT, task.orientation_tolerance)
    return same


def _lengths(model: RobotModel) -> Array:
    """(nq,) bool, coordinates that are lengths."""
    found = np.zeros(model.nq, bool)
    for motion, iq in zip(model.tree.motion, model.tree.iq, strict=True):
        if motion in (MotionPrimitive.TRANSLATION, MotionPrimitive.FREE):
            found[iq : iq + (1 if motion == MotionPrimitive.TRANSLATION else 3)] = True
    return found
