"""The inverse kinematics loop in NumPy: the readable twin of kernel/src/ik.c, and the fallback.

Levenberg-Marquardt with the damping proportional to the squared error (Sugihara, "Solvability-unconcerned inverse
kinematics by the Levenberg-Marquardt method", IEEE T-RO 27(5), 2011), hard limits in every step (bounded_step.py),
attempts that do not progress given up early, restarts drawn from a seeded generator.
Same formulas, same random numbers, same order of decisions as the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..robokin import quaternion, swing_twist
from ..robokin.backend import Reference, reference
from ..robokin.drive import RollingBase
from ..robokin.errors import ConfigurationError
from ..robokin.joint_types import Motion
from ..robokin.limits import AT_LIMIT
from .bounded_step import bounded_step
from .ik_data import IKData
from .ik_engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH, BatchOutcome, Outcome
from .random_numbers import SplitMix64
from .tasks import FrameTask
from .tasks.checks import rigid
from .tasks.frame import to_tip_axes

Array = np.ndarray

DAMPING, DAMPING_CAP, DAMPING_FLOOR = 0.1, 3.0, 1e-9
PATIENCE = 6  # iterations of an attempt after which the error must have shrunk ...
PROGRESS = 0.5  # ... to this fraction
SETTLE = 10  # times the iterations of an attempt that the last descent may take;
SETTLED = 1e-10  # it ends when the error shrinks by less than this fraction
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
        if not np.isfinite(q0).all():
            raise ConfigurationError("q0 has entries that are not finite")
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


def reachable(data: IKData, targets: Array) -> bool:
    """False when a distance certificate shows that some task cannot be met."""
    return not (out_of_reach(data, targets) > 0.0).any()


def out_of_reach(data: IKData, targets: Array) -> Array:
    """(tasks,) metres by which each target is farther than its tip, or the wrist behind it, can ever get."""
    excess = np.zeros(len(targets))
    for i, (record, target) in enumerate(zip(data.records, targets, strict=True)):
        slack = record["tolerance"][0] + 1e-9 * data.length
        away = target[:3, 3] - record["reach_centre"]
        tip = np.linalg.norm(record["used"][:3] * away) - record["reach"] - slack
        slack += record["tolerance"][1] * np.linalg.norm(record["wrist"])
        wrist = np.linalg.norm(away + target[:3, :3] @ record["wrist"]) - record["wrist_reach"] - slack
        excess[i] = max(tip, wrist)
    return excess


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
        damping = _damping(self.best_error)
        for _ in range(iterations):
            if damping >= DAMPING_MOST:
                break
            q = _damped_step(self.data, self.best_q, e, J, damping)
            self.iterations += 1
            before = self.best_error
            e_new, J_new, error, met = self._measure(q)
            if met:
                return True
            if error < before:
                if before - error < SETTLED * error:
                    break
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


def _damping(error: float) -> float:
    return DAMPING * min(error, DAMPING_CAP) + DAMPING_FLOOR


def take_step(data: IKData, q: Array, e: Array, J: Array, error: float) -> Array:
    """q after one bounded damped step; e, J, error as in `linearise`, error = e'e / 2."""
    return _damped_step(data, q, e, J, _damping(error))


def _damped_step(data: IKData, q: Array, e: Array, J: Array, damping: float) -> Array:
    B, lower, upper = local_bounds(data, q)
    J = J @ B
    g = J.T @ e
    H = J.T @ J + np.diag(damping * data.damping)
    x, _ = bounded_step(H, g, lower, upper)
    return _integrate(data, q, B @ x)


