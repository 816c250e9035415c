"""The distance of two convex shapes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, check_size, frozen_placement
from ..errors import ModelError
from .core import core
from .pairs import distances
from .reference.distances import FAILED
from .shapes import CollisionShape


@dataclass(frozen=True, eq=False)
class Distance:
    """value [m]: how far two shapes are from each other; negative where they meet: by how much
    one has to move to be free.

    point_a, point_b: (3,) [m] in the world, on the surface of either where they are nearest or deepest. normal: (3,)
    the unit vector along which the second moves away from the first. point_b - point_a = value normal.
    """

    value: float
    point_a: Array
    point_b: Array
    normal: Array


def distance(
    a: CollisionShape, T_world_a: object, b: CollisionShape, T_world_b: object, *, backend: str = "auto"
) -> Distance:
    """Distance of two shapes at placements (4, 4), exact to 1e-9 of the size of both and what is between them.

    Raises ModelError for what is no shape or no placement, and when the distance cannot be found.
    """
    placements = np.stack([frozen_placement(T_world_a, "T_world_a"), frozen_placement(T_world_b, "T_world_b")])
    check_size(placements, "the placement of a shape")
    found, status = distances((core(a), core(b)), placements[None], np.array([[0, 1]]), np.inf, backend)
    if status[0, 0] == FAILED:
        raise ModelError("the distance of two shapes cannot be found: they are too thin or too far for their size")
    value, point_a, point_b, normal = np.split(found[0, 0], (1, 4, 7))
    return Distance(float(value[0]), point_a, point_b, normal)
