"""Linear rows on the velocities, given by the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from ....robokin.arrays import Array
from ....robokin.errors import TaskError
from ....robokin.model.robot import RobotModel
from ...fixed_arrays import Checks, cached_settings
from ...kinematics.state import State
from ..base import Forms, Part, Rows
from ..checks import axis_weights, numbers, own_name, per_axis, positive
from ..protocols import KernelRobotTask, VelocityTask
from ..robot_rows import sum_rows
from .factors import Factors


def _matrix(A: object, what: str) -> Array:
    matrix = np.atleast_2d(numbers(A, what))
    if matrix.ndim != 2:
        raise TaskError(f"{what} must be of shape (rows, nv), not {matrix.shape}")
    return matrix


def _law(A: Any, what: str) -> Any:
    """A in one of its forms, checked as far as can be done without a robot."""
    if callable(A):
        return A
    if isinstance(A, Factors):
        return A
    return Factors(A, what.removesuffix(": A")) if isinstance(A, Mapping) else _matrix(A, what)


class LinearVelocityTask(VelocityTask, KernelRobotTask):
    """A(q) v = c, at the task's level. Part: rate [1/s].

    A: (m, nv); a function of q (nq,) that returns it; or one row as {joint: factor}, a list for a joint with several
    degrees of freedom. A factor may be an expression of the joints' values: {"x": 1, "y": "0.3 * cos(elbow)"}.
    target: c, (m,) or one for all.   weights: (m,) or one for all.   band: alike, what does not count, in the units of
    c.
    A `VelocityConstraint` says the same of one step, before all tasks. Raises TaskError; of names of joints,
    UnknownNameError, when it is first used.
    """

    kind: ClassVar[str] = "linear velocity"
    forms: ClassVar[Forms] = {"A": "joints", "target": "number", "weights": "number", "band": "number"}
    checks: ClassVar[Checks] = {**VelocityTask.checks, "A": _law}

    @cached_settings
    def __init__(
        self,
        A: object | Callable[[Array], object] | Mapping[str, object],
        target: object = 0.0,
        weights: object = 1.0,
        tolerance: float = 1e-5,
        band: object = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(own_name(name, type(self).__name__), priority, influence)
        self.A: Any = A
        self.weights, self.band = weights, band
        self.parts = (Part("rate", "1/s", positive(tolerance, f"{self.name}: tolerance")),)
        self._set_target(target)

    def checked_target(self, target: object) -> Array:
        return numbers(target, f"{self.name}: target")

    def rows(self, state: State, target: Array) -> Rows:
        A = self.rates(state.model)
        if A is None and isinstance(self.A, Factors):
            A = self.A.row(state.model, state.q)
        elif A is None:
            A = self._of(state.model, _matrix(self.A(state.q.copy()), f"{self.name}: A"))
        c, weight, band = self._wanted(len(A), target)
        return Rows.wanted(A, c * state.dt, weight, 0, band * state.dt)

    def robot_rows(self, model: RobotModel, target: Array) -> Array | None:
        A = self.rates(model)
        return None if A is None else sum_rows(*self._wanted(len(A), target))

    def rates(self, model: RobotModel) -> Array | None:
        if callable(self.A):
            return None
        if isinstance(self.A, Factors):
            return self.A.row(model, model.neutral()) if self.A.is_constant else None
        return self._of(model, self.A)

    def check(self, model: RobotModel) -> None:
        self.rates(model)
        if isinstance(self.A, Factors):
            self.A.check(model)

    def _of(self, model: RobotModel, A: Array) -> Array:
        if A.shape[1] != model.nv:
            raise TaskError(f"{self.name}: A must have {model.nv} columns, not {A.shape[1]}")
        return A

    def _wanted(self, m: int, target: Array) -> tuple[Array, Array, Array]:
        """(m,) c, weights and bands."""
        if target.shape not in ((), (m,)):
            raise TaskError(f"{self.name}: target must be {m} numbers, one per row of A, not {target.size}")
        weight = self.influence * axis_weights(self.weights, f"{self.name}: weights", m)
        return np.broadcast_to(target, (m,)), weight, per_axis(self.band, f"{self.name}: band", m)
