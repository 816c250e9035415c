"""Tasks on the pose of one tip: what the kernel solves.

With R, p the tip's pose in the root frame and v, w its velocity (linear at p, angular; root axes), such a task states
an error e (6,), position rows first, and a matrix A (6, 6) with d(e)/dt = -A [v; w]. A free axis has weight 0. Rows
are stated in root axes and turned into tip axes by one rule (`to_tip_axes`).
To add a kind: one class with `record_kind` and `tip_rows`, and the cases of the same number in kernel/src/ik/ik_rows.h
and tip_rows.c.
"""

from __future__ import annotations

import enum
from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, TypeGuard

import numpy as np

from ....robokin.arrays import Array
from ....robokin.errors import TaskError
from ....robokin.model.robot import RobotModel
from ....robokin.spatial.so3 import hat
from ...alike import is_own
from ...fixed_arrays import Checks, cached_settings
from ...kinematics.state import State
from ..base import Part, Rows, Task
from ..checks import choice, is_matrix, per_axis, positive, rigid
from ..protocols import DistanceBoundTask, KernelTipTask
from ..task_jacobian import TaskJacobian
from ..tip import TipTask
from ..tip_rows import TipForm, TipKind


class FrameKind(enum.IntEnum):
    """The values are those of `enum rk_task_kind` in the kernel."""

    POSE = 0
    AXIS = 1


FRAMES = ("world", "tip")
PART = np.repeat((0, 1), 3)


