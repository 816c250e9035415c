"""A link: a rigid body with its mass and its looks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array, frozen_array, not_negative, shown, text
from ..errors import ModelError
from .geometry import Geometry


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body. mass; com: (3,) [m] in the link frame; inertia: (3, 3) [kg m^2] about the centre of mass,
    in the axes of the link frame."""

    name: str
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()

    def __post_init__(self) -> None:
        who = f"link {shown(self.name)}"
        text(self.name, "the name of a link")
        put = object.__setattr__
        put(self, "mass", not_negative(self.mass, f"{who}: mass"))
        put(self, "com", frozen_array(self.com, (3,), f"{who}: center of mass"))
        inertia = frozen_array(self.inertia, (3, 3), f"{who}: inertia")
        if not (np.isfinite(self.com).all() and np.isfinite(inertia).all()):
            raise ModelError(f"{who}: center of mass and inertia must be finite")
        if abs(inertia - inertia.T).max() > 1e-9 * max(1.0, float(abs(inertia).max())):
            raise ModelError(f"{who}: inertia matrix is not symmetric")
        put(self, "inertia", inertia)
