"""The spot of a beam: where a half-line that is fixed in a link falls on a surface, and how it moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....robokin.arrays import Array, shown
from ....robokin.errors import TaskError
from ....robokin.spatial.so3 import hat
from ...kinematics.state import State
from ..checks import direction as checked_direction
from ..task_jacobian import TaskJacobian
from ..tip import PointTask, TipTask
from .curve import Curve, Curves
from .surface import Surface


def checked_surface(surface: object, who: str) -> Surface:
    """Raises TaskError that begins with `who`."""
    if not isinstance(surface, Surface):
        raise TaskError(f"{who}: surface must be a Plane or a MeshSurface, not {shown(surface)}")
    return surface


class Spot(NamedTuple):
    """at: (3,) in the root frame.   J: (3, nv).   normal: (3,) of the surface that it stays on; None: it is free."""

    at: Array
    J: Array
    normal: Array | None = None

    def on_surface(self, direction: Array) -> Array:
        """(3,) the part of a direction that the spot can go along: else what a curve is beside the surface, even by
        rounding, would be asked for at any speed."""
        return direction if self.normal is None else direction - (self.normal @ direction) * self.normal


def spot_task_jacobian(task: TipTask, state: State, axis: Array, hit: tuple[float, Array], axes: Array) -> TaskJacobian:
    """A spot along `axes` (k, 3) of its surface. axis: (3,) of the tip, its beam.   hit: distance and normal."""
    T, own = task.tip(state), task.tip_task_jacobian(state)
    a, t, n = T[:3, :3] @ axis, hit[0] / state.length, hit[1]
    slope = n @ a
    rows = axes - np.outer(axes @ a / slope, n)
    arms = np.cross(a, rows)
    v, turned = own.J[:3], np.cross(own.J[3:].T, a)  # of the origin over L, and of the beam (nv, 3)
    farther = -(n @ v + t * (turned @ n)) / slope

    def derivative() -> Array:
        changes = -(rows @ turned.T / slope)[:, :, None] * n  # of the rows, (k, nv, 3)
        arm_changes = farther[:, None] * arms[:, None] + t * (np.cross(turned, rows[:, None]) + np.cross(a, changes))
        moving = np.concatenate((changes, arm_changes), axis=2) @ own.J  # [row, along, column]
        return np.tensordot(S, own.derivative(), 1) + moving.swapaxes(1, 2)

    S = np.hstack((rows, t * arms))
    return TaskJacobian(S @ own.J, derivative)


def spot(o: Array, a: Array, J: Array, surface: Surface) -> Spot | None:
    """Where the beam from o (3,) along a (3,) falls; None where it misses. J: (6, nv) of o.

    With n the normal of the surface, h = o + t a: d(h)/dt = (1 - a n' / (n.a)) (v + t w x a), a motion in the surface's
    tangent plane (Bruyninckx, section 4, first example).
    """
    hit = surface.hit(o, a)
    if hit is None:
        return None
    t, n = hit
    J_spot = J[:3] - t * hat(a) @ J[3:]
    return Spot(o + t * a, J_spot - np.outer(a, n @ J_spot) / (n @ a), n)


class SpotTask(PointTask):
    """A task on a point of a link, or on the spot of the beam that leaves it there: `_aim_beam` makes it one."""

    direction: Array | None = None
    surface: Surface | None = None

    def _aim_beam(self, direction: object | None, surface: object | None) -> None:
        """direction: (3,) of the beam in the link.   Raises TaskError where only one of them is given."""
        if direction is None and surface is None:
            return
        if direction is None or surface is None:
            raise TaskError(f"{self.name}: a beam needs a direction in its link and a surface: give both")
        self.direction = checked_direction(direction, f"{self.name}: direction")
        self.surface = checked_surface(surface, self.name)

    def place(self, state: State, surface: Surface | None, curve: Curve | Curves) -> Spot:
        """The point or the spot. A beam that misses its surface has the point on it that is as far away as the curve,
        so that it is turned there."""
        T, J = self.tip(state), self.tip_jacobian(state)
        o = T[:3, 3]
        if self.direction is None or surface is None:
            return Spot(o, J[:3])
        a = T[:3, :3] @ self.direction
        found = spot(o, a, J, surface)
        if found is not None:
            return found
        i, s = curve.closest(o)
        away = curve.lines[i].at(s)[0] - o
        r = float(np.linalg.norm(away))
        J_spot = J[:3] - r * hat(a) @ J[3:]
        return Spot(o + r * a, J_spot - np.outer(a, away @ J[:3]) / (r or 1.0))
