"""Tracking in NumPy: the readable twin of kernel/src/track/track.c, and the fallback. Tasks of one level or of several.

Every frame moves inside a box around the last configuration: the viability bounds of solvers/viability.py. The damped
steps of the static solver (descent.py) run inside that box, so all limits hold at every frame.

When the targets cannot be met inside the box, the robot is late. Then the goal is the configuration that meets them
inside the position limits alone, found from the last goal, and the robot follows the goal joint by joint: each joint as
fast as its limits allow, braking in time to meet the goal's position and velocity. That is the time-optimal way for a
single joint, so what is late catches up and does not swing about its target. Each level has a goal of its own: where
levels cannot all be met it is as near as those above allow, and since it is only ever changed for a better one, a still
scene has a still robot. Where limits on speed are the reason, levels are hurried one after another: each one keeps what
those above have, is pulled towards where its own goal leads, and waits with the joints that a late level above needs,
so no level takes anything from those above. A level of velocities is as fast as limits allow: it is asked for anew in
the next frame, from where that one begins, and nothing has to be caught up with.
"""

from __future__ import annotations

import math
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
EXACT = 1e-24  # and frames of which errors add up
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
    def empty(cls, frames: int, tasks: int, nq: int, nv: int) -> TrackOutcome:
        return cls(
            np.zeros(frames, np.int32),
            np.zeros((frames, nq)),
            np.zeros((frames, tasks, 2)),
            np.zeros(frames, np.int32),
            np.zeros((frames, nv), np.int8),
        )


