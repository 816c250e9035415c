"""Descents of one frame of a motion, inside its bounds or inside the position limits alone, in NumPy. Twin of
kernel/src/track/track_descent.c and, around singular poses, of track_goals.c.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from .descent import Descent, Iterate, LevelRows
from .steps import aside, nudged

PATIENCE, PROGRESS = 3, 0.5  # steps after which the error must have shrunk to this fraction
GOAL_STEPS = 30
ASIDES, FAR = 16, 2.0  # how often, and how far away [rad, m], a first level is looked for around a singular pose
STILL = 1e-9  # [rad, m] what a descent moved by no more was not moved
NEAR = 1e-2  # error of a level that is nearly met: 0.14 radians or L
FINE = 1e-18  # error to which frames with criteria are met: 1e-9 radians or L
EXACT = 1e-24  # and frames of which errors add up


class FrameDescent(Descent):
    """Damped steps; `within` brings each into the bounds of the frame."""

    best: Iterate
    rows: Any

    def __init__(self, rows: LevelRows, within: Callable[[Array], Array] = lambda q: q) -> None:
        super().__init__(rows)
        self.within = within

    @property
    def enough(self) -> float:
        """The error that is met."""
        if self.rows.adds_up:
            return EXACT
        return math.inf if self.rows.preference is None else FINE

    def residual(self, at: Iterate) -> float:
        """The error that is to become less."""
        return float(at.errors[: self.on].sum()) if self.rows.adds_up else self.error(at)

    def step(self, at: Iterate, damping: float | None = None, as_one: bool = False) -> Array:
        return self.within(super().step(at, damping, as_one))

    def look(self, q: Array) -> Iterate:
        return self.rows.measure(q)

    def run(self, start: Array, on: int, steps: int, as_one: bool = False) -> bool:
        """True when the first `on` levels are met. One step at least, so that slow targets are followed smoothly and
        not in jerks of the size of the tolerance."""
        self.on = on
        self.best = at = self.look(self.within(start))
        history: list[float] = []
        for count in range(steps):
            history.append(self.residual(at))
            at = self.look(self.step(at, as_one=as_one))
            self.offer(at)
            if self.is_met(at) and at.errors[:on].sum() <= self.enough:
                return True  # what criteria ask for bends the path
            stalls = count + 1 >= PATIENCE and not self.residual(at) < PROGRESS * history[count + 1 - PATIENCE]
            # A path's level gains no more while the point is still led back to the path.
            if stalls and not (self.rows.are_velocities[on - 1 : on].any() and not at.met[: on - 1].all()):
                break
        return self.is_met(self.best)

    def unbend(self, start: Array, on: int) -> bool:
        """The first `on` levels from beside `start`, which a straight limb only so comes away from; kept when they are
        met there."""
        return self._is_kept(nudged(self.rows.data, start), on)

    def meet_as_one(self, on: int) -> bool:
        """The last of `on` levels may be met where it is weighed against those above, which are met, when their rows
        leave it no way to first order. Kept when all of them are met."""
        return self._is_kept(self.best.q, on, as_one=True)

    def _is_kept(self, start: Array, on: int, as_one: bool = False) -> bool:
        best = self.best
        if self.run(start, on, GOAL_STEPS, as_one=as_one):
            return True
        self.best = best
        return False

    def turn_aside(self, start: Array) -> bool:
        """The first level, which is nearly met, from around `start`. A singular pose is left in a direction that it has
        not, by motions within it that make another one of it: to first order they do not help. Kept is the nearest that
        is met, if it is not far."""
        best, least = self.best, FAR
        nearest = best
        if best.errors[0] > NEAR:
            return False
        for number in range(ASIDES):
            if not self.run(began := aside(self.rows.data, start, number), 1, GOAL_STEPS):
                continue
            found, near = self.best, self._put_back(self.best.q, began, start)
            far = float(abs(near - start).max(initial=0.0))
            if far < least:
                there = self.look(near)
                nearest, least = there if there.met[0] else found, far
        self.best = nearest
        return least < FAR

    def _put_back(self, found: Array, began: Array, start: Array) -> Array:
        """(nq,) found, but what the descent that began there has not moved is as in `start`: a level does not take
        along what it does not need."""
        data, moved = self.rows.data, abs(found - began) > STILL
        for base in data.bases:  # wheels say where they are
            moved[[*range(base.q, base.q + 3), *base.wheel_q]] = True
        for motion, iq in zip(map(MotionPrimitive, data.tree.motion), data.tree.iq, strict=True):
            if motion in (MotionPrimitive.BALL, MotionPrimitive.FREE):
                moved[iq : iq + motion.nq] = moved[iq : iq + motion.nq].any()
        return np.where(moved, found, start)

    def go(self, at: Iterate, on: int, steps: int) -> bool:
        """Descend on the first `on` levels, the last of velocities; whether they are met. A base that stands has no
        motion across the line that its wheels point along, and is kept from moving on by what it is askew to that: so
        from one step on that weighs the levels, too."""
        if self.run(at.q, on, steps) or not self.rows.data.bases:
            return bool(self.best.met[:on].all())
        straight = self.best
        if self.run(self.step(at, as_one=True), on, steps):
            return True
        self.best = straight if self.is_better(straight, self.best) else self.best
        return False
