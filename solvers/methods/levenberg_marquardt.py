"""Levenberg and Marquardt's damped least squares as RoboComp uses it (after Lourakis and Argyros, 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin import TaskError, UnknownNameError
from ...robokin.arrays import Array
from ...robokin.errors import shown
from ..tasks.checks import direction, vector
from .arm import ArmTip
from .result import MethodRun

POSE6D, ADVANCEAXIS, ALIGNAXIS = TARGETS = "POSE6D", "ADVANCEAXIS", "ALIGNAXIS"
MET = 1e-4  # [m, rad]
LEAST_DAMPING = 1e-12  # of the matrix's norm: less is lost when it is added, and a singular matrix stays so
LEAST_GAIN = 1e-9  # of what is missing: a step that lessens it by less is the last


@dataclass(frozen=True)
class LevenbergMarquardt:
    """weights: (6,) W of place and rotation [1/m^2, 1/rad^2], along root axes.

    target: "POSE6D", the whole pose; "ADVANCEAXIS", along `axis` (3,) of the tip, as far as the target lies, with the
    rotation kept; "ALIGNAXIS", the rotation alone.
    stiff: joints that keep still while the place is sought first (two stages); then all move.
    again: (k, nq) further starts: a target that is missed is executed again from them, and the best is taken.
    """

    weights: Sequence[float] = (1.0, 1.0, 1.0, 0.3, 0.3, 0.3)
    target: str = POSE6D
    axis: Sequence[float] = (0.0, 0.0, 1.0)
    stiff: Sequence[str] = ()
    again: Sequence[Sequence[float]] = ()
    max_iterations: int = 60

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            raise UnknownNameError("target", self.target, TARGETS)
        if vector(self.weights, "levenberg_marquardt: weights", 6).min() < 0.0:
            raise TaskError("levenberg_marquardt: weights must be six numbers that are not negative")
        direction(self.axis, "levenberg_marquardt: axis")
        if isinstance(self.stiff, str) or not np.iterable(self.stiff):
            raise TaskError(f"levenberg_marquardt: stiff must be a list of joints, not {shown(self.stiff)}")
        if not np.iterable(self.again):
            raise TaskError(f"levenberg_marquardt: again must be a list of starts (nq,), not {shown(self.again)}")

    def descend(self, arm: ArmTip, q: Array, T_target: Array) -> MethodRun:
        starts = [q, *(arm.clamped(arm.model.check_configuration(each)) for each in self.again)]
        best = None
        for start in starts:
            found = self._from(arm, start, self._goal(arm.pose(q), T_target))
            if best is None or self._missing(arm, found) < self._missing(arm, best):
                best = found
            if best.converged:
                break
        assert best is not None
        if best.path[0] is q:
            return best
        return MethodRun([q, *best.path], best.goal, best.converged, best.reason)

    def _goal(self, T: Array, T_target: Array) -> Array:
        """What is asked for, from where the tip is: the rows that do not count stay as they are."""
        goal = T_target.copy()
        if self.target == ADVANCEAXIS:
            axis = T[:3, :3] @ np.asarray(self.axis, float) / np.linalg.norm(self.axis)
            goal[:3, :3], goal[:3, 3] = T[:3, :3], T[:3, 3] + axis * (axis @ (T_target[:3, 3] - T[:3, 3]))
        elif self.target == ALIGNAXIS:
            goal[:3, 3] = T[:3, 3]
        return goal

    def _weights(self) -> Array:
        W = np.array(self.weights, float)
        if self.target == ALIGNAXIS:
            W[:3] = 0.0
        return W

    def _from(self, arm: ArmTip, q: Array, goal: Array) -> MethodRun:
        W, path = self._weights(), [q]
        if self.stiff:
            place = W * np.repeat((1.0, 0.0), 3)
            columns = [i for name in self.stiff for i in range(*arm.model.slot(name).v.indices(arm.model.nv))]
            path = damped_descent(arm, q, goal, place, columns, self.max_iterations)
        path += damped_descent(arm, path[-1], goal, W, (), self.max_iterations)[1:]
        missing = np.linalg.norm(arm.error(path[-1], goal)[W > 0.0])
        reason = "" if missing < MET else f"a minimum of the error, {missing:.3g} (m, rad) from the target"
        return MethodRun(path, goal, bool(missing < MET), reason)

    def _missing(self, arm: ArmTip, found: MethodRun) -> float:
        return float(self._weights() @ arm.error(found.path[-1], found.goal) ** 2)


def damped_descent(
    arm: ArmTip, q: Array, goal: Array, W: Array, locked: Sequence[int] = (), max_iterations: int = 60
) -> list[Array]:
    """Iterates that lessen e'We, the start first.

    A motor at its limit, or in `locked` (columns), is locked: its column of the Jacobian is zero. The damping grows
    where a step is no better, which the text's listing leaves out.
    """
    path, e, damping, growth = [q], arm.error(q, goal), 1e-3, 2.0
    for _ in range(max_iterations):
        J = arm.jacobian(q)
        g = J.T @ (W * e)  # J'We, where it was J'e
        J[:, (q <= arm.lower) & (g < 0.0) | (q >= arm.upper) & (g > 0.0)] = 0.0
        J[:, list(locked)] = 0.0
        g = J.T @ (W * e)
        A = J.T @ (W[:, None] * J)
        damping = max(damping, LEAST_DAMPING * float(np.linalg.norm(A)))
        step = np.linalg.solve(A + damping * np.eye(len(q)), g)
        if np.linalg.norm(step) < 1e-9:
            break
        there = arm.clamped(q + step)
        there_error = arm.error(there, goal)
        gain = W @ e**2 - W @ there_error**2
        if gain > 0.0:
            ratio = gain / (step @ (damping * step + g))  # to what the linear model promised
            damping, growth = damping * max(1.0 / 3.0, 1.0 - (2.0 * ratio - 1.0) ** 3), 2.0
            q, e = there, there_error
            path.append(q)
            if gain < LEAST_GAIN * (W @ e**2):
                break
        else:
            damping, growth = damping * growth, 2.0 * growth
    return path
