"""A tip axis points at a point: look-at."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.spatial.so3 import hat
from ...fixed_arrays import Checks, cached_settings
from ...kinematics.state import State
from ..base import Forms, Part, Rows
from ..checks import direction, not_negative, positive, vector
from ..places.on_line import across
from ..protocols import KernelTipTask
from ..task_jacobian import TaskJacobian
from ..tip import TipTask
from ..tip_rows import TipForm, TipKind, uniform
from .axis import alignment

NEAREST = 1e-9  # [m] nearer to the target than this, every direction points at it


class AimTask(TipTask, KernelTipTask):
    """The axis (3,) of the tip points from the tip's origin at `target` (3,) in the root frame. Part: direction [rad].

    With a the axis and d the direction to the target, r away, e is the rotation vector that turns a into d, and
    d(e)/dt = w_d x e - A (w - w_d), w_d = -d x v / r how the direction turns when the tip moves with v; A as of an
    `AxisTask`. The rows leave out w_d x e, which is along d: there e is always 0, and as long as a third row was, it
    took a direction from the levels below. Turning about the axis is free. At the target itself nothing is asked for.
    weight: of its rows.   band: [rad] half angle of a cone in which the target may be.
    """

    kind: ClassVar[str] = "aim"
    forms: ClassVar[Forms] = {"target": "vector"}
    checks: ClassVar[Checks] = {**TipTask.checks, "weight": positive, "band": not_negative}

    @cached_settings
    def __init__(
        self,
        link: str,
        axis: object,
        target: object,
        weight: float = 1.0,
        offset: object | None = None,
        tolerance: float = 1e-5,
        band: float = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, offset, name, priority, influence)
        self.axis = direction(axis, f"{self.name}: axis")
        self.weight, self.band = weight, band
        self.parts = (Part("direction", "rad", positive(tolerance, f"{self.name}: tolerance")),)
        self._set_target(target)

    def checked_target(self, target: object) -> Array:
        return vector(target, f"{self.name}: target point")

    def task_jacobian(self, state: State, target: Array) -> TaskJacobian:
        """The two turns of the axis against the direction to the target, as if it pointed there."""
        return aim_task_jacobian(self, state, across(self.axis)[: 0 if self.band else None], self.axis, target)

    def rows(self, state: State, target: Array) -> Rows:
        J, e = aim(self.tip(state), self.tip_jacobian(state), self.axis, target)
        weight = self.weight * self.influence
        if self.band:
            return Rows.within(J, e, weight, 0, self.band)
        return Rows.wanted(J, e, np.full(3, weight), 0)

    def tip_form(self) -> TipForm:
        is_ball = self.band > 0.0
        weights, bands = uniform(self.weight * self.influence, 1 if is_ball else 3, self.band)
        return TipForm(TipKind.AIM, self.link, self.offset, weights, bands, is_ball=is_ball, axis=self.axis)

    def tip_target(self, target: Array, out: Array) -> bool:
        out[:3] = target
        return False


def aim_task_jacobian(task: TipTask, state: State, turns: Array, axis: Array, point: Array) -> TaskJacobian:
    """Turns (k, 3) of an axis of a tip against the direction to a point, as if it pointed there."""
    T, own = task.tip(state), task.tip_task_jacobian(state)
    away = (point - T[:3, 3]) / state.length
    r = max(float(np.linalg.norm(away)), NEAREST)
    in_tip = own.in_axes(T[:3, :3], own.J[3:])
    turn, shift = turns @ np.eye(3, 6, 3), turns @ hat(axis) @ np.eye(3, 6)
    of_tip = in_tip.picked(turn + shift / r)
    nearing = (away / r) @ own.J[:3] / r**2  # what 1 / r grows by
    return TaskJacobian(of_tip.J, lambda: of_tip.derivative() + (shift @ in_tip.J)[:, :, None] * nearing)


def aim(T_root_tip: Array, J: Array, axis: Array, point: Array) -> tuple[Array, Array]:
    """J (3, nv) and e (3,) of the rotation that makes the tip's axis point at a point; zero when it is there."""
    away = point - T_root_tip[:3, 3]
    r = float(np.linalg.norm(away))
    if r < NEAREST:
        return np.zeros((3, J.shape[1])), np.zeros(3)
    d = away / r
    e, A = alignment(T_root_tip[:3, :3] @ axis, d)
    return A @ (J[3:] + hat(d) @ J[:3] / r), e
