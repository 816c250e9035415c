"""How links and the centre of mass move with the joints."""

from __future__ import annotations

import numpy as np

from .backend import Reference, get_backend
from .errors import UnknownNameError
from .kinematics import require_mass
from .model import RobotModel

Array = np.ndarray

REFERENCES = {reference.name.lower(): reference for reference in Reference}


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
    q = model.check_configuration(q)
    frame = model.link_index(link)
    return get_backend(backend).frame_jacobian(model.tree, q, frame, REFERENCES[reference])


def center_of_mass_jacobian(model: RobotModel, q: Array, *, backend: str = "auto") -> Array:
    """(3, nv) velocity of the centre of mass in the root frame per unit of v.

    Raises ConfigurationError for a bad q, ModelError when no link has a mass.
    """
    q = model.check_configuration(q)
    require_mass(model)
    return get_backend(backend).center_of_mass_jacobian(model.tree, q)
