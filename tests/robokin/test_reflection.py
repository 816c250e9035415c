"""Mirror images of joints and links: the image of a motion is a motion of the image."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, random_configuration
from robokin_addon.robokin.model.geometry import Box, Geometry, Hull, Mesh
from robokin_addon.robokin.model.joint_types import JOINT_TYPES
from robokin_addon.robokin.reflection import reflected_joint, reflected_link
from support.random_problems.random_trees import random_placement

KINDS = [kind for kind in JOINT_TYPES if kind not in ("fixed", "floating", "wheeled")]
PLANES = [np.diag([-1.0, 1, 1]), np.diag([1.0, 1, -1]), None]


def plane(S, seed):
    if S is not None:
        return S
    normal = np.random.default_rng(seed).normal(size=3)
    normal /= np.linalg.norm(normal)
    return np.eye(3) - 2.0 * np.outer(normal, normal)


# The basis across a normal is chosen by the axes of the frame: only planes along these keep that of such joints.
CASES = [(kind, S) for kind in KINDS for S in PLANES if kind not in ("planar", "spherical") or S is not None]


@pytest.mark.parametrize(("kind", "S"), CASES)
def test_every_image_of_a_motion_is_a_motion_of_the_image_within_its_limits(kind, S):
    """Every pose of the joint inside its limits, mirrored, is found among those of the image inside its limits, and
    the other way round: sampled corners of the box of limits map onto corners."""
    S = plane(S, 1)
    T_S = np.eye(4)
    T_S[:3, :3] = S
    rng = np.random.default_rng(2)
    nv = JOINT_TYPES[kind].nv
    lower, upper = np.array([-0.4, -0.7, -0.2])[:nv], np.array([1.1, 0.5, 0.9])[:nv]
    if kind == "spherical":
        lower, upper = np.array([-0.4, -0.7, -0.2]), np.array([0.4, 0.7, 0.9])
    if not JOINT_TYPES[kind].bounded:
        lower, upper = np.full(nv, -np.inf), np.full(nv, np.inf)
    joint = Joint("j", kind, "a", "b", axis=np.eye(3)[1], pitch=0.3, lower=lower, upper=upper)
    image = reflected_joint(joint, S)
    models = [RobotModel("m", [Link("a"), Link("b")], [j]) for j in (joint, image)]
    for _ in range(10):
        q = random_configuration(models[0], rng)
        wanted = T_S @ forward_kinematics(models[0], q)["b"] @ T_S
        signs = np.array(np.meshgrid(*[[1.0, -1.0]] * len(q))).reshape(len(q), -1).T
        found = [s * q for s in signs if abs(forward_kinematics(models[1], s * q)["b"] - wanted).max() < 1e-9]
        assert found
        assert any(models[1].limits.contain(value, 1e-9) for value in found)


def test_twice_mirrored_is_as_before():
    rng = np.random.default_rng(0)
    S = plane(None, 4)
    for kind in KINDS:
        joint = Joint("j", kind, "a", "b", axis=rng.normal(size=3), pitch=0.2)
        twice = reflected_joint(reflected_joint(joint, S), S)
        np.testing.assert_allclose(twice.axis, joint.axis, atol=1e-12)
        assert twice.pitch == joint.pitch
        mine = [step.axis for step in joint.kind.decompose(joint)]
        for a, b in zip(mine, [step.axis for step in twice.kind.decompose(twice)], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)


def test_a_link_and_its_shapes():
    """A point of the shape, mirrored, is where the image has the point with its own x turned round."""
    rng = np.random.default_rng(1)
    S = plane(None, 7)
    A = rng.normal(size=(3, 3))
    shapes = (
        Geometry(Mesh("part.stl", (1.0, 2.0, 3.0)), random_placement(rng, 0.5)),
        Geometry(Box((0.1, 0.2, 0.3)), random_placement(rng, 0.5)),
    )
    link = Link("l", 2.0, rng.normal(size=3), A @ A.T, shapes, shapes)
    image = reflected_link(link, S)
    np.testing.assert_allclose(image.com, S @ link.com)
    np.testing.assert_allclose(image.inertia, S @ link.inertia @ S.T)
    for before, after in zip(shapes, image.visuals, strict=True):
        assert np.linalg.det(after.placement[:3, :3]) == pytest.approx(1.0)
        scale = [g.shape.scale if isinstance(g.shape, Mesh) else (1, 1, 1) for g in (before, after)]
        p = rng.normal(size=3)
        mine = before.placement[:3, :3] @ (scale[0] * p) + before.placement[:3, 3]
        other = p if isinstance(before.shape, Mesh) else p * (-1, 1, 1)  # a box is its own image
        np.testing.assert_allclose(after.placement[:3, :3] @ (scale[1] * other) + after.placement[:3, 3], S @ mine)


def test_the_image_of_a_hull_has_the_images_of_its_points():
    rng = np.random.default_rng(2)
    S = plane(None, 8)
    hull = Geometry(Hull(rng.normal(size=(7, 3)), 0.1), random_placement(rng, 0.5))
    (image,) = reflected_link(Link("l", collisions=(hull,)), S).collisions

    def placed(geometry):
        return geometry.shape.points @ geometry.placement[:3, :3].T + geometry.placement[:3, 3]

    np.testing.assert_allclose(placed(image), placed(hull) @ S.T, atol=1e-12)
    assert np.linalg.det(image.placement[:3, :3]) == pytest.approx(1.0) and image.shape.radius == 0.1
