"""The pose of one link relative to another: all of it, or its position or orientation only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.errors import TaskError
from ....robokin.model.robot import RobotModel
from ....robokin.spatial.se3 import inverse
from ...fixed_arrays import cached_settings
from ...kinematics.state import State
from ..base import Forms, Part, Rows
from ..checks import link_name, own_name, per_axis, positive, rigid
from ..protocols import KernelTipTask
from ..task_jacobian import TaskJacobian, point_task_jacobian
from ..tip import TipTask
from ..tip_rows import TipForm, TipKind
from .frame import PART
from .pose import pose_error


class RelativePoseTask(TipTask, KernelTipTask):
    """The tip takes a pose in the frame of another link. Parts: position [m], orientation [rad].

    target: (4, 4) T_other_tip, `other` the frame at `other_offset` (4, 4) in the other link.
    position_weights, orientation_weights: (3,) per axis of that frame, 0 leaves the axis free; orientation_weights=0
    is a relative position, position_weights=0 a relative orientation.   position_band, orientation_band: (3,) or one
    for all, errors that do not count.
    e = [p_d - p; log(R_d R')] in the other frame, where the tip moves with R_o' (v - v_o - w_o x (p - p_o), w - w_o).
    """

    kind: ClassVar[str] = "relative pose"
    forms: ClassVar[Forms] = {"target": "pose"}

    @cached_settings
    def __init__(
        self,
        link: str,
        other: str,
        target: object,
        position_weights: object = 1.0,
        orientation_weights: object = 1.0,
        offset: object | None = None,
        other_offset: object | None = None,
        position_tolerance: float = 1e-5,
        orientation_tolerance: float = 1e-5,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
        position_band: object = 0.0,
        orientation_band: object = 0.0,
    ) -> None:
        self.other = link_name(other, "a task's other link")
        named = own_name(name, f"{type(self).__name__} of {link} and {other}")
        super().__init__(link, offset, named, priority, influence)
        self.other_offset = np.eye(4) if other_offset is None else rigid(other_offset, f"{self.name}: other offset")
        position = per_axis(position_weights, f"{self.name}: position weights")
        orientation = per_axis(orientation_weights, f"{self.name}: orientation weights")
        self.weights = np.concatenate((position, orientation))
        if not (position.any() or orientation.any()):
            raise TaskError(f"{self.name}: every axis is free (all weights are 0)")
        bands = (position_band, "position band"), (orientation_band, "orientation band")
        self.band = np.concatenate([per_axis(band, f"{self.name}: {what}") for band, what in bands])
        self.parts = (
            Part("position", "m", positive(position_tolerance, f"{self.name}: position tolerance")),
            Part("orientation", "rad", positive(orientation_tolerance, f"{self.name}: orientation tolerance")),
        )
        self._set_target(target)

    def checked_target(self, target: object) -> Array:
        return rigid(target, f"{self.name}: target")

    def rows(self, state: State, target: Array) -> Rows:
        T_root_other = state.placement(self.other) @ self.other_offset
        e, A = pose_error(inverse(T_root_other) @ self.tip(state), target, bool(self.weights[3:].any()))
        # The other link moves the tip as if it were part of it.
        J = self.tip_jacobian(state) - state.jacobian(self.other, self.tip(state)[:3, 3])
        into_other = np.kron(np.eye(2), T_root_other[:3, :3].T)
        return Rows.wanted(A @ into_other @ J, e, self.influence * self.weights, PART, self.band)

    def tip_form(self) -> TipForm:
        weights, other = self.influence * self.weights, (self.other, self.other_offset)
        return TipForm(TipKind.RELATIVE, self.link, self.offset, weights, self.band, other)

    def task_jacobian(self, state: State, target: Array) -> TaskJacobian:
        p = self.tip(state)[:3, 3]
        own, other = self.tip_task_jacobian(state), point_task_jacobian(state, self.other, p)
        w = other.J[3:]
        moved = own.less(other)

        def derivative() -> Array:
            # The point of the other link that is at the tip is not always the same.
            found = moved.derivative()
            found[:3] -= np.cross(w.T[:, None], moved.J[:3].T).transpose(2, 0, 1)
            return found

        S = np.eye(6)[(self.weights > 0.0) & (self.band == 0.0)]
        R = (state.placement(self.other) @ self.other_offset)[:3, :3]
        return TaskJacobian(moved.J, derivative).in_axes(R, w).picked(S)

    def check(self, model: RobotModel) -> None:
        super().check(model)
        model.link_index(self.other)

    def points(self, model: RobotModel) -> Sequence[tuple[str, Array]]:
        return [*super().points(model), (self.other, self.other_offset[:3, 3])]
