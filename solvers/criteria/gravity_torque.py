"""The least static torque against gravity."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import LEAST, MOST, Array
from ...robokin.backend import STANDARD_GRAVITY
from ...robokin.configuration import check_vector
from ...robokin.errors import ModelError
from ...robokin.kinematics import require_mass
from ..fixed_arrays import cached_settings
from ..kinematics.state import State
from .base import Criterion, CriterionKind, CriterionRecord, Potential


class GravityTorque(Potential):
    """V = 1/2 sum of (tau_i / effort_i)^2, tau = g(q) what holds the robot still.

    A joint without an effort limit counts as if it could hold the whole robot's weight at the length L, a sliding one
    at its tip. gravity: (3,) [m/s^2] in the root frame. (Bruyninckx, section 3, criterion 4.)
    Raises ConfigurationError for a bad gravity; ModelError when no link has a mass, and for an effort limit near 0.
    """

    @cached_settings
    def __init__(
        self, gravity: object = STANDARD_GRAVITY, weight: float = 1.0, gain: float = 1.0, name: str = ""
    ) -> None:
        super().__init__(weight, gain, name)
        self.gravity = checked_gravity(gravity, self.name)

    def check(self, state: State) -> None:
        check_efforts(self, state, self.gravity)

    def record(self, state: State) -> CriterionRecord:
        stiffness = effort_scale(state, self.gravity) ** -2.0
        metric = self.metric(state)
        return CriterionRecord(CriterionKind.GRAVITY_TORQUE, self.gain, metric, stiffness, gravity=self.gravity)

    def potential(self, state: State) -> float:
        torque = self._torque(state) / effort_scale(state, self.gravity)
        return 0.5 * float(torque @ torque)

    def gradient(self, state: State) -> Array:
        G = state.unit_twists.G
        slope = -(state.momenta_derivative @ self.gravity)
        return (self._torque(state) / effort_scale(state, self.gravity) ** 2) @ (G.T @ slope @ G)

    def _torque(self, state: State) -> Array:
        return -state.momenta @ self.gravity @ state.unit_twists.G


def effort_scale(state: State, gravity: Array) -> Array:
    """(nv,) [N m, N] that torques are counted in: the effort limit, else what holds the whole weight at L."""
    model = state.model
    strength = float(np.linalg.norm(gravity))
    whole = model.total_mass * (strength if strength > LEAST else 1.0) * state.length / state.scale
    return np.where(np.isfinite(model.effort), np.minimum(model.effort, MOST), whole)


def checked_gravity(gravity: object, name: str) -> Array:
    """(3,). Raises ConfigurationError."""
    checked = check_vector(gravity, 3, f"{name}: gravity")
    return checked


def check_efforts(criterion: Criterion, state: State, gravity: Array) -> None:
    """Raises ModelError when no link has a mass, and for a joint whose torque counts in more or less than can be
    squared."""
    require_mass(state.model)
    for joint in state.model.moving_joints:
        for effort in effort_scale(state, gravity)[state.model.slot(joint.name).v].tolist():
            if not LEAST <= effort <= MOST:
                raise ModelError(
                    f"{criterion.name}: joint {joint.name!r} counts its torque in {effort:g} N m, not in {LEAST:g} to "
                    f"{MOST:g}: mind its effort limit, and where it has none the mass and length of the robot"
                )
