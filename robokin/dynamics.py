"""Rigid-body dynamics: M(q) a + C(q, v) v + g(q) = tau.

Forces are those of the rigid links alone; joint friction, damping and rotor inertia are not in them.
`gravity` (3,) [m/s^2] is given in the root frame.
"""

from __future__ import annotations

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
