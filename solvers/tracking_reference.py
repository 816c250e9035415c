"""Tracking in NumPy: the readable twin of kernel/src/track.c, and the fallback. Tasks of one level or of several.

Every frame moves inside a box around the last configuration: the viability bounds of solvers/viability.py. The damped
steps of the static solver (descent.py) run inside that box, so all limits hold at every frame.

When the targets cannot be met inside the box, the robot is late. Then the goal is the configuration that meets them
inside the position limits alone, found from the last goal, and the robot follows the goal joint by joint: each joint as
fast as its limits allow, braking in time to meet the goal's position and velocity. That is the time-optimal way for a
single joint, so what is late catches up and does not swing about its target. Where levels cannot all be met the goal
is as near to each as those above allow, and since it is only ever changed for a better one, a still scene has a still
robot. Where limits on speed are the reason, levels are hurried one after another: each one keeps what those above have
got of it, and is pulled towards where its own goal leads, so no level takes anything from those above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..robokin.backend import reference
from ..robokin.joint_types import Motion
from .coupled_limits import ball_within, base_within
from .descent import Descent, Held, Iterate, LevelRows
from .ik_data import IKData
from .ik_engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH
from .ik_steps import nudged, reachable, roll
from .level_rows import Preference
from .native_tasks import same_target
from .tasks import FrameTask
from .tasks.checks import rigid
from .tip_rows import TipRows
from .viability import StepLimits, braking_step, viable_steps

Array = np.ndarray

LATE = 5  # the targets can be met, but not that fast; continues the codes of ik_engine

FRAME_STEPS = 10  # steps within a frame, at most
GOAL_STEPS = 30
PULLS = 4  # steps that pull a level towards its goal beside what those above keep
SETTLED = 1e-5  # relative: a goal whose error changes by less is found
TIED = 1e-3  # relative: a goal for the same targets is better when its error is less by more than that
PATIENCE, PROGRESS = 3, 0.5  # steps after which the error must have shrunk to this fraction
NEAR = 1e-2  # error of a level that may be met against those above: 0.14 radians or L
FINE = 1e-18  # error to which frames with criteria are met: 1e-9 radians or L
AT_GOAL = 1e-9  # [rad, m]
IDLE = 1e-9  # of a row: what it hardly depends on


@dataclass(frozen=True, eq=False)
class TrackLimits:
    """Limits per frame of the support's columns. largest: (nv,) step. change: (nv,) of the step between frames.

    coordinate: (nv,) index in q that a column moves one to one, -1 for the columns of ball and floating joints.
    lower, upper: (nv,) position bounds where `coordinate` is not -1, infinite elsewhere.
    The lengths of a floating joint are bounded along the axes of its parent, its rates along its own: at such a
    position bound it stops, whatever its acceleration limit.
    """

    largest: Array
    change: Array
    coordinate: Array
    lower: Array
    upper: Array

    @classmethod
    def of_all(cls, limits: StepLimits) -> TrackLimits:
        """Of all columns of a robot."""
        return cls(
            np.ascontiguousarray(limits.largest, np.float64),
            np.ascontiguousarray(limits.change, np.float64),
            limits.coordinate.astype(np.int32),
            np.ascontiguousarray(limits.lower, np.float64),
            np.ascontiguousarray(limits.upper, np.float64),
        )

    @property
    def braked(self) -> bool:
        """Some acceleration is limited."""
        return bool(np.isfinite(self.change).any())

    @property
    def curved(self) -> bool:
        """Some rate of a ball or floating joint is limited."""
        finite = np.isfinite(self.largest) | np.isfinite(self.change)
        return bool((finite & (self.coordinate < 0)).any())


@dataclass(frozen=True, eq=False)
class TrackOutcome:
    """Arrays over n frames. codes: (n,) int32. q: (n, nq). residuals: (n, tasks, 2). iterations: (n,) int32.
    behind: (n, nv) int8, 1 for the columns that are not at the goal while late."""

    codes: Array
    q: Array
    residuals: Array
    iterations: Array
    behind: Array

    @classmethod
    def empty(cls, frames: int, data: IKData) -> TrackOutcome:
        return cls(
            np.zeros(frames, np.int32),
            np.zeros((frames, data.tree.nq)),
            np.zeros((frames, len(data.records), 2)),
            np.zeros(frames, np.int32),
            np.zeros((frames, data.tree.nv), np.int8),
        )


class ReferenceTracking:
    """Tracks targets frame by frame, each call from where the last one ended. All in coordinates of the support.

    step: (nv,) that led to the last configuration.
    """

    name = "numpy"

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], limits: TrackLimits) -> None:
        self.data, self.tasks, self.limits = data, tasks, limits
        self.stand(data.tree.neutral(), np.zeros(data.tree.nv), late=0)

    def stand(self, q: Array, step: Array, late: int) -> None:
        """Continue from q (nq,), inside the limits, reached by `step` (nv,). late: how many levels are, from the first
        on that was not met."""
        self._q, self.step, self._late = q.copy(), step.copy(), late
        self._goals = [self._q]
        self._before: Any = None

    def note(self, targets: Any) -> None:
        """Targets that the place where it stands was found for."""
        self._before = targets

    def run_one(self, targets: Array) -> TrackOutcome:
        """One frame; targets: (tasks, 4, 4). The outcome's arrays are valid until the next call."""
        return self.run(targets[None])

    def run(self, targets: Any) -> TrackOutcome:
        """targets: (n, tasks, 4, 4). Raises TaskError for one that is not a rigid pose, having done nothing."""
        for frame, wanted in enumerate(targets):
            refuse_targets(self.tasks, wanted, frame)
        return self._run(targets, TrackOutcome.empty(len(targets), self.data))

    def _run(self, targets: Any, outcome: TrackOutcome) -> TrackOutcome:
        for frame, wanted in enumerate(targets):
            code, residuals, iterations, behind = self._frame(wanted)
            outcome.codes[frame], outcome.q[frame] = code, self._q
            outcome.residuals[frame], outcome.iterations[frame], outcome.behind[frame] = residuals, iterations, behind
        return outcome

    def _rows(self, targets: Any, data: IKData) -> LevelRows:
        """Of a frame, inside the limits of `data`."""
        return TipRows(data, self.tasks, targets)

    def _reachable(self, targets: Any) -> bool:
        return reachable(self.data, targets)

    def _preference(self, targets: Any) -> Preference | None:
        """What criteria prefer in this frame."""
        return None

    def _is_still(self, targets: Any) -> bool:
        """Whether the targets are those of the frame before."""
        before, self._before = self._before, targets
        return before is not None and all(map(same_target, before, targets))

    def _frame(self, targets: Any) -> tuple[int, Array, int, Array]:
        is_still, behind = self._is_still(targets), np.zeros(self.data.tree.nv, np.int8)
        here = _Frame(self, targets, *self._bounds())
        levels = here.inside.rows.levels
        self._goals = (levels * self._goals)[:levels]
        met_before = levels - self._late
        unbraked = met_before if self.limits.braked else levels
        preference = self._preference(targets)
        # What was not met at once is so by its goal again, until it is met; a first level that need not brake is met as
        # it can.
        most = 1 if met_before == 0 and unbraked else met_before
        if is_still and not self._late and preference is None and not self.step.any():
            at = here.inside.look(self._q)  # what stands where all is met, for the same targets, stays there too
            return CONVERGED, at.residuals, 0, behind
        if most == levels:
            here.inside.rows.preference = preference
            if here.inside.run(self._q, levels, FRAME_STEPS):
                at = here.inside.best
                self._advance(at.q, [at.q] * levels, late=0)
                return CONVERGED, at.residuals, here.iterations, behind
        is_tried = most == levels and here.inside.rows.is_exact and preference is None
        here.make_exact()
        # What stands at its goal, for the same targets, stays there: searching on would only creep.
        q, is_reached = self._followed(-1, self._goals[-1])
        stays = is_still and self._late and is_reached and bool((self._q == self._goals[-1]).all())
        goals, possible = (self._goals, 0) if stays else here.goals(is_still and self._late > 0)
        if not stays:
            # All of them may have been tried above, though maybe not exactly, or not without criteria.
            q, is_reached = here.hurried(goals, most - is_tried, unbraked)
        at = here.inside.look(q)
        if is_reached and preference is not None:
            at = here.preferred(at, preference)
        found = _leading(at.met)
        is_met = found == levels
        is_late = not is_met and possible > found
        if is_late:
            # Who does not get to the goal of the first level that is lost.
            there, _ = self._followed(found, goals[found])
            behind[abs(reference.difference(self.data.tree, goals[found], there)) > AT_GOAL] = 1
            for base in self.data.bases:
                behind[base.v : base.v + 3] = 0
        at_goal = levels if is_reached else found
        self._advance(at.q, [at.q] * at_goal + goals[at_goal:], late=levels - found)
        if is_met or is_late:
            return CONVERGED if is_met else LATE, at.residuals, here.iterations, behind
        code = NOT_CONVERGED if self._reachable(targets) else OUT_OF_REACH
        return code, at.residuals, here.iterations, behind

    def is_brakeable(self, q: Array, level: int, goal: Array) -> bool:
        """Whether a frame that ends at q leaves no more speed against that of the goal of a level than one frame can
        brake: what is met so is not passed in the next one."""
        pairs = (self._q, q), (self._goals[level], goal)
        way, pace = (reference.difference(self.data.tree, *pair) for pair in pairs)
        return bool((abs(way - pace) <= self.limits.change).all())

    def _followed(self, level: int, goal: Array) -> tuple[Array, bool]:
        """Where following the goal of a level leads in this frame, and whether it is reached so."""
        q = self._follow(self._goals[level], goal, *self._bounds())
        return q, bool((abs(reference.difference(self.data.tree, goal, q)) <= AT_GOAL).all())

    def _goal_to_be(self, level: int) -> Array:
        """The last goal of a level, with the bases where they are: only from there they can roll."""
        goal = self._goals[level].copy()
        for base in self.data.bases:
            own = [*range(base.q, base.q + 3), *base.wheel_q]
            goal[own] = self._q[own]
        return goal

    def _advance(self, q: Array, goals: list[Array], late: int) -> None:
        self.step = reference.difference(self.data.tree, self._q, q)
        self._q, self._goals, self._late = q, goals, late

    def _bounds(self) -> tuple[Array, Array]:
        limits = self.limits
        position = np.where(limits.coordinate >= 0, self._q[limits.coordinate], 0.0)
        return viable_steps(self.step, position - limits.lower, limits.upper - position, limits.largest, limits.change)

    def box(self, last: Array, lo: Array, hi: Array) -> IKData:
        """The problem with the frame's bounds in place of the position limits."""
        data, limits = self.data, self.limits
        lower, upper = data.lower.copy(), data.upper.copy()
        plain = limits.coordinate >= 0
        at = limits.coordinate[plain]
        lower[at] = np.maximum(lower[at], last[at] + lo[plain])
        upper[at] = np.maximum(lower[at], np.minimum(upper[at], last[at] + hi[plain]))
        return replace(data, lower=lower, upper=upper, rolled_from=last)

    def within(self, box: IKData, last: Array, lo: Array, hi: Array, q: Array) -> Array:
        """q moved into the box, and its step from `last` into [lo, hi] where ball and floating joints have limits.

        Balls are in their cones then, and bases where their wheels have rolled them.
        """
        if self.limits.curved:
            step = np.minimum(np.maximum(reference.difference(box.tree, last, q), lo), hi)
            moved = reference.integrate(box.tree, last, step)
            self._stop_at_bounds(last, moved)
            plain = self.limits.coordinate[self.limits.coordinate >= 0]
            moved[plain] = q[plain]
            q = moved
        q = np.minimum(np.maximum(q, box.lower), box.upper)
        self._couple(last, lo, hi, q)
        return q

    def _couple(self, last: Array, lo: Array, hi: Array, q: Array) -> None:
        limits, data = self.limits, self.data
        for cone in data.cones:
            own, at = slice(cone.v, cone.v + 3), slice(cone.q, cone.q + 4)
            if np.isfinite([limits.largest[own], limits.change[own]]).any():
                q[at] = ball_within(cone, last[at], self.step[own], lo[own], hi[own], limits.change[own], q[at])
        for base in data.bases:
            own, at = slice(base.v, base.v + 3), slice(base.q, base.q + 3)
            wheel_q, wheel_v = list(base.wheel_q), list(base.wheel_v)
            turned = base_within(
                base,
                last[at],
                self.step[wheel_v],
                q[wheel_q] - last[wheel_q],
                limits.change[wheel_v],
                data.lower[at],
                data.upper[at],
                limits.largest[own],
            )
            q[wheel_q] = last[wheel_q] + turned
        roll(data.bases, last, q)

    def _stop_at_bounds(self, last: Array, moved: Array) -> None:
        """Shorten the way of floating joints that leads out of their position bounds: slower, in the same direction."""
        tree = self.data.tree
        for iq in tree.iq[tree.motion == Motion.FREE]:
            at = slice(iq, iq + 3)
            way = moved[at] - last[at]
            room = np.where(way < 0.0, self.data.lower[at], self.data.upper[at]) - last[at]
            share = min([1.0, *(room[way != 0.0] / way[way != 0.0])])
            if share < 1.0:
                moved[at] = last[at] + share * way

    def _follow(self, last: Array, goal: Array, lo: Array, hi: Array) -> Array:
        """The configuration one frame on when every joint follows its goal time-optimally, which was at `last`."""
        limits, tree = self.limits, self.data.tree
        pace = reference.difference(tree, last, goal)
        pace = np.minimum(np.maximum(pace, -limits.largest), limits.largest)
        gap = reference.difference(tree, self._q, goal) - pace
        step = pace + np.copysign(braking_step(abs(gap), limits.change), gap)
        step = np.minimum(np.maximum(step, lo), hi)
        moved = reference.integrate(tree, self._q, step)
        return self.within(self.box(self._q, lo, hi), self._q, lo, hi, moved)


