"""The attempts of one solve of a hierarchy: descents from the start, from the joint values that tasks tell,
from poses of the kernel, and from restarts.

The tasks that the kernel knows (`KnownTasks`) are a relaxation of the levels: where it finds no pose for those of the
first k levels, no restart is spent on more than the levels above. What is best by the first level, then the second, and
so on, is kept, and settled when not all is met. Of poses that lack as much, the one nearest to the start is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from copy import copy
from typing import Any

import numpy as np

from ..robokin.limits import PositionLimits
from ..robokin.model import RobotModel
from .ik import IKProblem
from .ik_data import IKData, compile_ik
from .ik_reference import DAMPING_LESS, DAMPING_MORE, DAMPING_MOST, PROGRESS, restart
from .ik_steps import DAMPING_FLOOR, damping_for
from .posing import Point, Posing
from .random_numbers import SplitMix64
from .task_levels import TaskLevels
from .tasks import FrameTask, PositionTask, Task
from .tasks.frame import is_plain_task

Array = np.ndarray

PATIENCE = 15  # steps of an attempt in which the error must halve: levels take longer than the kernel's tasks
TOGETHER = 5  # steps in which some attempts go for all levels as one: those above lead where those below are met
STILL = 1e-3  # relative: two steps that change the error of no level by more have come to a minimum
KNOWN_ATTEMPTS = 30  # of the kernel
ALIKE, ENOUGH = 0.05, 8  # relative: ends of attempts no farther than this from the best one; so many are the answer
SETTLE = 60  # steps of the last descent,
SETTLED, PATIENT = 1e-4, 3  # which ends after so many that lessen the error by a smaller share
CLOSING = 5  # steps that close loops
TIED = 1e-3  # relative: errors of settled poses nearer to the least are as good; so of distances from the start,
APART = 1e-4  # and in radians or L poses nearer to each other than this are one
RIVALS = 3  # poses, nearer to the start than the best one, that are settled too


class KnownTasks:
    """The tasks of a hierarchy that the kernel knows: whole ones on one tip, without bands. Those of several levels
    count as of one."""

    def __init__(self, levels: TaskLevels, limits: PositionLimits) -> None:
        self.levels, self.limits = levels, limits
        forms = {i: known_task(task) for i, task in enumerate(levels.tasks)}
        self._forms = {i: task for i, task in forms.items() if task is not None}
        self._problems: dict[tuple[int, int], IKProblem] = {}
        self._stages: list[tuple[int, list[int]]] = []  # levels, and the known tasks of them all
        known: list[int] = []
        for count, indices in enumerate(levels.indices, len(levels.loops) + 1):
            own = [i for i in indices if i in self._forms]
            known = known + own
            if own:
                self._stages.append((count, known))

    def poses(self, targets: Sequence[Any], q: Array, seed: int) -> tuple[float, list[Array]]:
        """How many levels may all be met, and poses (nq,): of the last ones found that meet what is known of them, and
        of what fails to."""
        found: list[Array] = []
        for count, known in self._stages:
            result = self._problem(known, KNOWN_ATTEMPTS).solve(self._own(targets, known), q, seed, find_reason=False)
            q = result.q
            found.append(q)
            if not result.converged:
                return count - 1, found[-2:]
        return np.inf, found[-1:]

    def nearest(self, targets: Sequence[Any], q: Array, levels: float) -> Array:
        """(nq,) q moved to what is known of the first `levels`, in one attempt."""
        known = [tasks for count, tasks in self._stages if count <= levels]
        if not known or self.levels.loops:
            return q
        return self._problem(known[-1], 1).solve(self._own(targets, known[-1]), q, find_reason=False).q

    def _own(self, targets: Sequence[Any], known: Sequence[int]) -> Array:
        return np.array([targets[i] for i in known])

    def _problem(self, known: Sequence[int], attempts: int) -> IKProblem:
        key = len(known), attempts
        if key not in self._problems:
            tasks = [of_first_level(self._forms[i]) for i in known]
            self._problems[key] = IKProblem(self.levels.model, tasks, self.levels.backend, attempts, limits=self.limits)
        return self._problems[key]


def known_task(task: Task) -> FrameTask | None:
    """The task as the kernel's solver knows it, when it does."""
    same = task.on_tip()
    return same if same is not None and is_plain_task(same) and same.influence == 1.0 else None


