"""Limits that bind several degrees of freedom together, as rows of a differential step before all tasks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from ..robokin import quaternion, swing_twist
from ..robokin.drive import RollingBase
from ..robokin.swing_twist import LOCKED, MARGIN, Cone
from .coupled_limits import ball_is_safe, braked, frames_to_stop, shortened, stopping_way
from .hierarchy import Level
from .viability import StepLimits, braking_step

Array = np.ndarray

TRIES = 4  # steps that are looked at before a ball is moved no farther than is known to be safe


class CoupledLevels:
    """Cones of balls to first order, with room to brake, and rolling without slip. For one step at a time.

    A cone is curved: a step along its border ends a little outside, or cannot be braked in time any more. Then the same
    step is asked for again with the border so much nearer: `start`, and until `accepts`, `levels` and a step.
    scale: (nv,) of the rows' columns.
    """

    def __init__(self, limits: StepLimits, scale: Array) -> None:
        self.limits, self.scale = limits, scale
        self.is_empty = not limits.cones and not limits.bases
        self.start(np.zeros(len(scale)))

    def start(self, previous: Array) -> None:
        """previous: (nv,) the last displacement."""
        self._previous = previous
        self._nearer = [0.0] * len(self.limits.cones)
        self._held: dict[int, Array] = {}  # steps of the cones' balls that are not asked for any more
        self._tries = 0

    def levels(self, q: Array) -> list[tuple[str, Level]]:
        """What reports call them, and rows at q (nq,)."""
        found = [(f"position limits of {cone.joint}", self._cone(i, q)) for i, cone in enumerate(self.limits.cones)]
        return found + [(f"rolling of {base.joint}", self._rolling(base, q)) for base in self.limits.bases]

    def accepts(self, q: Array, step: Array) -> bool:
        """Whether the displacement `step` (nv,) from q (nq,) and braking after it stay in the cones."""
        self._tries += 1
        inside = True
        for i, cone in enumerate(self.limits.cones):
            own, ball = slice(cone.v, cone.v + 3), q[cone.q : cone.q + 4]
            change = self.limits.change[own]
            if i in self._held or ball_is_safe(cone.shrunk(0.25 * MARGIN), ball, step[own], change, 0.75 * LOCKED):
                continue
            inside = False
            if self._tries >= TRIES:
                is_safe = partial(ball_is_safe, cone.shrunk(MARGIN), ball, change=change, locked=0.5 * LOCKED)
                self._held[i] = shortened(step[own], braked(self._previous[own], change), is_safe)
            else:
                self._nearer[i] += 1.5 * _beyond(cone, ball, stopping_way(frames_to_stop(step[own], change)), step[own])
        return inside

    def _cone(self, i: int, q: Array) -> Level:
        cone = self.limits.cones[i]
        own = slice(cone.v, cone.v + 3)
        if i in self._held:
            J = np.zeros((3, len(self.scale)))
            J[:, own] = np.eye(3)
            return Level(J, self._held[i], self._held[i])
        slowest = float(self.limits.change[own].min())
        return cone_level(cone, q[cone.q : cone.q + 4], len(self.scale), self._nearer[i], slowest)

    def _rolling(self, base: RollingBase, q: Array) -> Level:
        J = np.zeros((3, len(self.scale)))
        J[:, base.columns] = base.rows(float(q[base.q + 2]))
        J *= self.scale
        return Level(J / np.linalg.norm(J, axis=1, keepdims=True), np.zeros(3), np.zeros(3))


def cone_level(cone: Cone, ball: Array, nv: int, nearer: float = 0.0, change: float = np.inf) -> Level:
    """Displacements (nv,) that keep a ball at `ball` (4,) in its cone to first order. nearer: [rad] by how much its
    limits are tightened.   change: of the step per frame, for braking before them."""
    B, lo, hi = swing_twist.local_coordinates(cone, ball)
    J = np.zeros((3, nv))
    J[:, cone.v : cone.v + 3] = np.linalg.inv(B)
    changes = np.full(3, change)
    lo, hi = -braking_step(-lo, changes) + nearer, braking_step(hi, changes) - nearer
    crossed = lo > hi
    lo[crossed] = hi[crossed] = 0.5 * (lo[crossed] + hi[crossed])
    bounded = np.isfinite(lo) | np.isfinite(hi)
    return Level(J[bounded], lo[bounded], hi[bounded])


def _beyond(cone: Cone, ball: Array, ways: Iterable[float], step: Array) -> float:
    """[rad] by how much a ball leaves its cone at most when it has turned by `ways` times `step` (3,)."""
    most = 0.0
    for way in ways:
        after = quaternion.normalize(quaternion.multiply(ball, quaternion.exp(way * step)))
        back = quaternion.multiply(quaternion.conjugate(after), swing_twist.project(cone, after))
        most = max(most, float(np.linalg.norm(quaternion.log(back))))
    return most