class _Frame:
    """The descents of one frame. inside: within the frame's bounds."""

    def __init__(self, tracking: ReferenceTracking, targets: Any, lo: Array, hi: Array) -> None:
        self._tracking, last = tracking, tracking._q
        box = tracking.box(last, lo, hi)
        self.inside = _Descent(tracking._rows(targets, box), lambda q: tracking.within(box, last, lo, hi, q))
        self._freely = _Descent(tracking._rows(targets, replace(tracking.data, rolled_from=last)))

    @property
    def iterations(self) -> int:
        return self.inside.iterations + self._freely.iterations

    def make_exact(self) -> None:
        for descent in (self.inside, self._freely):
            descent.rows.is_exact = True

    def goals(self, is_same: bool) -> tuple[list[Array], int]:
        """The goals (nq,) of the first levels: configurations that meet them, or come as near as those above allow,
        without limits on speed. And how many levels are met from the first on. is_same: the last goals are for these
        targets, and are only changed for better ones."""
        free, tracking = self._freely, self._tracking
        goals: list[Array] = []
        possible = 0
        for on in range(1, free.rows.levels + 1):
            start = tracking._goal_to_be(on - 1)
            last = free.look(start)
            met = on == 1 and (free.run(start, on, GOAL_STEPS) or self._unbent(start))
            if on > 1 and not (tracking._goals[on - 1] == tracking._goals[on - 2]).all():
                free.best = self._restored(free.best, last, on - 1)
            free.on = on
            met = met or free.settle(GOAL_STEPS, SETTLED)
            met = met or (on > 1 and possible == on - 1 and self._is_met_as_one(on))
            is_same = is_same and not _is_better(free.best, last, on - 1)
            free.best = last if is_same else free.best
            if met and possible == on - 1:
                possible = on
            goals.append(free.best.q)
        return goals, possible

    def _is_met_as_one(self, on: int) -> bool:
        """The last level may be met where it is weighed against those above, which are met, when their rows leave it no
        way to first order. Kept when all of them are met."""
        free = self._freely
        best = free.best
        if best.errors[on - 1] <= NEAR and free.run(best.q, on, GOAL_STEPS, as_one=True):
            return True
        free.best = best
        return False

    def _restored(self, above: Iterate, last: Iterate, levels: int) -> Iterate:
        """From the last goal, if the first levels, so many, can have there what they have at their goal; else that."""
        free, at = self._freely, last
        free.on, free.held = levels, Held(above, levels)
        for _ in range(GOAL_STEPS):
            if free.holds(at):
                break
            at = free.look(free.step(at))
        found = at if free.holds(at) else above
        free.held = None
        return found

    def _unbent(self, start: Array) -> bool:
        """The first level from beside `start`, which a straight limb only so comes away from; kept when it is met
        there."""
        free = self._freely
        best = free.best
        if free.run(nudged(self._tracking.data, start), 1, GOAL_STEPS):
            return True
        free.best = best
        return False

    def hurried(self, goals: Sequence[Array], at_once: int, unbraked: int) -> tuple[Array, bool]:
        """q of a frame whose levels cannot all be met at once: level by level, so that each one gets what it gets
        without those below it. And whether it is the goal of the last one. at_once: how many may be met at once.
        unbraked: how many may be met at any speed."""
        inside, tracking = self.inside, self._tracking
        inside.rows.preference = None
        in_time, at_goal, busy = True, False, np.zeros(tracking.data.tree.nv, bool)
        met, at = self._at_once(at_once)
        for on, goal in enumerate(goals[met:], met + 1):
            (there, is_reached), is_braking = tracking._followed(on - 1, goal), on > unbraked
            inside.held = Held(at, on - 1) if on > 1 else None
            at_goal = in_time and is_reached and inside.holds(inside.look(there))
            is_met = in_time and bool(at.met[: on - 1].all())
            if at_goal:
                at = inside.look(there)
            elif is_met and (on > 1 or is_braking) and self._is_met(at, on, goal, is_braking):
                at = inside.best
            else:
                in_time = False
                at = inside.look(there) if on == 1 else self._pulled(at, on - 1, there, busy)
                if on < len(goals):
                    busy = self._claimed(at, on - 1, busy)
        inside.held = None
        return at.q, at_goal

    def _at_once(self, most: int) -> tuple[int, Iterate]:
        """How many levels, of the first `most`, can be met at once, and where they are."""
        q = self._tracking._q
        for on in range(most, 0, -1):
            if self.inside.run(q, on, FRAME_STEPS):
                return on, self.inside.best
        return 0, self.inside.look(q)

    def _is_met(self, at: Iterate, on: int, goal: Array, is_braking: bool) -> bool:
        """Whether the first `on` levels can be met from where those above are."""
        self.inside.held = None
        is_met = self.inside.run(at.q, on, FRAME_STEPS)
        return is_met and (not is_braking or self._tracking.is_brakeable(self.inside.best.q, on - 1, goal))

    def _claimed(self, at: Iterate, level: int, busy: Array) -> Array:
        """(nv,) bool, with those that are busy already. Joints that a level needs, which is late, are its own: levels
        below it wait for them, so that it is there as soon as it would be without those. So are those of a level above
        that has to give way to its motion."""
        data = self._tracking.data
        needs = [(abs(own.J) > IDLE).any(axis=0) for own in at.linear[: level + 1]]
        busy = busy | needs[level]
        for own in reversed(needs[:level]):
            busy = busy | own if (busy & own).any() else busy
        for motion, iv in zip(map(Motion, data.tree.motion), data.tree.iv, strict=True):
            if motion in (Motion.BALL, Motion.FREE):  # what moves together
                busy[iv : iv + motion.nv] = busy[iv : iv + motion.nv].any()
        for base in data.bases:
            busy[list(base.wheel_v)] |= busy[base.v : base.v + 3].any()
        return busy

    def _pulled(self, start: Iterate, above: int, there: Array, busy: Array) -> Iterate:
        """From where the first `above` levels are as near as limits on speed allow, towards `there`, while they keep
        what they have. busy: (nv,) bool, who stays."""
        inside, at = self.inside, start
        inside.on, inside.held, inside.rows.busy = above, Held(start, above), busy
        nv = len(inside.rows.scale)
        for number in range(PULLS):
            inside.rows.preference = None if number else Preference(np.eye(nv), np.zeros(nv), there)
            at = inside.look(inside.within(inside.step(at)))
            if inside.holds(at):
                break
        inside.rows.busy = None
        return at if inside.holds(at) else start

    def preferred(self, best: Iterate, preference: Preference) -> Iterate:
        """From where the levels are met as nearly as they can be: as the criteria prefer it, while the levels keep
        what they have."""
        inside, at = self.inside, best
        inside.on, inside.held = inside.rows.levels, Held(best, inside.rows.levels)
        for wanted in (preference, None):  # then without criteria, for what their motion has bent
            inside.rows.preference = wanted
            at = inside.look(inside.within(inside.step(at)))
            if inside.holds(at):
                return at
        return best


