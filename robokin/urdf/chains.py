"""Joints that URDF has no word for, as chains of joints that it has, with massless links between them.

One joint for each coordinate, in their order, so that the same q means the same pose; the slide of a screw follows its
angle by a mimic. A ball becomes three turns about u, w and its axis (`plane_basis`), whose ranges are the half-angles
of its cone and its range of twist; its quaternion has no place in q then. A wheeled base keeps its coordinates as a
planar joint that may slip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import ModelError
from ..model.joint_types import JOINT_TYPES, Elementary, MotionPrimitive, plane_basis
from ..model.robot import Joint, Link, Mimic, RobotModel, checked_model
from ..model.topology import take_name


@dataclass(frozen=True)
class JointChain:
    """A joint and what stands for it. `links`: those between the parts, in order."""

    joint: Joint
    parts: tuple[Joint, ...]
    links: tuple[Link, ...]


def chains(model: RobotModel) -> list[JointChain]:
    """One for each joint that URDF has no word for. Raises ModelError naming a joint that no chain stands for."""
    joints, links = {joint.name for joint in checked_model(model).joints}, set(model.link_names)
    # The root joint is no part of a URDF.
    return [_chain(joint, joints, links) for joint in model.joints[1:] if joint.kind.urdf is None]


def with_chains(model: RobotModel) -> RobotModel:
    """The robot in URDF's joint types. Raises ModelError as `chains`."""
    found = {chain.joint.name: chain for chain in chains(model)}
    joints: list[Joint] = []
    links = list(model.links)
    for joint in model.joints[1:]:
        joints += found[joint.name].parts if joint.name in found else [joint]
    for chain in found.values():
        links += chain.links
    return RobotModel(model.name, links, joints, model.root, model.drive) if found else model


def _chain(joint: Joint, joints: set[str], links: set[str]) -> JointChain:
    if joint.type == "wheeled":
        return JointChain(joint, (replace(joint, type="planar", drive=None),), ())
    steps = _turns(joint) if joint.kind.has_cone else joint.kind.decompose(joint)
    if any(not step.motion.has_axis for step in steps):
        raise ModelError(f"joint {joint.name!r}: URDF has no {joint.type} joints", joint)
    parts: list[Joint] = []
    for i, step in enumerate(steps):
        # What follows a joint of one degree of freedom finds it by its name.
        name = joint.name if joint.nv == 1 else take_name(f"{joint.name}_{i + 1}", joints)
        parts.append(_part(joint, step, i, name))
        if step.motion is MotionPrimitive.HELICAL:
            parts.append(_slide(parts[-1], step.pitch, take_name(f"{joint.name}_way", joints)))
    between = [take_name(f"{joint.child}_{part.name}", links) for part in parts[:-1]]
    ends = [str(joint.parent), *between, joint.child]
    placements = [joint.placement, *[np.eye(4)] * len(between)]
    whole = zip(parts, placements, ends, ends[1:], strict=False)
    joined = tuple(replace(part, placement=T, parent=a, child=b) for part, T, a, b in whole)
    return JointChain(joint, joined, tuple(map(Link, between)))


def _turns(joint: Joint) -> tuple[Elementary, ...]:
    """Three turns in place of a ball."""
    return tuple(Elementary(MotionPrimitive.ROTATION, axis) for axis in (*plane_basis(joint.axis), joint.axis))


def _part(joint: Joint, step: Elementary, i: int, name: str) -> Joint:
    bounds = {field: getattr(joint, field)[i] for field in ("lower", "upper", "velocity", "effort", "acceleration")}
    turns = "continuous" if np.isinf([bounds["lower"], bounds["upper"]]).all() else "revolute"
    kind = "prismatic" if step.motion is MotionPrimitive.TRANSLATION else turns
    return replace(joint, name=name, type=JOINT_TYPES[kind].name, axis=step.axis, axes=None, drive=None, **bounds)


def _slide(angle: Joint, pitch: float, name: str) -> Joint:
    """The slide of a screw: pitch times its angle."""
    lower, upper = sorted(pitch * end if pitch else 0.0 for end in (angle.lower[0], angle.upper[0]))
    absent: dict[str, Any] = {
        "velocity": np.inf,
        "effort": np.inf,
        "acceleration": np.inf,
        "damping": 0.0,
        "friction": 0.0,
    }
    follow = Mimic(angle.name, pitch)
    return replace(angle, name=name, type="prismatic", lower=lower, upper=upper, mimic=follow, **absent)
