"""A robot with a joint of every type, side by side on one base."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import Joint, Link, RobotModel
from robokin_addon.robokin.model.joint_types import JOINT_TYPES


def row_of_joints() -> RobotModel:
    """Joints and links are called as their types; those that can have limits have them."""
    links, joints = [Link("base")], []
    for i, (name, kind) in enumerate(JOINT_TYPES.items()):
        if name == "wheeled":
            continue
        place = np.eye(4)
        place[:3, 3] = 0.5 * i, 0.1 * i, 0.2
        limits = {"lower": -0.7, "upper": 0.9} if kind.bounded and not kind.has_cone else {}
        if kind.has_cone:
            limits = {"lower": [-0.5, -0.8, -0.6], "upper": [0.5, 0.8, 0.6]}
        if kind.has_pitch:
            limits["pitch"] = 0.02
        links.append(Link(f"{name} link"))
        joints.append(Joint(name, name, "base", f"{name} link", placement=place, **limits))
    return RobotModel("row", links, joints)
