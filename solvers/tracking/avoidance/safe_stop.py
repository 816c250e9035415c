"""Whether a robot that goes a step can still stop before it comes too near to anything.

After every frame there is a way to stop that was looked at: all joints brake as hard as they may. So a robot that
starts free of obstacles that stand still stays free, whatever its tasks ask for: it can always brake (inevitable
collision states: Fraichard and Asama 2004).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import get_backend
from ....robokin.collision.model import Near
from ....robokin.model.robot import RobotModel
from ...limits.viability import StepLimits
from ...tasks.clearance import ClearanceTask

SHARES: tuple[float, ...] = (0.5, 0.25, 0.1)  # of a step that is too near, before the robot only brakes
LONGEST = 1000  # frames of braking that are looked at
_STANDS = 1e-9  # of a step, beside which no joint moves
ROUNDING = 1e-9  # [m]


@dataclass(frozen=True, eq=False)
class Look:
    """What a step leads to. q: (nq,) its end.   find_kept: finds `kept`.   blocked: the two that come nearest, where
    they come too near before the robot stands; `pair` is their number."""

    q: Array
    find_kept: Callable[[], Array]
    blocked: Near | None
    pair: int | None

    @cached_property
    def kept(self) -> Array:
        """(pairs,) [m] what each pair has at the end, `SafeStop.reach` at most."""
        return self.find_kept()

    @property
    def room(self) -> float:
        """[m] how near those two come."""
        return np.inf if self.blocked is None else self.blocked.distance


class SafeStop:
    """Looks at frames, and half-way between them, until the robot stands. reach: [m] up to which distances are known,
    the margin at least."""

    def __init__(self, model: RobotModel, task: ClearanceTask, limits: StepLimits, backend: str, reach: float) -> None:
        self.model, self.task, self.limits, self.reach, self._name = model, task, limits, reach, backend
        self._backend = get_backend(backend)

    def kept(self, q: Array, obstacles: Array | None) -> Array:
        """(n, pairs) [m] what each pair has at configurations (n, nq), `reach` at most."""
        found, _ = self.task.collisions.checked_distances(q, self.reach, self._name, obstacles)
        return np.minimum(found[..., 0], self.reach)

    def needed(self, kept: Array) -> Array:
        """(pairs,) [m] what each pair is to keep from there on."""
        return np.minimum(kept, self.task.margin)

    def nearest(self, kept: Array) -> Near | None:
        """The nearest two, where they are nearer than the margin."""
        if not len(kept) or kept.min() >= self.task.margin - ROUNDING:
            return None
        return self.task.collisions.near(int(kept.argmin()), kept.min())

    def look(self, q: Array, step: Array, before: Array, obstacles: Array | None) -> Look:
        """The robot goes a step (nv,) from q (nq,) and then brakes. before: (pairs,) what was kept there."""
        places = self._stopping(q, step)
        kept = self.kept(places, obstacles)
        over = kept - self.needed(before)
        if not over.size or over.min() >= -ROUNDING:
            return Look(places[1], lambda: kept[1], None, None)
        sample, pair = (int(i) for i in np.unravel_index(int(over.argmin()), over.shape))
        return Look(places[1], lambda: kept[1], self.task.collisions.near(pair, kept[sample, pair]), pair)

    def _look_halfway(self, look: Look, q: Array, step: Array, before: Array, obstacles: Array) -> Look:
        """A look that is free, or blocked half-way of the step, where the obstacles are there."""
        kept = self.kept(self.moved(q, 0.5 * step)[None], obstacles)[0]
        pair = int((kept - self.needed(before)).argmin())
        if kept[pair] >= self.needed(before)[pair] - ROUNDING:
            return look
        return replace(look, blocked=self.task.collisions.near(pair, kept[pair]), pair=pair)

    def look_around(
        self, q: Array, step: Array, kept: Array, halfway: Array | None, obstacles: Array | None, later: Array | None
    ) -> Look:
        """`look` at obstacles, which are elsewhere half-way (n, 4, 4) and later, where that counts."""
        look = self.look(q, step, kept, obstacles)
        if look.blocked is None and halfway is not None:
            look = self._look_halfway(look, q, step, kept, halfway)
        if look.blocked is None and later is not None:
            then = self.look(q, step, kept, later)
            look = replace(look, blocked=then.blocked, pair=then.pair)
        return look

    def slower(
        self, q: Array, last: Array, step: Array, kept: Array, halfway: Array | None, obstacles: Array | None
    ) -> Look:
        """A part of a step that is free, or the step of braking. last: (nv,) the step before."""
        braking, shares = self.limits.coasting(q, last), SHARES
        if self.limits.cones or self.limits.bases:  # steps between two that are viable may not be
            shares = ()
        looks = []
        for less in (*(braking + share * (step - braking) for share in shares), braking, step):
            looks.append(self.look_around(q, less, kept, halfway, obstacles, None))
            if looks[-1].blocked is None:
                return looks[-1]
        # An obstacle comes too fast, or the start was too near.
        return max(looks, key=lambda look: look.room)

    def _stopping(self, q: Array, step: Array) -> Array:
        """(n, nq) the configurations half-way and at the end of each step."""
        found: list[Array] = []
        while len(found) < 2 * LONGEST:
            found += [self.moved(q, 0.5 * step), self.moved(q, step)]
            q = found[-1]
            step = self.limits.coasting(q, step)
            if abs(step).max(initial=0.0) <= _STANDS:
                break
        return np.array(found)

    def moved(self, q: Array, step: Array) -> Array:
        """The configuration after a step; wheeled bases roll."""
        there = self._backend.integrate(self.model.tree, q, step)
        for base in self.limits.bases:
            own = slice(base.q, base.q + 3)
            there[own] = base.roll(q[own], step[list(base.wheel_v)])
        return there
