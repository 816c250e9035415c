"""A tip axis points in a given direction; turning about it is free."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.model.tree import axis_to_z
from ....robokin.spatial import so3
from ...fixed_arrays import cached_settings
from ...kinematics.state import State
from ..base import Forms, Rows
from ..checks import direction, number, own_name
from ..places.on_line import across
from ..task_jacobian import TaskJacobian
from ..tip import AT_LINK
from ..tip_rows import TipForm, uniform
from .frame import FrameKind, FrameTask


class AxisTask(FrameTask):
    """`axis`: (3,) in the tip frame; `target`: (3,) direction in the root frame, which it takes. Raises TaskError.

    With a the axis and d the direction in root axes, e is the rotation vector angle * n that turns a into d
    (any n across a when they are opposite). Its 4x4 target holds d as the third column of the rotation.
    weights: per axis of `frame` of that rotation vector.   band: [rad] half angle of a cone about d, inside which
    nothing is asked for (all weights count as the largest one then).
    """

    kind: ClassVar[str] = "axis"
    forms: ClassVar[Forms] = {"target": "vector"}
    record_kind: ClassVar[FrameKind] = FrameKind.AXIS
    is_gradient_equal: ClassVar[bool] = False  # A leaves out the turn about the axis

    @cached_settings
    def __init__(
        self,
        link: str,
        axis: object,
        target: object,
        weights: object = 1.0,
        frame: str = "world",
        offset: object | None = None,
        tolerance: float = 1e-5,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
        band: float = 0.0,
    ) -> None:
        cone = number(band, f"{own_name(name, f'AxisTask of {link}')}: band")
        super().__init__(
            link,
            target,
            position_weights=0.0,
            orientation_weights=weights,
            frame=frame,
            offset=offset,
            orientation_tolerance=tolerance,
            name=name,
            priority=priority,
            influence=influence,
            orientation_band=cone,
        )
        self.axis = direction(axis, f"{self.name}: axis")

    def target_matrix(self, target: object) -> Array:
        T = AT_LINK.copy()
        T[:3, :3] = axis_to_z(direction(target, f"{self.name}: target direction"))
        return T

    @property
    def is_in_kernel(self) -> bool:
        return super().is_in_kernel and not self.orientation_band.any()

    def tip_form(self) -> TipForm:
        form = super().tip_form()
        if not self.orientation_band.any():
            return form
        weights, bands = (np.roll(each, 3) for each in uniform(self.weights.max(), 1, self.orientation_band[0]))
        return replace(form, weights=weights, bands=bands, axes="world", is_ball=True)

    def task_jacobian(self, state: State, target: Array) -> TaskJacobian:
        """The two turns that tilt the axis."""
        of_tip = self.tip_task_jacobian(state)
        S = np.zeros((2, 6))
        S[:, 3:] = across(self.axis)
        return of_tip.in_axes(self.tip(state)[:3, :3], of_tip.J[3:]).picked(S)

    def tip_rows(self, T_root_tip: Array, target: Array) -> tuple[Array, Array]:
        e, A = np.zeros(6), np.zeros((6, 6))
        e[3:], A[3:, 3:] = alignment(T_root_tip[:3, :3] @ self.axis, target[:3, 2])
        return e, A

    def rows(self, state: State, target: Array) -> Rows:
        if not self.orientation_band.any():
            return super().rows(state, target)
        e, A = self.tip_rows(self.tip(state), target)
        J = A @ state.jacobian(self.link)
        return Rows.within(J, e, self.weights.max(), 1, self.orientation_band[0])


def alignment(a: Array, d: Array) -> tuple[Array, Array]:
    """The rotation vector e (3,) that turns unit vector a into d, and A (3, 3) with d(e)/dt = -A w for a turning a."""
    turn = so3.cross(a, d)
    sine, cosine = math.sqrt(turn @ turn), a @ d
    angle = math.atan2(sine, cosine)
    if sine > 1e-9:
        n = turn / sine
        ratio = angle / sine
        e = angle * n
    else:
        x = np.zeros(3)
        x[np.argmin(abs(a))] = 1.0
        n = so3.cross(a, x)
        n /= math.sqrt(n @ n)
        ratio = 1.0  # aligned: the limit; opposite: singular, where any finite value gives a step away
        e = turn if cosine > 0.0 else angle * n
    t = so3.cross(n, a)
    return e, np.outer(n, n) + ratio * np.outer(cosine * t - sine * a, t)
