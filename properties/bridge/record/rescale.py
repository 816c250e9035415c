"""A robot's lengths in another unit: what changing the scene's unit scale does to a robot that stands in it."""

from __future__ import annotations

import dataclasses

import numpy as np

from ....robokin.arrays import Array
from ....robokin.model.geometry import Geometry, Mesh
from ....robokin.model.joint_types import MotionPrimitive
from ....robokin.model.robot import Joint, Link, Mimic


def _scaled_placement(placement: Array, ratio: float) -> Array:
    scaled = placement.copy()
    scaled[:3, 3] *= ratio
    return scaled


def lengths(joint: Joint) -> Array:
    """(nv,) bool: which degrees of freedom are lengths."""
    found: list[bool] = []
    for step in joint.kind.decompose(joint):
        found += [
            step.motion is MotionPrimitive.TRANSLATION or (step.motion is MotionPrimitive.FREE and i < 3)
            for i in range(step.motion.nv)
        ]
    return np.array(found, bool)


def rescaled_joint(joint: Joint, ratio: float, followed: Joint | None) -> Joint:
    """`followed`: the joint that it mimics. A slider that follows a hinge has its multiplier in metres per radian."""
    factors = np.where(lengths(joint), ratio, 1.0)
    bounds = {name: getattr(joint, name) * factors for name in ("lower", "upper", "velocity", "acceleration")}
    mimic = joint.mimic
    if mimic is not None and followed is not None:
        own, other = (ratio if lengths(j).any() else 1.0 for j in (joint, followed))
        mimic = Mimic(mimic.joint, mimic.multiplier * own / other, mimic.offset * own)
    placement = _scaled_placement(joint.placement, ratio)
    drive = joint.drive
    if drive is not None:
        drive = dataclasses.replace(drive, radius=drive.radius * ratio, separation=drive.separation * ratio)
    pitch = joint.pitch * ratio
    return dataclasses.replace(joint, placement=placement, pitch=pitch, mimic=mimic, drive=drive, **bounds)


def rescaled_link(link: Link, ratio: float) -> Link:
    """Masses stay; lengths scale."""
    return dataclasses.replace(
        link,
        com=link.com * ratio,
        inertia=link.inertia * ratio**2,
        visuals=tuple(_rescaled_geometry(g, ratio) for g in link.visuals),
        collisions=tuple(_rescaled_geometry(g, ratio) for g in link.collisions),
    )


def _rescaled_geometry(geometry: Geometry, ratio: float) -> Geometry:
    shape = geometry.shape
    if isinstance(shape, Mesh):
        shape = dataclasses.replace(shape, scale=tuple(ratio * x for x in shape.scale))
    else:
        sizes = {f.name: getattr(shape, f.name) for f in dataclasses.fields(shape)}
        grown = {k: tuple(ratio * x for x in v) if isinstance(v, tuple) else ratio * v for k, v in sizes.items()}
        shape = dataclasses.replace(shape, **grown)
    return dataclasses.replace(geometry, shape=shape, placement=_scaled_placement(geometry.placement, ratio))
