"""Shapes that distances are known of: those of a link's geometry, but for meshes."""

from __future__ import annotations

from ..model.geometry import Box as SharpBox
from ..model.geometry import Capsule, Cylinder, Hull, Sphere
from ..model.geometry import RoundedBox as Box

CollisionShape = SharpBox | Capsule | Cylinder | Sphere | Hull

__all__ = ["Box", "Capsule", "CollisionShape", "Cylinder", "Hull", "Sphere"]
