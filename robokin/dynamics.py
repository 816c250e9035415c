"""Rigid-body dynamics: M(q) a + C(q, v) v + g(q) = tau.

Forces are those of the rigid links alone, except in `drive_effort`, which adds the drives' own.
`gravity` (3,) [m/s^2] is given in the root frame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Array
from .backend import STANDARD_GRAVITY, get_backend
from .configuration import check_tangent, check_vector
from .model.robot import RobotModel, checked_model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def mass_matrix(model: RobotModel, q: Array, *, backend: str = "auto") -> Array:
    """(nv, nv) joint-space inertia M(q), symmetric (composite rigid bodies, Featherstone 2008, section 6.2).

    Raises ConfigurationError for a bad q.
    """
    return get_backend(backend).mass_matrix(checked_model(model).tree, model.check_configuration(q))


def inverse_dynamics(
    model: RobotModel, q: Array, v: Array, a: Array, gravity: ArrayLike = STANDARD_GRAVITY, *, backend: str = "auto"
) -> Array:
    """(nv,) generalised force that gives acceleration a at (q, v) (Newton-Euler, Featherstone 2008, section 5.3).

    Raises ConfigurationError for a bad q, v, a or gravity.
    """
    q = checked_model(model).check_configuration(q)
    v, a = check_tangent(model, v, "v"), check_tangent(model, a, "a")
    return get_backend(backend).inverse_dynamics(model.tree, q, v, a, check_vector(gravity, 3, "gravity"))


def gravity_torque(
    model: RobotModel, q: Array, gravity: ArrayLike = STANDARD_GRAVITY, *, backend: str = "auto"
) -> Array:
    """(nv,) generalised force g(q) that holds the robot still. Raises ConfigurationError for a bad q or gravity."""
    return bias_torque(model, q, np.zeros(checked_model(model).nv), gravity, backend=backend)


def bias_torque(
    model: RobotModel, q: Array, v: Array, gravity: ArrayLike = STANDARD_GRAVITY, *, backend: str = "auto"
) -> Array:
    """(nv,) C(q, v) v + g(q), the force at a = 0. Raises ConfigurationError for a bad q, v or gravity."""
    return inverse_dynamics(model, q, v, np.zeros(checked_model(model).nv), gravity, backend=backend)


@dataclass(frozen=True)
class Drives:
    """What the drives of a robot add to its links, as seen by each velocity; mimic joints are in those they follow.

    rotor_inertia: (nv,) [kg m^2 or kg], with the square of the gear ratio in it.   damping: (nv,) [N m s/rad or N s/m].
    friction: (nv,) [N m or N], dry.   spring: (nv,) [N m/rad or N/m], and wound: (nv,) [N m or N] what it pulls with at
    q = 0. Joints with one degree of freedom and a rest position have springs: their stiffness.   coordinate: (nv,)
    index in q of what a spring stretches.   slack: [J] their energy at q = 0.
    """

    rotor_inertia: Array
    damping: Array
    friction: Array
    spring: Array
    wound: Array
    coordinate: Array
    slack: float = 0.0

    @classmethod
    def of(cls, model: RobotModel) -> Drives:
        nv, slack = checked_model(model).nv, 0.0
        zero = np.zeros((5, nv))
        found = cls(zero[0], zero[1], zero[2], zero[3], zero[4], np.zeros(nv, int))
        for joint, slot in zip(model.joints, model.slots, strict=True):
            if joint.nv:
                ratio, offset = model.mimic_map(joint.name)
                found.rotor_inertia[slot.v] += ratio**2 * joint.rotor_inertia
                found.damping[slot.v] += ratio**2 * joint.damping
                found.friction[slot.v] += abs(ratio) * joint.friction
            if joint.nv == 1 and joint.rest_position is not None:
                found.coordinate[slot.v] = slot.q.start
                found.spring[slot.v] += ratio**2 * joint.stiffness
                found.wound[slot.v] += ratio * joint.stiffness * (joint.rest_position - offset)
                slack += 0.5 * joint.stiffness * (joint.rest_position - offset) ** 2
        return replace(found, slack=slack)

    def effort(self, q: Array, v: Array, a: Array) -> Array:
        """(..., nv) what it takes to hold and move them at q (..., nq), v and a (..., nv). Dry friction acts against
        what moves; a joint that stands still has none here."""
        return self.spring_effort(q) + self.rates_effort(v, a)

    def rates_effort(self, v: Array, a: Array) -> Array:
        """(..., nv) without springs."""
        return self.rotor_inertia * a + self.damping * v + self.friction * np.sign(v)

    def spring_effort(self, q: Array) -> Array:
        """(..., nv) what holds the springs."""
        return self.spring * q[..., self.coordinate] - self.wound if self.spring.any() else np.zeros(len(self.spring))

    def spring_energy(self, q: Array) -> Array:
        """(...) [J] in the springs."""
        x = q[..., self.coordinate]
        return (0.5 * self.spring * x * x - self.wound * x).sum(axis=-1) + self.slack


def drive_effort(
    model: RobotModel, q: Array, v: Array, a: Array, gravity: ArrayLike = STANDARD_GRAVITY, *, backend: str = "auto"
) -> Array:
    """(nv,) [N m or N] what the drives give: `inverse_dynamics`, rotor inertia, damping, dry friction and springs.

    Rotors count as inertia about their joint alone (Featherstone 2008, section 9.6, without gyroscopic effects).
    Raises ConfigurationError for a bad q, v, a or gravity.
    """
    of_links = inverse_dynamics(model, q, v, a, gravity, backend=backend)
    q, v, a = model.check_configuration(q), check_tangent(model, v, "v"), check_tangent(model, a, "a")
    return of_links + Drives.of(model).effort(q, v, a)