class FrameTask(TipTask, DistanceBoundTask, KernelTipTask):
    """Base of the tasks on one tip. Parts: position [m] and orientation [rad].

    link: whose motion the task concerns.   target: (4, 4), see `target_matrix`.   offset: (4, 4) T_link_tip.
    position_weights, orientation_weights: (3,) per axis of `frame`, 0 leaves the axis free.
    frame: the axes in which the weights are meant: "world" (root axes) or "tip".
    position_tolerance [m], orientation_tolerance [rad]: bounds on the norm of the error over the axes not free.
    position_band [m], orientation_band [rad]: (3,) or one for all: per axis of `frame`, errors that do not count.
    """

    record_kind: ClassVar[FrameKind]
    frame: str
    position_weights: Array
    orientation_weights: Array
    position_tolerance: float
    orientation_tolerance: float
    position_band: Array
    orientation_band: Array
    checks: ClassVar[Checks] = {
        **TipTask.checks,
        **dict.fromkeys(("position_weights", "orientation_weights", "position_band", "orientation_band"), per_axis),
        **dict.fromkeys(("position_tolerance", "orientation_tolerance"), positive),
    }
    axis: Array = np.zeros(3)  # the tip axis, for tasks that have one
    # With equal weights the identity may stand for A: A'e = e, as a logarithm's Jacobian leaves its argument alone.
    is_gradient_equal: ClassVar[bool] = True

    @cached_settings
    def __init__(
        self,
        link: str,
        target: object,
        position_weights: object = 1.0,
        orientation_weights: object = 1.0,
        frame: str = "world",
        offset: object | None = None,
        position_tolerance: float = 1e-5,
        orientation_tolerance: float = 1e-5,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
        position_band: object = 0.0,
        orientation_band: object = 0.0,
    ) -> None:
        super().__init__(link, offset, name, priority, influence)
        own = self.name
        position = per_axis(position_weights, f"{own}: position weights")
        orientation = per_axis(orientation_weights, f"{own}: orientation weights")
        if not any(position.tolist() + orientation.tolist()):
            raise TaskError(f"{own}: every axis is free (all weights are 0)")
        self._keep(
            frame=choice(frame, f"{own}: frame", FRAMES),
            position_weights=position,
            orientation_weights=orientation,
            position_tolerance=positive(position_tolerance, f"{own}: position tolerance"),
            orientation_tolerance=positive(orientation_tolerance, f"{own}: orientation tolerance"),
            position_band=per_axis(position_band, f"{own}: position band"),
            orientation_band=per_axis(orientation_band, f"{own}: orientation band"),
        )
        self._set_target(target)

    @abstractmethod
    def target_matrix(self, target: object) -> Array:
        """(4, 4) form of a target given in the task's own terms. Raises TaskError."""

    @abstractmethod
    def tip_rows(self, T_root_tip: Array, target: Array) -> tuple[Array, Array]:
        """e (6,) and A (6, 6) in root axes (see the module's head); only rows of weighted parts need be filled."""

    def own_rows(self, T_root_tip: Array, target: Array) -> tuple[Array, Array]:
        """e (..., 6) and A (..., 6, 6) in the axes of `frame`, of as many poses and targets as `tip_rows` takes."""
        e, A = self.tip_rows(T_root_tip, target)
        if self.frame == "tip":
            for part in (slice(0, 3), slice(3, 6)):
                e[..., part], A[..., part, :] = to_tip_axes(e[..., part], A[..., part, :], T_root_tip[..., :3, :3])
        return e, A

    @property
    def is_in_kernel(self) -> bool:
        """Whether the kernel's solver knows it: not a class of others, which may change anything."""
        return is_own(type(self))

    def distance_bound(self, target: Array, centre: Array, reach: float) -> float:
        away = abs(target[:3, 3] - centre)
        if self.frame == "tip":  # whose axes turn
            whole = float(np.linalg.norm(away) - np.linalg.norm(self.position_band))
            return whole - reach if self.weights[:3].all() else 0.0
        used = self.weights[:3] > 0.0
        return float(np.linalg.norm(np.maximum(away - self.position_band, 0.0)[used])) - reach if used.any() else 0.0

    def tip_form(self) -> TipForm:
        kind = TipKind(self.record_kind)
        return TipForm(kind, self.link, self.offset, self.weights, self.band, axes=self.frame, axis=self.axis)

    @property
    def weights(self) -> Array:
        """(6,) of the rows, position first: with its influence."""
        weights = np.concatenate((self.position_weights, self.orientation_weights))
        return weights if self.influence == 1.0 else self.influence * weights

    @property
    def band(self) -> Array:
        """(6,) position rows first."""
        return np.concatenate((self.position_band, self.orientation_band))

    @property
    def parts(self) -> tuple[Part, ...]:  # type: ignore[override]
        return _parts(self.position_tolerance, self.orientation_tolerance)

    def checked_target(self, target: object) -> Array:
        """(4, 4) of a target in the task's own terms or already (4, 4)."""
        return rigid(target, f"{self.name}: target") if is_matrix(target) else self.target_matrix(target)

    def rows(self, state: State, target: Array) -> Rows:
        e, A = self.own_rows(self.tip(state), target)
        return Rows.wanted(A @ self.tip_jacobian(state), e, self.weights, PART, self.band)

    def task_jacobian(self, state: State, target: Array) -> TaskJacobian:
        """The rows of the axes that are not free."""
        return self.axes_task_jacobian(state, self.frame, self.weights != 0.0)

    def points(self, model: RobotModel) -> Sequence[tuple[str, Array]]:
        return super().points(model) if self.weights[:3].any() else []


@lru_cache
def _parts(position: float, orientation: float) -> tuple[Part, Part]:
    return Part("position", "m", position), Part("orientation", "rad", orientation)


def is_plain_task(task: Task) -> TypeGuard[FrameTask]:
    """Whether the kernel's solver and tracker know the task as it is, but for its influence."""
    return isinstance(task, FrameTask) and task.is_in_kernel and not task.band.any()


def to_tip_axes(e: Array, A: Array, R: Array) -> tuple[Array, Array]:
    """Three rows in tip axes: d(R'e)/dt = R'(de/dt - w x e), hence A -> R'(A - [0 | e x]). Any leading batch axes."""
    turned, back = A.copy(), np.swapaxes(R, -1, -2)
    turned[..., 3:] -= hat(e)
    return (back @ e[..., None])[..., 0], back @ turned
