"""A point of a link on a curve, where it likes or going along it at a speed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from ....robokin.arrays import Array
from ....robokin.errors import TaskError
from ...fixed_arrays import cached_settings
from ...kinematics.state import State
from ..base import Forms, Rows
from ..checks import number
from ..protocols import Displacement, DistanceBoundTask, HistoryTask, VelocityTask
from ..tip import PointTask
from .curve import Curve, Curves, as_curve

CORNER = 1e-9  # of the gap and the curve: a gap that leans more than this along the curve is one to a corner or an end


class OnCurveTask(PointTask, DistanceBoundTask):
    """`point` (3,) of the link is on a curve, anywhere. Part: distance [m].

    target: points (n, 3) in the root frame, joined by straight lines (sample a spline finely), a `Curve`, or several
    in a list: on any of them.   closed: the last point is joined to the first.   band: [m] radius of a tube about it.
    e = c - p, c the nearest point of the curve; motion along the curve is free, but at corners and ends nearer than
    all lines.
    """

    kind: ClassVar[str] = "curve"
    forms: ClassVar[Forms] = {"target": "curve"}
    is_comparable: ClassVar[bool] = False

    @cached_settings
    def __init__(
        self,
        link: str,
        target: object,
        closed: bool = False,
        point: object = (0.0, 0.0, 0.0),
        weight: float = 1.0,
        tolerance: float = 1e-5,
        band: float = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, point, weight, tolerance, band, name, priority, influence)
        self.closed = bool(closed)
        self._set_target(target)

    def checked_target(self, target: object) -> Curve | Curves:
        return as_curve(target, self.closed, f"{self.name}: target")

    def distance_bound(self, target: Curve | Curves, centre: Array, reach: float) -> float:
        i, s = target.closest(centre)
        c, _ = target.lines[i].at(s)
        return float(np.linalg.norm(c - centre)) - self.band - reach

    def rows(self, state: State, target: Curve | Curves) -> Rows:
        p = self.tip(state)[:3, 3]
        i, s = target.closest(p)
        line = target.lines[i]
        c, along = line.at(s)
        e, J = c - p, self.tip_jacobian(state)[:3]
        if abs(along @ e) <= CORNER * (np.linalg.norm(e) + line.length):
            J = J - np.outer(along, along @ J)
        return self.near(J, e)


class Going(NamedTuple):
    """Along a curve. before: the curve as it was in the frame before.   at: the line of it and the arc length reached
    there; None: those of the nearest point."""

    speed: float
    curve: Curve | Curves
    before: Curve | Curves
    at: tuple[int, float] | None = None


class Course(NamedTuple):
    """What a frame goes along: which line, as it is now and in the frame before; arc lengths where it starts and should
    end."""

    which: int
    line: Curve
    before: Curve
    start: float
    goal: float


class AlongCurveTask(PointTask, VelocityTask, HistoryTask):
    """`point` (3,) of the link goes along a curve at a speed, from its nearest point on. Part: position [m].

    Of several lines it keeps to the one that it is nearest to at first.
    target: the speed [m/s], negative backwards; it ends at the ends of a curve that is not closed. (speed, curve)
    where the curve moves from frame to frame: the speed is that along the curve, which carries the point along.
    curve: as the target of an `OnCurveTask`.
    In a motion the first pose is on the curve, where other tasks and limits allow it.
    e = c(s + speed dt) - p, s the arc length at the nearest point of the curve as it was in the frame before: what is
    off the curve is corrected as it moves. Where limits allow no more, the point goes slower, on the curve.
    """

    kind: ClassVar[str] = "along curve"
    part: ClassVar[str] = "position"
    has_path = True

    @cached_settings
    def __init__(
        self,
        link: str,
        curve: object,
        target: float,
        closed: bool = False,
        point: object = (0.0, 0.0, 0.0),
        weight: float = 1.0,
        tolerance: float = 1e-5,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, point, weight, tolerance, 0.0, name, priority, influence)
        self.curve = as_curve(curve, bool(closed), f"{self.name}: curve")
        self._set_target(target)

    def checked_target(self, target: object) -> Going:
        if isinstance(target, Going):
            return target
        speed, curve = target if isinstance(target, tuple) and len(target) == 2 else (target, self.curve)
        found = as_curve(curve, False, f"{self.name}: curve")
        if isinstance(found, Curve) and found is not curve and self.curve.lines[0].closed:  # points do not say it
            found = Curve(curve, True, f"{self.name}: curve")
        return Going(number(speed, f"{self.name}: target speed"), found, found)

    def advance_target(self, target: Going, last: Going) -> Going:
        now, before = len(target.curve.lines), len(last.curve.lines)
        if now != before:
            raise TaskError(f"{self.name}: the curve has {now} lines, {before} in the frame before")
        return target._replace(before=last.curve, at=last.at)

    def anew(self, target: Going) -> Going:
        return target._replace(at=None)

    def rows(self, state: State, target: Going) -> Rows:
        p, course = self.tip(state)[:3, 3], self._course(state, target)
        c, _ = course.line.at(course.goal)
        start, along = course.line.at(course.start, target.speed < 0.0)
        path_direction = c - start
        return self._towards(state, c - p, path_direction if path_direction.any() else along)

    def rows_after(self, moved: Displacement, target: Going) -> Rows:
        """Lacking at the end: the distance to the nearest point there, and the rest of the curve from there on."""
        p, course = self.tip(moved.end)[:3, 3], self._course(moved.start, target)
        s = self._arrived(moved, course)
        c, along = course.line.at(s, target.speed < 0.0)
        return self._towards(moved.end, c - p + course.line.length_to(s, course.start, course.goal) * along, along)

    def start_jacobian(self, moved: Displacement, target: Going) -> Array:
        course = self._course(moved.start, target)
        _, first = course.before.at(course.start, target.speed < 0.0)
        _, last = course.line.at(self._arrived(moved, course), target.speed < 0.0)
        return -np.outer(last, first @ self.tip_jacobian(moved.start)[:3])

    def start_task(self, target: Going) -> OnCurveTask:
        """On the curve."""
        point = self.offset[:3, 3]
        return OnCurveTask(self.link, target.curve, False, point, self.weight, self.tolerance, priority=self.priority)

    def reached(self, moved: Displacement, target: Going) -> Going:
        course = self._course(moved.start, target)
        return target._replace(at=(course.which, self._arrived(moved, course)))

    def _course(self, state: State, target: Going) -> Course:
        i, start = target.before.closest(self.tip(state)[:3, 3]) if target.at is None else target.at
        line, step = target.curve.lines[i], target.speed * state.dt
        goal = start + (math.fmod(step, line.length) if line.closed else step)
        return Course(i, line, target.before.lines[i], start, goal)

    def _arrived(self, moved: Displacement, course: Course) -> float:
        """Arc length at the end; where a curve crosses itself, on the part that the motion is on."""
        p, before = (self.tip(state)[:3, 3] for state in (moved.end, moved.start))
        away = abs(course.goal - course.start) + float(np.linalg.norm(before - course.before.at(course.start)[0]))
        return course.line.nearest(p, course.start, away)

    def _towards(self, state: State, e: Array, path_direction: Array) -> Rows:
        return replace(self.near(self.tip_jacobian(state)[:3], e), path_direction=path_direction)
