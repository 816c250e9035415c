"""The bounds of one frame of tracking: the viable steps, and what joints that share one limit make of them. Twin of
kernel/src/track/frame_bounds.c."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import reference
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.rolling import RollingBase
from ..limits.coupled import ball_within, base_within
from ..limits.viability import StepLimits, braking_step
from .data import IKData
from .steps import roll

ALIKE = 0.5  # of a turn: what is as much
UNSEEN = 1e-4  # [rad]


@dataclass(frozen=True, eq=False)
class FrameBounds:
    """Steps (nv,) in [lo, hi] of a frame that begins at `last` (nq,), which `step` (nv,) led to.

    The lengths of a floating joint are bounded along the axes of its parent, its rates along its own: at such a
    position bound it stops, whatever its acceleration limit.

    calm: a base, and by how much it turns at most [rad].
    """

    data: IKData
    limits: StepLimits
    last: Array
    step: Array
    lo: Array
    hi: Array
    calm: tuple[RollingBase, float] | None = None

    @classmethod
    def of(cls, data: IKData, limits: StepLimits, last: Array, step: Array) -> FrameBounds:
        return cls(data, limits, last, step, *limits.bounds(last, step))

    @cached_property
    def box(self) -> IKData:
        """The problem with the frame's bounds in place of the position limits."""
        data, limits = self.data, self.limits
        lower, upper = data.lower.copy(), data.upper.copy()
        plain = limits.coordinate >= 0
        at = limits.coordinate[plain]
        lower[at] = np.maximum(lower[at], self.last[at] + self.lo[plain])
        upper[at] = np.maximum(lower[at], np.minimum(upper[at], self.last[at] + self.hi[plain]))
        return replace(data, lower=lower, upper=upper, rolled_from=self.last)

    def within(self, q: Array) -> Array:
        """q moved into the box, and its step into [lo, hi] where ball and floating joints have limits.

        Balls are in their cones then, and bases where their wheels have rolled them.
        """
        if self.limits.curved:
            step = np.minimum(np.maximum(reference.difference(self.data.tree, self.last, q), self.lo), self.hi)
            moved = reference.integrate(self.data.tree, self.last, step)
            self._stop_at_bounds(moved)
            plain = self.limits.coordinate[self.limits.coordinate >= 0]
            moved[plain] = q[plain]
            q = moved
        q = np.minimum(np.maximum(q, self.box.lower), self.box.upper)
        self._couple(q)
        return q

    def followed(self, before: Array, goal: Array) -> Array:
        """(nq,) one frame on when every joint follows its goal time-optimally, which was at `before`; the wheels of a
        base go the same share of their ways, so that it stays on the arc to its goal."""
        pace, gap, reach = self._to_goal(before, goal)
        step = np.minimum(np.maximum(pace + np.copysign(reach, gap), self.lo), self.hi)
        for base in self.data.bases:
            wheels, remaining = list(base.wheel_v), (goal - self.last)[list(base.wheel_q)]
            moves = remaining != 0.0
            share = (step[wheels][moves] / remaining[moves]).min(initial=1.0)
            if share > 0.0:
                step[wheels] = np.minimum(np.maximum(share * remaining, self.lo[wheels]), self.hi[wheels])
        return self.within(reference.integrate(self.data.tree, self.last, step))

    def swing(self, base: RollingBase, q: Array) -> float:
        """[rad] the turn of a base that gets to q, where it turns back by about as much as it turned in the frame
        before; else 0."""
        turn, before = float(q[base.q + 2] - self.last[base.q + 2]), float(self.step[base.v + 2])
        turns_back = turn * before < 0.0 and ALIKE * abs(before) < abs(turn) < abs(before) / ALIKE
        return abs(turn) if turns_back and abs(turn) > UNSEEN else 0.0

    def brakeable(self, before: Array, goal: Array, q: Array) -> FrameBounds:
        """So that no joint comes nearer to a goal, which was at `before`, than it can brake on its way there, or by a
        speed that one frame brakes; but as fast as to q (nq,) it may. Else one that has no limits drags others along,
        past their goals and back: where there is none, all stays."""
        is_free = np.isinf(self.limits.max_step_change)
        for base in self.data.bases:  # its wheels have limits
            is_free[base.v : base.v + 3] = False
        if not is_free.any():
            return self
        step, (pace, gap, reach) = reference.difference(self.data.tree, self.last, q), self._to_goal(before, goal)
        faster = np.maximum(reach, self.limits.max_step_change)
        least = np.minimum(np.maximum(self.lo, np.minimum(pace - faster, step)), self.hi)
        most = np.maximum(np.minimum(self.hi, np.maximum(pace + faster, step)), self.lo)
        return replace(self, lo=np.where(gap < 0.0, least, self.lo), hi=np.where(gap < 0.0, self.hi, most))

    def slow(self, frames: float) -> FrameBounds:
        """So that no joint is faster than it brakes in so many frames, one at least, or in the next frame."""
        most = self.limits.max_step_change * frames
        hi = np.maximum(np.minimum(self.hi, most), self.lo)
        return replace(self, lo=np.minimum(np.maximum(self.lo, -most), hi), hi=hi)

    def _to_goal(self, before: Array, goal: Array) -> tuple[Array, Array, Array]:
        """(nv,) each: the step of a goal, what is left to it then, and the largest step there that can be braked."""
        tree, limits = self.data.tree, self.limits
        pace = np.minimum(np.maximum(reference.difference(tree, before, goal), -limits.max_step), limits.max_step)
        gap = reference.difference(tree, self.last, goal) - pace
        return pace, gap, braking_step(abs(gap), limits.max_step_change)

    def _couple(self, q: Array) -> None:
        limits, data, last = self.limits, self.data, self.last
        for cone in data.cones:
            own, at = slice(cone.v, cone.v + 3), slice(cone.q, cone.q + 4)
            if np.isfinite([limits.max_step[own], limits.max_step_change[own]]).any():
                bounds = self.lo[own], self.hi[own], limits.max_step_change[own]
                q[at] = ball_within(cone, last[at], self.step[own], *bounds, q[at])
        for base in data.bases:
            own, at = slice(base.v, base.v + 3), slice(base.q, base.q + 3)
            wheel_q, wheel_v = list(base.wheel_q), list(base.wheel_v)
            turned = q[wheel_q] - last[wheel_q]
            if self.calm and self.calm[0] is base:
                turned = np.minimum(np.maximum(base.calmed(turned, self.calm[1]), self.lo[wheel_v]), self.hi[wheel_v])
            turned = base_within(
                base,
                last[at],
                self.step[wheel_v],
                turned,
                limits.max_step_change[wheel_v],
                data.lower[at],
                data.upper[at],
                limits.max_step[own],
            )
            q[wheel_q] = last[wheel_q] + turned
        roll(data.bases, last, q)

    def _stop_at_bounds(self, moved: Array) -> None:
        """Shorten the way of floating joints that leads out of their position bounds: slower, in the same direction."""
        tree = self.data.tree
        for iq in tree.iq[tree.motion == MotionPrimitive.FREE]:
            at = slice(iq, iq + 3)
            taken = moved[at] - self.last[at]
            room = np.where(taken < 0.0, self.data.lower[at], self.data.upper[at]) - self.last[at]
            share = min([1.0, *(room[taken != 0.0] / taken[taken != 0.0])])
            if share < 1.0:
                moved[at] = self.last[at] + share * taken
