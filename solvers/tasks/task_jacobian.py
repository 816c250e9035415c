"""What tasks see of a robot's velocity, and how that changes as the robot moves: for criteria on how well it can."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...robokin.arrays import Array
from ..kinematics.state import State


class TaskJacobian(NamedTuple):
    """J: (m, nv), lengths over L.   derivative: gives that of J, (m, nv, nv), [row, column, along]."""

    J: Array
    derivative: Callable[[], Array]

    def picked(self, S: Array) -> TaskJacobian:
        """The rows S J, S (k, m) constant."""
        return TaskJacobian(S @ self.J, lambda: np.tensordot(S, self.derivative(), 1))

    def in_axes(self, R: Array, w: Array) -> TaskJacobian:
        """Threes of rows that are in root axes, expressed in the axes R (3, 3), which turn with w (3, nv)."""
        (m, nv), into = self.J.shape, np.kron(np.eye(len(self.J) // 3), R.T)

        def derivative() -> Array:
            spun = np.cross(w.T[:, None, None], self.J.T.reshape(nv, m // 3, 3))  # [along, column, three, axis]
            return np.tensordot(into, self.derivative() - spun.reshape(nv, nv, m).T, 1)

        return TaskJacobian(into @ self.J, derivative)

    def less(self, other: TaskJacobian) -> TaskJacobian:
        return TaskJacobian(self.J - other.J, lambda: self.derivative() - other.derivative())


def point_task_jacobian(state: State, link: str, point: Array) -> TaskJacobian:
    """Six rows: the velocity of the link's point that is at `point` (3,), and its angular velocity, in root axes."""
    size = np.repeat((1.0 / state.length, 1.0), 3)
    J = size[:, None] * state.jacobian(link, point)
    return TaskJacobian(J, lambda: size[:, None, None] * state.jacobian_derivative(link, point))
