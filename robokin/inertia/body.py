"""The mass properties of a rigid body, in whatever frame it is described."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, frozen_array
from ..backend import get_backend
from ..errors import ModelError
from ..model.link import Link
from ..model.robot import RobotModel


@dataclass(frozen=True, eq=False)
class Body:
    """mass [kg]; com: (3,) [m]; inertia: (3, 3) [kg m^2] about the centre of mass, along the axes of the frame.

    A body of density 1 has its volume [m^3] for a mass: what is made from shapes and meshes comes so.
    """

    mass: float
    com: Array
    inertia: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "com", frozen_array(self.com, (3,), "center of mass"))
        object.__setattr__(self, "inertia", frozen_array(self.inertia, (3, 3), "inertia"))

    def times(self, density: float) -> Body:
        """The body with all its mass times `density` [kg/m^3 for a body of density 1]. Raises ModelError."""
        if not (np.isfinite(density) and density > 0.0):
            raise ModelError(f"the density must be a positive number of kg/m^3, not {density}")
        return Body(self.mass * density, self.com, self.inertia * density)

    def of_mass(self, mass: float) -> Body:
        """The body with the same distribution of another total mass [kg]. Raises ModelError."""
        if not (np.isfinite(mass) and mass > 0.0):
            raise ModelError(f"the mass must be a positive number of kilograms, not {mass}")
        if not self.mass > 0.0:
            raise ModelError("a body without volume cannot be given a mass")
        return Body(mass, self.com, self.inertia * (mass / self.mass))

    def moved(self, T: Array) -> Body:
        """The body in another frame: `T`, (4, 4) rigid, places the frame of this body in that one."""
        R = T[:3, :3]
        inertia = R @ self.inertia @ R.T
        return Body(self.mass, R @ self.com + T[:3, 3], (inertia + inertia.T) / 2.0)


def combined(bodies: Sequence[Body]) -> Body:
    """Several bodies, described in one frame, as one; no mass at all has its centre in the origin.

    Inertias are moved to the common centre of mass by the parallel axis theorem (Huygens-Steiner).
    """
    mass = float(sum(body.mass for body in bodies))
    if mass == 0.0:
        return Body(0.0, np.zeros(3), np.zeros((3, 3)))
    com = np.sum([body.mass * body.com for body in bodies], axis=0) / mass
    inertia = np.zeros((3, 3))
    for body in bodies:
        c = body.com - com
        inertia += body.inertia + body.mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    return Body(mass, com, inertia)


def link_body(link: Link) -> Body:
    """The mass properties of a link, in its frame."""
    return Body(link.mass, link.com, link.inertia)


def total_body(model: RobotModel, q: Array) -> Body:
    """The robot, stiff at q: mass, centre of mass and inertia about it, in the axes of the root frame.

    Raises ConfigurationError for a bad q.
    """
    placements = get_backend().frame_placements(model.tree, model.check_configuration(q)[None])[0]
    return combined([link_body(link).moved(T) for link, T in zip(model.links, placements, strict=True)])
