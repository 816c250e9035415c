"""The least kinetic energy: the pseudo-inverse weighted with the mass matrix."""

from __future__ import annotations

from ...robokin.arrays import Array
from ...robokin.kinematics import require_mass
from ..fixed_arrays import cached_settings
from ..kinematics.state import State
from .base import CriterionKind, CriterionRecord, Velocity


class KineticEnergy(Velocity):
    """1/2 v'M(q)v over the robot's typical inertia (Bruyninckx, "Blender for robotics and robotics for Blender",
    Eq. 8-15). Alone, with a task t = Jv, it gives v = M^-1 J'(J M^-1 J')^-1 t. Raises ModelError without masses."""

    @cached_settings
    def __init__(self, weight: float = 1.0, name: str = "") -> None:
        super().__init__(weight, name)

    def check(self, state: State) -> None:
        require_mass(state.model)

    def record(self, state: State) -> CriterionRecord:
        return CriterionRecord(CriterionKind.KINETIC_ENERGY, 1.0 / (state.typical_inertia or 1.0))

    def matrix(self, state: State) -> Array:
        typical = state.typical_inertia
        return state.mass_matrix / typical if typical > 0.0 else state.mass_matrix
