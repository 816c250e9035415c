"""SRDF (http://wiki.ros.org/srdf): its named poses, <group_state>, and the pairs of links that may touch,
<disable_collisions>. What else such files hold is skipped.

Multi-DOF values are MoveIt's and Pinocchio's: floating x y z qx qy qz qw, planar x y angle (Pinocchio: x y cos sin), a
continuous joint perhaps cos sin; quaternions of ball joints x y z w.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ..errors import ConfigurationError, FileFormatError, UnknownNameError
from ..files.text_file import read_bytes, write_text
from ..model.joint import Joint
from ..model.robot import JointValue, RobotModel
from .writer import escape
from .xml import Element, parse_xml, shorten

SHOWN = 12  # names in one warning
MOST = 20  # files that are opened to find the one of a robot
Posture = dict[str, JointValue]


@dataclass(frozen=True)
class Srdf:
    """postures: {name: {joint: value}}, of some or all joints of the robot.   may_touch: {(link, link): reason}, pairs
    that are not looked at for collisions.   warnings: one line each."""

    postures: dict[str, Posture] = field(default_factory=dict)
    may_touch: dict[tuple[str, str], str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def import_srdf(path: str | os.PathLike, model: RobotModel) -> Srdf:
    """The named poses of an SRDF file for this robot, and its links that may touch.

    States of the same name of several groups are one posture, where they do not contradict each other; else the later
    one is called `name (group)`. Joints and links that the robot does not have are left out, with one warning; values
    of a base that the robot has fixed are left out. Raises FileFormatError naming file and line.
    """
    document = parse_xml(read_bytes(path, "an SRDF file"), os.fspath(path))
    if document.tag != "robot":
        raise document.error(f"not SRDF: the outermost element is <{shorten(document.tag, quoted=False)}>, not <robot>")
    base = {"root_joint", *(e.text("name") for e in document.all("virtual_joint"))}
    postures: dict[str, Posture] = {}
    unknown: dict[str, None] = {}
    for state in document.all("group_state"):
        name, values = state.text("name"), {}
        for element in state.all("joint"):
            joint = _joint(model, element.text("name"), base)
            if joint is None:
                if element.text("name") not in base:
                    unknown[element.text("name")] = None
            elif joint.nq:
                values[joint.name] = _value(joint, element)
        values_of = postures.setdefault(name, {})
        if any(not np.allclose(values_of[j], values[j], rtol=0.0, atol=1e-9) for j in values_of.keys() & values.keys()):
            values_of = postures.setdefault(f"{name} ({state.attributes.get('group', '')})", {})
        values_of |= values
    may_touch: dict[tuple[str, str], str] = {}
    missing: dict[str, None] = {}
    for element in document.all("disable_collisions"):
        pair = element.text("link1"), element.text("link2")
        strange = [link for link in pair if link not in model.link_names]
        missing |= dict.fromkeys(strange)
        if not strange and pair[0] != pair[1] and pair[::-1] not in may_touch:
            may_touch[pair] = element.attributes.get("reason", "")
    warnings = []
    for what, names in (("joints", unknown), ("links", missing)):
        if names:
            listed = ", ".join(map(shorten, [*names][:SHOWN]))
            listed += f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            warnings.append(f"{os.fspath(path)}: {what} that {model.name!r} does not have are left out: {listed}")
    empty = [name for name, values in postures.items() if not values]
    if empty:
        warnings.append(f"{os.fspath(path)}: no joint of {model.name!r} in: {', '.join(map(shorten, empty))}")
    return Srdf({name: values for name, values in postures.items() if values}, may_touch, tuple(warnings))


def srdf_beside(path: str | os.PathLike, robot: str) -> str | None:
    """The SRDF file of a robot description: of the file's name, or else the only one that is about a robot of that
    name, in its folder or in a folder `srdf` beside that."""
    folder, name = os.path.split(os.path.abspath(path))
    folders = [folder, os.path.join(os.path.dirname(folder), "srdf")]
    beside = [os.path.join(place, each) for place in folders if os.path.isdir(place) for each in os.listdir(place)]
    found = sorted(each for each in beside if each.lower().endswith(".srdf") and os.path.isfile(each))
    stem = name.removesuffix(".xacro").removesuffix(".urdf")
    same = [each for each in found if os.path.basename(each)[:-5] == stem]
    about = [each for each in found[:MOST] if _is_about(each, robot)]
    return same[0] if same else about[0] if len(about) == 1 else None


def _is_about(path: str, robot: str) -> bool:
    try:
        document = parse_xml(read_bytes(path, "an SRDF file"), path)
    except FileFormatError:
        return False
    return document.tag == "robot" and document.attributes.get("name") == robot


def save_srdf(
    model: RobotModel,
    postures: Mapping[str, Mapping[str, JointValue]],
    path: str | os.PathLike,
    may_touch: Mapping[tuple[str, str], str] | None = None,
) -> None:
    """Writes postures as the states of one group, `all`, of all joints, and pairs of links that may touch with their
    reasons. Raises FileFormatError, UnknownNameError."""
    write_text(path, srdf_text(model, postures, may_touch))


def srdf_text(
    model: RobotModel,
    postures: Mapping[str, Mapping[str, JointValue]],
    may_touch: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """The text that `save_srdf` writes. Numbers are written so that reading gives the same bits."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f'<robot name="{escape(model.name)}">', '  <group name="all">']
    lines += [f'    <joint name="{escape(joint.name)}"/>' for joint in model.moving_joints]
    lines.append("  </group>")
    root = model.joints[0]
    if root.nq:
        names = f'name="{escape(root.name)}" type="{root.type}" child_link="{escape(root.child)}"'
        lines.append(f'  <virtual_joint {names} parent_frame="world"/>')
    for name, values in postures.items():
        lines.append(f'  <group_state name="{escape(name)}" group="all">')
        for joint_name, value in values.items():
            own = model.joint(joint_name).coordinates(value)
            numbers = " ".join(repr(float(x)) for x in _quaternion_last(model.joint(joint_name), own))
            lines.append(f'    <joint name="{escape(joint_name)}" value="{numbers}"/>')
        lines.append("  </group_state>")
    for pair, reason in (may_touch or {}).items():
        if len(pair) != 2:
            raise ConfigurationError(f"two links may touch, not {len(pair)}: {', '.join(pair)}")
        for link in pair:
            if link not in model.link_names:
                raise UnknownNameError("link", link, model.link_names)
        links = " ".join(f'link{i}="{escape(link)}"' for i, link in enumerate(pair, 1))
        lines.append(f'  <disable_collisions {links} reason="{escape(reason)}"/>')
    return "\n".join([*lines, "</robot>", ""])


def _joint(model: RobotModel, name: str, base: set[str]) -> Joint | None:
    """The joint of that name; the root joint for the file's name of it."""
    named = {joint.name: joint for joint in model.joints}
    root = model.joints[0]
    if name in named:
        return named[name]
    return root if name in base and root.nq else None


def _value(joint: Joint, element: Element) -> JointValue:
    numbers = list(element.numbers("value", len(element.text("value").split())))
    if joint.type == "planar" and len(numbers) == 4:
        numbers = [*numbers[:2], math.atan2(numbers[3], numbers[2])]
    if joint.type == "continuous" and len(numbers) == 2:
        numbers = [math.atan2(numbers[1], numbers[0])]
    if joint.nq != joint.nv and len(numbers) == joint.nq:
        numbers = [*numbers[:-4], numbers[-1], *numbers[-4:-1]]
    try:
        own = joint.coordinates(numbers)
    except ConfigurationError as error:
        raise element.error(str(error)) from None
    return float(own[0]) if joint.nq == 1 else [float(x) for x in own]


def _quaternion_last(joint: Joint, own: Array) -> list[float]:
    values = [float(x) for x in own]
    return values if joint.nq == joint.nv else [*values[:-4], *values[-3:], values[-4]]
