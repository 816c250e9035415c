"""A point of a link on a curve, where it likes or going along it at a speed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from .base import Moved, Rows
from .checks import number
from .curve import Curve, as_curve
from .tip import PointTask

if TYPE_CHECKING:
    from ..state import State

Array = np.ndarray

CORNER = 1e-9  # of the gap and the curve: a gap that leans more than this along the curve is one to a corner or an end


class OnCurveTask(PointTask):
    """`point` (3,) of the link is on a curve, anywhere. Part: distance [m].

    target: points (n, 3) in the root frame, joined by straight lines (sample a spline finely).   closed: the last one
    is joined to the first.   band: [m] radius of a tube about it.
    e = c - p, c the nearest point of the curve; motion along the curve is free, but at corners and ends nearer than
    all lines.
    """

    kind: ClassVar[str] = "curve"
    is_comparable: ClassVar[bool] = False

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
        self.target = self.checked_target(target)

    def checked_target(self, target: object) -> Curve:
        return as_curve(target, self.closed, f"{self.name}: target")

    def missed_by(self, target: Curve, centre: Array, reach: float) -> float:
        c, _ = target.at(target.nearest(centre))
        return float(np.linalg.norm(c - centre)) - self.band - reach

    def rows(self, state: State, target: Curve) -> Rows:
        p = self.tip(state)[:3, 3]
        c, along = target.at(target.nearest(p))
        e, J = c - p, self.tip_jacobian(state)[:3]
        if abs(along @ e) <= CORNER * (np.linalg.norm(e) + target.length):
            J = J - np.outer(along, along @ J)
        return self.near(J, e)


class Going(NamedTuple):
    """Along a curve. before: the curve as it was in the frame before.   at: arc length reached there; None: that of the
    nearest point."""

    speed: float
    curve: Curve
    before: Curve
    at: float | None = None


class AlongCurveTask(PointTask):
    """`point` (3,) of the link goes along a curve at a speed, from its nearest point on. Part: position [m].

    target: the speed [m/s], negative backwards; it ends at the ends of a curve that is not closed. (speed, curve)
    where the curve moves from frame to frame: the speed is that along the curve, which carries the point along.
    curve: (n, 3) points in the root frame, as of an `OnCurveTask`.
    e = c(s + speed dt) - p, s the arc length at the nearest point of the curve as it was in the frame before: what is
    off the curve is corrected on the way. Ahead is the curve: where limits allow no more, the point goes slower, on it.
    """

    kind: ClassVar[str] = "along curve"
    part: ClassVar[str] = "position"
    is_velocity: ClassVar[bool] = True
    has_way = True

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
        self.target = self.checked_target(target)

    def checked_target(self, target: object) -> Going:
        if isinstance(target, Going):
            return target
        speed, curve = target if isinstance(target, tuple) and len(target) == 2 else (target, self.curve)
        found = as_curve(curve, self.curve.closed, f"{self.name}: curve")
        return Going(number(speed, f"{self.name}: target speed"), found, found)

    def followed(self, target: Going, last: Going) -> Going:
        return target._replace(before=last.curve, at=last.at)

    def rows(self, state: State, target: Going) -> Rows:
        p = self.tip(state)[:3, 3]
        start, goal = self._ends(state, target)
        c, _ = target.curve.at(goal)
        before, along = target.curve.at(start, target.speed < 0.0)
        ahead = c - before
        return self._towards(state, c - p, ahead if ahead.any() else along)

    def rows_after(self, moved: Moved, target: Going) -> Rows:
        """Lacking at the end: the way to the nearest point there, and what is left of the curve from there on."""
        p = self.tip(moved.end)[:3, 3]
        s = self._arrived(moved, target)
        c, along = target.curve.at(s, target.speed < 0.0)
        return self._towards(moved.end, c - p + target.curve.way(s, *self._ends(moved.start, target)) * along, along)

    def slowed(self, target: Going, share: float) -> Going:
        return target._replace(speed=share * target.speed)

    def reached(self, moved: Moved, target: Going) -> Going:
        return target._replace(at=self._arrived(moved, target))

    def _ends(self, state: State, target: Going) -> tuple[float, float]:
        """Arc lengths at which a frame starts and should end."""
        start = target.before.nearest(self.tip(state)[:3, 3]) if target.at is None else target.at
        step = target.speed * state.dt
        return start, start + (math.fmod(step, target.curve.length) if target.curve.closed else step)

    def _arrived(self, moved: Moved, target: Going) -> float:
        """Arc length at the end; where a curve crosses itself, on the part that the motion is on."""
        start, goal = self._ends(moved.start, target)
        p, before = (self.tip(state)[:3, 3] for state in (moved.end, moved.start))
        away = abs(goal - start) + float(np.linalg.norm(before - target.before.at(start)[0]))
        return target.curve.nearest(p, start, away)

    def _towards(self, state: State, e: Array, ahead: Array) -> Rows:
        return replace(self.near(self.tip_jacobian(state)[:3], e), ahead=ahead)
