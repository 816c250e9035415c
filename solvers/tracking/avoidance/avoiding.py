"""Following targets while links keep away from one another and from obstacles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ....robokin.collision.model import Near
from ....robokin.model.robot import RobotModel
from ...criteria import Criterion
from ...descent.engine import CONVERGED, OUT_OF_REACH
from ...results import Diagnosis
from ...tasks import Task
from ...tasks.clearance import ClearanceTask
from ...tasks.protocols import HistoryTask
from ..data import COLLIDED, LATE, TrackOutcome
from ..result import EMPTY, TrackResult, joined
from ..tracker import CHUNK, Tracker
from .leading import LeadingTracker, go_on
from .moving import HALFWAY, HORIZON, coming, passed
from .native_safe_stop import safe_stop
from .rest import Rest
from .safe_stop import ROUNDING, Look

SPARE = 2e-3  # of L: what is asked for beyond the margin, for what is between frames
AT_REST = 1e-9  # [rad, m] of a step
SLACK, FINEST = 0.1, 1e-4  # of the margin, and [m] at least: by how much nearer what is too near at first may come
AT_ONCE = 7  # frames that are followed with the clearance at once, before one is tried without it again


def tracker_of(
    model: RobotModel,
    tasks: Sequence[Task],
    dt: float = 1.0 / 24.0,
    backend: str = "auto",
    criteria: Sequence[Criterion] = (),
) -> Tracker:
    """An `AvoidingTracker` where a task is a clearance."""
    kind = AvoidingTracker if any(isinstance(task, ClearanceTask) for task in tasks) else Tracker
    return kind(model, tasks, dt, backend, criteria)


class AvoidingTracker(LeadingTracker):
    """A `Tracker` whose tasks have a clearance.

    A frame is followed without it first. Where the robot could not stop any more before it is too near to something, it
    is followed with the clearance before all other tasks, then by a part of that step; else the robot brakes, which the
    frame before has shown to be free. So where obstacles stand still, and the start is free, every frame is, and the
    places half-way between are.

    What moves is evaded some frames before it is there: where the next frames are not known it is taken to go on. A
    step that meets the tasks may end beyond it; then the clearance alone leads the shortest way out.

    While the robot is beside what blocked it, some frames are followed with the clearance at once: followed without it
    they would be blocked every other time. They are followed without it again where tasks begin to be missed, or limits
    on speed are why they are, and where an obstacle comes nearer.
    """

    _kept: Array | None  # (pairs,) of the last frame: `SafeStop.kept`
    _allowed: Array  # (pairs,) of those that are nearer than the margin from the start on: what they may have
    _is_out: bool  # what is too near from the start on is as far out as it gets
    _pressed: int | None  # the pair that the robot presses on, by its number
    _why: Near | None  # what was in the way when it began to
    _obstacles: Array | None  # where they were in the last frame
    _collision: Diagnosis | None  # the collision that the robot has not caught up with
    _remaining: int  # so many frames are followed with the clearance at once

    def _prepare(self) -> None:
        self.horizon = max(1, round(HORIZON / self.dt))
        self.at = next(i for i, task in enumerate(self.tasks) if isinstance(task, ClearanceTask))
        clearance = self.tasks[self.at]
        assert isinstance(clearance, ClearanceTask)
        self._clearance = clearance
        self._others = [i for i in range(len(self.tasks)) if i != self.at]
        wider = clearance.with_spare(SPARE * self.levels.length)
        self._free, self._near = self._without_clearance(), self._without_clearance(wider)
        self._begins_plain = self._free.is_plain
        self._alone = Tracker(self.model, [wider], self.dt, self.backend)
        reach = clearance.margin + 2.0 * SPARE * self.levels.length  # of what the rows hold apart
        self._stop = safe_stop(self.model, clearance, self.limits, self.backend, reach)
        self._rest = Rest(self.levels.state(self.model.neutral(), self.levels.targets, self.dt).scale)
        self._slack = max(SLACK * clearance.margin, FINEST)
        self._chunk = 1  # frames that are followed together before they are looked at

    def _without_clearance(self, *more: Task) -> Tracker:
        """Follows all but the clearance, and other tasks."""
        tasks = [*(self.tasks[i] for i in self._others), *more]
        return Tracker(self.model, tasks, self.dt, self.backend, self.criteria)

    def _stand(self, q: Array, velocity: object | None, late: int) -> None:
        self._kept = self._pressed = self._why = self._collision = self._obstacles = None
        self._remaining, self._is_out = 0, False
        self._rest.forget()
        if self._free.is_plain != self._begins_plain:  # levels since the last motion, which have another rounding
            self._free = self._without_clearance()
        super()._stand(q, velocity, late)

    def run(
        self,
        targets: Any,
        influence: Sequence[Array] | Array | None = None,
        down_to: float = math.inf,
        near: Array | None = None,
        upcoming: Sequence[Sequence[Any]] | None = None,
    ) -> TrackResult:
        shares = [None] * len(targets) if influence is None else influence
        after = None if upcoming is None else [own[self.at] for own in upcoming]
        later = coming(self._obstacles, [own[self.at] for own in targets], after, self.horizon)
        if (
            near is not None
            or self._is_aside(down_to).any()
            or any((own != self._own).any() for own in shares if own is not None)
        ):
            around = [None] * len(targets) if near is None else near[:, None]
            frames = zip(targets, later, shares, around, strict=True)
            return joined([self._frame(own, then, share, down_to, q) for own, then, share, q in frames])
        parts: list[TrackResult] = []
        first = 0
        while first < len(targets):
            count = self._chunk
            if self._pressed is not None:
                count = 1 if self._collision or later[first] is not None else self._remaining
            is_alone = count == 1 and (self._pressed is not None or self._collision or later[first] is not None)
            found = [] if is_alone else self._frames(targets[first:], later[first:], count)
            parts += found or [self._frame(targets[first], later[first], None)]
            first += sum(map(len, found)) or 1
        return joined(parts)

    def _frames(
        self, targets: Sequence[Sequence[Any]], later: Sequence[Array | None], most: int, met: Look | None = None
    ) -> list[TrackResult]:
        """The first of these frames, at most so many, that are free without the clearance, and then some with it; or
        with it while the robot is beside what blocked it. The same as one by one. Empty: the first one may not be.
        later: see `coming`.   met: what blocks the first one without the clearance."""
        pressed, remaining, why = self._pressed, self._remaining, self._why
        if met is not None:
            pressed, remaining, why = met.pair, most, met.blocked
        if self._kept is None or not self._own[self.at] or (pressed is None and self._stop.nearest(self._kept)):
            self._chunk = 1
            return []
        before, tracker = self.v, self._free if pressed is None else self._near
        self._lead(tracker)
        which = self._others if pressed is None else [*self._others, self.at]
        mark, aims = tracker.mark(), [[own[i] for i in which] for own in targets[:most]]
        found = self._follow_with(tracker, aims)
        outcome = TrackOutcome.empty(len(aims), len(self.tasks), self.model.nq, self.model.nv)
        outcome.q[:], outcome.iterations[:], outcome.behind[:] = found.q, found.iterations, found.behind
        residuals = np.zeros((len(aims), len(self.tasks), 2))
        residuals[:, which] = found.residuals
        remarks = list(found.remarks or [""] * len(aims))
        collisions, blocked = [self._collision], None
        q, kept, was, count = self.q, np.minimum(self._kept, self._allowed), self._obstacles, 0
        moved = np.zeros(self.model.nv)
        for there, wanted, then in zip(found.q, targets, later, strict=False):
            code, obstacles, step = int(found.codes[count]), wanted[self.at], self._step(q, there)
            if pressed is not None and then is not None:
                break
            is_beside = pressed is not None and (met is None or count > 0)
            if is_beside and self._is_released(code, found.residuals[count, :-1], collisions[-1]):
                break
            halfway = passed(was, obstacles, HALFWAY)
            look = self._stop.look_around(q, step, kept, halfway, obstacles, then)
            if look.blocked is not None:
                if pressed is None and then is None and halfway is None and collisions[-1] is None:
                    blocked = look
                break
            outcome.codes[count], collision = self._verdict(
                code, residuals[count], self._own, look, None if pressed is None else why, collisions[-1]
            )
            collisions.append(collision)
            q, moved, kept, was, count = there, step, look.kept, obstacles, count + 1
            if pressed is not None:
                remaining -= 1
                if not (remaining and self._stays_beside(pressed, int(outcome.codes[count - 1]), kept)):
                    pressed = None
                    break
        is_whole = count == len(aims)
        self._chunk = min(2 * self._chunk, CHUNK) if is_whole and tracker is self._free else 1
        memory = tracker.memory
        if not is_whole:
            tracker.go_back(mark)
            if count and (blocked is None or any(isinstance(task, HistoryTask) for task in self.tasks)):
                self._follow_with(tracker, aims[:count])
                blocked, memory = None, tracker.memory
            outcome = outcome.first(count)
        parts: list[TrackResult] = []
        if count:
            go_on(self, q, moved, memory)
            self._keep(kept)
            self._collision, self._obstacles, self._why = collisions[-1], was, why
            self._pressed, self._remaining = pressed, 0 if pressed is None else remaining
            result = self._result(before, targets[:count], outcome, residuals[:count], remarks[:count], self._own)
            parts.append(replace(result, collisions=collisions[1:]))
        if blocked is not None:
            beside = self._frames(targets[count:], later[count:], 1 + AT_ONCE, blocked)
            if count and not beside:
                self._follow_with(tracker, aims[:count])
            parts += beside
        return parts

    def _frame(
        self,
        wanted: Sequence[Any],
        later: Array | None,
        influence: Array | None,
        down_to: float = math.inf,
        around: Array | None = None,
    ) -> TrackResult:
        shares, obstacles = self._shares(influence), wanted[self.at]
        q, before = self.q, self.v
        if self._kept is None:
            self._kept = self._stop.kept(q[None], obstacles)[0]
            self._allowed = np.where(self._kept < self._clearance.margin - ROUNDING, self._kept - self._slack, np.inf)
        kept, pressed, remaining = np.minimum(self._kept, self._allowed), self._pressed, self._remaining - 1
        if later is not None:
            pressed = None  # what is coming is seen by the free frame
        halfway = passed(self._obstacles, obstacles, HALFWAY)
        others, own = [wanted[i] for i in self._others], shares[self._others]
        influence = None if (own == self._free._own).all() else own
        with_clearance = [*others, obstacles], None if influence is None else np.append(own, 1.0), down_to, around
        near = None if pressed is None else self._led(self._near, *with_clearance)
        tracker, tried = self._free if near is None else self._near, list[tuple[Look, TrackResult, Tracker]]()
        if near is None or self._is_released(int(near.codes[0]), near.residuals[0, :-1], self._collision, own):
            found = self._led(self._free, others, influence, down_to, around)
            look = self._stop.look_around(q, self._step(q, found.q[0]), kept, halfway, obstacles, later)
            memory, pressed, remaining = self._free.memory, look.pair, AT_ONCE
            if look.blocked is None:
                tried.append((look, found, self._free))  # what is too near need not hold up what brings it no nearer
            why = look.blocked or (None if self._is_out else self._stop.nearest(self._kept))
        else:
            found, memory, why = near, self._near.memory, self._why
        if rests := self._rest.is_due(wanted, shares):
            why = why or self._rest.why
        elif why is not None:
            places = [obstacles, *([] if halfway is None else [halfway])]
            places = places if near is not None or later is None else [later, *places]
            for where, tracker in product(places, (self._near, self._alone)):
                if tracker is self._near:
                    if near is None or where is not obstacles:
                        found = self._led(tracker, [*others, where], *with_clearance[1:])
                    else:
                        found = near
                elif later is not None and self._is_moving(look.pair, obstacles, later):
                    found = self._led(tracker, [where], None, math.inf, None)
                else:
                    continue
                look = self._stop.look_around(q, self._step(q, found.q[0]), kept, halfway, obstacles, None)
                tried.append((look, found, tracker))
                if look.blocked is None:
                    break
            if tried[0][2] is self._free and abs(self._step(q, look.q)).max(initial=0.0) <= AT_REST:
                self._is_out = True
            order = tried if self._is_out else tried[::-1]
            look, found, tracker = max(order, key=lambda each: each[0].room)
            memory = self._free.memory if tracker is self._free else self._near.memory
        residuals, code = np.zeros((1, len(self.tasks), 2)), int(found.codes[0])
        there = found.q[0]
        if rests or look.blocked is not None:
            step = self.limits.coasting(q, before * self.dt) if rests else self._step(q, there)
            look = self._stop.slower(q, before * self.dt, step, kept, halfway, obstacles)
            there, tracker = self.model.limits.clamp(look.q), self._alone
        if tracker is self._alone:
            followed = (shares > 0.0) & (np.arange(len(shares)) != self.at)
            residuals[0, followed] = self.levels.residuals_after(q, there, wanted, self.dt, followed)
        else:
            residuals[0, self._others] = found.residuals[0, : len(others)]
        remark = found.remarks[0] if found.remarks else ""
        code, collision = self._verdict(code, residuals[0], shares, look, why, self._collision)
        self._rest.note(before * self.dt, self._step(q, there), (residuals[0] / self.tolerance)[shares > 0.0], why)
        go_on(self, there, self._step(q, there), memory)
        self._keep(look.kept)
        self._collision, self._obstacles = collision, obstacles
        self._pressed, self._remaining = None, 0
        if pressed is not None and remaining and self._stays_beside(pressed, code, look.kept):
            self._pressed, self._remaining = pressed, remaining
            self._why = why or self._clearance.collisions.near(pressed, float(look.kept[pressed]))
        outcome = TrackOutcome.empty(1, len(self.tasks), self.model.nq, self.model.nv)
        outcome.codes[0], outcome.q[0], outcome.iterations[0] = code, there, found.iterations[0]
        outcome.behind[0] = found.behind[0]
        self._chunk = 2 if why is None else 1
        aside = self._is_aside(down_to) & (shares > 0.0)
        result = self._result(before, [wanted], outcome, residuals, [remark], shares, aside)
        return replace(result, collisions=[collision])

    def _keep(self, kept: Array) -> None:
        """What pairs have after a frame; those that come out of the margin stay outside."""
        self._kept, self._is_out = kept, self._is_out and bool((kept < self._clearance.margin - ROUNDING).any())
        self._allowed[kept >= self._clearance.margin - ROUNDING] = np.inf

    def _is_moving(self, pair: int | None, now: Array, later: Array) -> bool:
        """Whether one of a pair, by its number, is an obstacle that is elsewhere later."""
        own = [] if pair is None else self._clearance.collisions.obstacles_of(pair)
        return any(not np.array_equal(now[i], later[i]) for i in own)

    def _verdict(
        self, code: int, residuals: Array, shares: Array, look: Look, why: Near | None, collision: Diagnosis | None
    ) -> tuple[int, Diagnosis | None]:
        """Code of a frame, from that of the tracker that it was followed with, and what holds the robot up from then
        on. residuals: (tasks, 2), to which the residual of the clearance is added.   why: what was in the way.
        collision: what held the robot up before."""
        near = self._stop.nearest(look.kept)
        residuals[self.at, 0] = 0.0 if near is None else self._clearance.margin - near.distance
        if why is None and near is None:  # EMPTY: there is no other task than this one
            code = CONVERGED if code == EMPTY and shares[self.at] > 0.0 else code
            return code, None if code in (CONVERGED, EMPTY) else collision
        if not ((residuals > self.tolerance).any(axis=1) & (shares >= 1.0)).any():
            return CONVERGED, None
        if near is not None:
            return COLLIDED, Diagnosis.collision(near)
        if code == OUT_OF_REACH:
            return OUT_OF_REACH, collision
        assert why is not None
        return COLLIDED, Diagnosis.collision(why, f"on the way there {why.sentence()}")

    def _is_released(
        self, code: int, residuals: Array, collision: Diagnosis | None, shares: Array | None = None
    ) -> bool:
        """Whether a frame that was followed with the clearance at once misses other tasks, and not for what it is
        beside. residuals: (other tasks, 2).   shares: (other tasks,) in place of their own."""
        return bool((code == LATE or collision is None) and self._free.missed(residuals, shares).any())

    def _stays_beside(self, pair: int, code: int, kept: Array) -> bool:
        """Whether a frame ends where its clearance keeps a pair apart, and misses no task for another reason."""
        return bool(kept[pair] < self._stop.reach) and code in (CONVERGED, COLLIDED)
