"""One frame of a motion in NumPy: what of the goals of its levels can be had in time; `tracking.py` explains it. Twin
of kernel/src/track/track_late.c."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ....robokin.model.joint_types import MotionPrimitive
from ....robokin.model.rolling import RollingBase
from ...descent.descent import Iterate, KeptLevels
from ...descent.frame_bounds import FrameBounds
from ...descent.frame_descent import GOAL_STEPS, FrameDescent
from ...descent.implicit_step import implicit_step
from ...descent.level_rows import Preference
from .goals import SETTLED, SETTLING_STEPS, FrameGoals, TrackedRobot

FRAME_STEPS = 10  # steps within a frame, at most
PULLS = 4  # steps that pull a level towards its goal beside what those above keep
STANDING = 0.5  # of a tolerance: by how much a level that stands may be off its goal
AT_GOAL = 1e-9  # [rad, m]
CALM = 0.75  # of a turn back: after it the base has its heading in the next frame
LITTLE = 1e-2  # [m, rad]
ON_AXLE = 1e-2  # [m]


class Frame:
    """The descents of one frame. inside: within the frame's bounds."""

    def __init__(self, tracking: TrackedRobot, targets: Any) -> None:
        self._tracking, self._targets, self._bounds = tracking, targets, tracking.bounds
        self.inside = self._within(self._bounds)
        self.goals = FrameGoals(tracking, targets)

    def _within(self, bounds: FrameBounds) -> FrameDescent:
        return FrameDescent(self._tracking.rows(self._targets, bounds.box), bounds.within)

    @property
    def iterations(self) -> int:
        return sum(descent.iterations for descent in (self.inside, *self.goals.descents))

    def make_exact(self) -> None:
        for descent in (self.inside, *self.goals.descents):
            descent.rows.is_exact = True

    def _at_goals(self, goals: Sequence[Array], at_once: int) -> tuple[int, Iterate] | None:
        """What `_at_once` returns, where the goals of all levels after those are reached in this frame anyway, the last
        of these, when the others are met there too."""
        if not 0 < at_once < len(goals) or self.inside.rows.are_velocities.any():
            return None
        followed = [self._tracking.followed(on, goals[on]) for on in range(at_once, len(goals))]
        if not all(is_reached for _, is_reached in followed):
            return None
        at = self.inside.look(followed[-1][0])
        return (at_once, at) if at.met[:at_once].all() else None

    def hurried(self, goals: Sequence[Array], at_once: int, unbraked: int, may_stand: bool) -> tuple[Array, bool]:
        """q of a frame whose levels cannot all be met at once: level by level, so that each one gets what it gets
        without those below it. And whether none has a goal to come to any more. at_once: how many may be met at once;
        unbraked: at any speed. may_stand: the targets are those of the frame before, and nothing has to brake."""
        inside, tracking, rows = self.inside, self._tracking, self.inside.rows
        rows.preference = None
        in_time, at_goal, is_behind, busy = True, False, False, np.zeros(tracking.data.tree.nv, bool)
        met, at = self._at_goals(goals, at_once) or self._at_once(at_once)
        for on, goal in enumerate(goals[met:], met + 1):
            if rows.are_velocities[on - 1]:
                at, in_time = self._gone_on(at, on, in_time, busy)
                at_goal = not is_behind
                is_last = on == len(goals) or rows.tasks.are_paths[on]  # it may go on along its path
                busy = busy if in_time or is_last else self._claimed(at, on - 1, busy)
                continue
            if may_stand and on < len(goals) and self._may_stay(at, on, goal):
                continue
            (there, is_reached), is_braking = tracking.followed(on - 1, goal), on > unbraked
            inside.kept = KeptLevels(at, on - 1) if on > 1 else None
            followed = inside.look(there)
            at_goal = in_time and is_reached and (bool(followed.met[: on - 1].all()) or inside.holds(followed))
            is_met = in_time and bool(at.met[: on - 1].all())
            if at_goal:
                at = followed
            elif is_met and (on > 1 or is_braking) and self._is_met(at, on, goal, is_braking):
                at = inside.best
            else:
                in_time, is_behind = False, True
                at = inside.look(there) if on == 1 else self._pulled(at, on - 1, goal, there, busy)
                if on < len(goals):
                    busy = self._claimed(at, on - 1, busy)
        inside.kept = None
        return at.q, at_goal

    def _may_stay(self, at: Iterate, on: int, goal: Array) -> bool:
        """Whether the robot can stand there, and levels are as good there as at their goal: they do not go to that,
        from where those below have led them."""
        moved = abs(self.inside.within(at.q) - at.q)  # balls by rounding
        return bool((moved <= AT_GOAL).all()) and self.is_as_good(at, on, goal)

    def is_as_good(self, at: Iterate, on: int, goal: Array) -> bool:
        """Whether the first `on` levels have there what they have at the goal of the last of them."""
        return self.inside.rows.holds(KeptLevels(self.goals.rolling.look(goal), on), at, STANDING)

    def _gone_on(self, at: Iterate, on: int, in_time: bool, busy: Array) -> tuple[Iterate, bool]:
        """With a level of velocities, the last one that counts, as fast as limits allow in this frame: none of it is
        caught up with. And whether it is met, as are those above. in_time: these are met, or at their goals. busy:
        (nv,) bool, who stays."""
        inside = self.inside
        inside.best, inside.on, inside.kept, inside.rows.busy = at, on, None, busy
        is_met = in_time and bool(at.met[: on - 1].all()) and inside.go(at, on, FRAME_STEPS)
        is_met = is_met or inside.settle(FRAME_STEPS, SETTLED)
        inside.rows.busy = None
        return inside.best, in_time and is_met

    def goes_on(self, at: Iterate, level: int, goal: Array) -> bool:
        """Whether a level of velocities, the first that is not met, gets farther at its goal than `at`: its residual
        there has other reasons than limits on speed."""
        if not self.inside.rows.are_velocities[level]:
            return False
        there = self.goals.rolling.look(goal)
        return bool(there.met[:level].all() and there.errors[level] < at.errors[level] * (1.0 - SETTLED))

    def _at_once(self, most: int) -> tuple[int, Iterate]:
        """How many levels, of the first `most`, can be met at once, and where they are."""
        q = self._tracking.q
        for on in range(most, 0, -1):
            if self.inside.run(q, on, FRAME_STEPS):
                return on, self.inside.best
        return 0, self.inside.look(q)

    def _is_met(self, at: Iterate, on: int, goal: Array, is_braking: bool) -> bool:
        """Whether the first `on` levels can be met from where those above are."""
        self.inside.kept = None
        is_met = self.inside.run(at.q, on, FRAME_STEPS)
        return is_met and (not is_braking or self._tracking.is_brakeable(self.inside.best.q, on - 1, goal))

    def _claimed(self, at: Iterate, level: int, busy: Array) -> Array:
        """(nv,) bool, with those that are busy already. Joints that a level needs, which is late, are its own: levels
        below it wait for them, so that it is there as soon as it would be without those. So are those of a level above
        that has to give way to its motion. Bands that hold need none: levels below keep them."""
        data, needs = self._tracking.data, self.inside.rows.needed(at, level + 1)
        busy = busy | needs[level]
        for own in reversed(needs[:level]):
            busy = busy | own if (busy & own).any() else busy
        for motion, iv in zip(map(MotionPrimitive, data.tree.motion), data.tree.iv, strict=True):
            if motion in (MotionPrimitive.BALL, MotionPrimitive.FREE):  # what moves together
                busy[iv : iv + motion.nv] = busy[iv : iv + motion.nv].any()
        for base in data.bases:
            busy[list(base.wheel_v)] |= busy[base.v : base.v + 3].any()
        return busy

    def spare(self, level: int, goal: Array, gaps: Array, behind: Array) -> None:
        """Take back names, (nv,) 1, of joints without which the levels up to this one are met, when all named ones are
        free of limits on speed. The nearest goal need not be what the frame is to come to, nor need all that are held
        back. gaps: (nv,) how far they are from the goal; those that are nearest are taken back first."""
        plain = np.flatnonzero(behind.astype(bool) & (self._tracking.limits.coordinate >= 0))
        columns = plain[np.argsort(gaps[plain], kind="stable")].tolist()
        if len(columns) < 2 or self._met_freeing([], level, goal):  # what is met, but too fast to brake, is late too
            return
        found = self._met_freeing(columns, level, goal)
        if found is None:
            return
        for column in columns:
            if column in found[0]:
                found = self._met_freeing([each for each in found[0] if each != column], level, found[1]) or found
        behind[columns] = 0
        behind[found[0]] = 1

    def _met_freeing(self, columns: Sequence[int], level: int, start: Array) -> tuple[list[int], Array] | None:
        """Where (nq,) the first levels up to this one are met in the frame when these joints are free of limits on
        speed, and which of them go beyond those; None where they are not. From where the robot is, else from
        `start`."""
        tracking, least, most = self._tracking, self._bounds.lo, self._bounds.hi
        lo, hi = least.copy(), most.copy()
        lo[columns], hi[columns] = -np.inf, np.inf
        inside = self._within(replace(self._bounds, lo=lo, hi=hi))
        if not any(inside.run(q, level + 1, FRAME_STEPS) for q in (tracking.q, start)):
            return None
        at = tracking.limits.coordinate
        steps = {k: inside.best.q[at[k]] - tracking.q[at[k]] for k in columns}
        return [k for k in columns if not least[k] <= steps[k] <= most[k]], inside.best.q

    def _pulled(self, start: Iterate, above: int, goal: Array, there: Array, busy: Array) -> Iterate:
        """From where the first `above` levels are as near as limits on speed allow, towards `there`, where every joint
        would follow the goal of the next one, while they keep what they have. busy: (nv,) bool, who stays."""
        at, nv, before = start, len(busy), self._tracking.goals[above]
        pulling = self._within(self._bounds.brakeable(before, goal, start.q))
        pulling.on, pulling.kept, pulling.rows.busy, pulling.rows.is_exact = above, KeptLevels(start, above), busy, True
        for number in range(PULLS):
            pulling.rows.preference = None if number else Preference(np.eye(nv), np.zeros(nv), there)
            at = pulling.look(pulling.step(at))
            if pulling.holds(at):
                break
        self.inside.iterations += pulling.iterations
        return at if pulling.holds(at) else start

    def be_calm(self) -> bool:
        """A base that meets its target exactly in each frame may swing to and fro for ever. Where the first level would
        turn it back by about as much as it turned in the frame before, it turns a part of that: then one frame on it is
        in line with a target that goes straight on. The first level alone decides, so that those below take nothing
        from it. Whether it is so in this frame."""
        inside, bases = self.inside, self._tracking.data.bases
        if not bases or not len(inside.rows.are_velocities) or inside.rows.are_velocities[0]:
            return False
        if not (inside.run(self._tracking.q, 1, GOAL_STEPS) or inside.settle(SETTLING_STEPS, SETTLED)):
            return False
        at, needed = inside.best, inside.rows.needed(inside.best, 1)[0]
        needed[[column for base in bases for column in base.columns]] = False
        for base in bases if not needed.any() else ():
            swing = self._bounds.swing(base, at.q)
            if swing > 0.0 and self._is_on_axle(base, at.q):
                self._bounds = replace(self._bounds, calm=(base, CALM * swing))
                self.inside = self._within(self._bounds)
                self.inside.iterations = inside.iterations
                return True
        return False

    def _is_on_axle(self, base: RollingBase, q: Array) -> bool:
        """Whether the first level, which is met at q, asks there for the place of a point on the axle: to first order
        no turn moves that across the line that the wheels point along. What it misses after a little turn, drive, and
        both tells."""
        errors = []
        for distance, turn in ((LITTLE, 0.0), (0.0, LITTLE), (LITTLE, LITTLE)):
            turned, there = base.turned_by(distance, turn), q.copy()
            there[base.q : base.q + 3] = base.roll(q[base.q : base.q + 3], turned)
            there[list(base.wheel_q)] += turned
            errors.append(float(self.inside.look(there).errors[0]))
        drive, turned_on, both = errors
        product = both - drive - turned_on
        return drive > 0.0 and turned_on - 0.25 * product * product / drive <= ON_AXLE * ON_AXLE * drive

    def slow_down(self, frames: float) -> None:
        """No joint is faster in this frame than it brakes in so many."""
        self._bounds = self._bounds.slow(frames)
        self.inside = self._within(self._bounds)

    def kept(self, goal: Array) -> tuple[Iterate, bool]:
        """Where it is, or one step on without criteria when that is off what all levels have at their goal. And
        whether they have it there."""
        inside, levels = self.inside, self.inside.rows.levels
        inside.on, inside.kept, inside.rows.preference = levels, KeptLevels(self.goals.rolling.look(goal), levels), None
        at = inside.look(inside.within(self._tracking.q))
        at = at if inside.holds(at) else inside.look(inside.step(at))
        return at, inside.rows.holds(inside.kept, at, STANDING)

    def preferred(self, best: Iterate, is_still: bool) -> Iterate:
        """From where the levels are met as nearly as they can be: as the criteria prefer it, while the levels keep
        what they have."""
        inside, tracking = self.inside, self._tracking
        inside.on, inside.kept = inside.rows.levels, KeptLevels(best, inside.rows.levels)

        def preference(q: Array) -> Preference | None:
            return tracking.preference(self._targets, q)

        inside.rows.preference = preference(tracking.q)
        at = implicit_step(inside, best, preference, tracking.step) if is_still else inside.look(inside.step(best))
        inside.rows.preference = None
        if not inside.holds(at):  # then without criteria, for what their motion has bent
            at = inside.look(inside.step(at))
        return at if inside.holds(at) else best

    def refined(self, best: Iterate, count: int) -> Iterate:
        """With the first `count` levels, which are met, as nearly met as they can be: what is below may stand elsewhere
        by their tolerances."""
        inside = self.inside
        inside.on, inside.kept, inside.rows.preference = count, None, None
        at = inside.look(inside.step(best))
        return at if inside.is_met(at) and at.errors[:count].sum() <= best.errors[:count].sum() else best
