"""Plain shapes for robots that come as numbers, so that they can be seen: rods between joints, drums about axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..model.geometry import Geometry, Material
from ..model.robot import Joint, RobotModel
from ..spatial import se3
from .solids import BLUE, DARK, LIGHT, ORANGE, STEEL, ball, drum, rod

THICKNESS = 0.035  # of the length of the longest chain
SHORTEST = 0.05  # of the thickness: what is shorter is not drawn


def with_stick_figure(model: RobotModel) -> RobotModel:
    """The robot with its links drawn as lines, where none of them has visuals of its own.

    A link is drawn from its joint to the next joint's axis at right angles, then along that axis: the a and d of a
    Denavit-Hartenberg table. Masses stay as they are.
    """
    if any(link.visuals for link in model.links):
        return model
    length = _length(model)
    r = THICKNESS * length
    if r == 0.0:
        return model
    shapes: dict[str, list[Geometry]] = {link.name: [] for link in model.links}
    tips = {link.name for link in model.links} - {joint.parent for joint in model.joints}
    for number, joint in enumerate(model.joints[1:]):
        paint = (LIGHT, BLUE)[number % 2]
        foot, along = _foot(joint)
        _add_rod(shapes[str(joint.parent)], np.zeros(3), foot, 0.7 * r, paint)
        T_joint_parent = se3.inverse(joint.placement)
        start = T_joint_parent[:3, :3] @ foot + T_joint_parent[:3, 3]
        slides = joint.type == "prismatic"
        if slides:  # the rod is still in its guide when it is fully out
            inside = start - joint.axis * np.clip(joint.upper[0], 0.0, length)
            _add_rod(shapes[joint.child], inside, np.zeros(3), 0.5 * r, STEEL)
        else:
            _add_rod(shapes[joint.child], start, np.zeros(3), 0.7 * r, paint)
        if joint.nv and along is not None:
            # The drum of a sliding joint is its guide: it stays behind.
            at, axis, owner = (foot, along, joint.parent) if slides else (start, joint.axis, joint.child)
            shapes[str(owner)].append(drum(at, axis, r, 2.2 * r, DARK))
        if joint.child in tips:
            shapes[joint.child].append(ball((0.0, 0.0, 0.0), 0.6 * r, ORANGE))
    links = [replace(link, visuals=tuple(shapes[link.name])) for link in model.links]
    return RobotModel(model.name, links, model.joints[1:], model.root, model.drive)


def _foot(joint: Joint) -> tuple[Array, Array | None]:
    """In the parent link: the point of the joint's axis nearest to the link's origin, and the axis; without an axis the
    joint's origin and None."""
    origin = joint.placement[:3, 3]
    if joint.nv == 0:
        return origin, None
    axis = joint.placement[:3, :3] @ joint.axis
    return origin - axis * (axis @ origin), axis


def _add_rod(shapes: list[Geometry], start: Array, end: Array, radius: float, paint: Material) -> None:
    if np.linalg.norm(end - start) > SHORTEST * radius:
        shapes.append(rod(start, end, radius, paint))


def _length(model: RobotModel) -> float:
    """Length of the longest chain of links, strokes included [m]."""
    lengths = {model.root_link.name: 0.0}
    for joint in model.joints[1:]:
        stroke = np.array(model.joint_limits(joint.name)) if joint.type == "prismatic" else np.zeros(1)
        reach = float(abs(stroke[np.isfinite(stroke)]).max(initial=0.0))
        lengths[joint.child] = lengths[str(joint.parent)] + float(np.linalg.norm(joint.placement[:3, 3])) + reach
    return max(lengths.values())
