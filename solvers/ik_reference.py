"""The inverse kinematics loop in NumPy: the readable twin of kernel/src/ik.c, and the fallback.

Attempts of damped steps (ik_steps.py), given up early when they do not progress, restarts drawn from a seed.
Same formulas, same random numbers, same order of decisions as the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..robokin import swing_twist
from ..robokin.arrays import check_size
from ..robokin.joint_types import Motion
from ..robokin.limits import AT_LIMIT
from .ik_data import IKData
from .ik_engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH, BatchOutcome, Outcome
from .ik_steps import DAMPING_FLOOR, damped_step, damping_for, linearise, reachable, take_step
from .random_numbers import SplitMix64
from .tasks import FrameTask
from .tasks.checks import rigid

Array = np.ndarray

PATIENCE = 6  # iterations of an attempt after which the error must have shrunk ...
PROGRESS = 0.5  # ... to this fraction
SETTLE = 10  # times the iterations of an attempt that the last descent may take;
SETTLED = 1e-10  # it ends when the error changes by less than this fraction
DAMPING_LESS, DAMPING_MORE, DAMPING_MOST = 0.3, 4.0, 1e6
TIED = 1e-3  # relative: errors of poses nearer to the least are as good, and distances from the start as near
ALIKE = 0.05  # relative: errors of attempts, which are not settled yet, may come to be as good


class ReferenceEngine:
    """See `ik_engine.Engine`."""

    name = "numpy"

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], attempts: int, iterations: int) -> None:
        self.data, self.tasks, self.attempts, self.iterations = data, tasks, attempts, iterations

    def solve(self, targets: Array, q0: Array, seed: int) -> Outcome:
        data = self.data
        check_size(q0, "q0")
        q = np.minimum(np.maximum(q0, data.robot_lower), data.robot_upper)
        for task, target in zip(self.tasks, targets, strict=True):
            rigid(target, f"{task.name}: target")
        start = q[data.q_index]
        search = _Search(data, self.tasks, targets, start)
        code, attempts = self._search(search, targets, start, seed)
        # Angles of which whole turns do not matter, within half a turn of the start.
        q[data.q_index] = search.best_q - whole_turns(data, search.best_q - start)
        return code, q, search.best_residuals, search.iterations, attempts

    def _search(self, search: _Search, targets: Array, start: Array, seed: int) -> tuple[int, int]:
        if not reachable(self.data, targets):
            if not search.attempt(start, self.iterations)[1]:
                search.settle(SETTLE * self.iterations)
            return OUT_OF_REACH, 1
        generator = SplitMix64(seed)
        q = start
        for number in range(1, self.attempts + 1):
            q, met = search.attempt(q, self.iterations)
            if met:
                return CONVERGED, number
            search.offer_best()
            q = restart(self.data, start, q, generator, partial=number % 2 == 0)
        found = search.settle_ends(SETTLE * self.iterations)
        return (CONVERGED if found else NOT_CONVERGED), self.attempts

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


def whole_turns(data: IKData, moved: Array) -> Array:
    """(nq,) whole turns in displacements of coordinates, of angles of which these do not matter."""
    return np.where(data.turns, 2.0 * math.pi * np.rint(moved / (2.0 * math.pi)), 0.0)


class _End:
    """Where an attempt came nearest to the targets: q (nq,), its error, and its `_Search.distance`."""

    error, distance, q = math.inf, math.inf, np.zeros(0)


class _Search:
    """The attempts of one solve: counts iterations, keeps the configuration of least error of an attempt, and of the
    attempts that are as good the one nearest to the start."""

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], targets: Array, q0: Array) -> None:
        self.data, self.tasks, self.targets = data, tasks, targets
        self.iterations = 0
        self.best_error = self.least_error = math.inf
        self.chosen, self.rival = _End(), _End()
        self.start = self.best_q = q0
        self.best_residuals = np.zeros((len(tasks), 2))

    def attempt(self, start: Array, iterations: int) -> tuple[Array, bool]:
        """Descend from `start`, fast and not always downwards: where it ended, and whether every task is met."""
        q = start
        self.best_error = math.inf
        history: list[float] = []
        for step in range(iterations + 1):
            e, J, error, met = self._measure(q)
            if met:
                return q, True
            if step == iterations or (step >= PATIENCE and error > PROGRESS * history[step - PATIENCE]):
                break
            history.append(error)
            q = take_step(self.data, q, e, J, error)
            self.iterations += 1
        return q, False

    def settle(self, iterations: int) -> bool:
        """Descend from the best configuration to its minimum, only downwards; whether every task is met."""
        e, J = self._keep_anew(self.best_q)
        damping = damping_for(self.best_error)
        for _ in range(iterations):
            if damping >= DAMPING_MOST:
                break
            q = damped_step(self.data, self.best_q, e, J, damping)
            self.iterations += 1
            before = self.best_error
            e_new, J_new, error, met = self._measure(q)
            if met:
                return True
            if abs(before - error) < SETTLED * error:
                break
            if error < before:
                e, J = e_new, J_new
                damping = max(DAMPING_LESS * damping, DAMPING_FLOOR)
            else:
                damping *= DAMPING_MORE
        return False

    def settle_ends(self, iterations: int) -> bool:
        """Settle the ends of the attempts; the best configuration is then the nearest to the start of those that are as
        good. Whether every task is met."""
        has_rival = self.rival.distance < self.chosen.distance
        self.best_q = self.chosen.q
        if self.settle(iterations):
            return True
        if not has_rival:
            return False
        self.chosen.error = self.least_error = self.best_error
        self.chosen.distance, self.chosen.q = self.distance(), self.best_q
        self.best_q = self.rival.q
        if self.settle(iterations):
            return True
        self.least_error = min(self.least_error, self.best_error)
        self._offer(self.chosen, TIED)
        self._keep_anew(self.chosen.q)
        return False

    def offer_best(self) -> None:
        self.least_error = min(self.least_error, self.best_error)
        self._offer(self.chosen, TIED)
        self._offer(self.rival, ALIKE)

    def _offer(self, end: _End, margin: float) -> None:
        """Make the best configuration an end when its error is within `margin` of the least one, and the end's is not
        or it is notably nearer to the start: rounding has no say."""
        most, away = self.least_error * (1.0 + margin), self.distance()
        if self.best_error > most or (end.error <= most and away >= end.distance * (1.0 - TIED)):
            return
        end.error, end.distance, end.q = self.best_error, away, self.best_q

    def distance(self) -> float:
        """Of the best configuration from the start, squared, in the scale of the damping."""
        data, tree = self.data, self.data.tree
        moved = self.best_q - self.start
        moved = moved - whole_turns(data, moved)
        plain = data.coordinate >= 0
        total = float(data.damping[plain] @ moved[data.coordinate[plain]] ** 2)
        for motion, iq in zip(tree.motion, tree.iq, strict=True):
            if motion in (Motion.BALL, Motion.FREE):
                at = slice(iq + 3, iq + 7) if motion == Motion.FREE else slice(iq, iq + 4)
                # Of unit quaternions: the angle squared, to third order.
                total += 8.0 * (1.0 - abs(float(self.best_q[at] @ self.start[at])))
        return total

    def _keep_anew(self, q: Array) -> tuple[Array, Array]:
        """Make q the best configuration; e and J there."""
        self.best_error = math.inf
        e, J, _, _ = self._measure(q)
        return e, J

    def _measure(self, q: Array) -> tuple[Array, Array, float, bool]:
        """e, J, the error e'e / 2, and whether every residual is within its tolerance. Keeps the best."""
        e, J, residuals = linearise(self.data, self.tasks, self.targets, q)
        error = 0.5 * float(e @ e)
        met = bool((residuals <= self.data.records["tolerance"]).all())
        if met or error < self.best_error:
            self.best_error, self.best_q, self.best_residuals = error, q, residuals
        return e, J, error, met


