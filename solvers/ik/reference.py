"""The static solver's loops in NumPy: the readable twin of kernel/src/ik/ik.c, and the fallback.

Attempts of damped steps (descent.py), given up early when they do not progress, restarts drawn from a seed. Levels are
met one after another, so that what a level gets is what it would get without those below: where one cannot be met,
those below are brought as near as the ones above allow. Same formulas, same random numbers, same order of decisions as
the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...robokin.arrays import Array, check_size
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.limits import AT_LIMIT
from ...robokin.spatial import swing_twist
from ..descent.data import IKData
from ..descent.descent import Descent, Iterate, LevelRows
from ..descent.engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH, BatchOutcome, Outcome
from ..descent.level_rows import StackRows
from ..descent.steps import nudged, reachable
from ..descent.tip_rows import TipRows
from ..random_numbers import SplitMix64
from ..tasks import FrameTask
from ..tasks.checks import rigid
from ..tasks.influence import Remaining
from ..velocity.task_levels import TaskLevels

# Iterations of an attempt after which the error must have shrunk to the fraction PROGRESS; levels take longer, the more
# so as those above wait for none below.
PATIENCE, PATIENCE_OF_LEVELS, PROGRESS = 6, 15, 0.5
STILL = 2e-2  # relative: two steps that change the error by less have come to a minimum
SETTLE = 10  # times the iterations of an attempt that the last descent may take;
SETTLED, SETTLED_LEVEL = 1e-10, 1e-7  # it ends when the error changes by less than this fraction
# Attempts at levels: the first steps of some go for all levels as one, those above then settle where those below can be
# met; ends of so many that are alike are the answer, or so many that are no better where levels above are met.
TOGETHER, ENOUGH, IDLE = 5, 10, 8
TIED = 1e-3  # relative: errors of poses nearer to the least are as good, and distances from the start as near
APART = 1e-4  # [rad, m] coordinates nearer to each other than this are equal
ALIKE = 0.05  # relative: errors of attempts, which are not settled yet, may come to be as good


class ReferenceEngine:
    """See `descent.engine.Engine`."""

    name = "numpy"

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], attempts: int, iterations: int) -> None:
        self.data, self.tasks, self.attempts, self.iterations = data, tasks, attempts, iterations

    def solve(self, targets: Array, q0: Array, seed: int, is_trial: bool = False) -> Outcome:
        data = self.data
        check_size(q0, "q0")
        q = np.minimum(np.maximum(q0, data.robot_lower), data.robot_upper)
        for task, target in zip(self.tasks, targets, strict=True):
            rigid(target, f"{task.name}: target")
        start = q[data.q_index]
        rows = TipRows(data, self.tasks, targets)
        search = _Search(data, rows, start, self.attempts, self.iterations, is_trial=is_trial)
        code = search.solve(seed, int(reachable(data, targets)), None)
        best = search.best
        # Angles of which whole turns do not matter, within half a turn of the start.
        q[data.q_index] = best.q - whole_turns(data, best.q - start)
        return code, q, best.residuals, search.iterations, search.tried

    def solve_batch(self, targets: Array, q0: Array, seed: int, threads: int | None) -> BatchOutcome:
        outcomes = [self.solve(goal, start, seed) for goal, start in zip(targets, q0, strict=True)]
        codes, q, residuals, iterations, attempts = zip(*outcomes, strict=True) if outcomes else ([],) * 5
        return (
            np.array(codes, np.int32),
            np.array(q).reshape(q0.shape),
            np.array(residuals).reshape(len(q0), len(self.tasks), 2),
            np.array(iterations, np.int32),
            np.array(attempts, np.int32),
        )


class LevelSearch:
    """The search for poses of tasks in levels; twin of `descent.native_level_search.NativeLevelSearch`, which says what
    its arguments are."""

    name = "numpy"

    def __init__(
        self,
        levels: TaskLevels,
        data: IKData,
        used_from: Array,
        attempts: int,
        iterations: int,
    ) -> None:
        self.levels, self.data, self.used_from, self.iterations = levels, data, used_from, iterations

    def solve(
        self,
        targets: Sequence[Any],
        q0: Array,
        seed: int,
        reachable: int,
        postures: tuple[int, Array] | None,
        attempts: int,
        influence: Sequence[float] | None,
        remaining: Mapping[int, Remaining],
        costs: Array,
        steps: Array,
        is_trial: bool = False,
    ) -> Outcome:
        rows = StackRows(self.levels, self.data, targets, influence, remaining)
        search = _Search(self.data, rows, q0, attempts, self.iterations, self.used_from, is_trial, costs, steps)
        code = search.solve(seed, reachable, postures)
        return code, search.best.q, search.best.residuals, search.iterations, search.tried


def whole_turns(data: IKData, moved: Array) -> Array:
    """(nq,) whole turns in displacements of coordinates, of angles of which these do not matter."""
    return np.where(data.periodic, 2.0 * math.pi * np.rint(moved / (2.0 * math.pi)), 0.0)


class _End:
    """Where an attempt came nearest to the targets, its error, and its distance from the start."""

    error = distance = math.inf
    at: Iterate


class _Search(Descent):
    """The attempts of one solve. tried: how many.   is_trial: see `descent.engine.Engine`.   costs, steps: see
    `descent.native_level_search.NativeLevelSearch`."""

    best: Iterate

    def __init__(
        self,
        data: IKData,
        rows: LevelRows,
        start: Array,
        attempts: int,
        iterations: int,
        used_from: Array | None = None,
        is_trial: bool = False,
        costs: Array | None = None,
        steps: Array | None = None,
    ) -> None:
        super().__init__(rows)
        self.used_from, self.is_trial = used_from, is_trial
        self._costs, self._steps = costs, steps
        self.data, self.start, self.attempts, self.most = data, start, attempts, iterations
        self.is_stack = isinstance(rows, StackRows)
        self.tried = 0

    def solve(self, seed: int, reachable: int, postures: tuple[int, Array] | None) -> int:
        """The code of the outcome; postures: see `PoseProblem.postures`."""
        code = CONVERGED
        self.best = self.rows.measure(self.start)
        for on in range(1, self.rows.levels + 1):
            self.on = on
            if code != CONVERGED:
                if not self.is_trial:
                    self._settle()
                continue
            if self.on > reachable:
                code = OUT_OF_REACH
            is_beyond = code == OUT_OF_REACH
            if is_beyond and self.is_trial:
                break
            posture = postures[1][on - 1] if postures is not None and on >= postures[0] else None
            if not self._search(self.best.q, seed, posture, is_beyond) and not is_beyond:
                code = NOT_CONVERGED
        self.on = self.rows.levels
        return code

    def _search(self, q: Array, seed: int, posture: Array | None, is_beyond: bool) -> bool:
        """Attempts from q, of levels also from beside the start and from the prescribed posture, and from restarts,
        drawn anew for each level, while steps are left. Whether all levels that count are met; else the ends of the
        attempts are settled, but in a trial. is_beyond: they are the answer, all of them are settled."""
        generator, drawn = SplitMix64(seed), self.data
        if self.used_from is not None:
            drawn = replace(drawn, half_range=np.where(self.used_from <= self.on, drawn.half_range, 0.0))
        self.least, self.chosen, self.candidate = math.inf, _End(), _End()
        alike = 0
        for number in range(1, self.attempts + 1):
            if alike >= (IDLE if self.on > 1 else ENOUGH) or (number > 1 and self._steps_left <= 0.0):
                break
            self.tried += 1
            q, met = self._attempt(q, TOGETHER if self.on > 1 and number % 4 > 1 else 0)
            if met or (is_beyond and self._settle()):
                return True
            same = self._offer_best()
            if self.is_stack or is_beyond:
                alike = 1 if same < 0 else alike + (1 if self.on > 1 else same)
            if number == 1 and self.is_stack:
                q = nudged(self.data, self.start)
            elif number == 2 and posture is not None:
                q = posture
            else:
                q = restart(drawn, self.start, self.best.q if is_beyond else q, generator, partial=number % 2 == 0)
        return not self.is_trial and self._settle_ends()

    def _attempt(self, start: Array, together: int) -> tuple[Array, bool]:
        """Descend from `start`, fast and not always downwards, and keep the best: where it ended, and whether every
        residual that counts is within its tolerance. together: so many first steps weigh all levels against each
        other."""
        patience = PATIENCE_OF_LEVELS if self.is_stack else PATIENCE
        q, history = start, list[float]()
        self.best = None  # type: ignore[assignment]
        for step in range(self.most + 1):
            at = self.rows.measure(q)
            E = self.error(at)
            self.offer(at)
            if self.is_met(at):
                return q, True
            if step == self.most or (step >= patience and E > PROGRESS * history[step - patience]):
                break
            if self.is_stack and _is_still(history, E):
                break
            history.append(E)
            q = self.step(at, as_one=step < together)
        return q, False

    def step(self, at: Iterate, damping: float | None = None, as_one: bool = False) -> Array:
        if self._steps is not None and self._costs is not None:
            self._steps[0] -= self._costs[self.on - 1]
        return super().step(at, damping, as_one)

    @property
    def _steps_left(self) -> float:
        if self._steps is None or self._costs is None:
            return math.inf
        return float(self._steps[0] / self._costs[self.on - 1])

    def _settle(self) -> bool:
        steps = min(max(self._steps_left, self.most), SETTLE * self.most)
        return self.settle(int(steps), SETTLED_LEVEL if self.is_stack else SETTLED)

    def _offer_best(self) -> int:
        """Offer an iterate as the best; of levels, only where those above the last one are met. 1 when it is as good as
        the least so far, -1 when it is notably better, else 0."""
        best, least, error = self.best, self.least, float(self.best.errors[self.on - 1])
        if not best.met[: self.on - 1].all():
            return 0
        self.least = min(self.least, error)
        self._offer_end(self.chosen, TIED)
        self._offer_end(self.candidate, ALIKE)
        return -1 if error * (1.0 + ALIKE) < least else int(error <= least * (1.0 + ALIKE))

    def _offer_end(self, end: _End, margin: float) -> None:
        """Make the best iterate an end when its error is within `margin` of the least one, and the end's is not or it
        is nearer to the start."""
        most, away, error = self.least * (1.0 + margin), self._distance(), float(self.best.errors[self.on - 1])
        if error > most or (end.error <= most and not self._is_nearer(end, away)):
            return
        end.error, end.distance, end.at = error, away, self.best

    def _is_nearer(self, end: _End, away: float) -> bool:
        """Whether the best iterate is notably nearer to the start than an end; of two as near it is the one whose first
        coordinates are larger, so that rounding has no say."""
        if not end.distance * (1.0 - TIED) <= away <= end.distance * (1.0 + TIED):
            return away < end.distance
        moved = self.best.q - end.at.q
        apart = np.flatnonzero(abs(moved) > APART)
        return bool(len(apart) and moved[apart[0]] > 0.0)

    def _settle_ends(self) -> bool:
        """Settle the ends of the attempts; the best iterate is then the nearest to the start of those that are as good.
        Whether every residual that counts is within its tolerance."""
        has_candidate = self.candidate.distance <= self.chosen.distance * (1.0 + TIED)
        has_candidate &= self.candidate.at is not self.chosen.at
        self.best = self.chosen.at
        if self._settle():
            return True
        if not has_candidate:
            return False
        self.chosen.error = self.least = float(self.best.errors[self.on - 1])
        self.chosen.distance, self.chosen.at = self._distance(), self.best
        self.best = self.candidate.at
        if self._settle():
            return True
        self.least = min(self.least, float(self.best.errors[self.on - 1]))
        self._offer_end(self.chosen, TIED)
        self.best = self.chosen.at
        return False

    def _distance(self) -> float:
        """Distance of the best iterate from the start, squared, in the scale of the damping."""
        data, tree, q = self.data, self.data.tree, self.best.q
        moved = q - self.start
        moved = moved - whole_turns(data, moved)
        plain = data.coordinate >= 0
        total = float(data.damping[plain] @ moved[data.coordinate[plain]] ** 2)
        for motion, iq in zip(tree.motion, tree.iq, strict=True):
            if motion in (MotionPrimitive.BALL, MotionPrimitive.FREE):
                at = slice(iq + 3, iq + 7) if motion == MotionPrimitive.FREE else slice(iq, iq + 4)
                # Of unit quaternions: the angle squared, to third order.
                total += 8.0 * (1.0 - abs(float(q[at] @ self.start[at])))
        return total


def _is_still(history: Sequence[float], E: float) -> bool:
    """Whether the last two steps have hardly changed the error."""
    return len(history) >= 2 and all(abs(E - each) <= STILL * max(E, each) for each in history[-2:])


def restart(data: IKData, start: Array, q: Array, generator: SplitMix64, partial: bool) -> Array:
    """A random configuration inside the limits, drawn in the order of the coordinates (see IKData.half_range).

    A partial restart moves away from q, where the last attempt ended: what is at a bound there, and half of the rest,
    so that limbs which are already right have a chance to stay.
    """
    q = q.copy()
    cones = {cone.q: cone for cone in data.cones}
    i = 0
    while i < len(q):
        lower, upper, half_range = data.lower[i], data.upper[i], data.half_range[i]
        if math.isnan(half_range) and i in cones:
            ball = swing_twist.drawn(cones[i], generator.uniform(), generator.uniform(), generator.uniform())
            between = bool(swing_twist.contains(cones[i].shrunk(AT_LIMIT), q[i : i + 4]))
            if not (partial and between and generator.uniform() < 0.5):
                q[i : i + 4] = ball
            i += 4
            continue
        if math.isnan(half_range):
            if not partial:
                q[i : i + 4] = generator.quaternion()
            i += 4
            continue
        if half_range > 0.0:
            centre = data.middle[i] if data.about_middle[i] else start[i]
            drawn = min(max(centre + half_range * (2.0 * generator.uniform() - 1.0), lower), upper)
            between = lower + AT_LIMIT < q[i] < upper - AT_LIMIT
            if not (partial and between and generator.uniform() < 0.5):
                q[i] = drawn
        elif not partial:
            q[i] = start[i]
        i += 1
    return q
