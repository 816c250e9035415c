"""What tasks on a point or frame of one link have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from ..fixed_arrays import Checks
from ..kinematics.state import State
from .base import Part, Rows, Task
from .checks import link_name, not_negative, own_name, positive, rigid, vector
from .task_jacobian import TaskJacobian, point_task_jacobian

AT_LINK = np.eye(4)  # of all tasks alike: what has no offset, or is copied for one that has
AT_LINK.flags.writeable = False


class TipTask(Task):
    """link: whose motion the task concerns.   offset: (4, 4) T_link_tip, the tip's frame in the link."""

    link: str
    offset: Array

    def __init__(
        self,
        link: str,
        offset: object | None,
        name: str,
        priority: int,
        influence: float,
    ) -> None:
        link = link_name(link, "a task's link")
        super().__init__(own_name(name, f"{type(self).__name__} of {link}"), priority, influence)
        if offset is None:
            self._keep(link=link, offset=AT_LINK)
        else:
            self.link, self.offset = link, rigid(offset, f"{self.name}: offset")

    def tip(self, state: State) -> Array:
        """(4, 4) T_root_tip."""
        return state.placement(self.link) @ self.offset

    def tip_jacobian(self, state: State) -> Array:
        """(6, nv) velocity of the tip's origin, and its angular velocity, in root axes."""
        return state.jacobian(self.link, self.tip(state)[:3, 3])

    def tip_task_jacobian(self, state: State) -> TaskJacobian:
        """The six rows of `tip_jacobian`, those of the position over L."""
        return point_task_jacobian(state, self.link, self.tip(state)[:3, 3])

    def axes_task_jacobian(self, state: State, frame: str, used: Array) -> TaskJacobian:
        """The used (6,) ones of the six rows of `tip_jacobian`, in the axes of the tip or of the root."""
        own = self.tip_task_jacobian(state)
        if frame == "tip":
            own = own.in_axes(self.tip(state)[:3, :3], own.J[3:])
        return own.picked(np.eye(6)[used])

    def check(self, model: RobotModel) -> None:
        model.link_index(self.link)

    def points(self, model: RobotModel) -> Sequence[tuple[str, Array]]:
        return [(self.link, self.offset[:3, 3])]


class PointTask(TipTask):
    """A task on one point of a link. point: (3,) in the link.   weight, tolerance [m], band: of its one part."""

    part: ClassVar[str] = "distance"
    weight: float
    tolerance: float
    band: float
    checks: ClassVar[Checks] = {**TipTask.checks, "weight": positive, "tolerance": positive, "band": not_negative}

    def __init__(
        self,
        link: str,
        point: object,
        weight: float,
        tolerance: float,
        band: float,
        name: str,
        priority: int,
        influence: float,
    ) -> None:
        super().__init__(link, None, name, priority, influence)
        offset = AT_LINK.copy()
        offset[:3, 3] = vector(point, f"{self.name}: point")
        self.offset = offset
        self.weight, self.tolerance, self.band = weight, tolerance, band

    @property
    def parts(self) -> tuple[Part, ...]:  # type: ignore[override]
        return (Part(self.part, "m", self.tolerance),)

    def point_task_jacobian(self, state: State, S: Array) -> TaskJacobian:
        """S v of the point's velocity, S (k, 3) constant; nothing when the task is an inequality."""
        used = S[: 0 if self.band else None]
        return self.tip_task_jacobian(state).picked(np.hstack((used, np.zeros_like(used))))

    def near(self, J: Array, e: Array) -> Rows:
        """The rows J v dt = e (k,), or, with a band, |e| at most as large as that."""
        weight = self.weight * self.influence
        if self.band:
            return Rows.within(J, e, weight, 0, self.band)
        return Rows.wanted(J, e, np.full(len(e), weight), 0)
