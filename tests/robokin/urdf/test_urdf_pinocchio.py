"""The structure of every real robot equals what Pinocchio reads: names, types, limits, dynamics, inertias."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio
import pytest
from robokin_addon.robokin import Link, RobotModel, load_urdf, read_urdf_text, urdf_text
from robokin_addon.robokin.collision import Box, Capsule
from robokin_addon.robokin.model.geometry import Cylinder, Geometry
from robokin_addon.robokin.spatial import se3, so3
from support.robots import all_urdfs


def merged_inertias(model: RobotModel) -> dict[str, np.ndarray]:
    """Per moving joint (and "universe"): mass, first moments, inertia about the joint frame, of all it carries."""
    carrier: dict[str, tuple[str, np.ndarray]] = {}
    merged: dict[str, np.ndarray] = {}
    for joint, link in zip(model.joints, model.links, strict=True):
        if joint.parent is None:
            carrier[link.name] = ("universe", np.eye(4))
        elif joint.nv:
            carrier[link.name] = (joint.name, np.eye(4))
        else:
            name, T = carrier[joint.parent]
            carrier[link.name] = (name, T @ joint.placement)
        name, T = carrier[link.name]
        R, c = T[:3, :3], T[:3, :3] @ link.com + T[:3, 3]
        merged[name] = merged.get(name, 0.0) + about_origin(link.mass, c, R @ link.inertia @ R.T)
    return merged


def about_origin(mass: float, c: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    moved = inertia + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate(([mass], mass * c, moved.ravel()))


@pytest.mark.parametrize("path", [p for p in all_urdfs() if p.stem != "ur3"], ids=lambda path: path.stem)
def test_structure(path):
    ours, theirs = load_urdf(path), pinocchio.buildModelFromUrdf(str(path))
    kinds = {kind: {f.name for f in theirs.frames if f.type == kind} for kind in {f.type for f in theirs.frames}}
    assert kinds[pinocchio.FrameType.BODY] == set(ours.link_names)
    fixed = {j.name for j in ours.joints[1:] if j.type == "fixed"}
    assert kinds.get(pinocchio.FrameType.FIXED_JOINT, set()) - {"universe", "root_joint"} == fixed
    moving = [j for j in ours.joints[1:] if j.nv]
    assert {j.name for j in moving} == set(theirs.names) - {"universe"}

    for joint in moving:
        other = theirs.joints[theirs.getJointId(joint.name)]
        kind = other.shortname()
        v = other.idx_v
        assert kind.startswith({"prismatic": "JointModelP"}.get(joint.type, "JointModelR")), joint.name
        assert (other.nq == 2) == (joint.type == "continuous"), joint.name
        if joint.type != "continuous":
            assert joint.lower[0] == theirs.lowerPositionLimit[other.idx_q], joint.name
            assert joint.upper[0] == theirs.upperPositionLimit[other.idx_q], joint.name
        # Their 0 is our "not stated".
        assert joint.velocity[0] == (theirs.velocityLimit[v] or np.inf), joint.name
        assert joint.effort[0] == (theirs.effortLimit[v] or np.inf), joint.name
        assert (joint.damping, joint.friction) == (theirs.damping[v], theirs.friction[v]), joint.name

    merged = merged_inertias(ours)
    for name, inertia in zip(theirs.names, theirs.inertias, strict=True):
        expected = about_origin(inertia.mass, inertia.lever, inertia.inertia)
        assert np.allclose(merged[name], expected, rtol=0.0, atol=1e-9), name


def test_capsules_do_not_lose_the_shapes_of_their_links():
    """Pinocchio's reader drops all shapes of a link that has a <capsule>, also one that is only drawn: it gets a
    cylinder and a ball at either end, which are the capsule."""
    T = se3.placement(so3.from_rpy((0.3, -0.5, 0.7)), np.array([0.1, -0.2, 0.4]))
    shapes = (
        Geometry(Capsule(0.1, 0.3), T, name="a capsule"),
        Geometry(Box((0.1, 0.2, 0.3))),
        Geometry(Capsule(0.2, 0.0)),
    )
    text = urdf_text(RobotModel("r", [Link("a", visuals=shapes, collisions=shapes)], []))
    theirs = pinocchio.buildGeomFromUrdfString(
        pinocchio.buildModelFromXML(text), text, pinocchio.GeometryType.COLLISION
    )
    cylinder, low, high, box, ball = (each.geometry for each in theirs.geometryObjects)
    assert (cylinder.radius, 2.0 * cylinder.halfLength) == (0.1, 0.3) and box.halfSide.tolist() == [0.05, 0.1, 0.15]
    assert (low.radius, high.radius, ball.radius) == (0.1, 0.1, 0.2)
    for end, z in zip(theirs.geometryObjects[1:3], (-0.15, 0.15), strict=True):
        np.testing.assert_allclose(end.placement.translation, T[:3, :3] @ (0.0, 0.0, z) + T[:3, 3], atol=1e-12)
    geoms, kinds = mujoco.MjModel.from_xml_string(text), mujoco.mjtGeom
    expected = [kinds.mjGEOM_CYLINDER, kinds.mjGEOM_SPHERE, kinds.mjGEOM_SPHERE, kinds.mjGEOM_BOX, kinds.mjGEOM_SPHERE]
    assert geoms.geom_type.tolist() == expected
    np.testing.assert_allclose(geoms.geom_size[:2], [(0.1, 0.15, 0.0), (0.1, 0.0, 0.0)], atol=1e-12)
    again = read_urdf_text(text).links[0]
    assert [each.shape for each in (*again.visuals, *again.collisions)] == [each.shape for each in (*shapes, *shapes)]
    plain = read_urdf_text(text.replace("<robokin ", "<other ")).links[0].collisions[0].shape
    assert plain == Cylinder(0.1, 0.3)
