"""Linear constraints on the velocity of a differential step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array, float_array, list_of
from ...robokin.errors import TaskError
from ..qp.level import Level
from ..tasks.checks import numbers


@dataclass(frozen=True, eq=False)
class VelocityConstraint:
    """lower <= A v <= upper, all that the robot does included; equal sides say A v = c. A: (m, nv). sides: (m,).

    It comes before all tasks and after the limits; equations come before inequalities, else the first one wins.
    Raises TaskError.
    """

    A: Array
    lower: Array
    upper: Array
    name: str = "constraint"

    def __post_init__(self) -> None:
        A = np.atleast_2d(numbers(self.A, f"{self.name}: A"))
        object.__setattr__(self, "A", A)
        for side in ("lower", "upper"):
            try:
                array = float_array(getattr(self, side))
            except ValueError:
                array = np.array(np.nan)
            array = np.full(len(A), array) if array.ndim == 0 else array
            if array.shape != (len(A),) or np.isnan(array).any():
                raise TaskError(f"{self.name}: {side} must be {len(A)} numbers, one per row of A")
            object.__setattr__(self, side, array)
        if (self.lower > self.upper).any():
            raise TaskError(f"{self.name}: lower {self.lower.tolist()} is above upper {self.upper.tolist()}")


def checked_constraints(constraints: Sequence[VelocityConstraint]) -> tuple[VelocityConstraint, ...]:
    """Raises TaskError for what is not a list of constraints."""
    return list_of(constraints, VelocityConstraint, "VelocityConstraint", "constraints", TaskError)


def constraint_levels(
    constraints: Sequence[VelocityConstraint], scale: Array, dt: float
) -> tuple[list[tuple[str, Level]], list[tuple[str, Level]]]:
    """Equations and inequalities as rows of unit length over displacements (nv,), counted in `scale`, in `dt` seconds,
    with their names. Raises TaskError."""
    equations: list[tuple[str, Level]] = []
    inequalities: list[tuple[str, Level]] = []
    for constraint in constraints:
        if constraint.A.shape[1] != len(scale):
            raise TaskError(f"{constraint.name}: A must have {len(scale)} columns, not {constraint.A.shape[1]}")
        J = constraint.A * scale
        size = np.linalg.norm(J, axis=1)
        size[size == 0.0] = 1.0
        sides = [side * dt / size for side in (constraint.lower, constraint.upper)]
        equal = constraint.lower == constraint.upper
        for rows, into in ((equal, equations), (~equal, inequalities)):
            if rows.any():
                level = Level((J / size[:, None])[rows], *(side[rows] for side in sides))
                into.append((constraint.name, level))
    return equations, inequalities
