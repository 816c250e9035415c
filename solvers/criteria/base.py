"""What every criterion has, and how several make one objective 1/2 v'Hv + g'v.

All is dimensionless: lengths are counted in the robot's length L, so that a weight says how much a criterion counts
against another one, whatever the robot. There are two families.

A velocity criterion costs 1/2 v'Hv. A potential V(q) is descended: alone it moves the robot with v = -k W^-1 grad V,
k its gain and W its measure of velocity; in company its weight holds v near that, so it never rushes to speed limits.
To add a criterion: one class with `value` and either `matrix` or `gradient`.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...robokin.arrays import Array, list_of
from ...robokin.errors import RobokinError, TaskError
from ..fixed_arrays import Checks, FixedArrays
from ..kinematics.state import State
from ..tasks.checks import none_or_positive, own_name, positive
from .largest_eigenvalue import LargestEigenvalue

SETTLING = 10.0  # time constants, after which what is descended is off by 5e-5 of what it was


class CriterionKind(enum.IntEnum):
    """What the kernel computes by itself; the values are those of `enum rk_criterion_kind` there."""

    LEAST_VELOCITY = 0  # 1/2 sum of metric (v - gain previous)^2
    SPRINGS = 1  # the potential 1/2 sum of stiffness (q - rest)^2 with its metric
    KINETIC_ENERGY = 2  # gain/2 v'Mv
    MANIPULABILITY = 3
    SMALLEST_SINGULAR_VALUE = 4
    GRAVITY_TORQUE = 5  # the potential 1/2 sum of stiffness tau^2


@dataclass(frozen=True, eq=False)
class CriterionRecord:
    """A criterion of one robot as the kernel takes it, before its weight. metric, stiffness: (nv,).   rest: (nq,);
    rotations of balls and floating joints count by their rotation vector from there.   gravity: (3,).   rank: how many
    singular values are not always 0."""

    kind: CriterionKind
    gain: float = 1.0
    metric: Array | None = None
    stiffness: Array | None = None
    rest: Array | None = None
    gravity: Array | None = None
    rank: int = 0


class Criterion(FixedArrays, ABC):
    """weight: how much it counts against the others; 0 leaves it out, but for its cost.   name: how reports call it.
    Set again may be what it has until a problem is made of it (`fixed_arrays.py`). Raises TaskError."""

    weight: float
    checks: ClassVar[Checks] = {"weight": none_or_positive}

    def __init__(self, weight: float, name: str) -> None:
        name = own_name(name, type(self).__name__)
        self._keep(name=name, weight=none_or_positive(weight, f"{name}: weight"))

    def check(self, state: State) -> None:
        """Raises a RobokinError when the robot has not what the criterion needs."""

    def fits(self, state: State) -> bool:
        """Whether the robot has what the criterion needs. Raises a RobokinError where it has not, but for weight 0."""
        try:
            self.check(state)
        except RobokinError:
            if self.weight:
                raise
            return False
        return True

    def record(self, state: State) -> CriterionRecord | None:
        """What the kernel computes the criterion from, at any state of the robot; None when `quadratic` and `value` are
        asked at each step."""
        return None

    @abstractmethod
    def quadratic(self, state: State) -> tuple[Array, Array]:
        """H (nv, nv) and g (nv,) of 1/2 v'Hv + g'v, before the weight."""

    @abstractmethod
    def value(self, state: State, v: Array) -> float:
        """What is to be small, at q and v (nv,), before the weight."""

    def slope(self, state: State, v: Array) -> Array:
        """(nv,) the gradient of `value`: with v; of a potential with the displacement of the degrees of freedom."""
        H, g = self.quadratic(state)
        return H @ v + g

    def __repr__(self) -> str:
        return f"<{self.name}, weight {self.weight:g}>"


class Velocity(Criterion):
    """A criterion on v alone: 1/2 v'Hv."""

    @abstractmethod
    def matrix(self, state: State) -> Array:
        """H (nv, nv), positive semidefinite."""

    def quadratic(self, state: State) -> tuple[Array, Array]:
        return self.matrix(state), np.zeros(state.model.nv)

    def value(self, state: State, v: Array) -> float:
        return 0.5 * float(v @ self.matrix(state) @ v)


class Potential(Criterion):
    """A criterion on q: descended with v = -gain W^-1 grad V.   gain: [1/s]."""

    checks: ClassVar[Checks] = {**Criterion.checks, "gain": positive}

    def __init__(self, weight: float, gain: float, name: str) -> None:
        super().__init__(weight, name)
        self.gain = gain

    @abstractmethod
    def potential(self, state: State) -> float:
        """V(q)."""

    @abstractmethod
    def gradient(self, state: State) -> Array:
        """(nv,) dV = gradient . dx for a displacement dx of the degrees of freedom."""

    def largest_eigenvalue(self, state: State) -> LargestEigenvalue | None:
        """What V is the largest eigenvalue of; None of a smooth potential."""
        return None

    def metric(self, state: State) -> Array:
        """(nv,) the diagonal of W, positive; lengths count in L unless a potential has a measure of its own."""
        return state.scale**-2.0

    def quadratic(self, state: State) -> tuple[Array, Array]:
        return np.diag(self.metric(state)), self.gain * self.gradient(state)

    def value(self, state: State, v: Array) -> float:
        return self.potential(state)

    def slope(self, state: State, v: Array) -> Array:
        return self.gradient(state)


def combine(criteria: Sequence[Criterion], state: State) -> tuple[Array, Array]:
    """H (nv, nv), positive semidefinite, and g (nv,) of the weighted sum."""
    nv = state.model.nv
    H, g = np.zeros((nv, nv)), np.zeros(nv)
    for criterion in criteria:
        own_H, own_g = criterion.quadratic(state)
        H += criterion.weight * own_H
        g += criterion.weight * own_g
    return H, g


def time_to_optimum(criteria: Sequence[Criterion]) -> float:
    """[s] in which each potential alone is descended: so many time constants of the slowest, and seconds at least.
    Without one there is nowhere to go."""
    gains = [each.gain for each in criteria if isinstance(each, Potential)]
    return SETTLING / min([1.0, *gains]) if gains else 0.0


def criterion_names(criteria: Sequence[Criterion]) -> list[str]:
    """How reports call each: by its name, with a number where another one before it has the same."""
    names: list[str] = []
    for criterion in criteria:
        name, count = criterion.name, 1
        while name in names:
            count += 1
            name = f"{criterion.name} {count}"
        names.append(name)
    return names


def costs(criteria: Sequence[Criterion], state: State, v: Array) -> dict[str, float]:
    """The value of each at a state and v (nv,), by its name."""
    values = [float(each.value(state, v)) for each in criteria]
    return dict(zip(criterion_names(criteria), values, strict=True))


def checked_criteria(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Raises TaskError for what is not a list of criteria."""
    return list_of(criteria, Criterion, "criterion", "criteria", TaskError)  # type: ignore[type-abstract]
