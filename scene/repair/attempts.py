"""Stretches of an animation that are followed anew, with ever more frames beside them, until they break nothing."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...robokin import RobotModel, difference, integrate
from ...robokin.arrays import Array
from ...robokin.collision import CollisionModel
from ...robokin.model.rolling import RollingBase
from ...scene.animation.curves import rounded
from ...scene.bake.plans import Nearby, bake_plans
from ...scene.criteria.costs import costs_of_motion
from ...scene.tasks.solver_tasks import SolverTasks
from ...scene.tasks.targets import Targets
from ...solvers import Motion
from ...solvers.criteria import Criterion
from ...solvers.tracking.result import joined
from ..collisions import clearance_of
from ..keyed_numbers import narrowest, written_check

TAIL = 3  # kept frames after a stretch that it has to run into: position, velocity and acceleration
CHUNK = 50  # frames that are followed between two looks at the keyboard
SAME = 1e-5  # [rad, m] frames that meet their tasks and come out nearer than this stay as they are
CLOSING, SMALL = 6, 1e-4  # steps that lead a base back, and [rad] by which wheels turn more to see where to
MARGINS = (0, 2, 4, 8, 16, 32, 64, 128, 256)  # frames beside the broken ones that are solved again with them, in turn


@dataclass(frozen=True, eq=False)
class _Attempt:
    """What became of the frames. around: those that are counted."""

    Q: Array
    missed: Array
    beyond: Array
    around: slice

    @property
    def broken(self) -> int:
        return int((self.missed | self.beyond)[self.around].sum())

    @property
    def is_inside(self) -> bool:
        """Limits are kept: more frames would not help, what is missed cannot be met."""
        return not (self.beyond & ~self.missed)[self.around].any()


class Repair:
    """The frames as they are by now. Q: (n, nq). missed: (n,) whole tasks that are.   beyond: (n,) limits that are
    passed on position, velocity or acceleration, or the robot is in something. dt [s].

    targets: over the frames, with the settings of the robot's criteria.   collisions: what it keeps away from, over the
    frames; None: nothing.   models: the robot at each frame where its limits are animated; the narrowest are kept.
    """

    def __init__(
        self,
        obj: bpy.types.Object,
        robot: Binding,
        shown: Array,
        dt: float,
        tasks: Sequence[bpy.types.PropertyGroup],
        targets: Targets,
        missed: Sequence[bool],
        collisions: CollisionModel | None,
        models: Sequence[RobotModel] | None,
    ) -> None:
        self.obj, self.robot, self.Q, self.dt = obj, narrowest(models, robot) if models else robot, shown.copy(), dt
        self.tasks, self.targets, self.collisions, self.models = tasks, targets, collisions, models
        self.model = self.robot.model_at(shown[0])
        self.wheels = [at for base in self.model.rolling_bases for at in base.wheel_q]
        self._kept = {
            joint.name: float(self.model.slot(joint.name).q.start in self.wheels) for joint in self.model.moving_joints
        }
        self.missed = np.array(missed, bool)
        self.beyond = self._passed(shown)

    @property
    def broken(self) -> Array:
        """(n,)"""
        return self.missed | self.beyond

    def next_broken(self, at: int) -> int | None:
        rest = np.flatnonzero(self.broken[at:])
        return at + int(rest[0]) if len(rest) else None

    def end_of(self, first: int) -> int:
        """The last broken frame of the stretch: the tail after it is sound."""
        last = first
        while (more := np.flatnonzero(self.broken[last + 1 : last + 1 + TAIL])).size:
            last += 1 + int(more[-1])
        return last

    def solve(self, first: int, last: int) -> Generator[float, None, tuple[int, int, int, int] | None]:
        """Yield between the tries; return (first and last that were solved again, how many around break something,
        before and after); None, and nothing changed, where no try is better. Wheels that roll are tried first."""
        count = len(self.Q)
        if self.wheels and (rolled := self._rolled(first, last)) is not None:
            changed, was = np.flatnonzero((rolled.Q != self.Q).any(axis=1)), int(self.broken[rolled.around].sum())
            self.Q, self.beyond = rolled.Q, rolled.beyond
            return int(changed[0]), int(changed[-1]), was, 0
        best, stretch = None, None
        for margin in MARGINS:
            i, j = max(first - 1 - margin, 0), self.end_of(min(last + margin, count - 1))
            found = yield from self._tried(i, j)
            was = int(self.broken[found.around].sum())
            if found.broken < was and (best is None or found.broken < best.broken):
                best, stretch = found, (i, j, was, found.broken)
            elif best is not None and found.is_inside and self.collisions is None:
                break
            if found.broken == 0 or (i == 0 and j == count - 1):
                break
        if best is not None:
            self.Q, self.missed, self.beyond = best.Q, best.missed, best.beyond
        return stretch

    def costs(self) -> Generator[float, None, Array]:
        """Yield now and then; return (n, c, 2) what the criteria cost at each frame, and how steep that is."""
        forms = SolverTasks(self.obj, self.robot, self.tasks)
        plans = yield from bake_plans(forms, self.model, self.targets, self.dt)
        preferences = [(plan.segment, plan.criteria) for plan in plans]
        return (yield from costs_of_motion(self.robot.model, preferences, self.Q, self.dt))

    def _tried(self, i: int, j: int) -> Generator[float, None, _Attempt]:
        """Yield now and then; return the best of following the frames i..j with the criteria, near the curves with
        wheels as they turn there, with wheels that lead the base to where it is after them, and of passing evenly from
        one end to the other."""
        at, is_led = slice(i, j + 1), bool(self.targets.influence[i : j + 1].any())
        inside = np.array([self.model.limits.clamp(q) for q in self.Q[at]])
        even = self._passing(i, j) if is_led else inside
        tries: list[tuple[Sequence[Criterion] | None, Array | None, bool]] = [([], even, False)]
        if self.wheels:
            tries[:0] = [([], inside, True), *(([], near.copy(), True) for near in (inside, even))]
            for _, near, _ in tries[1:3]:
                near[:, self.wheels] = self._closed(i, j)
        if self.targets.settings.shape[1] and is_led:
            tries.insert(0, (None, None, False))
        found = None
        for criteria, near, keeps_wheels in tries:
            other = yield from self._followed(i, j, criteria, near, keeps_wheels)
            found = other if found is None or other.broken < found.broken else found
            if not found.broken:
                break
        assert found is not None
        return found

    def _passed(self, Q: Array) -> Array:
        """(n,) frames that pass a limit, as they would be written, or at which the robot is in something."""
        motion = Motion.of(self.robot.model, self.dt * np.arange(len(Q)), Q)
        check = written_check(motion, self.models or [motion.model], self.collisions)
        found = np.zeros(len(Q), bool)
        found[[each.frame for each in check.violations]] = True
        return found

    def _followed(
        self, i: int, j: int, criteria: Sequence[Criterion] | None, near: Array | None, keeps_wheels: bool
    ) -> Generator[float, None, _Attempt]:
        """Yield now and then; return the frames with i..j followed anew. criteria: None: the robot's own lead it where
        the tasks leave it free; else it stays near `near` (j + 1 - i, nq) there.   keeps_wheels: whether wheels turn
        as these do, before all."""
        model, Q, at = self.model, self.Q, slice(i, j + 1)
        targets = _part(self.targets, at)
        clearance = None
        if self.collisions is not None:
            clearance = clearance_of(self.obj, self.robot, _part_of_world(self.collisions, at))
        nearby = None if near is None else Nearby(near, self._kept if keeps_wheels else None)
        forms = SolverTasks(self.obj, self.robot, self.tasks)
        plans = yield from bake_plans(forms, model, targets, self.dt, criteria, clearance=clearance, near=nearby)
        q = Q[i - 1] if i else model.limits.clamp(Q[0]) if near is None else near[0]
        v = self._velocity(i - 1) if i > 1 else np.zeros(model.nv)
        found, lost, before = [], [], None
        for plan in plans:
            segment, rows = plan.segment, []
            if i == 0 and before is None:
                rows.append(segment.start(q, None, 0, None, math.inf))
            else:
                segment.stand(q, v, before)
            for first in range(len(rows), len(segment), CHUNK):
                yield first / len(segment)
                rows.append(segment.run(first, min(first + CHUNK, len(segment))))
            result = joined(rows)
            before, q, v = segment.tracker, segment.tracker.q, segment.tracker.v
            found.append(result.q)
            own = result.residuals[:, : len(plan.counting)] > segment.tracker.tolerance[: len(plan.counting)]
            lost.append((own.any(axis=2) & (plan.influence >= 1.0)).any(axis=1))
        new, missed = np.array(Q), self.missed.copy()
        new[at] = rounded(self.obj, np.concatenate(found), self.robot)
        missed[at] = np.concatenate(lost)
        around = slice(max(i - 1, 0), j + 1 + TAIL)
        solved = _Attempt(new, missed, self._passed(new), around)
        stays = ~self.missed & (abs(new - Q).max(axis=1) <= SAME)
        if not stays[at].any():
            return solved
        new = np.where(stays[:, None], Q, new)
        same = _Attempt(new, missed & ~stays, self._passed(new), around)
        return solved if solved.broken < same.broken else same

    def _passing(self, i: int, j: int) -> Array:
        """(j + 1 - i, nq) from the frame before to the one after, with the velocities there: cubic in time."""
        model, Q, count = self.model, self.Q, len(self.Q)
        if i == 0 or j == count - 1:
            rest = Q[i - 1] if i else Q[min(j + 1, count - 1)]
            return np.tile(model.limits.clamp(rest), (j + 1 - i, 1))
        first, last, steps = Q[i - 1], Q[j + 1], j + 2 - i
        away = difference(model, first, last)
        starts = self._velocity(i - 1) if i > 1 else np.zeros(model.nv)
        ends = self._velocity(j + 2) if j + 2 < count else np.zeros(model.nv)
        s = np.arange(1, steps)[:, None] / steps
        shape = (3.0 - 2.0 * s) * s**2 * away
        shape += steps * self.dt * ((s - 2.0) * s**2 + s) * starts + steps * self.dt * (s - 1.0) * s**2 * ends
        return np.array([model.limits.clamp(integrate(model, first, each)) for each in shape])

    def _rolled(self, first: int, last: int) -> _Attempt | None:
        """All as it is but the wheels, which turn as each base goes: in the stretch, from there to the end or from the
        start to there; what leaves and changes fewest, None where that is not all it takes."""
        i, j, end = max(first - 1, 0), self.end_of(last), len(self.Q) - 1
        best, least = None, (len(self.Q), 0)
        for right, low, high in ((max(i - 1, 0), i, j), (max(i - 1, 0), i, end), (min(j + 1, end), 0, j)):
            Q, at = self.Q.copy(), slice(low, high + 1)
            for base in self.model.rolling_bases:
                places, wheels = Q[:, base.q : base.q + 3], list(base.wheel_q)
                turned = np.cumsum(base.turned(places[:-1], places[1:]), axis=0)
                turned = np.vstack((0.0 * turned[:1], turned))
                Q[at, wheels] = Q[right, wheels] + turned[at] - turned[right]
            Q[at] = rounded(self.obj, Q[at], self.robot)
            changed = abs(Q - self.Q).max(axis=1) > SAME
            Q[~changed] = self.Q[~changed]
            beyond = self._passed(Q)
            found = _Attempt(Q, self.missed, beyond, slice(max(i - 1, 0), j + 1 + TAIL))
            counts = int(beyond.sum()), int(changed.sum())
            if counts < least and not found.broken and not (beyond & ~self.beyond).any():
                best, least = found, counts
        return best

    def _closed(self, i: int, j: int) -> Array:
        """(j + 1 - i, wheels) how wheels turn that roll each base from the frame before i to the one after j: evenly
        through the frames that are broken, as before in the others, a little more or less in all."""
        low, high = max(i - 2, 0), min(j + 3, len(self.Q))
        turned, broken = self.Q[low:high, self.wheels].copy(), np.zeros(high - low, bool)
        broken[i - low : j + 1 - low] = self.broken[i : j + 1]
        bends = np.diff(np.eye(high - low), 2, axis=0)
        turned[broken] = -np.linalg.pinv(bends[:, broken]) @ bends[:, ~broken] @ turned[~broken]
        turned = turned[i - low : j + 1 - low]
        for base in self.model.rolling_bases if 0 < i and j < len(self.Q) - 1 else ():
            own = [self.wheels.index(at) for at in base.wheel_q]
            turned[:, own] = _led_back(base, self.Q[i - 1], self.Q[j + 1], turned[:, own])
        return turned

    def _velocity(self, i: int) -> Array:
        """(nv,) from the frame before to frame i."""
        return difference(self.model, self.Q[i - 1], self.Q[i]) / self.dt


def _led_back(base: RollingBase, first: Array, last: Array, turned: Array) -> Array:
    """(n, 2) the wheels `turned` a little more or less between configurations first and last (nq,), so that the base
    rolls from one to the other: Newton's method, the least change of a few smooth shapes."""
    s = (np.arange(1, len(turned) + 1) / (len(turned) + 1))[:, None]
    shapes, wheels = (s * (1.0 - s)) ** 2 * np.hstack((np.ones_like(s), 2.0 * s - 1.0)), list(base.wheel_q)

    def missing(x: Array) -> Array:
        place = first[base.q : base.q + 3]
        for step in np.diff(np.vstack((first[wheels], turned + shapes @ x.reshape(2, 2), last[wheels])), axis=0):
            place = base.roll(place, step)
        return last[base.q : base.q + 2] - place[:2]

    x = np.zeros(4)
    for _ in range(CLOSING):
        slope = np.column_stack([(missing(x + e) - missing(x - e)) / (2.0 * SMALL) for e in SMALL * np.eye(4)])
        x = x - np.linalg.pinv(slope, 1e-6) @ missing(x)
    return turned + shapes @ x.reshape(2, 2)


def _part(targets: Targets, at: slice) -> Targets:
    """The targets of some of the frames."""
    readings = [
        replace(
            each,
            T=each.T[at],
            surface=None if each.surface is None else each.surface[at],
            up=each.up[at],
            numbers={name: values[at] for name, values in each.numbers.items()},
        )
        for each in targets.readings
    ]
    return Targets(readings, targets.influence[at], targets.settings[at])


def _part_of_world(collisions: CollisionModel, at: slice) -> CollisionModel:
    """Obstacles where they are at some of the frames."""
    placed = [each.placement[at] if each.placement.ndim == 3 else each.placement for each in collisions.obstacles]
    return collisions.among([replace(each, placement=T) for each, T in zip(collisions.obstacles, placed, strict=True)])
