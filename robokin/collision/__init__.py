"""Collision: convex shapes, their distance, witness points and penetration."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model.geometry import Capsule, Cylinder, Sphere
    from .query import Distance, distance
    from .shapes import Box, Hull
else:
    from ..lazy import exports

    __getattr__, __dir__ = exports(
        __name__,
        {"query": ["Distance", "distance"], "shapes": ["Box", "Capsule", "Cylinder", "Hull", "Sphere"]},
    )

__all__ = ["Box", "Capsule", "Cylinder", "Distance", "Hull", "Sphere", "distance"]
