"""A contact that is pinned: a tip stays where it was."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.errors import TaskError
from ...fixed_arrays import cached_settings
from ...kinematics.state import State
from ..base import Forms, Part, Rows
from ..checks import per_axis, positive, rigid
from ..protocols import DistanceBoundTask, KernelTipTask, StartRelativeTask
from ..task_jacobian import TaskJacobian
from ..tip import TipTask
from ..tip_rows import TipForm, TipKind
from .frame import PART
from .pose import PoseTask, pose_error


class PinTask(TipTask, StartRelativeTask, DistanceBoundTask, KernelTipTask):
    """The tip keeps its pose. Parts: position [m], orientation [rad].

    target: None, the pose that it has where a solve or a motion starts; or a pose (4, 4) that it had, to which it
    returns when it has drifted.   position_weights, orientation_weights: (3,) per root axis, 0 leaves the axis free:
    orientation_weights=0 pins a point.
    Rows as of a `PoseTask`. In a single `velocity_step` without a target they are J v = 0.
    """

    kind: ClassVar[str] = "pin"
    forms: ClassVar[Forms] = {"target": "pose"}

    @cached_settings
    def __init__(
        self,
        link: str,
        target: object | None = None,
        position_weights: object = 1.0,
        orientation_weights: object = 1.0,
        offset: object | None = None,
        position_tolerance: float = 1e-5,
        orientation_tolerance: float = 1e-5,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(link, offset, name, priority, influence)
        position = per_axis(position_weights, f"{self.name}: position weights")
        orientation = per_axis(orientation_weights, f"{self.name}: orientation weights")
        if not (position.any() or orientation.any()):
            raise TaskError(f"{self.name}: every axis is free (all weights are 0)")
        self.weights = np.concatenate((position, orientation))
        self.parts = (
            Part("position", "m", positive(position_tolerance, f"{self.name}: position tolerance")),
            Part("orientation", "rad", positive(orientation_tolerance, f"{self.name}: orientation tolerance")),
        )
        self._set_target(target)

    def checked_target(self, target: object | None) -> Array | None:
        return None if target is None else rigid(target, f"{self.name}: target")

    def resolve_target(self, state: State, target: Array | None) -> Array:
        return self.tip(state) if target is None else target

    def pose_task(self) -> PoseTask | None:
        """The pose task with the same rows towards a resolved target; None without influence."""
        if not self.influence:
            return None
        position, orientation = self.parts
        return PoseTask(
            self.link,
            np.eye(4),
            self.weights[:3],
            self.weights[3:],
            offset=self.offset,
            position_tolerance=position.tolerance,
            orientation_tolerance=orientation.tolerance,
            name=self.name,
            priority=self.priority,
            influence=self.influence,
        )

    def tip_form(self) -> TipForm:
        return TipForm(TipKind.POSE, self.link, self.offset, self.influence * self.weights, np.zeros(6))

    def distance_bound(self, target: Array, centre: Array, reach: float) -> float:
        used = self.weights[:3] > 0.0
        return float(np.linalg.norm((target[:3, 3] - centre)[used])) - reach

    def task_jacobian(self, state: State, target: Array | None) -> TaskJacobian:
        return self.tip_task_jacobian(state).picked(np.eye(6)[self.weights > 0.0])

    def rows(self, state: State, target: Array | None) -> Rows:
        T = self.tip(state)
        e, A = pose_error(T, T if target is None else target)
        return Rows.wanted(A @ self.tip_jacobian(state), e, self.influence * self.weights, PART)
