"""Collision: convex shapes, their distance, witness points and penetration."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model.geometry import Capsule, Cylinder, Sphere
    from .model import CollisionModel, Contact, Obstacle
    from .query import Distance, distance
    from .shapes import Box, Hull
else:
    from ..lazy import exports

    __getattr__, __dir__, __all__ = exports(__name__)
