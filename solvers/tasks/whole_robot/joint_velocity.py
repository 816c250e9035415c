"""Joints move at given velocities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from ....robokin.arrays import Array, shown
from ....robokin.errors import ConfigurationError, TaskError
from ....robokin.model.robot import RobotModel
from ...fixed_arrays import Checks, cached_settings, fixed
from ...kinematics.state import State
from ..base import Forms, Part, Rows
from ..checks import is_mapping, own_name, per_axis, positive, speeds
from ..protocols import Displacement, KernelRobotTask, VelocityTask
from ..robot_rows import rate_rows, sides_around, value_reader


class JointVelocityTask(VelocityTask, KernelRobotTask):
    """Joints move at given velocities. Parts: angular [rad/s], linear [m/s].

    target: {joint name: velocity, a list for several degrees of freedom}.   band: what does not count, one
    number for both or (angular [rad/s], linear [m/s]).
    Rows v_i = target. Raises UnknownNameError, ConfigurationError when it is first used.
    """

    kind: ClassVar[str] = "joint velocity"
    forms: ClassVar[Forms] = {"target": "joints", "band": "pair"}
    checks: ClassVar[Checks] = {**VelocityTask.checks, "weight": positive}

    @cached_settings
    def __init__(
        self,
        target: Mapping[str, object],
        weight: float = 1.0,
        angular_tolerance: float = 1e-5,
        linear_tolerance: float = 1e-5,
        band: object = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(own_name(name, type(self).__name__), priority, influence)
        self.weight = weight
        self.band = per_axis(band, f"{self.name}: band", 2)
        self.parts = (
            Part("angular", "rad/s", positive(angular_tolerance, f"{self.name}: angular tolerance")),
            Part("linear", "m/s", positive(linear_tolerance, f"{self.name}: linear tolerance")),
        )
        self._set_target(target)

    def checked_target(self, target: object) -> Mapping[str, Array]:
        if not (is_mapping(target) and target):
            raise TaskError(f"{self.name}: target must be {{joint name: velocity}}, not {shown(target)}")
        values = {joint: speeds(v, f"{self.name}: velocity of {joint!r}") for joint, v in target.items()}
        return fixed({joint: v.reshape(v.shape or 1) for joint, v in values.items()})

    def rows(self, state: State, target: Mapping[str, Array]) -> Rows:
        v, weight = self._wanted(state.model, target)
        part = state.is_length.astype(int)
        return Rows.wanted(np.eye(len(v)), v * state.dt, weight, part, self.band[part] * state.dt)

    def start_jacobian(self, moved: Displacement, target: Mapping[str, Array]) -> Array:
        return -self.rows(moved.start, target).J

    def robot_rows(self, model: RobotModel, target: Mapping[str, Array]) -> Array:
        return rate_rows(model, *self._wanted(model, target), self.band[model.is_length.astype(int)])

    def sides(
        self, model: RobotModel, rows: Array, target: Mapping[str, Array]
    ) -> Callable[[Any], tuple[Array, Array]]:
        read = value_reader(model, rows, target, lambda other: self._wanted(model, other)[0][rows["column"]])
        return sides_around(read, self.band[rows["residual"]])

    def _wanted(self, model: RobotModel, target: Mapping[str, Array]) -> tuple[Array, Array]:
        """v (nv,) and its weights."""
        v, weight = np.zeros(model.nv), np.zeros(model.nv)
        for joint, value in target.items():
            slot = self._slot(model, joint, value)
            v[slot], weight[slot] = value, self.weight * self.influence
        return v, weight

    def check(self, model: RobotModel) -> None:
        for joint, value in self.target.items():
            self._slot(model, joint, value)

    def _slot(self, model: RobotModel, joint: str, value: Array) -> slice:
        followed, slot = model.joint(joint).mimic, model.slot(joint).v
        if followed is not None:
            raise TaskError(f"{self.name}: joint {joint!r} follows {followed.joint!r}; name that one")
        if value.shape != (slot.stop - slot.start,) or not value.size:
            count = slot.stop - slot.start
            raise ConfigurationError(f"{self.name}: joint {joint!r} takes {count} velocities, not {value.size}")
        return slot
