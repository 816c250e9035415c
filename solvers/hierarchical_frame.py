"""One frame of a motion of the hierarchy.

A step inside the viability bounds (`velocity.py`), linearised again where it leads until it does not change: so
that what is curved is met at the frame too, not only to first order. All linearisations of a frame share its bounds, so
position, velocity and acceleration limits hold as they do for one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..robokin.backend import get_backend
from ..robokin.drive import RollingBase
from .coupled_limits import base_within
from .criteria import Criterion, combine
from .curved_step import CurvedLimits
from .ik_steps import roll
from .influence import Left, leaving
from .level import Level, lacking
from .state import State
from .task_levels import TaskLevels, tolerances
from .tasks import Rows
from .tasks.base import Moved
from .viability import StepLimits

Array = np.ndarray

RESTORING = 4  # of these, at the end: without criteria, of the levels above the first one that cannot be met only
TANGENTS = 2  # of a limit for one level, in one linearisation: the next one goes on from them
FAR = 1.0  # [rad or L] of all joints: a level that lacks more is damped from the start
GENTLE = 0.3  # damping of levels that spoil one above
FARTHEST = 0.1  # [rad or L] of the way of a velocity, in one linearisation
UNMET = 1e-6  # of a row: more than this is lacking of a level that cannot be met
UNCHANGED = 1e-9  # radians or L: a frame that changes by less is done
ROUNDING = 4.0 * np.finfo(float).eps  # by which steps are shortened, so that their ends are inside the limits too


class Place(NamedTuple):
    """q: (nq,).   last: (nv,) the displacement of the frame that led there."""

    q: Array
    last: Array


@dataclass(frozen=True, eq=False)
class Asked:
    """Of a frame. targets: fixed where they are counted from a start.   influence: (tasks,).   left: what is not asked
    for of the rows of tasks of partial influence."""

    targets: Sequence[Any]
    influence: Array
    left: Mapping[int, Left]


class Found(NamedTuple):
    """Where a frame leads. moved: (nv,) the displacement.   residuals: (tasks, 2).   steps: linearisations.
    held: (nv,) bool, the degrees of freedom that limits on velocity or acceleration hold back."""

    q: Array
    moved: Array
    residuals: Array
    steps: int
    held: Array


@dataclass(frozen=True, eq=False)
class _Linearised:
    """The tasks where a frame has come to. closures: of the loops.   rows: of the tasks that the kernel does not know,
    or of all.   levels: as `TaskLevels.levels`, no farther along ways than is given.   residuals: (tasks, 2)."""

    closures: Sequence[Level]
    rows: Mapping[int, Rows]
    levels: Callable[[float], Sequence[Level]]
    residuals: Callable[[], Array]


class Frame:
    """A frame that begins at `here`. scale: (nv,) of displacements (`State.scale`).   dt: between frames [s]."""

    def __init__(
        self, levels: TaskLevels, criteria: Sequence[Criterion], scale: Array, dt: float, here: Place, asked: Asked
    ) -> None:
        self.levels, self.criteria, self.dt = levels, criteria, dt
        self.here, self.asked = here, asked
        self._model, self._backend, self._scale = levels.model, get_backend(levels.backend), scale
        self._start, self._tolerance = self._state(here.q), tolerances(levels.tasks)
        self._start_only = Moved(self._start, self._start, np.zeros(self._model.nv))
        is_known = not any(task.is_velocity for task in levels.tasks) and all(share >= 1.0 for share in asked.influence)
        self._kernel = levels.kernel_rows() if is_known and self._backend.name == "native" else None

    def solve(self, limits: StepLimits, most: int) -> Found:
        """Where the frame leads inside `limits`, after at most so many linearisations. When that spoils a level that is
        met without those below, again with these damped, and without them if that does not help."""
        every = len(self.levels.priorities)
        found = self._led(limits, most, every)
        count = next((count for count in range(1, every) if not self.is_met(found, count)), every)
        if count == every:
            return found
        alone = self._led(limits, most, count)
        steps = found.steps + alone.steps
        if not self.is_met(alone, count):
            return found._replace(steps=steps)
        gentle = self._led(limits, most, every, GENTLE)
        return (gentle if self.is_met(gentle, count) else alone)._replace(steps=steps + gentle.steps)

    def asking(self, targets: Sequence[Any]) -> Frame:
        """The same with other targets."""
        asked = replace(self.asked, targets=targets)
        return Frame(self.levels, self.criteria, self._scale, self.dt, self.here, asked)

    def rows_at_start(self) -> list[Rows]:
        return self._rows(self._start_only)

    def rows_at(self, found: Found) -> list[Rows]:
        """Of each task, where this or another frame from `here` has led."""
        return self._rows(self._moved_to(found))

    def reached(self, found: Found) -> list[Any]:
        """The targets as the next frame takes them for the last ones."""
        moved = self._moved_to(found)
        return [
            task.reached(moved, target) if task.is_velocity else target
            for task, target in zip(self.levels.tasks, self.asked.targets, strict=True)
        ]

    def _moved_to(self, found: Found) -> Moved:
        return Moved(self._start, self._state(found.q), found.moved)

    def is_met(self, found: Found, count: int) -> bool:
        """Whether so many levels are, as far as their tasks are whole."""
        own = [i for each in self.levels.indices[:count] for i in each if self.asked.influence[i] >= 1.0]
        return bool((found.residuals[own] <= self._tolerance[own]).all())

    def _led(self, limits: StepLimits, most: int, kept: int, damped: float = 0.0) -> Found:
        """Where the first `kept` levels lead. damped: of all but the first one, from the start."""
        levels, scale, start = self.levels, self._scale, self.here.q
        curved = CurvedLimits(self._model, limits, scale, levels.length).at(start, self.here.last)
        moved, state = self._start_only, self._start
        H, g = combine(self.criteria, state)
        H, g = scale[:, None] * H * scale, scale * g * self.dt
        x, q, count, every = np.zeros(self._model.nv), start, 0, kept
        pressed = curved.at_bounds(x)[:0]
        linear = self._linearised(moved)
        inside, damping = curved.start, _far(linear.levels(np.inf), levels.counts, kept, damped)
        for _ in range(most):
            count += 1
            above = [*self._rolling(q), *linear.closures]
            # At the end what criteria have left over is a correction, the shortest: they may settle too slowly.
            led = kept == every and count <= most - RESTORING
            own_H, own_g = (H, g) if led else (np.eye(len(x)), -x)
            parts = [d for each, n in zip(damping[:kept], levels.counts, strict=False) for d in (each, 0.0)[:n]]
            # There too, so that it is met: no farther along a way that limits do not let it get to the end of.
            farthest = FARTHEST if count <= most - RESTORING else 0.0
            asked = map(_damped, linear.levels(farthest), parts)
            wanted = [_from_the_start(level, x) for level in (*above, *asked)]
            found = curved.solve(wanted, own_H, own_g, self._backend.name, inside, TANGENTS)
            change = found.x - x
            x = inside = found.x
            if farthest:
                pressed = curved.at_bounds(x)
            q = self._moved(scale * x, limits)
            state = self._state(q)
            moved = Moved(self._start, state, self._backend.difference(self._model.tree, start, q))
            linear = self._linearised(moved)
            if abs(change).max(initial=0.0) < UNCHANGED:
                break
            # A level that cannot be met goes on moving the robot along those above, which are curved: it is damped, as
            # much as it lacks, in the scale of its rows (Fan and Yuan, "On the quadratic convergence of the
            # Levenberg-Marquardt method without nonsingularity assumption", Computing 74, 2005): what a far target adds
            # to the curvature of its level is as much.
            firsts = np.cumsum([0, *levels.counts])[:kept] + len(above)
            unmet, sizes = [found.residuals[k] for k in firsts], [np.linalg.norm(wanted[k].J) for k in firsts]
            is_lacking = [bool(abs(own).max(initial=0.0) > UNMET) for own in unmet]
            damping = [float(np.linalg.norm(own) * size) for own, size in zip(unmet, sizes, strict=True)]
            damping = [each if i and is_lacking[i] else 0.0 for i, each in enumerate(damping)]
            if count >= most - RESTORING and any(is_lacking):
                kept = min(kept, max(is_lacking.index(True), 1))
        at_side = np.zeros(len(x), bool)
        at_side[curved.at_bounds(x)] = at_side[pressed] = True
        hurried = np.isfinite(limits.largest) | np.isfinite(limits.change)
        seen = [level.J for level in (*linear.closures, *linear.levels(0.0))]
        seen += [own.J for own in linear.rows.values()]
        concerned = np.any([J.any(axis=0) for J in seen], axis=0) if seen else np.zeros(len(x), bool)
        return Found(q, moved.by, linear.residuals(), count, at_side & hurried & concerned)

    def _state(self, q: Array) -> State:
        return self.levels.state(q, self.asked.targets, self.dt, self.here.last / self.dt, self.asked.influence)

    def _linearised(self, moved: Moved) -> _Linearised:
        levels, state = self.levels, moved.end
        known = None if self._kernel is None else self._kernel.at(state, self.asked.targets)
        if known is not None:
            return _Linearised(known.closures, known.rows, lambda _: known.levels, lambda: known.residuals)
        rows = self._rows(moved)
        still = np.zeros(self._model.nv)
        return _Linearised(
            [level for _, level in levels.closures(state, rows)],
            dict(enumerate(rows)),
            lambda farthest: levels.levels(state, rows, 0.0, farthest),
            lambda: levels.residuals(rows, still, self.dt),
        )

    def _rows(self, moved: Moved) -> list[Rows]:
        """Of each task at the end; those of velocities are counted from where the frame began."""
        found = []
        for i, task in enumerate(self.levels.tasks):
            at = moved if task.is_velocity else moved.end
            rows = self.levels.rows_of(i, at, self.asked.targets[i], self.asked.influence[i])
            found.append(leaving(task, rows, self.asked.left[i]) if i in self.asked.left else rows)
        return found

    def _rolling(self, q: Array) -> list[Level]:
        """What wheeled bases can do: v = J_rolled (wheels)."""
        levels = []
        for base in self._model.rolling_bases:
            J = np.zeros((3, self._model.nv))
            J[:, base.v : base.v + 3] = np.eye(3)
            J[:, list(base.wheel_v)] = -base.rolled_jacobian(self.here.q[base.q : base.q + 3], self._wheels(base, q))
            levels.append(Level(J * self._scale, np.zeros(3), np.zeros(3)))
        return levels

    def _wheels(self, base: RollingBase, q: Array) -> Array:
        """(2,) by which the wheels have turned in the frame."""
        return q[list(base.wheel_q)] - self.here.q[list(base.wheel_q)]

    def _moved(self, step: Array, limits: StepLimits) -> Array:
        """(nq,) after a displacement (nv,), inside all limits, wheels rolling without slip."""
        last = self.here.q
        q = self._model.limits.clamp(self._backend.integrate(self._model.tree, last, step * (1.0 - ROUNDING)))
        for base in limits.bases:
            own, at, wheels = slice(base.v, base.v + 3), slice(base.q, base.q + 3), list(base.wheel_v)
            q[list(base.wheel_q)] = last[list(base.wheel_q)] + base_within(
                base,
                last[at],
                self.here.last[wheels],
                self._wheels(base, q),
                limits.change[wheels],
                limits.lower[own],
                limits.upper[own],
                limits.largest[own],
            )
        roll(limits.bases, last, q)
        return q


def _from_the_start(level: Level, x: Array) -> Level:
    """A level of what is to follow the displacement x (nv,) as one of the whole displacement."""
    done = level.J @ x
    return Level(level.J, level.lower + done, level.upper + done, level.damping)


def _damped(level: Level, damping: float) -> Level:
    return Level(level.J, level.lower, level.upper, damping)


def _far(levels: Sequence[Level], counts: Sequence[int], kept: int, damped: float) -> list[float]:
    """The damping of each priority where a frame begins, at least `damped`: of those below the first as much as they
    lack, where that is too far for one linearisation."""
    damping = [0.0] * min(kept, 1)
    for k in np.cumsum([0, *counts])[1:kept]:
        e, size = lacking(levels[k], np.zeros(levels[k].J.shape[1])), float(np.linalg.norm(levels[k].J))
        far = float(np.linalg.norm(e))
        damping.append(max(damped, far * size) if far > FAR * size else damped)
    return damping
