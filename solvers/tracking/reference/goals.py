"""The goals of a frame in NumPy, one of each level: where it would be if it had the time; `tracking.py` explains it.
Twin of kernel/src/track/track_goals.c."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from ....robokin.arrays import Array
from ...descent.data import IKData
from ...descent.descent import Iterate, KeptLevels, LevelRows
from ...descent.frame_bounds import FrameBounds
from ...descent.frame_descent import GOAL_STEPS, NEAR, FrameDescent
from ...descent.level_rows import Preference
from ...descent.steps import nudged, on_first_arcs, on_shorter_arcs
from ...limits.viability import StepLimits
from .patience import Progress

SETTLING_STEPS = 60  # near a singular pose each step is as good as the one before, and no better
SETTLED = 1e-5  # relative: a goal whose error changes by less is found
TIED = 1e-3  # relative: a goal for the same targets is better when its error is less by more than that


class TrackedRobot(Protocol):
    """What a frame needs to know of a `ReferenceTracking`. q: (nq,).   step: (nv,) to there.   goals: of levels."""

    data: IKData
    limits: StepLimits
    keeps_clear: bool
    q: Array
    step: Array
    goals: list[Array]
    progress: Progress

    @property
    def bounds(self) -> FrameBounds: ...

    def rows(self, targets: Any, data: IKData) -> LevelRows: ...
    def goal_start(self, level: int) -> Array: ...
    def followed(self, level: int, goal: Array) -> tuple[Array, bool]: ...
    def is_brakeable(self, q: Array, level: int, goal: Array) -> bool: ...
    def preference(self, targets: Any, q: Array) -> Preference | None: ...


class FrameGoals:
    """by_arcs: bases get to the goals of levels from this one on by several arcs."""

    def __init__(self, tracking: TrackedRobot, targets: Any) -> None:
        self._tracking = tracking
        self.rolling = self._free = FrameDescent(tracking.rows(targets, replace(tracking.data, rolled_from=tracking.q)))
        self._anywhere = FrameDescent(tracking.rows(targets, tracking.data)) if tracking.data.bases else None
        self.by_arcs = self.rolling.rows.levels

    @property
    def descents(self) -> list[FrameDescent]:
        return [self.rolling, self._anywhere] if self._anywhere else [self.rolling]

    def find(self, is_same: bool, is_found: bool) -> tuple[list[Array], int, int]:
        """The goals (nq,) of the first levels: configurations that meet them, or come as near as those above allow,
        without limits on speed. And how many levels are met, and how many have their last goal, from the first on.
        is_same: the last goals are for these targets, and are only changed for better ones. is_found: the first, of
        links that are too near, was found among these obstacles and stays: searching on would only creep."""
        tracking, was_same = self._tracking, is_same
        goals: list[Array] = []
        possible = kept = 0
        for on in range(1, self.rolling.rows.levels + 1):
            free, start = self._free, tracking.goal_start(on - 1)
            is_velocity, is_next = bool(free.rows.are_velocities[on - 1]), possible == on - 1
            last = free.look(start)
            if is_same and is_next and last.met[on - 1] and tracking.progress.are_by_arcs[on - 1]:
                self._free.best = last
                self._go_anywhere(last, on)
                possible, kept = on, kept + 1
                goals.append(start)
                continue
            free.best = last if on == 1 else free.best
            met = on == 1 and (last.met[0] if is_found else free.run(start, on, GOAL_STEPS) or free.unbend(start, on))
            if on > 1 and is_velocity:
                met = free.go(free.best, on, GOAL_STEPS)  # as far as a path leads, and round its corners
            elif on > 1 and not (tracking.goals[on - 1] == tracking.goals[on - 2]).all():
                free.best = self._restored(free.best, last, on - 1)
            free.on = on
            met = met or ((on > 1 or not is_found) and free.settle(SETTLING_STEPS, SETTLED))
            if on == 1 and not is_velocity and not tracking.keeps_clear:
                met = met or free.turn_aside(start) or self._turned_round(last)
            if on > 1 and is_next and not is_velocity and free.best.errors[on - 1] <= NEAR:
                met = met or free.meet_as_one(on) or free.unbend(start, on)
            if free is self.rolling:
                free.best = self._shortened(free.best)
                drives = was_same and is_next and not is_velocity and on == 1 + tracking.keeps_clear
                met = met or (drives and self._drives(on))
            free = self._free  # from now on of bases that stand anywhere, if it drives
            is_same = is_same and not _is_better(free.best, last, on - 1)
            q = last.q if is_same else free.best.q
            if on - 1 > self.by_arcs and (there := on_first_arcs(tracking.data, tracking.q, q)) is not None:
                q = there
            kept += is_same
            if met and is_next:
                possible = on
            goals.append(q)
        return goals, possible, kept

    def _drives(self, on: int) -> bool:
        """Whether the first level but that of links that keep apart is met with bases that stand anywhere: several arcs
        lead there. Levels below would have to keep it on all of them."""
        data, anywhere, here = self._tracking.data, self._anywhere, self._tracking.q
        if anywhere is None or not (anywhere.run(here, on, GOAL_STEPS) or anywhere.settle(SETTLING_STEPS, SETTLED)):
            return False
        if (q := on_first_arcs(data, here, anywhere.best.q)) is None:
            return False
        there = anywhere.look(q)
        if there.met[:on].all():
            self._go_anywhere(there, on)
        return bool(there.met[:on].all())

    def _go_anywhere(self, there: Iterate, on: int) -> None:
        assert self._anywhere is not None
        self._free, self._free.best, self.by_arcs = self._anywhere, there, min(self.by_arcs, on - 1)

    def _shortened(self, found: Iterate) -> Iterate:
        """Bases on the shorter arcs, if the levels that count are as good there: some may see the wheels."""
        free, q = self.rolling, on_shorter_arcs(self._tracking.data, self._tracking.q, found.q)
        at = found if (q == found.q).all() else free.look(q)
        return at if at.errors[: free.on].sum() <= found.errors[: free.on].sum() * (1.0 + TIED) else found

    def _restored(self, above: Iterate, last: Iterate, levels: int) -> Iterate:
        """From the last goal, if the first levels, so many, can have there what they have at their goal; else that."""
        free, at = self._free, last
        free.on, free.kept = levels, KeptLevels(above, levels)
        for _ in range(GOAL_STEPS):
            if free.holds(at):
                break
            at = free.look(free.step(at))
        found = at if free.holds(at) else above
        free.kept = None
        return found

    def _turned_round(self, last: Iterate) -> bool:
        """The first level, which comes no nearer than at its last goal: from beside there down to a minimum, as a
        straight limb that points away turns round only so. Kept when it is notably nearer. Bases that roll cannot be
        put beside where they are."""
        free, best = self.rolling, self.rolling.best
        if self._tracking.data.bases or _is_better(best, last, 0):
            return False
        free.best = free.look(nudged(self._tracking.data, best.q))
        met = free.settle(SETTLING_STEPS, SETTLED)
        if not _is_better(free.best, best, 0):
            free.best = best
        return met


def _is_better(at: Iterate, last: Iterate, level: int) -> bool:
    """Whether a level is met that was not, or notably nearer to it."""
    if at.met[level] or last.met[level]:
        return not last.met[level]
    return bool(at.errors[level] < last.errors[level] * (1.0 - TIED))
