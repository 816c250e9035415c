"""Springs that hold the joints away from their limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.errors import ConfigurationError, TaskError
from ...robokin.model.robot import Joint, RobotModel
from ..fixed_arrays import Checks, cached_settings
from ..kinematics.state import State
from ..limits.viability import dof_coordinates
from ..tasks.checks import numbers
from .base import CriterionKind, CriterionRecord, Potential

NARROW = 1e-3  # of a radian or L: half ranges count as at least this


@dataclass(frozen=True, eq=False)
class _Springs:
    """Springs of one robot with the length L. coordinate: (nv,) index in q.   stiffness, rest,
    half: (nv,); 0: no spring."""

    of: tuple[RobotModel, float, Mapping[str, float], Mapping[str, float]]
    coordinate: Array
    stiffness: Array
    rest: Array
    half: Array


def _by_joint(given: object, what: str) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TaskError(f"{what} must be {{joint name: number}}, not {shown(given)}")
    return dict(given)


class JointSprings(Potential):
    """V = 1/2 sum of k_i ((q_i - q0_i) / h_i)^2, h_i half the joint's range (pi or L where it has none).

    Alone it moves each joint with v_i = -gain k_i (q_i - q0_i), whatever its range.
    stiffness, equilibrium: k and q0 by joint name, in place of the robot's own `stiffness` and `rest_position`, of
    which the latter is mid-range unless set. Joints with neither a range nor an equilibrium, and the rotations of
    ball and floating joints, have no spring. (Bruyninckx, section 3, criterion 1.)
    Raises UnknownNameError, TaskError when the criterion is first used.
    """

    stiffness: Mapping[str, float]
    equilibrium: Mapping[str, float]
    checks: ClassVar[Checks] = {**Potential.checks, "stiffness": _by_joint, "equilibrium": _by_joint}

    @cached_settings
    def __init__(
        self,
        stiffness: Mapping[str, float] | None = None,
        equilibrium: Mapping[str, float] | None = None,
        weight: float = 1.0,
        gain: float = 1.0,
        name: str = "",
    ) -> None:
        super().__init__(weight, gain, name)
        self.stiffness, self.equilibrium = stiffness, equilibrium  # type: ignore[assignment]
        self._fitted: _Springs | None = None

    def check(self, state: State) -> None:
        self._fit(state)

    def record(self, state: State) -> CriterionRecord:
        springs = self._fit(state)
        rest = state.model.neutral()
        stretched = springs.stiffness > 0.0
        rest[springs.coordinate[stretched]] = springs.rest[stretched]
        metric = self.metric(state)
        return CriterionRecord(CriterionKind.SPRINGS, self.gain, metric, springs.stiffness * metric, rest)

    def potential(self, state: State) -> float:
        return 0.5 * float(self._fit(state).stiffness @ self._stretch(state) ** 2)

    def gradient(self, state: State) -> Array:
        springs = self._fit(state)
        return springs.stiffness * self._stretch(state) / springs.half

    def metric(self, state: State) -> Array:
        return self._fit(state).half ** -2.0

    def _stretch(self, state: State) -> Array:
        """(nv,) distance from the equilibrium in half ranges."""
        springs = self._fit(state)
        return np.where(springs.stiffness > 0.0, state.q[springs.coordinate] - springs.rest, 0.0) / springs.half

    def _fit(self, state: State) -> _Springs:
        """The springs of the state's robot; kept for as long as they are the same."""
        fitted = self._fitted
        if fitted is None or fitted.of != (state.model, state.length, self.stiffness, self.equilibrium):
            self._fitted = fitted = self._springs(state)
        return fitted

    def _springs(self, state: State) -> _Springs:
        model = state.model
        for name in (*self.stiffness, *self.equilibrium):
            if not model.joint(name).nv or model.joint(name).mimic is not None:
                raise TaskError(f"{self.name}: joint {name!r} has no coordinate of its own")
        coordinate = dof_coordinates(model)
        stiffness, equilibrium = np.zeros(model.nv), np.zeros(model.nv)
        half = np.where(state.is_length, state.length, np.pi)
        for joint in model.moving_joints:
            own = model.slot(joint.name).v
            dofs = np.arange(own.start, own.stop)[coordinate[own] >= 0]
            at = coordinate[dofs]
            lower, upper = model.lower[at], model.upper[at]
            bounded = np.isfinite(lower) & np.isfinite(upper) & (lower < upper)
            rest = self._rest(joint, len(dofs))
            with np.errstate(invalid="ignore"):
                rest = np.where(np.isnan(rest), np.where(bounded, 0.5 * lower + 0.5 * upper, np.nan), rest)
            half[dofs[bounded]] = np.maximum(0.5 * upper - 0.5 * lower, NARROW * state.scale[dofs])[bounded]
            stiffness[dofs] = np.where(np.isnan(rest), 0.0, self._stiffness(joint))
            equilibrium[dofs] = np.nan_to_num(rest)
        of = model, state.length, self.stiffness, self.equilibrium
        return _Springs(of, coordinate, stiffness, equilibrium, half)

    def _stiffness(self, joint: Joint) -> float:
        value = numbers(self.stiffness.get(joint.name, joint.stiffness), f"{self.name}: stiffness of {joint.name!r}")
        if value.shape != () or value < 0.0:
            raise TaskError(f"{self.name}: stiffness of joint {joint.name!r} must be a number >= 0, not {value}")
        return float(value)

    def _rest(self, joint: Joint, count: int) -> Array:
        """(count,) equilibrium of a joint's plain coordinates, NaN for mid-range."""
        value = self.equilibrium.get(joint.name, joint.rest_position)
        if value is None:
            return np.full(count, np.nan)
        values = np.atleast_1d(numbers(value, f"{self.name}: equilibrium of {joint.name!r}"))
        if values.shape not in ((1,), (count,)):
            raise ConfigurationError(f"{self.name}: joint {joint.name!r} takes {count} equilibrium values")
        return np.broadcast_to(values, (count,))
