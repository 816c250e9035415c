"""A point of a link on a plane, or on one side of it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array, shown
from ....robokin.errors import TaskError
from ...fixed_arrays import cached_settings
from ...kinematics.state import State
from ..base import Forms, Rows
from ..checks import choice, direction, vector
from ..protocols import DistanceBoundTask, KernelTipTask
from ..task_jacobian import TaskJacobian
from ..tip import PointTask
from ..tip_rows import TipForm, TipKind, uniform

SIDES = {"on": 0, "above": 1, "below": -1}  # which side counts, see `one_sided`


class OnPlaneTask(PointTask, DistanceBoundTask, KernelTipTask):
    """`point` (3,) of the link is on a plane. Part: distance [m].

    target: (point (3,), normal (3,)) of the plane in the root frame.   side: "on"; "above" the plane, where its normal
    points, or "below" it (inequalities).   band: [m] the distance that does not count.
    e = n.(c - p), c the plane's point.
    """

    kind: ClassVar[str] = "plane"
    forms: ClassVar[Forms] = {"target": "point and direction"}

    @cached_settings
    def __init__(
        self,
        link: str,
        target: object,
        side: str = "on",
        point: object = (0.0, 0.0, 0.0),
        weight: float = 1.0,
        tolerance: float = 1e-5,
        band: float = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, point, weight, tolerance, band, name, priority, influence)
        self.side = choice(side, f"{self.name}: side", tuple(SIDES))
        self._set_target(target)

    def checked_target(self, target: object) -> tuple[Array, Array]:
        point, normal = pair(target, f"{self.name}: target", "a plane's point and normal")
        return vector(point, f"{self.name}: point of the plane"), direction(normal, f"{self.name}: normal of the plane")

    def distance_bound(self, target: tuple[Array, Array], centre: Array, reach: float) -> float:
        c, n = target
        height = float(n @ (centre - c))
        away = {"above": -height, "below": height}.get(self.side, abs(height))
        return away - self.band - reach

    def task_jacobian(self, state: State, target: tuple[Array, Array]) -> TaskJacobian:
        return self.point_task_jacobian(state, target[1][None][: 1 if self.side == "on" else 0])

    def rows(self, state: State, target: tuple[Array, Array]) -> Rows:
        c, n = target
        e = n @ (c - self.tip(state)[:3, 3])
        J = n @ self.tip_jacobian(state)[:3]
        rows = Rows.wanted(J[None], np.array([e]), np.array([self.weight * self.influence]), 0, self.band)
        return one_sided(rows, SIDES[self.side])

    def tip_form(self) -> TipForm:
        weights, bands = uniform(self.weight * self.influence, 1, self.band)
        return TipForm(TipKind.PLANE, self.link, self.offset, weights, bands, side=SIDES[self.side])

    def tip_target(self, target: tuple[Array, Array], out: Array) -> bool:
        out[:3], out[3:6] = target
        return False


def one_sided(rows: Rows, side: int) -> Rows:
    """Rows of which only the lower sides (1) or the upper sides (-1) count; 0 leaves them."""
    free = np.full(len(rows.lower), np.inf)
    lower, upper = (-free if side < 0 else rows.lower), (free if side > 0 else rows.upper)
    return Rows(rows.J, lower, upper, rows.weight, rows.part)


def pair(value: object, what: str, meaning: str) -> tuple[object, object]:
    """Raises TaskError unless it is two things."""
    try:
        both: tuple = tuple(value)  # type: ignore[arg-type]
    except TypeError:
        both = ()
    if len(both) != 2:
        raise TaskError(f"{what} must be {meaning}, not {shown(value)}")
    return both