def of_first_level(task: FrameTask) -> FrameTask:
    same = copy(task)
    same.priority = 1
    return same


class Restarts:
    """Random poses of a model inside limits. used: (nq,) bool, the coordinates that are drawn."""

    def __init__(self, model: RobotModel, limits: PositionLimits, used: Array) -> None:
        tree, ends = model.tree, {}
        for link, node in zip(model.link_names, tree.frame_node.tolist(), strict=True):
            if node not in tree.parent:
                ends[node] = PositionTask(link, (0, 0, 0))
        self._whole: IKData = compile_ik(model, list(ends.values()), limits)
        self._used = used

    def drawn(self, start: Array, q: Array, generator: SplitMix64, partial: bool) -> Array:
        """(nq,) a restart; a partial one leaves some of q, where the last attempt ended, as it is."""
        whole, there = self._whole, start.copy()
        there[whole.q_index] = restart(whole, start[whole.q_index], q[whole.q_index], generator, partial)
        return np.where(self._used, there, start)


class PoseSearch:
    """Counts iterations and attempts and keeps the best point. iterations: of an attempt, at most.   hopeful: levels
    that may all be met, as far as certificates tell."""

    def __init__(self, posing: Posing, start: Array, iterations: int, hopeful: float = np.inf) -> None:
        self.posing, self.start, self.most, self.hopeful = posing, start, iterations, hopeful
        self.iterations = self.attempts = 0
        self.best = posing.point(start)
        self._ends: list[Point] = []  # the best point of each attempt
        self._minima: list[Point] = []  # settled, from
        self._tried: list[Array] = []  # poses (nq,)

    def run(
        self, attempts: int, known: KnownTasks, restarts: Callable[[], Restarts], seed: int
    ) -> Generator[float, None, None]:
        """At most so many attempts, until all is met that may be. Yields the share of them after each."""
        if not self.best.levels:
            return
        told = self.posing.told(self.start)
        for q in [self.start] if told is self.start else [self.start, told]:
            point = self.attempt(self.posing.point(q))
            yield self.attempts / attempts
            if self.best.is_met or self.attempts == attempts:
                return
        may, poses = known.poses(self.posing.targets, self.best.q, seed)
        self.hopeful = min(self.hopeful, may)
        for q in poses[-(attempts - self.attempts) :]:
            point = self.attempt(self.posing.point(q))
            yield self.attempts / attempts
        if self.hopeful < len(self.best.levels):
            self.settle()  # what cannot be met pulls hard, and attempts do not mind the levels above it
        generator, ends = SplitMix64(seed), [point]
        while self.attempts < attempts and not self._is_over(ends):
            q = restarts().drawn(self.start, point.q, generator, partial=self.attempts % 2 == 0)
            q = known.nearest(self.posing.targets, q, self.hopeful)
            point = self.attempt(self.posing.point(q), TOGETHER if self.attempts % 4 < 2 else 0)
            ends.append(point)
            yield self.attempts / attempts

    def _is_over(self, ends: Sequence[Point]) -> bool:
        """All is met that may be, or many attempts have ended alike."""
        met = self.best.met
        if met[: int(min(self.hopeful, len(met)))].all():
            return True
        first = int(np.argmin(met))
        least = self.best.errors[first] * (1.0 + ALIKE)
        return sum(bool(end.met[:first].all() and end.errors[first] <= least) for end in ends) >= ENOUGH

    def attempt(self, point: Point, together: int = 0) -> Point:
        """Descend, fast and not always downwards, on the levels that may be met: where it ended. together: so many
        first steps go for all of them as one."""
        self.attempts += 1
        levels = int(min(self.hopeful, len(point.levels))) or None
        history: list[Array] = []
        best = point
        for step in range(self.most + 1):
            best = _better(point, best)
            history.append(point.unmet[:levels])
            stuck = step >= PATIENCE and history[-1].sum() > PROGRESS * history[step - PATIENCE].sum()
            if point.met[:levels].all() or step == self.most or stuck or _is_still(history[-3:]):
                break
            x, _ = self.posing.step(point, levels=levels, as_one=step < together)
            point = self.posing.point(self.posing.moved(point.q, x))
            self.iterations += 1
        self._ends.append(best)
        self.best = _better(best, self.best)
        return point

    def settle(self) -> None:
        """Descend from the best point to its minimum; where minima are equal, to the one nearest to the start."""
        pending = [] if any(self.best is minimum for minimum in self._minima) else [self.best]
        self._tried += [point.q for point in pending]
        for point in pending + self._rivals():
            self.best = point
            self._lessen()
            if self.best.is_met:
                return
            self._minima.append(self.best)
        self.best = self._nearest(_as_good(self._minima))

    def _rivals(self) -> list[Point]:
        """Ends of attempts that may be as good as the best point, not farther from the start, and not tried yet."""
        first = int(np.argmin(self.best.met))
        most = self.best.errors[first] * (1.0 + ALIKE)
        farthest = self._distance(self.best) * (1.0 + TIED) + TIED
        rivals: list[Point] = []
        for end in sorted(self._ends, key=self._distance):
            if len(rivals) == RIVALS or self._distance(end) > farthest:
                break
            is_alike = end.met[:first].all() and end.errors[first] <= most
            if is_alike and all(abs(self.posing.difference(q, end.q)).max(initial=0.0) > APART for q in self._tried):
                rivals.append(end)
                self._tried.append(end.q)
        return rivals

    def _distance(self, point: Point) -> float:
        return float(np.linalg.norm(self.posing.difference(self.start, point.q)))

    def _nearest(self, points: Sequence[Point]) -> Point:
        """The point nearest to the start; of some that are as near, the one that has turned the first degrees of
        freedom farther, so that rounding has no say."""
        least = min(map(self._distance, points)) * (1.0 + TIED)
        near = [point for point in points if self._distance(point) <= least]
        x = np.array([self.posing.difference(self.start, point.q) for point in near])
        kept = np.ones(len(near), bool)
        for column in x.T:
            kept &= column >= column[kept].max() - APART
        return near[int(np.argmax(kept))]

    def _lessen(self) -> None:
        """Descend from the best point, only downwards: first on what the first level that is not met, and those above
        it, lack; then on all."""
        left = SETTLE
        while left > 0 and not self.best.is_met:
            unmet = int(np.argmin(self.best.met))
            left = self._descend(left, unmet + 1)
            if not self.best.met[unmet]:
                self._descend(left, None)
                break

    def _descend(self, steps: int, levels: int | None) -> int:
        """At most so many steps on the first `levels`, until they are met or nearly as they were; how many are left."""
        damping = damping_for(float(self.best.errors[:levels].sum()))
        idle = 0
        for step in range(steps):
            if self.best.met[:levels].all() or damping >= DAMPING_MOST or idle == PATIENT:
                return steps - step
            x, _ = self.posing.step(self.best, damping, levels=levels)
            point = self.posing.point(self.posing.moved(self.best.q, x))
            self.iterations += 1
            if not point.is_better_than(self.best):
                damping *= DAMPING_MORE
                continue
            less = self.best.errors - point.errors
            idle = 0 if (less > SETTLED * self.best.errors)[:levels].any() else idle + 1
            self.best = point
            damping = max(DAMPING_LESS * damping, DAMPING_FLOOR)
        return 0

    def close(self) -> None:
        """Bring loops together as nearly as rounding allows, whatever their tolerance: they are joints."""
        loops = len(self.posing.levels.loops)
        whole = self.best.is_met
        for _ in range(CLOSING if loops else 0):
            x, _ = self.posing.step(self.best, DAMPING_FLOOR, None if whole else loops)
            point = self.posing.point(self.posing.moved(self.best.q, x))
            self.iterations += 1
            nearer = point.errors[:loops].sum() < self.best.errors[:loops].sum()
            if not nearer or (self.best.met & ~point.met).any():
                break
            self.best = point


def _better(point: Point, best: Point) -> Point:
    return point if point.is_better_than(best) else best


def _as_good(points: Sequence[Point]) -> list[Point]:
    """Those of which no level lacks notably more than the least of those that are as good in the levels above."""
    found = list(points)
    for level in range(len(found[0].errors)):
        most = min(point.unmet[level] for point in found) * (1.0 + TIED)
        found = [point for point in found if point.unmet[level] <= most]
    return found


def _is_still(errors: Sequence[Array]) -> bool:
    """Whether of three errors of each level neither is far from the last."""
    *before, last = errors
    return len(before) == 2 and all((abs(last - own) <= STILL * np.maximum(last, own)).all() for own in before)
