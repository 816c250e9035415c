"""The axes of the chain from the root link to a link, the robot at zero: what its tables are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from ..inertia.body import combined, link_body
from ..kinematics import forward_kinematics
from ..model.joint_types import MotionPrimitive
from ..model.robot import Joint, Link, RobotModel
from ..model.topology import take_name
from .chain import BASE_LINK, TOOL_LINK

TYPES = {
    MotionPrimitive.ROTATION: "revolute",
    MotionPrimitive.TRANSLATION: "prismatic",
    MotionPrimitive.HELICAL: "screw",
}
RATES = ("velocity", "effort", "acceleration")


@dataclass(frozen=True, eq=False)
class Axis:
    """One degree of freedom. Lengths and directions in the frame of the root link, the robot at zero.

    type: "revolute", "prismatic" or "screw" (of `pitch` [m/rad]). direction: (3,) unit. point: (3,) [m] on the axis.
    body: what moves with it up to the next moving joint, com and inertia in the frame of the root link. `common`: the
    other fields of a `ChainRow`, by name.
    """

    type: str
    direction: Array
    point: Array
    pitch: float
    body: Link
    common: dict[str, object]


def serial_axes(model: RobotModel, tip: str = "") -> tuple[list[Axis], Array, str]:
    """(axes, (4, 4) T_rootlink_tip at zero, name of the tip) of the chain to the link `tip`; empty: the robot's only
    link that has no other behind it.

    What branches off is left out, unless fixed. A joint of several axes (universal, gimbal, cylindrical, planar) gives
    as many. Raises UnknownNameError for a wrong tip, ModelError where there are several tips to choose from, and for a
    chain without axes or with a joint that is no sequence of axes (spherical, floating) or that follows another one.
    """
    tip = tip or _only_tip(model)
    rest = forward_kinematics(model, model.neutral())
    T_link_root = np.linalg.inv(rest[model.root_link.name])
    chain = _chain(model, tip)
    taken = {BASE_LINK, TOOL_LINK, f"{TOOL_LINK}_joint"}
    axes: list[Axis] = []
    for joint in chain:
        motions = _motions(joint)
        T = T_link_root @ rest[joint.child]
        for i, motion in enumerate(motions):
            last = i == len(motions) - 1
            body = _body(model, joint.child, T_link_root, rest) if last else Link("")
            common = _common(joint, i, taken, last)
            axes.append(Axis(TYPES[motion.motion], T[:3, :3] @ motion.axis, T[:3, 3], motion.pitch, body, common))
    if not axes:
        raise ModelError(f"no joint moves {tip!r}: there is nothing for a table to say")
    return axes, T_link_root @ rest[tip], tip


def _only_tip(model: RobotModel) -> str:
    parents = {joint.parent for joint in model.joints}
    tips = [name for name in model.link_names if name not in parents]
    if len(tips) > 1:
        shown = ", ".join(tips[:8]) + (f" and {len(tips) - 8} more" if len(tips) > 8 else "")
        raise ModelError(f"{model.name!r} has {len(tips)} tips: say which one the table is to end at ({shown})")
    return tips[0]


def _chain(model: RobotModel, tip: str) -> list[Joint]:
    """Joints from the root link to `tip`."""
    chain: list[Joint] = []
    joint = model.joints[model.link_index(tip)]
    while joint is not model.joints[0]:
        chain.append(joint)
        joint = model.joints[model.link_index(str(joint.parent))]
    return chain[::-1]


def _motions(joint: Joint) -> tuple:
    motions = joint.kind.decompose(joint)
    if joint.mimic is not None:
        raise ModelError(f"joint {joint.name!r} follows {joint.mimic.joint!r}: a table cannot say that")
    if joint.drive is not None or not all(motion.motion in TYPES for motion in motions):
        raise ModelError(f"joint {joint.name!r} is {joint.type}: it is no sequence of axes that a table could hold")
    return motions


def _body(model: RobotModel, link: str, T_link_root: Array, rest: object) -> Link:
    """The bodies that are fixed to `link`, and itself, as one in the frame of the root link."""
    rigid = [link]
    for joint in model.joints[1:]:  # parents come before children
        if joint.parent in rigid and joint.nv == 0:
            rigid.append(joint.child)
    whole = combined([link_body(model.link(name)).moved(T_link_root @ rest[name]) for name in rigid])  # type: ignore[index]
    return Link(link, whole.mass, whole.com, whole.inertia)


def _common(joint: Joint, freedom: int, taken: set[str], last: bool) -> dict[str, object]:
    which = "" if joint.nv == 1 else f"_{freedom + 1}"
    common: dict[str, object] = {
        "joint": take_name(joint.name + which, taken),
        "link": take_name(joint.child if last else joint.child + which, taken),
        "damping": joint.damping,
        "friction": joint.friction,
        "rotor_inertia": joint.rotor_inertia,
    }
    return common | {name: float(getattr(joint, name)[freedom]) for name in ("lower", "upper", *RATES)}