class ReferenceTracking:
    """Tracks targets frame by frame, each call from where the last one ended. All in coordinates of the support.

    state: ((1 + levels) nq + nv + 1,) to be set first: q, inside the limits; of each level the goal, where q would be
    in time; the step that led to q; and how many levels are late, from the first on that was not met and is not of
    velocities.
    """

    name = "numpy"

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], limits: TrackLimits, levels: int = 1) -> None:
        self.data, self.tasks, self.limits, self._levels = data, tasks, limits, levels
        self._before: Any = None

    @property
    def state(self) -> Array:
        return np.concatenate((self._q, *self._goals, self.step, [float(self._late)]))

    @state.setter
    def state(self, state: Array) -> None:
        nq, nv = self.data.tree.nq, self.data.tree.nv
        self._q, self.step, self._late = state[:nq].copy(), state[-1 - nv : -1].copy(), int(state[-1])
        self._goals = list(state[nq : -1 - nv].reshape(self._levels, nq).copy())

    def note(self, targets: Any) -> None:
        """Targets that the place where it stands was found for; None: not known."""
        self._before = targets

    def run(self, targets: Any) -> TrackOutcome:
        """targets: (n, tasks, 4, 4). Raises TaskError for one that is not a rigid pose, having done nothing."""
        for frame, wanted in enumerate(targets):
            refuse_targets(self.tasks, wanted, frame)
        tree = self.data.tree
        return self._run(targets, TrackOutcome.empty(len(targets), len(self.tasks), tree.nq, tree.nv))

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
        levels, are_velocities = here.inside.rows.levels, here.inside.rows.are_velocities
        is_still = is_still and not here.inside.rows.changes
        # Velocities are asked for anew.
        pairs = zip(self._goals, are_velocities, strict=True)
        self._goals = [self._q if is_velocity else goal for goal, is_velocity in pairs]
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
        in_time = _leading(at.met | are_velocities)  # of velocities nothing is caught up with
        at_goal = levels if is_reached else in_time
        if not is_met and here.inside.rows.adds_up:
            at = here.refined(at, found)
        is_late = not is_met and possible > found
        if is_late:
            lost = goals[found]  # who does not get to the goal of the first level that is lost
            there = self._kept(lost) if are_velocities[found] else self._followed(found, lost)[0]
            behind[abs(reference.difference(self.data.tree, lost, there)) > AT_GOAL] = 1
            if not behind.any():  # of a way that comes back to where it was, who is as fast as may be
                lo, hi = self._bounds()
                step = reference.difference(self.data.tree, self._q, at.q)
                behind[(step <= lo + AT_GOAL) | (step >= hi - AT_GOAL)] = 1
            for base in self.data.bases:
                behind[base.v : base.v + 3] = 0
        self._advance(at.q, [at.q] * at_goal + goals[at_goal:], late=levels - in_time)
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

    def _kept(self, goal: Array) -> Array:
        """The goal as near as limits allow in this frame."""
        lo, hi = self._bounds()
        return self.within(self.box(self._q, lo, hi), self._q, lo, hi, goal)

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
            start, is_velocity = tracking._goal_to_be(on - 1), bool(free.rows.are_velocities[on - 1])
            last = free.look(start)
            met = on == 1 and (free.run(start, on, GOAL_STEPS) or self._unbent(start))
            if on > 1 and is_velocity:
                met = free.run(free.best.q, on, GOAL_STEPS)  # as far as a way leads, and round its corners
            elif on > 1 and not (tracking._goals[on - 1] == tracking._goals[on - 2]).all():
                free.best = self._restored(free.best, last, on - 1)
            free.on = on
            met = met or free.settle(GOAL_STEPS, SETTLED)
            met = met or (on > 1 and possible == on - 1 and not is_velocity and self._is_met_as_one(on))
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

    def _at_goals(self, goals: Sequence[Array], at_once: int) -> tuple[int, Iterate] | None:
        """As `_at_once`: where the goals of all levels after those are reached in this frame anyway, the last of these,
        when the others are met there too."""
        if not 0 < at_once < len(goals) or self.inside.rows.are_velocities.any():
            return None
        followed = [self._tracking._followed(on, goals[on]) for on in range(at_once, len(goals))]
        if not all(is_reached for _, is_reached in followed):
            return None
        at = self.inside.look(followed[-1][0])
        return (at_once, at) if at.met[:at_once].all() else None

    def hurried(self, goals: Sequence[Array], at_once: int, unbraked: int) -> tuple[Array, bool]:
        """q of a frame whose levels cannot all be met at once: level by level, so that each one gets what it gets
        without those below it. And whether none has a goal to come to any more. at_once: how many may be met at once.
        unbraked: how many may be met at any speed."""
        inside, tracking, rows = self.inside, self._tracking, self.inside.rows
        rows.preference = None
        in_time, at_goal, is_behind, busy = True, False, False, np.zeros(tracking.data.tree.nv, bool)
        met, at = self._at_goals(goals, at_once) or self._at_once(at_once)
        for on, goal in enumerate(goals[met:], met + 1):
            if rows.are_velocities[on - 1]:
                at, in_time = self._gone_on(at, on, in_time, busy)
                at_goal = not is_behind
                is_last = on == len(goals) or rows.tasks.are_ways[on]  # it may go on along its way
                busy = busy if in_time or is_last else self._claimed(at, on - 1, busy)
                continue
            (there, is_reached), is_braking = tracking._followed(on - 1, goal), on > unbraked
            inside.held = Held(at, on - 1) if on > 1 else None
            at_goal = in_time and is_reached and inside.holds(inside.look(there))
            is_met = in_time and bool(at.met[: on - 1].all())
            if at_goal:
                at = inside.look(there)
            elif is_met and (on > 1 or is_braking) and self._is_met(at, on, goal, is_braking):
                at = inside.best
            else:
                in_time, is_behind = False, True
                at = inside.look(there) if on == 1 else self._pulled(at, on - 1, there, busy)
                if on < len(goals):
                    busy = self._claimed(at, on - 1, busy)
        inside.held = None
        return at.q, at_goal

    def _gone_on(self, at: Iterate, on: int, in_time: bool, busy: Array) -> tuple[Iterate, bool]:
        """With a level of velocities, the last one that counts, as fast as limits allow in this frame: none of it is
        caught up with. And whether it is met, as are those above. in_time: these are met, or at their goals. busy:
        (nv,) bool, who stays."""
        inside = self.inside
        inside.best, inside.on, inside.held, inside.rows.busy = at, on, None, busy
        is_met = in_time and bool(at.met[: on - 1].all()) and inside.run(at.q, on, FRAME_STEPS)
        is_met = is_met or inside.settle(FRAME_STEPS, SETTLED)
        inside.rows.busy = None
        return inside.best, in_time and is_met

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
        needs = [(abs(own.J) > IDLE).any(axis=0) for own in at.linear[0][: level + 1]]
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
            at = inside.look(inside.step(at))
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
            at = inside.look(inside.step(at))
            if inside.holds(at):
                return at
        return best

    def refined(self, best: Iterate, count: int) -> Iterate:
        """With the first `count` levels, which are met, as nearly met as they can be: what is below may stand elsewhere
        by their tolerances."""
        inside = self.inside
        inside.on, inside.held, inside.rows.preference = count, None, None
        at = inside.look(inside.step(best))
        return at if inside.is_met(at) and at.errors[:count].sum() <= best.errors[:count].sum() else best


class _Descent(Descent):
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

    def lacking(self, at: Iterate) -> float:
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
            history.append(self.lacking(at))
            at = self.look(self.step(at, as_one=as_one))
            self.offer(at)
            if self.is_met(at) and at.errors[:on].sum() <= self.enough:
                return True  # what criteria ask for bends the way
            stalls = count + 1 >= PATIENCE and not self.lacking(at) < PROGRESS * history[count + 1 - PATIENCE]
            # What is ahead on a way lessens no more, while it is still come back to.
            if stalls and not (self.rows.are_velocities[on - 1 : on].any() and not at.met[: on - 1].all()):
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