def restart(data: IKData, start: Array, q: Array, generator: SplitMix64, partial: bool) -> Array:
    """A random configuration inside the limits, drawn in the order of the coordinates (see IKData.spread).

    A partial restart moves away from q, where the last attempt ended: what is at a bound there, and half of the rest,
    so that limbs which are already right have a chance to stay.
    """
    q = q.copy()
    cones = {cone.q: cone for cone in data.cones}
    i = 0
    while i < len(q):
        lower, upper, spread = data.lower[i], data.upper[i], data.spread[i]
        if i in cones:
            ball = swing_twist.drawn(cones[i], generator.uniform(), generator.uniform(), generator.uniform())
            between = bool(swing_twist.contains(cones[i].shrunk(AT_LIMIT), q[i : i + 4]))
            if not (partial and between and generator.uniform() < 0.5):
                q[i : i + 4] = ball
            i += 4
            continue
        if math.isnan(spread):
            if not partial:
                q[i : i + 4] = generator.quaternion()
            i += 4
            continue
        if spread > 0.0:
            centre = data.middle[i] if data.centred[i] else start[i]
            drawn = min(max(centre + spread * (2.0 * generator.uniform() - 1.0), lower), upper)
            between = lower < q[i] < upper
            if not (partial and between and generator.uniform() < 0.5):
                q[i] = drawn
        elif not partial:
            q[i] = start[i]
        i += 1
    return q
