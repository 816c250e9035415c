"""Distances by coal (hpp-fcl before Pinocchio 3)."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import numpy as np
from robokin_addon.robokin import forward_kinematics
from robokin_addon.robokin.collision import Box, Capsule, CollisionModel, Cylinder, Sphere

coal = import_module("coal" if find_spec("coal") else "hppfcl")
_transform = getattr(coal, "Transform3s", None) or coal.Transform3f


def coal_shape(shape: object) -> object:
    match shape:
        case Sphere(radius):
            return coal.Sphere(radius)
        case Capsule(radius, length):
            return coal.Capsule(radius, length)
        case Cylinder(radius, length):
            return coal.Cylinder(radius, length)
        case Box(size):
            return coal.Box(*size)
    raise AssertionError(shape)


def coal_distance(a: object, Ta: np.ndarray, b: object, Tb: np.ndarray) -> float:
    """Of two shapes that `coal_shape` made, at placements (4, 4)."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-6  # with 1e-9 hpp-fcl 2.4 takes one in 10^4 for touching
    return coal.distance(a, _transform(Ta[:3, :3], Ta[:3, 3]), b, _transform(Tb[:3, :3], Tb[:3, 3]), request, result)


def least_distances(collisions: CollisionModel, q: np.ndarray, obstacles: np.ndarray | None = None) -> np.ndarray:
    """(F,) the least distance of all pairs that count, at configurations (F, nq). obstacles: (F, n, 4, 4) where they
    are; None: they stand still."""
    own = [(link.name, geometry) for link in collisions.model.links for geometry in link.collisions]
    shapes = [coal_shape(each.shape) for each in (*(g for _, g in own), *collisions.obstacles)]
    found = np.empty(len(q))
    for row, configuration in enumerate(q):
        frames = forward_kinematics(collisions.model, configuration)
        T = [frames[name] @ geometry.placement for name, geometry in own]
        T += [each.placement for each in collisions.obstacles] if obstacles is None else list(obstacles[row])
        found[row] = min(coal_distance(shapes[a], T[a], shapes[b], T[b]) for a, b in collisions.pairs)
    return found
