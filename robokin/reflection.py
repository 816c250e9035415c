"""The mirror image of a joint and its link: what the right arm is when it is made from the left one.

With S a reflection in the axes of the joint, the image of a motion J is S J S: a rotation about w becomes one about
-S w (axes of rotation are pseudo-vectors), a translation along w one along S w. Axes are chosen so that the image has
the same joint values, where the type lets them be chosen; otherwise bounds change sign and side.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .arrays import Array
from .model.geometry import Geometry, Hull, Mesh
from .model.joint import Joint
from .model.joint_types import Elementary, MotionPrimitive
from .model.link import Link

_MIRROR_X = np.diag([-1.0, 1.0, 1.0])


def reflected_joint(joint: Joint, S: Array) -> Joint:
    """The image of a joint; its placement stays. S: (3, 3) reflection in the axes of the joint frame."""
    slides = joint.kind.motions == (MotionPrimitive.TRANSLATION,)
    image = dataclasses.replace(joint, axis=S @ joint.axis * (1.0 if slides else -1.0), pitch=-joint.pitch)
    steps = joint.kind.decompose(joint)
    if joint.kind.orders and not _kept(steps, joint.kind.decompose(image), S):
        image = dataclasses.replace(image, axes=np.array([-S @ step.axis for step in steps]))
    lower, upper = joint.lower.copy(), joint.upper.copy()
    dof = 0
    for step, mine in zip(steps, joint.kind.decompose(image), strict=True):
        if step.motion.has_axis and _image(step, S) @ mine.axis < 0.0:
            lower[dof], upper[dof] = -joint.upper[dof], -joint.lower[dof]
        dof += step.motion.nv
    return dataclasses.replace(image, lower=lower, upper=upper)


def _image(step: Elementary, S: Array) -> Array:
    return S @ step.axis * (1.0 if step.motion is MotionPrimitive.TRANSLATION else -1.0)


def _kept(steps: tuple[Elementary, ...], images: tuple[Elementary, ...], S: Array) -> bool:
    """Whether the images turn about the mirrored axes, one way or the other."""
    pairs = zip(steps, images, strict=True)
    return all(abs(_image(step, S) @ image.axis) > 1.0 - 1e-9 for step, image in pairs)


def reflected_link(link: Link, S: Array) -> Link:
    """The image of a link. S: (3, 3) reflection in the axes of its frame. Meshes get a negative scale in x."""
    placed = np.eye(4)
    placed[:3, :3] = S
    return dataclasses.replace(
        link,
        com=S @ link.com,
        inertia=S @ link.inertia @ S.T,
        visuals=tuple(reflected_geometry(g, placed) for g in link.visuals),
        collisions=tuple(reflected_geometry(g, placed) for g in link.collisions),
    )


def reflected_geometry(geometry: Geometry, S: Array) -> Geometry:
    """The image of a shape. S: (4, 4) reflection from the axes of its link to those of the image's.

    All shapes but meshes and hulls are their own image in x.
    """
    placement = S @ geometry.placement
    placement[:3, :3] = placement[:3, :3] @ _MIRROR_X
    shape = geometry.shape
    if isinstance(shape, Mesh):
        x, y, z = shape.scale
        shape = dataclasses.replace(shape, scale=(-x, y, z))
    elif isinstance(shape, Hull):
        shape = dataclasses.replace(shape, points=shape.points @ _MIRROR_X)
    return dataclasses.replace(geometry, shape=shape, placement=placement)
