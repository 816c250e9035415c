"""Linear rows on the velocities, given by the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...robokin.errors import TaskError
from .base import Part, Rows, Task
from .checks import axis_weights, numbers, per_axis, positive

if TYPE_CHECKING:
    from ..state import State

Array = np.ndarray


class LinearVelocityTask(Task):
    """A(q) v = c, at the task's level. Part: rate [1/s].

    A: (m, nv), or a function of q (nq,) that returns it.   target: c, (m,) or one for all.   weights: (m,) or one for
    all.   band: alike, what does not count, in the units of c.
    A `VelocityConstraint` says the same of one step, before all tasks.
    """

    kind: ClassVar[str] = "linear velocity"
    is_velocity: ClassVar[bool] = True

    def __init__(
        self,
        A: object | Callable[[Array], object],
        target: object = 0.0,
        weights: object = 1.0,
        tolerance: float = 1e-5,
        band: object = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(name or type(self).__name__, priority, influence)
        self.A = A if callable(A) else self._matrix(A)
        self.weights, self.band = weights, band
        self.parts = (Part("rate", "1/s", positive(tolerance, f"{self.name}: tolerance")),)
        self.target = self.checked_target(target)

    def checked_target(self, target: object) -> Array:
        return numbers(target, f"{self.name}: target")

    def rows(self, state: State, target: Array) -> Rows:
        A = self._matrix(self.A(state.q.copy())) if callable(self.A) else self.A
        m, nv = A.shape
        if nv != state.model.nv:
            raise TaskError(f"{self.name}: A must have {state.model.nv} columns, not {nv}")
        if target.shape not in ((), (m,)):
            raise TaskError(f"{self.name}: target must be {m} numbers, one per row of A, not {target.size}")
        weight = self.influence * axis_weights(self.weights, f"{self.name}: weights", m)
        band = per_axis(self.band, f"{self.name}: band", m) * state.dt
        return Rows.wanted(A, np.broadcast_to(target, (m,)) * state.dt, weight, 0, band)

    def _matrix(self, value: object) -> Array:
        A = np.atleast_2d(numbers(value, f"{self.name}: A"))
        if A.ndim != 2:
            raise TaskError(f"{self.name}: A must be of shape (rows, nv), not {A.shape}")
        return A
