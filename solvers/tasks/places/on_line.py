"""A point of a link on a straight line."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.model.tree import axis_to_z
from ...fixed_arrays import cached_settings
from ...kinematics.state import State
from ..base import Forms, Rows
from ..checks import direction, vector
from ..protocols import DistanceBoundTask, KernelTipTask
from ..task_jacobian import TaskJacobian
from ..tip import PointTask
from ..tip_rows import TipForm, TipKind, uniform
from .on_plane import pair


class OnLineTask(PointTask, DistanceBoundTask, KernelTipTask):
    """`point` (3,) of the link is on a line. Part: distance [m].

    target: (point (3,), direction (3,)) of the line in the root frame.   band: [m] radius of a tube about it.
    e = B (c - p), the rows of B (2, 3) across the line, c its point.
    """

    kind: ClassVar[str] = "line"
    forms: ClassVar[Forms] = {"target": "point and direction"}

    @cached_settings
    def __init__(
        self,
        link: str,
        target: object,
        point: object = (0.0, 0.0, 0.0),
        weight: float = 1.0,
        tolerance: float = 1e-5,
        band: float = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, point, weight, tolerance, band, name, priority, influence)
        self._set_target(target)

    def checked_target(self, target: object) -> tuple[Array, Array]:
        point, along = pair(target, f"{self.name}: target", "a line's point and direction")
        return vector(point, f"{self.name}: point of the line"), direction(along, f"{self.name}: direction of the line")

    def distance_bound(self, target: tuple[Array, Array], centre: Array, reach: float) -> float:
        c, along = target
        return float(np.linalg.norm(across(along) @ (c - centre))) - self.band - reach

    def task_jacobian(self, state: State, target: tuple[Array, Array]) -> TaskJacobian:
        return self.point_task_jacobian(state, across(target[1]))

    def rows(self, state: State, target: tuple[Array, Array]) -> Rows:
        c, along = target
        B = across(along)
        return self.near(B @ self.tip_jacobian(state)[:3], B @ (c - self.tip(state)[:3, 3]))

    def tip_form(self) -> TipForm:
        is_ball = self.band > 0.0
        weights, bands = uniform(self.weight * self.influence, 1 if is_ball else 2, self.band)
        return TipForm(TipKind.LINE, self.link, self.offset, weights, bands, is_ball=is_ball)

    def tip_target(self, target: tuple[Array, Array], out: Array) -> bool:
        c, along = target
        out[:3], out[3:9] = c, across(along).ravel()
        return False


def across(along: Array) -> Array:
    """(2, 3) an orthonormal basis across a unit vector."""
    return axis_to_z(along).T[:2]
