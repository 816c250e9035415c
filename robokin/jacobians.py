"""How links and the centre of mass move with the joints."""

from __future__ import annotations

import numpy as np

from .arrays import Array
from .backend import Reference, get_backend
from .errors import ConfigurationError, UnknownNameError
from .kinematics import forward_kinematics, require_mass
from .model.robot import RobotModel, checked_model
from .spatial import so3

REFERENCES = {reference.name.lower(): reference for reference in Reference}

UPRIGHT = 1e-8  # cosine of the pitch below which roll and yaw, and their rates, are rounding errors


def frame_jacobian(
    model: RobotModel, q: Array, link: str, reference: str = "local_world_aligned", *, backend: str = "auto"
) -> Array:
    """(6, nv) geometric Jacobian of a link: its twist per unit of v, linear rows [m/s] first, then angular [rad/s].

    `reference`: "local_world_aligned": velocity of the link's origin, in the axes of the root frame; "local": the
    same in the link's own axes; "world": velocity of the body point at the origin of the root frame, in its axes
    (the spatial twist). Mimic joints add to the columns of the joint they follow.
    Raises ConfigurationError for a bad q, UnknownNameError for a wrong link or reference.
    """
    if not isinstance(reference, str) or reference not in REFERENCES:
        raise UnknownNameError("reference", reference, REFERENCES)
    q = checked_model(model).check_configuration(q)
    frame = model.link_index(link)
    return get_backend(backend).frame_jacobian(model.tree, q, frame, REFERENCES[reference])


def space_jacobian(model: RobotModel, q: Array, link: str, *, backend: str = "auto") -> Array:
    """(6, nv) Jacobian of a link's spatial twist [v; w], with hat(J v) = dT/dt T^-1, T = T_root_link: its columns are
    the joints' screws at q in the root frame. The same as the "world" `frame_jacobian`.

    Texts that put the angular part first (Lynch and Park, "Modern robotics", 2017, Eq. 5.11) have these rows as
    3, 4, 5, 0, 1, 2. Raises ConfigurationError for a bad q, UnknownNameError for a wrong link.
    """
    return frame_jacobian(model, q, link, "world", backend=backend)


def body_jacobian(model: RobotModel, q: Array, link: str, *, backend: str = "auto") -> Array:
    """(6, nv) Jacobian of a link's body twist [v; w], with hat(J v) = T^-1 dT/dt, T = T_root_link; equal to
    adjoint(T^-1) @ space_jacobian (Lynch and Park 2017, Eq. 5.18, 5.22). The same as the "local" `frame_jacobian`.

    Raises ConfigurationError for a bad q, UnknownNameError for a wrong link.
    """
    return frame_jacobian(model, q, link, "local", backend=backend)


def rpy_jacobian(model: RobotModel, q: Array, link: str, *, backend: str = "auto") -> Array:
    """(6, nv) analytic Jacobian d[x, y, z, roll, pitch, yaw]/dt per unit of v, of a link's placement in the root
    frame [m, rad], R = Rz(yaw) Ry(pitch) Rx(roll).

    Raises ConfigurationError for a bad q, and where the pitch is +-90 degrees: roll and yaw turn about one axis
    there and have no rates. Near it the rates grow as 1 / cos(pitch). Raises UnknownNameError for a wrong link.
    """
    R = forward_kinematics(model, q, backend=backend)[link][:3, :3]
    rates = rpy_rates(R, frame_jacobian(model, q, link, backend=backend))
    if rates is None:
        pitch = np.degrees(so3.to_rpy(R)[1])
        raise ConfigurationError(f"the pitch of {link!r} is {pitch:+.0f} degrees: roll and yaw have no rates there")
    return rates


def rpy_rates(R: Array, J: Array) -> Array | None:
    """(6, nv) rates of x, y, z, roll, pitch, yaw of a frame turned by R (3, 3), from its Jacobian (6, nv) in root axes.
    None where the pitch is +-90 degrees."""
    if np.hypot(R[0, 0], R[1, 0]) < UPRIGHT:
        return None
    _, pitch, yaw = so3.to_rpy(R)
    # w = Rz(yaw) (0, pitch', 0) + Rz(yaw) Ry(pitch) (roll', 0, 0) + (0, 0, yaw'), solved for the rates.
    x = np.cos(yaw) * J[3] + np.sin(yaw) * J[4]
    y = np.cos(yaw) * J[4] - np.sin(yaw) * J[3]
    return np.vstack((J[:3], x / np.cos(pitch), y, J[5] + np.tan(pitch) * x))


def center_of_mass_jacobian(model: RobotModel, q: Array, *, backend: str = "auto") -> Array:
    """(3, nv) velocity of the centre of mass in the root frame per unit of v.

    Raises ConfigurationError for a bad q, ModelError when no link has a mass.
    """
    q = checked_model(model).check_configuration(q)
    require_mass(model)
    return get_backend(backend).center_of_mass_jacobian(model.tree, q)


def rolling_constraints(model: RobotModel, q: object) -> Array:
    """(3 per wheeled base, nv) A with A v = 0 when nothing slips: `RollingBase.rows`. Raises ConfigurationError."""
    q = model.check_configuration(q)
    rows = np.zeros((3 * len(model.rolling_bases), model.nv))
    for i, base in enumerate(model.rolling_bases):
        rows[3 * i : 3 * i + 3, base.columns] = base.rows(float(q[base.q + 2]))
    return rows
