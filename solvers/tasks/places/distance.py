"""The distance between two points: of two links, or of a link and the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.model.robot import RobotModel
from ...fixed_arrays import cached_settings
from ...kinematics.state import State
from ..base import Rows
from ..checks import choice, link_name, not_negative, vector
from ..protocols import DistanceBoundTask, KernelTipTask
from ..task_jacobian import TaskJacobian, point_task_jacobian
from ..tip import AT_LINK, PointTask
from ..tip_rows import TipForm, TipKind, uniform
from .on_plane import one_sided

RELATIONS = {"equal": 0, "inside": -1, "outside": 1}  # which side counts, see `one_sided`


class DistanceTask(PointTask, DistanceBoundTask, KernelTipTask):
    """The distance from `point` (3,) of the link to another point is the target, at most it or at least.

    Part: distance [m].   other: the link that `other_point` (3,) belongs to; None: it is in the root frame.
    target: [m] >= 0, or (that, other_point) where the other point moves from frame to frame.
    relation: "equal", "inside" (at most) or "outside" (at least).   band: [m] that does not count.
    e = target - |p1 - p2| along the line between them; for a distance of 0, the three rows p2 - p1. Where both
    points are one, they part along z.
    """

    kind: ClassVar[str] = "distance"

    @cached_settings
    def __init__(
        self,
        link: str,
        target: float,
        other: str | None = None,
        other_point: object = (0.0, 0.0, 0.0),
        relation: str = "equal",
        point: object = (0.0, 0.0, 0.0),
        weight: float = 1.0,
        tolerance: float = 1e-5,
        band: float = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, point, weight, tolerance, band, name, priority, influence)
        self.other = None if other is None else link_name(other, f"{self.name}: other link")
        self.other_point = vector(other_point, f"{self.name}: other point")
        self.relation = choice(relation, f"{self.name}: relation", tuple(RELATIONS))
        self._set_target(target)

    def checked_target(self, target: object) -> tuple[float, Array]:
        if not (isinstance(target, tuple) and len(target) == 2):
            return not_negative(target, f"{self.name}: target distance"), self.other_point
        distance, point = target
        return not_negative(distance, f"{self.name}: target distance"), vector(point, f"{self.name}: other point")

    def distance_bound(self, target: tuple[float, Array], centre: Array, reach: float) -> float:
        wanted, p = target
        if self.other is not None:
            return 0.0
        away = float(np.linalg.norm(p - centre))
        too_far, too_near = away - reach - wanted, wanted - away - reach
        return {"inside": too_far, "outside": too_near}.get(self.relation, max(too_far, too_near)) - self.band

    def task_jacobian(self, state: State, target: tuple[float, Array]) -> TaskJacobian:
        wanted, p = target
        if self.band or self.relation != "equal":
            return self.point_task_jacobian(state, np.zeros((0, 3)))
        parting, p = self.tip_task_jacobian(state), self._other_point(state, p)
        if self.other is not None:
            parting = parting.less(point_task_jacobian(state, self.other, p))
        parting = parting.picked(np.eye(3, 6))
        away = (self.tip(state)[:3, 3] - p) / state.length
        r = float(np.linalg.norm(away))
        if wanted == 0.0 or r == 0.0:
            return parting
        n, D = away / r, parting.J
        turning = D.T @ (np.eye(3) - np.outer(n, n)) @ D / r
        return TaskJacobian((n @ D)[None], lambda: np.tensordot(n[None], parting.derivative(), 1) + turning)

    def _other_point(self, state: State, point: Array) -> Array:
        """(3,) in the root frame."""
        if self.other is None:
            return point
        T = state.placement(self.other)
        return T[:3, :3] @ point + T[:3, 3]

    def rows(self, state: State, target: tuple[float, Array]) -> Rows:
        wanted, p = target
        J, p = self.tip_jacobian(state)[:3], self._other_point(state, p)
        if self.other is not None:
            J = J - state.jacobian(self.other, p)[:3]
        away = self.tip(state)[:3, 3] - p
        if wanted == 0.0 and self.relation != "outside":
            return self.near(J, -away)
        distance = np.linalg.norm(away)
        n = away / distance if distance > 0.0 else np.array((0.0, 0.0, 1.0))
        weight = np.array([self.weight * self.influence])
        rows = Rows.wanted((n @ J)[None], np.array([wanted - distance]), weight, 0, self.band)
        return one_sided(rows, RELATIONS[self.relation])

    def tip_form(self) -> TipForm:
        other, is_ball = None if self.other is None else (self.other, AT_LINK), self.band > 0.0
        weights, bands = uniform(self.weight * self.influence, 1 if is_ball else 3, self.band)
        side = RELATIONS[self.relation]
        return TipForm(TipKind.DISTANCE, self.link, self.offset, weights, bands, other, side=side, is_ball=is_ball)

    def tip_target(self, target: tuple[float, Array], out: Array) -> bool:
        out[0], out[1:4] = target
        return False

    def check(self, model: RobotModel) -> None:
        super().check(model)
        if self.other is not None:
            model.link_index(self.other)

    def points(self, model: RobotModel) -> Sequence[tuple[str, Array]]:
        own = super().points(model)
        return own if self.other is None else [*own, (self.other, self.other_point)]
