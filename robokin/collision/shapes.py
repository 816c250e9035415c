"""Shapes that distances are known of. Sphere, capsule and cylinder are those of a link's geometry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, check_size, float_array, not_negative, shown
from ..errors import ModelError
from ..model import geometry
from ..model.geometry import Capsule, Cylinder, Sphere


@dataclass(frozen=True)
class Box(geometry.Box):
    """Centred box, rounded where `radius` is not 0: every point within `radius` [m] of the box of `size`."""

    radius: float = 0.0


@dataclass(frozen=True, eq=False)
class Hull:
    """Every point within `radius` [m] of the convex hull of `points`: (n, 3) [m], at least one.

    Raises ModelError for what is not such.
    """

    points: Array
    radius: float = 0.0

    def __post_init__(self) -> None:
        try:
            points = float_array(self.points)
        except ValueError:
            points = np.empty(0)
        if points.ndim != 2 or points.shape[1:] != (3,) or not len(points):
            raise ModelError(f"the points of a hull must be numbers of shape (n, 3), not {shown(self.points)}")
        check_size(points, "the points of a hull")
        points.flags.writeable = False
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "radius", not_negative(self.radius, "the radius of a hull"))


CollisionShape = geometry.Box | Capsule | Cylinder | Sphere | Hull

__all__ = ["Box", "Capsule", "CollisionShape", "Cylinder", "Hull", "Sphere"]
