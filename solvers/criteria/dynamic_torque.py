"""The least torque of the motion, moment by moment."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.backend import STANDARD_GRAVITY
from ...robokin.errors import TaskError
from ..fixed_arrays import cached_settings
from ..kinematics.state import State
from ..tasks.checks import numbers
from .base import Criterion
from .gravity_torque import check_efforts, checked_gravity, effort_scale

NONE = 1e-9  # singular values of the tasks' rows, relative to the largest: below, the rows do not see the motion


class DynamicTorque(Criterion):
    """1/2 sum of (tau_i / effort_i)^2, tau = M a + h(q, v of the last step) with a = (v - v of the last step) / dt.

    The local optimum of the torque lets the freedom that is left fall and whip, faster and faster (Hollerbach and
    Suh, "Redundancy resolution of manipulators through torque optimization", ICRA 1985). So the motions that the tasks
    of the first level do not see are damped: to tau counts M damping v of them, as if in a viscous fluid.
    damping: [1/s]; with 20 some arms under gravity still run away; 0 gives the undamped local optimum.
    gravity: (3,) [m/s^2] in the root frame.
    Efforts that have no limit: see `GravityTorque`. Raises TaskError, ConfigurationError; ModelError without masses.
    """

    @cached_settings
    def __init__(
        self, damping: float = 100.0, gravity: object = STANDARD_GRAVITY, weight: float = 1.0, name: str = ""
    ) -> None:
        super().__init__(weight, name)
        self.gravity = checked_gravity(gravity, self.name)
        rate = numbers(damping, f"{self.name}: damping")
        if rate.shape != () or rate < 0.0:
            raise TaskError(f"{self.name}: damping must be a number >= 0, not {shown(damping)}")
        self.damping = float(rate)

    def check(self, state: State) -> None:
        check_efforts(self, state, self.gravity)

    def quadratic(self, state: State) -> tuple[Array, Array]:
        M, effort = state.mass_matrix, effort_scale(state, self.gravity)
        damped = np.eye(state.model.nv) / state.dt
        if self.damping:
            damped += self.damping * _unseen(state)
        B = M @ damped / effort[:, None]
        rest = (state.bias(self.gravity) - M @ state.previous / state.dt) / effort
        return B.T @ B, B.T @ rest

    def value(self, state: State, v: Array) -> float:
        torque = self._torque(state, v)
        return 0.5 * float(torque @ torque)

    def slope(self, state: State, v: Array) -> Array:
        return self._torque(state, v) / effort_scale(state, self.gravity) @ state.mass_matrix / state.dt

    def _torque(self, state: State, v: Array) -> Array:
        """(nv,) over the effort, without the damping."""
        a = (v - state.previous) / state.dt
        return (state.mass_matrix @ a + state.bias(self.gravity)) / effort_scale(state, self.gravity)


def _unseen(state: State) -> Array:
    """(nv, nv) projector on the velocities that do not move the tasks, along those that move them least."""
    _, s, Vt = np.linalg.svd(state.task_rows)
    null = Vt[int((s > NONE * max(s.max(initial=0.0), 1e-300)).sum()) :]
    return state.scale[:, None] * (null.T @ null) / state.scale