def local_bounds(data: IKData, q: Array) -> tuple[Array, Array, Array]:
    """(B, lo, hi): steps x = B c with lo <= c <= hi keep the position limits, to first order those of balls.

    The columns of a limited ball are such that its limits bound single ones (`swing_twist.local_coordinates`). Those of
    the wheels carry their base along where it rolls.
    """
    coordinate = data.coordinate
    plain = coordinate >= 0
    lo, hi = np.full(data.tree.nv, -np.inf), np.full(data.tree.nv, np.inf)
    lo[plain] = data.lower[coordinate[plain]] - q[coordinate[plain]]
    hi[plain] = data.upper[coordinate[plain]] - q[coordinate[plain]]
    B = np.eye(data.tree.nv)
    for cone in data.cones:
        at = slice(cone.v, cone.v + 3)
        B[at, at], lo[at], hi[at] = swing_twist.local_coordinates(cone, q[cone.q : cone.q + 4])
    if data.rolled_from is not None:
        for base in data.bases:
            at, wheels = slice(base.v, base.v + 3), list(base.wheel_q)
            start = data.rolled_from[base.q : base.q + 3]
            B[at, at], lo[at], hi[at] = 0.0, 0.0, 0.0
            B[at, list(base.wheel_v)] = base.rolled_jacobian(start, q[wheels] - data.rolled_from[wheels])
    return B, lo, hi


def _integrate(data: IKData, q: Array, x: Array) -> Array:
    """q moved by x, inside the limits: plain coordinates are added, quaternions turned in their own axes."""
    tree, q = data.tree, q.copy()
    coordinate = data.coordinate
    plain = coordinate >= 0
    q[coordinate[plain]] += x[plain]
    q = np.minimum(np.maximum(q, data.lower), data.upper)
    for motion, iq, iv in zip(tree.motion, tree.iq, tree.iv, strict=True):
        if motion in (Motion.BALL, Motion.FREE):
            lengths = 3 if motion == Motion.FREE else 0
            at = slice(iq + lengths, iq + lengths + 4)
            turn = quaternion.exp(x[iv + lengths : iv + lengths + 3])
            q[at] = quaternion.normalize(quaternion.multiply(q[at], turn))
    for cone in data.cones:
        q[cone.q : cone.q + 4] = swing_twist.project(cone, q[cone.q : cone.q + 4])
    if data.rolled_from is not None:
        roll(data.bases, data.rolled_from, q)
    return q


def roll(bases: Sequence[RollingBase], start: Array, q: Array) -> None:
    """Put bases where their wheels in q have moved them since `start`, both (nq,)."""
    for base in bases:
        wheels = list(base.wheel_q)
        q[base.q : base.q + 3] = base.roll(start[base.q : base.q + 3], q[wheels] - start[wheels])


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


def linearise(data: IKData, tasks: Sequence[FrameTask], targets: Array, q: Array) -> tuple[Array, Array, Array]:
    """Weighted errors e (6 tasks,), their Jacobian J (6 tasks, nv) with de = -J x, residuals (tasks, 2)."""
    tips = reference.frame_placements(data.tree, q)
    e, J = np.zeros(6 * len(tasks)), np.zeros((6 * len(tasks), data.tree.nv))
    residuals = np.zeros((len(tasks), 2))
    for i, (record, task, target) in enumerate(zip(data.records, tasks, targets, strict=True)):
        error, A = task.tip_rows(tips[i], target)
        for part, rows in enumerate((slice(0, 3), slice(3, 6))):
            if not record["exact"] >> part & 1:
                A[rows] = np.eye(6)[rows]
            elif record["tip_axes"]:
                error[rows], A[rows] = to_tip_axes(error[rows], A[rows], tips[i][:3, :3])
        error = error * record["used"]
        residuals[i] = math.sqrt(error[:3] @ error[:3]), math.sqrt(error[3:] @ error[3:])
        rows = slice(6 * i, 6 * i + 6)
        e[rows] = record["weights"] * error
        J[rows] = record["weights"][:, None] * (A @ _tip_jacobian(data, q, i))
    return e, J, residuals


def _tip_jacobian(data: IKData, q: Array, task: int) -> Array:
    """(6, nv) velocity of a tip per unit of the step x, root axes.

    x differs from the robot's v for a free node: its lengths move along fixed axes, so that their bounds stay a box.
    """
    J = reference.frame_jacobian(data.tree, q, task, Reference.LOCAL_WORLD_ALIGNED)
    for motion, iq, iv in zip(data.tree.motion, data.tree.iq, data.tree.iv, strict=True):
        if motion == Motion.FREE:
            J[:, iv : iv + 3] = J[:, iv : iv + 3] @ quaternion.to_matrix(q[iq + 3 : iq + 7]).T
    return J
