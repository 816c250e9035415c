"""Limits whose border is curved, as one differential step from q sees them: the cone of a ball, and the position bounds
of a floating joint, whose path bends when it turns.

Rows linear in the step x (nv,), dimensionless, are what they are to first order: at first from where the step starts,
then as the `tangent` where a step leaves them. Whether a step stays inside is always asked of the limit itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel
from ...robokin.spatial import quaternion, se3, so3, swing_twist
from ...robokin.spatial.swing_twist import LOCKED, MARGIN, Cone
from ..qp.level import Level
from .coupled import balls_are_safe, braked, frames_to_stop, shortened, stopping_shares
from .viability import StepLimits, braking_step

INSET = 4e-12  # by which tangents lie inside, so that rounding of what follows does not matter
SLOP = 8.0 * np.finfo(float).eps  # of the length of a path: its rounding
FARTHEST = 3.0  # [rad] turns up to this one are looked at for the worst


class CurvedLimit(Protocol):
    """joint: its name.   own: columns of x.   is_outside: the step starts outside; it comes back then, and until it is
    inside goes no farther out.   start: (own,) a step that holds.   lo, hi: (own,) bounds of the step, with `start`
    inside."""

    joint: str
    own: slice
    is_outside: bool
    start: Array
    lo: Array
    hi: Array

    def rows(self) -> Level:
        """To first order, from where the step starts."""

    def holds(self, steps: Array, inset: float = 0.0) -> Array:
        """(...) bool of `steps` (..., own): the limit is kept, now and in braking, with so much [rad or L] to spare."""

    def tangent(self, step: Array, inset: float) -> Level:
        """Rows that keep the limit to first order near where `step` (own,), which leaves it, does."""

    def nearest(self, step: Array, inset: float) -> Level:
        """Rows that only a step near `step` meets, which keeps the limit at least now."""

    def beyond(self, step: Array) -> float:
        """[rad or L] by how much a step leaves the limit."""

    def ends_inside(self, step: Array) -> bool: ...


class BallLimit:
    """The cone of a ball. previous: (3,) the last step.   lo, hi: (3,) of the step."""

    def __init__(self, cone: Cone, nv: int, ball: Array, previous: Array, limits: StepLimits) -> None:
        self.joint, self.own = cone.joint, slice(cone.v, cone.v + 3)
        self._true = self._cone = cone
        self._nv, self._ball, self._max_change = nv, ball, limits.max_step_change[self.own]
        self.is_outside = not swing_twist.contains(cone, ball)
        if self.is_outside:  # back, whatever its acceleration limit, as other joints
            previous, self._max_change = np.zeros(3), np.full(3, np.inf)
        slower = braked(previous, self._max_change)
        if slower.any() and not self.holds(slower):
            previous = shortened(previous, 0.0 * previous, lambda x: bool(self.holds(braked(x, self._max_change))))
            slower = braked(previous, self._max_change)
        max_step = limits.max_step[self.own]
        self.lo = np.clip(previous - self._max_change, -max_step, max_step)
        self.hi = np.clip(previous + self._max_change, -max_step, max_step)
        self.start = np.clip(0.0, self.lo, self.hi)
        if not self.holds(self.start):
            self.start = np.clip(slower, self.lo, self.hi)
            if not balls_are_safe(cone, ball, self.start, self._max_change):
                self._cone = _widened(cone, self._stops(self.start)[1])

    def rows(self) -> Level:
        if self.is_outside:
            return self._tangent_of(self._true, np.zeros(3), MARGIN)
        return cone_level(self._cone, self._ball, self._nv, float(self._max_change.min()))

    def holds(self, steps: Array, inset: float = 0.0) -> Array:
        cone = self._cone.shrunk(0.25 * MARGIN + inset)
        return balls_are_safe(cone, self._ball, steps, self._max_change, 0.75 * LOCKED)

    def tangent(self, step: Array, inset: float) -> Level:
        return self._tangent_of(self._cone, step, inset)

    def nearest(self, step: Array, inset: float) -> Level:
        _, _, wanted = self._leaving(self._cone, step, inset)
        J = np.zeros((3, self._nv))
        J[:, self.own] = np.eye(3)
        return Level(J, wanted, wanted)

    def beyond(self, step: Array) -> float:
        _, stops = self._stops(step)
        return max(
            float(np.linalg.norm(_turn(stop, swing_twist.project(self._cone, stop))))
            for stop in (stops[0], stops[_worst(self._cone, stops)])
        )

    def ends_inside(self, step: Array) -> bool:
        return bool(swing_twist.contains(self._true, self._stops(step)[1][0]))

    def _stops(self, step: Array) -> tuple[Array, Array]:
        """(k,) numbers of frames of braking, and (k, 4) where the ball is after them, but for turns too far."""
        numbers, shares = stopping_shares(frames_to_stop(step, self._max_change))
        near = shares * np.linalg.norm(step) <= FARTHEST
        near[0] = True
        turned = quaternion.multiply(self._ball, quaternion.exp(shares[near, None] * step))
        return numbers[near], quaternion.normalize(turned)

    def _leaving(self, cone: Cone, step: Array, inset: float) -> tuple[int, Array, Array]:
        """After how many frames of braking a step is farthest outside; (4,) where inside the cone it should be then,
        and the step (3,) that gets there."""
        numbers, stops = self._stops(step)
        worst = _worst(cone, stops)
        j = int(numbers[worst])
        inside = swing_twist.project(cone.shrunk(inset), stops[worst])
        turn = _turn(self._ball, inside)
        frames = frames_to_stop(turn, self._max_change)
        # w covers (1 + j - j (j + 1) / 2 f(w)) w, with f(w) frames of braking.
        share = (1.0 + (0.5 * j * (j + 1) / frames if frames > 0.0 else 0.0)) / (1.0 + j)
        return j, inside, share * turn

    def _tangent_of(self, cone: Cone, step: Array, inset: float) -> Level:
        j, inside, wanted = self._leaving(cone, step, inset)
        frames = frames_to_stop(wanted, self._max_change)
        share, slope = 1.0, np.zeros(3)
        if j and frames > 0.0:
            share = 1.0 + j - 0.5 * j * (j + 1) / frames
            k = int(np.argmax(abs(wanted) / self._max_change))
            slope[k] = 0.5 * j * (j + 1) / frames**2 * np.sign(wanted[k]) / self._max_change[k]
        B, lo, hi = swing_twist.local_coordinates(cone.shrunk(inset), inside)
        G = np.linalg.inv(B) @ so3.right_jacobian(share * wanted) @ (share * np.eye(3) + np.outer(wanted, slope))
        bounded = np.isfinite(lo) | np.isfinite(hi)
        J = np.zeros((3, self._nv))
        J[:, self.own] = G
        return Level(J[bounded], (lo + G @ wanted)[bounded], (hi + G @ wanted)[bounded])


class FloatingLimit:
    """Position bounds of a floating joint, along the axes of its parent. At them it stops, whatever its acceleration
    limit: these hold along its own axes. lo, hi: (6,) of the step."""

    def __init__(
        self, model: RobotModel, node: int, q: Array, lo: Array, hi: Array, limits: PositionLimits, length: float
    ) -> None:
        tree = model.tree
        iq, iv = int(tree.iq[node]), int(tree.iv[node])
        self.joint = model.joints[tree.node_joint[node]].name
        self.own = slice(iv, iv + 6)
        self._nv = model.nv
        self._R = quaternion.to_matrix(q[iq + 3 : iq + 7])
        at = slice(iq, iq + 3)
        self._below, self._above = ((side[at] - q[at]) / length for side in (limits.lower, limits.upper))
        self.is_outside = bool((self._below > 0.0).any() or (self._above < 0.0).any())
        self._lower, self._upper = np.minimum(self._below, 0.0), np.maximum(self._above, 0.0)
        self.start = np.clip(0.0, lo, hi)
        if not self.holds(self.start):
            self.start[:3] *= (1.0 - INSET) * min(1.0, self._share(self.start))
            if not self.holds(self.start):
                self.start[:3] = 0.0
        self.lo, self.hi = np.minimum(lo, self.start), np.maximum(hi, self.start)

    def rows(self) -> Level:
        J = np.zeros((3, self._nv))
        J[:, self.own.start : self.own.start + 3] = self._R
        return self._bounded(J, self._below, self._above)

    def holds(self, steps: Array, inset: float = 0.0) -> Array:
        displacement = self._displacement(steps)
        slop = inset + SLOP * np.linalg.norm(steps[..., :3], axis=-1, keepdims=True)
        still = (steps[..., :3] == 0.0).all(axis=-1)
        return still | ((displacement >= self._lower + slop) & (displacement <= self._upper - slop)).all(axis=-1)

    def tangent(self, step: Array, inset: float) -> Level:
        J = np.zeros((3, self._nv))
        own = self._R @ so3.exp(step[3:]) @ se3.right_jacobian(step)[:3]
        J[:, self.own] = own
        there = self._displacement(step) - own @ step
        return self._bounded(J, self._lower + inset - there, self._upper - inset - there)

    def nearest(self, step: Array, inset: float) -> Level:
        inside = np.clip(self._displacement(step), self._lower + inset, self._upper - inset)
        wanted = step.copy()
        wanted[:3] = so3.left_jacobian_inverse(step[3:]) @ self._R.T @ inside
        J = np.zeros((6, self._nv))
        J[:, self.own] = np.eye(6)
        return Level(J, wanted, wanted)

    def beyond(self, step: Array) -> float:
        displacement = self._displacement(step)
        return float(np.maximum(self._lower - displacement, displacement - self._upper).max(initial=0.0))

    def ends_inside(self, step: Array) -> bool:
        displacement = self._displacement(step)
        return bool((displacement >= self._below - SLOP).all() and (displacement <= self._above + SLOP).all())

    def _displacement(self, steps: Array) -> Array:
        """(..., 3) along the axes of the parent."""
        return (so3.left_jacobian(steps[..., 3:]) @ steps[..., :3, None])[..., 0] @ self._R.T

    def _share(self, step: Array) -> float:
        """The share of a step that is inside."""
        displacement = self._displacement(step)
        room = np.where(displacement < 0.0, self._lower, self._upper)
        moving = displacement != 0.0
        return float((room[moving] / displacement[moving]).min(initial=1.0))

    @staticmethod
    def _bounded(J: Array, lower: Array, upper: Array) -> Level:
        bounded = np.isfinite(lower) | np.isfinite(upper)
        lower, upper = lower.copy(), upper.copy()
        crossed = lower > upper
        lower[crossed] = upper[crossed] = 0.5 * (lower[crossed] + upper[crossed])
        return Level(J[bounded], lower[bounded], upper[bounded])


def held_floats(model: RobotModel, limits: PositionLimits) -> Iterator[int]:
    """Nodes of the floating joints with position bounds."""
    for node in np.flatnonzero(model.tree.motion == MotionPrimitive.FREE).tolist():
        iq = int(model.tree.iq[node])
        if limits.is_bounded(range(iq, iq + 3)):
            yield node


def cone_level(cone: Cone, ball: Array, nv: int, max_change: float = np.inf) -> Level:
    """Displacements (nv,) that keep a ball at `ball` (4,) in its cone to first order. max_change: of the step in a
    frame, for braking before its limits."""
    B, lo, hi = swing_twist.local_coordinates(cone, ball)
    J = np.zeros((3, nv))
    J[:, cone.v : cone.v + 3] = np.linalg.inv(B)
    changes = np.full(3, max_change)
    lo, hi = -braking_step(-lo, changes), braking_step(hi, changes)
    bounded = np.isfinite(lo) | np.isfinite(hi)
    return Level(J[bounded], lo[bounded], hi[bounded])


def _turn(ball: Array, other: Array) -> Array:
    return quaternion.log(quaternion.multiply(quaternion.conjugate(ball), other))


def _worst(cone: Cone, balls: Array) -> int:
    """The ball, of (k, 4), that is farthest outside."""
    measure, twist = swing_twist.measures(cone, balls)
    excess = measure - 1.0
    if cone.has_twist:
        excess = np.maximum(excess, np.maximum(cone.lower - twist, twist - cone.upper))
    return int(np.argmax(excess))


def _widened(cone: Cone, balls: Array) -> Cone:
    """The cone made so wide that it contains `balls` (k, 4)."""
    swing, twist = swing_twist.swing_and_twist(balls, cone.basis)
    a, b = (max(axis, float(abs(swing[:, k]).max()), LOCKED) for k, axis in enumerate((cone.a, cone.b)))
    more = max(1.0, float(np.hypot(swing[:, 0] / a, swing[:, 1] / b).max())) * (1.0 + INSET)
    lower, upper = cone.lower, cone.upper
    if cone.has_twist:
        lower, upper = max(min(lower, twist.min()) - INSET, -np.pi), min(max(upper, twist.max()) + INSET, np.pi)
    return replace(cone, a=more * a + INSET, b=more * b + INSET, lower=float(lower), upper=float(upper))
