"""The tip advances by a vector from where it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ...fixed_arrays import cached_settings, fixed_new
from ...kinematics.state import State
from ..base import Forms, Part, Rows
from ..checks import axis_weights, choice, positive, vector
from ..protocols import DistanceBoundTask, KernelTipTask, StartRelativeTask
from ..task_jacobian import TaskJacobian
from ..tip import TipTask
from ..tip_rows import TipForm, TipKind
from .frame import FRAMES


@dataclass(frozen=True, eq=False)
class Advance:
    """vector: (3,) in the axes of the task's frame.   start: (4, 4) T_root_tip it is counted from; None: from where the
    tip is."""

    vector: Array
    start: Array | None = None


class AdvanceTask(TipTask, StartRelativeTask, DistanceBoundTask, KernelTipTask):
    """The tip moves by the error vector `target` (3,) [m] from where a solve or a motion starts. Part: position [m].

    frame: the axes of the vector and of the weights (3,): "tip" (those of the tip at the start), or "world".
    `AdvanceTask(link, distance * axis)` advances along an axis of the tip; weights of 0 leave the ways across it free.
    With p0, R0 the start, e = R0' (p0 - p) + vector. In a single `velocity_step` the vector is counted from where the
    tip is then, as one that is measured anew for each step. (RoboComp's inverse kinematics, target ADVANCEAXIS.)
    """

    kind: ClassVar[str] = "advance"
    forms: ClassVar[Forms] = {"target": "vector"}

    @cached_settings
    def __init__(
        self,
        link: str,
        target: object,
        weights: object = 1.0,
        frame: str = "tip",
        offset: object | None = None,
        tolerance: float = 1e-5,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, offset, name, priority, influence)
        self.frame = choice(frame, f"{self.name}: frame", FRAMES)
        self.weights = axis_weights(weights, f"{self.name}: weights")
        self.parts = (Part("position", "m", positive(tolerance, f"{self.name}: tolerance")),)
        self._set_target(target)

    def checked_target(self, target: object) -> Advance:
        if isinstance(target, Advance):
            return target
        return Advance(*fixed_new((vector(target, f"{self.name}: target vector"),)))

    def resolve_target(self, state: State, target: Advance) -> Advance:
        return replace(target, start=self.tip(state)) if target.start is None else target

    def distance_bound(self, target: Advance, centre: Array, reach: float) -> float:
        if target.start is None:
            return 0.0
        R = self._axes(target.start)
        away = R @ (target.start[:3, 3] - centre) + target.vector
        return float(np.linalg.norm(away[self.weights > 0.0])) - reach

    def task_jacobian(self, state: State, target: Advance) -> TaskJacobian:
        R = self._axes(target.start if target.start is not None else self.tip(state))
        return self.tip_task_jacobian(state).picked(np.hstack((R, np.zeros((3, 3))))[self.weights > 0.0])

    def _axes(self, start: Array) -> Array:
        """(3, 3) from root axes into those of the vector."""
        return start[:3, :3].T if self.frame == "tip" else np.eye(3)

    def rows(self, state: State, target: Advance) -> Rows:
        T = self.tip(state)
        start = T if target.start is None else target.start
        R = self._axes(start)
        e = R @ (start[:3, 3] - T[:3, 3]) + target.vector
        return Rows.wanted(R @ self.tip_jacobian(state)[:3], e, self.influence * self.weights, 0)

    def tip_form(self) -> TipForm:
        weights = np.concatenate((self.influence * self.weights, np.zeros(3)))
        return TipForm(TipKind.ADVANCE, self.link, self.offset, weights, np.zeros(6), axes=self.frame)

    def tip_target(self, target: Advance, out: Array) -> bool:
        out[:3], start = target.vector, target.start
        if start is None:
            return True
        out[3:12], out[12:15] = start[:3, :3].ravel(), start[:3, 3]
        return False
