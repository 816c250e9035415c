"""Goal-oriented animation: the cost of goal, obstacles and limits, and a descent on it (Breen 1997, Eq. 9 to 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin import TaskError
from ...robokin.arrays import Array, float_array
from .arm import ArmTip
from .result import MethodRun


@dataclass(frozen=True)
class GoalOriented:
    """The tip goes to a place; its rotation is free.

    obstacles: (k, 3) centres in the root frame [m].   radius: R of their fields, one or (k,) [m].
    delta: from where on a limit counts [rad, m].   unit: [m] of the cost's |e - g|, which the logarithms add to.
    step: [rad, m] of a joint at most, an iterate.   tolerance: [m].
    """

    obstacles: Sequence[Sequence[float]] = ()
    radius: float | Sequence[float] = 0.3
    delta: float = float(np.radians(20.0))
    unit: float = 0.1
    step: float = 0.05
    tolerance: float = 1e-3
    max_iterations: int = 600

    def __post_init__(self) -> None:
        centers, radii = float_array(self.obstacles).reshape(-1, 3), float_array(self.radius)
        if radii.shape not in ((), (len(centers),)):
            raise TaskError(f"goal_oriented: radius must be one number, or one for each of {len(centers)} obstacles")
        if np.min(radii, initial=1.0) <= 0.0:
            raise TaskError("goal_oriented: radius must be greater than 0")

    def cost(self, arm: ArmTip, q: Array, goal: Array) -> tuple[float, Array]:
        """C(q) (Eq. 9) and its gradient (nv,), for a goal (3,) [m]."""
        e, J = arm.pose(q)[:3, 3], arm.jacobian(q)[:3]
        away = e - goal
        distance = np.linalg.norm(away)
        total, by_place = distance / self.unit, away / max(distance, 1e-12) / self.unit
        centers = np.asarray(self.obstacles, float).reshape(-1, 3)
        for gap, R in zip(e - centers, np.broadcast_to(self.radius, len(centers)), strict=True):
            d = np.linalg.norm(gap)
            if d <= R:  # Eq. 11
                total, by_place = total + np.log(R / d), by_place - gap / d**2
        gradient = by_place @ J
        for margin, sign in ((q - arm.lower, 1.0), (arm.upper - q, -1.0)):
            near = (margin <= self.delta) & (arm.lower < arm.upper)  # Eq. 12
            total += np.log(self.delta / margin[near]).sum()
            gradient[near] -= sign / margin[near]
        return float(total), gradient

    def descend(self, arm: ArmTip, q: Array, T_target: Array) -> MethodRun:
        goal, path = T_target[:3, 3], [q]
        q = self._inside(arm, q)
        if (q != path[0]).any():
            path.append(q)
        for _ in range(self.max_iterations):
            if np.linalg.norm(arm.pose(q)[:3, 3] - goal) < self.tolerance:
                break
            there = self._stepped(arm, q, goal)
            if there is None:
                break
            q = there
            path.append(q)
        away = np.linalg.norm(arm.pose(q)[:3, 3] - goal)
        reason = "" if away < self.tolerance else f"no step lessens the cost, {away:.3g} m from the goal"
        if len(path) > self.max_iterations and reason:
            reason = f"{away:.3g} m from the goal after {self.max_iterations} iterations"
        return MethodRun(path, T_target, not reason, reason)

    def _inside(self, arm: ArmTip, q: Array) -> Array:
        """q strictly inside its limits: the cost has no value at them."""
        spare = np.minimum(1e-3 * self.delta, (arm.upper - arm.lower) / 4.0)
        return np.clip(q, arm.lower + spare, arm.upper - spare)

    def _stepped(self, arm: ArmTip, q: Array, goal: Array) -> Array | None:
        """The next iterate; None where no step is better.

        Outside the limits the cost is zero again, so a step that leaves is no better: it is shortened."""
        value, slope = self.cost(arm, q, goal)
        moves = arm.lower < arm.upper
        slope = np.where(moves, slope, 0.0)
        if not slope.any():
            return None
        length = min(0.1, self.step / float(abs(slope).max()))
        while length > 1e-9:
            there = q - length * slope
            inside = ((arm.lower < there) & (there < arm.upper))[moves].all()
            if inside and self.cost(arm, there, goal)[0] < value - 0.1 * length * slope @ slope:
                return there
            length /= 2.0
        return None
