"""Whether a robot that goes a step can still stop before it comes too near to anything.

After every frame there is a way to stop that was looked at: all joints brake as hard as they may. So a robot that
starts free of obstacles that stand still stays free, whatever its tasks ask for: it can always brake (inevitable
collision states: Fraichard and Asama 2004).
"""

from __future__ import annotations

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import get_backend
from ....robokin.collision.model import Near
from ....robokin.model.robot import RobotModel
from ...limits.viability import StepLimits
from ...tasks.clearance import ClearanceTask

_LONGEST = 1000  # frames of braking that are looked at
_STANDS = 1e-9  # of a step, beside which no joint moves
_ROUNDING = 1e-9  # [m]


class SafeStop:
    """Looks at frames, and half-way between them, until the robot stands."""

    def __init__(self, model: RobotModel, task: ClearanceTask, limits: StepLimits, backend: str) -> None:
        self.model, self.task, self.limits, self._name = model, task, limits, backend
        self._backend = get_backend(backend)

    def needed(self, q: Array, obstacles: Array | None) -> Array:
        """(pairs,) [m] what each pair is to keep from q (nq,) on: the margin, or what it has where that is less."""
        return np.minimum(self._distances(q[None], obstacles)[0], self.task.margin)

    def nearest(self, q: Array, obstacles: Array | None) -> Near | None:
        """The nearest two, where they are nearer than the margin."""
        return self.task.collisions.nearest(q, self.task.margin, self._name, obstacles)

    def blocked(self, q: Array, step: Array, needed: Array, obstacles: Array | None) -> Near | None:
        """What comes nearest when the robot goes a step (nv,) from q (nq,) and then brakes; None: nothing too near."""
        values = self._distances(self._stopping(q, step), obstacles)
        over = values - needed
        if not over.size or over.min() >= -_ROUNDING:
            return None
        sample, pair = np.unravel_index(int(over.argmin()), over.shape)
        return self.task.collisions.near(int(pair), values[sample, pair])

    def _stopping(self, q: Array, step: Array) -> Array:
        """(n, nq) the configurations at the end of each step and half-way to it."""
        tree, found = self.model.tree, []
        for _ in range(_LONGEST):
            found.append(self._backend.integrate(tree, q, 0.5 * step))
            q = self._backend.integrate(tree, q, step)
            found.append(q)
            slower = self.limits.coasting(q, step)
            if abs(slower).max(initial=0.0) <= _STANDS:
                break
            step = slower
        return np.array(found)

    def _distances(self, q: Array, obstacles: Array | None) -> Array:
        """(n, pairs) [m]; of pairs that are far apart what is enough."""
        collisions, within = self.task.collisions, self.task.margin
        return collisions.checked_distances(q, within, self._name, obstacles)[0][..., 0]
