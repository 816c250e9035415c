"""Newton and Raphson on SE(3) with the body Jacobian (Sukesh, section 2.3.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.configuration import random_configuration
from ...robokin.spatial import se3
from ..qp.bounded_step import bounded_step
from .arm import ArmTip
from .levenberg_marquardt import damped_descent
from .result import MethodRun

# W of place and rotation [1/m^2, 1/rad^2]: the place alone; then a rotation that gives way to it, more and more, since
# long steps leave the place a little.
PLACE, PLACE_FIRST = np.repeat((1.0, 0.0), 3), (np.repeat((1e3, 1.0), 3), np.repeat((1e8, 1.0), 3))
HELD = 0.8  # of what is missing: where a step leaves more, limits or a singularity hold the arm
STARTS = 8  # postures drawn by chance, from which a rotation that is not met is looked for too
STALLED, PATIENCE = 0.99, 5  # steps that do not lessen what is missing by 1 %


@dataclass(frozen=True)
class NewtonRaphson:
    """q + J_b^+ log(T^-1 T_target), until |v| < eps_v [m] and |w| < eps_w [rad].

    The step is damped by `damping` times the square of what is missing, is of at most `max_step` [rad, m] a joint, and
    is the least-squares step inside the limits: a servo stops at the end of its range, and the others go on. Where that
    holds the arm, it goes to the other posture of the pose, beyond a singularity.
    A rotation that is not met in `max_iterations`, or comes no nearer, relaxes: the place is kept, and the rotation
    comes as near as it does by descents from there, from the start and from postures drawn by chance. Their steps are
    not counted.
    """

    eps_w: float = 0.01
    eps_v: float = 1e-4
    damping: float = 0.3
    max_step: float = 0.6
    max_iterations: int = 20

    def descend(self, arm: ArmTip, q: Array, T_target: Array) -> MethodRun:
        path, least, stopped = [q], [np.inf], list[Array]()
        while True:
            twist = se3.log(se3.inverse(arm.pose(q)) @ T_target)  # of the tip, in its own frame
            if self._is_met(twist):
                return MethodRun(path, T_target, True, "")
            least.append(min(least[-1], float(np.linalg.norm(twist))))
            stalls = len(least) > PATIENCE + 1 and least[-1] > STALLED * least[-1 - PATIENCE]
            if stalls or len(path) > self.max_iterations:
                return self._relaxed(arm, stopped or path, T_target)
            missing = self._missing(arm, q, twist)
            if missing > HELD * np.linalg.norm(twist):
                beyond = self._beyond_singularity(arm, q, twist, missing, T_target)
                if beyond is not None:
                    stopped, least = stopped or path[:], [np.inf]
                    path += self._pieces(q, beyond)[1 : self.max_iterations + 2 - len(path)]
                    q = path[-1]
                    continue
            q = arm.clamped(q + self._step(arm, q, twist, self.max_step))
            path.append(q)

    def _missing(self, arm: ArmTip, q: Array, twist: Array) -> float:
        """What a step of any length does not meet."""
        return float(np.linalg.norm(twist - arm.body_jacobian(q) @ self._step(arm, q, twist, np.inf)))

    def _beyond_singularity(self, arm: ArmTip, q: Array, twist: Array, missing: float, T_target: Array) -> Array | None:
        """The other posture from which a step misses least, if less than from here.

        Along a singular direction n with value s a pose is a fold: what is missing, e = s t + c t^2 / 2, has two roots,
        one on each side of the singularity at t = -s / c. Newton goes to one of them, which limits may forbid.
        """
        found, h = None, 1e-5
        U, values, V = np.linalg.svd(arm.body_jacobian(q), full_matrices=False)
        for u, s, n in zip(U.T, values, V, strict=True):
            c = u @ (arm.body_jacobian(q + h * n) - arm.body_jacobian(q - h * n)) @ n / (2.0 * h)
            root = np.sqrt(max(s * s + 2.0 * c * (u @ twist), 0.0))
            for t in (-s - root, -s + root):
                if abs(t) >= abs(c) * np.pi:  # no fold near here
                    continue
                there = arm.clamped(q + t / c * n)
                rest = se3.log(se3.inverse(arm.pose(there)) @ T_target)
                still = self._missing(arm, there, rest)
                if still < missing:
                    found, missing = there, still
        return found

    def _is_met(self, twist: Array) -> bool:
        return bool(np.linalg.norm(twist[:3]) < self.eps_v and np.linalg.norm(twist[3:]) < self.eps_w)

    def _step(self, arm: ArmTip, q: Array, twist: Array, longest: float) -> Array:
        J = arm.body_jacobian(q)
        damped = J.T @ J + max(self.damping * (twist @ twist), 1e-12) * np.eye(len(q))
        lower, upper = np.maximum(arm.lower - q, -longest), np.minimum(arm.upper - q, longest)
        return bounded_step(damped, J.T @ twist, lower, upper)[0]

    def _relaxed(self, arm: ArmTip, path: list[Array], T_target: Array) -> MethodRun:
        """The place, and of the rotations that the joints allow there the nearest that descents come to: from where the
        steps ended, from the start, and from postures drawn by chance."""
        rng, chosen, least, away, turned = np.random.default_rng(0), path, np.inf, np.inf, np.inf
        for start in (path[-1], path[0], *(random_configuration(arm.model, rng) for _ in range(STARTS))):
            found = damped_descent(arm, start, T_target, PLACE, max_iterations=200)
            for W in PLACE_FIRST:
                found += damped_descent(arm, found[-1], T_target, W, max_iterations=200)[1:]
            error = arm.error(found[-1], T_target)
            place, rotation = np.linalg.norm(error[:3]), np.linalg.norm(error[3:])
            missed = rotation if place < self.eps_v else np.pi + place / self.eps_v
            if missed < least - self.eps_w:
                chosen, least, away, turned = found, missed, place, rotation
        leads = [] if chosen[0] is path[-1] else self._pieces(path[-1], chosen[0])[1:]
        path = [*path, *leads, *chosen[1:]]
        if away >= self.eps_v:
            return MethodRun(path, T_target, False, f"the place is missed by {away:.3g} m")
        if turned >= self.eps_w:
            return MethodRun(
                path, T_target, False, f"the rotation relaxed to the nearest feasible one, {turned:.3g} rad off"
            )
        return MethodRun(path, T_target, True, "")

    def _pieces(self, q: Array, there: Array) -> list[Array]:
        """From q straight to a posture, both included, in steps that are short enough, at least one."""
        count = max(math.ceil(abs(there - q).max() / self.max_step - 1e-9), 1)
        return list(np.linspace(q, there, count + 1))
