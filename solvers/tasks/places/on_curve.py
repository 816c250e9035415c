"""A point of a link, or the spot of a beam, on a curve: where it likes or going along it at a speed."""

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
from ..checks import number, speeds
from ..protocols import (
    Displacement,
    DistanceBoundTask,
    HistoryTask,
    KernelTipTask,
    Piece,
    PiecewiseTask,
    VelocityTask,
)
from ..task_jacobian import TaskJacobian
from ..tip_rows import TipForm, TipKind, uniform
from ..tips.aim import aim_task_jacobian
from .beam import Spot, SpotTask, checked_surface, spot_task_jacobian
from .curve import Curve, Curves, as_curve
from .on_line import across
from .surface import PACKED, Surface, packed

SHORT = 1e-12  # of the square of a direction along a curve: below, a surface has none of it
SMALLEST = 0.25  # of a straight piece of a curve: no more is left out of it
CORNER = 1e-9  # of the gap and the curve: a gap that leans more than this along the curve is one to a corner or an end


class OnSurface(NamedTuple):
    """What the spot of a beam is on."""

    curve: Curve | Curves
    surface: Surface


class OnCurveTask(SpotTask, DistanceBoundTask, PiecewiseTask, KernelTipTask):
    """`point` (3,) of the link is on a curve, anywhere. Part: distance [m].

    target: points (n, 3) in the root frame, joined by straight lines (sample a spline finely), a `Curve`, or several
    in a list: on any of them; (that, surface) where the surface of a beam moves.
    direction, surface: the spot of a beam in place of the point, which it leaves along direction (3,) of the link to
    fall on the surface.   closed: the last point is joined to the first.   band: [m] radius of a tube about it.
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
        direction: object | None = None,
        surface: Surface | None = None,
    ) -> None:
        super().__init__(link, point, weight, tolerance, band, name, priority, influence)
        self.closed = bool(closed)
        self._aim_beam(direction, surface)
        self._set_target(target)

    def checked_target(self, target: object) -> Curve | Curves | OnSurface:
        what = f"{self.name}: target"
        if self.direction is None:
            return as_curve(target, self.closed, what)
        if isinstance(target, tuple) and len(target) == 2 and isinstance(target[1], Surface):
            return OnSurface(as_curve(target[0], self.closed, what), target[1])
        return OnSurface(as_curve(target, self.closed, what), checked_surface(self.surface, self.name))

    def distance_bound(self, target: Curve | Curves | OnSurface, centre: Array, reach: float) -> float:
        if isinstance(target, OnSurface):
            return 0.0  # beams reach everywhere
        i, s = target.closest(centre)
        c, _ = target.lines[i].at(s)
        return float(np.linalg.norm(c - centre)) - self.band - reach

    def rows(self, state: State, target: Curve | Curves | OnSurface) -> Rows:
        curve, surface = target if isinstance(target, OnSurface) else (target, None)
        spot = self.place(state, surface, curve)
        e, along = gap(curve, spot.at)
        J = spot.J
        if along is not None:
            along = spot.on_surface(along)
            J = J - np.outer(along, along @ J) / max(float(along @ along), SHORT)
        return self.near(J, e)

    def piece(self, state: State, target: Curve | Curves | OnSurface) -> Piece | None:
        curve, surface = target if isinstance(target, OnSurface) else (target, None)
        spot = self.place(state, surface, curve)
        _, along = gap(curve, spot.at)
        if along is None:
            return None
        i, s = curve.closest(spot.at)
        _, before, after = curve.lines[i].piece(s)
        return Piece(along @ spot.J, before, after)

    def piece_target(self, state: State, target: Curve | Curves | OnSurface, beyond: float) -> Curve | OnSurface:
        curve, surface = target if isinstance(target, OnSurface) else (target, None)
        i, s = curve.closest(self.place(state, surface, curve).at)
        own, _, _ = curve.lines[i].piece(s)
        beyond = max(beyond, -SMALLEST * own["size"])
        ends = np.array([[-beyond], [own["size"] + beyond]]) * own["along"]
        piece = Curve(own["origin"] + ends)
        return piece if surface is None else OnSurface(piece, surface)

    def task_jacobian(self, state: State, target: Curve | Curves | OnSurface) -> TaskJacobian:
        """Both directions across the curve, of a spot the one along its surface; at a corner or an end all of them."""
        if isinstance(target, OnSurface):
            return self._spot_jacobian(state, *target)
        _, along = gap(target, self.tip(state)[:3, 3])
        return self.point_task_jacobian(state, np.eye(3) if along is None else across(along))

    def _spot_jacobian(self, state: State, curve: Curve | Curves, surface: Surface) -> TaskJacobian:
        """The rows of a spot; of a beam that misses its surface those of an aim at the nearest point of the curve."""
        T, axis, used = self.tip(state), self.direction, 0 if self.band else None
        assert axis is not None
        o, a = T[:3, 3], T[:3, :3] @ axis
        hit = surface.hit(o, a)
        if hit is None:
            return aim_task_jacobian(self, state, across(axis)[:used], axis, o + gap(curve, o)[0])
        found = Spot(o + hit[0] * a, np.zeros((3, 0)), hit[1])
        _, along = gap(curve, found.at)
        free = np.zeros(3) if along is None else found.on_surface(along)
        size = float(np.linalg.norm(free))
        directions = np.cross(hit[1], free)[None] / size if size * size > SHORT else across(hit[1])
        return spot_task_jacobian(self, state, axis, hit, directions[:used])

    def tip_form(self) -> TipForm | None:
        is_ball, is_beam = self.band > 0.0, self.direction is not None
        if self.surface is not None and not packed(self.surface, np.zeros(PACKED)):
            return None
        weights, bands = uniform(self.weight * self.influence, 1 if is_ball else 3, self.band)
        kind = TipKind.SPOT if is_beam else TipKind.CURVE
        return TipForm(kind, self.link, self.offset, weights, bands, is_ball=is_ball, axis=self.direction)

    def tip_target(self, target: Curve | Curves | OnSurface, out: Array) -> bool | None:
        curve, surface = target if isinstance(target, OnSurface) else (target, None)
        out[:2] = curve.segments.ctypes.data, len(curve.segments)
        return False if surface is None or packed(surface, out[2:]) else None


def gap(curve: Curve | Curves, p: Array) -> tuple[Array, Array | None]:
    """(3,) from p (3,) to the nearest point of the curve, and the direction (3,) there that is free; None where the gap
    leans along it."""
    i, s = curve.closest(p)
    line = curve.lines[i]
    c, along = line.at(s)
    e = c - p
    return e, along if abs(along @ e) <= CORNER * (np.linalg.norm(e) + line.length) else None


class Going(NamedTuple):
    """Along a curve. surface: of a beam.   before, surface_before: the curve and the surface as they were in the frame
    before.   at: the line of it and the arc length reached there; None: those of the nearest point."""

    speed: float
    curve: Curve | Curves
    surface: Surface | None
    before: Curve | Curves
    surface_before: Surface | None
    at: tuple[int, float] | None = None


class Course(NamedTuple):
    """What a frame goes along: which line, as it is now and in the frame before; arc lengths where it starts and should
    end."""

    which: int
    line: Curve
    before: Curve
    start: float
    goal: float


class AlongCurveTask(SpotTask, VelocityTask, HistoryTask):
    """`point` (3,) of the link goes along a curve at a speed, from its nearest point on. Part: position [m].

    Of several lines it keeps to the one that it is nearest to at first.
    target: the speed [m/s], negative backwards; it ends at the ends of a curve that is not closed. (speed, curve)
    where the curve moves from frame to frame: the speed is that along the curve, which carries the point along.
    (speed, curve, surface) where the surface of a beam moves too.
    curve: as the target of an `OnCurveTask`.   direction, surface: the spot of a beam, as there.
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
        direction: object | None = None,
        surface: Surface | None = None,
    ) -> None:
        super().__init__(link, point, weight, tolerance, 0.0, name, priority, influence)
        self._aim_beam(direction, surface)
        self.curve = as_curve(curve, bool(closed), f"{self.name}: curve")
        self._set_target(target)

    def checked_target(self, target: object) -> Going:
        if isinstance(target, Going):
            return target
        given = target if isinstance(target, tuple) and len(target) in (2, 3) else (target, self.curve)
        speed, curve = given[:2]
        surface = checked_surface(given[2], self.name) if self.direction is not None and given[2:] else self.surface
        found = as_curve(curve, False, f"{self.name}: curve")
        if isinstance(found, Curve) and found is not curve and self.curve.lines[0].closed:  # points do not say it
            found = Curve(curve, True, f"{self.name}: curve")
        along = speeds(number(speed, what := f"{self.name}: target speed"), what)
        return Going(float(along), found, surface, found, surface)

    def advance_target(self, target: Going, last: Going) -> Going:
        now, before = len(target.curve.lines), len(last.curve.lines)
        if now != before:
            raise TaskError(f"{self.name}: the curve has {now} lines, {before} in the frame before")
        return target._replace(before=last.curve, surface_before=last.surface, at=last.at)

    def anew(self, target: Going) -> Going:
        return target._replace(at=None)

    def rows(self, state: State, target: Going) -> Rows:
        spot, course = self.place(state, target.surface, target.curve), self._course(state, target)
        c, _ = course.line.at(course.goal)
        start, along = course.line.at(course.start, target.speed < 0.0)
        path_direction = c - start
        return self._towards(spot, c - spot.at, path_direction if path_direction.any() else along)

    def rows_after(self, moved: Displacement, target: Going) -> Rows:
        """Lacking at the end: the distance to the nearest point there, and the rest of the curve from there on."""
        spot, course = self.place(moved.end, target.surface, target.curve), self._course(moved.start, target)
        s = self._arrived(moved, target, course)
        c, along = course.line.at(s, target.speed < 0.0)
        e = c - spot.at + course.line.length_to(s, course.start, course.goal) * along
        return self._towards(spot, e, along)

    def start_jacobian(self, moved: Displacement, target: Going) -> Array:
        course = self._course(moved.start, target)
        _, first = course.before.at(course.start, target.speed < 0.0)
        _, last = course.line.at(self._arrived(moved, target, course), target.speed < 0.0)
        return -np.outer(last, first @ self.place(moved.start, target.surface_before, target.before).J)

    def start_task(self, target: Going) -> OnCurveTask:
        """On the curve."""
        return OnCurveTask(
            self.link,
            target.curve,
            point=self.offset[:3, 3],
            weight=self.weight,
            tolerance=self.tolerance,
            priority=self.priority,
            direction=self.direction,
            surface=target.surface,
        )

    def reached(self, moved: Displacement, target: Going) -> Going:
        course = self._course(moved.start, target)
        return target._replace(at=(course.which, self._arrived(moved, target, course)))

    def _course(self, state: State, target: Going) -> Course:
        if target.at is None:
            i, start = target.before.closest(self.place(state, target.surface_before, target.before).at)
        else:
            i, start = target.at
        line, step = target.curve.lines[i], target.speed * state.dt
        goal = start + (math.fmod(step, line.length) if line.closed else step)
        return Course(i, line, target.before.lines[i], start, goal)

    def _arrived(self, moved: Displacement, target: Going, course: Course) -> float:
        """Arc length at the end; where a curve crosses itself, on the part that the motion is on."""
        p = self.place(moved.end, target.surface, target.curve).at
        before = self.place(moved.start, target.surface_before, target.before).at
        away = abs(course.goal - course.start) + float(np.linalg.norm(before - course.before.at(course.start)[0]))
        return course.line.nearest(p, course.start, away)

    def _towards(self, spot: Spot, e: Array, path_direction: Array) -> Rows:
        return replace(self.near(spot.J, e), path_direction=spot.on_surface(path_direction))