class _Descent(Descent):
    """Damped steps; `within` brings each into the bounds of the frame."""

    best: Iterate
    rows: Any

    def __init__(self, rows: LevelRows, within: Callable[[Array], Array] = lambda q: q) -> None:
        super().__init__(rows)
        self.within = within

    def look(self, q: Array) -> Iterate:
        return self.rows.measure(q)

    def run(self, start: Array, on: int, steps: int, as_one: bool = False) -> bool:
        """True when the first `on` levels are met. One step at least, so that slow targets are followed smoothly and
        not in jerks of the size of the tolerance."""
        self.on = on
        self.best = at = self.look(self.within(start))
        history: list[float] = []
        for count in range(steps):
            history.append(self.error(at))
            at = self.look(self.within(self.step(at, as_one=as_one)))
            self.offer(at)
            left = float(at.errors[:on].sum())
            if self.is_met(at) and (self.rows.preference is None or left <= FINE):
                return True  # what criteria ask for bends the way
            if count + 1 >= PATIENCE and not self.error(at) < PROGRESS * history[count + 1 - PATIENCE]:
                break
        return self.is_met(self.best)


def _is_better(at: Iterate, last: Iterate, level: int) -> bool:
    """Whether a level is met that was not, or notably nearer to it."""
    if at.met[level] or last.met[level]:
        return not last.met[level]
    return bool(at.errors[level] < last.errors[level] * (1.0 - TIED))


def _leading(met: Array) -> int:
    """How many are met from the first on."""
    return int(np.argmin(met)) if not met.all() else len(met)


def refuse_targets(tasks: Sequence[FrameTask], targets: Array, frame: int) -> None:
    """Raises TaskError for the first of targets (tasks, 4, 4) that is not a finite rigid pose."""
    for task, target in zip(tasks, targets, strict=True):
        rigid(target, f"{task.name}: target of frame {frame}")
