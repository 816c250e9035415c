"""What every task has: a tip on the robot, weights per axis, tolerances; checked once, here.

The differential form. With R, p the tip's pose in the root frame and v, w its velocity (linear at p, angular; root
axes), a task states an error e (6,), position rows first, and a matrix A (6, 6) with d(e)/dt = -A [v; w]. A free axis
has weight 0. Rows are stated in root axes and turned into tip axes by one rule (`to_tip_axes`).
To add a kind of task: one class with `kind` and `rows`, and the case of the same `kind` in kernel/src/ik.c.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ...robokin.errors import TaskError
from ...robokin.so3 import hat

Array = np.ndarray


class TaskKind(enum.IntEnum):
    """The values are those of `enum rk_task_kind` in the kernel."""

    POSE = 0
    AXIS = 1


FRAMES = ("world", "tip")


class Task(ABC):
    """Base of all tasks; immutable by convention.

    link: whose motion the task concerns.   target: (4, 4), see `target_matrix`.   offset: (4, 4) T_link_tip.
    position_weights, orientation_weights: (3,) per axis of `frame`, 0 leaves the axis free.
    frame: the axes in which the weights are meant: "world" (root axes) or "tip".
    position_tolerance [m], orientation_tolerance [rad]: bounds on the norm of the error over the axes not free.
    name: how reports call it.   priority: its level, 1 first; a level is met as nearly as those before it allow.
    """

    kind: ClassVar[TaskKind]
    axis: Array = np.zeros(3)  # the tip axis, for tasks that have one
    # With equal weights the identity may stand for A: A'e = e, as a logarithm's Jacobian leaves its argument alone.
    is_gradient_equal: ClassVar[bool] = True

    def __init__(
        self,
        link: str,
        target: object,
        position_weights: object,
        orientation_weights: object,
        frame: str,
        offset: object | None,
        position_tolerance: float,
        orientation_tolerance: float,
        name: str,
        priority: int,
    ) -> None:
        if not isinstance(link, str):
            raise TaskError(f"a task's link must be the name of a link, not {link!r}")
        self.link = link
        self.name = name or f"{type(self).__name__} of {link}"
        if frame not in FRAMES:
            raise TaskError(f"{self.name}: frame must be one of {', '.join(FRAMES)}, not {frame!r}")
        self.frame = frame
        self.offset = np.eye(4) if offset is None else rigid(offset, f"{self.name}: offset")
        self.position_weights = weights(position_weights, f"{self.name}: position weights")
        self.orientation_weights = weights(orientation_weights, f"{self.name}: orientation weights")
        if not (self.position_weights.any() or self.orientation_weights.any()):
            raise TaskError(f"{self.name}: every axis is free (all weights are 0)")
        self.position_tolerance = positive(position_tolerance, f"{self.name}: position tolerance")
        self.orientation_tolerance = positive(orientation_tolerance, f"{self.name}: orientation tolerance")
        self.priority = level(priority, f"{self.name}: priority")
        self.target = self.target_matrix(target)

    @abstractmethod
    def target_matrix(self, target: object) -> Array:
        """(4, 4) form of a target given in the task's own terms. Raises TaskError."""

    @property
    def weights(self) -> Array:
        """(6,) position rows first."""
        return np.concatenate((self.position_weights, self.orientation_weights))

    @abstractmethod
    def rows(self, T_root_tip: Array, target: Array) -> tuple[Array, Array]:
        """e (6,) and A (6, 6) in root axes (see the module's head); only rows of weighted parts need be filled."""

    def __repr__(self) -> str:
        return f"<{self.name}>"


def weights(value: object, what: str) -> Array:
    """(3,) weights from three numbers or one for all. Raises TaskError."""
    array = numbers(value, what)
    if array.shape == ():
        array = np.full(3, float(array))
    if array.shape != (3,):
        raise TaskError(f"{what} must be 3 numbers (or one for all), not {array.size}")
    if (array < 0).any():
        raise TaskError(f"{what} must not be negative: {array.tolist()}")
    array.flags.writeable = False
    return array


def level(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise TaskError(f"{what} must be a whole number of at least 1, not {value!r}")
    return int(value)


def positive(value: object, what: str) -> float:
    array = numbers(value, what)
    if array.shape != () or array <= 0:
        raise TaskError(f"{what} must be a positive number, not {value!r}")
    return float(array)


def numbers(value: object, what: str) -> Array:
    """Finite float64 array of any shape. Raises TaskError."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TaskError(f"{what} must be numbers, not {value!r}") from None
    if not np.isfinite(array).all():
        raise TaskError(f"{what} is not finite: {array.tolist()}")
    return array


def vector(value: object, what: str) -> Array:
    array = numbers(value, what)
    if array.shape != (3,):
        raise TaskError(f"{what} must be 3 numbers, not of shape {array.shape}")
    return array


def rotation(value: object, what: str) -> Array:
    array = numbers(value, what)
    if array.shape != (3, 3):
        raise TaskError(f"{what} must be a rotation matrix (3, 3), not of shape {array.shape}")
    if abs(array @ array.T - np.eye(3)).max() > 1e-6 or np.linalg.det(array) < 0:
        raise TaskError(f"{what} is not a rotation matrix")
    return array


def rigid(value: object, what: str) -> Array:
    array = numbers(value, what)
    if array.shape != (4, 4):
        raise TaskError(f"{what} must be a pose matrix (4, 4), not of shape {array.shape}")
    if abs(array[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-9:
        raise TaskError(f"{what} is not a rigid pose: its last row is {array[3].tolist()}, not 0 0 0 1")
    rotation(array[:3, :3], f"{what}: rotation part")
    return array


def to_tip_axes(e: Array, A: Array, R: Array) -> tuple[Array, Array]:
    """The same three rows in tip axes: d(R'e)/dt = R'(de/dt - w x e), hence A -> R'(A - [0 | e x])."""
    turned = A.copy()
    turned[:, 3:] -= hat(e)
    return R.T @ e, R.T @ turned
