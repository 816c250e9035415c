"""Robots among obstacles."""

from __future__ import annotations

import dataclasses

import numpy as np
from robokin_addon.robokin import RobotModel, library_robot, random_configuration, read_urdf_text
from robokin_addon.robokin.collision import Box, Capsule, CollisionModel, Cylinder, Obstacle, Sphere
from robokin_addon.robokin.model.geometry import Geometry

from .shapes import at

_LINK = (
    '<link name="l{}"><collision><origin xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/><geometry>'
    '<capsule radius="0.05" length="0.8"/></geometry></collision></link>'
)
_JOINT = (
    '<joint name="j{}" type="revolute"><parent link="{}"/><child link="l{}"/><origin xyz="{} 0 0"/>'
    '<axis xyz="0 0 1"/><limit lower="-3.1" upper="3.1" velocity="100" effort="1"/></joint>'
)

GANTRY = """<robot name="gantry"><link name="base"/><link name="slide"/><link name="hand"><collision><geometry>
<sphere radius="0.1"/></geometry></collision></link>
<joint name="x" type="prismatic"><parent link="base"/><child link="slide"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="y" type="prismatic"><parent link="slide"/><child link="hand"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""


def planar_urdf(links: int) -> str:
    """Links of 1 m along x with a capsule of 5 cm, about z."""
    names = ["base", *(f"l{i}" for i in range(links))]
    joints = "".join(_JOINT.format(i, names[i], i, float(i > 0)) for i in range(links))
    return f'<robot name="arm"><link name="base"/>{"".join(_LINK.format(i) for i in range(links))}{joints}</robot>'


def planar_arm(links: int = 4) -> RobotModel:
    return read_urdf_text(planar_urdf(links))


def around_a_post() -> tuple[CollisionModel, np.ndarray, np.ndarray]:
    """A planar arm of three links whose straight way between two postures leads through a post."""
    arm = planar_arm(3)
    return (
        CollisionModel(arm, [Obstacle("post", Cylinder(0.1, 1.0), at(1.2, 0.9))]),
        np.zeros(3),
        np.array([1.5, 0.2, 0]),
    )


def clothed(model: RobotModel, radius: float = 0.06) -> RobotModel:
    """Each link with a capsule from its origin to the next joint."""
    links = []
    for link in model.links:
        shapes = []
        for joint in model.joints:
            if joint.parent == link.name:
                end = joint.placement[:3, 3]
                length = float(np.linalg.norm(end))
                shape = Capsule(radius, length) if length > 1e-6 else Sphere(radius)
                shapes.append(Geometry(shape, _along(end)))
        links.append(dataclasses.replace(link, collisions=tuple(shapes)))
    return RobotModel(model.name, links, model.joints[1:] if model.joints[0].parent is None else model.joints)


def panda_among_boxes() -> CollisionModel:
    """A table, a shelf before the robot, a post beside it."""
    boxes = {
        "table": (Box((1.2, 1.2, 0.04)), at(0.5, 0.0, -0.03)),
        "shelf": (Box((0.4, 0.5, 0.03)), at(0.6, 0.0, 0.55)),
        "wall": (Box((0.04, 0.5, 0.5)), at(0.5, 0.0, 0.28)),
        "post": (Cylinder(0.05, 1.2), at(0.1, 0.5, 0.6)),
    }
    model = clothed(library_robot("panda"))
    off = [(model.link_names[0], "table"), (model.link_names[1], "table")]
    resting = CollisionModel(model).contacts(model.limits.middle(model.neutral())[None])
    own = [contact.names for contact in resting]
    return CollisionModel(model, [Obstacle(name, *each) for name, each in boxes.items()], [*off, *own])


def _along(end: np.ndarray) -> np.ndarray:
    """The placement of a line along z that goes from the origin to a point."""
    T = np.eye(4)
    length = np.linalg.norm(end)
    if length > 1e-6:
        z = end / length
        x = np.linalg.svd(z[None])[2][1]
        T[:3, :3] = np.column_stack((x, np.cross(z, x), z))
        T[:3, 3] = 0.5 * end
    return T


def random_scene(
    rng: np.random.Generator, obstacles: int = 8, robot: str = "panda"
) -> tuple[CollisionModel, np.ndarray, np.ndarray]:
    """A robot among random obstacles, and two random configurations; the first one is free."""
    model = clothed(library_robot(robot))
    resting = CollisionModel(model).contacts(model.limits.middle(model.neutral())[None])
    while True:
        found = []
        for number in range(obstacles):
            r = rng.uniform(0.03, 0.1)
            kinds = Sphere(r), Capsule(0.5 * r, 0.3), Box(tuple(rng.uniform(0.05, 0.2, 3).tolist()))
            place = at(*rng.uniform([-0.7, -0.7, 0.0], [0.7, 0.7, 1.0]))
            found.append(Obstacle(f"obstacle {number}", kinds[rng.integers(3)], place))
        collisions = CollisionModel(model, found, [contact.names for contact in resting]).avoidable()
        q0, q1 = (random_configuration(model, rng) for _ in range(2))
        if collisions.distances(q0[None])[0][..., 0].min() > 0.01:
            return collisions, q0, q1
