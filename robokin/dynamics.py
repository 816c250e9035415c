"""Rigid-body dynamics: M(q) a + C(q, v) v + g(q) = tau.

Forces are those of the rigid links alone, except in `drive_effort`, which adds the drives' own.
`gravity` (3,) [m/s^2] is given in the root frame.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    friction: (nv,) [N m or N], dry.
    """

    rotor_inertia: Array
    damping: Array
    friction: Array

    @classmethod
    def of(cls, model: RobotModel) -> Drives:
        found = cls(*np.zeros((3, checked_model(model).nv)))
        for joint, slot in zip(model.joints, model.slots, strict=True):
            if joint.nv:
                ratio = model.mimic_map(joint.name)[0]
                found.rotor_inertia[slot.v] += ratio**2 * joint.rotor_inertia
                found.damping[slot.v] += ratio**2 * joint.damping
                found.friction[slot.v] += abs(ratio) * joint.friction
        return found

    def effort(self, v: Array, a: Array) -> Array:
        """(..., nv) what it takes to move them at v and a (..., nv). Dry friction acts against what moves; a joint that
        stands still has none here."""
        return self.rotor_inertia * a + self.damping * v + self.friction * np.sign(v)


def drive_effort(
    model: RobotModel, q: Array, v: Array, a: Array, gravity: ArrayLike = STANDARD_GRAVITY, *, backend: str = "auto"
) -> Array:
    """(nv,) [N m or N] what the drives give: `inverse_dynamics`, rotor inertia, damping and dry friction.

    Rotors count as inertia about their joint alone (Featherstone 2008, section 9.6, without gyroscopic effects).
    Raises ConfigurationError for a bad q, v, a or gravity.
    """
    of_links = inverse_dynamics(model, q, v, a, gravity, backend=backend)
    return of_links + Drives.of(model).effort(check_tangent(model, v, "v"), check_tangent(model, a, "a"))
