"""Whether a robot that goes a step can still stop before it comes too near to anything.

After every frame there is a way to stop that was looked at: all joints brake as hard as they may. So a robot that
starts free of obstacles that stand still stays free, whatever its tasks ask for: it can always brake (inevitable
collision states: Fraichard and Asama 2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import get_backend
from ....robokin.collision.model import Near
from ....robokin.model.robot import RobotModel
from ...limits.viability import StepLimits
from ...tasks.clearance import ClearanceTask

LONGEST = 1000  # frames of braking that are looked at
_STANDS = 1e-9  # of a step, beside which no joint moves
_ROUNDING = 1e-9  # [m]


@dataclass(frozen=True, eq=False)
class Look:
    """What a step leads to. q: (nq,) its end.   kept: (pairs,) [m] what each pair has there, the margin at most.
    blocked: the two that come nearest, where they come too near before the robot stands."""

    q: Array
    kept: Array
    blocked: Near | None


class SafeStop:
    """Looks at frames, and half-way between them, until the robot stands."""

    def __init__(self, model: RobotModel, task: ClearanceTask, limits: StepLimits, backend: str) -> None:
        self.model, self.task, self.limits, self._name = model, task, limits, backend
        self._backend = get_backend(backend)

    def kept(self, q: Array, obstacles: Array | None) -> Array:
        """(n, pairs) [m] what each pair has at configurations (n, nq), the margin at most: what it is to keep from
        there on."""
        found, _ = self.task.collisions.checked_distances(q, self.task.margin, self._name, obstacles)
        return np.minimum(found[..., 0], self.task.margin)

    def nearest(self, kept: Array) -> Near | None:
        """The nearest two, where they are nearer than the margin."""
        if not len(kept) or kept.min() >= self.task.margin - _ROUNDING:
            return None
        return self.task.collisions.near(int(kept.argmin()), kept.min())

    def look(self, q: Array, step: Array, needed: Array, obstacles: Array | None) -> Look:
        """The robot goes a step (nv,) from q (nq,) and then brakes."""
        places = self._stopping(q, step)
        kept = self.kept(places, obstacles)
        over, near = kept - needed, None
        if over.size and over.min() < -_ROUNDING:
            sample, pair = np.unravel_index(int(over.argmin()), over.shape)
            near = self.task.collisions.near(int(pair), kept[sample, pair])
        return Look(places[1], kept[1], near)

    def _stopping(self, q: Array, step: Array) -> Array:
        """(n, nq) the configurations half-way and at the end of each step."""
        found: list[Array] = []
        while len(found) < 2 * LONGEST:
            found += [self._moved(q, 0.5 * step), self._moved(q, step)]
            q = found[-1]
            step = self.limits.coasting(q, step)
            if abs(step).max(initial=0.0) <= _STANDS:
                break
        return np.array(found)

    def _moved(self, q: Array, step: Array) -> Array:
        """The configuration after a step; wheeled bases roll."""
        there = self._backend.integrate(self.model.tree, q, step)
        for base in self.limits.bases:
            own = slice(base.q, base.q + 3)
            there[own] = base.roll(q[own], step[list(base.wheel_v)])
        return there
