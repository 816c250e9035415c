"""A tip axis points in a given direction; turning about it is free."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ...robokin.errors import TaskError
from ...robokin.tree import axis_to_z
from .base import Array, Task, TaskKind, vector


class AxisTask(Task):
    """`axis`: (3,) in the tip frame; `target`: (3,) direction in the root frame, which it takes. Raises TaskError.

    With a the axis and d the direction in root axes, e is the rotation vector angle * n that turns a into d
    (any n across a when they are opposite). Its 4x4 target holds d as the third column of the rotation.
    weights: per axis of `frame` of that rotation vector.
    """

    kind: ClassVar[TaskKind] = TaskKind.AXIS
    is_gradient_equal: ClassVar[bool] = False  # A leaves out the turn about the axis

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
    ) -> None:
        super().__init__(link, target, 0.0, weights, frame, offset, 1e-5, tolerance, name, priority)
        self.axis = _direction(axis, f"{self.name}: axis")

    def target_matrix(self, target: object) -> Array:
        T = np.eye(4)
        T[:3, :3] = axis_to_z(_direction(target, f"{self.name}: target direction"))
        return T

    def rows(self, T_root_tip: Array, target: Array) -> tuple[Array, Array]:
        e, A = np.zeros(6), np.zeros((6, 6))
        a, d = T_root_tip[:3, :3] @ self.axis, target[:3, 2]
        n = np.cross(a, d)
        sine, cosine = math.sqrt(n @ n), a @ d
        angle = math.atan2(sine, cosine)
        if sine > 1e-9:
            n = n / sine
            ratio = angle / sine
        else:
            x = np.zeros(3)
            x[np.argmin(abs(a))] = 1.0
            n = np.cross(a, x)
            n /= math.sqrt(n @ n)
            ratio = 1.0  # aligned: the limit; opposite: singular, where any finite value gives a step away
        t = np.cross(n, a)
        e[3:] = angle * n
        A[3:, 3:] = np.outer(n, n) + ratio * np.outer(cosine * t - sine * a, t)
        return e, A


def _direction(value: object, what: str) -> Array:
    array = vector(value, what)
    length = np.linalg.norm(array)
    if length < 1e-9:
        raise TaskError(f"{what} has no direction: {array.tolist()}")
    return array / length
